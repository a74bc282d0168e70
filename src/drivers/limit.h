/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits that the environment sets to the memory of devices.
 *
 * Invariant: the variable of one device goes before that of its kind. */
#ifndef ORR_DRIVERS_LIMIT_H
#define ORR_DRIVERS_LIMIT_H

#include "core/worker/device.h"

/* The limit that the environment sets to the memory of device devid of a kind ("CUDA", "OPENCL",
 * "CPU_NUMA"), in bytes; without one, all, which is the limit of the kind (0: none). */
size_t orr_limit_of_device(const char *kind, int devid, size_t all);

#endif
