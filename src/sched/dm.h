/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Common to the two halves of the dm family: its state (dm.c) and the choice of a worker
 * (dm_decide.c).
 *
 * Times inside are integers, in nanoseconds of orr_sys_now_us(), so that several threads may add to
 * them.
 *
 * Invariant: deciding changes nothing but the counters of tries, and the memory that a bundle
 * settles on (not asserted: nobody remembers what was before); two pushes at a time may choose the
 * same worker. */
#ifndef ORR_SCHED_DM_H
#define ORR_SCHED_DM_H

#include "data/data.h"
#include "data/handle.h"
#include "perf/arch.h"
#include "data/access.h"
#include "sched/sched.h"

struct orr_dm_variant {
	int data;     /* transfers count, and data are prefetched */
	int sorted;   /* by priority */
	int ready;    /* tasks first whose data are there */
	int by_prio;  /* less urgent tasks are no load */
	int parallel; /* tasks may be executed by several workers (dm_parallel.c) */
};

struct orr_dm_worker {
	orr_lock_t lock; /* protects q */
	struct orr_taskq q;
	int64_t queued_ns; /* atomic: loads of what has not begun */
	int64_t free_ns;   /* atomic: when what it executes is expected to be over */
	unsigned ntasks;   /* atomic: queued or in flight */
	int away;          /* not in the context; changes under the lock */
} __attribute__((aligned(ORR_LINES)));

/* Workers for which estimates are the same. */
struct orr_dm_class {
	struct orr_worker *lead;
	unsigned memnode;
	unsigned alike;      /* the first class with the same models, perhaps this one */
	unsigned n, *member; /* numbers of workers, ascending */
	unsigned tried;      /* atomic: tasks sent here because nothing was known */
};

struct orr_dm {
	const struct orr_dm_variant *v;
	unsigned naway; /* atomic: workers that are not in the context */
	unsigned nclasses;
	struct orr_dm_class *classes;
	unsigned *members; /* the storage of the classes' lists */
	struct orr_dm_worker w[];
};

struct orr_dm_choice {
	unsigned worker, impl;
	int known; /* us comes from a model */
	double us, transfer_us;
};

/* There are several memory nodes, so that transfers count. Disks come while the policy runs. */
static inline int orr_dm_transfers(const struct orr_process *proc)
{
	return ORR_ATOMIC_LOAD_RELAXED(&proc->data->nmemnodes) > 1;
}

static inline int orr_dm_away(const struct orr_dm *dm, unsigned worker)
{
	return __builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&dm->naway) != 0, 0) &&
	       ORR_ATOMIC_LOAD_RELAXED(&dm->w[worker].away);
}

/* The worker for a ready task. 0, or -ENODEV when none can execute it. */
int orr_dm_decide(struct orr_process *proc, struct orr_dm *dm, struct starpu_task *task,
		  int64_t now, struct orr_dm_choice *c);

/* The price of an execution's energy, in microseconds: impl of the task on an arch for us, by
 * which the machine is kept busy for longer_us more (orr_dm_longer_us). */
double orr_dm_energy_us(struct orr_process *proc, struct starpu_task *task,
			const struct orr_arch *arch, unsigned impl, double us, double longer_us);
/* By how many microseconds all that was pushed would end later if something ended at end_ns; 0 when
 * that costs nothing. */
double orr_dm_longer_us(struct orr_process *proc, struct orr_dm *dm, int64_t now, double end_us);

/* Launches a parallel task where it is expected to end before `single`. 1 when it did. */
int orr_dm_try_parallel(struct orr_process *proc, struct orr_dm *dm, struct starpu_task *task,
			int64_t now, const struct orr_dm_choice *single);

/* The time at which the worker is expected to be done with all that it has. */
static inline int64_t orr_dm_available(struct orr_dm_worker *w, int64_t now)
{
	int64_t end = ORR_ATOMIC_LOAD_RELAXED(&w->free_ns),
		queued = ORR_ATOMIC_LOAD_RELAXED(&w->queued_ns);

	return (end > now ? end : now) + (queued > 0 ? queued : 0);
}

/* Does the access bring a value to where the task executes? */
static inline int orr_dm_moves(const struct orr_access *a)
{
	return !a->merged && (a->mode & STARPU_R) && !(a->mode & (STARPU_SCRATCH | STARPU_REDUX));
}

/* Takes the task that misses least data on the worker's memory node: of the most urgent ones, of
 * which only so many are looked at. NULL when none can be executed there. Under the queue's lock.
 */
struct starpu_task *orr_dm_pop_ready(struct orr_taskq *q, struct orr_worker *worker);

/* The memory nodes that hold the value or will soon, as a mask; all when there is no value yet. */
uint32_t orr_dm_where(starpu_data_handle_t h);

#endif
