/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collective operations on parts of the ranks, and on all of them by another communicator, at the
 * same time in several parts; parts.sh runs it with several selectors of algorithms.
 *
 * Invariant: results are those that arithmetic gives. */
#include "../mpi/mpi_test.h"

#define N 1000

static void check_all(MPI_Comm comm)
{
	int me, n, *all;
	double mine[N], sum[N];

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	all = malloc((size_t) n * sizeof(*all));
	CHECK(all);
	for (int count = 1; count <= N; count *= 10) {
		for (int i = 0; i < count; i++)
			mine[i] = me + i;
		MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, comm);
		for (int i = 0; i < count; i++)
			CHECK(sum[i] == n * (double) i + n * (n - 1) / 2.0);
		MPI_Reduce(mine, sum, count, MPI_DOUBLE, MPI_MAX, n - 1, comm);
		CHECK(me != n - 1 || sum[count - 1] == n - 1 + count - 1);
		mine[count - 1] = me == n / 2 ? 7 : 0;
		MPI_Bcast(mine, count, MPI_DOUBLE, n / 2, comm);
		CHECK(mine[count - 1] == 7);
	}
	MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm);
	for (int i = 0; i < n; i++)
		CHECK(all[i] == i);
	MPI_Barrier(comm);
	free(all);
}

int main(int argc, char **argv)
{
	MPI_Comm part;

	if (!begin(&argc, &argv, 2))
		return 77;
	MPI_Comm_dup(MPI_COMM_WORLD, &part);
	check_all(part);
	MPI_Comm_free(&part);
	for (int parts = 2; parts <= 3; parts++) {
		MPI_Comm_split(MPI_COMM_WORLD, rank % parts, rank, &part);
		check_all(part);
		check_all(MPI_COMM_WORLD);
		check_all(part);
		MPI_Comm_free(&part);
	}
	check_all(MPI_COMM_SELF);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &part);
	check_all(part);
	MPI_Comm_free(&part);
	return end();
}
