#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Threads of OpenMP are real ones. In a simulated run they may ask MPI which rank they are; a call
# that communicates in a region of several threads is refused by its name, whichever thread makes
# it. Outside of such regions the rank communicates.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] && [ "$ORR_TEST_MPI" = yes ] || skip "needs both worlds"
cat > omp.c << 'END'
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int rank, size, right;
static int sum(void)
{
	int s = -1;
	MPI_Allreduce(&rank, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return s;
}
static void ask(void)
{
	char name[MPI_MAX_PROCESSOR_NAME];
	int r, n, length;
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Get_processor_name(name, &length);
	if (r == rank && n == size && length == (int) strlen(name))
		__atomic_add_fetch(&right, 1, __ATOMIC_RELAXED);
}
int main(int argc, char **argv)
{
	int s = -1, threads = argc > 2 ? atoi(argv[2]) : 4, asks = argc <= 3;
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (asks) {
#pragma omp parallel num_threads(threads)
		ask();
	}
	if (right != asks * threads)
		return 2;
	if (!strcmp(argv[1], "outside")) {
		s = sum();
	} else if (!strcmp(argv[1], "master")) {
#pragma omp parallel num_threads(threads)
#pragma omp master
		s = sum();
	} else {
#pragma omp parallel num_threads(threads)
#pragma omp sections
		{
#pragma omp section
			s = sum();
		}
	}
	starpu_mpi_shutdown();
	printf("sum %d\n", s);
	return s != size * (size - 1) / 2;
}
END
echo 'int main(void) { return 0; }' > try.c
$CC -fopenmp try.c -o try 2> /dev/null || skip "needs a compiler with OpenMP"
ok "$ORRERY" cc --sim -fopenmp omp.c -o omp.sim
refused='[(][)] by thread [0-3] of 4 in a parallel region of OpenMP: .*call it outside'
silent=
if [ -z "$smpi" ]; then # without private names threads of OpenMP may not ask, either
	fails 1 "rank [01]: MPI_(Comm_rank|Comm_size|Get_processor_name)$refused" timeout 60 "$ORRERY" sim -n 2 omp.sim outside
	silent="4 silent"
fi
for i in 1 2 3; do
	# shellcheck disable=SC2086
	for how in sections master; do
		fails 1 "rank [01]: MPI_Allreduce$refused" timeout 60 "$ORRERY" sim -n 2 omp.sim $how $silent
	done
	# shellcheck disable=SC2086
	ok timeout 60 "$ORRERY" sim -n 2 omp.sim outside $silent
	[ "$(grep -c '^sum 1$' out)" = 2 ] || die "wrong sums: $(cat out)"
done
# A region of one thread is as good as none.
ok timeout 60 "$ORRERY" sim -n 1 omp.sim master 1
ok "$ORRERY" cc -fopenmp omp.c -o omp
for how in sections master outside; do
	ok timeout 60 "$ORRERY" run -n 2 ./omp $how
	[ "$(grep -c '^sum 1$' out)" = 2 ] || die "wrong sums: $(cat out)"
done
exit 0
