/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An actor, as the record of what is known of it, and who runs (sim_actor.h).
 *
 * Invariant: stated in sim_actor.c. */
#ifndef ORR_SIM_ACTOR_RECORD_H
#define ORR_SIM_ACTOR_RECORD_H

#include <simgrid/actor.h>
#include "base/world.h"
#include "actors/sim_event.h"
#include "actors/sim_own_record.h"
#include "actors/sim_private_record.h"
#include "sim.h"

struct orr_sim_fiber;
struct orr_sim_rank;
struct orr_sim_stack;

/* A wait on an event count (sim_actor.c). */
struct orr_sim_wait {
	orr_waitq_t *q;
	unsigned key;
	int expired;
	double deadline_s;    /* < 0: none */
	double busy_until_us; /* what was charged before goes on as long */
};

/* Sleeps for debts that the actor owes (machine/sim_debt.c). */
struct orr_sim_put_off {
	unsigned n;
	double first_us, us; /* the first one, and each of the others */
};

/* The state of an actor that is in a recess (base/seam.h). */
enum orr_sim_recess {
	ORR_SIM_NO_RECESS,
	ORR_SIM_UNUSED, /* waits for a function */
	ORR_SIM_SLEEPS, /* until until_s */
	ORR_SIM_BLOCKED,
	ORR_SIM_WAITS /* as `wait` says */
};

struct orr_sim_actor {
	struct orr_sim_actor_head head; /* first */
	/* Fields that each turn looks at are together (sim_rank.h). */
	struct orr_sim_rank *rank;
	void (*code)(struct orr_sim_actor *); /* what it runs */
	sg_actor_t actor;                /* SimGrid's, that it is or whose stack it has; or NULL */
	struct orr_sim_stack *stack;     /* the one that it borrows now (sim_turns.h), or NULL */
	void *seat;                      /* public/turns.c's own, else NULL */
	struct orr_sim_actor *turn_next; /* in the list of sim_turns.c */
	uint8_t blocked;                 /* waits in orr_sim_block */
	uint8_t timed_out;
	uint8_t borrows;      /* has no stack of its own */
	uint8_t ring_request; /* is to ring the engine's bell when it next waits */
	uint8_t active;       /* a function was handed to it and has not ended */
	uint8_t recess;       /* enum orr_sim_recess */
	uint8_t slept;        /* the kernel that it runs has */
	uint8_t measured;     /* so has its use of the processor */
	int saved_errno;      /* while others run */
	int in_kernel;        /* 1 + the worker that it steps, while it calls its kernel; else 0 */
	void *(*fn)(void *);  /* what was handed to it */
	void *arg;
	struct orr_sim_context context; /* of SimGrid, by which it is found */
	struct orr_sim_event limit;     /* of the time that it is blocked */
	struct orr_sim_fiber *fiber; /* of a kernel's actor (sim_kernel.c): runs on it, first as a
					part of the driver and, once it has waited, on a stack that
					it borrows; else NULL */
	enum orr_role role;          /* USER for the program's main actor too */
	double until_s;
	struct orr_sim_put_off put_off;
	double (*next_sleep)(struct orr_sim_actor *); /* while it sleeps for these, else NULL */
	struct orr_sim_wait wait;
	struct orr_sim_actor *wait_next; /* in the ring of an orr_waitq_t, else NULL */
	void *bell_out;                  /* MPI_Request of the last ring, or NULL */
	uint8_t mpi;                     /* MPI_Init was called by or for it */
	uint8_t itself;   /* nested: it calls SMPI as itself, and not for the program */
	uint8_t can_ring; /* SMPI finds its rank: main and driver, children of the engine's actor */
	uint8_t detached;
	uint8_t left;     /* the main one: it has left the rank to the other threads */
	uint8_t deep;     /* its stack was deeper than it will be: trimmed at that many waits */
	double others_us; /* what others took of the processor while a measured kernel waited */
	double asked_us;  /* the program has asked for the time until then ... */
	unsigned nasked;  /* ... that often without any passing */
	char name[24];
	void *ret;                  /* of what was handed to it */
	orr_waitq_t handed;         /* pre-made actors wait here for a function */
	orr_waitq_t ended;          /* joiners wait here */
	struct orr_sim_private own; /* what its thread has for itself */
	unsigned npolls;            /* unsuccessful MPI_Test and relatives in a row */
	unsigned handled[2]; /* how often a handler has run for it, and one without SA_RESTART */
	orr_waitq_t *interruptible; /* a signal ends its wait there, or NULL */
};

/* The running actor, or NULL outside of actors. */
struct orr_sim_actor *orr_sim_actor_self(void);

#endif
