/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of the program's own MPI between two ranks with one tag are received in the order in
 * which they were sent, and receives are served in the order in which they were posted, whatever
 * the sizes, and whichever comes first (MPI 3.1, section 3.5). */
#include "mpi_test.h"

#define MESSAGES 12
#define ROUNDS 60
#define MOST (200 << 10)

static int sizes[MESSAGES];
static char *buffers[MESSAGES];

/* The same on all ranks. */
static unsigned next(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void round_of(unsigned *seed)
{
	MPI_Request requests[MESSAGES];
	MPI_Status status[MESSAGES];
	int late = (int) (next(seed) % 3), any = (int) (next(seed) % 2);
	for (int i = 0; i < MESSAGES; i++)
		sizes[i] = next(seed) % 2 ? 1 + (int) (next(seed) % 64)
					  : 1 + (int) (next(seed) % MOST);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == late % 2 && late < 2)
		usleep(2000);
	if (rank == 0) {
		for (int i = 0; i < MESSAGES; i++) {
			memset(buffers[i], 'a' + i, (size_t) sizes[i]);
			MPI_Isend(buffers[i], sizes[i], MPI_BYTE, 1, 7, MPI_COMM_WORLD,
				  &requests[i]);
		}
		MPI_Waitall(MESSAGES, requests, status);
	} else if (rank == 1) {
		for (int i = 0; i < MESSAGES; i++)
			MPI_Irecv(buffers[i], sizes[i], MPI_BYTE, any ? MPI_ANY_SOURCE : 0,
				  any ? MPI_ANY_TAG : 7, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(MESSAGES, requests, status);
		for (int i = 0; i < MESSAGES; i++) {
			int n;
			MPI_Get_count(&status[i], MPI_BYTE, &n);
			CHECK(n == sizes[i], "message %d has %d bytes, not %d", i, n, sizes[i]);
			CHECK(buffers[i][0] == 'a' + i && buffers[i][n - 1] == 'a' + i,
			      "message %d is message %d", i, buffers[i][0] - 'a');
		}
	}
}

int main(int argc, char **argv)
{
	unsigned seed = 11;
	if (!begin(&argc, &argv, 2))
		return 77;
	for (int i = 0; i < MESSAGES; i++) {
		buffers[i] = malloc(MOST);
		CHECK(buffers[i], "no memory");
	}
	for (int i = 0; i < ROUNDS; i++)
		round_of(&seed);
	for (int i = 0; i < MESSAGES; i++)
		free(buffers[i]);
	return end();
}
