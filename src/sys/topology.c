/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine of a real run: which cores exist, and which of them this process may use.
 *
 * A unit is a core, or a hardware thread when STARPU_NTHREADS_PER_CORE asks for several or
 * STARPU_WORKERS_CPUID names some; units are numbered as hwloc numbers them (without hwloc: as the
 * system numbers its processors). Invariant: only what the runtime needs is loaded, since many
 * processes of a node load at the same time. */
#include "sys/real.h"
#include "base/log.h"
#include "base/seam_machine.h"
#include "base/seam_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef STARPU_HAVE_HWLOC
#include <hwloc.h>
#endif

static void remember_affinity(struct orr_process *proc)
{
	struct orr_real *real = proc->sys;

	if (real)
		real->has_initial = !pthread_getaffinity_np(pthread_self(), sizeof(real->initial),
							    &real->initial);
}

/* Undoes a binding of the main thread, so that a later start sees the cores that this one saw. */
static void restore_affinity(struct orr_process *proc)
{
	struct orr_real *real = proc->sys;
	cpu_set_t now;

	if (real && real->has_initial &&
	    !pthread_getaffinity_np(pthread_self(), sizeof(now), &now) &&
	    !CPU_EQUAL(&now, &real->initial))
		pthread_setaffinity_np(pthread_self(), sizeof(real->initial), &real->initial);
}

static void set_spins(struct orr_process *proc)
{
	ORR_ATOMIC_STORE_RELAXED(&orr_real_spins, proc->topo.ncores > 1 ? ORR_REAL_SPINS : 0);
}

/*
 * Processes that the launcher left unbound share the machine's cores: each begins with another one,
 * so that the first workers of all of them do not meet on the first core.
 */
static void spread(struct orr_process *proc)
{
	const struct orr_real *real = proc->sys;
	unsigned n = proc->topo.ncores, first;
	int *turned;

	if (!real || real->nprocs < 2 || n < 2 || n < proc->topo.nmachine)
		return;
	first = real->nprocs <= n ? n / real->nprocs * real->proc % n : real->proc % n;
	turned = first ? malloc(n * sizeof(*turned)) : NULL;
	if (!turned)
		return;
	for (unsigned i = 0; i < n; i++)
		turned[i] = proc->topo.core_ids[(first + i) % n];
	free(proc->topo.core_ids);
	proc->topo.core_ids = turned;
}

static int no_memory(void)
{
	orr_error("not enough memory to describe the machine");
	return -ENOMEM;
}

#ifdef STARPU_HAVE_HWLOC

/* hwloc asks for the processors of this process until it is answered, whatever the reason why it is
 * not. */
static int affinity_refused(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) >= 0 || errno == EINVAL)
		return 0;
	int err = errno;
	orr_error(
		"the system does not say which processors this process may use (sched_getaffinity(2): %s): a sandbox that filters system calls must allow this one",
		strerror(err));
	return -err;
}

