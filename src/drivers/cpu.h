/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The driver of CPU workers.
 *
 * Invariant: a kernel runs in the thread of its worker's group. */
#ifndef ORR_DRIVERS_CPU_H
#define ORR_DRIVERS_CPU_H

#include "core/worker/device.h"

extern const struct orr_driver_ops orr_cpu_driver;

#endif
