/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Token ring, third stage: messages are submitted like tasks (chapter 14.4 of the handbook).
 *
 * Invariant: no statement in the loop waits. Each rank submits all its receptions, increments and
 * emissions at once; they access the same piece of data, so the runtime runs them in the order of
 * their submission. The increment may run on a device (opencl.c, kernels.cu): the token then goes
 * there and back.
 *
 *      orrery cc --both ring.c opencl.c -o ring -lOpenCL
 *      orrery run -n 4 ./ring
 *      orrery sim -n 64 ring.sim
 */
#include <starpu_mpi.h>

#include "../devices.h"
#include "../options.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Passes a token round a ring of ranks; receptions, increments and emissions are all asynchronous.\n"
	"  -n, --loops N   turns round the ring (default 32)\n"
	"  --devices       only devices increment (CUDA, OpenCL)\n"
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

/* opencl.c and kernels.cu, where the build has them. */
DEVICE_KERNEL(increment_opencl);
DEVICE_KERNEL(increment_cuda);
DEVICE_SETUP(opencl_setup);
DEVICE_SETUP(opencl_end);

static struct starpu_codelet increment_cl = {
	.cpu_funcs = { increment_cpu },
	.cpu_funcs_name = { "increment_cpu" },
	.cuda_funcs = { increment_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { increment_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "increment",
};

static int increment_token(void)
{
	struct starpu_task *task = starpu_task_create();
	int ret;

	task->cl = &increment_cl;
	task->handles[0] = token_handle;
	ret = starpu_task_submit(task);
	if (ret)
		fprintf(stderr, "ring: cannot submit the increment (%s); is there a CPU worker?\n",
			strerror(-ret));
	return ret;
}

/* Returns 0, or -1 when a task could not be submitted. */
static int turn(int loops, int rank, int size)
{
	for (int loop = 0; loop < loops; loop++) {
		starpu_mpi_tag_t tag = (starpu_mpi_tag_t) loop * size + rank;

		if (loop == 0 && rank == 0) {
			starpu_data_acquire(token_handle, STARPU_W);
			token = 0;
			printf("Start with token value %d\n", token);
			starpu_data_release(token_handle);
		} else if (size > 1) /* alone, the token stays where it is */
			starpu_mpi_irecv_detached(token_handle, (rank + size - 1) % size, tag,
						  MPI_COMM_WORLD, NULL, NULL);

		if (increment_token())
			return -1;

		if (loop == loops - 1 && rank == size - 1) {
			starpu_data_acquire(token_handle, STARPU_R);
			printf("Finished: token value %d\n", token);
			starpu_data_release(token_handle);
		} else if (size > 1)
			starpu_mpi_isend_detached(token_handle, (rank + 1) % size, tag + 1,
						  MPI_COMM_WORLD, NULL, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options o;
	struct starpu_codelet *const increments[] = { &increment_cl, NULL };
	int loops = 32, check = 1, devices = 0, rank, size, status, ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "--loops", "-n", 1, 100000, &loops))
			;
		else if (options_flag(&o, "--devices", NULL))
			devices = 1;
		else if (options_flag(&o, "--no-check", NULL))
			check = 0;
		else
			options_unknown(&o);

	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret) {
		fprintf(stderr, "ring: the runtime did not start (%s)\n", strerror(-ret));
		return 1;
	}
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	status = options_report(&o, rank, "ring", usage);
	if (status < 0 && devices && devices_only(increments, "ring"))
		status = 77;
	if (status >= 0) {
		starpu_mpi_shutdown();
		return status;
	}

	device_call(opencl_setup);
	starpu_variable_data_register(&token_handle, STARPU_MAIN_RAM, (uintptr_t) &token,
				      sizeof(token));
	if (turn(loops, rank, size))
		MPI_Abort(MPI_COMM_WORLD, 1);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(token_handle);
	device_call(opencl_end);
	starpu_mpi_shutdown();

	if (check && rank == size - 1 && token != loops * size) {
		fprintf(stderr, "ring: token is %d, expected %d * %d = %d\n", token, loops, size,
			loops * size);
		return 1;
	}
	return 0;
}
