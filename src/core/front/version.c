/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nature of this library: its version, its world, how many data a task may have.
 *
 * Invariant: nothing here needs a started runtime. */
#include "starpu.h"
#include "orrery.h"

#include <string.h>

#include "base/process.h"
#include "base/seam_kernel.h"
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

/* The name to which each object refers that includes starpu_task.h. */
extern const char ORRERY_MAXBUFFERS(STARPU_NMAXBUFS);
const char ORRERY_MAXBUFFERS(STARPU_NMAXBUFS) = 0;

void starpu_get_version(int *major, int *minor, int *release)
{
	*major = STARPU_MAJOR_VERSION;
	*minor = STARPU_MINOR_VERSION;
	*release = STARPU_RELEASE_VERSION;
}

const char *orrery_version(void)
{
	return PACKAGE_VERSION;
}

int orrery_is_simulated(void)
{
	return orr_sys_is_simulated();
}

int orrery_kernels_run(void)
{
	return orr_sys_kernel_runs(orr_self(), NULL);
}

const char *starpu_strerror_r(int errnum, char *buf, size_t buflen)
{
	return strerror_r(errnum < 0 ? -errnum : errnum, buf, buflen);
}
