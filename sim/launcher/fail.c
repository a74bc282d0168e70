/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The failure of a node: at the virtual time that ORR_SIM_FAIL names, the simulation ends with the
 * status FAILED. `orrery sim --fail` sets the variable, and starts the program again
 * (tools/orrery_fail.py).
 *
 * Invariant: nothing that happens at that time or later leaves a trace in files. */
#include <stdio.h>
#include <stdlib.h>
#include "launcher.h"
#include "base/numbers.h"
#include "actors/sim_event.h"
#include "actors/sim_own.h"
#include "sim_progress.h"

#define FAILED 75 /* tools/orrery_fail.py waits for it */

static struct failure {
	struct orr_sim_event event; /* first */
	int node;
} failure;

static void fail(struct orr_sim_event *e)
{
	const struct failure *f = (const struct failure *) e;

	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(NULL);
	fprintf(stderr, "orrery sim: node %d fails after %.6f s of virtual time\n", f->node,
		e->date_s);
	fflush(NULL);
	orr_sim_leave(FAILED);
}

void launcher_fail_start(int nodes)
{
	const char *text = getenv("ORR_SIM_FAIL");
	char *end;

	if (!text || !*text)
		return;
	long node = strtol(text, &end, 10);
	double date_s = *end == '@' ? orr_strtod(end + 1, &end) : -1;
	if (*end || node < 0 || node >= nodes || !(date_s >= 0))
		launcher_fail(
			"ORR_SIM_FAIL=%s: it takes NODE@SECONDS with a node from 0 to %d; use --fail",
			text, nodes - 1);
	failure.node = (int) node;
	failure.event.fire = fail;
	orr_sim_event_set(&failure.event, date_s);
}
