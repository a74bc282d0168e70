/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A cluster of unlike nodes: even ranks have 2 GPUs and 2 cores to compute with, odd ones 3 cores
 * (mixed.sh describes them). Data whose only valid copy is in the memory of a GPU are sent,
 * received, reduced, and migrated.
 *
 * Invariant: every value is what its tasks made of it, wherever they ran. */
#include <starpu_mpi.h>

#include "lib/test.h"

#define N 1000
#define NDATA 12
#define STEPS 6

static int rank, size;

static int kind_of_worker(void)
{
	return starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CUDA_WORKER;
}

/* The last element counts the tasks that ran on a GPU. */
static void add(void *buffers[], void *arg)
{
	int *a = (int *) STARPU_VECTOR_GET_PTR(buffers[0]),
	    *b = (int *) STARPU_VECTOR_GET_PTR(buffers[1]), i;

	(void) arg;
	for (i = 0; i < N - 1; i++)
		b[i] += a[i];
	b[N - 1] += kind_of_worker();
}

static void fill(void *buffers[], void *arg)
{
	int *a = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), i, value;

	starpu_codelet_unpack_args(arg, &value);
	for (i = 0; i < N - 1; i++)
		a[i] = value;
	a[N - 1] = kind_of_worker();
}

static struct starpu_perfmodel add_model = { .type = STARPU_HISTORY_BASED, .symbol = "mixed_add" };
static struct starpu_perfmodel fill_model = { .type = STARPU_HISTORY_BASED,
					      .symbol = "mixed_fill" };
static struct starpu_codelet add_cl = { .cpu_funcs = { add },
					.nbuffers = 2,
					.modes = { STARPU_R, STARPU_RW },
					.model = &add_model,
					.name = "add" };
static struct starpu_codelet fill_cl = { .cpu_funcs = { fill },
					 .nbuffers = 1,
					 .modes = { STARPU_W },
					 .model = &fill_model,
					 .name = "fill" };

/* On GPUs where there are any. */
static unsigned where(int r)
{
	return r % 2 ? STARPU_CPU : STARPU_CUDA;
}

static void check_machine(void)
{
	CHECK(starpu_cuda_worker_get_count() == (rank % 2 ? 0 : 2),
	      "the number of GPUs is not that of its machine");
	CHECK(starpu_memory_nodes_get_count() == (rank % 2 ? 1 : 3),
	      "the number of memory nodes is not that of its machine");
	CHECK(starpu_cpu_worker_get_count() == (rank % 2 ? 3 : 1),
	      "the number of cores is not that of its machine");
}

/* Each datum goes on from rank to rank: what the owner of i + 1 adds was computed on a GPU
 * elsewhere, or is needed there. */
static void chain(starpu_data_handle_t *h)
{
	int i, k, expected[NDATA], *v;

	for (i = 0; i < NDATA; i++) {
		expected[i] = i + 1;
		CHECK(starpu_mpi_task_insert(MPI_COMM_WORLD, &fill_cl, STARPU_VALUE, &expected[i],
					     sizeof(int), STARPU_W, h[i], STARPU_EXECUTE_WHERE,
					     (unsigned long long) where(i % size), 0) == 0,
		      "fill");
	}
	for (k = 0; k < STEPS; k++)
		for (i = 0; i < NDATA; i++) {
			int to = (i + k + 1) % NDATA;

			if (to == i)
				continue;
			expected[to] += expected[i];
			CHECK(starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_R, h[i],
						     STARPU_RW, h[to], STARPU_EXECUTE_WHERE,
						     (unsigned long long) where(to % size), 0) == 0,
			      "add");
		}
	/* Data that are in a GPU only go straight to their new owner. */
	for (i = 0; i < NDATA; i++)
		starpu_mpi_data_migrate(MPI_COMM_WORLD, h[i], (i + 1) % size);
	for (i = 0; i < NDATA; i++) {
		if (starpu_mpi_data_get_rank(h[i]) != rank)
			continue;
		CHECK(starpu_data_acquire(h[i], STARPU_R) == 0);
		v = (int *) starpu_data_get_local_ptr(h[i]);
		for (k = 0; k < N - 1; k++)
			CHECK_IS(v[k], expected[i]);
		CHECK((v[N - 1] == 0) == i % 2, "tasks ran on the wrong kind of unit");
		starpu_data_release(h[i]);
	}
}

/* Plain messages, both ways between a GPU here and a GPU there. */
static void there_and_back(starpu_data_handle_t h)
{
	int one = 1, other = (rank + 2) % size, *v;

	if (rank % 2)
		return;
	CHECK(starpu_task_insert(&fill_cl, STARPU_VALUE, &one, sizeof(one), STARPU_W, h,
				 STARPU_EXECUTE_WHERE, (unsigned long long) STARPU_CUDA, 0) == 0,
	      "fill");
	if (rank % 4 == 0) {
		starpu_mpi_isend_detached(h, other, 99, MPI_COMM_WORLD, NULL, NULL);
		starpu_mpi_irecv_detached(h, other, 98, MPI_COMM_WORLD, NULL, NULL);
	} else {
		starpu_mpi_irecv_detached(h, other, 99, MPI_COMM_WORLD, NULL, NULL);
		starpu_task_insert(&add_cl, STARPU_R, h, STARPU_RW, h, STARPU_EXECUTE_WHERE,
				   (unsigned long long) STARPU_CUDA, 0);
		starpu_mpi_isend_detached(h, other, 98, MPI_COMM_WORLD, NULL, NULL);
	}
	starpu_task_insert(&add_cl, STARPU_R, h, STARPU_RW, h, STARPU_EXECUTE_WHERE,
			   (unsigned long long) STARPU_CUDA, 0);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	v = (int *) starpu_data_get_local_ptr(h);
	CHECK(v[0] == 4 && v[N - 2] == 4 && v[N - 1] == 3, "what came back is wrong");
	starpu_data_release(h);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h[NDATA], mine;

	CHECK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) == 0,
	      "starpu_mpi_init_conf");
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	test_rank = rank;
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	CHECK(size == 4, "it takes 4 ranks");
	check_machine();
	for (int i = 0; i < NDATA; i++) {
		starpu_vector_data_register(&h[i], -1, 0, N, sizeof(int));
		starpu_mpi_data_register(h[i], i, i % size);
	}
	starpu_vector_data_register(&mine, -1, 0, N, sizeof(int));
	chain(h);
	there_and_back(mine);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(h[i]);
	starpu_data_unregister(mine);
	starpu_mpi_shutdown();
	return 0;
}
