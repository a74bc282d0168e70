/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies from handle to handle within main memory take the time of their bytes, 8 GB/s; messages to
 * oneself take what the platform says, whether the receive or the send comes first. */
// orr-test: env ORR_SIM_COSTS=0
// orr-test: sim-ranks 1 2
#include "../mpi/mpi_test.h"

#include <orrery.h>

#define BYTES ((size_t) 64 << 20)
#define MBS 8000.0
#define LOOPBACK_US .1
#define LOOPBACK_MBS 25000.0

static void near(const char *what, double us, double want)
{
	CHECK(us > want * .99 - 1 && us < want * 1.01 + 1, "%s takes %.1f us, not %.1f", what, us,
	      want);
}

static starpu_data_handle_t handle(size_t bytes)
{
	starpu_data_handle_t h;
	char *v = calloc(1, bytes);
	CHECK(v, "no memory");
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, (uint32_t) bytes, 1);
	return h;
}

static double message_us(starpu_data_handle_t from, starpu_data_handle_t to, int receive_first)
{
	double start_us = starpu_timing_now();
	for (int i = 0; i < 2; i++)
		if (i == receive_first)
			starpu_mpi_isend_detached(from, rank, 1, MPI_COMM_WORLD, NULL, NULL);
		else
			starpu_mpi_irecv_detached(to, rank, 1, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	return starpu_timing_now() - start_us;
}

static double copy_us(starpu_data_handle_t from, starpu_data_handle_t to)
{
	struct orrery_worker_times t;
	double start_us = starpu_timing_now();
	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	starpu_data_cpy(to, from, 0, NULL, NULL);
	double us = starpu_timing_now() - start_us;
	OK(orrery_worker_times(-1, &t));
	starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
	near("data", t.data_us, us);
	near("kernels", t.kernels_us, 0);
	return us;
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 1))
		return 77;
	for (size_t bytes = 64; bytes <= BYTES; bytes *= 16) {
		starpu_data_handle_t from = handle(bytes), to = handle(bytes);
		double message = LOOPBACK_US + (double) (bytes + 16) / LOOPBACK_MBS;
		near("a message to oneself", message_us(from, to, 0), message);
		near("a message to oneself that is expected", message_us(from, to, 1), message);
		near("a copy to another handle", copy_us(from, to), (double) bytes / MBS);
		starpu_data_unregister(from);
		starpu_data_unregister(to);
	}
	return end();
}
