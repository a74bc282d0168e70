/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The places of devices in a real machine: which units, and which memory, are beside a device of
 * the PCI bus.
 *
 * hwloc looks at buses only when a driver asks for a device, because that takes milliseconds that
 * other programs should not pay; so this is a description of its own. STARPU_HWLOC_INPUT and
 * HWLOC_XMLFILE hold for it, too.
 *
 * Invariant: it is of the same machine as proc->topo, so sets of processors mean the same in both.
 */
#include "sys/real.h"
#include "base/seam_machine.h"

#ifdef STARPU_HAVE_HWLOC
#include <hwloc.h>

static hwloc_topology_t describe(struct orr_process *proc)
{
	const char *input = proc->cfg->hwloc_input;
	unsigned long flags = 0;
	hwloc_topology_t topo;

	if (hwloc_topology_init(&topo))
		return NULL;
	if (input && hwloc_topology_set_xml(topo, input))
		hwloc_topology_set_synthetic(topo, input);
	hwloc_topology_set_type_filter(topo, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_ALL);
#if HWLOC_API_VERSION >= 0x00020800
	flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
		 HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif
	hwloc_topology_set_flags(topo, flags);
	if (!hwloc_topology_load(topo))
		return topo;
	hwloc_topology_destroy(topo);
	return NULL;
}

/* The smallest part of the machine that the device belongs to; NULL: not known. */
static hwloc_obj_t place_of(struct orr_process *proc, const char *bus_id)
{
	struct orr_real *real = proc->sys;

	if (!real || !*bus_id)
		return NULL;
	if (!real->buses)
		real->buses = describe(proc);
	hwloc_obj_t device = real->buses ? hwloc_get_pcidev_by_busidstring(real->buses, bus_id)
					 : NULL;

	return device ? hwloc_get_non_io_ancestor_obj(real->buses, device) : NULL;
}

/* Memory for devices is beside them only while all of them are beside the same. */
static void note_memory(struct orr_real *real, hwloc_const_nodeset_t nodes)
{
	if (!real->memory_beside)
		real->memory_beside = hwloc_bitmap_dup(nodes);
	else if (!hwloc_bitmap_isequal(real->memory_beside, nodes))
		hwloc_bitmap_zero(real->memory_beside);
}

unsigned orr_sys_units_beside(struct orr_process *proc, const char *bus_id, int *units,
			      unsigned max)
{
	hwloc_obj_t place = place_of(proc, bus_id);
	unsigned n = 0;

	if (!place)
		return 0;
	note_memory(proc->sys, place->nodeset);
	for (unsigned i = 0; i < proc->topo.ncores && n < max; i++) {
		hwloc_obj_t unit = orr_real_unit_object(proc, proc->topo.core_ids[i]);

		if (unit && hwloc_bitmap_intersects(unit->cpuset, place->cpuset))
			units[n++] = proc->topo.core_ids[i];
	}
	return n;
}

void orr_real_bind_beside(struct orr_process *proc, void *ptr, size_t size)
{
	const struct orr_real *real = proc->sys;
	hwloc_topology_t topo = proc->topo.hwloc;

	if (!topo || !hwloc_topology_is_thissystem(topo) || !real || !real->memory_beside ||
	    hwloc_bitmap_iszero(real->memory_beside))
		return;
	hwloc_set_area_membind(topo, ptr, size, real->memory_beside, HWLOC_MEMBIND_BIND,
			       HWLOC_MEMBIND_BYNODESET);
}

void orr_real_beside_exit(struct orr_process *proc)
{
	struct orr_real *real = proc->sys;

	if (!real)
		return;
	if (real->buses)
		hwloc_topology_destroy(real->buses);
	hwloc_bitmap_free(real->memory_beside);
	real->buses = real->memory_beside = NULL;
}

#else

void orr_real_bind_beside(struct orr_process *proc, void *ptr, size_t size)
{
	(void) proc;
	(void) ptr;
	(void) size;
}

void orr_real_beside_exit(struct orr_process *proc)
{
	(void) proc;
}

#endif
