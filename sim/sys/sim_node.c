/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The process and its machine: what a simulated rank finds when it starts the runtime.
 *
 * Invariant: nothing here depends on the machine that the simulation runs on. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sim.h"
#include "core/worker.h"

static struct orr_sim_rank *rank_of(struct orr_node *node)
{
	return node->sys ? node->sys : orr_sim_actor_self()->rank;
}

int orr_sys_is_simulated(void)
{
	return 1;
}

int orr_sys_node_init(struct orr_node *node)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a || !a->rank) {
		fputs("orrery: a program built for the simulated world was started by itself; start it with `orrery sim`\n",
		      stderr);
		return -ENODEV;
	}
	node->sys = a->rank;
	node->mpi_rank = a->rank->rank;
	node->mpi_size = orr_sim.nranks;
	memcpy(node->costs, orr_sim.costs, sizeof(node->costs));
	for (int i = 0; a->rank->machine && i < ORR_NCOSTS; i++)
		if (!isnan(a->rank->machine->costs_us[i]))
			node->costs[i] = a->rank->machine->costs_us[i];
	if (a->rank->machine) {
		memcpy(node->watts, a->rank->machine->watts, sizeof(node->watts));
		if (a->rank->machine->idle_watts > 0)
			node->idle_watts = a->rank->machine->idle_watts;
		for (int i = 0; i < STARPU_NARCH; i++)
			node->perf_timing |= node->watts[i] > 0;
	}
	node->keep_graph = orr_sim.bound;
	for (int i = 0; i < ORR_NCOSTS; i++)
		node->costs[i] *= a->rank->slowness;
	a->rank->runtime_up = 1;
	return 0;
}

void orr_sys_node_exit(struct orr_node *node)
{
	orr_sim_bound_collect(rank_of(node));
	rank_of(node)->joules += node->joules;
	rank_of(node)->runtime_up = 0;
	orr_sim_bus_exit(rank_of(node));
}

const char *orr_sys_machine_name(struct orr_node *node)
{
	return rank_of(node)->machine_name;
}

/* Each NUMA node has as many of the cores as the others, in order. */
static int share_cores(struct orr_topology *t, unsigned nnuma)
{
	if (nnuma > ORR_MAXNUMA)
		nnuma = ORR_MAXNUMA;
	t->core_numa = malloc(t->nmachine * sizeof(*t->core_numa));
	t->numa_ids = malloc(nnuma * sizeof(*t->numa_ids));
	if (!t->core_numa || !t->numa_ids)
		return -ENOMEM;
	t->nnuma = nnuma;
	t->ncore_numa = t->nmachine;
	for (unsigned i = 0; i < t->nmachine; i++)
		t->core_numa[i] = (uint8_t) (i * nnuma / t->nmachine);
	for (unsigned i = 0; i < nnuma; i++)
		t->numa_ids[i] = (int) i;
	return 0;
}

int orr_sys_topology_init(struct orr_node *node)
{
	struct orr_topology *t = &node->topo;
	unsigned n = rank_of(node)->ncpus;
	t->core_ids = malloc(n * sizeof(*t->core_ids));
	if (!t->core_ids)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		t->core_ids[i] = (int) i;
	t->ncores = t->nmachine = n;
	t->hwloc = NULL;
	t->nnuma = 1;
	return node->cfg.use_numa && rank_of(node)->machine && rank_of(node)->machine->nnuma > 1
		       ? share_cores(t, rank_of(node)->machine->nnuma)
		       : 0;
}

void orr_sys_topology_exit(struct orr_node *node)
{
	free(node->topo.core_ids);
	free(node->topo.core_numa);
	free(node->topo.numa_ids);
	memset(&node->topo, 0, sizeof(node->topo));
}

void orr_sys_abort(void)
{
	orr_sim_progress_clear();
	fflush(NULL);
	_exit(orr_sim.status ? orr_sim.status : 1);
}

/* ---- energy ---- */

/* One counter: what the models and the machine's description say. */
int orr_sys_energy_read(struct orr_node *node, int arch, int worker,
			struct orr_energy_counter v[ORR_ENERGY_COUNTERS])
{
	v[0] = (struct orr_energy_counter){ .uj = (uint64_t) (orr_energy_of(node, arch, worker) *
							      1e6) };
	return 1;
}
