/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Complex numbers over MPI (chapter 14.7 of the handbook): data of the interface of
 * examples/complex_interface go from rank to rank and into tasks that other ranks execute. The
 * program knows nothing of messages; the interface's methods pack_data, peek_data and unpack_data
 * do for them what they do for any other bytes.
 *
 * Each rank owns an array. First the arrays go around the ring, and each rank adds what it got to
 * its own. Then a task adds all arrays on rank 0, which gets them by itself.
 *
 * Invariant: all parts of the numbers are small integers, so that the check is exact.
 *
 *      orrery cc --both mpi_complex.c ../complex_interface/complex_interface.c -o mpi_complex
 *      orrery run -n 4 ./mpi_complex -n 100000
 *      orrery sim -n 16 mpi_complex.sim
 */
#include <starpu_mpi.h>

#include "../complex_interface/complex_interface.h"
#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Sends complex numbers around a ring, then adds them all on rank 0.\n"
			    "  -n N             numbers of an array (default 1000)\n"
			    "  -h, --help       this text\n";

enum { TAG_RING = 1, TAG_SUM = 2, TAG_OWN = 10 };

static int n = 1000, rank, size;

/* The numbers that rank r starts with. */
static double real_of(int r, int i)
{
	return r + i % 7;
}
static double imaginary_of(int r, int i)
{
	return -2 * r - i % 5;
}

static void init_cpu(void *buffers[], void *arg)
{
	double *re = COMPLEX_GET_REAL(buffers[0]), *im = COMPLEX_GET_IMAGINARY(buffers[0]);
	int r;

	starpu_codelet_unpack_args(arg, &r);
	for (int i = 0; i < COMPLEX_GET_NX(buffers[0]); i++) {
		re[i] = r < 0 ? 0 : real_of(r, i);
		im[i] = r < 0 ? 0 : imaginary_of(r, i);
	}
}

static void add_cpu(void *buffers[], void *arg)
{
	double *re = COMPLEX_GET_REAL(buffers[0]), *im = COMPLEX_GET_IMAGINARY(buffers[0]);

	(void) arg;
	for (int i = 0; i < COMPLEX_GET_NX(buffers[0]); i++) {
		re[i] += COMPLEX_GET_REAL(buffers[1])[i];
		im[i] += COMPLEX_GET_IMAGINARY(buffers[1])[i];
	}
}

static struct starpu_codelet init_cl = {
	.cpu_funcs = { init_cpu },
	.cpu_funcs_name = { "init_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_W },
	.name = "init",
};

static struct starpu_codelet add_cl = {
	.cpu_funcs = { add_cpu },
	.cpu_funcs_name = { "add_cpu" },
	.nbuffers = 2,
	.modes = { STARPU_RW, STARPU_R },
	.name = "add",
};

/* Each rank sends its array to the next one, and adds the previous one's to it: messages that the
 * program asks for. They wait for the tasks before them, and tasks for them. */
static int ring(starpu_data_handle_t own)
{
	starpu_data_handle_t received;
	int ret;

	complex_data_register(&received, -1, NULL, NULL, n);
	ret = starpu_mpi_isend_detached(own, (rank + 1) % size, TAG_RING, MPI_COMM_WORLD, NULL,
					NULL);
	ret |= starpu_mpi_irecv_detached(received, (rank + size - 1) % size, TAG_RING,
					 MPI_COMM_WORLD, NULL, NULL);
	ret |= starpu_task_insert(&add_cl, STARPU_RW, own, STARPU_R, received, 0);
	starpu_data_unregister_submit(received);
	return ret;
}

/* The sum of all arrays, a datum of rank 0: messages that the runtime finds. */
static int add_all(starpu_data_handle_t own, starpu_data_handle_t sum)
{
	int zero = -1, ret;

	ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &init_cl, STARPU_W, sum, STARPU_VALUE, &zero,
				     sizeof(zero), 0);
	for (int r = 0; r < size && !ret; r++) {
		starpu_data_handle_t part = own;

		if (r != rank && rank != 0) /* a task of others */
			continue;
		if (r != rank) {
			complex_data_register(&part, -1, NULL, NULL, n);
			starpu_mpi_data_register(part, TAG_OWN + r, r);
		}
		ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_RW, sum, STARPU_R,
					     part, 0);
		if (r != rank)
			starpu_data_unregister_submit(part);
	}
	return ret;
}

/* Every array was added twice: by its owner, and by the next rank. */
static int wrong_numbers(starpu_data_handle_t sum)
{
	int wrong = 0;

	starpu_data_acquire(sum, STARPU_R);
	for (int i = 0; i < n; i++) {
		double re = 0, im = 0;

		for (int r = 0; r < size; r++) {
			re += 2 * real_of(r, i);
			im += 2 * imaginary_of(r, i);
		}
		wrong += complex_get_real(sum)[i] != re || complex_get_imaginary(sum)[i] != im;
	}
	starpu_data_release(sum);
	return wrong;
}

/* Returns the exit status. */
static int run(void)
{
	starpu_data_handle_t own, sum;
	int ret, wrong = 0;

	complex_data_register(&own, -1, NULL, NULL, n);
	starpu_mpi_data_register(own, TAG_OWN + rank, rank);
	complex_data_register(&sum, -1, NULL, NULL, n);
	starpu_mpi_data_register(sum, TAG_SUM, 0);
	ret = starpu_task_insert(&init_cl, STARPU_W, own, STARPU_VALUE, &rank, sizeof(rank), 0);
	ret = ret || ring(own) || add_all(own, sum);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	if (rank == 0)
		wrong = ret ? n : wrong_numbers(sum);
	MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
	starpu_data_unregister(sum);
	starpu_data_unregister(own);
	if (rank == 0)
		printf("mpi_complex nodes=%d n=%d wrong=%d\ncheck: %s\n", size, n, wrong,
		       wrong ? "FAILED" : "OK");
	return wrong != 0;
}

int main(int argc, char **argv)
{
	struct options o;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (!options_int(&o, "-n", NULL, 1, 1 << 24, &n))
			options_unknown(&o);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	ret = options_report(&o, rank, "mpi_complex", usage);
	if (ret < 0)
		ret = run();
	starpu_mpi_shutdown();
	return ret;
}
