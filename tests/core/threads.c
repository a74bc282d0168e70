/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Submission from several threads, from tasks and from callbacks, with overlapping sets of data.
 *
 * Each thread asks for pairs and triples of the same data in its own order. Invariant: no deadlock,
 * no lost update. */
#include "core_test.h"

#define NTHREADS 4
#define NDATA 6
#define PER_THREAD 400

static starpu_data_handle_t h[NDATA];
static int data[NDATA], expected[NDATA], inner;

static void kernel(void *buffers[], void *arg)
{
	int i, n = (int) STARPU_TASK_GET_NBUFFERS(starpu_task_get_current());

	(void) arg;
	for (i = 0; i < n; i++)
		if (STARPU_TASK_GET_MODE(starpu_task_get_current(), i) & STARPU_W)
			++*core_int(buffers[i]);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .nbuffers = STARPU_VARIABLE_NBUFFERS };

static void *submitter(void *arg)
{
	unsigned seed = 77u + (unsigned) (intptr_t) arg;

	for (int i = 0; i < PER_THREAD; i++) {
		struct starpu_data_descr d[3];
		unsigned first = (seed = seed * 1103515245u + 12345u) >> 16;

		for (int k = 0; k < 3; k++) {
			int which = (int) ((first + (unsigned) k * (1 + first % 2)) % NDATA);

			d[k].handle = h[which];
			d[k].mode = (first >> k) & 1 ? STARPU_RW : STARPU_R;
			if (first % 7 == 0)
				d[k].mode = STARPU_RW | STARPU_COMMUTE;
			if (d[k].mode != STARPU_R)
				INCR(expected[which]);
		}
		CHECK_IS(starpu_task_insert(&cl, STARPU_DATA_MODE_ARRAY, d, 3, 0), 0);
		if (i % 100 == 99)
			CHECK_IS(starpu_task_wait_for_all(), 0);
	}
	return NULL;
}

static void from_threads(void)
{
	starpu_pthread_t t[NTHREADS];

	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_CREATE(&t[i], NULL, submitter, (void *) (intptr_t) i);
	for (int i = 0; i < NTHREADS; i++)
		STARPU_PTHREAD_JOIN(t[i], NULL);
	starpu_task_wait_for_all();
}

/* A tree of tasks that submit tasks. */
static void tree_kernel(void *buffers[], void *arg);
static struct starpu_codelet tree_cl = { .cpu_funcs = { tree_kernel } };

static void tree_kernel(void *buffers[], void *arg)
{
	int depth = (int) (intptr_t) arg, i;

	(void) buffers;
	INCR(inner);
	for (i = 0; depth > 0 && i < 3; i++)
		CHECK_IS(starpu_task_insert(&tree_cl, STARPU_CL_ARGS_NFREE,
					    (void *) (intptr_t) (depth - 1), sizeof(int), 0),
			 0);
	if (depth == 0)
		CHECK_IS(starpu_task_insert(&cl, STARPU_RW, h[0], STARPU_R, h[1], 0), 0);
}

static void chain(void *arg)
{
	intptr_t left = (intptr_t) arg;

	INCR(inner);
	if (left > 0)
		CHECK_IS(starpu_task_insert(&cl, STARPU_RW, h[2], STARPU_CALLBACK_WITH_ARG_NFREE,
					    chain, (void *) (left - 1), 0),
			 0);
}

int main(void)
{
	static const char *const policies[] = { "lws", "prio" };

	for (int round = 0; round < 2; round++) {
		core_start(2 + round, policies[round]);
		for (int i = 0; i < NDATA; i++) {
			data[i] = expected[i] = 0;
			h[i] = core_register(&data[i]);
		}
		from_threads();
		inner = 0;
		CHECK_IS(starpu_task_insert(&tree_cl, STARPU_CL_ARGS_NFREE, (void *) 5, sizeof(int),
					    0),
			 0);
		starpu_task_wait_for_all();
		CHECK_IS(inner, 1 + 3 + 9 + 27 + 81 + 243);
		expected[0] += 243;
		inner = 0;
		chain((void *) 100);
		starpu_task_wait_for_all();
		CHECK_IS(inner, 101);
		expected[2] += 100;
		for (int i = 0; i < NDATA; i++) {
			starpu_data_unregister(h[i]);
			CHECK_IS(data[i], expected[i]);
		}
		starpu_shutdown();
	}
	return 0;
}
