/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Actors: what is known of one, who runs, blocking and waking (sim_actor.c).
 *
 * Invariant: stated in sim_actor.c. */
#ifndef ORR_SIM_ACTOR_H
#define ORR_SIM_ACTOR_H

#include <simgrid/actor.h>
#include "base/world.h"
#include "actors/sim_event.h"
#include "actors/sim_own.h"
#include "actors/sim_private.h"
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
	struct orr_sim_rank *rank;
	enum orr_role role;          /* USER for the program's main actor too */
	sg_actor_t actor;            /* SimGrid's, that it is or whose stack it has; or NULL */
	struct orr_sim_stack *stack; /* the one that it borrows now (sim_turns.h), or NULL */
	uint8_t borrows;             /* has no stack of its own */
	uint8_t slept;               /* the kernel that it runs has */
	uint8_t measured;            /* so has its use of the processor */
	struct orr_sim_fiber *fiber; /* of a kernel's actor (sim_kernel.c): runs on it, first as a
					part of the driver and, once it has waited, on a stack that
					it borrows; else NULL */
	enum orr_sim_recess recess;
	double until_s;
	struct orr_sim_wait wait;
	struct orr_sim_event limit;      /* of the time that it is blocked */
	struct orr_sim_actor *wait_next; /* in the ring of an orr_waitq_t, else NULL */
	struct orr_sim_actor *turn_next; /* in the list of sim_turns.c */
	void *bell_out;                  /* MPI_Request of the last ring, or NULL */
	uint8_t blocked;                 /* waits in orr_sim_block */
	uint8_t timed_out;
	uint8_t mpi;      /* MPI_Init was called by or for it */
	uint8_t itself;   /* nested: it calls SMPI as itself, and not for the program */
	uint8_t can_ring; /* SMPI finds its rank: main and driver, children of the engine's actor */
	uint8_t ring_request; /* is to ring the engine's bell when it next waits */
	uint8_t active;       /* a function was handed to it and has not ended */
	uint8_t detached;
	int in_kernel;    /* 1 + the worker that it steps, while it calls its kernel; else 0 */
	double others_us; /* time of the processor that others took while a measured kernel waited
			   */
	double asked_us;  /* the program has asked for the time until then ... */
	unsigned nasked;  /* ... that often without any passing */
	struct orr_sim_context context; /* of SimGrid, by which it is found */
	int saved_errno;                /* while others run */
	char name[24];
	void (*code)(struct orr_sim_actor *); /* what it runs */
	void *(*fn)(void *);                  /* what was handed to it */
	void *arg, *ret;
	orr_waitq_t handed;         /* pre-made actors wait here for a function */
	orr_waitq_t ended;          /* joiners wait here */
	struct orr_sim_private own; /* what its thread has for itself */
	unsigned npolls;            /* unsuccessful MPI_Test and relatives in a row */
};

/* The running actor, or NULL outside of actors. */
struct orr_sim_actor *orr_sim_actor_self(void);
/* Starts code(actor) in a new actor on the rank's host; the running actor becomes its parent.
 * instance: the SMPI instance that it joins, or NULL. */
struct orr_sim_actor *orr_sim_actor_start(struct orr_sim_rank *r, enum orr_role role,
					  const char *name, const char *instance, size_t stack,
					  void (*code)(struct orr_sim_actor *));
/* The same for an actor that borrows its stack, and has none until a function is handed to it.
 * turn(actor) is called when it has its turn, and returns when it is in a recess. */
struct orr_sim_actor *orr_sim_actor_borrower(struct orr_sim_rank *r, enum orr_role role,
					     const char *name,
					     void (*turn)(struct orr_sim_actor *));
/* An actor that runs kernels of the rank, in front of `size` bytes in all. turn(actor) is called
 * when it goes on after its first wait, and returns when its kernel has ended. */
struct orr_sim_actor *orr_sim_actor_kernels(struct orr_sim_rank *r, size_t size,
					    void (*turn)(struct orr_sim_actor *));
/* SimGrid is about to look who runs. A kernel that is a part of its driver is nobody: it parts from
 * it first, and has a turn of its own. */
void orr_sim_part(void);
/* The time that this process has used of the processor. */
double orr_sim_cpu_us(void);
/* The running actor ends: nothing asks who it is any more. */
void orr_sim_actor_leave(struct orr_sim_actor *a);
/* The rest of a function calls SMPI as the running actor itself, and not as its rank's main actor.
 */
static inline struct orr_sim_actor *orr_sim_itself_begin(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (a)
		a->itself++;
	return a;
}
static inline void orr_sim_itself_end(struct orr_sim_actor **a)
{
	if (*a)
		(*a)->itself--;
}
#define ORR_SIM_AS_ITSELF \
	struct orr_sim_actor *itself_ \
		__attribute__((cleanup(orr_sim_itself_end), unused)) = orr_sim_itself_begin()
/* [waits] With --yields only: lets others run for a while, or not, as a random number says. It
 * stands wherever a call may give the processor away between a last look for work and the sleep
 * that follows, so that a wake-up that can be lost is lost soon. */
void orr_sim_yield_slow(void);
static inline void orr_sim_yield(void)
{
	if (__builtin_expect(orr_sim.yields != 0, 0))
		orr_sim_yield_slow();
}
/* Blocks the running actor until orr_sim_unblock or until virtual time deadline_s (< 0: none).
 * Returns 1 when the time ran out. */
int orr_sim_block(struct orr_sim_actor *a, double deadline_s);
void orr_sim_unblock(struct orr_sim_actor *a);
/* The same in a recess, if the actor can take one: returns 1, and its function has to return
 * ORR_RECESS. Else blocks and returns 0. */
int orr_sim_block_recess(struct orr_sim_actor *a);
/* The running actor sleeps until that virtual time. */
void orr_sim_sleep_until(struct orr_sim_actor *a, double date_s);
/* The earliest time in seconds at which the clock shows at least us microseconds. */
double orr_sim_date_of_us(double us);
/* Puts the running actor, which borrows, into a recess. */
void orr_sim_recess(struct orr_sim_actor *a, enum orr_sim_recess kind, double deadline_s);
/* The actor was woken in its recess. Returns whether its wait is over; else it is in one again. */
int orr_sim_wait_over(struct orr_sim_actor *a);
/* As orr_waitq_wake(), but only makes others ready to run. */
void orr_sim_wake(orr_waitq_t *q);
/* [waits] After an unsuccessful poll: lets a little virtual time go by. */
void orr_sim_polled(struct orr_sim_actor *a);
/* Sleeps for ever (what is left of a rank whose program called exit). */
void orr_sim_park(struct orr_sim_actor *a) __attribute__((noreturn));

#endif
