/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clocks that a program reads are virtual from its first line on, before the runtime and before
 * MPI; sleeping takes virtual time; a limit that the program computes from a clock comes in time.
 *
 * Invariant: nothing here depends on when the test runs. */
#include <starpu_mpi.h>

#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "lib/test.h"

/* All clocks show that many seconds of virtual time. */
static void check_clocks(double s)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };
	struct timespec t;
	struct timeval v;

	for (int i = 0; i < 2; i++) {
		CHECK_IS(clock_gettime(clocks[i], &t), 0);
		CHECK(fabs((double) t.tv_sec + (double) t.tv_nsec * 1e-9 - s) < 1e-3,
		      "clock %d shows %ld.%09ld s, not %g", i, (long) t.tv_sec, t.tv_nsec, s);
	}
	CHECK_IS(gettimeofday(&v, NULL), 0);
	CHECK(fabs((double) v.tv_sec + (double) v.tv_usec * 1e-6 - s) < 1e-3,
	      "it is %ld.%06ld s, not %g", (long) v.tv_sec, (long) v.tv_usec, s);
	CHECK(fabs((double) time(NULL) - s) <= 1);
}

static void wait_in_vain(double s)
{
	starpu_pthread_mutex_t mutex;
	starpu_pthread_cond_t cond;
	struct timespec limit;

	STARPU_PTHREAD_MUTEX_INIT(&mutex, NULL);
	STARPU_PTHREAD_COND_INIT(&cond, NULL);
	CHECK_IS(clock_gettime(CLOCK_REALTIME, &limit), 0);
	limit.tv_sec += (time_t) s;
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	CHECK_IS(STARPU_PTHREAD_COND_TIMEDWAIT(&cond, &mutex, &limit), ETIMEDOUT);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
}

int main(int argc, char **argv)
{
	check_clocks(0);
	usleep(500000);
	check_clocks(0.5);
	CHECK_IS(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL), 0);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &test_rank);
	sleep(2);
	check_clocks(2.5);
	wait_in_vain(3);
	check_clocks(5.5);
	OK(starpu_mpi_shutdown());
	return 0;
}
