/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding of the runtime's and of the program's threads to units of the machine.
 *
 * Which units the program's threads have taken is kept in the userdata of the topology's objects.
 *
 * Invariant: a unit has at most one active thread: a worker, or a thread of the program that
 * reserved or bound it with STARPU_THREAD_ACTIVE. Where there is no topology of this machine (a
 * simulated run), every request is granted and nothing is bound. */
#include "core/binding.h"
#include "base/log.h"
#include "data/data.h"
#include "core/core.h"

#include <errno.h>
#include <string.h>

/* The worker bound to that unit, or NULL. */
static struct orr_worker *worker_on(struct orr_process *proc, int cpu)
{
	unsigned i;

	for (i = 0; i < proc->core->nworkers; i++)
		if (proc->core->workers[i].bindid == cpu)
			return &proc->core->workers[i];
	return NULL;
}

#ifdef STARPU_HAVE_HWLOC

/* What the program's threads did with a unit: RESERVED by starpu_get_next_bindid but nobody is
 * there yet, or in use. */
enum { FREE, RESERVED_ACTIVE, RESERVED, ACTIVE };

static hwloc_obj_t unit(struct orr_process *proc, int cpu)
{
	hwloc_topology_t topo = proc->topo.hwloc;
	hwloc_obj_type_t type = HWLOC_OBJ_CORE;

	if (!topo || cpu < 0)
		return NULL;
	if (proc->cfg.nthreads_per_core > 1 || hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_CORE) <= 0)
		type = HWLOC_OBJ_PU;
	return hwloc_get_obj_by_type(topo, type, (unsigned) cpu);
}

int orr_bind_self(struct orr_process *proc, int cpu)
{
	hwloc_topology_t topo = proc->topo.hwloc;
	hwloc_obj_t obj = unit(proc, cpu);
	hwloc_cpuset_t set;
	int ret = 0;

	if (!topo || !hwloc_topology_is_thissystem(topo))
		return -ENOSYS;
	if (!obj)
		return -EINVAL;
	set = hwloc_bitmap_dup(obj->cpuset);
	if (!set)
		return -ENOMEM;
	/* One hardware thread of the core: migrating between its siblings gains nothing. */
	hwloc_bitmap_singlify(set);
	if (hwloc_set_cpubind(topo, set, HWLOC_CPUBIND_THREAD))
		ret = errno ? -errno : -ENOSYS;
	hwloc_bitmap_free(set);
	return ret;
}

hwloc_obj_t orr_bind_unit(struct orr_process *proc, int cpu)
{
	return unit(proc, cpu);
}

void orr_bind_to_workers(struct orr_process *proc, const int *workers, unsigned n)
{
	hwloc_topology_t topo = proc->topo.hwloc;
	hwloc_cpuset_t set;
	unsigned i;

	if (!topo || !hwloc_topology_is_thissystem(topo) ||
	    proc->core->workers[workers[0]].bindid < 0)
		return;
	if (n == 1) {
		orr_bind_self(proc, proc->core->workers[workers[0]].bindid);
		return;
	}
	set = hwloc_bitmap_alloc();
	for (i = 0; i < n && set; i++) {
		hwloc_obj_t obj = unit(proc, proc->core->workers[workers[i]].bindid);

		if (obj)
			hwloc_bitmap_or(set, set, obj->cpuset);
	}
	if (set && !hwloc_bitmap_iszero(set))
		hwloc_set_cpubind(topo, set, HWLOC_CPUBIND_THREAD);
	hwloc_bitmap_free(set);
}

static int use_of(struct orr_process *proc, int cpu)
{
	hwloc_obj_t obj = unit(proc, cpu);

	return obj ? (int) (intptr_t) ORR_ATOMIC_LOAD(&obj->userdata) : FREE;
}

/* Changes what a unit is used for, unless somebody else did so meanwhile. */
static int change_use(struct orr_process *proc, int cpu, int from, int to)
{
	hwloc_obj_t obj = unit(proc, cpu);
	void *old = (void *) (intptr_t) from;

	return !obj || ORR_ATOMIC_CAS(&obj->userdata, &old, (void *) (intptr_t) to);
}

