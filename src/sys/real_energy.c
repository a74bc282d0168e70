/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters of energy of a real machine: those of the processors' packages as Linux shows them
 * (powercap, "intel-rapl", on AMD too).
 *
 * Invariant: the same counters in the same order at each reading. */
#include "sys/real.h"
#include "base/log.h"
#include "base/seam_machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define POWERCAP "/sys/class/powercap"

/* The number in PLACE/intel-rapl:PACKAGE/NAME. 0 or -errno. */
static int number(const char *place, int package, const char *name, uint64_t *v)
{
	char path[4096];
	FILE *f;
	int ok;

	snprintf(path, sizeof(path), "%s/intel-rapl:%d/%s", place, package, name);
	f = fopen(path, "r");
	if (!f)
		return -errno;
	ok = fscanf(f, "%" SCNu64, v) == 1;
	fclose(f);
	return ok ? 0 : -EIO;
}

int orr_sys_energy_read(struct orr_process *proc, int arch, int worker, double joules,
			struct orr_energy_counter v[ORR_ENERGY_COUNTERS])
{
	const char *place = proc->cfg->powercap ? proc->cfg->powercap : POWERCAP;
	int n, ret = 0;

	(void) joules;
	if (arch != STARPU_CPU_WORKER) {
		orr_error(
			"energy of workers of type %s cannot be measured: there is no driver that reads it",
			starpu_worker_get_type_as_string((enum starpu_worker_archtype) arch));
		return -ENODEV;
	}
	if (worker >= 0) {
		orr_error(
			"the energy of one CPU worker cannot be told from that of others on its processor: measure all with worker -1");
		return -EINVAL;
	}
	for (n = 0; n < ORR_ENERGY_COUNTERS; n++) {
		ret = number(place, n, "energy_uj", &v[n].uj);
		if (ret)
			break;
		if (number(place, n, "max_energy_range_uj", &v[n].range))
			v[n].range = 0;
	}
	if (n && (!ret || ret == -ENOENT))
		return n;
	if (ret == -EACCES || ret == -EPERM) {
		orr_error(
			"%s/intel-rapl:%d/energy_uj may not be read: ask the administrator for permission",
			place, n);
		return -EACCES;
	}
	orr_error(
		"the processors' energy cannot be measured: %s has no readable intel-rapl:%d/energy_uj (%s)",
		place, n, strerror(-ret));
	return -ENODEV;
}
