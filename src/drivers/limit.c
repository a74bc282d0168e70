/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits that the environment sets to the memory of devices (see limit.h). */
#include "drivers/limit.h"

#include <stdio.h>

#include "base/config.h"

size_t orr_limit_of_device(const char *kind, int devid, size_t all)
{
	char name[64];
	long mib;

	snprintf(name, sizeof(name), "STARPU_LIMIT_%s_%d_MEM", kind, devid);
	mib = orr_config_long(name, -1);
	return mib >= 0 ? (size_t) mib << 20 : all;
}
