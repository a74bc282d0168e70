/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ORRERY_FAKE_DEVICES: devices of kind CUDA in either world, whose "kernels" are the C functions
 * that the program put in cuda_funcs.
 *
 * Invariant: a function for the CPU never stands in. */

#include "drivers/fake.h"
#include "drivers/soft.h"
#include <stdio.h>

unsigned orr_fake_devices(struct orr_process *proc, struct orr_device *v, unsigned max)
{
	unsigned i, n = (unsigned) proc->cfg->fake_devices;

	if (n > max)
		n = max;
	for (i = 0; i < n; i++) {
		v[i] = orr_soft_device(proc, STARPU_CUDA_WORKER, (int) i, 0);
		snprintf(v[i].name, sizeof(v[i].name), "CUDA %u (fake)", i);
	}
	return n;
}
