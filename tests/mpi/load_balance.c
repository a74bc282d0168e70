/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load balancing: rank 0 has all the work at the start. It flows to the other ranks, all ranks
 * agree on the owners after every iteration, and no task is lost or executed twice. A second run
 * after the end of the policy moves nothing.
 * orr-test: env STARPU_NCPU=2
 * orr-test: sim-ranks 2 4 7 */
#include <starpu_mpi_lb.h>
#include "mpi_test.h"

enum { N = 40, NITER = 12 };

static starpu_data_handle_t h[N];
static int values[N], nasked;

static void spin_cpu(void *buffers[], void *arg)
{
	double start = starpu_timing_now();

	(void) arg;
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
	while (starpu_timing_now() - start < 200)
		starpu_sleep(20e-6);
}

static double spin_us(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return 200;
}

static struct starpu_perfmodel model = { .type = STARPU_COMMON, .cost_function = spin_us };
static struct starpu_codelet spin_cl = { .cpu_funcs = { spin_cpu },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .model = &model,
					 .name = "spin" };

static void get_neighbours(int **ids, int *n)
{
	*ids = malloc(2 * sizeof(**ids));
	*n = 0;
	(*ids)[(*n)++] = (rank + 1) % size;
	(*ids)[(*n)++] = (rank + size - 1) % size;
}

static void get_unit(starpu_data_handle_t **unit, int *n, int to)
{
	CHECK(to != rank && to >= 0 && to < size, "rank %d", to);
	nasked++;
	*n = 0;
	for (int i = 0; i < N && !*n; i++)
		if (starpu_mpi_data_get_rank(h[i]) == rank) {
			*unit = malloc(sizeof(**unit));
			(*unit)[(*n)++] = h[i];
		}
}

static void iterate(int from, int to)
{
	for (int t = from; t < to; t++) {
		starpu_iteration_push((unsigned long) t);
		for (int i = 0; i < N; i++) {
			/* An inner loop is no place where data move. */
			starpu_iteration_push((unsigned long) i);
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &spin_cl, STARPU_RW, h[i], 0));
			starpu_iteration_pop();
		}
		starpu_iteration_pop();
	}
}

static void owners(int owner[N])
{
	int least[N], most[N];

	for (int i = 0; i < N; i++)
		owner[i] = starpu_mpi_data_get_rank(h[i]);
	MPI_Allreduce(owner, least, N, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	MPI_Allreduce(owner, most, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	for (int i = 0; i < N; i++)
		CHECK(least[i] == most[i], "owner of %d: %d or %d", i, least[i], most[i]);
}

int main(int argc, char **argv)
{
	struct starpu_mpi_lb_conf conf = { get_neighbours, get_unit };
	int before[N], after[N], has[64] = { 0 };

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_mpi_lb_init("heat", &conf);
	for (int i = 0; i < N; i++) {
		values[i] = i;
		if (rank == 0)
			starpu_variable_data_register(&h[i], STARPU_MAIN_RAM,
						      (uintptr_t) &values[i], sizeof(int));
		else
			new_int(&h[i]);
		starpu_mpi_data_register(h[i], i, 0);
	}
	iterate(0, NITER);
	owners(before);
	for (int i = 0; i < N; i++)
		has[before[i]]++;
	/* Fewer than three quarters are left where all of it was. */
	CHECK(has[0] > 0 && has[0] <= 3 * N / 4, "rank 0 has %d of %d", has[0], N);
	CHECK(has[1] > 0, "rank 1 has nothing");
	starpu_mpi_lb_shutdown();
	nasked = 0;
	iterate(NITER, NITER + 2);
	CHECK(!nasked, "asked %d times after the end", nasked);
	owners(after);
	for (int i = 0; i < N; i++) {
		CHECK(before[i] == after[i], "%d has moved", i);
		starpu_mpi_data_migrate(MPI_COMM_WORLD, h[i], 0);
		starpu_data_unregister(h[i]);
		if (rank == 0)
			CHECK(values[i] == i + NITER + 2, "%d is %d", i, values[i]);
	}
	return end();
}
