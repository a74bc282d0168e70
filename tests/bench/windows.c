/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-bench: alone */
/* Many small tasks on overlapping windows with changing priorities, the pattern of reordering the
 * eigenvalues of a triangular matrix: a window of two tiles moves up the diagonal, its tasks are
 * urgent; each leaves updates of the tiles beside it, which are the less urgent the farther away
 * they are. Several windows are under way at once and meet on the tiles between them.
 *
 * Prints the median over rounds of microseconds per round, for each policy. The same source
 * compiles against any runtime with this interface (tests/bench/compare_starpu.sh). Invariant: each
 * tile is changed by every task that names it, in the order of submission, which a checksum
 * verifies. */
#include <starpu.h>

#include <stdio.h>
#include <stdlib.h>

#define TILES 24
#define SIZE 64 /* a tile has SIZE x SIZE values */
#define WINDOWS 10
#define ROUNDS 11

static double *tile[TILES][TILES];
static starpu_data_handle_t handle[TILES][TILES];

static void rotate(double *a, double *b)
{
	for (int i = 0; i < SIZE * SIZE; i++) {
		double x = a[i], y = b[i];

		a[i] = 0.8 * x + 0.6 * y;
		b[i] = -0.6 * x + 0.8 * y;
	}
}

static double *values(void *buffer)
{
	return (double *) STARPU_MATRIX_GET_PTR(buffer);
}

static void swap_kernel(void *buffers[], void *arg)
{
	(void) arg;
	for (int k = 0; k < 4; k++)
		rotate(values(buffers[0]), values(buffers[2]));
	rotate(values(buffers[0]), values(buffers[1]));
}

static void update_kernel(void *buffers[], void *arg)
{
	(void) arg;
	rotate(values(buffers[0]), values(buffers[1]));
}

static struct starpu_codelet swap_cl = { .cpu_funcs = { swap_kernel },
					 .nbuffers = 3,
					 .modes = { STARPU_RW, STARPU_RW, STARPU_RW },
					 .name = "swap" };
static struct starpu_codelet update_cl = { .cpu_funcs = { update_kernel },
					   .nbuffers = 2,
					   .modes = { STARPU_RW, STARPU_RW },
					   .name = "update" };

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static int priority(int urgency)
{
	int top = starpu_sched_get_max_priority(), bottom = starpu_sched_get_min_priority();

	return top - urgency < bottom ? bottom : top - urgency;
}

static void insert_update(starpu_data_handle_t a, starpu_data_handle_t b, int urgency)
{
	if (starpu_task_insert(&update_cl, STARPU_RW, a, STARPU_RW, b, STARPU_PRIORITY,
			       priority(urgency), 0))
		abort();
}

/* The window on tiles i and i + 1. */
static void insert_window(int i)
{
	if (starpu_task_insert(&swap_cl, STARPU_RW, handle[i][i], STARPU_RW, handle[i][i + 1],
			       STARPU_RW, handle[i + 1][i + 1], STARPU_PRIORITY, priority(0), 0))
		abort();
	for (int j = i + 2; j < TILES; j++)
		insert_update(handle[i][j], handle[i + 1][j], 1 + j - i);
	for (int k = 0; k < i; k++)
		insert_update(handle[k][i], handle[k][i + 1], 1 + i - k);
}

static double round_us(void)
{
	double start = starpu_timing_now();

	for (int w = 0; w < WINDOWS; w++)
		for (int i = TILES - 2 - w; i >= w; i--)
			insert_window(i);
	starpu_task_wait_for_all();
	return starpu_timing_now() - start;
}

static void fill(void)
{
	for (int i = 0; i < TILES; i++)
		for (int j = i; j < TILES; j++)
			for (int k = 0; k < SIZE * SIZE; k++)
				tile[i][j][k] = i + 0.5 * j + 0.001 * k;
}

static double checksum(void)
{
	double sum = 0;

	for (int i = 0; i < TILES; i++)
		for (int j = i; j < TILES; j++)
			for (int k = 0; k < SIZE * SIZE; k++)
				sum += tile[i][j][k] * (i + 2 * j + 1);
	return sum;
}

static double measure(const char *policy)
{
	struct starpu_conf conf;
	double v[ROUNDS];

	starpu_conf_init(&conf);
	conf.sched_policy_name = policy;
	conf.ncpus = 2;
	if (starpu_init(&conf))
		exit(77);
	fill();
	for (int i = 0; i < TILES; i++)
		for (int j = i; j < TILES; j++)
			starpu_matrix_data_register(&handle[i][j], STARPU_MAIN_RAM,
						    (uintptr_t) tile[i][j], SIZE, SIZE, SIZE,
						    sizeof(double));
	round_us();
	for (int k = 0; k < ROUNDS; k++)
		v[k] = round_us();
	for (int i = 0; i < TILES; i++)
		for (int j = i; j < TILES; j++)
			starpu_data_unregister(handle[i][j]);
	starpu_shutdown();
	qsort(v, ROUNDS, sizeof(*v), by_value);
	printf("windows %s: median %.0f us per round\n", policy, v[ROUNDS / 2]);
	return checksum();
}

int main(void)
{
	static const char *const policies[] = { "lws", "prio", "eager" };
	double first = 0;

	for (int i = 0; i < TILES; i++)
		for (int j = i; j < TILES; j++)
			tile[i][j] = malloc(SIZE * SIZE * sizeof(double));
	for (unsigned p = 0; p < sizeof(policies) / sizeof(*policies); p++) {
		double sum = measure(policies[p]);
		if (p && sum != first) {
			fprintf(stderr, "windows: the result differs with %s\n", policies[p]);
			return 1;
		}
		first = sum;
	}
	for (int i = 0; i < TILES; i++)
		for (int j = i; j < TILES; j++)
			free(tile[i][j]);
	return 0;
}
