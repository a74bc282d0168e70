/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program of the truth bed (hosts.py): the graph of an application, whose kernels take the time
 * of their model and no core, because they sleep. So many hosts can be played on few cores, and
 * what is left to predict is the network and the runtime.
 *
 *      bed GRAPH [-n SIZE] [--steps N] [--kib N | --bytes N] [--us N] [--seed N]
 *
 * cholesky, lu: SIZE x SIZE tiles, cyclic over a grid of ranks; --us is the time of a product.
 * stencil:      a torus of SIZE x SIZE blocks; the frame of a block goes to its neighbours.
 * cg:           SIZE strips for each rank; neighbours are read, and two sums over all ranks.
 * broadcast:    in a step, one rank after the other makes a datum that SIZE tasks of each read.
 * alltoall:     in a step, each rank sends a datum to each other one, all at once.
 * random:       SIZE tasks in each step, each reads three data drawn by chance and changes one.
 *
 * Rank 0 prints one line: what was run, time_s, and a check. Invariant: each task mixes what it
 * reads into the first word of what it writes, so the check depends on graph and ranks alone: it
 * is the same in real and simulated runs, and wrong if a task began before its data were there.
 * Every rank inserts all tasks.
 *
 * orr-test: driven by ../hosts/fidelity.sh */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/prctl.h>
#include <orrery.h>
#include <starpu_mpi.h>
#include "../../examples/options.h"

static const char usage[] =
	"GRAPH [-n SIZE] [--steps N] [--kib N | --bytes N] [--us N] [--seed N]\n"
	"GRAPH is cholesky, lu, stencil, cg, broadcast, alltoall or random.\n";

static int rank, size, n = 8, steps = 4, bytes = 65536, kib, kernel_us = 1000, seed = 1, rows,
		       columns;
static const char *graph;

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "bed: rank %d: %s: %s\n", rank, what, strerror(ret < 0 ? -ret : ret));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *array(size_t count, size_t each)
{
	void *p = calloc(count, each);

	must(p ? 0 : -ENOMEM, "memory");
	return p;
}

static uint64_t mix(uint64_t x)
{
	x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
	x ^= x >> 27;
	x *= 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* ---- kernels ---- */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t) 1000000000 + t.tv_nsec;
}

/* Takes that long on average: what a busy system adds to one nap, the next one of the thread makes
 * up for, as far as it can. */
static void nap(double us)
{
	static _Thread_local int64_t late_ns;
	int64_t start = now_ns(), end = start + (int64_t) (us * 1e3);
	int64_t wake = end - late_ns > start ? end - late_ns : start;
	struct timespec at = { .tv_sec = wake / 1000000000, .tv_nsec = wake % 1000000000 };

	prctl(PR_SET_TIMERSLACK, 1000);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		continue;
	late_ns += now_ns() - end;
}

static uint64_t *word(void *buffer)
{
	return (uint64_t *) STARPU_VECTOR_GET_PTR(buffer);
}

/* The task's flops are its microseconds. The data that it writes come first. */
static void kernel(void *buffers[], void *arg)
{
	const struct starpu_task *task = starpu_task_get_current();
	unsigned count = STARPU_TASK_GET_NBUFFERS(task), written = 0;
	uint64_t sum = 0;

	(void) arg;
	while (written < count && (STARPU_TASK_GET_MODE(task, written) & STARPU_W))
		written++;
	for (unsigned i = 0; i < count; i++)
		if (STARPU_TASK_GET_MODE(task, i) & STARPU_R)
			sum = mix(sum ^ *word(buffers[i]));
	for (unsigned i = 0; i < written; i++)
		*word(buffers[i]) = mix(sum + i);
	if (!orrery_is_simulated())
		nap(task->flops);
}

static double model_us(struct starpu_task *task, unsigned nimpl)
{
	(void) nimpl;
	return task->flops;
}

static struct starpu_perfmodel model = { .type = STARPU_COMMON, .cost_function = model_us };

