/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Codelets as the core sees them: which kinds of units they have functions for, and the mistakes
 * that all tasks of a codelet share.
 *
 * Invariant: a codelet is the program's; the core writes nothing into it but `checked` and its
 * counters. */
#include "core/task/codelet.h"

#include <errno.h>
#include <string.h>

#include "base/codelet_fields.h"
#include "base/log.h"
#include "perf/model_state.h"

struct starpu_codelet starpu_codelet_nop = {
	.where = STARPU_NOWHERE,
	.name = "nop",
	.nbuffers = 0,
};

void starpu_codelet_init(struct starpu_codelet *cl)
{
	memset(cl, 0, sizeof(*cl));
}

int orr_codelet_stands_in(const struct starpu_codelet *cl, enum starpu_worker_archtype type,
			  const struct orr_worker *w)
{
	struct orr_process *proc = orr_self();

	return (proc->stand_in & ORR_STAND_IN_DEVICES) && cl->model &&
	       orr_codelet_cpu_func(cl, 0) &&
	       orr_model_state_knows(proc, cl->model, type, w ? w->perf_arch : NULL);
}

/* Finds out which functions slaves can call: those whose names are visible. Returns all marks of
 * the codelet. */
static int look_up_remote(struct starpu_codelet *cl)
{
	const char *name = cl->name ? cl->name : "unnamed", *missing = NULL;
	int found = ORR_CODELET_LOOKED_UP;

	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS && cl->cpu_funcs_name[i]; i++) {
		if (orr_sys_symbol(orr_self(), cl->cpu_funcs_name[i]))
			found |= ORR_CODELET_REMOTE << i;
		else
			missing = cl->cpu_funcs_name[i];
	}
	if (missing)
		orr_warn(
			"codelet %s: slaves find no function %s; let it not be static, and link the program with -rdynamic",
			name, missing);
	else if (!cl->cpu_funcs_name[0] && orr_codelet_cpu_func(cl, 0))
		orr_warn(
			"codelet %s has no cpu_funcs_name, by which slaves find its functions: its tasks execute on the master only",
			name);
	return __atomic_fetch_or(&cl->checked, found, __ATOMIC_RELAXED) | found;
}

int orr_codelet_is_remote(const struct starpu_codelet *cl, unsigned impl)
{
	int marks = __atomic_load_n(&cl->checked, __ATOMIC_RELAXED);

	if (!(marks & ORR_CODELET_LOOKED_UP))
		marks = look_up_remote((struct starpu_codelet *) cl);
	return (marks & ORR_CODELET_REMOTE << impl) != 0;
}

/* The kinds of units that execute the codelet without a function of their own. */
static uint32_t where_stands_in(const struct starpu_codelet *cl, uint32_t where)
{
	uint32_t more = 0;

	if (!(where & STARPU_CUDA) && orr_codelet_stands_in(cl, STARPU_CUDA_WORKER, NULL))
		more |= STARPU_CUDA;
	if (!(where & STARPU_OPENCL) && orr_codelet_stands_in(cl, STARPU_OPENCL_WORKER, NULL))
		more |= STARPU_OPENCL;
	if ((orr_self()->stand_in & ORR_STAND_IN_SLAVES) && orr_codelet_is_remote(cl, 0))
		more |= STARPU_MPI_MS;
	return more;
}

static uint32_t where_implemented(const struct starpu_codelet *cl)
{
	uintptr_t cpu, cuda = (uintptr_t) cl->cuda_func, opencl = (uintptr_t) cl->opencl_func;
	uint32_t where = 0;

	cpu = cl->cpu_func == STARPU_MULTIPLE_CPU_IMPLEMENTATIONS ? 0 : (uintptr_t) cl->cpu_func;
	/* Each task asks: no branches. */
	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
		cpu |= (uintptr_t) cl->cpu_funcs[i];
		cuda |= (uintptr_t) cl->cuda_funcs[i];
		opencl |= (uintptr_t) cl->opencl_funcs[i];
	}
	if (cpu)
		where |= STARPU_CPU;
	if (cuda)
		where |= STARPU_CUDA;
	if (opencl)
		where |= STARPU_OPENCL;
	if (__builtin_expect(orr_self()->stand_in, 0))
		where |= where_stands_in(cl, where);
	return where;
}

uint32_t orr_codelet_where(const struct starpu_codelet *cl)
{
	return cl->where ? orr_where_meant(cl->where) : where_implemented(cl);
}

int orr_codelet_check(struct starpu_codelet *cl)
{
	if (cl->nbuffers < 0 && cl->nbuffers != STARPU_VARIABLE_NBUFFERS) {
		orr_error("codelet %s: nbuffers is %d", cl->name ? cl->name : "unnamed",
			  cl->nbuffers);
		return -EINVAL;
	}
	int marks = orr_where_meant(cl->where) & ~where_implemented(cl) ? 0 : ORR_CODELET_BACKED;
	__atomic_fetch_or(&cl->checked, ORR_CODELET_CHECKED | marks, __ATOMIC_RELAXED);
	return 0;
}

unsigned starpu_worker_type_can_execute_task(enum starpu_worker_archtype worker_type,
					     const struct starpu_task *task)
{
	uint32_t where;

	if (!task->cl || !starpu_worker_archtype_is_valid(worker_type))
		return 0;
	where = orr_codelet_where(task->cl);
	if (task->where != -1)
		where &= (uint32_t) task->where;
	return (where & STARPU_WORKER_TO_MASK(worker_type)) != 0;
}
