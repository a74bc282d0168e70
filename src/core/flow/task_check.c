/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mistakes in a task that the program submits (see task_check.h).
 *
 * Invariant: a check changes nothing but the mark that a codelet was checked. */
#include "core/flow/task_check.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "core/task/codelet.h"
#include "core/ctx/combined.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task_impl.h"
#include "core/task/task.h"
#include "data/filters_views.h"
#include "data/handle.h"
#include "data/redux.h"

/* Is there a worker at all that may execute the task? */
static int somebody_can_run(struct orr_process *proc, struct starpu_task *task,
			    const struct orr_task *t, uint32_t where, struct orr_ctx *ctx)
{
	unsigned empty = 1;

	if (task->execute_on_a_specific_worker) {
		struct orr_combined *c = orr_combined_get(proc, task->workerid);

		if (c && !orr_combined_in_ctx(proc, c, ctx)) {
			orr_error(
				"task %s is to execute on combined worker %u, of which not all workers are in scheduling context %u",
				orr_task_name(task), task->workerid, ctx->id);
			return 0;
		}
		if (c)
			return orr_combined_first_impl(c, task) >= 0;
		if (task->workerid >= proc->core->nworkers) {
			orr_error("task %s is to execute on worker %u, but there are %u workers",
				  orr_task_name(task), task->workerid, proc->core->nworkers);
			return 0;
		}
		if (!orr_ctx_has(ctx, &proc->core->workers[task->workerid])) {
			orr_error(
				"task %s is to execute on worker %u, which is not in scheduling context %u",
				orr_task_name(task), task->workerid, ctx->id);
			return 0;
		}
		return orr_task_first_impl(&proc->core->workers[task->workerid], task) >= 0;
	}
	if (!(where & proc->arch_mask))
		return 0;
	if (!task->cl->can_execute && !task->workerids && orr_task_where_is_backed(task, t) &&
	    __builtin_expect(orr_ctx_whole(ctx), 1))
		return 1;
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		if (!orr_ctx_has(ctx, &proc->core->workers[i]))
			continue;
		empty = 0;
		if (orr_task_first_impl(&proc->core->workers[i], task) >= 0)
			return 1;
	}
	/* A context without workers gets some later, and the task waits for them. */
	return empty && ctx->id;
}

/* Finds what is wrong with datum i of a task, beside views of partitions. */
static int check_datum(struct starpu_task *task, starpu_data_handle_t h,
		       enum starpu_data_access_mode mode, unsigned i)
{
	char what[128], name[ORR_MODE_NAME];

	if (!h) {
		orr_error("task %s: datum %u is a NULL handle", orr_task_name(task), i);
		return -EINVAL;
	}
	snprintf(what, sizeof(what), "task %.64s, datum %u", orr_task_name(task), i);
	if (orr_handle_check(h, what))
		return -EINVAL;
	if (!(mode & ORR_TASK_ACCESSES)) {
		orr_error(
			"%s (%s): its access mode is %s; give STARPU_R, STARPU_W, STARPU_RW, STARPU_SCRATCH or STARPU_REDUX in the codelet's modes",
			what, orr_handle_name(h), orr_mode_name(mode, name));
		return -EINVAL;
	}
	return (mode & STARPU_REDUX) ? orr_redux_check(h, what) : 0;
}

int orr_task_check_all(struct orr_process *proc, struct starpu_task *task, struct orr_task *t,
		       uint32_t where, int internal, struct orr_ctx *ctx)
{
	unsigned n, planned = 0;

	uint8_t state = ORR_ATOMIC_LOAD(&t->state);

	if (state != ORR_TASK_NEW && state != ORR_TASK_DONE && !t->resubmits) {
		orr_error("task %s was submitted already and has not completed",
			  orr_task_name(task));
		return -EINVAL;
	}
	if (task->cl) {
		if (!orr_codelet_is_checked(task->cl) && orr_codelet_check(task->cl))
			return -EINVAL;
		n = orr_task_nbuffers(task);
		if (n > STARPU_NMAXBUFS && !task->dyn_handles) {
			orr_error("task %s: %u data exceed STARPU_NMAXBUFS (%d), set dyn_handles",
				  orr_task_name(task), n, STARPU_NMAXBUFS);
			return -EINVAL;
		}
		if (n > STARPU_NMAXBUFS && !task->dyn_modes && !task->cl->dyn_modes) {
			orr_error(
				"task %s: %u data exceed STARPU_NMAXBUFS (%d), set dyn_modes of the task or of its codelet",
				orr_task_name(task), n, STARPU_NMAXBUFS);
			return -EINVAL;
		}
		for (unsigned i = 0; i < n; i++) {
			starpu_data_handle_t h = orr_task_handle(task, i);
			enum starpu_data_access_mode mode = orr_task_mode(task, i);

			if (__builtin_expect(
				    !h || ORR_ATOMIC_LOAD_RELAXED(&h->alive) != ORR_HANDLE_ALIVE ||
					    !(mode & ORR_TASK_ACCESSES) || (mode & STARPU_REDUX),
				    0) &&
			    !internal && check_datum(task, h, mode, i))
				return -EINVAL;
			if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&h->busy_partition), 0) &&
			    !internal && !t->switches) {
				planned = 1;
				if (orr_handle_check_partition(h, mode, orr_task_name(task)))
					return -EINVAL;
			}
		}
		for (unsigned i = 0; __builtin_expect(planned, 0) && n > 1 && i < n; i++)
			if (orr_partition_check_view(orr_task_handle(task, i),
						     orr_task_mode(task, i), orr_task_name(task),
						     i))
				return -EINVAL;
		if (!(where & STARPU_NOWHERE) && !somebody_can_run(proc, task, t, where, ctx)) {
			orr_error(
				"task %s: none of the %u workers can execute it; look at the implementations of its codelet, at where, can_execute and "
				"workerid, at its scheduling context, and at STARPU_NCPU",
				orr_task_name(task), proc->core->nworkers);
			return -ENODEV;
		}
	}
	return 0;
}
