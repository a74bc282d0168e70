/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that need no hardware.
 *
 * Invariant: see soft.c. */
#ifndef ORR_DRIVERS_SOFT_H
#define ORR_DRIVERS_SOFT_H

#include "core/worker/device.h"

/* A device made of host memory whose kernels are C functions, unnamed. cpu_first: a codelet's
 * function for the CPU goes before that for the device. */
struct orr_device orr_soft_device(struct orr_process *proc, enum starpu_worker_archtype arch,
				  int devid, int cpu_first);

#endif
