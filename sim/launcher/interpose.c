/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All that the executable orrery-sim-launcher holds itself: its main(), and functions that the
 * programs call by their usual names. The loader finds those of the executable before those of the
 * C library and of SMPI.
 *
 * The clocks of a program are virtual from its start on; SMPI's are real until MPI_Init().
 *
 * A program that polls must let virtual time go by. SMPI can do that only with a fixed delay, which
 * our own engines would pay as well (smpi/test); so MPI_Test and its relatives are here, too.
 *
 * Invariant: no state. */
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#include <time.h>
#include <smpi/smpi.h>
#include "calls.h"

/* smpi/smpi.h redirects this to virtual time; here it is defined. */
#undef exit
#undef clock_gettime
#undef gettimeofday

int main(int argc, char **argv)
{
	return orrery_sim_main(argc, argv);
}

void exit(int status)
{
	orrery_sim_exit(status);
}
void smpi_exit(int status)
{
	orrery_sim_exit(status);
}
void _Exit(int status)
{
	orrery_sim_exit_now(status);
}
void _exit(int status)
{
	orrery_sim_exit_now(status);
}
void quick_exit(int status)
{
	orrery_sim_quick_exit(status);
}

int smpi_clock_gettime(clockid_t clock, struct timespec *t)
{
	return orrery_sim_clock_gettime(clock, t);
}

int smpi_gettimeofday(struct timeval *t, struct timezone *zone)
{
	(void) zone;
	return orrery_sim_gettimeofday(t);
}

time_t time(time_t *t)
{
	return orrery_sim_time(t);
}

int MPI_Abort(MPI_Comm comm, int code)
{
	(void) comm;
	orrery_sim_abort(code);
}

int MPI_Init(int *argc, char ***argv)
{
	return orrery_sim_init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	(void) required;
	if (provided)
		*provided = MPI_THREAD_MULTIPLE;
	return orrery_sim_init(argc, argv);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	int ret = PMPI_Test(request, flag, status);
	return orrery_sim_polled(ret, *flag);
}

int MPI_Testall(int n, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
	int ret = PMPI_Testall(n, requests, flag, statuses);
	return orrery_sim_polled(ret, *flag);
}

int MPI_Testany(int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
	int ret = PMPI_Testany(n, requests, index, flag, status);
	return orrery_sim_polled(ret, *flag);
}

int MPI_Testsome(int n, MPI_Request *requests, int *nout, int *indices, MPI_Status *statuses)
{
	int ret = PMPI_Testsome(n, requests, nout, indices, statuses);
	return orrery_sim_polled(ret, *nout != 0);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	int ret = PMPI_Iprobe(source, tag, comm, flag, status);
	return orrery_sim_polled(ret, *flag);
}
