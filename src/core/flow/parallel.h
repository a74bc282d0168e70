/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parallel tasks: combined workers, and the execution of one task by several workers at once.
 *
 * A combined worker is a list of CPU workers; its number follows those of the workers. A task that
 * is launched on one is queued to each member, in the same order for all members of all tasks; a
 * member that comes to it is JOINED, and idle, until the task is over. When all have come the first
 * of them, the leader, executes the task like any other: alone (STARPU_FORKJOIN, bound to the cores
 * of all), or together with the others (STARPU_SPMD). Members that one thread steps (a simulated
 * run) cannot run kernels that wait for each other: these get a thread each for the time of the
 * kernel.
 *
 * Invariant: nobody blocks; who waits for others is a state. Since all members see tasks in the
 * same order, the first one that is not over always advances. */
#ifndef ORR_CORE_PARALLEL_H
#define ORR_CORE_PARALLEL_H

#include "core/ctx/combined.h"
#include "core/worker/core.h"

/* A member's part of a launched task. */
struct orr_member {
	struct orr_member *next; /* in the worker's queue */
	struct orr_parallel *p;
	unsigned rank;
	int started;              /* its kernel (SPMD); for its worker's thread */
	orr_sys_thread_t *thread; /* that runs its kernel, NULL: its worker's */
};

struct orr_parallel {
	struct orr_task *task;
	const struct orr_combined *comb;
	int spmd;
	unsigned narrived; /* atomic: members that have come */
	unsigned left; /* atomic: kernels that are not over (SPMD), and the time that a modelled one
			  takes */
	unsigned stage; /* atomic: */
	enum { ORR_PARALLEL_GATHERS, ORR_PARALLEL_RUNS, ORR_PARALLEL_OVER } stages;
	unsigned refs;  /* atomic: members that still look at it */
	uint64_t order; /* of all parallel tasks, see core->join_lock */
	struct orr_member member[];
};

/* Queues the task to all members. It may be over when this returns. */
void orr_parallel_launch(struct orr_process *proc, struct orr_task *t,
			 const struct orr_combined *c);

/* For core/run/worker_step.c and core/run/execute.c. The steps of a worker that has come to a
 * parallel task, or is about to: */
/* IDLE with something in w->joins: the worker is JOINED. */
void orr_parallel_join(struct orr_worker *w);
/* JOINED: 0 nothing to do, 1 advanced, 2 the leader is to begin the task. */
int orr_parallel_step(struct orr_worker *w, struct orr_thread *self);
/* The leader has the data. Returns 1 when the end comes at w->kernel.end_us, 0 when the task is
 * over, 2 when orr_parallel_is_over will say. */
int orr_parallel_start(struct orr_worker *w, struct orr_thread *self);
/* The modelled time is over, or the leader was rung: may the task be finished? */
int orr_parallel_time_is_over(struct orr_worker *w);
int orr_parallel_is_over(const struct orr_worker *w);
/* The task is finished: the members are free. us: what it took. */
void orr_parallel_finish(struct orr_worker *w, struct orr_task *t, double us);

/* The arch that executes w's task: the worker's own, or that of its combined worker. */
static inline const struct orr_arch *orr_worker_arch(const struct orr_worker *w)
{
	return __builtin_expect(w->member != NULL, 0) ? &w->member->p->comb->arch : w->perf_arch;
}

#endif
