/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The devices of a process: whatever knows of some (fake ones, simulated ones, a vendor's library)
 * describes them in one table.
 *
 * Invariant: NUMA nodes but the first stand first in the table, without workers. */
#ifndef ORR_DRIVERS_DEVICE_H
#define ORR_DRIVERS_DEVICE_H

#include "core/worker/device.h"

/* Fills v with at most max devices that this process has and may use; the number, or -errno after a
 * message. */
int orr_devices_list(struct orr_process *proc, struct orr_device *v, unsigned max);

#endif
