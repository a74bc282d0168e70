/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of the registry (registry.h): its state, and the functions by which answers,
 * calls, the change, demands and requests work together.
 *
 * Invariant: only these files include this. */
#ifndef ORR_DYN_REGISTRY_OWN_H
#define ORR_DYN_REGISTRY_OWN_H

#include <stdio.h>
#include "base/assert.h"
#include "dyn/links.h"
#include "dyn/operations.h"
#include "dyn/registry.h"
#include "dyn/sets.h"

enum orr_dyn_phase { ORR_DYN_IDLE, ORR_DYN_STARTING, ORR_DYN_PENDING };
enum orr_dyn_call_kind {
	ORR_DYN_CALL_QUERY,
	ORR_DYN_CALL_GET,
	ORR_DYN_CALL_JOIN,
	ORR_DYN_CALL_ASK
};

struct orr_dyn_arrival {
	int uid;
	unsigned ticket;
};

/* A call that waits for all processes of a set, or for somebody else. */
struct orr_dyn_call {
	struct orr_dyn_call *next;
	enum orr_dyn_call_kind kind;
	struct orr_dyn_words words; /* of the first process; the others said the same */
	int *uids, n;
	int coll, set; /* of ORR_DYN_CALL_QUERY and ORR_DYN_CALL_GET */
	struct orr_dyn_arrival *arrived;
	int narrived;
};

struct orr_dyn_change {
	enum orr_dyn_phase phase;
	int type, input, delta, leaving; /* sets, or -1 */
	int outputs[3], noutputs;
	struct orr_dyn_words names;   /* for the outputs, if the program chose them */
	struct orr_dyn_arrival asker; /* of psetop; by_manager: the process that starts others */
	int by_manager, spawned;
	int fills;          /* the last ones take the places of those that leave */
	const char *failed; /* why the start will be given up, NULL: it will not */
	int start;          /* its number among those that start processes, 0: it starts none */
	int nwanted; /* processes that somebody will be asked to start, once those that leave are
			gone */
};

struct orr_dyn_port {
	struct orr_dyn_port *next;
	int number, piece;
	char *text;
};

struct orr_dyn_registry {
	struct orr_dyn_host host;
	struct orr_dyn_sets sets;
	struct orr_dyn_links links;
	struct orr_dyn_change change;
	struct orr_dyn_call *calls;
	struct orr_dyn_port *ports;
	struct orr_dyn_words demands; /* each two words */
	struct orr_dyn_words away;    /* hosts, each with the number of starts that there were */
	struct orr_dyn_words rooms;   /* pairs: a host, and how many processes it has room for */
	int pool, njoins, nstarts, nports;
	struct orr_dyn_journal *journal; /* NULL: nobody wants it */
};

/* ---- answers.c ---- */

void orr_dyn_answer(struct orr_dyn_registry *r, struct orr_dyn_arrival to,
		    struct orr_dyn_words words);
void __attribute__((format(printf, 3, 4)))
orr_dyn_answer_error(struct orr_dyn_registry *r, struct orr_dyn_arrival to, const char *fmt, ...);
void orr_dyn_answer_ok(struct orr_dyn_registry *r, struct orr_dyn_arrival to);
void orr_dyn_answer_outputs(struct orr_dyn_registry *r, struct orr_dyn_arrival to, int type,
			    const int *outputs, int n);
/* The operation was refused, as the document says: success, with a null operation. */
void orr_dyn_answer_refused(struct orr_dyn_registry *r, struct orr_dyn_arrival to);
/* The set of that name, or -1 after an error to the process. */
int orr_dyn_find(struct orr_dyn_registry *r, struct orr_dyn_arrival from, const char *name);
void __attribute__((format(printf, 2, 3)))
orr_dyn_say(struct orr_dyn_registry *r, const char *fmt, ...);

/* ---- journal.c ---- */

void orr_dyn_journal_open(struct orr_dyn_registry *r);
/* A line about a process: what it does, with the words of a request or an answer, which may be
 * NULL. */
void orr_dyn_note(struct orr_dyn_registry *r, int uid, const char *verb,
		  const struct orr_dyn_words *words);
void orr_dyn_journal_close(struct orr_dyn_registry *r);

/* ---- calls.c ---- */

