/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding of threads to the units (cores, or hardware threads) that the topology numbers.
 *
 * Invariant: a thread that cannot be bound stays where it is. */
#ifndef ORR_CORE_BINDING_H
#define ORR_CORE_BINDING_H

#include "core/worker/core.h"

/* Binds the calling thread to the units of these workers, all of them; it stays where it is when
 * the first is not bound. */
void orr_bind_to_workers(struct orr_process *proc, const int *workers, unsigned n);

#endif
