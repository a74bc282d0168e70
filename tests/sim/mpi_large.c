/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of the program's own MPI with 2 GiB, which SMPI cannot count. The argument is the number of
 * a call, which must be refused; without one, calls whose parameters without a meaning are
 * anything, which must not be. Nothing of the memory is touched. mpi_large.sh runs it. */
#include <starpu_mpi.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/test.h"

#define N (1 << 28) /* doubles: 2 GiB */
#define RANKS 2
#define W MPI_COMM_WORLD
#define D MPI_DOUBLE

static const int many[RANKS] = { 1, N }, ones[RANKS] = { 1, 1 }, at[RANKS] = { 0, 1 };
static const MPI_Datatype types[RANKS] = { MPI_DOUBLE, MPI_DOUBLE };

static void point_to_point(int call, void *a, void *b)
{
	MPI_Request r;
	switch (call) {
	case 0: MPI_Send(a, N, D, 1, 0, W); break;
	case 1: MPI_Isend(a, N, D, 1, 0, W, &r); break;
	case 2: MPI_Recv(a, N, D, 1, 0, W, MPI_STATUS_IGNORE); break;
	case 3: MPI_Irecv(a, N, D, 1, 0, W, &r); break;
	case 4: MPI_Sendrecv(a, 1, D, 1, 0, b, N, D, 1, 0, W, MPI_STATUS_IGNORE); break;
	case 5: MPI_Send_init(a, N, D, 1, 0, W, &r); break;
	}
}

static void collective(int call, void *a, void *b)
{
	MPI_Request r;
	switch (call) {
	case 6: MPI_Bcast(a, N, D, 0, W); break;
	case 7: MPI_Allreduce(a, b, N, D, MPI_SUM, W); break;
	case 8: MPI_Gather(a, N, D, b, N, D, 0, W); break;
	case 9: MPI_Gatherv(a, N, D, b, many, at, D, 0, W); break;
	case 10: MPI_Scatter(a, N, D, b, N, D, 0, W); break;
	case 11: MPI_Scatterv(a, many, at, D, b, N, D, 0, W); break;
	case 12: MPI_Allgather(a, N, D, b, N, D, W); break;
	case 13: MPI_Alltoall(a, N, D, b, N, D, W); break;
	case 14: MPI_Alltoallv(a, many, at, D, b, many, at, D, W); break;
	case 15: MPI_Alltoallw(a, many, at, types, b, many, at, types, W); break;
	case 16: MPI_Reduce_scatter(a, b, many, D, MPI_SUM, W); break;
	case 17: MPI_Ibcast(a, N, D, 0, W, &r); break;
	}
}

static void datatype(int call)
{
	const MPI_Aint bytes[RANKS] = { 0, 8 };
	const int sizes[2] = { 1 << 14, 1 << 14 }, starts[2] = { 0, 0 };
	MPI_Datatype t;
	switch (call) {
	case 18: MPI_Type_contiguous(N, D, &t); break;
	case 19: MPI_Type_vector(1 << 14, 1 << 14, 1 << 15, D, &t); break;
	case 20: MPI_Type_vector(1 << 14, 1, 1 << 15, D, &t); break; /* its extent */
	case 21: MPI_Type_create_hvector(1 << 14, 1 << 14, 1 << 18, D, &t); break;
	case 22: MPI_Type_indexed(RANKS, many, at, D, &t); break;
	case 23: MPI_Type_create_hindexed(RANKS, many, bytes, D, &t); break;
	case 24: MPI_Type_create_struct(RANKS, many, bytes, types, &t); break;
	case 25: MPI_Type_create_subarray(2, sizes, sizes, starts, MPI_ORDER_C, D, &t); break;
	}
}

/* A part in place, and the root's parameters elsewhere, are not read. */
static void allowed(int rank)
{
	double x[RANKS] = { 1, 2 }, y = 3;

	MPI_Gather(rank ? &x[1] : MPI_IN_PLACE, rank ? 1 : INT_MAX, D, x, 1, D, 0, W);
	CHECK(rank || (x[0] == 1 && x[1] == 2), "gathered %g %g", x[0], x[1]);
	MPI_Scatter(x, rank ? INT_MAX : 1, D, rank ? &y : MPI_IN_PLACE, rank ? 1 : INT_MAX, D, 0,
		    W);
	CHECK(y == (rank ? 2 : 3), "rank %d has %g of the scattered", rank, y);
	MPI_Allgather(MPI_IN_PLACE, INT_MAX, D, x, 1, D, W);
	MPI_Alltoall(MPI_IN_PLACE, INT_MAX, D, x, 1, D, W);
	MPI_Alltoallv(MPI_IN_PLACE, many, at, D, x, ones, at, D, W);
}

int main(int argc, char **argv)
{
	int rank, call = argc > 1 ? atoi(argv[1]) : -1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(W, &rank);
	void *a = malloc((size_t) N * 8), *b = malloc((size_t) N * 8);
	CHECK(a && b, "no memory");
	if (call < 0)
		allowed(rank);
	point_to_point(call, a, b);
	collective(call, a, b);
	if (call >= 18)
		datatype(call);
	CHECK(call < 0, "call %d is not refused", call);
	free(a);
	free(b);
	MPI_Finalize();
	return 0;
}
