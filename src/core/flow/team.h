/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parallel workers (starpu_parallel_worker.h): teams of CPU workers, each with at most one task.
 *
 * With a policy of the program's choice the first worker of each team is in a context that has this
 * policy: what it takes from there its whole team executes.
 *
 * Invariant: core->teams is set exactly while the program has parallel workers; a task that waits
 * for one stands in their common queue, or with their policy. */
#ifndef ORR_CORE_TEAM_H
#define ORR_CORE_TEAM_H

#include "core/worker/core.h"
#include "core/task/task.h"

struct orr_combined;

struct orr_team {
	struct orr_combined *comb; /* NULL: one worker */
	int worker;                /* the first, or the only one */
	unsigned size;
	int busy; /* under proc->lock */
};

/* A task that no team was free for. */
struct orr_team_waiting {
	struct orr_team_waiting *next;
	struct orr_task *t;
	uint8_t can[]; /* for each team: it could execute the task */
};

struct starpu_parallel_worker_config {
	unsigned n;
	unsigned ctx;                          /* the context with their policy, 0: none */
	struct orr_team_waiting *queue, **end; /* first come first; under proc->lock */
	struct orr_team team[];
};

/* A ready task may be executed by a team: gives it to one that is free, or queues it. Returns 0 if
 * no team can execute it: then it goes to the policy. Without locks. */
int orr_team_push(struct orr_process *proc, struct orr_task *t);
/* A worker has taken the task from a context or its own list. Returns NULL if the worker leads a
 * team that the task is for: then all of the team come to the task. By the worker's thread. */
struct starpu_task *orr_team_take(struct orr_worker *w, struct orr_process *proc,
				  struct starpu_task *task);
/* A team has executed the task: it takes the next one. Without locks. */
void orr_team_over(struct orr_process *proc, struct orr_task *t);

#endif