static int load(const char *input, int use_numa, hwloc_topology_t *out)
{
	hwloc_topology_t topo;
	unsigned long flags = 0;
	int ret = affinity_refused();

	if (ret)
		return ret;
	if (hwloc_topology_init(&topo))
		return no_memory();
	if (input && hwloc_topology_set_xml(topo, input) &&
	    (access(input, F_OK) == 0 || hwloc_topology_set_synthetic(topo, input))) {
		orr_error(
			"STARPU_HWLOC_INPUT: %s is no readable hwloc topology (%s): give a file written by lstopo, or a description such as "
			"\"numa:2 core:4 pu:1\", or unset the variable",
			input, strerror(errno));
		hwloc_topology_destroy(topo);
		return -EINVAL;
	}
	hwloc_topology_set_all_types_filter(topo, HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(topo, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(topo, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(topo, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
	/* NUMA nodes hang off groups where no package has just theirs: without them all would be
	 * next to all cores. */
	if (use_numa)
		hwloc_topology_set_type_filter(topo, HWLOC_OBJ_GROUP,
					       HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
#if HWLOC_API_VERSION >= 0x00020800
	flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
		 HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif
	hwloc_topology_set_flags(topo, flags);
	if (hwloc_topology_load(topo)) {
		int err = errno ? errno : EINVAL;

		if (input)
			orr_error(
				"STARPU_HWLOC_INPUT: %s is no hwloc topology (%s): give a file written by lstopo, or unset the variable",
				input, strerror(err));
		else
			orr_error(
				"hwloc cannot describe this machine (%s): does lstopo work here? STARPU_HWLOC_INPUT takes a file instead",
				strerror(err));
		hwloc_topology_destroy(topo);
		return -err;
	}
	*out = topo;
	return 0;
}

/* The processors that this process may use: those that the launcher bound it to, if that is to be
 * respected. */
static hwloc_cpuset_t usable_set(struct orr_process *proc, hwloc_topology_t topo)
{
	hwloc_cpuset_t set = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topo));
	hwloc_cpuset_t bound;

	if (!set || !proc->cfg->getbind || !hwloc_topology_is_thissystem(topo))
		return set;
	bound = hwloc_bitmap_alloc();
	if (bound && hwloc_get_cpubind(topo, bound, HWLOC_CPUBIND_THREAD) == 0 &&
	    hwloc_bitmap_intersects(set, bound))
		hwloc_bitmap_and(set, set, bound);
	hwloc_bitmap_free(bound);
	return set;
}

int orr_real_unit_type(struct orr_process *proc)
{
	hwloc_topology_t topo = proc->topo.hwloc;

	int listed = proc->cfg->workers_cpuid && !proc->conf->use_explicit_workers_bindid;

	if (proc->cfg->nthreads_per_core > 1 || listed ||
	    hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_CORE) <= 0)
		return HWLOC_OBJ_PU;
	return HWLOC_OBJ_CORE;
}

/* Rank of a hardware thread within its core. */
static int rank_in_core(hwloc_topology_t topo, hwloc_obj_t pu)
{
	hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topo, HWLOC_OBJ_CORE, pu);
	unsigned id;
	int rank = 0;

	if (!core)
		return 0;
	hwloc_bitmap_foreach_begin(id, core->cpuset) if (id < pu->os_index) rank++;
	hwloc_bitmap_foreach_end();
	return rank;
}

static int collect(struct orr_process *proc, hwloc_topology_t topo, hwloc_const_cpuset_t set)
{
	hwloc_obj_type_t type = (hwloc_obj_type_t) orr_real_unit_type(proc);
	int n = hwloc_get_nbobjs_by_type(topo, type), i;
	int per_core = proc->cfg->nthreads_per_core > 0 ? proc->cfg->nthreads_per_core : 1;

	proc->topo.core_ids = malloc((n > 0 ? (size_t) n : 1) * sizeof(int));
	proc->topo.unit_use = calloc(n > 0 ? (size_t) n : 1, sizeof(*proc->topo.unit_use));
	if (!proc->topo.core_ids || !proc->topo.unit_use)
		return no_memory();
	proc->topo.nunits = n > 0 ? (unsigned) n : 0;
	for (i = 0; i < n; i++) {
		hwloc_obj_t obj = hwloc_get_obj_by_type(topo, type, (unsigned) i);

		if (type == HWLOC_OBJ_PU && rank_in_core(topo, obj) >= per_core)
			continue;
		proc->topo.nmachine++;
		if (hwloc_bitmap_intersects(obj->cpuset, set))
			proc->topo.core_ids[proc->topo.ncores++] = i;
	}
	if (proc->topo.ncores)
		return 0;
	/* The binding leaves only second hardware threads of cores: use what there is. */
	for (i = 0; i < n; i++)
		if (hwloc_bitmap_intersects(hwloc_get_obj_by_type(topo, type, (unsigned) i)->cpuset,
					    set))
			proc->topo.core_ids[proc->topo.ncores++] = i;
	return 0;
}

/* The NUMA nodes next to the cores that are used, and which one is next to which core. */
static int collect_numa(struct orr_process *proc, hwloc_topology_t topo, hwloc_const_cpuset_t set)
{
	struct orr_topology *t = &proc->topo;
	hwloc_obj_type_t type = (hwloc_obj_type_t) orr_real_unit_type(proc);
	int nunits = hwloc_get_nbobjs_by_type(topo, type),
	    nall = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_NUMANODE), i, k;

	if (!proc->cfg->use_numa || nall < 2)
		return 0;
	t->numa_ids = malloc((size_t) nall * sizeof(*t->numa_ids));
	t->core_numa = calloc((size_t) nunits, sizeof(*t->core_numa));
	if (!t->numa_ids || !t->core_numa)
		return no_memory();
	t->nnuma = 0;
	t->ncore_numa = (unsigned) nunits;
	for (k = 0; k < nall && t->nnuma < ORR_MAXNUMA; k++) {
		hwloc_obj_t numa = hwloc_get_obj_by_type(topo, HWLOC_OBJ_NUMANODE, (unsigned) k);

		/* Of several memories next to the same cores the first counts. */
		if (!hwloc_bitmap_intersects(numa->cpuset, set) ||
		    (k && hwloc_bitmap_isequal(
				  numa->cpuset,
				  hwloc_get_obj_by_type(topo, HWLOC_OBJ_NUMANODE, (unsigned) k - 1)
					  ->cpuset)))
			continue;
		for (i = 0; i < nunits; i++)
			if (hwloc_bitmap_intersects(
				    hwloc_get_obj_by_type(topo, type, (unsigned) i)->cpuset,
				    numa->cpuset))
				t->core_numa[i] = (uint8_t) t->nnuma;
		t->numa_ids[t->nnuma++] = (int) numa->os_index;
	}
	if (!t->nnuma)
		t->numa_ids[t->nnuma++] = 0;
	return 0;
}

