/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Combined workers: lists of CPU workers that execute tasks together (core/flow/parallel.h).
 *
 * Invariant: a combined worker never changes and stays until the runtime stops; its number is that
 * of a place behind the workers. */
#ifndef ORR_CORE_COMBINED_H
#define ORR_CORE_COMBINED_H

#include "core/worker/core.h"
#include "perf/arch.h"

struct orr_combined {
	unsigned id; /* from node->nworkers on */
	unsigned n;
	int *workers;         /* the leader first */
	struct orr_arch arch; /* what models know of it */
};

/* The combined worker of that number, or NULL. */
struct orr_combined *orr_combined_get(struct orr_process *proc, unsigned id);
/* Makes the combined workers that the machine suggests, once. For policies that start. */
void orr_combined_build(struct orr_process *proc);
/* Makes one of these workers, or finds it. Its number, or -errno. */
int orr_combined_assign(struct orr_process *proc, const int *workers, unsigned n);
void orr_combined_exit(struct orr_process *proc);
/* Can it execute implementation i of the task? The first that it can, -1 when none. */
int orr_combined_can_run(const struct orr_combined *c, const struct starpu_task *task, unsigned i);
int orr_combined_first_impl(const struct orr_combined *c, const struct starpu_task *task);
/* Are all its workers in the context, as workers of their own? */
int orr_combined_in_ctx(struct orr_process *proc, const struct orr_combined *c,
			const struct orr_ctx *ctx);
/* Could several workers execute the task? */
static inline int orr_task_is_parallel(const struct starpu_task *task)
{
	return task->cl->type != STARPU_SEQ && task->cl->max_parallelism != 1;
}
/* The largest one with w in it that can execute the task and is in its context; NULL when there is
 * none. */
struct orr_combined *orr_combined_largest(struct orr_process *proc, const struct orr_worker *w,
					  const struct starpu_task *task);

#endif
