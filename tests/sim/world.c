/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program of plain MPI in the simulated world: every rank has its own globals, messages from any
 * source are matched, communicators can be split, polling lets virtual time go by, stacks hold
 * large arrays. Invariant: prints nothing and ends with 0 when all is right.
 * orr-test: sim-ranks 1 4 300 */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "lib/test.h"

static int mine;

static void any_source(int rank, int size)
{
	long sum = 0;
	int value;

	if (rank) {
		MPI_Send(&rank, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
		return;
	}
	for (int i = 1; i < size; i++) {
		MPI_Status status;
		MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		CHECK(status.MPI_SOURCE == value && status.MPI_TAG == value,
		      "the status of a receive from any source is wrong");
		sum += value;
	}
	CHECK(sum == (long) size * (size - 1) / 2, "messages from any source were lost");
}

static void halves(int rank, int size)
{
	MPI_Comm half;
	int sum, expected = 0;

	MPI_Comm_split(MPI_COMM_WORLD, rank & 1, rank, &half);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
	for (int i = rank & 1; i < size; i += 2)
		expected += i;
	CHECK(sum == expected, "a reduction over half of the ranks is wrong");
	MPI_Comm_free(&half);
}

static void polling(int rank, int size)
{
	MPI_Request request;
	int token = 0, flag = 0;
	double start = MPI_Wtime();

	if (rank == 0) {
		usleep(500);
		for (int i = 1; i < size; i++)
			MPI_Send(&token, 1, MPI_INT, i, 7, MPI_COMM_WORLD);
		return;
	}
	MPI_Irecv(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
	while (!flag)
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	CHECK(MPI_Wtime() - start > 100e-6, "polling took no virtual time");
}

static int stack(int rank)
{
	char room[600 << 10];

	memset(room, rank, sizeof(room));
	return room[sizeof(room) / 2] == (char) rank;
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	test_rank = rank;
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	mine += rank;
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(mine == rank, "globals are shared among ranks");
	any_source(rank, size);
	halves(rank, size);
	polling(rank, size);
	CHECK(stack(rank), "the stack is damaged");
	MPI_Finalize();
	return 0;
}
