/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The implementations of a task that a worker may run.
 *
 * Invariant: the answer about a task that was submitted changes only through the program's
 * can_execute. */
#include "core/task/task_impl.h"

#include "base/codelet_fields.h"
#include "core/task/codelet.h"
#include "core/task/task.h"
#include "data/handle.h"

static int has_impl(const struct starpu_codelet *cl, const struct orr_worker *w, unsigned i)
{
	switch (w->arch) {
	case STARPU_CPU_WORKER: return orr_codelet_cpu_func(cl, i) != NULL;
	case STARPU_CUDA_WORKER:
		return cl->cuda_funcs[i] != NULL ||
		       (i == 0 && (cl->cuda_func || orr_codelet_stands_in(cl, w->arch, w)));
	case STARPU_OPENCL_WORKER:
		return cl->opencl_funcs[i] != NULL ||
		       (i == 0 && (cl->opencl_func || orr_codelet_stands_in(cl, w->arch, w)));
	case STARPU_MPI_MS_WORKER: return orr_codelet_is_remote(cl, i);
	default: return 0;
	}
}

int orr_task_can_travel(const struct starpu_task *t)
{
	unsigned n = orr_task_nbuffers(t);

	if (t->cl_arg && !t->cl_arg_size)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = orr_task_handle(t, i);

		if (h && h->ops->pack_meta)
			return 0;
	}
	return 1;
}

int orr_task_can_run(struct orr_worker *w, const struct starpu_task *t, unsigned impl)
{
	uint32_t where = t->where != -1 ? (uint32_t) t->where : orr_codelet_where(t->cl);

	if (!(where & STARPU_WORKER_TO_MASK(w->arch)) || impl >= STARPU_MAXIMPLEMENTATIONS ||
	    !has_impl(t->cl, w, impl))
		return 0;
	if (__builtin_expect(w->arch == STARPU_MPI_MS_WORKER, 0) && !orr_task_can_travel(t))
		return 0;
	if (t->execute_on_a_specific_worker && t->workerid != w->id &&
	    (!orr_task_of(t) || !orr_task_of(t)->parallel))
		return 0;
	if (t->workerids_len &&
	    (w->id / 32 >= t->workerids_len || !(t->workerids[w->id / 32] & (1U << w->id % 32))))
		return 0;
	return !t->cl->can_execute || t->cl->can_execute(w->id, (struct starpu_task *) t, impl);
}

int orr_task_first_impl(struct orr_worker *w, const struct starpu_task *t)
{
	const struct orr_task *prv = orr_task_of(t);

	if (prv && prv->forced_impl)
		return orr_task_can_run(w, t, prv->nimpl) ? prv->nimpl : -1;
	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
		if (orr_task_can_run(w, t, i))
			return (int) i;
	return -1;
}