void orr_real_bind_memory(struct orr_process *proc, void *ptr, size_t size, int numa)
{
	hwloc_topology_t topo = proc->topo.hwloc;
	hwloc_obj_t obj;

	if (!topo || !hwloc_topology_is_thissystem(topo))
		return;
	if (numa == ORR_NUMA_OF_DEVICES) {
		orr_real_bind_beside(proc, ptr, size);
		return;
	}
	if (numa < 0) {
		hwloc_set_area_membind(topo, ptr, size, hwloc_topology_get_topology_nodeset(topo),
				       HWLOC_MEMBIND_DEFAULT, HWLOC_MEMBIND_BYNODESET);
		return;
	}
	obj = (unsigned) numa < proc->topo.nnuma
		      ? hwloc_get_numanode_obj_by_os_index(topo,
							   (unsigned) proc->topo.numa_ids[numa])
		      : NULL;
	if (obj)
		hwloc_set_area_membind(topo, ptr, size, obj->nodeset, HWLOC_MEMBIND_BIND,
				       HWLOC_MEMBIND_BYNODESET);
}

int orr_sys_topology_init(struct orr_process *proc)
{
	hwloc_topology_t topo;
	hwloc_cpuset_t set;
	int ret;

	memset(&proc->topo, 0, sizeof(proc->topo));
	proc->topo.nnuma = 1;
	remember_affinity(proc);
	ret = load(proc->cfg->hwloc_input, proc->cfg->use_numa, &topo);
	if (ret)
		return ret;
	proc->topo.hwloc = topo;
	set = usable_set(proc, topo);
	ret = set ? collect(proc, topo, set) : no_memory();
	if (!ret)
		ret = collect_numa(proc, topo, set);
	hwloc_bitmap_free(set);
	if (ret == 0 && proc->topo.ncores == 0) {
		orr_error(
			"this process may not use any core of the machine: check the launcher's binding, or set STARPU_WORKERS_GETBIND=0");
		ret = -ENODEV;
	}
	if (ret)
		orr_sys_topology_exit(proc);
	else {
		spread(proc);
		set_spins(proc);
	}
	return ret;
}

static void end_hwloc(struct orr_process *proc)
{
	if (proc->topo.hwloc)
		hwloc_topology_destroy(proc->topo.hwloc);
}

#else

void orr_real_bind_memory(struct orr_process *proc, void *ptr, size_t size, int numa)
{
	(void) proc;
	(void) ptr;
	(void) size;
	(void) numa;
}

int orr_sys_topology_init(struct orr_process *proc)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN), configured = sysconf(_SC_NPROCESSORS_CONF);
	cpu_set_t set;

	memset(&proc->topo, 0, sizeof(proc->topo));
	proc->topo.nnuma = 1;
	remember_affinity(proc);
	if (proc->cfg->hwloc_input) {
		orr_error(
			"STARPU_HWLOC_INPUT needs a build with hwloc: install libhwloc-dev and build again, or unset the variable");
		return -EINVAL;
	}
	CPU_ZERO(&set);
	if (!proc->cfg->getbind || sched_getaffinity(0, sizeof(set), &set))
		for (int i = 0; i < configured && i < CPU_SETSIZE; i++)
			CPU_SET((unsigned) i, &set);
	proc->topo.core_ids = malloc(sizeof(int) * (size_t) CPU_COUNT(&set));
	if (!proc->topo.core_ids)
		return no_memory();
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((unsigned) i, &set))
			proc->topo.core_ids[proc->topo.ncores++] = i;
	proc->topo.nmachine = online > (long) proc->topo.ncores ? (unsigned) online
								: proc->topo.ncores;
	spread(proc);
	set_spins(proc);
	return 0;
}

static void end_hwloc(struct orr_process *proc)
{
	(void) proc;
}

#endif

void orr_sys_topology_exit(struct orr_process *proc)
{
	orr_real_beside_exit(proc);
	end_hwloc(proc);
	free(proc->topo.core_ids);
	free(proc->topo.numa_ids);
	free(proc->topo.core_numa);
	free(proc->topo.unit_use);
	memset(&proc->topo, 0, sizeof(proc->topo));
	restore_affinity(proc);
}