#define CODELET(cl, count, ...) \
	static struct starpu_codelet cl = { .cpu_funcs = { kernel }, \
					    .nbuffers = (count), \
					    .modes = { __VA_ARGS__ }, \
					    .model = &model, \
					    .name = #cl }
CODELET(change_cl, 1, STARPU_RW);
CODELET(take_cl, 2, STARPU_RW, STARPU_R);
CODELET(join_cl, 3, STARPU_RW, STARPU_R, STARPU_R);
CODELET(draw_cl, 4, STARPU_RW, STARPU_R, STARPU_R, STARPU_R);
CODELET(block_cl, 6, STARPU_RW, STARPU_W, STARPU_R, STARPU_R, STARPU_R, STARPU_R);
CODELET(apply_cl, 4, STARPU_W, STARPU_R, STARPU_R, STARPU_R);

static void sum_cpu(void *buffers[], void *arg)
{
	(void) arg;
	*word(buffers[0]) += *word(buffers[1]);
}

static void zero_cpu(void *buffers[], void *arg)
{
	(void) arg;
	*word(buffers[0]) = 0;
}

/* A strip's part of a sum. */
static void part_cpu(void *buffers[], void *arg)
{
	const struct starpu_task *task = starpu_task_get_current();

	(void) arg;
	*word(buffers[0]) += mix(*word(buffers[1]));
	if (!orrery_is_simulated())
		nap(task->flops);
}

static double quick_us(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return 0.1;
}

static struct starpu_perfmodel quick = { .type = STARPU_COMMON, .cost_function = quick_us };
static struct starpu_codelet sum_cl = { .cpu_funcs = { sum_cpu },
					.nbuffers = 2,
					.modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R },
					.model = &quick,
					.name = "sum" };
static struct starpu_codelet zero_cl = { .cpu_funcs = { zero_cpu },
					 .nbuffers = 1,
					 .modes = { STARPU_W },
					 .model = &quick,
					 .name = "zero" };
static struct starpu_codelet part_cl = { .cpu_funcs = { part_cpu },
					 .nbuffers = 2,
					 .modes = { STARPU_REDUX, STARPU_R },
					 .model = &model,
					 .name = "part" };

/* ---- data ---- */

static starpu_data_handle_t *data;
static int ndata;

static void new_data(int count)
{
	data = array((size_t) count, sizeof(*data));
	ndata = count;
}

static starpu_data_handle_t new_datum(int i, int owner, int nbytes)
{
	starpu_vector_data_register(&data[i], -1, 0, (uint32_t) nbytes, 1);
	starpu_mpi_data_register(data[i], i, owner);
	if (owner == rank) {
		must(starpu_data_acquire(data[i], STARPU_W), "acquire");
		memset(starpu_data_get_local_ptr(data[i]), 0, (size_t) nbytes);
		*(uint64_t *) starpu_data_get_local_ptr(data[i]) = mix((uint64_t) i);
		starpu_data_release(data[i]);
	}
	return data[i];
}

/* Of the words of all data, by their owners. */
static uint64_t check(void)
{
	uint64_t mine = 0, all = 0;

	for (int i = 0; i < ndata; i++) {
		if (!data[i] || starpu_mpi_data_get_rank(data[i]) != rank)
			continue;
		must(starpu_data_acquire(data[i], STARPU_R), "acquire");
		mine += mix(*(const uint64_t *) starpu_data_get_local_ptr(data[i]) ^ (uint64_t) i);
		starpu_data_release(data[i]);
	}
	MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	return all;
}

/* ---- factorisations ---- */

static starpu_data_handle_t tile(int i, int j)
{
	return data[i * n + j];
}

static void register_tiles(int whole)
{
	new_data(n * n);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < (whole ? n : i + 1); j++)
			new_datum(i * n + j, i % rows * columns + j % columns, bytes);
}

static void insert_change(starpu_data_handle_t a, double us, int priority)
{
	must(starpu_mpi_task_insert(MPI_COMM_WORLD, &change_cl, STARPU_RW, a, STARPU_FLOPS, us,
				    STARPU_PRIORITY, priority, 0),
	     "insert");
}

static void insert_take(starpu_data_handle_t a, starpu_data_handle_t b, double us, int priority)
{
	must(starpu_mpi_task_insert(MPI_COMM_WORLD, &take_cl, STARPU_RW, a, STARPU_R, b,
				    STARPU_FLOPS, us, STARPU_PRIORITY, priority, 0),
	     "insert");
}

static void insert_join(starpu_data_handle_t a, starpu_data_handle_t b, starpu_data_handle_t c,
			double us, int priority)
{
	must(starpu_mpi_task_insert(MPI_COMM_WORLD, &join_cl, STARPU_RW, a, STARPU_R, b, STARPU_R,
				    c, STARPU_FLOPS, us, STARPU_PRIORITY, priority, 0),
	     "insert");
}

static void cholesky(void)
{
	for (int k = 0; k < n; k++) {
		insert_change(tile(k, k), kernel_us / 6.0, 3 * (n - k));
		for (int i = k + 1; i < n; i++)
			insert_take(tile(i, k), tile(k, k), kernel_us / 2.0, 3 * (n - k) - i + k);
		for (int j = k + 1; j < n; j++) {
			insert_take(tile(j, j), tile(j, k), kernel_us / 2.0,
				    3 * (n - k) - 2 * (j - k));
			for (int i = j + 1; i < n; i++)
				insert_join(tile(i, j), tile(i, k), tile(j, k), kernel_us,
					    3 * (n - k) - i + k - j + k);
		}
	}
}