/* Answers all processes of the call, and ends it. */
void orr_dyn_call_answer(struct orr_dyn_registry *r, struct orr_dyn_call *c,
			 const struct orr_dyn_words *w);
void orr_dyn_call_end(struct orr_dyn_registry *r, struct orr_dyn_call *c);
/* The call of that kind and set in which this process is missing, or a new one. */
struct orr_dyn_call *orr_dyn_call_enter(struct orr_dyn_registry *r, enum orr_dyn_call_kind kind,
					const int *uids, int n, struct orr_dyn_arrival from,
					const struct orr_dyn_words *words);
/* Answers all processes of the call with an error, and ends it. */
void orr_dyn_call_fail(struct orr_dyn_registry *r, struct orr_dyn_call *c, const char *why);
/* True if all have arrived that the call waits for. */
int orr_dyn_call_complete(const struct orr_dyn_registry *r, const struct orr_dyn_call *c);
/* True if a process that has not ended waits for its answer. */
int orr_dyn_call_awaited(const struct orr_dyn_registry *r, const struct orr_dyn_call *c);
/* The place of a process in the list, or -1. */
int orr_dyn_place_of(const int *uids, int n, int uid);
/* True if the words are the same from that one on. */
int orr_dyn_same_words(const struct orr_dyn_words *a, const struct orr_dyn_words *b, int from);

/* ---- change.c ---- */

/* Begins the change that *c describes: add processes come, sub leave from the tail. 0, or -1 if it
 * is refused. */
int orr_dyn_change_begin(struct orr_dyn_registry *r, const struct orr_dyn_change *c, int add,
			 int sub);
/* Not all processes came: those that did end, and the application stays as it is. */
void orr_dyn_change_cancel(struct orr_dyn_registry *r, const char *why);
/* All that the change needs is there: the application learns of it. */
void orr_dyn_change_done(struct orr_dyn_registry *r);
void orr_dyn_change_end(struct orr_dyn_registry *r);
/* Asks for the start of processes that are wanted. Those that leave have to be gone first: their
 * hosts may be needed, and mpirun has been seen to forget processes that start while others end. */
void orr_dyn_change_spawn(struct orr_dyn_registry *r);
/* Ends the start if all processes that it waits for are there. */
void orr_dyn_change_try(struct orr_dyn_registry *r);
/* True if the set is an input or an output. */
int orr_dyn_change_involves(const struct orr_dyn_change *c, int set);
/* The name that the program chose for that output, or NULL. */
const char *orr_dyn_change_name(const struct orr_dyn_change *c, int place);
/* A new set of these processes, as the next output; its number. */
int orr_dyn_change_output(struct orr_dyn_registry *r, const int *uids, int n);
/* The processes of a world go on: each learns who it is. */
void orr_dyn_world_runs(struct orr_dyn_registry *r, int world, int link);
/* One evaluation may end other calls, so each begins anew. */
void orr_dyn_evaluate_all(struct orr_dyn_registry *r);

/* ---- room.c ---- */

/* The hosts for n processes that start, as HOST:N,HOST:N; empty where nobody says what room there
 * is. None lacks room (orr_dyn_lacks()). The caller frees it. */
char *orr_dyn_places_for(const struct orr_dyn_registry *r, int n);
/* A host that comes back is none that was taken back. */
void orr_dyn_not_away(struct orr_dyn_registry *r, const char *name);

/* ---- demand.c ---- */

/* Begins the next demand for the set that the call asks about. 0, or -1: there is none. */
int orr_dyn_demand_next(struct orr_dyn_registry *r, const struct orr_dyn_call *c);

/* ---- collective.c ---- */

/* Answers the call if that is possible now; then it does not exist any more, or others do not. */
int orr_dyn_evaluate(struct orr_dyn_registry *r, struct orr_dyn_call *c);
/* The requests that all processes of a set make. */
void orr_dyn_request_of_set(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			    const struct orr_dyn_words *words, enum orr_dyn_call_kind kind);
void orr_dyn_request_query(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			   const struct orr_dyn_words *words);
void orr_dyn_request_get(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			 const struct orr_dyn_words *words);
void orr_dyn_request_join(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			  const struct orr_dyn_words *words);

#endif
