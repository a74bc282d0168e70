/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels on devices that CUDA drives.
 *
 * The function of the codelet gives kernels to the stream of its worker. One that is asynchronous
 * (STARPU_CUDA_ASYNC) returns then; an event behind them tells when they are over.
 *
 * Invariant: a launch is freed by the second of two: the thread of CUDA's that rings, and the
 * worker that has seen its end. */
#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/seam_kernel.h"
#include "core/task/kernel_run.h"
#include "core/task/task.h"
#include "core/worker/wake.h"
#include "core/worker/worker.h"
#include "drivers/cuda_own.h"

struct launch {
	struct orr_worker *worker;
	void *event;
	unsigned nrefs; /* atomic */
};

static struct orr_cu_device *device_of(const struct orr_worker *w)
{
	return w->driver_arg;
}

struct orr_cu_worker *orr_cu_worker_of(struct orr_cu_device *d, const struct orr_worker *w)
{
	const struct orr_worker *all = w->group->proc->core->workers;
	unsigned first = w->id;

	if (w->driver_arg != d)
		return NULL;
	while (first && all[first - 1].driver_arg == d)
		first--;
	orr_assert(w->id - first < ORR_CU_MAXWORKERS);
	return &d->worker[w->id - first];
}

static int cu_init(struct orr_worker *w)
{
	struct orr_cu_device *d = device_of(w);

	orr_assert(orr_cu_worker_of(d, w)->stream);
	d->api->set_device(d->id);
	return 0;
}

static void cu_deinit(struct orr_worker *w)
{
	struct orr_cu_device *d = device_of(w);

	orr_cu_drain(d, orr_cu_worker_of(d, w)->stream);
}

static starpu_cuda_func_t function_of(const struct orr_task *t)
{
	const struct starpu_codelet *cl = t->pub->cl;
	starpu_cuda_func_t f = cl->cuda_funcs[t->nimpl];

	return f || t->nimpl || cl->cuda_func == STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS
		       ? f
		       : cl->cuda_func;
}

static int cu_queues(struct orr_worker *w, struct orr_task *t)
{
	(void) w;
	return t->pub->cl->cuda_flags[t->nimpl] & STARPU_CUDA_ASYNC;
}

static void drop(struct launch *run)
{
	if (ORR_ATOMIC_ADD(&run->nrefs, -1) == 0)
		free(run);
}

static void kernel_over(void *arg)
{
	struct launch *run = arg;
	struct orr_worker *w = run->worker;
	struct orr_cu_device *d = device_of(w);

	orr_wake_worker(w);
	drop(run);
	ORR_ATOMIC_ADD(&d->nringing, -1);
}

static void failed(struct orr_worker *w, const struct orr_task *t, int err)
	__attribute__((noreturn));

static void failed(struct orr_worker *w, const struct orr_task *t, int err)
{
	orr_fatal("task %s failed on %s, or one before it: %s", orr_task_name(t->pub), w->name,
		  device_of(w)->api->text(err));
}

/* Waits for the kernels of a function that may have left some behind. */
static enum orr_started finish_now(struct orr_worker *w, struct orr_task *t)
{
	struct orr_cu_device *d = device_of(w);
	struct orr_cu_worker *c = orr_cu_worker_of(d, w);
	int err = d->api->event_record(c->event, c->stream);

	/* Most functions have waited, and an event to sleep on costs an interrupt. */
	if (err == ORR_CU_SUCCESS)
		err = orr_cu_query(d, c->event);
	if (err == ORR_CU_NOT_READY)
		err = orr_cu_drain(d, c->stream);
	if (err != ORR_CU_SUCCESS)
		failed(w, t, err);
	return ORR_STARTED_RAN;
}

/* Has the device tell when all that it was given is over. */
static enum orr_started mark(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	struct orr_cu_device *d = device_of(w);
	struct launch *run = malloc(sizeof(*run));

	if (!run)
		return finish_now(w, t);
	*run = (struct launch){ .worker = w, .nrefs = 2 };
	int err = orr_cu_mark(d, orr_cu_worker_of(d, w)->stream, &run->event, kernel_over, run);

	if (err != ORR_CU_SUCCESS)
		failed(w, t, err);
	l->event = run;
	l->due_us = orr_sys_now_us() + ORR_CU_POLL_US;
	return ORR_STARTED_LATER;
}

static enum orr_started cu_start(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	struct orr_cu_device *d = device_of(w);

	orr_assert(orr_thread_self()->worker == w);
	l->event = NULL;
	/* A kernel may have chosen another one. */
	d->api->set_device(d->id);
	orr_worker_run(w, t, function_of(t));
	return cu_queues(w, t) ? mark(w, t, l) : finish_now(w, t);
}

static void cu_call(struct orr_worker *w, void (*f)(void **, void *), void **buffers, void *arg)
{
	struct orr_cu_device *d = device_of(w);
	int old = orr_cu_enter(d);

	f(buffers, arg);
	int err = orr_cu_drain(d, orr_cu_worker_of(d, w)->stream);
	if (err != ORR_CU_SUCCESS)
		orr_fatal("a conversion or an initial value failed on %s: %s", w->name,
			  d->api->text(err));
	orr_cu_leave(d, old);
}

static int cu_kernel_test(struct orr_worker *w, struct orr_launch *l)
{
	struct launch *run = l->event;
	int err = orr_cu_query(device_of(w), run->event);

	if (err != ORR_CU_SUCCESS && err != ORR_CU_NOT_READY)
		failed(w, w->task, err);
	l->due_us = orr_sys_now_us() + ORR_CU_POLL_US;
	return err == ORR_CU_SUCCESS;
}

static void cu_finish(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	struct launch *run = l->event;

	(void) t;
	orr_assert(orr_thread_self()->worker == w);
	if (run) {
		device_of(w)->api->event_destroy(run->event);
		drop(run);
		l->event = NULL;
	}
	orr_sys_kernel_end(w->group->proc, &w->kernel);
}

const struct orr_driver_ops orr_cu_driver = {
	.name = "CUDA",
	.arch = STARPU_CUDA_WORKER,
	.init = cu_init,
	.deinit = cu_deinit,
	.queues = cu_queues,
	.start = cu_start,
	.test = cu_kernel_test,
	.call = cu_call,
	.finish = cu_finish,
};
