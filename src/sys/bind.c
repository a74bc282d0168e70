/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Units of a real machine: binding threads to them, how they hang together, and the public
 * functions that speak of hwloc.
 *
 * Invariant: nothing is bound when the topology describes another machine than this one. */
#include "sys/real.h"
#include "base/seam_machine.h"

#include <errno.h>
#include <pthread.h>
#ifdef STARPU_HAVE_HWLOC
#include <hwloc.h>
#endif

#ifdef STARPU_HAVE_HWLOC

hwloc_obj_t orr_real_unit_object(struct orr_process *proc, int unit)
{
	if (!proc->topo.hwloc || unit < 0)
		return NULL;
	return hwloc_get_obj_by_type(proc->topo.hwloc, (hwloc_obj_type_t) orr_real_unit_type(proc),
				     (unsigned) unit);
}

int orr_sys_bind(struct orr_process *proc, const int *units, unsigned n)
{
	hwloc_topology_t topo = proc->topo.hwloc;
	hwloc_cpuset_t set;
	int ret = 0;

	if (!topo || !hwloc_topology_is_thissystem(topo))
		return -ENOSYS;
	set = hwloc_bitmap_alloc();
	if (!set)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		hwloc_obj_t obj = orr_real_unit_object(proc, units[i]);

		if (obj)
			hwloc_bitmap_or(set, set, obj->cpuset);
	}
	/* One hardware thread of a core: migrating between its siblings gains nothing. */
	if (n == 1)
		hwloc_bitmap_singlify(set);
	if (hwloc_bitmap_iszero(set))
		ret = -EINVAL;
	else if (hwloc_set_cpubind(topo, set, HWLOC_CPUBIND_THREAD))
		ret = errno ? -errno : -ENOSYS;
	hwloc_bitmap_free(set);
	return ret;
}

const struct orr_part *orr_sys_part_root(struct orr_process *proc)
{
	return proc->topo.hwloc ? (const void *) hwloc_get_root_obj(proc->topo.hwloc) : NULL;
}

const struct orr_part *orr_sys_part_child(const struct orr_part *part, unsigned i)
{
	const struct hwloc_obj *obj = (const void *) part;

	return i < obj->arity ? (const void *) obj->children[i] : NULL;
}

int orr_sys_part_unit(struct orr_process *proc, const struct orr_part *part)
{
	const struct hwloc_obj *obj = (const void *) part;

	return (int) obj->type == orr_real_unit_type(proc) ? (int) obj->logical_index : -1;
}

/* ---- for programs ---- */

hwloc_topology_t starpu_get_hwloc_topology(void)
{
	return orr_self()->topo.hwloc;
}

hwloc_cpuset_t starpu_worker_get_hwloc_cpuset(int workerid)
{
	struct orr_process *proc = orr_self();
	hwloc_cpuset_t set;
	hwloc_obj_t obj;
	int unit;

	if (workerid < 0 || (unsigned) workerid >= starpu_worker_get_count())
		return NULL;
	unit = starpu_worker_get_bindid(workerid);
	obj = orr_real_unit_object(proc, unit);
	if (obj)
		return hwloc_bitmap_dup(obj->cpuset);
	if (proc->topo.hwloc) /* not bound: it may be anywhere */
		return hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(proc->topo.hwloc));
	set = hwloc_bitmap_alloc();
	if (set)
		hwloc_bitmap_only(set, (unsigned) (unit >= 0 ? unit : workerid));
	return set;
}

int starpu_cpu_os_index(int cpuid)
{
	hwloc_obj_t obj = orr_real_unit_object(orr_self(), cpuid);
	int os = obj ? hwloc_bitmap_first(obj->cpuset) : -1;

	return os >= 0 ? os : cpuid;
}

#else

int orr_sys_bind(struct orr_process *proc, const int *units, unsigned n)
{
	cpu_set_t set;

	(void) proc;
	CPU_ZERO(&set);
	for (unsigned i = 0; i < n; i++)
		if (units[i] >= 0 && units[i] < CPU_SETSIZE)
			CPU_SET((unsigned) units[i], &set);
	return CPU_COUNT(&set) ? -pthread_setaffinity_np(pthread_self(), sizeof(set), &set)
			       : -EINVAL;
}

int starpu_cpu_os_index(int cpuid)
{
	return cpuid;
}

#endif
