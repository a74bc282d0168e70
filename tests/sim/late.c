/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A message from rank 0 to rank 1 whose receive is posted late, for late.sh: prints how long the
 * send takes, and how long the receive takes from when it is posted, in microseconds. Arguments:
 * plain (MPI) or runtime, the bytes, and how late in microseconds. */
#include <unistd.h>
#include "../mpi/mpi_test.h"

static double plain(void *bytes, int size, unsigned late_us)
{
	double start;
	MPI_Barrier(MPI_COMM_WORLD);
	/* The barrier ends at different times. */
	usleep((useconds_t) (10000 - starpu_timing_now()));
	if (rank == 1)
		usleep(late_us);
	start = starpu_timing_now();
	if (rank == 0)
		MPI_Send(bytes, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(bytes, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return starpu_timing_now() - start;
}

static double runtime(void *bytes, int size, unsigned late_us)
{
	starpu_data_handle_t h;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) bytes, (uint32_t) size, 1);
	usleep((useconds_t) (10000 - starpu_timing_now()));
	if (rank == 1)
		usleep(late_us);
	double start = starpu_timing_now();
	if (rank == 0)
		CHECK(!starpu_mpi_send(h, 1, 1, MPI_COMM_WORLD), "send");
	else
		CHECK(!starpu_mpi_recv(h, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "receive");
	double us = starpu_timing_now() - start;
	starpu_data_unregister(h);
	return us;
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	CHECK(argc == 4, "three arguments");
	int size = atoi(argv[2]);
	unsigned late_us = (unsigned) atoi(argv[3]);
	void *bytes = calloc(1, (size_t) size);
	CHECK(bytes, "no memory");
	double us = strcmp(argv[1], "plain") ? runtime(bytes, size, late_us)
					     : plain(bytes, size, late_us);
	if (rank < 2)
		printf("%s %.2f us\n", rank ? "receive" : "send", us);
	free(bytes);
	return end();
}
