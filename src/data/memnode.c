/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions of the program about memory nodes.
 *
 * Invariant: a number that names no memory node gets an answer that says so, never another node's.
 */
#include "data/memnode.h"
#include "data/data.h"

#include <stdio.h>

unsigned starpu_memory_nodes_get_count(void)
{
	return orr_self()->data->nmemnodes;
}

unsigned starpu_memory_nodes_get_count_by_kind(enum starpu_node_kind kind)
{
	struct orr_process *proc = orr_self();
	unsigned n = 0;

	for (unsigned i = 0; i < proc->data->nmemnodes; i++)
		n += proc->data->memnodes[i]->kind == kind;
	return n;
}

unsigned starpu_memory_nodes_get_numa_count(void)
{
	return starpu_memory_nodes_get_count_by_kind(STARPU_CPU_RAM);
}

enum starpu_node_kind starpu_node_get_kind(unsigned n)
{
	struct orr_process *proc = orr_self();

	return n < proc->data->nmemnodes ? proc->data->memnodes[n]->kind : STARPU_UNUSED;
}

int starpu_memory_node_get_devid(unsigned n)
{
	struct orr_process *proc = orr_self();

	return n < proc->data->nmemnodes ? proc->data->memnodes[n]->devid : -1;
}

int starpu_memory_node_get_name(unsigned n, char *name, size_t size)
{
	return orr_memnode_name(orr_self(), n, name, size);
}

int orr_memnode_name(struct orr_process *proc, unsigned n, char *name, size_t size)
{
	static const char *const kinds[STARPU_NRAM] = {
		[STARPU_CPU_RAM] = "RAM",       [STARPU_CUDA_RAM] = "CUDA",
		[STARPU_OPENCL_RAM] = "OpenCL", [STARPU_DISK_RAM] = "Disk",
		[STARPU_MPI_MS_RAM] = "MPI_MS",
	};
	const struct orr_memnode *m = proc->data->memnodes[n];

	if (n >= ORR_ATOMIC_LOAD(&proc->data->nmemnodes) || m->kind == STARPU_UNUSED)
		return snprintf(name, size, "no node");
	return snprintf(name, size, "%s %d", kinds[m->kind], m->devid);
}

/* NUMA nodes are the first memory nodes; without STARPU_USE_NUMA there is one, which goes by the
 * number 0. */
int starpu_memory_nodes_numa_id_to_devid(int osid)
{
	const struct orr_topology *t = &orr_self()->topo;

	for (unsigned i = 0; i < t->nnuma; i++)
		if ((t->numa_ids ? t->numa_ids[i] : 0) == osid)
			return (int) i;
	return -1;
}

int starpu_memory_nodes_numa_devid_to_id(unsigned id)
{
	const struct orr_topology *t = &orr_self()->topo;

	return id >= t->nnuma ? -1 : t->numa_ids ? t->numa_ids[id] : 0;
}

unsigned starpu_memory_node_get_ids_by_type(enum starpu_node_kind kind, unsigned *memory_nodes_ids,
					    unsigned maxsize)
{
	struct orr_data *data = orr_self()->data;
	unsigned n = 0;

	for (unsigned i = 0; i < data->nmemnodes && n < maxsize; i++)
		if (data->memnodes[i]->kind == kind)
			memory_nodes_ids[n++] = i;
	return n;
}
