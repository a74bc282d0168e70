/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers that look after messages between their tasks: chains that go back and forth between two
 * ranks while both have work of their own, messages of both protocols, and a start and end of the
 * MPI layer while workers execute tasks.
 * orr-test: ranks 2 4
 * orr-test: sim-ranks 2 4
 * orr-test: env ORRERY_MPI_WORKERS_LOOK=1 */
#include "mpi_test.h"

enum { NCHAINS = 4, LENGTH = 40, NOWN = 600, SMALL = 16, LARGE = 40000 };

static unsigned nown; /* atomic */

static void own_cpu(void *buffers[], void *arg)
{
	volatile double x = 1;

	(void) buffers;
	(void) arg;
	for (int i = 0; i < 10000; i++)
		x = x * 0.5 + 0.5;
	__atomic_add_fetch(&nown, 1, __ATOMIC_RELAXED);
}

static void add_cpu(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] += (int) i + 1;
}

static struct starpu_codelet own_cl = { .cpu_funcs = { own_cpu },
					.flags = STARPU_CODELET_SIMGRID_EXECUTE,
					.name = "own" };
static struct starpu_codelet add_cl = { .cpu_funcs = { add_cpu },
					.nbuffers = 1,
					.modes = { STARPU_RW },
					.flags = STARPU_CODELET_SIMGRID_EXECUTE,
					.name = "add" };

/* The datum of a chain goes around all ranks, each of which adds to it. */
static void chains(void)
{
	starpu_data_handle_t h[NCHAINS];
	int *values[NCHAINS];

	for (int c = 0; c < NCHAINS; c++) {
		uint32_t n = c % 2 ? LARGE : SMALL;

		values[c] = calloc(n, sizeof(int));
		CHECK(values[c], "no memory");
		starpu_vector_data_register(&h[c], STARPU_MAIN_RAM, (uintptr_t) values[c], n,
					    sizeof(int));
	}
	for (int i = 0; i < NOWN; i++)
		OK(starpu_task_insert(&own_cl, 0));
	for (int step = 0; step < LENGTH; step++)
		for (int c = 0; c < NCHAINS; c++) {
			int at = (step + c) % size, next = (at + 1) % size,
			    tag = step * NCHAINS + c;

			if (rank == at) {
				OK(starpu_task_insert(&add_cl, STARPU_RW, h[c], 0));
				OK(starpu_mpi_isend_detached(h[c], next, tag, MPI_COMM_WORLD, NULL,
							     NULL));
			}
			if (rank == next)
				OK(starpu_mpi_irecv_detached(h[c], at, tag, MPI_COMM_WORLD, NULL,
							     NULL));
		}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	for (int c = 0; c < NCHAINS; c++) {
		uint32_t n = c % 2 ? LARGE : SMALL;

		starpu_data_unregister(h[c]);
		for (uint32_t i = 0; rank == (LENGTH + c) % size && i < n; i++)
			CHECK(values[c][i] == LENGTH * ((int) i + 1), "chain %d, element %u: %d", c,
			      i, values[c][i]);
		free(values[c]);
	}
	CHECK(nown == NOWN, "%u of %d own tasks", nown, NOWN);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	chains();
	/* The layer ends while workers are busy and look. */
	for (int i = 0; i < NOWN; i++)
		OK(starpu_task_insert(&own_cl, 0));
	return end();
}
