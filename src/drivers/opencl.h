/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that OpenCL drives.
 *
 * Two sets of files implement this: opencl*.c, and opencl_none.c where configure found no OpenCL.
 *
 * Invariant: the process's devices stand in the order in which they were found, devid is the index.
 * A simulated run has none. */
#ifndef ORR_DRIVERS_OPENCL_H
#define ORR_DRIVERS_OPENCL_H

#include "core/worker/device.h"

/* Fills v with at most max of the devices that this process may use. The number, or -errno after a
 * message. */
int orr_opencl_devices(struct orr_process *proc, struct orr_device *v, unsigned max);
/* [waits] No copy and no kernel is under way. Until no thread of the devices is about to wake
 * workers, which may end then. */
void orr_opencl_settle(struct orr_process *proc);
/* Gives back what the devices took. No copy and no kernel is under way. */
void orr_opencl_exit(struct orr_process *proc);

#endif
