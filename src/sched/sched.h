/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scheduling policies: which worker executes which ready task.
 *
 * A policy is a struct starpu_sched_policy. The core calls push_task for each ready task (any
 * thread) and pop_task for each idle worker (the thread of its group; starpu_worker_get_id() names
 * the worker); both must not block. A policy of ours wakes a worker after it queued a task; for a
 * policy of the program's the core wakes all. Each scheduling context has an instance, whose state
 * hangs off ctx->policy_data; push_task answers -ENODEV when no worker of the context can execute
 * the task, which then waits for one.
 *
 * Invariant: a task is given to a worker that can execute it, exactly once (core/run/execute.c
 * checks it when the worker begins). */
#ifndef ORR_SCHED_SCHED_H
#define ORR_SCHED_SCHED_H

#include "core/worker/core.h"

/* Ready tasks ordered by priority, first in first out among equals; a queue that ignores priorities
 * has one bucket. Not locked.
 *
 * Invariant: buckets are sorted by priority, the most urgent last, and none is empty. */
struct orr_taskq {
	struct orr_bucket {
		int prio;
		struct starpu_task_list list;
		int64_t load; /* sum of the tasks' loads, see struct orr_task */
	} * bucket, inl[2];
	unsigned n, cap;
	unsigned ntasks; /* may be read without the owner's lock as a hint */
};

void orr_taskq_init(struct orr_taskq *q);
void orr_taskq_exit(struct orr_taskq *q);
/* Queues task with that priority. 0 or -ENOMEM. */
int orr_taskq_push(struct orr_taskq *q, struct starpu_task *task, int prio);
/* Takes the most urgent task that w can execute; from the other end when steal. NULL when there is
 * none. */
struct starpu_task *orr_taskq_pop(struct orr_taskq *q, struct orr_worker *w, int steal);
/* The same for the first task that is wanted; and puts a task back where pops take theirs. */
typedef int (*orr_taskq_wanted_t)(void *arg, struct starpu_task *task);
struct starpu_task *orr_taskq_pop_if(struct orr_taskq *q, orr_taskq_wanted_t wanted, void *arg,
				     int steal);
int orr_taskq_push_front(struct orr_taskq *q, struct starpu_task *task, int prio);
/* Takes this task of bucket i. */
struct starpu_task *orr_taskq_take(struct orr_taskq *q, unsigned i, struct starpu_task *task);

/* A queue that any thread pushes to. Pushes only touch the inbox, so that the consumer's half stays
 * in its cache: the inbox is emptied when the consumer runs dry, now and then, and at once when a
 * task with another priority than the default's came. */
#define ORR_SHQ_RECENT 4
struct orr_shq {
	struct starpu_task *inbox; /* atomic: pushed tasks linked by next, newest first */
	int draining;              /* atomic: tasks are on their way from the inbox to q */
	int mixed; /* atomic: a task was pushed with another priority than the default's, or with a
		      load */
	unsigned npushed; /* atomic, each by itself: where the last tasks that were pushed lie, */
	struct starpu_task *recent[ORR_SHQ_RECENT]; /* which are not looked at: they may be gone */
	/* Apart from the inbox, for each pop reads it. */
	int urgent __attribute__((
		aligned(ORR_LINE))); /* atomic: look into the inbox before the next pop */
	orr_lock_t lock __attribute__((aligned(ORR_LINES))); /* protects what follows */
	unsigned npops;
	struct orr_taskq q;
} __attribute__((aligned(ORR_LINES)));

void orr_shq_init(struct orr_shq *q);
void orr_shq_exit(struct orr_shq *q);
/* Queues the task with its priority (0 for all when by_priority is 0). Any thread, takes no lock.
 */
void orr_shq_push(struct orr_shq *q, struct starpu_task *task, int by_priority);
/* Takes a task for w, see orr_taskq_pop. */
struct starpu_task *orr_shq_pop(struct orr_shq *q, struct orr_worker *w, int steal);

/* The table of policies, NULL-terminated; the first is the default. */
extern struct starpu_sched_policy *orr_sched_policies[];
extern struct starpu_sched_policy orr_sched_lws, orr_sched_ws, orr_sched_eager, orr_sched_peager,
	orr_sched_prio, orr_sched_random;
extern struct starpu_sched_policy orr_sched_dm, orr_sched_dmda, orr_sched_dmdap, orr_sched_dmdar,
	orr_sched_dmdas, orr_sched_dmdasd;
extern struct starpu_sched_policy orr_sched_heft, orr_sched_pheft, orr_sched_heteroprio,
	orr_sched_graph_test;

/* A number from 0 to below end, of the process's generator. */
double orr_sched_random_below(struct orr_process *proc, double end);

/* Of contexts that are made without a policy (sched/peager.c). */
extern struct starpu_sched_policy orr_sched_together;

/* Chooses and starts the policy (configuration, conf, STARPU_SCHED_LIB). 0, or -EINVAL after a
 * message listing what there is. */
int orr_sched_init(struct orr_process *proc);
void orr_sched_exit(struct orr_process *proc);
/* The answers to what the core asks of policies. */
extern const struct orr_policies orr_sched_table;

#endif
