/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding of the runtime's and of the program's threads to units of the machine.
 *
 * Which units the program's threads have taken is kept in the userdata of the topology's objects.
 *
 * Invariant: a unit has at most one active thread: a worker, or a thread of the program that
 * reserved or bound it with STARPU_THREAD_ACTIVE. Where there is no topology of this machine (a
 * simulated run), every request is granted and nothing is bound. */
#include "core/binding.h"

#include <errno.h>
#include <string.h>

/* The worker bound to that unit, or NULL. */
static struct orr_worker *worker_on(struct orr_node *node, int cpu)
{
	unsigned i;

	for (i = 0; i < node->nworkers; i++)
		if (node->workers[i].bindid == cpu)
			return &node->workers[i];
	return NULL;
}

#ifdef STARPU_HAVE_HWLOC

/* What the program's threads did with a unit: RESERVED by starpu_get_next_bindid but nobody is
 * there yet, or in use. */
enum { FREE, RESERVED_ACTIVE, RESERVED, ACTIVE };

static hwloc_obj_t unit(struct orr_node *node, int cpu)
{
	hwloc_topology_t topo = node->topo.hwloc;
	hwloc_obj_type_t type = HWLOC_OBJ_CORE;

	if (!topo || cpu < 0)
		return NULL;
	if (node->cfg.nthreads_per_core > 1 || hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_CORE) <= 0)
		type = HWLOC_OBJ_PU;
	return hwloc_get_obj_by_type(topo, type, (unsigned) cpu);
}

