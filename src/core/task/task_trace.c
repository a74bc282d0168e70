/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core's part of the recorded events: steps in the life of tasks, and marks that the program
 * sets in the thread of a worker or elsewhere.
 *
 * Invariant: the number of a worker is passed only by the thread that steps this worker. */
#include "core/task/task_trace.h"

#include <string.h>

#include "base/upcalls.h"
#include "base/codelet_fields.h"
#include "base/refuse.h"
#include "core/worker/core.h"
#include "core/task/task.h"
#include "data/access_trace.h"
#include "data/uses_trace.h"

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

/* The bits of a float: of a number of microseconds that a policy expected, of 0 for no such number.
 */
static uint64_t bits_of(double us)
{
	float us_f = us > 0 && us < 1e30 ? (float) us : 0;
	uint32_t bits;

	memcpy(&bits, &us_f, sizeof(bits));
	return bits;
}

/* The name of t's performance model, and the time that the policy expected of it (field d of a
 * start). */
static uint64_t model_of(struct orr_process *proc, const struct starpu_task *task)
{
	const struct starpu_perfmodel *model = task->cl ? task->cl->model : NULL;
	uint64_t name = model && model->symbol ? orr_trace_string(proc, model->symbol) : 0;

	return bits_of(task->predicted) << 32 | name;
}

/* The time that the policy expected of the copies of t's data (field d of an end). */
static uint64_t transfer_of(const struct starpu_task *task)
{
	return task->predicted_transfer >= 0
		       ? ORR_TRACE_EXPECTED | bits_of(task->predicted_transfer)
		       : 0;
}

static inline uint32_t name_of(struct orr_process *proc, const struct starpu_task *task)
{
	return orr_trace_string(proc, task->cl && task->cl->name ? task->cl->name : "unnamed");
}

void orr_task_trace_submit(struct orr_process *proc, const struct orr_task *t)
{
	const struct orr_thread *self = orr_thread_self();

	if (proc->trace && orr_trace_records(proc, ORR_TRACE_SUBMIT))
		orr_trace_submitted(proc, name_of(proc, t->pub), t->job_id, t->pub->priority,
				    self->task ? ORR_CAUSE_TASK | self->task->job_id : self->cause);
}

void orr_task_trace_ready(struct orr_process *proc, const struct orr_task *t)
{
	if (proc->trace)
		orr_trace_let(proc, ORR_TRACE_READY, t->job_id,
			      orr_thread_cause(orr_thread_self()));
}

static inline int64_t shift_ns(double us)
{
	return us == 0 ? 0 : (int64_t) (us * 1e3 + (us < 0 ? -0.5 : 0.5));
}

void orr_task_trace_start(struct orr_process *proc, const struct orr_task *t, int worker,
			  double shift_us)
{
	struct orr_worker *w = &proc->core->workers[worker];

	if (__builtin_expect(proc->tool != NULL, 0))
		tell_tool(w, 0, t);
	if (!proc->trace)
		return;
	if (!orr_trace_records(proc, ORR_TRACE_START)) {
		w->began.run = 0;
		return;
	}
	int64_t ns = orr_trace_now_ns(), fetch_ns = 0;

	/* On a device all of it since the kernel before is the data's: of what its driver
	 * does meanwhile, bringing data takes longest. */
	if (w->taken_us >= 0 && (w->pipeline || w->waits & 1))
		fetch_ns = ns - (int64_t) (w->taken_us * 1e3);
	orr_trace_started(proc,
			  &(struct orr_trace_event){ .kind = ORR_TRACE_START,
						     .worker = (int16_t) worker,
						     .ns = ns + shift_ns(shift_us),
						     .a = name_of(proc, t->pub),
						     .b = t->job_id,
						     .c = fetch_ns > 0 ? (uint64_t) fetch_ns : 0,
						     .d = model_of(proc, t->pub) },
			  &w->began);
}

void orr_task_trace_end(struct orr_process *proc, const struct orr_task *t, int worker,
			double shift_us)
{
	struct orr_worker *w = &proc->core->workers[worker];

	if (__builtin_expect(proc->tool != NULL, 0))
		tell_tool(w, 1, t);
	if (proc->trace)
		orr_trace_ended(proc, &w->began, worker, t->job_id,
				orr_trace_now_ns() + shift_ns(shift_us), transfer_of(t->pub));
}

