/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding of threads to the units (cores, or hardware threads) that the topology numbers.
 *
 * Invariant: nothing is bound when proc->topo.hwloc is NULL or describes another machine than this
 * one. */
#ifndef ORR_CORE_BINDING_H
#define ORR_CORE_BINDING_H

#include "core/core.h"

/* Binds the calling thread to logical unit cpu. Returns 0, -EINVAL when there is no such unit,
 * -ENOSYS when nothing can be bound here, or what the system said. */
int orr_bind_self(struct orr_process *proc, int cpu);
/* Binds the calling thread to the units of these workers, all of them; it stays where it is when
 * the first is not bound. */
void orr_bind_to_workers(struct orr_process *proc, const int *workers, unsigned n);
#ifdef STARPU_HAVE_HWLOC
/* The object of logical unit cpu, NULL when there is none. */
hwloc_obj_t orr_bind_unit(struct orr_process *proc, int cpu);
#endif

#endif
