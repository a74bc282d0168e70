/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that was configured with --disable-cuda (see cuda.h).
 *
 * Invariant: there are no devices. */
#include "drivers/cuda.h"

#include "base/config.h"
#include "base/log.h"

int orr_cuda_devices(struct orr_process *proc, struct orr_device *v, unsigned max, long asked)
{
	(void) v;
	(void) max;
	(void) asked;
	if (proc->cfg.cudart)
		orr_warn("ORRERY_CUDART: this library was configured with --disable-cuda");
	return 0;
}

void orr_cuda_exit(struct orr_process *proc)
{
	(void) proc;
}
