/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fibers: a stack, and a function that runs on it until it ends or is left. Whoever began it goes
 * on then; a fiber that was left goes on later, begun by anybody, from any other stack.
 *
 * The change to a fiber and back takes 50 instructions, and no call of the system.
 *
 * Invariant: a fiber that is running or was left has a function that has not ended; one that nobody
 * has is ready to begin. */
#ifndef ORR_SIM_FIBER_H
#define ORR_SIM_FIBER_H

#include <stddef.h>
#include <stdint.h>

struct orr_sim_fiber {
	void *own, *other; /* stack pointers, of the one of both that does not run */
	void (*f)(void **, void *);
	void **buffers, *arg;       /* its arguments */
	int over;                   /* f has ended */
	uintptr_t low;              /* the stack is [low, low + size) */
	size_t size;                /* below it is a page that nobody may touch */
	struct orr_sim_fiber *next; /* of those that nobody has */
};

/* Those that nobody has. */
extern struct orr_sim_fiber *orr_sim_fiber_unused;
/* One more of them, with a stack of that many bytes. Returns NULL without memory. */
struct orr_sim_fiber *orr_sim_fiber_make(size_t size);
/* The first of them becomes somebody's; a fiber whose function is over becomes nobody's. */
void orr_sim_fiber_take(struct orr_sim_fiber *f);
void orr_sim_fiber_put(struct orr_sim_fiber *f);
/* The function of a fiber that was left is given up. */
void orr_sim_fiber_give_up(struct orr_sim_fiber *f);
/* Runs function(buffers, arg) on the fiber, until it ends (returns 1) or leaves (returns 0). */
int orr_sim_fiber_begin(struct orr_sim_fiber *f, void (*function)(void **, void *), void **buffers,
			void *arg);
/* A fiber that was left goes on. Returns as orr_sim_fiber_begin does. */
int orr_sim_fiber_continue(struct orr_sim_fiber *f);
/* On the fiber: whoever began or continued it goes on. Returns when somebody continues it. */
void orr_sim_fiber_leave(struct orr_sim_fiber *f);

#endif