hwloc_topology_t starpu_get_hwloc_topology(void)
{
	return orr_self()->topo.hwloc;
}

hwloc_cpuset_t starpu_worker_get_hwloc_cpuset(int workerid)
{
	struct orr_process *proc = orr_self();
	hwloc_cpuset_t set;
	hwloc_obj_t obj;
	int cpu;

	if (workerid < 0 || (unsigned) workerid >= proc->core->nworkers)
		return NULL;
	cpu = proc->core->workers[workerid].bindid;
	obj = unit(proc, cpu);
	if (obj)
		return hwloc_bitmap_dup(obj->cpuset);
	if (proc->topo.hwloc) /* not bound: it may be anywhere */
		return hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(proc->topo.hwloc));
	set = hwloc_bitmap_alloc();
	if (set)
		hwloc_bitmap_only(set, (unsigned) (cpu >= 0 ? cpu : workerid));
	return set;
}

int starpu_cpu_os_index(int cpuid)
{
	hwloc_obj_t obj = unit(orr_self(), cpuid);
	int os;

	if (!obj)
		return cpuid;
	os = hwloc_bitmap_first(obj->cpuset);
	return os >= 0 ? os : cpuid;
}

#else

enum { FREE, RESERVED_ACTIVE, RESERVED, ACTIVE };

void orr_bind_to_workers(struct orr_process *proc, const int *workers, unsigned n)
{
	(void) proc;
	(void) workers;
	(void) n;
}

int orr_bind_self(struct orr_process *proc, int cpu)
{
	(void) proc;
	(void) cpu;
	return -ENOSYS;
}

static int use_of(struct orr_process *proc, int cpu)
{
	(void) proc;
	(void) cpu;
	return FREE;
}

static int change_use(struct orr_process *proc, int cpu, int from, int to)
{
	(void) proc;
	(void) cpu;
	(void) from;
	(void) to;
	return 1;
}

int starpu_cpu_os_index(int cpuid)
{
	return cpuid;
}

#endif

static int usable(struct orr_process *proc, int cpu)
{
	unsigned i;

	for (i = 0; i < proc->topo.ncores; i++)
		if (proc->topo.core_ids[i] == cpu)
			return 1;
	return 0;
}

/* Takes a unit that no worker and no other thread of the program has. */
static int reserve(struct orr_process *proc, int cpu, unsigned flags)
{
	return usable(proc, cpu) && !worker_on(proc, cpu) &&
	       change_use(proc, cpu, FREE,
			  flags & STARPU_THREAD_ACTIVE ? RESERVED_ACTIVE : RESERVED);
}

unsigned starpu_get_next_bindid(unsigned flags, unsigned *preferred, unsigned npreferred)
{
	struct orr_process *proc = orr_self();
	unsigned i;

	for (i = 0; i < npreferred; i++)
		if (reserve(proc, (int) preferred[i], flags))
			return preferred[i];
	for (i = 0; i < proc->topo.ncores; i++)
		if (reserve(proc, proc->topo.core_ids[i], flags))
			return (unsigned) proc->topo.core_ids[i];
	/* Nothing is left: a thread that mostly sleeps shares the last unit, one that computes must
	 * not. */
	if (flags & STARPU_THREAD_ACTIVE || proc->topo.ncores == 0)
		return (unsigned) -1;
	return (unsigned) proc->topo.core_ids[proc->topo.ncores - 1];
}

/* Says and returns whether the calling thread could be bound; a machine where nothing is bound is
 * fine. */
static int bind_to(struct orr_process *proc, int cpu, const char *name)
{
	int ret = orr_bind_self(proc, cpu);

	if (ret == 0 || ret == -ENOSYS)
		return 0;
	if (ret == -EINVAL)
		orr_warn(
			"thread %s cannot be bound to unit %d: the machine has no such unit, see starpu_topology_print()",
			name, cpu);
	else
		orr_warn("thread %s could not be bound to unit %d: %s", name, cpu, strerror(-ret));
	return ret;
}

