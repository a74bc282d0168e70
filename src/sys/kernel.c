/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels on the CPUs of a real run: called by the worker's thread, which takes as long as it takes.
 *
 * Invariant: the kernel is over when orr_sys_kernel_start returns. */
#include "core/task.h"

int orr_sys_kernel_runs(struct orr_worker *w, struct orr_task *t)
{
	const struct starpu_codelet *cl = t->pub->cl;

	return !w->group->node->cfg.disable_kernels || (cl && (cl->flags & STARPU_CODELET_SIMGRID_EXECUTE));
}

int orr_sys_kernel_start(struct orr_worker *w, struct orr_task *t, void (*func)(void **, void *), void **buffers, void *cl_arg)
{
	if (func && orr_sys_kernel_runs(w, t))
		func(buffers, cl_arg);
	return 0;
}

double orr_sys_convert_us(struct orr_node *node, struct _starpu_data_state *h, unsigned memnode, struct starpu_codelet *cl,
			  void (*func)(void **, void *), void **buffers)
{
	(void) h;
	(void) memnode;
	(void) cl;
	if (!node->cfg.disable_kernels)
		func(buffers, NULL);
	return 0;
}

void orr_sys_kernel_end(struct orr_worker *w, struct orr_task *t)
{
	(void) w;
	(void) t;
}