/* A task without callbacks is done when its kernel ends. */
void orr_task_trace_done(struct orr_process *proc, const struct orr_task *t, int worker)
{
	if (proc->trace)
		orr_trace_done(proc, worker >= 0 ? &proc->core->workers[worker].began : NULL,
			       worker, t->job_id, orr_cause_of_last(t->ended_by),
			       !t->pub->callback_func && !t->pub->epilogue_callback_func);
}

void orr_task_trace_called(struct orr_process *proc, enum orr_trace_callback what, uint64_t job,
			   double since_us)
{
	const struct orr_thread *self = orr_thread_self();
	double us = orr_sys_now_us() + self->debt_us - since_us;

	if (us < ORR_TRACE_CALL_LEAST_US || !proc->trace)
		return;
	orr_trace_add(proc,
		      (struct orr_trace_event){
			      .kind = ORR_TRACE_CALLBACK,
			      .flags = (uint8_t) what,
			      .worker = (int16_t) (self->worker ? (int) self->worker->id : -1),
			      .ns = (int64_t) (self->debt_us * 1e3 + 0.5),
			      .b = job,
			      .c = (uint64_t) (us * 1e3 + 0.5) });
}

static void add_edge(struct orr_process *proc, enum orr_trace_kind kind, uint64_t job,
		     uint64_t cause)
{
	orr_trace_add(proc,
		      (struct orr_trace_event){ .kind = kind, .worker = -1, .b = job, .c = cause });
}

void orr_task_trace_release(struct orr_process *proc, uint64_t job, int submitted)
{
	/* The submission of a task is an event of its own. */
	if (!proc->trace || !job)
		return;
	uint64_t cause = orr_thread_cause(orr_thread_self());

	if (!cause)
		return;
	if (submitted)
		orr_trace_let(proc, ORR_TRACE_RELEASE, job, cause);
	else
		add_edge(proc, ORR_TRACE_AFTER, job, cause);
}

void orr_task_trace_comes_after(struct orr_process *proc, const struct orr_task *t, uint64_t cause)
{
	if (cause)
		add_edge(proc, ORR_TRACE_AFTER, t->job_id, cause);
}

void orr_task_trace_after(struct orr_process *proc, const struct orr_task *t)
{
	uint64_t before = 0;

	orr_handle_record_uses(proc, t->job_id, t->owner.access, t->owner.naccess);
	for (unsigned i = 0; i < t->owner.naccess; i++) {
		uint64_t cause = orr_access_comes_after(&t->owner.access[i]);

		if (cause && cause != before)
			add_edge(proc, ORR_TRACE_AFTER, t->job_id, cause);
		before = cause ? cause : before;
	}
}

void orr_task_trace_workers(struct orr_process *proc)
{
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		char name[128];

		starpu_worker_get_name((int) i, name, sizeof(name));
		orr_trace_add(proc,
			      (struct orr_trace_event){ .kind = ORR_TRACE_WORKER,
							.worker = (int16_t) i,
							.a = orr_trace_string(proc, name),
							.b = proc->core->workers[i].memnode });
	}
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

void starpu_fxt_trace_user_meta_string(const char *s)
{
	starpu_fxt_trace_user_event_string(s);
}

/* ---- files of StarPU's tracer, which are refused ---- */

static const char instead[] =
	"record a trace with ORRERY_TRACE=FILE, and convert it with starpu_fxt_tool -i FILE";

void starpu_fxt_options_init(struct starpu_fxt_options *options)
{
	(void) options;
	orr_refuse(__func__, instead);
}

void starpu_fxt_options_shutdown(struct starpu_fxt_options *options)
{
	(void) options;
	orr_refuse(__func__, instead);
}

void starpu_fxt_generate_trace(struct starpu_fxt_options *options)
{
	(void) options;
	orr_refuse(__func__, instead);
}

void starpu_fxt_write_data_trace(char *filename_in)
{
	(void) filename_in;
	orr_refuse(__func__, instead);
}

void starpu_fxt_write_data_trace_in_dir(char *filename_in, char *dir)
{
	(void) filename_in;
	(void) dir;
	orr_refuse(__func__, instead);
}
