/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes of an elastic run, and the sets of them that have names: what the registry keeps.
 *
 * A process has a number of its own (uid) that no other gets after it. Sets keep the order of their
 * processes: a union keeps its first set and appends what is new, and processes leave from the
 * tail. If others leave, the last ones take their places.
 *
 * Invariant: a set never changes after it was made; its dictionary may. */
#ifndef ORR_DYN_SETS_H
#define ORR_DYN_SETS_H

#include "dyn/words.h"

enum orr_dyn_state {
	ORR_DYN_EXPECTED, /* it was asked for and is starting */
	ORR_DYN_READY,    /* it is there, and waits for the others that were started with it */
	ORR_DYN_RUNS,
	ORR_DYN_GONE
};

struct orr_dyn_proc {
	enum orr_dyn_state state;
	int world;       /* the set that it was started with */
	int leaving;     /* it has left the application and does not count as a resource any more */
	unsigned ticket; /* of its first request, while it is READY */
	char *host;
};

struct orr_dyn_set {
	char *name;
	int *uids, n;
	struct orr_dyn_words dict; /* keys and values in turn */
	int world;                 /* processes that were started together */
	int malleable;             /* the resource manager may grow and shrink it */
};

struct orr_dyn_sets {
	struct orr_dyn_proc *procs;
	int nprocs;
	struct orr_dyn_set **sets;
	int nsets;
	int counter; /* of the names that the runtime gives */
	size_t kept; /* about how many bytes all that takes */
};

/* A new process of that world. Returns its uid. */
int orr_dyn_proc_new(struct orr_dyn_sets *s, int world);
/* A new set with these processes, name NULL: a name of the runtime's. Returns its number. */
int orr_dyn_set_new(struct orr_dyn_sets *s, const char *name, const int *uids, int n);
/* The set that a process means by a name, or -1. */
int orr_dyn_set_find(struct orr_dyn_sets *s, int uid, const char *name);
/* The place of the process in the set, or -1. */
int orr_dyn_set_place(const struct orr_dyn_set *set, int uid);
/* The name under which that process knows the set. */
const char *orr_dyn_set_name(const struct orr_dyn_sets *s, int number);
/* The value of the key, or NULL. */
const char *orr_dyn_set_value(const struct orr_dyn_set *set, const char *key);
void orr_dyn_set_put(struct orr_dyn_sets *s, int number, const char *key, const char *value);
/* Processes that run or start and have not left the application. */
int orr_dyn_sets_alive(const struct orr_dyn_sets *s);
void orr_dyn_sets_free(struct orr_dyn_sets *s);

/* Operations on sets: n processes in out, which has room for those of all inputs. */
int orr_dyn_union(const struct orr_dyn_set *const *in, int nin, int *out);
int orr_dyn_difference(const struct orr_dyn_set *const *in, int nin, int *out);
/* The difference, in which the last ones have the places of those that are missing. */
int orr_dyn_fill(const struct orr_dyn_set *const *in, int nin, int *out);
int orr_dyn_intersection(const struct orr_dyn_set *const *in, int nin, int *out);

#endif
