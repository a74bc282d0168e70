/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels on devices that OpenCL drives.
 *
 * The function of the codelet gives kernels to the queue of its device. One that is asynchronous
 * (STARPU_OPENCL_ASYNC) returns then; a marker behind them tells when they are over.
 *
 * Invariant: a launch is freed by the second of two: the thread of OpenCL's that rings, and the
 * worker that has seen its end. */
#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/seam_kernel.h"
#include "core/task/kernel_run.h"
#include "core/task/task.h"
#include "core/worker/wake.h"
#include "core/worker/worker.h"
#include "drivers/opencl_own.h"

struct launch {
	struct orr_worker *worker;
	cl_event marker;
	unsigned nrefs; /* atomic */
	unsigned over;  /* atomic */
	cl_int status;
};

static struct orr_cl_device *device_of(const struct orr_worker *w)
{
	return w->driver_arg;
}

static int cl_init(struct orr_worker *w)
{
	(void) w;
	return 0;
}

static void cl_deinit(struct orr_worker *w)
{
	clFinish(device_of(w)->kernels);
}

static starpu_opencl_func_t function_of(const struct orr_task *t)
{
	const struct starpu_codelet *cl = t->pub->cl;
	starpu_opencl_func_t f = cl->opencl_funcs[t->nimpl];

	return f || t->nimpl || cl->opencl_func == STARPU_MULTIPLE_OPENCL_IMPLEMENTATIONS
		       ? f
		       : cl->opencl_func;
}

static int cl_queues(struct orr_worker *w, struct orr_task *t)
{
	(void) w;
	return t->pub->cl->opencl_flags[t->nimpl] & STARPU_OPENCL_ASYNC;
}

static void drop(struct launch *run)
{
	if (ORR_ATOMIC_ADD(&run->nrefs, -1) == 0)
		free(run);
}

static void CL_CALLBACK kernel_over(cl_event event, cl_int status, void *arg)
{
	struct launch *run = arg;
	struct orr_worker *w = run->worker;
	struct orr_cl_device *d = device_of(w);

	(void) event;
	run->status = status;
	ORR_ATOMIC_STORE(&run->over, 1);
	orr_wake_worker(w);
	drop(run);
	ORR_ATOMIC_ADD(&d->nringing, -1);
}

/* Waits for the kernels of a function that may have left some behind. */
static enum orr_started finish_now(struct orr_worker *w, struct orr_task *t)
{
	cl_int err = clFinish(device_of(w)->kernels);

	if (err != CL_SUCCESS)
		orr_fatal("task %s failed on %s: %s", orr_task_name(t->pub), w->name,
			  orr_cl_text(err));
	return ORR_STARTED_RAN;
}

/* Has the device tell when all that it was given is over. */
static enum orr_started mark(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	struct orr_cl_device *d = device_of(w);
	struct launch *run = malloc(sizeof(*run));
	cl_int err;

	if (!run)
		return finish_now(w, t);
	*run = (struct launch){ .worker = w, .nrefs = 2 };
	err = clEnqueueMarkerWithWaitList(d->kernels, 0, NULL, &run->marker);
	if (err == CL_SUCCESS)
		err = orr_cl_ring(d, run->marker, kernel_over, run);
	if (err == CL_SUCCESS)
		err = clFlush(d->kernels);
	if (err != CL_SUCCESS)
		orr_fatal("task %s cannot be executed on %s: %s", orr_task_name(t->pub), w->name,
			  orr_cl_text(err));
	l->event = run;
	l->due_us = INFINITY;
	return ORR_STARTED_LATER;
}

static enum orr_started cl_start(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	orr_assert(orr_thread_self()->worker == w);
	l->event = NULL;
	orr_worker_run(w, t, function_of(t));
	return cl_queues(w, t) ? mark(w, t, l) : finish_now(w, t);
}

static void cl_call(struct orr_worker *w, void (*f)(void **, void *), void **buffers, void *arg)
{
	f(buffers, arg);
	cl_int err = clFinish(device_of(w)->kernels);
	if (err != CL_SUCCESS)
		orr_fatal("a conversion or an initial value failed on %s: %s", w->name,
			  orr_cl_text(err));
}

static int cl_kernel_test(struct orr_worker *w, struct orr_launch *l)
{
	struct launch *run = l->event;

	if (!ORR_ATOMIC_LOAD(&run->over))
		return 0;
	if (run->status < 0)
		orr_fatal("task %s failed on %s: %s", orr_task_name(w->task->pub), w->name,
			  orr_cl_text(run->status));
	return 1;
}

static void cl_finish(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	struct launch *run = l->event;

	(void) t;
	orr_assert(orr_thread_self()->worker == w);
	if (run) {
		clReleaseEvent(run->marker);
		drop(run);
		l->event = NULL;
	}
	orr_sys_kernel_end(w->group->proc, &w->kernel);
}

const struct orr_driver_ops orr_cl_driver = {
	.name = "OpenCL",
	.arch = STARPU_OPENCL_WORKER,
	.init = cl_init,
	.deinit = cl_deinit,
	.queues = cl_queues,
	.start = cl_start,
	.test = cl_kernel_test,
	.call = cl_call,
	.finish = cl_finish,
};
