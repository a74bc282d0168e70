/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of the master-slave mode: the notes that go over the link (base/link.h), and the state
 * that either side keeps.
 *
 * All tags of payloads are the master's. A slave has one large part of its memory for the master,
 * which alone says what lies where in it, so that an allocation needs no message.
 *
 * Invariant: all processes run the same program with the same build, so that structures are the
 * same everywhere (the greeting of a slave proves the build). */
#ifndef ORR_DRIVERS_SLAVE_OWN_H
#define ORR_DRIVERS_SLAVE_OWN_H

#include "base/link.h"
#include "core/worker/device.h"
#include "drivers/slave.h"

enum orr_slave_what {
	ORR_SLAVE_HELLO, /* slave: it is ready */
	ORR_SLAVE_RUN,   /* master: execute a kernel */
	ORR_SLAVE_RAN,   /* slave: it has */
	ORR_SLAVE_TAKE,  /* master: receive a payload from `peer` */
	ORR_SLAVE_MOVE,  /* master: copy within the slave's memory */
	ORR_SLAVE_TOOK,  /* slave: it has done either */
	ORR_SLAVE_GIVE,  /* master: send a payload to `peer` */
	ORR_SLAVE_STOP   /* master: stop */
};

/* The longest note. What a kernel needs beyond it is sent as a payload. */
#define ORR_SLAVE_NOTE_MAX 4096

struct orr_slave_hello {
	char build[32];
	uintptr_t base; /* the memory that is the master's to divide */
	size_t bytes;
	unsigned nworkers;
};

/* A kernel. The body holds its name, the symbol of its model, its argument, and the interfaces of
 * its data (slave_body.c). */
struct orr_slave_run {
	unsigned worker;              /* among the slave's */
	uint32_t nbuffers, footprint; /* the footprint and the bytes are for the model */
	size_t bytes, body, name, symbol,
		arg;                      /* lengths; those of texts include the 0 at the end */
	enum starpu_perfmodel_type model; /* STARPU_PERFMODEL_INVALID: it has none */
	double us;                        /* what a model made of functions says */
};

/* The head of each note. */
struct orr_slave_note {
	enum orr_slave_what what;
	int peer, tag; /* of a payload that belongs to it; tag 0: there is none */
	uintptr_t id;  /* the master's; the answer carries it back */
	struct orr_rows rows, from;
	union {
		struct orr_slave_hello hello;
		struct orr_slave_run run;
		double us; /* what the kernel took */
	};
};

/* ---- the free parts of a memory (slave_arena.c) ---- */

struct orr_arena {
	struct orr_extent *first; /* by address; no two touch each other */
};

/* 0 or -ENOMEM. */
int orr_arena_init(struct orr_arena *a, uintptr_t base, size_t bytes);
void orr_arena_exit(struct orr_arena *a);
/* An address, or 0 if there is no room. */
uintptr_t orr_arena_take(struct orr_arena *a, size_t bytes);
/* Bytes as given to orr_arena_take. */
void orr_arena_give(struct orr_arena *a, uintptr_t at, size_t bytes);

/* ---- the master ---- */

/* A slave as the master sees it. */
struct orr_slave {
	struct orr_process *proc;
	int rank;
	struct orr_slave_hello hello;
	unsigned greeted; /* atomic: hello is there */
	unsigned memnode; /* of its memory, once a buffer was allocated */
	int first_worker; /* the master's number of its first worker; -1: not known yet */
	orr_lock_t lock;  /* protects arena */
	struct orr_arena arena;
	struct orr_letter stop;
	struct orr_slave_note stop_note;
};

struct orr_slaves {
	const struct orr_link_ops *link;
	int rank, size, master;
	int tags;          /* of payloads, from 1 on */
	unsigned next_tag; /* atomic */
	orr_waitq_t bell;  /* rung when a slave has greeted, when a copy is over, at the end */

	unsigned nslaves; /* the master's: all other ranks, in the order of ranks */
	struct orr_slave *slaves;
	unsigned nused; /* those that are devices */

	unsigned nringing; /* atomic: the link's thread is about to wake a worker */
	unsigned stopping; /* atomic; a slave's: it was sent home */
	uintptr_t memory;  /* a slave's own */
	size_t bytes;
	struct orr_slave_codelet *codelets; /* a slave's, by the link's thread */
};

extern const struct orr_memnode_ops orr_slave_memory;
extern const struct orr_driver_ops orr_slave_driver;

/* A tag for a payload, which no payload under way has. */
int orr_slave_tag(struct orr_slaves *s);
/* Posts a note of so many bytes (0: just the head) to a rank. The letter's `done` is set. */
void orr_slave_post(struct orr_process *proc, struct orr_letter *l, int peer,
		    const struct orr_slave_note *note, size_t bytes);
/* The answers to copies and kernels, by the link's thread. */
void orr_slave_took(struct orr_process *proc, const struct orr_slave_note *note);
void orr_slave_ran(struct orr_process *proc, const struct orr_slave_note *note);

/* ---- the slave (slave_serve.c) ---- */

/* A note of the master came, by the link's thread. */
void orr_slave_obey(struct orr_process *proc, const struct orr_slave_note *note);
void orr_slave_codelets_free(struct orr_slaves *s);

/* ---- bodies of kernels (slave_body.c) ---- */

struct orr_slave_body {
	const char *name, *symbol; /* symbol "": there is none */
	void *arg;                 /* NULL: there is none */
	void **buffers;            /* nbuffers interfaces */
};

/* Bytes of the body for the data of t, whose name, symbol and argument have the lengths in run. */
size_t orr_slave_body_bytes(const struct orr_task *t, const struct orr_slave_run *run);
/* Writes it. */
void orr_slave_body_write(char *at, const struct orr_task *t, const struct orr_slave_run *run,
			  const char *name, const char *symbol);
/* Reads a body in place; buffers has room for run->nbuffers interfaces. */
void orr_slave_body_read(char *at, const struct orr_slave_run *run, void **buffers,
			 struct orr_slave_body *body);

#endif
