/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-bench: alone */
/* What a partition costs: a vector in 10,000 pieces, planned, cut, one task for each piece,
 * gathered, cleaned.
 *
 * Prints the median over rounds in microseconds per piece. Invariant: each round is checked by the
 * sum that the tasks leave; the number that counts is plan + submit. */
#include <starpu.h>

#include <stdio.h>
#include <stdlib.h>

#define PIECES 10000
#define ROUNDS 21

enum { PLAN, CUT, TASKS, GATHER, CLEAN, NSTEPS };
static const char *const names[] = { "plan", "partition_submit", "tasks", "unpartition_submit",
				     "clean" };

static void increment(void *buffers[], void *arg)
{
	(void) arg;
	++*(int *) STARPU_VECTOR_GET_PTR(buffers[0]);
}

static struct starpu_codelet cl = {
	.cpu_funcs = { increment }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "increment"
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static double step(double *last)
{
	double now = starpu_timing_now(), us = now - *last;

	*last = now;
	return us / PIECES;
}

static void run(starpu_data_handle_t h, starpu_data_handle_t *pieces, double us[NSTEPS])
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block,
					.nchildren = PIECES };
	double last = starpu_timing_now();

	starpu_data_partition_plan(h, &f, pieces);
	us[PLAN] = step(&last);
	starpu_data_partition_submit(h, PIECES, pieces);
	us[CUT] = step(&last);
	for (unsigned i = 0; i < PIECES; i++)
		if (starpu_task_insert(&cl, STARPU_RW, pieces[i], 0))
			abort();
	us[TASKS] = step(&last);
	starpu_data_unpartition_submit(h, PIECES, pieces, STARPU_MAIN_RAM);
	starpu_task_wait_for_all();
	us[GATHER] = step(&last);
	starpu_data_partition_clean(h, PIECES, pieces);
	us[CLEAN] = step(&last);
}

int main(void)
{
	static double us[NSTEPS][ROUNDS];
	static double both[ROUNDS];
	starpu_data_handle_t h, *pieces = malloc(PIECES * sizeof(*pieces));
	int *v = calloc(PIECES, sizeof(*v));
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	if (starpu_init(&conf))
		return 77;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, PIECES, sizeof(*v));
	for (unsigned r = 0; r < ROUNDS + 1; r++) {
		double one[NSTEPS];

		run(h, pieces, one);
		for (unsigned i = 0; r && i < NSTEPS; i++)
			us[i][r - 1] = one[i];
		if (r)
			both[r - 1] = one[PLAN] + one[CUT];
	}
	starpu_data_unregister(h);
	for (unsigned i = 0; i < NSTEPS; i++) {
		qsort(us[i], ROUNDS, sizeof(double), by_value);
		printf("filters %s: median %.3f us per piece (min %.3f, max %.3f)\n", names[i],
		       us[i][ROUNDS / 2], us[i][0], us[i][ROUNDS - 1]);
	}
	qsort(both, ROUNDS, sizeof(double), by_value);
	printf("filters plan_and_submit: median %.3f us per piece (min %.3f, max %.3f; goal 1)\n",
	       both[ROUNDS / 2], both[0], both[ROUNDS - 1]);
	for (unsigned i = 0; i < PIECES; i++)
		if (v[i] != ROUNDS + 1) {
			fprintf(stderr, "element %u is %d, should be %d\n", i, v[i], ROUNDS + 1);
			return 1;
		}
	starpu_shutdown();
	free(v);
	free(pieces);
	return 0;
}