int orr_bind_self(struct orr_node *node, int cpu)
{
	hwloc_topology_t topo = node->topo.hwloc;
	hwloc_obj_t obj = unit(node, cpu);
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

hwloc_obj_t orr_bind_unit(struct orr_node *node, int cpu)
{
	return unit(node, cpu);
}

void orr_bind_to_workers(struct orr_node *node, const int *workers, unsigned n)
{
	hwloc_topology_t topo = node->topo.hwloc;
	hwloc_cpuset_t set;
	unsigned i;

	if (!topo || !hwloc_topology_is_thissystem(topo) || node->workers[workers[0]].bindid < 0)
		return;
	if (n == 1) {
		orr_bind_self(node, node->workers[workers[0]].bindid);
		return;
	}
	set = hwloc_bitmap_alloc();
	for (i = 0; i < n && set; i++) {
		hwloc_obj_t obj = unit(node, node->workers[workers[i]].bindid);

		if (obj)
			hwloc_bitmap_or(set, set, obj->cpuset);
	}
	if (set && !hwloc_bitmap_iszero(set))
		hwloc_set_cpubind(topo, set, HWLOC_CPUBIND_THREAD);
	hwloc_bitmap_free(set);
}

static int use_of(struct orr_node *node, int cpu)
{
	hwloc_obj_t obj = unit(node, cpu);

	return obj ? (int) (intptr_t) ORR_ATOMIC_LOAD(&obj->userdata) : FREE;
}

/* Changes what a unit is used for, unless somebody else did so meanwhile. */
static int change_use(struct orr_node *node, int cpu, int from, int to)
{
	hwloc_obj_t obj = unit(node, cpu);
	void *old = (void *) (intptr_t) from;

	return !obj || ORR_ATOMIC_CAS(&obj->userdata, &old, (void *) (intptr_t) to);
}

hwloc_topology_t starpu_get_hwloc_topology(void)
{
	return orr_self()->topo.hwloc;
}

hwloc_cpuset_t starpu_worker_get_hwloc_cpuset(int workerid)
{
	struct orr_node *node = orr_self();
	hwloc_cpuset_t set;
	hwloc_obj_t obj;
	int cpu;

	if (workerid < 0 || (unsigned) workerid >= node->nworkers)
		return NULL;
	cpu = node->workers[workerid].bindid;
	obj = unit(node, cpu);
	if (obj)
		return hwloc_bitmap_dup(obj->cpuset);
	if (node->topo.hwloc) /* not bound: it may be anywhere */
		return hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(node->topo.hwloc));
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

void orr_bind_to_workers(struct orr_node *node, const int *workers, unsigned n)
{
	(void) node;
	(void) workers;
	(void) n;
}

int orr_bind_self(struct orr_node *node, int cpu)
{
	(void) node;
	(void) cpu;
	return -ENOSYS;
}

static int use_of(struct orr_node *node, int cpu)
{
	(void) node;
	(void) cpu;
	return FREE;
}

static int change_use(struct orr_node *node, int cpu, int from, int to)
{
	(void) node;
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

static int usable(struct orr_node *node, int cpu)
{
	unsigned i;

	for (i = 0; i < node->topo.ncores; i++)
		if (node->topo.core_ids[i] == cpu)
			return 1;
	return 0;
}

/* Takes a unit that no worker and no other thread of the program has. */
static int reserve(struct orr_node *node, int cpu, unsigned flags)
{
	return usable(node, cpu) && !worker_on(node, cpu) &&
	       change_use(node, cpu, FREE,
			  flags & STARPU_THREAD_ACTIVE ? RESERVED_ACTIVE : RESERVED);
}

unsigned starpu_get_next_bindid(unsigned flags, unsigned *preferred, unsigned npreferred)
{
	struct orr_node *node = orr_self();
	unsigned i;

	for (i = 0; i < npreferred; i++)
		if (reserve(node, (int) preferred[i], flags))
			return preferred[i];
	for (i = 0; i < node->topo.ncores; i++)
		if (reserve(node, node->topo.core_ids[i], flags))
			return (unsigned) node->topo.core_ids[i];
	/* Nothing is left: a thread that mostly sleeps shares the last unit, one that computes must
	 * not. */
	if (flags & STARPU_THREAD_ACTIVE || node->topo.ncores == 0)
		return (unsigned) -1;
	return (unsigned) node->topo.core_ids[node->topo.ncores - 1];
}

/* Says and returns whether the calling thread could be bound; a machine where nothing is bound is
 * fine. */
static int bind_to(struct orr_node *node, int cpu, const char *name)
{
	int ret = orr_bind_self(node, cpu);

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
	struct orr_node *node = orr_self();
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
		struct orr_worker *w = worker_on(node, cpuid);

		do {
			use = use_of(node, cpuid);
			if (w || use == ACTIVE) {
				orr_warn(
					"thread %s is not bound to unit %d, where %s computes already: ask starpu_get_next_bindid() for a free one",
					name, cpuid, w ? w->name : "another thread of the program");
				return -1;
			}
		} while (!change_use(node, cpuid, use, ACTIVE));
	}
	if (bind_to(node, cpuid, name) == 0)
		return 0;
	if (active)
		change_use(node, cpuid, ACTIVE, FREE);
	return -1;
}

void starpu_bind_thread_on_worker(unsigned workerid)
{
	struct orr_node *node = orr_self();

	if (workerid >= node->nworkers) {
		orr_error("starpu_bind_thread_on_worker: there is no worker %u, they are 0 to %u",
			  workerid, node->nworkers - 1);
		return;
	}
	if (node->workers[workerid].bindid >= 0)
		bind_to(node, node->workers[workerid].bindid, node->workers[workerid].name);
}

void starpu_bind_thread_on_main(void)
{
	struct orr_node *node = orr_self();
	unsigned i;

	/* The unit that workers left over, else the first one. */
	for (i = 0; i < node->topo.ncores; i++)
		if (!worker_on(node, node->topo.core_ids[i]) &&
		    use_of(node, node->topo.core_ids[i]) != ACTIVE)
			break;
	if (i == node->topo.ncores)
		i = 0;
	if (node->topo.ncores)
		bind_to(node, node->topo.core_ids[i], "main");
}

void starpu_bind_thread_on_cpu(int cpuid)
{
	bind_to(orr_self(), cpuid, "of the program");
}

/* ---- for people ---- */

void starpu_topology_print(FILE *f)
{
	struct orr_node *node = orr_self();
	unsigned i, j;

	fprintf(f, "Machine %s: %u units, %u of them usable by this process\n",
		orr_sys_machine_name(node), node->topo.nmachine, node->topo.ncores);
	for (i = 0; i < node->topo.ncores; i++) {
		int cpu = node->topo.core_ids[i];

		fprintf(f, "\tunit %d (system %d):", cpu, starpu_cpu_os_index(cpu));
		for (j = 0; j < node->nworkers; j++)
			if (node->workers[j].bindid == cpu)
				fprintf(f, " %s", node->workers[j].name);
		if (use_of(node, cpu) != FREE)
			fputs(" (taken by the program)", f);
		fputc('\n', f);
	}
	for (i = 0; i < node->nmemnodes; i++) {
		char name[32];

		starpu_memory_node_get_name(i, name, sizeof(name));
		fprintf(f, "\tmemory node %u: %s\n", i, name);
	}
}

void starpu_display_bindings(void)
{
	struct orr_node *node = orr_self();
	unsigned i;

	for (i = 0; i < node->nworkers; i++) {
		const struct orr_worker *w = &node->workers[i];

		if (w->bindid >= 0)
			fprintf(stderr, "%s: unit %d (system %d)\n", w->name, w->bindid,
				starpu_cpu_os_index(w->bindid));
		else
			fprintf(stderr, "%s: not bound\n", w->name);
	}
}
