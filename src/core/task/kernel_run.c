/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The start of a task's kernel (see kernel_run.h). */
#include "core/task/kernel_run.h"

#include "core/task/task.h"
#include "base/seam_kernel.h"

int orr_worker_run(struct orr_worker *w, struct orr_task *t, void (*func)(void **, void *))
{
	w->kernel.task = t->pub;
	w->kernel.job = t->job_id;
	w->kernel.nimpl = t->nimpl;
	return orr_sys_kernel_start(w->group->proc, &w->kernel, func, t->interfaces,
				    t->pub->cl_arg);
}
