/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reductions between ranks (chapter 14.12 of the handbook): the same histogram in four ways.
 *
 *      sequential      every task writes the histogram, which travels from rank to rank
 *      redux           STARPU_REDUX: each worker fills a histogram of its own
 *      mpi_redux       STARPU_MPI_REDUX: each rank fills one; the parts go to the owner as the
 *                      runtime chooses
 *      tree            the same, the parts go along a tree of the arity that --arity names
 *
 * Rank 0 prints the time of each, and all four have to give the same.
 *
 * Invariant: a contribution adds to what it finds, and what it finds first is what init_cl left:
 * that makes the order of the contributions irrelevant.
 *
 *      orrery cc --both reductions.c -o reductions
 *      orrery run -n 4 ./reductions
 *      orrery sim -n 64 reductions.sim --bins 100000
 */
#include <starpu_mpi.h>

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Counts pseudo-random numbers in a histogram that all ranks fill.\n"
			    "  --bins N         elements of the histogram (default 2000)\n"
			    "  --tasks N        tasks of each rank (default 4)\n"
			    "  --count N        numbers of a task (default 1000)\n"
			    "  --arity N        of the tree (default 2)\n"
			    "  -h, --help       this text\n";

static int bins = 2000, tasks = 4, count = 1000, arity = 2, rank, size;

/* ---- kernels ---- */

/* A number that belongs to a task and an index. */
static unsigned bin_of(int task, int i)
{
	uint64_t x = ((uint64_t) task << 32 | (uint64_t) i) * 0x9e3779b97f4a7c15u;

	return (unsigned) ((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> 32) % (unsigned) bins;
}

static void zero_cpu(void *buffers[], void *arg)
{
	(void) arg;
	memset((void *) STARPU_VECTOR_GET_PTR(buffers[0]), 0,
	       STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(int));
}

static void add_cpu(void *buffers[], void *arg)
{
	int *to = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);
	const int *from = (const int *) STARPU_VECTOR_GET_PTR(buffers[1]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		to[i] += from[i];
}

static void fill_cpu(void *buffers[], void *arg)
{
	int *histogram = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), task;

	starpu_codelet_unpack_args(arg, &task);
	for (int i = 0; i < count; i++)
		histogram[bin_of(task, i)]++;
}

/* The content of a copy before the first contribution to it. */
static struct starpu_codelet init_cl = {
	.cpu_funcs = { zero_cpu },
	.cpu_funcs_name = { "zero_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_W },
	.name = "zero",
};

/* Makes one copy of two. */
static struct starpu_codelet reduce_cl = {
	.cpu_funcs = { add_cpu },
	.cpu_funcs_name = { "add_cpu" },
	.nbuffers = 2,
	.modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R },
	.name = "add",
};

/* The contribution. Inside one rank, those of STARPU_MPI_REDUX share a copy and may do so in any
 * order. */
static struct starpu_codelet fill_cl = {
	.cpu_funcs = { fill_cpu },
	.cpu_funcs_name = { "fill_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_RW | STARPU_COMMUTE },
	.name = "fill",
};

/* With STARPU_REDUX, each worker has a copy. */
static struct starpu_codelet fill_worker_cl = {
	.cpu_funcs = { fill_cpu },
	.cpu_funcs_name = { "fill_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_REDUX },
	.name = "fill",
};

/* ---- the four ways ---- */

static const struct way {
	const char *name;
	struct starpu_codelet *fill;
	int mode; /* of the histogram's access in the insertion */
	int tree;
} ways[] = {
	{ "sequential", &fill_cl, STARPU_RW | STARPU_COMMUTE, 0 },
	{ "redux", &fill_worker_cl, STARPU_REDUX, 0 },
	{ "mpi_redux", &fill_cl, STARPU_MPI_REDUX, 0 },
	{ "tree", &fill_cl, STARPU_MPI_REDUX, 1 },
};

/* Inserts the tasks of all ranks, as each of them does. */
static int insert(const struct way *way, starpu_data_handle_t histogram)
{
	int ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &init_cl, STARPU_W, histogram, 0);

	for (int task = 0; task < tasks * size && !ret; task++)
		ret = starpu_mpi_task_insert(MPI_COMM_WORLD, way->fill, way->mode, histogram,
					     STARPU_VALUE, &task, sizeof(task),
					     STARPU_EXECUTE_ON_NODE, task % size, 0);
	if (way->tree && !ret) /* the other reductions start by themselves, before the next read */
		ret = starpu_mpi_redux_data_tree(MPI_COMM_WORLD, histogram, arity);
	return ret;
}

/* The number of bins of rank 0 that differ from those of a sequential program. */
static int wrong_bins(starpu_data_handle_t histogram)
{
	int *want = calloc((size_t) bins, sizeof(*want)), wrong = 0;
	const int *got;

	if (!want)
		return bins;
	for (int task = 0; task < tasks * size; task++)
		for (int i = 0; i < count; i++)
			want[bin_of(task, i)]++;
	starpu_data_acquire(histogram, STARPU_R);
	got = (const int *) starpu_vector_get_local_ptr(histogram);
	for (int bin = 0; bin < bins; bin++)
		wrong += got[bin] != want[bin];
	starpu_data_release(histogram);
	free(want);
	return wrong;
}

/* Returns how many bins are wrong, on rank 0. */
static int reduce(const struct way *way, starpu_mpi_tag_t tag)
{
	starpu_data_handle_t histogram;
	double start = starpu_timing_now();
	int wrong = 0, ret;

	starpu_vector_data_register(&histogram, -1, 0, (uint32_t) bins, sizeof(int));
	starpu_mpi_data_register(histogram, tag, 0);
	starpu_data_set_reduction_methods(histogram, &reduce_cl, &init_cl);
	ret = insert(way, histogram);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	if (rank == 0) {
		double seconds = (starpu_timing_now() - start) * 1e-6;

		wrong = ret ? bins : wrong_bins(histogram);
		printf("reductions nodes=%d bins=%d way=%s wrong=%d time_s=%.6f\n", size, bins,
		       way->name, wrong, seconds);
	}
	starpu_data_unregister(histogram);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	return wrong;
}

/* Returns the exit status. */
static int run(void)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		wrong += reduce(&ways[i], (starpu_mpi_tag_t) i);
	MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("check: %s\n", wrong ? "FAILED" : "OK");
	return wrong != 0;
}

int main(int argc, char **argv)
{
	struct options o;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "--bins", NULL, 1, 1 << 28, &bins))
			;
		else if (options_int(&o, "--tasks", NULL, 1, 100000, &tasks))
			;
		else if (options_int(&o, "--count", NULL, 1, 1 << 28, &count))
			;
		else if (options_int(&o, "--arity", NULL, 2, 1000, &arity))
			;
		else
			options_unknown(&o);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	ret = options_report(&o, rank, "reductions", usage);
	if (ret < 0)
		ret = run();
	starpu_mpi_shutdown();
	return ret;
}
