/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times of messages between two nodes, in microseconds, for asked.sh: half of a round trip of
 * plain MPI and of the runtime. Arguments: the partners of rank 0, which may be itself: the whole
 * of one message then. */
#include "../mpi/mpi_test.h"

#define MOST ((size_t) 64 << 20)

static char *bytes;

/* Of large ones: each byte is copied in real time, too. */
static int rounds_of(size_t size)
{
	return size < 1 << 20 ? 2 : 1;
}

static double plain_to_itself_us(size_t size)
{
	MPI_Request request;
	int rounds = rounds_of(size);
	double start = starpu_timing_now();
	for (int i = 0; i < rounds; i++) {
		MPI_Irecv(bytes, (int) size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
		MPI_Send(bytes, (int) size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	return (starpu_timing_now() - start) / rounds;
}

/* Ends both handles. */
static double runtime_to_itself_us(starpu_data_handle_t from, size_t size)
{
	starpu_data_handle_t to;
	starpu_mpi_req receive;
	int rounds = rounds_of(size);
	starpu_vector_data_register(&to, -1, 0, (uint32_t) size, 1);
	double start = starpu_timing_now();
	for (int i = 0; i < rounds; i++) {
		CHECK(!starpu_mpi_irecv(to, &receive, 0, 1, MPI_COMM_WORLD), "receive");
		CHECK(!starpu_mpi_send(from, 0, 1, MPI_COMM_WORLD), "send");
		CHECK(!starpu_mpi_wait(&receive, MPI_STATUS_IGNORE), "wait");
	}
	double us = (starpu_timing_now() - start) / rounds;
	starpu_data_unregister(from);
	starpu_data_unregister(to);
	return us;
}

/* The first round trip brings both to the same time. */
static double plain_us(int partner, size_t size)
{
	double start = 0;
	int rounds = rounds_of(size);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!partner)
		return rank ? 0 : plain_to_itself_us(size);
	for (int i = 0; i <= rounds; i++) {
		if (i == 1)
			start = starpu_timing_now();
		if (rank == 0)
			MPI_Send(bytes, (int) size, MPI_BYTE, partner, 0, MPI_COMM_WORLD);
		if (rank == 0 || rank == partner)
			MPI_Recv(bytes, (int) size, MPI_BYTE, rank ? 0 : partner, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		if (rank == partner)
			MPI_Send(bytes, (int) size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
	return (starpu_timing_now() - start) / (2 * rounds);
}

/* The sides do not wait for each other's receive: it is posted long before. */
static double runtime_us(int partner, size_t size)
{
	starpu_data_handle_t h = NULL;
	double start = 0;
	int rounds = rounds_of(size);
	if (rank != 0 && rank != partner) {
		starpu_mpi_barrier(MPI_COMM_WORLD);
		return 0;
	}
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) bytes, (uint32_t) size, 1);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (!partner)
		return runtime_to_itself_us(h, size);
	for (int i = 0; i <= rounds; i++) {
		if (i == 1)
			start = starpu_timing_now();
		if (rank == 0)
			CHECK(!starpu_mpi_send(h, partner, 1, MPI_COMM_WORLD), "send");
		CHECK(!starpu_mpi_recv(h, rank ? 0 : partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
		      "receive");
		if (rank)
			CHECK(!starpu_mpi_send(h, 0, 1, MPI_COMM_WORLD), "send");
	}
	double us = (starpu_timing_now() - start) / (2 * rounds);
	starpu_data_unregister(h);
	return us;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 1,     64,     1024,    2048,    16384,
					65536, 262144, 1 << 20, 4 << 20, MOST };
	if (!begin(&argc, &argv, 2))
		return 77;
	bytes = malloc(MOST);
	CHECK(bytes, "no memory");
	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			double plain = plain_us(atoi(argv[i]), sizes[k]);
			double runtime = runtime_us(atoi(argv[i]), sizes[k]);
			if (rank == 0)
				printf("%s %zu %.4f %.4f\n", argv[i], sizes[k], plain, runtime);
		}
	}
	free(bytes);
	return end();
}
