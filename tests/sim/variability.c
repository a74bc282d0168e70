/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The programs that variability.sh measures, in virtual time: `variability kernels N` runs N
 * independent tasks on each rank and prints for each "rank worker number microseconds";
 * `variability message MB` sends so much from rank 0 to rank 1 and prints the microseconds;
 * `variability chain N` runs N tasks in a row on each rank, sends the result around, and checks it;
 * `variability stall` waits for ever.
 *
 * Invariant: every result is checked; the exit status tells. */
#include <starpu.h>
#include <starpu_mpi.h>

#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 1024 /* ints: 4 KiB, which is what the model was measured for */

struct timing {
	double start, end;
	int worker;
};

static int rank, size;

static void work(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);
	struct timing *t;

	starpu_codelet_unpack_args(arg, &t);
	for (int i = 0; i < LENGTH; i++)
		v[i]++;
	if (t) {
		t->start = starpu_timing_now();
		t->worker = starpu_worker_get_id();
	}
}

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED,
					 .symbol = "variability_work" };
static struct starpu_codelet work_cl = { .cpu_funcs = { work },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .model = &model,
					 .name = "work" };

static void ended(void *arg)
{
	((struct timing *) arg)->end = starpu_timing_now();
}

static int kernels(int n)
{
	struct timing *timings = calloc((size_t) n, sizeof(*timings));
	starpu_data_handle_t *handles = calloc((size_t) n, sizeof(*handles));
	int *values = calloc(LENGTH, sizeof(*values) * (size_t) n), wrong = 0;

	for (int i = 0; i < n; i++) {
		struct timing *t = &timings[i];

		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
					    (uintptr_t) (values + (size_t) i * LENGTH), LENGTH,
					    sizeof(int));
		starpu_task_insert(&work_cl, STARPU_VALUE, &t, sizeof(t), STARPU_RW, handles[i],
				   STARPU_CALLBACK_WITH_ARG_NFREE, ended, t, 0);
	}
	starpu_task_wait_for_all();
	for (int i = 0; i < n; i++) {
		starpu_data_unregister(handles[i]);
		wrong |= values[(size_t) i * LENGTH] != 1;
		printf("%d %d %d %.6f\n", rank, timings[i].worker, i,
		       timings[i].end - timings[i].start);
	}
	free(values);
	free(handles);
	free(timings);
	return wrong;
}

static int message(int mb)
{
	size_t bytes = (size_t) mb << 20;
	char *buffer = calloc(bytes, 1);

	if (rank == 0)
		MPI_Send(buffer, (int) bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	else if (rank == 1)
		MPI_Recv(buffer, (int) bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1)
		printf("%.3f\n", starpu_timing_now());
	free(buffer);
	return 0;
}

static int chain(int n)
{
	int values[LENGTH] = { 0 }, wrong;
	struct timing *none = NULL;
	starpu_data_handle_t handle;

	starpu_vector_data_register(&handle, rank == 0 ? STARPU_MAIN_RAM : -1, (uintptr_t) values,
				    LENGTH, sizeof(int));
	starpu_mpi_data_register(handle, 1, 0);
	for (int i = 0; i < n * size; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &work_cl, STARPU_VALUE, &none, sizeof(none),
				       STARPU_RW, handle, STARPU_EXECUTE_ON_NODE, i % size, 0);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(handle);
	wrong = rank == 0 && values[LENGTH - 1] != n * size;
	if (wrong)
		fprintf(stderr, "variability: the chain gave %d, not %d\n", values[LENGTH - 1],
			n * size);
	return wrong;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1, failed = 2;
	char nothing;

	if (argc < 2 || test_skips(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL)))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(argv[1], "kernels"))
		failed = kernels(n);
	else if (!strcmp(argv[1], "message"))
		failed = message(n);
	else if (!strcmp(argv[1], "chain"))
		failed = chain(n);
	else if (!strcmp(argv[1], "stall") && rank == 0)
		MPI_Recv(&nothing, 1, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	starpu_mpi_shutdown();
	return failed;
}
