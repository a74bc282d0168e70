/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Master and slaves: a program that knows nothing of distribution runs on several ranks. One of
 * them, the master, executes it. On the others starpu_init() does not return: they are devices of
 * the master, whose workers are their cores and whose memory is theirs, and they leave when the
 * master stops.
 *
 * Invariant: proc->slaves is set between orr_slaves_start and orr_slaves_stop if the mode is on. */
#ifndef ORR_DRIVERS_SLAVE_H
#define ORR_DRIVERS_SLAVE_H

#include "core/worker/device.h"

/* True if the process is to be a master or a slave, as its settings say. */
int orr_slaves_wanted(const struct orr_process *proc);
/* [main] [waits] Meets the other ranks, if the mode is on. A slave is configured as one. 0 or
 * -errno after a message. */
int orr_slaves_start(struct orr_process *proc);
/* [main] [waits] The master sends the slaves home, which all do the same. */
void orr_slaves_stop(struct orr_process *proc);
/* [main] [waits] The runtime is up. On a slave: serves the master until that stops, and returns 1
 * then. On others returns 0 at once. */
int orr_slaves_serve(struct orr_process *proc);

/* [main] [waits] Fills v with at most max devices, the slaves that this master uses. How many, or
 * -errno after a message. */
int orr_slave_devices(struct orr_process *proc, struct orr_device *v, unsigned max);

#endif
