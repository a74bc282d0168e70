/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The init codelet of data (see initial.h).
 *
 * Invariant: the function runs in the thread that needs the value, on a buffer that nobody else
 * uses meanwhile: that of a new contribution, or of a replicate that is loading. */
#include "data/initial.h"

#include "base/assert.h"
#include "base/codelet_fields.h"
#include "data/device_call.h"

orr_initial_func orr_initial_function(starpu_data_handle_t h, enum starpu_worker_archtype arch)
{
	const struct starpu_codelet *cl = h->ext ? h->ext->init_cl : NULL;

	switch (cl ? arch : STARPU_ANY_WORKER) {
	case STARPU_CPU_WORKER: return orr_codelet_cpu_func(cl, 0);
	case STARPU_CUDA_WORKER: return cl->cuda_funcs[0] ? cl->cuda_funcs[0] : cl->cuda_func;
	case STARPU_OPENCL_WORKER:
		return cl->opencl_funcs[0] ? cl->opencl_funcs[0] : cl->opencl_func;
	default: return NULL;
	}
}

orr_initial_func orr_initial_function_on(starpu_data_handle_t h, enum starpu_node_kind kind)
{
	switch (kind) {
	case STARPU_CPU_RAM: return orr_initial_function(h, STARPU_CPU_WORKER);
	case STARPU_CUDA_RAM: return orr_initial_function(h, STARPU_CUDA_WORKER);
	case STARPU_OPENCL_RAM: return orr_initial_function(h, STARPU_OPENCL_WORKER);
	default: return NULL;
	}
}

double orr_initial_run(struct orr_process *proc, starpu_data_handle_t h, orr_initial_func f,
		       starpu_data_handle_t part, unsigned memnode)
{
	void *buffers[] = { starpu_data_get_interface_on_node(part, memnode) };

	orr_assert(h->ext && h->ext->init_cl);
	orr_assert(starpu_data_test_if_allocated_on_node(part, memnode));
	return orr_device_call_us(proc, part, memnode, h->ext->init_cl, f, buffers,
				  h->ext->init_arg);
}
