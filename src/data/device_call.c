/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls functions of codelets outside of tasks (see device_call.h).
 *
 * Invariant: the world decides whether the function is called; the floor that knows workers, how
 * (a device has a thread, a queue and a driver of its own). */
#include "data/device_call.h"

#include "data/data.h"
#include "base/seam_kernel.h"

struct call {
	struct orr_process *proc;
	unsigned memnode;
	void (*f)(void **, void *);
	void *arg;
};

static void call_there(void **buffers, void *arg)
{
	const struct call *c = arg;

	c->proc->data->up->call(c->proc, c->memnode, c->f, buffers, c->arg);
}

double orr_device_call_us(struct orr_process *proc, struct _starpu_data_state *h, unsigned memnode,
			  struct starpu_codelet *cl, void (*f)(void **, void *), void **buffers,
			  void *arg)
{
	struct call c = { .proc = proc, .memnode = memnode, .f = f, .arg = arg };

	orr_assert_no_lock();
	return orr_sys_convert_us(proc, h, memnode, cl, f ? call_there : NULL, buffers, &c);
}
