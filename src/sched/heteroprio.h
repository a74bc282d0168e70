/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The buckets of heteroprio, which the policy and the component of that name have (see
 * heteroprio.c).
 *
 * Invariant: a task that was pushed stands in one bucket until one worker pops it. */
#ifndef ORR_SCHED_HETEROPRIO_H
#define ORR_SCHED_HETEROPRIO_H

#include "sched/sched.h"

struct orr_heteroprio;

struct orr_heteroprio *orr_heteroprio_new(struct orr_process *proc);
void orr_heteroprio_free(struct orr_heteroprio *h);
/* A worker is one of those that pop, or no longer. */
void orr_heteroprio_member(struct orr_process *proc, struct orr_heteroprio *h, unsigned worker,
			   int in);
/* Queues a task; calls its cost functions. Wakes nobody. 0, or -EINVAL after a message when the
 * plan has no place for it. */
int orr_heteroprio_push(struct orr_process *proc, struct orr_heteroprio *h,
			struct starpu_task *task);
/* The task that the worker does best, or NULL. */
struct starpu_task *orr_heteroprio_pop(struct orr_heteroprio *h, struct orr_worker *w);
/* Are equally urgent tasks of a bucket taken by the data that they miss? From the next task on. */
void orr_heteroprio_set_locality(struct orr_heteroprio *h, int on);
unsigned orr_heteroprio_ntasks(const struct orr_heteroprio *h);

/* The buckets as the program arranges them (heteroprio_plan.c). */
struct orr_heteroprio_plan {
	unsigned nlooks[STARPU_NARCH], *look[STARPU_NARCH]; /* into which buckets each kind looks */
	unsigned nbuckets;
	double (*times)[STARPU_NARCH]; /* of each bucket, relative; 0: not told */
};

struct orr_heteroprio_plan *orr_heteroprio_plan_new(void);
void orr_heteroprio_plan_free(struct orr_heteroprio_plan *plan);
/* Does a kind that can execute the task look into its bucket? 0, or -EINVAL after a message. */
int orr_heteroprio_plan_check(const struct orr_heteroprio_plan *plan,
			      const struct starpu_task *task);
/* The plan, made when there is none; NULL when tasks were pushed already. */
struct orr_heteroprio_plan *orr_heteroprio_plan_get(struct orr_heteroprio *h);

#endif
