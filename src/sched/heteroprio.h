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
/* Queues a task; calls its cost functions. Wakes nobody. */
void orr_heteroprio_push(struct orr_process *proc, struct orr_heteroprio *h,
			 struct starpu_task *task);
/* What the worker does best, or NULL. */
struct starpu_task *orr_heteroprio_pop(struct orr_heteroprio *h, struct orr_worker *w);
unsigned orr_heteroprio_ntasks(const struct orr_heteroprio *h);

#endif
