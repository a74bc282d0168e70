/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Actors: what is known of one, who runs, blocking and waking (sim_actor.c).
 *
 * Invariant: stated in sim_actor.c. */
#ifndef ORR_SIM_ACTOR_H
#define ORR_SIM_ACTOR_H

#include "actors/sim_actor_record.h"

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
/* The same at that time: the time of the actor runs out then instead of when it was to. */
void orr_sim_unblock_at(struct orr_sim_actor *a, double date_s);
/* The same in a recess, if the actor can take one: returns 1, and its function has to return
 * ORR_RECESS. Else blocks and returns 0. */
int orr_sim_block_recess(struct orr_sim_actor *a, double deadline_s);
/* The running actor sleeps until that virtual time. */
void orr_sim_sleep_until(struct orr_sim_actor *a, double date_s);
/* The same until next(a), again and again until that is negative. The actor needs no turn in
 * between: whoever gives turns may call orr_sim_sleeps_on() instead, which returns 0 if it is to
 * have one. */
void orr_sim_sleep_through(struct orr_sim_actor *a, double (*next)(struct orr_sim_actor *));
int orr_sim_sleeps_on(struct orr_sim_actor *a);
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
