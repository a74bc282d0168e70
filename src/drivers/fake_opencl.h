/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fake devices of kind OpenCL.
 *
 * Invariant: they exist only if ORRERY_FAKE_OPENCL says so. */
#ifndef ORR_DRIVERS_FAKE_OPENCL_H
#define ORR_DRIVERS_FAKE_OPENCL_H

#include "core/worker/device.h"

/* Fills v with at most max of the ORRERY_FAKE_OPENCL devices of kind OpenCL whose memory is reached
 * by handle and offset only. Returns how many. */
unsigned orr_fake_opencl_devices(struct orr_process *proc, struct orr_device *v, unsigned max);

#endif
