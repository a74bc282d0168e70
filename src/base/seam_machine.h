/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The seam between the runtime and its world (base/seam.h, which explains the tags), the part of
 * the machine: its topology, where threads are bound, what it uses of energy.
 *
 * Invariant: a unit is named by its number in proc->topo. */
#ifndef ORR_BASE_SEAM_MACHINE_H
#define ORR_BASE_SEAM_MACHINE_H

#include <stdint.h>

struct orr_process;

/* [main] Describes the machine: fills in proc->topo. Returns 0 or -errno after a message. */
int orr_sys_topology_init(struct orr_process *proc);
void orr_sys_topology_exit(struct orr_process *proc);
/* [any] Binds the calling thread to these units; to one hardware thread if it is one unit. Units
 * that do not exist are left out. Returns 0, -EINVAL if none exists, -ENOSYS where nothing can be
 * bound (a simulated run, the topology of another machine), or -errno of the system. */
int orr_sys_bind(struct orr_process *proc, const int *units, unsigned n);
/* [main] The units, at most max of those that this process may use, that are beside the device with
 * that number on the PCI bus ("0000:3b:00.0", "": not known). Returns how many; 0: nobody knows. */
unsigned orr_sys_units_beside(struct orr_process *proc, const char *bus_id, int *units,
			      unsigned max);
/* Parts of the machine that contain each other: packages, caches, units. Valid until
 * orr_sys_topology_exit. [any] [locked] The whole machine, or NULL where nobody knows; the i-th
 * part below a part, or NULL; the number of the unit that a part is, or -1. */
struct orr_part;
const struct orr_part *orr_sys_part_root(struct orr_process *proc);
const struct orr_part *orr_sys_part_child(const struct orr_part *part, unsigned i);
int orr_sys_part_unit(struct orr_process *proc, const struct orr_part *part);
/* The worlds also define the public functions that speak of hwloc or of the system's numbers:
 * starpu_get_hwloc_topology, starpu_worker_get_hwloc_cpuset, starpu_cpu_os_index. */

/* ---- energy ---- */
#define ORR_ENERGY_COUNTERS 16
/* A counter of energy; it starts anew from 0 after range (0: it never does). Microjoules. */
struct orr_energy_counter {
	uint64_t uj, range;
};
/* [any] Reads the counters that together tell what the units of a type use (worker -1: all of the
 * type). joules: what the runtime knows of their use since it started, for worlds without counters.
 * How many there are, or -errno after a message: -ENODEV when nothing measures that. */
int orr_sys_energy_read(struct orr_process *proc, int arch, int worker, double joules,
			struct orr_energy_counter v[ORR_ENERGY_COUNTERS]);

#endif
