#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Settings of omp_set_num_threads() and its relatives hold for the thread that makes them, in both worlds: not for
# other ranks, workers or threads of the program, which have the settings of the environment.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
cat > settings.c << 'END'
#include <omp.h>
#include <pthread.h>
#include <starpu_mpi.h>
#include <stdio.h>
#include <unistd.h>
#define ASKED 5
struct all {
	int threads, dynamic, levels, chunk, team;
};
static struct all now(void)
{
	omp_sched_t kind;
	struct all s = { .threads = omp_get_max_threads(), .dynamic = omp_get_dynamic(), .levels = omp_get_max_active_levels() };
	omp_get_schedule(&kind, &s.chunk);
#pragma omp parallel
#pragma omp atomic
	s.team++;
	return s;
}
static void set(int n)
{
	omp_set_num_threads(n);
	omp_set_dynamic(0);
	omp_set_max_active_levels(n + 1);
	omp_set_schedule(omp_sched_dynamic, n + 10);
}
static int is(struct all s, int n)
{
	return s.threads == n && !s.dynamic && s.levels == n + 1 && s.chunk == n + 10 && s.team == n;
}
static int wrong;
static void check(int right, const char *where)
{
	if (!right) {
		fprintf(stderr, "wrong settings: %s\n", where);
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
	}
}
static void kernel(void *buffers[], void *arg)
{
	static _Thread_local int seen;
	(void) buffers;
	(void) arg;
	check(omp_get_max_threads() == (seen ? 4 : 3), "kernel");
	seen = 1;
	omp_set_num_threads(4);
	usleep(1000);
	check(omp_get_max_threads() == 4, "kernel after a wait");
}
static void *thread(void *arg)
{
	check(omp_get_max_threads() == 3, "thread");
	set(2);
	starpu_sleep(0.002);
	check(is(now(), 2), "thread after a wait");
	return arg;
}
int main(int argc, char **argv)
{
	struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "settings" };
	pthread_t t;
	int rank;
	check(omp_get_max_threads() == 3, "main at first");
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	set(ASKED + rank);
	MPI_Barrier(MPI_COMM_WORLD);
	check(is(now(), ASKED + rank), "main");
	if (pthread_create(&t, NULL, thread, NULL))
		return 1;
	for (int i = 0; i < 6; i++)
		if (starpu_task_insert(&cl, 0))
			return 77;
	starpu_task_wait_for_all();
	check(is(now(), ASKED + rank), "main after tasks");
	pthread_join(t, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	check(is(now(), ASKED + rank), "main at last");
	starpu_mpi_shutdown();
	return wrong;
}
END
[ "$ORR_TEST_MPI" = yes ] || [ "$ORR_TEST_SIM" = yes ] || skip "needs MPI or SimGrid"
echo 'int main(void) { return 0; }' > try.c
$CC -fopenmp try.c -o try 2> /dev/null || skip "needs a compiler with OpenMP"
export OMP_NUM_THREADS=3
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" cc --sim -fopenmp settings.c -o settings.sim
	ok timeout 60 "$ORRERY" sim -n 3 --cpus 2 settings.sim
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	ok "$ORRERY" cc -fopenmp settings.c -o settings
	ok env STARPU_NCPU=2 timeout 60 "$ORRERY" run -n 2 ./settings
fi
exit 0
