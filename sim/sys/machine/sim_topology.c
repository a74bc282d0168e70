/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a simulated machine as programs see it: its cores, its NUMA nodes, a topology for
 * those that ask hwloc.
 *
 * Drivers, which know about buses, drive the devices of real machines only; so where things are is
 * left to src/base/places_none.c.
 *
 * Invariant: nothing here depends on the machine that the simulation runs on, and no thread is
 * bound to anything. The topology of hwloc is made for programs that ask for it only: it costs more
 * memory than the rest of a rank. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "actors/sim_actor.h"
#include "actors/sim_rank.h"
#include "base/log.h"
#include "base/seam_machine.h"
#ifdef STARPU_HAVE_HWLOC
#include <hwloc.h>
#endif

static const struct orr_sim_rank *here(struct orr_process *proc)
{
	return proc->sys ? proc->sys : orr_sim_actor_self()->rank;
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

int orr_sys_topology_init(struct orr_process *proc)
{
	struct orr_topology *t = &proc->topo;
	const struct orr_machine *m = here(proc)->machine;
	unsigned n = here(proc)->ncpus;
	memset(t, 0, sizeof(*t));
	t->core_ids = malloc(n * sizeof(*t->core_ids));
	if (!t->core_ids)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		t->core_ids[i] = (int) i;
	t->ncores = t->nmachine = n;
	t->nnuma = 1;
	if (!proc->cfg->use_numa || !m || m->nnuma < 2)
		return 0;
	int ret = share_cores(t, m->nnuma);
	if (ret)
		orr_sys_topology_exit(proc);
	return ret;
}

/* ---- units ---- */

int orr_sys_bind(struct orr_process *proc, const int *units, unsigned n)
{
	(void) proc;
	(void) units;
	(void) n;
	return -ENOSYS;
}

int starpu_cpu_os_index(int cpuid)
{
	return cpuid;
}

/* ---- hwloc ---- */

#ifdef STARPU_HAVE_HWLOC

/* "numa:2 core:4 pu:1"; NUMA nodes of unequal numbers of cores are left out. */
static void describe(const struct orr_sim_rank *r, char *text, size_t size)
{
	unsigned nnuma = r->machine ? r->machine->nnuma : 1;
	if (nnuma > 1 && r->ncpus % nnuma == 0)
		snprintf(text, size, "numa:%u core:%u pu:1", nnuma, r->ncpus / nnuma);
	else
		snprintf(text, size, "core:%u pu:1", r->ncpus);
}

static hwloc_topology_t make_topology(const struct orr_sim_rank *r)
{
	hwloc_topology_t topo;
	char text[64];
	describe(r, text, sizeof(text));
	if (hwloc_topology_init(&topo))
		return NULL;
	if (!hwloc_topology_set_synthetic(topo, text) && !hwloc_topology_load(topo))
		return topo;
	hwloc_topology_destroy(topo);
	return NULL;
}

hwloc_topology_t starpu_get_hwloc_topology(void)
{
	struct orr_process *proc = orr_self();
	if (!proc->topo.hwloc && proc->topo.ncores) {
		proc->topo.hwloc = make_topology(here(proc));
		if (!proc->topo.hwloc)
			orr_error(
				"starpu_get_hwloc_topology: hwloc cannot describe a machine of %u cores",
				here(proc)->ncpus);
	}
	return proc->topo.hwloc;
}

hwloc_cpuset_t starpu_worker_get_hwloc_cpuset(int workerid)
{
	if (workerid < 0 || (unsigned) workerid >= starpu_worker_get_count())
		return NULL;
	int unit = starpu_worker_get_bindid(workerid);
	hwloc_cpuset_t set = hwloc_bitmap_alloc();
	if (set)
		hwloc_bitmap_only(set, (unsigned) (unit >= 0 ? unit : workerid));
	return set;
}

static void destroy_topology(struct orr_topology *t)
{
	if (t->hwloc)
		hwloc_topology_destroy(t->hwloc);
}

#else

static void destroy_topology(struct orr_topology *t)
{
	(void) t;
}

#endif

void orr_sys_topology_exit(struct orr_process *proc)
{
	destroy_topology(&proc->topo);
	free(proc->topo.core_ids);
	free(proc->topo.core_numa);
	free(proc->topo.numa_ids);
	memset(&proc->topo, 0, sizeof(proc->topo));
}