int starpu_bind_thread_on(int cpuid, unsigned flags, const char *name)
{
	struct orr_process *proc = orr_self();
	int active = flags & STARPU_THREAD_ACTIVE, use;

	if (!name)
		name = "of the program";
	if (cpuid < 0) {
		if (active)
			orr_warn(
				"thread %s has no unit of its own: leave it one with STARPU_RESERVE_NCPU or STARPU_NCPU",
				name);
		return -1;
	}
	if (active) {
		struct orr_worker *w = worker_on(proc, cpuid);

		do {
			use = use_of(proc, cpuid);
			if (w || use == ACTIVE) {
				orr_warn(
					"thread %s is not bound to unit %d, where %s computes already: ask starpu_get_next_bindid() for a free one",
					name, cpuid, w ? w->name : "another thread of the program");
				return -1;
			}
		} while (!change_use(proc, cpuid, use, ACTIVE));
	}
	if (bind_to(proc, cpuid, name) == 0)
		return 0;
	if (active)
		change_use(proc, cpuid, ACTIVE, FREE);
	return -1;
}

void starpu_bind_thread_on_worker(unsigned workerid)
{
	struct orr_process *proc = orr_self();

	if (workerid >= proc->core->nworkers) {
		orr_error("starpu_bind_thread_on_worker: there is no worker %u, they are 0 to %u",
			  workerid, proc->core->nworkers - 1);
		return;
	}
	if (proc->core->workers[workerid].bindid >= 0)
		bind_to(proc, proc->core->workers[workerid].bindid,
			proc->core->workers[workerid].name);
}

void starpu_bind_thread_on_main(void)
{
	struct orr_process *proc = orr_self();
	unsigned i;

	/* The unit that workers left over, else the first one. */
	for (i = 0; i < proc->topo.ncores; i++)
		if (!worker_on(proc, proc->topo.core_ids[i]) &&
		    use_of(proc, proc->topo.core_ids[i]) != ACTIVE)
			break;
	if (i == proc->topo.ncores)
		i = 0;
	if (proc->topo.ncores)
		bind_to(proc, proc->topo.core_ids[i], "main");
}

void starpu_bind_thread_on_cpu(int cpuid)
{
	bind_to(orr_self(), cpuid, "of the program");
}

/* ---- for people ---- */

void starpu_topology_print(FILE *f)
{
	struct orr_process *proc = orr_self();
	unsigned i, j;

	fprintf(f, "Machine %s: %u units, %u of them usable by this process\n",
		orr_sys_machine_name(proc), proc->topo.nmachine, proc->topo.ncores);
	for (i = 0; i < proc->topo.ncores; i++) {
		int cpu = proc->topo.core_ids[i];

		fprintf(f, "\tunit %d (system %d):", cpu, starpu_cpu_os_index(cpu));
		for (j = 0; j < proc->core->nworkers; j++)
			if (proc->core->workers[j].bindid == cpu)
				fprintf(f, " %s", proc->core->workers[j].name);
		if (use_of(proc, cpu) != FREE)
			fputs(" (taken by the program)", f);
		fputc('\n', f);
	}
	for (i = 0; i < proc->data->nmemnodes; i++) {
		char name[32];

		starpu_memory_node_get_name(i, name, sizeof(name));
		fprintf(f, "\tmemory node %u: %s\n", i, name);
	}
}

void starpu_display_bindings(void)
{
	struct orr_process *proc = orr_self();
	unsigned i;

	for (i = 0; i < proc->core->nworkers; i++) {
		const struct orr_worker *w = &proc->core->workers[i];

		if (w->bindid >= 0)
			fprintf(stderr, "%s: unit %d (system %d)\n", w->name, w->bindid,
				starpu_cpu_os_index(w->bindid));
		else
			fprintf(stderr, "%s: not bound\n", w->name);
	}
}
