/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of the program that the executable takes (interpose.c): the end of a rank, of all, clocks,
 * and polling.
 *
 * Invariant: exit() ends one rank; the process goes on until all ranks have ended. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include "calls.h"
#include "launcher.h"

void orrery_sim_exit(int status)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a) {
		fflush(NULL);
		_exit(status);
	}
	orr_sim_rank_end(a->rank, status & 255);
	orr_sim_park(a);
}

void orrery_sim_abort(int code)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_sim_progress_clear();
	fflush(NULL);
	fprintf(stderr,
		"orrery sim: rank %d called MPI_Abort with code %d after %.6f s of virtual time\n",
		a ? a->rank->rank : -1, code, orr_sim_clock_s());
	fflush(stderr);
	_exit(code & 255 ? code & 255 : 1);
}

/* The system's clock where no rank runs: while the simulation is set up, and in SimGrid. */
int orrery_sim_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!orr_sim_actor_self())
		return clock_gettime(clock, t);
	double us = orr_sys_now_us(), s = floor(us / 1e6);
	t->tv_sec = (time_t) s;
	t->tv_nsec = (long) ((us - s * 1e6) * 1e3);
	return 0;
}

int orrery_sim_gettimeofday(struct timeval *t)
{
	struct timespec now;
	int ret = orrery_sim_clock_gettime(CLOCK_REALTIME, &now);
	if (!ret)
		*t = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
	return ret;
}

time_t orrery_sim_time(time_t *t)
{
	struct timespec now;
	if (orrery_sim_clock_gettime(CLOCK_REALTIME, &now))
		return -1;
	if (t)
		*t = now.tv_sec;
	return now.tv_sec;
}

int orrery_sim_init(int *argc, char ***argv)
{
	return orr_sim_mpi_init_program(argc, argv);
}

int orrery_sim_polled(int ret, int flag)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a)
		return ret;
	if (flag)
		a->npolls = 0;
	else
		orr_sim_polled(a);
	return ret;
}
