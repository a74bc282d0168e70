/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Token ring, second stage: the messages stay plain MPI, only the work becomes a task (chapter 14.3
 * of the handbook).
 *
 * Invariant: the program touches the token only between starpu_data_acquire() and
 * starpu_data_release(); in between, the runtime owns it, may have it on any memory node, and runs
 * the increment wherever a worker is free.
 *
 * The MPI layer of the runtime is not used here, so starpu_init() is enough and the program starts
 * MPI itself. Each acquire waits for the task before it: the next stage, ring, gets rid of these
 * waits.
 *
 *      orrery cc --both ring_acquire.c -o ring_acquire
 *      orrery run -n 4 ./ring_acquire
 *      orrery sim -n 64 ring_acquire.sim
 */
#include <mpi.h>
#include <starpu.h>

#include "../options.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Passes a token round a ring of MPI ranks; a task on each adds one.\n"
	"  -n, --loops N   turns round the ring (default 32)\n"
	"  --no-check      do not verify the final value (simulations that skip kernels)\n"
	"  -h, --help      this text\n";

static int token;
static starpu_data_handle_t token_handle;

static void increment_cpu(void *buffers[], void *arg)
{
	int *value = (int *) STARPU_VARIABLE_GET_PTR(buffers[0]);

	(void) arg;
	(*value)++;
}

static struct starpu_codelet increment_cl = {
	.cpu_funcs = { increment_cpu },
	.cpu_funcs_name = { "increment_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "increment",
};

static int increment_token(void)
{
	int ret = starpu_task_insert(&increment_cl, STARPU_RW, token_handle, 0);

	if (ret)
		fprintf(stderr,
			"ring_acquire: cannot submit the increment (%s); is there a CPU worker?\n",
			strerror(-ret));
	return ret;
}

/* Returns 0, or -1 when a task could not be submitted. */
static int turn(int loops, int rank, int size)
{
	for (int loop = 0; loop < loops; loop++) {
		int tag = loop * size + rank;

		/* With one rank alone the token stays where it is. */
		starpu_data_acquire(token_handle, size > 1 ? STARPU_W : STARPU_RW);
		if (loop == 0 && rank == 0) {
			token = 0;
			printf("Start with token value %d\n", token);
		} else if (size > 1)
			MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		starpu_data_release(token_handle);

		if (increment_token())
			return -1;

		/* Waits for the task, and brings the value back if it was computed elsewhere. */
		starpu_data_acquire(token_handle, STARPU_R);
		if (loop == loops - 1 && rank == size - 1)
			printf("Finished: token value %d\n", token);
		else if (size > 1)
			MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, tag + 1, MPI_COMM_WORLD);
		starpu_data_release(token_handle);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options o;
	int loops = 32, check = 1, rank, size, status, ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "--loops", "-n", 1, 100000, &loops))
			;
		else if (options_flag(&o, "--no-check", NULL))
			check = 0;
		else
			options_unknown(&o);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	status = options_report(&o, rank, "ring_acquire", usage);
	if (status >= 0) {
		MPI_Finalize();
		return status;
	}
	ret = starpu_init(NULL);
	if (ret) {
		fprintf(stderr, "ring_acquire: the runtime did not start on rank %d (%s)\n", rank,
			strerror(-ret));
		MPI_Abort(MPI_COMM_WORLD, 1);
	}

	starpu_variable_data_register(&token_handle, STARPU_MAIN_RAM, (uintptr_t) &token,
				      sizeof(token));
	if (turn(loops, rank, size))
		MPI_Abort(MPI_COMM_WORLD, 1);
	starpu_data_unregister(token_handle);

	starpu_shutdown();
	MPI_Finalize();
	if (check && rank == size - 1 && token != loops * size) {
		fprintf(stderr, "ring_acquire: token is %d, expected %d * %d = %d\n", token, loops,
			size, loops * size);
		return 1;
	}
	return 0;
}
