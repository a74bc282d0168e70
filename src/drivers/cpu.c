/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU driver: kernels are C functions; how long they take is the world's business.
 *
 * Invariant: a kernel runs in the thread of its worker's group. */
#include "drivers/cpu.h"
#include "base/codelet_fields.h"
#include "core/task/kernel_run.h"
#include "core/task/task.h"
#include "core/worker/worker.h"
#include "base/assert.h"
#include "base/seam_kernel.h"

#include <stddef.h>

static int cpu_init(struct orr_worker *w)
{
	(void) w;
	return 0;
}

static void cpu_deinit(struct orr_worker *w)
{
	(void) w;
}

static enum orr_started cpu_start(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	(void) l;
	orr_assert(orr_thread_self()->worker == w);
	return orr_worker_run(w, t, orr_codelet_cpu_func(t->pub->cl, t->nimpl));
}

static void cpu_finish(struct orr_worker *w, struct orr_task *t, struct orr_launch *l)
{
	(void) l;
	orr_assert(orr_thread_self()->worker == w);
	(void) t;
	orr_sys_kernel_end(w->group->proc, &w->kernel);
}

const struct orr_driver_ops orr_cpu_driver = {
	.name = "CPU",
	.arch = STARPU_CPU_WORKER,
	.init = cpu_init,
	.deinit = cpu_deinit,
	.queues = orr_driver_queues_none,
	.start = cpu_start,
	.test = orr_driver_test_none,
	.call = orr_driver_call_plain,
	.finish = cpu_finish,
};
