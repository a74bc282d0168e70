/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The places of things in a machine that nobody describes: in a simulated run, and in a real one of
 * a build without hwloc.
 *
 * Invariant: nothing is known to be anywhere. */
#include "base/process.h"
#include "base/seam_machine.h"

unsigned orr_sys_units_beside(struct orr_process *proc, const char *bus_id, int *units,
			      unsigned max)
{
	(void) proc;
	(void) bus_id;
	(void) units;
	(void) max;
	return 0;
}

const struct orr_part *orr_sys_part_root(struct orr_process *proc)
{
	(void) proc;
	return NULL;
}

const struct orr_part *orr_sys_part_child(const struct orr_part *part, unsigned i)
{
	(void) part;
	(void) i;
	return NULL;
}

int orr_sys_part_unit(struct orr_process *proc, const struct orr_part *part)
{
	(void) proc;
	(void) part;
	return -1;
}
