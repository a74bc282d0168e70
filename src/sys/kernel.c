/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels on the CPUs of a real run: called by the worker's thread, which takes as long as it
 * takes.
 *
 * Where workers share their cores with other threads of the runtime, a model that is calibrated by
 * the clock would have the turns of those in it, and a simulation, which shares cores itself, would
 * count them twice. So the processor time of the thread counts there, unless the kernel gave up its
 * core by itself: one that sleeps or waits for threads of its own takes as long as the clock says.
 * The reading of that time is no part of a kernel.
 *
 * Invariant: the kernel is over when orr_sys_kernel_start returns. */
#include "base/process.h"
#include "base/seam_kernel.h"
#include "base/world.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

enum { CLOCK_TRIES = 20 };
/* Of a kernel that ends at once. */
#define LEAST_US 1e-3

int orr_sys_kernel_runs(struct orr_process *proc, const struct starpu_codelet *cl)
{
	return !proc->cfg->disable_kernels || (cl && (cl->flags & STARPU_CODELET_SIMGRID_EXECUTE));
}

static double thread_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double) ts.tv_sec * 1e6 + (double) ts.tv_nsec * 1e-3;
}

/* The part of a kernel's time that is the clock's: the least that was seen between two readings
 * with nothing between them. It is a call of the system, which may take longer than a short kernel.
 */
static double clock_us(void)
{
	static _Thread_local double known_us = -1;
	double least_us = known_us;

	for (int i = 0; known_us < 0 && i < CLOCK_TRIES; i++) {
		double us = -thread_us();

		us += thread_us();
		if (!i || us < least_us)
			least_us = us;
	}
	return known_us = least_us;
}

/* Counts how often this thread gave its core away because it had to wait. */
static long nwaits(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_nvcsw;
}

static int calibrates(const struct orr_process *proc, const struct starpu_codelet *cl)
{
	return proc->cfg->calibrate && cl && cl->model;
}

/* A kernel while models are calibrated, or kernels are not executed. */
static int __attribute__((noinline))
start_specially(struct orr_process *proc, struct orr_kernel *k, void (*func)(void **, void *),
		void **buffers, void *cl_arg)
{
	const struct starpu_codelet *cl = k->task->cl;
	int timed = calibrates(proc, cl) && orr_sys_cores(proc) <= proc->ngroups;
	long before = timed ? nwaits() : 0;

	k->own_us = timed ? -thread_us() : 0;
	if (func && orr_sys_kernel_runs(proc, cl))
		func(buffers, cl_arg);
	if (timed) {
		k->own_us = fmax(k->own_us + thread_us() - clock_us(), LEAST_US);
		if (before < 0 || nwaits() != before)
			k->own_us = 0;
	}
	return 0;
}

int orr_sys_kernel_start(struct orr_process *proc, struct orr_kernel *k,
			 void (*func)(void **, void *), void **buffers, void *cl_arg)
{
	if (__builtin_expect(proc->cfg->calibrate | proc->cfg->disable_kernels, 0) || !func)
		return start_specially(proc, k, func, buffers, cl_arg);
	k->own_us = 0;
	func(buffers, cl_arg);
	return 0;
}

void orr_sys_kernel_settle(struct orr_thread *self, struct orr_kernel *k)
{
	(void) self;
	(void) k;
}

double orr_sys_convert_us(struct orr_process *proc, struct _starpu_data_state *h, unsigned memnode,
			  struct starpu_codelet *cl, void (*func)(void **, void *), void **buffers,
			  void *arg)
{
	(void) h;
	(void) memnode;
	(void) cl;
	if (func && !proc->cfg->disable_kernels)
		func(buffers, arg);
	return 0;
}

void orr_sys_kernel_end(struct orr_process *proc, struct orr_kernel *k)
{
	(void) proc;
	(void) k;
}
