/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Expected times of transfers (see bus_time.h): models know the memories of a machine, this file
 * knows which memory node is which memory. */
#include "data/bus_time.h"

#include <math.h>

#include "data/data.h"
#include "data/handle.h"
#include "perf/perf.h"

static struct orr_machine_end bus_end(const struct orr_process *proc, unsigned memnode)
{
	const struct orr_memnode *n = proc->data->memnodes[memnode];

	return memnode < proc->data->nmemnodes ? (struct orr_machine_end){ n->kind, n->devid }
					       : (struct orr_machine_end){ STARPU_UNUSED, -1 };
}

double orr_bus_time_us(struct orr_process *proc, unsigned src, unsigned dst, size_t size)
{
	return src == dst ? 0
			  : orr_machine_transfer_us(orr_perf_machine(proc), bus_end(proc, src),
						    bus_end(proc, dst), size);
}

double starpu_transfer_bandwidth(unsigned src_node, unsigned dst_node)
{
	struct orr_process *proc = orr_self();

	return src_node == dst_node
		       ? NAN
		       : orr_machine_bandwidth(orr_perf_machine(proc), bus_end(proc, src_node),
					       bus_end(proc, dst_node));
}

double starpu_transfer_latency(unsigned src_node, unsigned dst_node)
{
	struct orr_process *proc = orr_self();

	return src_node == dst_node
		       ? 0
		       : orr_machine_latency(orr_perf_machine(proc), bus_end(proc, src_node),
					     bus_end(proc, dst_node));
}

double starpu_transfer_predict(unsigned src_node, unsigned dst_node, size_t size)
{
	return orr_bus_time_us(orr_self(), src_node, dst_node, size);
}

double starpu_data_expected_transfer_time(starpu_data_handle_t handle, unsigned memory_node,
					  enum starpu_data_access_mode mode)
{
	struct orr_process *proc = orr_self();
	uint32_t valid = 0;

	if (!(mode & STARPU_R))
		return 0;
	orr_lock(&handle->lock);
	for (const struct orr_replicate *r = &handle->main; r; r = r->next)
		if (r->state != ORR_INVALID)
			valid |= 1u << r->memnode;
	orr_handle_unlock(handle);
	/* A datum without contents needs no transfer. */
	if (!valid || (valid >> memory_node & 1))
		return 0;

	size_t size = starpu_data_get_size(handle);
	double best = NAN;

	for (unsigned src = 0; src < STARPU_MAXNODES; src++)
		if (valid >> src & 1)
			best = fmin(best, orr_bus_time_us(proc, src, memory_node, size));
	return best;
}
