/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fake devices of kind CUDA.
 *
 * Invariant: they exist only if ORRERY_FAKE_DEVICES says so. */
#ifndef ORR_DRIVERS_FAKE_H
#define ORR_DRIVERS_FAKE_H

#include "core/worker/device.h"

/* Fills v with at most max of the ORRERY_FAKE_DEVICES devices of kind CUDA whose memory is host
 * memory and whose kernels are C functions. Returns how many. */
unsigned orr_fake_devices(struct orr_process *proc, struct orr_device *v, unsigned max);

#endif
