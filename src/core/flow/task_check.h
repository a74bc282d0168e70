/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mistakes in a task that the program submits.
 *
 * Invariant: whoever finds a mistake says so in a message that names the task. */
#ifndef ORR_CORE_TASK_CHECK_H
#define ORR_CORE_TASK_CHECK_H

#include "core/task/codelet.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task.h"
#include "data/handle.h"

/* An access must say what it does to the data. */
#define ORR_TASK_ACCESSES (STARPU_RW | STARPU_SCRATCH | STARPU_REDUX | STARPU_MPI_REDUX)

/* Everything that can be wrong with the task itself, which units of these kinds may execute.
 * internal: the runtime made the task, and its data are known to be good. 0, or -EINVAL or -ENODEV
 * after a message. */
int orr_task_check_all(struct orr_process *proc, struct starpu_task *task, struct orr_task *t,
		       uint32_t where, int internal, struct orr_ctx *ctx);

/* Are there implementations for all kinds of units that the task may execute on? A program that
 * names kinds, or an implementation, may name some that the codelet does not have. */
static inline int orr_task_where_is_backed(const struct starpu_task *task, const struct orr_task *t)
{
	return task->where == -1 && !t->forced_impl && orr_codelet_is_backed(task->cl);
}

/* Is it a common task, new and with nothing in it that could be wrong? */
static inline int orr_task_is_plain(const struct orr_process *proc, const struct starpu_task *task,
				    const struct orr_task *t, uint32_t where,
				    const struct orr_ctx *ctx)
{
	const struct starpu_codelet *cl = task->cl;
	unsigned n = orr_task_nbuffers(task);

	if (!(where & proc->arch_mask) || t->state != ORR_TASK_NEW || n > STARPU_NMAXBUFS ||
	    cl->can_execute || task->workerids || task->execute_on_a_specific_worker ||
	    !orr_task_where_is_backed(task, t) || !orr_ctx_whole(ctx))
		return 0;
	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = orr_task_handle(task, i);
		enum starpu_data_access_mode mode = orr_task_mode(task, i);

		if (!h || ORR_ATOMIC_LOAD_RELAXED(&h->alive) != ORR_HANDLE_ALIVE ||
		    ORR_ATOMIC_LOAD_RELAXED(&h->busy_partition) || !(mode & ORR_TASK_ACCESSES) ||
		    (mode & STARPU_REDUX))
			return 0;
	}
	return 1;
}

static inline int orr_task_check(struct orr_process *proc, struct starpu_task *task,
				 struct orr_task *t, uint32_t where, int internal,
				 struct orr_ctx *ctx)
{
	if (__builtin_expect(orr_task_is_plain(proc, task, t, where, ctx), 1))
		return 0;
	return orr_task_check_all(proc, task, t, where, internal, ctx);
}

#endif
