/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting and waking for floors that do not know workers. A thread of the program that waits for
 * something parks on proc->done; the floor that owns the workers fills in proc->park, and the
 * others wake workers through it.
 *
 * Invariant: whoever makes a condition true that a thread may park for wakes proc->done afterwards;
 * nobody parks while holding a lock. */
#ifndef ORR_BASE_PARK_H
#define ORR_BASE_PARK_H

#include "base/process.h"

/* Of a process that exchanges messages, a thread that waits looks so often in the time after which
 * it may be said that it waits in vain. */
#define ORR_PARK_LOOKS 4

/* Every slot may be called by any thread, with no lock held: waking may give the processor away in
 * a simulated run. */
struct orr_park_ops {
	/* The work that the calling thread postponed goes on now; policies that hold tasks back
	 * until the whole graph is there give them out. */
	void (*give_out)(struct orr_process *proc);
	/* Wakes one sleeping group of workers; all groups; all but the calling thread's own. */
	void (*wake_one)(struct orr_process *proc);
	void (*wake_all)(struct orr_process *proc);
	void (*wake_others)(struct orr_process *proc);
	/* Wakes group number g, which is below proc->ngroups. */
	void (*wake_group)(struct orr_process *proc, unsigned g);
};

/* Call this before a thread of the program parks: the tasks that it waits for must not be held
 * back. */
static inline void orr_about_to_wait(struct orr_process *proc)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->nholding) != 0 ||
				     orr_thread_self()->later != NULL,
			     0))
		proc->park->give_out(proc);
}

static inline void orr_park_wake_one(struct orr_process *proc)
{
	proc->park->wake_one(proc);
}

static inline void orr_park_wake_all(struct orr_process *proc)
{
	proc->park->wake_all(proc);
}

static inline void orr_park_wake_others(struct orr_process *proc)
{
	proc->park->wake_others(proc);
}

static inline void orr_park_wake_group(struct orr_process *proc, unsigned g)
{
	proc->park->wake_group(proc, g);
}

/* [waits] orr_waitq_wait() of a thread of the program on proc->done, where only tasks, data,
 * messages or other threads can end the waiting; what: the call, for messages. Returns 1 if nobody
 * else can act any more: if the condition does not hold then, it never will. Where other ranks
 * could act, it returns 0, and the MPI layer finds out together with them. */
int orr_park_wait(struct orr_process *proc, unsigned key, const char *what);
/* Says what the caller waits for and what waits, and ends the program. */
void orr_park_stuck(struct orr_process *proc, const char *what) __attribute__((noreturn));

/* [waits] Parks the calling thread of the program on proc->done until cond holds; what: the call,
 * for the message if it never will. */
#define ORR_PARK_UNTIL(proc, what, cond) \
	do { \
		while (!(cond)) { \
			unsigned key_ = orr_waitq_prepare(&(proc)->done); \
			if (cond) \
				orr_waitq_cancel(&(proc)->done); \
			else if (orr_park_wait(proc, key_, what) && !(cond)) \
				orr_park_stuck(proc, what); \
		} \
	} while (0)

/* [waits] Parks until cond holds. Whoever makes cond true wakes the event count q. */
#define ORR_WAIT_UNTIL(q, cond) \
	do { \
		while (!(cond)) { \
			unsigned key_ = orr_waitq_prepare(q); \
			if (cond) \
				orr_waitq_cancel(q); \
			else \
				orr_waitq_wait(q, key_, -1); \
		} \
	} while (0)

#endif
