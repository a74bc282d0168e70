/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that CUDA drives.
 *
 * Two sets of files implement this: cuda_*.c, and cuda_none.c with --disable-cuda.
 *
 * Invariant: the process's devices stand in the order of their memory nodes. A simulated run has
 * none. */
#ifndef ORR_DRIVERS_CUDA_H
#define ORR_DRIVERS_CUDA_H

#include "core/worker/device.h"

/* Fills v with at most max of the devices that this process may use; asked is the program's wish,
 * or -1. The number, or -errno after a message. */
int orr_cuda_devices(struct orr_process *proc, struct orr_device *v, unsigned max, long asked);
/* [waits] No copy and no kernel is under way. Until no thread of the devices is about to wake
 * workers, which may end then. */
void orr_cuda_settle(struct orr_process *proc);
/* Gives back what the devices took. No copy and no kernel is under way. */
void orr_cuda_exit(struct orr_process *proc);

#endif
