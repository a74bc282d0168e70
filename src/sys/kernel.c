/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels on the CPUs of a real run: called by the worker's thread, which takes as long as it
 * takes.
 *
 * Where workers share their cores with other threads of the runtime, a model that is calibrated by
 * the clock would have the turns of those in it, and a simulation, which shares cores itself, would
 * count them twice. So the processor time of the thread counts there, unless the kernel gave up its
 * core by itself: one that sleeps or waits for threads of its own takes as long as the clock says.
 *
 * Invariant: the kernel is over when orr_sys_kernel_start returns. */
#include "core/task.h"
#include "core/core.h"

#include <sys/resource.h>
#include <time.h>

int orr_sys_kernel_runs(struct orr_worker *w, struct orr_task *t)
{
	const struct starpu_codelet *cl = t->pub->cl;

	return !w->group->proc->cfg.disable_kernels ||
	       (cl && (cl->flags & STARPU_CODELET_SIMGRID_EXECUTE));
}

static double thread_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double) ts.tv_sec * 1e6 + (double) ts.tv_nsec * 1e-3;
}

/* How often this thread gave its core away because it had to wait. */
static long nwaits(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_nvcsw;
}

static int calibrates(const struct orr_process *proc, const struct starpu_codelet *cl)
{
	return proc->cfg.calibrate && cl && cl->model;
}

int orr_sys_kernel_start(struct orr_worker *w, struct orr_task *t, void (*func)(void **, void *),
			 void **buffers, void *cl_arg)
{
	struct orr_process *proc = w->group->proc;
	int timed = calibrates(proc, t->pub->cl) && orr_sys_cores(proc) <= proc->core->nworkers;
	long before = timed ? nwaits() : 0;

	w->own_us = timed ? -thread_us() : 0;
	if (func && orr_sys_kernel_runs(w, t))
		func(buffers, cl_arg);
	if (timed) {
		w->own_us += thread_us();
		if (before < 0 || nwaits() != before)
			w->own_us = 0;
	}
	return 0;
}

double orr_sys_convert_us(struct orr_process *proc, struct _starpu_data_state *h, unsigned memnode,
			  struct starpu_codelet *cl, void (*func)(void **, void *), void **buffers)
{
	(void) h;
	(void) memnode;
	(void) cl;
	if (!proc->cfg.disable_kernels)
		func(buffers, NULL);
	return 0;
}

void orr_sys_kernel_end(struct orr_worker *w, struct orr_task *t)
{
	(void) w;
	(void) t;
}
