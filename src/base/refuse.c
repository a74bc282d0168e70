/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of the interface that are declared and refuse (see refuse.h). */
#include "base/refuse.h"

#include <errno.h>

#include "base/log.h"

int orr_refuse(const char *function, const char *instead)
{
	orr_error("%s is not supported: %s", function, instead);
	return -ENOSYS;
}
