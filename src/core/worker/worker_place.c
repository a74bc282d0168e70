/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The places of workers in the machine, in hwloc's words (see worker_place.h): what follows from
 * the topology and the sets of processors that each world tells. */
#include "core/worker/worker_place.h"

#ifdef STARPU_HAVE_HWLOC

hwloc_obj_t starpu_worker_get_hwloc_obj(int workerid)
{
	hwloc_topology_t topo = starpu_get_hwloc_topology();
	hwloc_cpuset_t set = topo ? starpu_worker_get_hwloc_cpuset(workerid) : NULL;
	hwloc_obj_t obj = set ? hwloc_get_obj_covering_cpuset(topo, set) : NULL;

	hwloc_bitmap_free(set);
	return obj;
}

int orr_worker_part(hwloc_obj_type_t kind, unsigned worker)
{
	hwloc_topology_t topo = starpu_get_hwloc_topology();
	hwloc_cpuset_t set = topo ? starpu_worker_get_hwloc_cpuset((int) worker) : NULL;
	int n = set ? hwloc_get_nbobjs_by_type(topo, kind) : 0, found = -1;

	for (int i = 0; i < n && found < 0; i++) {
		hwloc_obj_t obj = hwloc_get_obj_by_type(topo, kind, (unsigned) i);

		if (hwloc_bitmap_isincluded(set, obj->cpuset))
			found = i;
	}
	hwloc_bitmap_free(set);
	return found;
}

#endif
