/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of devices of a process (see device.h).
 *
 * Invariant: the order of devices does not depend on the world. */
#include "drivers/device.h"

#include <stdio.h>

size_t orr_device_limit(const char *kind, int devid, size_t all)
{
	char name[64];
	long mib;

	snprintf(name, sizeof(name), "STARPU_LIMIT_%s_%d_MEM", kind, devid);
	mib = orr_config_long(name, -1);
	return mib >= 0 ? (size_t) mib << 20 : all;
}

/* How many devices of a kind the program lets us use; -1: all. */
static long wanted(const char *variable, int conf, const struct orr_node *node)
{
	long n = orr_config_long(variable, -1);

	if (conf != -1 && (n == -1 || node->conf.precedence_over_environment_variables))
		n = conf;
	return n;
}

int orr_devices_list(struct orr_node *node, struct orr_device *v, unsigned max)
{
	long ncuda = wanted("STARPU_NCUDA", node->conf.ncuda, node);
	unsigned n;

	if (ncuda >= 0 && (unsigned long) ncuda < max)
		max = (unsigned) ncuda;
	n = orr_fake_devices(node, v, max);
	return n ? (int) n : orr_sys_devices(node, v, max);
}