static void lu(void)
{
	for (int k = 0; k < n; k++) {
		insert_change(tile(k, k), kernel_us / 3.0, 3 * (n - k));
		for (int i = k + 1; i < n; i++) {
			insert_take(tile(i, k), tile(k, k), kernel_us / 2.0, 3 * (n - k) - i + k);
			insert_take(tile(k, i), tile(k, k), kernel_us / 2.0, 3 * (n - k) - i + k);
		}
		for (int i = k + 1; i < n; i++)
			for (int j = k + 1; j < n; j++)
				insert_join(tile(i, j), tile(i, k), tile(k, j), kernel_us,
					    3 * (n - k) - i + k - j + k);
	}
}

/* ---- iterations ---- */

/* Of a block: itself and its frame at even and odd times. */
static starpu_data_handle_t frame(int i, int j, int time)
{
	return data[3 * ((i + n) % n * n + (j + n) % n) + 1 + time % 2];
}

static void register_blocks(void)
{
	new_data(3 * n * n);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			int owner = i * rows / n * columns + j * columns / n, b = 3 * (i * n + j);
			new_datum(b, owner, 8);
			new_datum(b + 1, owner, bytes);
			new_datum(b + 2, owner, bytes);
		}
}

static void stencil(void)
{
	for (int t = 0; t < steps; t++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				must(starpu_mpi_task_insert(
					     MPI_COMM_WORLD, &block_cl, STARPU_RW,
					     data[3 * (i * n + j)], STARPU_W, frame(i, j, t + 1),
					     STARPU_R, frame(i - 1, j, t), STARPU_R,
					     frame(i + 1, j, t), STARPU_R, frame(i, j - 1, t),
					     STARPU_R, frame(i, j + 1, t), STARPU_FLOPS,
					     (double) kernel_us, STARPU_PRIORITY, -t, 0),
				     "insert");
}

/* Strips of p and q, then the two sums. */
static void register_strips(void)
{
	int strips = n * size;

	new_data(2 * strips + 2);
	for (int s = 0; s < strips; s++) {
		new_datum(s, s / n, bytes);
		new_datum(strips + s, s / n, 8);
	}
	for (int i = 0; i < 2; i++) {
		new_datum(2 * strips + i, 0, 8);
		starpu_data_set_reduction_methods(data[2 * strips + i], &sum_cl, &zero_cl);
	}
}

static void insert_sum(starpu_data_handle_t sum, starpu_data_handle_t *of, int strips)
{
	must(starpu_mpi_task_insert(MPI_COMM_WORLD, &zero_cl, STARPU_W, sum, 0), "insert");
	for (int s = 0; s < strips; s++)
		must(starpu_mpi_task_insert(MPI_COMM_WORLD, &part_cl, STARPU_MPI_REDUX, sum,
					    STARPU_R, of[s], STARPU_EXECUTE_ON_DATA, of[s],
					    STARPU_FLOPS, kernel_us / 10.0, 0),
		     "insert");
}

static void cg(void)
{
	int strips = n * size;
	starpu_data_handle_t *p = data, *q = data + strips, *sum = data + 2 * strips;

	for (int t = 0; t < steps; t++) {
		for (int s = 0; s < strips; s++)
			must(starpu_mpi_task_insert(
				     MPI_COMM_WORLD, &apply_cl, STARPU_W, q[s], STARPU_R, p[s],
				     STARPU_R, p[(s + strips - 1) % strips], STARPU_R,
				     p[(s + 1) % strips], STARPU_FLOPS, (double) kernel_us, 0),
			     "insert");
		insert_sum(sum[0], q, strips);
		for (int s = 0; s < strips; s++)
			insert_take(q[s], sum[0], kernel_us / 5.0, 0);
		insert_sum(sum[1], q, strips);
		for (int s = 0; s < strips; s++)
			insert_join(p[s], q[s], sum[1], kernel_us / 5.0, 0);
	}
}

/* ---- messages ---- */

/* A datum for all in turns, then those that read it. */
static void register_broadcast(void)
{
	new_data(2 + n * size);
	for (int i = 0; i < 2; i++)
		new_datum(i, i * (size / 2), bytes);
	for (int i = 0; i < n * size; i++)
		new_datum(2 + i, i % size, 8);
}

static void broadcast(void)
{
	for (int t = 0; t < steps; t++) {
		insert_change(data[t % 2], kernel_us, 1);
		for (int i = 0; i < n * size; i++)
			insert_take(data[2 + i], data[t % 2], kernel_us, 0);
	}
}

/* The account of each rank, then for each pair what the first sends to the second. */
static starpu_data_handle_t parcel(int from, int to)
{
	return data[size + from * size + to];
}

static void register_parcels(void)
{
	new_data(size + size * size);
	for (int r = 0; r < size; r++) {
		new_datum(r, r, 8);
		for (int to = 0; to < size; to++)
			if (to != r)
				new_datum(size + r * size + to, r, bytes);
	}
}

static void alltoall(void)
{
	for (int t = 0; t < steps; t++) {
		for (int i = 1; i < size; i++)
			for (int r = 0; r < size; r++)
				must(starpu_mpi_task_insert(MPI_COMM_WORLD, &take_cl, STARPU_RW,
							    parcel(r, (r + i) % size), STARPU_R,
							    data[r], STARPU_FLOPS, 1.0,
							    STARPU_PRIORITY, 1, 0),
				     "insert");
		for (int i = 1; i < size; i++)
			for (int r = 0; r < size; r++)
				insert_take(data[r], parcel((r + size - i) % size, r),
					    kernel_us / (size - 1.0), 0);
	}
}

static void register_drawn(void)
{
	new_data(4 * size);
	for (int i = 0; i < ndata; i++)
		new_datum(i, i % size, bytes / 2 + bytes / 4 * (i / size));
}

static void draw(void)
{
	for (int t = 0; t < steps * n; t++) {
		int of[4];
		uint64_t x = mix((uint64_t) seed << 32 | (unsigned) t);
		for (int i = 0; i < 4; i++) {
			int again;
			do {
				x = mix(x);
				of[i] = (int) (x % (unsigned) ndata);
				again = 0;
				for (int j = 0; j < i; j++)
					again |= of[j] == of[i];
			} while (again);
		}
		x = mix(x);
		must(starpu_mpi_task_insert(MPI_COMM_WORLD, &draw_cl, STARPU_RW, data[of[0]],
					    STARPU_R, data[of[1]], STARPU_R, data[of[2]], STARPU_R,
					    data[of[3]], STARPU_FLOPS,
					    kernel_us * (0.5 + (double) (x % 1024) / 1024),
					    STARPU_PRIORITY, -t, 0),
		     "insert");
	}
}

/* ---- the run ---- */

static const struct {
	const char *name;
	void (*prepare)(void), (*insert)(void);
	int whole; /* the factorisation of a whole matrix */
} graphs[] = { { "cholesky", NULL, cholesky, 0 },
	       { "lu", NULL, lu, 1 },
	       { "stencil", register_blocks, stencil, 0 },
	       { "cg", register_strips, cg, 0 },
	       { "broadcast", register_broadcast, broadcast, 0 },
	       { "alltoall", register_parcels, alltoall, 0 },
	       { "random", register_drawn, draw, 0 } };

static int run(void)
{
	unsigned g = 0;
	double start_us;
	uint64_t sum;

	while (g < sizeof(graphs) / sizeof(graphs[0]) && (!graph || strcmp(graph, graphs[g].name)))
		g++;
	if (g == sizeof(graphs) / sizeof(graphs[0])) {
		if (rank == 0)
			fprintf(stderr, "bed: '%s' is no graph; usage: bed %s", graph ? graph : "",
				usage);
		return 1;
	}
	for (rows = 1; (rows + 1) * (rows + 1) <= size; rows++)
		continue;
	while (size % rows)
		rows--;
	columns = size / rows;
	if (graphs[g].prepare)
		graphs[g].prepare();
	else
		register_tiles(graphs[g].whole);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_us = starpu_timing_now();
	graphs[g].insert();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start_us = starpu_timing_now() - start_us;
	sum = check();
	if (rank == 0)
		printf("bed %s ranks=%d n=%d steps=%d bytes=%d us=%d time_s=%.6f check=%016llx\n",
		       graph, size, n, steps, bytes, kernel_us, start_us * 1e-6,
		       (unsigned long long) sum);
	for (int i = 0; i < ndata; i++)
		if (data[i])
			starpu_data_unregister(data[i]);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-n", NULL, 1, 1000, &n))
			;
		else if (options_int(&o, "--steps", NULL, 1, 1000000, &steps))
			;
		else if (options_int(&o, "--bytes", NULL, 64, 1 << 30, &bytes))
			;
		else if (options_int(&o, "--kib", NULL, 1, 1 << 20, &kib))
			bytes = kib << 10;
		else if (options_int(&o, "--us", NULL, 0, 100000000, &kernel_us))
			;
		else if (options_int(&o, "--seed", NULL, 0, 1 << 30, &seed))
			;
		else if (!graph && o.argv[o.at][0] != '-')
			graph = o.argv[o.at++];
		else
			options_unknown(&o);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	ret = options_report(&o, rank, "bed", usage);
	if (ret < 0)
		ret = run();
	starpu_mpi_shutdown();
	return ret;
}
