/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages from rank 0 to rank 1, for eager.sh: prints how long the sender takes to hand them to
 * MPI or the runtime ("send"), and how long the receiver takes from the posting of the first
 * receive to the end of the last one ("receive"), in microseconds. Arguments:
 *
 *     plain|waits|parts|pingpong|runtime  BYTES  LATE_US  NUMBER
 *
 * plain: MPI_Send() and MPI_Recv(), so many after each other; waits: MPI_Isend() and MPI_Irecv(),
 * all of them posted before the first is waited for; parts: persistent requests; runtime: data of
 * the runtime; pingpong: there and back, half of the time. A receive is posted LATE_US after the
 * send; or as early before if that is negative.
 *
 * Invariant: all ranks begin at the same time, when nothing else is under way. */
#include <unistd.h>
#include "../mpi/mpi_test.h"

enum { MOST = 256, BEGIN_US = 20000 };

static char *bytes;
static starpu_data_handle_t h[MOST];
static int length, number;
static double start_us;

static void sleep_until(double us)
{
	if (us > starpu_timing_now())
		usleep((useconds_t) (us - starpu_timing_now() + .5));
}

static double plain(void)
{
	for (int i = 0; i < number; i++) {
		if (rank == 0)
			MPI_Send(bytes, length, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(bytes, length, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return starpu_timing_now() - start_us;
}

static double waits(void)
{
	MPI_Request requests[MOST];
	MPI_Status ends[MOST];
	for (int i = 0; i < number; i++) {
		if (rank == 0)
			MPI_Isend(bytes, length, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
		else
			MPI_Irecv(bytes, length, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
	}
	double posted_us = starpu_timing_now() - start_us;
	MPI_Waitall(number, requests, ends);
	return rank ? starpu_timing_now() - start_us : posted_us;
}

static double parts(void)
{
	MPI_Request requests[MOST];
	MPI_Status ends[MOST];
	for (int i = 0; i < number; i++) {
		if (rank == 0)
			MPI_Send_init(bytes, length, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
		else
			MPI_Recv_init(bytes, length, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
	}
	MPI_Startall(number, requests);
	double posted_us = starpu_timing_now() - start_us;
	MPI_Waitall(number, requests, ends);
	double us = starpu_timing_now() - start_us;
	for (int i = 0; i < number; i++)
		MPI_Request_free(&requests[i]);
	return rank ? us : posted_us;
}

static double pingpong(void)
{
	for (int i = 0; i < 2 * number; i++) {
		if (rank == i % 2)
			MPI_Send(bytes, length, MPI_BYTE, !rank, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(bytes, length, MPI_BYTE, !rank, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}
	return (starpu_timing_now() - start_us) / (2 * number);
}

static double runtime(void)
{
	static starpu_mpi_req requests[MOST];
	for (int i = 0; i < number; i++) {
		if (rank == 0)
			CHECK(!starpu_mpi_isend(h[i], &requests[i], 1, i, MPI_COMM_WORLD), "send");
		else
			CHECK(!starpu_mpi_irecv(h[i], &requests[i], 0, i, MPI_COMM_WORLD),
			      "receive");
	}
	for (int i = 0; i < number; i++)
		CHECK(!starpu_mpi_wait(&requests[i], MPI_STATUS_IGNORE), "wait");
	return starpu_timing_now() - start_us;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		double (*run)(void);
	} kinds[] = { { "plain", plain },
		      { "waits", waits },
		      { "parts", parts },
		      { "pingpong", pingpong },
		      { "runtime", runtime } };
	double us = -1;
	if (!begin(&argc, &argv, 2))
		return 77;
	CHECK(argc == 5, "four arguments");
	length = atoi(argv[2]);
	number = atoi(argv[4]);
	CHECK(number <= MOST, "too many messages");
	bytes = calloc((size_t) number, (size_t) length);
	CHECK(bytes, "no memory");
	for (int i = 0; i < number; i++)
		starpu_vector_data_register(&h[i], STARPU_MAIN_RAM,
					    (uintptr_t) (bytes + (size_t) i * (size_t) length),
					    (uint32_t) length, 1);
	double late_us = atof(argv[3]);
	start_us = BEGIN_US + (rank == (late_us > 0) ? fabs(late_us) : 0);
	sleep_until(start_us);
	start_us = starpu_timing_now();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			us = kinds[i].run();
	CHECK(us >= 0, "no such kind");
	if (rank < 2)
		printf("%s %.3f us\n", rank ? "receive" : "send", us);
	for (int i = 0; i < number; i++)
		starpu_data_unregister(h[i]);
	free(bytes);
	return end();
}
