/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a resize costs a stencil that goes on: blocks in a ring, one task for each block and
 * iteration, which reads the ends of both neighbours. Half of the ranks work, then all of them,
 * then half again. The stall is the time that this takes beyond the same iterations without any
 * move; it is compared with a blocking redistribution: everything is complete, then the data move,
 * then all ranks go on. Medians of several rounds of the same run.
 *
 * A task takes 1 ms and no processor (it sleeps), like one on a device: so ranks that share cores
 * do not slow each other down.
 *
 * orr-bench: sim -n 8 --cpus 2
 * orr-bench: run -n 4 --oversubscribe
 * orr-bench: env STARPU_NCPU=1 */
#include <orrery.h>
#include <orrery_resize.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 11, NITER = 2, BLOCKS_OF_RANK = 12, BYTES = 1 << 21, TASK_US = 1000 };

static int rank, size, nblocks, done;
static starpu_data_handle_t *cells, *ends[2];
static orrery_distribution_t rule;

static void update_cpu(void *buffers[], void *arg)
{
	char *block = (char *) STARPU_VECTOR_GET_PTR(buffers[0]);
	const long *left = (const long *) STARPU_VARIABLE_GET_PTR(buffers[1]),
		   *right = (const long *) STARPU_VARIABLE_GET_PTR(buffers[2]);
	long *end = (long *) STARPU_VARIABLE_GET_PTR(buffers[3]);

	(void) arg;
	*end = ++*(long *) block;
	if (*left != *end - 1 || *right != *end - 1) {
		fprintf(stderr, "resize: neighbours are at times %ld and %ld, not %ld\n", *left,
			*right, *end - 1);
		abort();
	}
	if (!orrery_is_simulated())
		starpu_sleep(1e-6 * TASK_US);
}

static double update_us(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return TASK_US;
}

static struct starpu_perfmodel model = { .type = STARPU_COMMON, .cost_function = update_us };
static struct starpu_codelet update_cl = {
	.cpu_funcs = { update_cpu },
	.nbuffers = 4,
	.modes = { STARPU_RW, STARPU_R, STARPU_R, STARPU_W },
	.model = &model,
	.name = "update",
};

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "resize: rank %d: %s: %s\n", rank, what, strerror(-ret));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void follow(starpu_data_handle_t h, int tag, int block, size_t bytes)
{
	starpu_mpi_data_register(h, tag, orrery_distribution_owner(rule, block, size));
	must(orrery_resize_follow(MPI_COMM_WORLD, h, rule, block), "follow");
	if (starpu_mpi_data_get_rank(h) != rank)
		return;
	must(starpu_data_acquire(h, STARPU_W), "acquire");
	memset(starpu_data_get_local_ptr(h), 0, bytes);
	starpu_data_release(h);
}

static void register_blocks(void)
{
	for (int i = 0; i < nblocks; i++) {
		starpu_vector_data_register(&cells[i], -1, 0, BYTES, 1);
		follow(cells[i], 3 * i, i, BYTES);
		for (int k = 0; k < 2; k++) {
			starpu_variable_data_register(&ends[k][i], -1, 0, sizeof(long));
			follow(ends[k][i], 3 * i + 1 + k, i, sizeof(long));
		}
	}
}

static void iterate(void)
{
	for (int t = 0; t < NITER; t++, done++)
		for (int i = 0; i < nblocks; i++)
			must(starpu_mpi_task_insert(
				     MPI_COMM_WORLD, &update_cl, STARPU_RW, cells[i], STARPU_R,
				     ends[done % 2][(i + nblocks - 1) % nblocks], STARPU_R,
				     ends[done % 2][(i + 1) % nblocks], STARPU_W,
				     ends[!(done % 2)][i], STARPU_PRIORITY, -done, 0),
			     "insert");
}

static double settle(void)
{
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	return starpu_timing_now();
}

static void resize(int n)
{
	must(orrery_resize(MPI_COMM_WORLD, n), "resize");
}

/* The times of one change, in microseconds. */
struct times {
	double alone;      /* iterations before and after it, without it */
	double overlapped; /* the same with it */
	double blocking;   /* the change by itself */
};

/* From `from` ranks, which are in use, to `to`. */
static struct times change(int from, int to)
{
	struct times t;
	double start = settle();

	iterate();
	t.alone = settle() - start;
	start = settle();
	resize(to);
	t.blocking = settle() - start;
	start = settle();
	iterate();
	t.alone += settle() - start;
	resize(from);
	start = settle();
	iterate();
	resize(to);
	iterate();
	t.overlapped = settle() - start;
	return t;
}

static int by_value(const void *a, const void *b)
{
	double d = *(const double *) a - *(const double *) b;

	return (d > 0) - (d < 0);
}

static double median(double *v)
{
	qsort(v, ROUNDS, sizeof(*v), by_value);
	return v[ROUNDS / 2];
}

static void print(int from, int to, const struct times *t)
{
	double stall[ROUNDS], blocking[ROUNDS], alone[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		stall[i] = t[i].overlapped - t[i].alone;
		blocking[i] = t[i].blocking;
		alone[i] = t[i].alone;
	}
	double s = median(stall), b = median(blocking);
	if (rank == 0)
		printf("resize from=%d to=%d iterations_ms=%.3f blocking_ms=%.3f stall_ms=%.3f stall_percent=%.1f\n",
		       from, to, median(alone) * 1e-3, b * 1e-3, s * 1e-3, 100 * s / b);
}

static void *array(void)
{
	void *p = calloc((size_t) nblocks, sizeof(starpu_data_handle_t));

	must(p ? 0 : -ENOMEM, "handles");
	return p;
}

int main(int argc, char **argv)
{
	struct times grow[ROUNDS], shrink[ROUNDS];
	int half;

	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	half = size > 1 ? size / 2 : 1;
	nblocks = BLOCKS_OF_RANK * size;
	cells = array();
	ends[0] = array();
	ends[1] = array();
	rule = orrery_distribution_block(nblocks, half);
	must(rule ? 0 : -ENOMEM, "distribution");
	register_blocks();
	for (int i = 0; i < ROUNDS; i++) {
		resize(half);
		grow[i] = change(half, size);
		shrink[i] = change(size, half);
	}
	print(half, size, grow);
	print(size, half, shrink);
	for (int i = 0; i < nblocks; i++) {
		starpu_data_unregister(cells[i]);
		starpu_data_unregister(ends[0][i]);
		starpu_data_unregister(ends[1][i]);
	}
	free(cells);
	free(ends[0]);
	free(ends[1]);
	orrery_distribution_free(rule);
	starpu_mpi_shutdown();
	return 0;
}
