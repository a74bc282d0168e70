/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Progress for a person at a terminal: one line on standard error, written again at most four times
 * a second.
 *
 * Programs write to the same terminal. From the first line on their standard output, which is ours
 * as well, collects what it gets, and comes out when the line has been taken away: when another
 * actor runs, after a kernel, and before a message of ours.
 *
 * Invariant: what others write starts at the left. Without a terminal nothing is written and
 * nothing is changed. */
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "sim_progress.h"
#include "sim_clock.h"
#include "base/numbers.h"

#define COLLECTED \
	((size_t) 1 << 20) /* a program that writes more between two calls of the runtime may meet \
			      the line */

double orr_sim_wall_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

void orr_sim_progress_clear_slow(void)
{
	if (orr_sim.progress_shown)
		fputs("\r\033[K", stderr);
	orr_sim.progress_shown = 0;
	fflush(stderr);
	fflush(stdout);
}

void orr_sim_progress_yield_slow(void)
{
	if (__fpending(stdout))
		orr_sim_progress_clear_slow();
}

void orr_sys_progress(struct orr_process *proc)
{
	(void) proc;
	orr_sim_progress_yield();
	/* The clock is read once in 64 calls. */
	if (!orr_sim.progress || (++orr_sim.progress_calls & 63))
		return;
	double wall = orr_sim_wall_s();
	if (wall - orr_sim.wall_shown < 0.25)
		return;
	fflush(stdout);
	/* Before the first output there is no buffer, and its kind is not decided. */
	if (!orr_sim.progress_begun && isatty(1) && (__flbf(stdout) || !__fbufsize(stdout)))
		setvbuf(stdout, malloc(COLLECTED), _IOFBF, COLLECTED);
	orr_sim.wall_shown = wall;
	orr_sim.progress_begun = orr_sim.progress_shown = 1;

	ORR_PLAIN_NUMBERS;
	fprintf(stderr, "\r\033[K%llu tasks done, %.6f s of virtual time, %.0f tasks/s",
		(unsigned long long) orr_sim.tasks_done, orr_sim_clock_s(),
		(double) orr_sim.tasks_done / (wall - orr_sim.wall_start + 1e-9));
	fflush(stderr);
}
