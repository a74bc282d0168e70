/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core's part of the recorded events: steps in the life of tasks, and marks that the program
 * sets in the thread of a worker or elsewhere.
 *
 * Invariant: the number of a worker is passed only by the thread that steps this worker. */
#include "core/task_trace.h"
#include "base/upcalls.h"
#include "base/codelet.h"
#include "core/core.h"
#include "core/task.h"

#include "starpu_fxt.h"

/* The tool's information about a worker. */
static struct starpu_prof_tool_info about(const struct orr_worker *w)
{
	return (struct starpu_prof_tool_info){
		.worker_id = (int) w->id,
		.device_number = w->devid,
		.memnode = w->memnode,
		.driver_type = w->arch == STARPU_CPU_WORKER ? starpu_prof_tool_driver_cpu
							    : starpu_prof_tool_driver_gpu,
	};
}

static void *kernel_of(const struct orr_worker *w, const struct orr_task *t)
{
	const struct starpu_codelet *cl = t->pub->cl;

	switch (w->arch) {
	case STARPU_CUDA_WORKER: return (void *) (uintptr_t) cl->cuda_funcs[t->nimpl];
	case STARPU_OPENCL_WORKER: return (void *) (uintptr_t) cl->opencl_funcs[t->nimpl];
	default: return (void *) (uintptr_t) orr_codelet_cpu_func(cl, t->nimpl);
	}
}

/* A kernel begins or ends. */
static void tell_tool(const struct orr_worker *w, int ends, const struct orr_task *t)
{
	struct starpu_prof_tool_info info = about(w);
	int cpu = w->arch == STARPU_CPU_WORKER;

	info.fun_ptr = kernel_of(w, t);
	if (ends)
		orr_tool_tell(w->group->proc,
			      cpu ? starpu_prof_tool_event_end_cpu_exec
				  : starpu_prof_tool_event_end_gpu_exec,
			      info);
	else
		orr_tool_tell(w->group->proc,
			      cpu ? starpu_prof_tool_event_start_cpu_exec
				  : starpu_prof_tool_event_start_gpu_exec,
			      info);
}

void orr_worker_trace_slow(struct orr_worker *w, enum starpu_prof_tool_event event)
{
	orr_tool_tell(w->group->proc, event, about(w));
}

void orr_task_trace_slow(struct orr_process *proc, enum orr_trace_event event,
			 const struct orr_task *t, int worker, double shift_us)
{
	const struct starpu_codelet *cl = t->pub->cl;

	if (proc->tool && worker >= 0 && (event == ORR_TRACE_START || event == ORR_TRACE_END))
		tell_tool(&proc->core->workers[worker], event == ORR_TRACE_END, t);
	if (!proc->trace)
		return;
	orr_trace_task(proc, starpu_worker_get_id(), event, t->job_id,
		       cl && cl->name ? cl->name : "unnamed", worker, shift_us);
}

static void trace_mark(const char *what, unsigned long number, const char *text)
{
	struct orr_process *proc = orr_self();

	if (proc->trace)
		orr_trace_mark(proc, starpu_worker_get_id(), what, number, text);
}

void starpu_fxt_trace_user_event(unsigned long code)
{
	trace_mark("mark", code, "");
}

void starpu_fxt_trace_user_event_string(const char *s)
{
	trace_mark("mark", 0, s);
}

static void tell_mpi(int begins)
{
	struct orr_process *proc = orr_self();

	if (proc->mpi_up)
		proc->mpi_up->iteration(proc, begins);
}

void starpu_iteration_push(unsigned long iteration)
{
	trace_mark("iteration", iteration, "");
	tell_mpi(1);
}

void starpu_iteration_pop(void)
{
	trace_mark("iteration-end", 0, "");
	tell_mpi(0);
}
