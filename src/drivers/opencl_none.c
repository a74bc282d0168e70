/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCL where it was not found (see opencl.h).
 *
 * Invariant: there are no devices. */
#include "drivers/opencl.h"

#include "base/config.h"
#include "base/log.h"

int orr_opencl_devices(struct orr_process *proc, struct orr_device *v, unsigned max)
{
	(void) proc;
	(void) v;
	(void) max;
	if (proc->cfg->opencl_on_cpus || proc->cfg->opencl_only_on_cpus)
		orr_warn(
			"STARPU_OPENCL_ON_CPUS: this library was built without OpenCL (Debian: ocl-icd-opencl-dev), so there are no such devices");
	return 0;
}

void orr_opencl_settle(struct orr_process *proc)
{
	(void) proc;
}

void orr_opencl_exit(struct orr_process *proc)
{
	(void) proc;
}
