/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of four example projects: one for CMake, one for autotools, one for Meson and one for
 * plain make, all in this folder. Each finds an installed Orrery by itself and builds the program
 * for both worlds.
 *
 * Number i lives on rank i modulo the number of ranks. A task sets it there, and a task on rank 0
 * adds it to the total, for which the runtime sends a message. Invariant: the sum is known
 * beforehand.
 */
#include <starpu_mpi.h>
#include <stdio.h>

#define N 100

static void set(void *buffers[], void *arg)
{
	starpu_codelet_unpack_args(arg, (int *) STARPU_VARIABLE_GET_PTR(buffers[0]));
}

static void add(void *buffers[], void *arg)
{
	int *sum = (int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
	const int *number = (const int *) STARPU_VARIABLE_GET_PTR(buffers[1]);

	(void) arg;
	*sum += *number;
}

static struct starpu_codelet set_cl = {
	.cpu_funcs = { set }, .nbuffers = 1, .modes = { STARPU_W }, .name = "set"
};
static struct starpu_codelet add_cl = {
	.cpu_funcs = { add }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .name = "add"
};

int main(int argc, char **argv)
{
	starpu_data_handle_t number[N], sum;
	int rank, size, numbers[N], total = 0;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 1;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	starpu_variable_data_register(&sum, rank ? -1 : STARPU_MAIN_RAM, (uintptr_t) &total,
				      sizeof(total));
	starpu_mpi_data_register(sum, N, 0);
	for (int i = 0; i < N; i++) {
		starpu_variable_data_register(&number[i], i % size == rank ? STARPU_MAIN_RAM : -1,
					      (uintptr_t) &numbers[i], sizeof(numbers[i]));
		starpu_mpi_data_register(number[i], i, i % size);
	}
	for (int i = 0; i < N; i++) {
		int value = i + 1;

		starpu_mpi_task_insert(MPI_COMM_WORLD, &set_cl, STARPU_W, number[i], STARPU_VALUE,
				       &value, sizeof(value), 0);
		starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_RW, sum, STARPU_R, number[i],
				       0);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	for (int i = 0; i < N; i++)
		starpu_data_unregister(number[i]);
	starpu_data_unregister(sum);
	starpu_mpi_shutdown();
	if (rank)
		return 0;
	printf("total %d on %d ranks: %s\n", total, size,
	       total == N * (N + 1) / 2 ? "OK" : "wrong");
	return total != N * (N + 1) / 2;
}
