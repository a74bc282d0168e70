/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks with more data than STARPU_NMAXBUFS, by fields and by markers, with and without modes in
 * the codelet.
 *
 * Invariant: each of the N data is incremented once per task, in the order of submission. */
#include "core_test.h"

#define N (3 * STARPU_NMAXBUFS + 1)

static void kernel(void *buffers[], void *arg)
{
	struct starpu_task *task = starpu_task_get_current();
	unsigned i, n = STARPU_TASK_GET_NBUFFERS(task);

	(void) arg;
	for (i = 0; i < n; i++) {
		CHECK_IS(STARPU_TASK_GET_MODE(task, i), STARPU_RW);
		CHECK(STARPU_TASK_GET_HANDLE(task, i) != NULL);
		++*core_int(buffers[i]);
	}
}

static enum starpu_data_access_mode modes[N];
static struct starpu_codelet fixed_cl = { .cpu_funcs = { kernel },
					  .nbuffers = N,
					  .dyn_modes = modes };
/* Its modes are given by each insertion. */
static struct starpu_codelet silent_cl = { .cpu_funcs = { kernel }, .nbuffers = N };
static struct starpu_codelet open_cl = { .cpu_funcs = { kernel },
					 .nbuffers = STARPU_VARIABLE_NBUFFERS };

static void by_fields(struct starpu_codelet *cl, starpu_data_handle_t *h)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->nbuffers = N;
	task->dyn_handles = malloc(N * sizeof(*task->dyn_handles));
	if (cl == &open_cl)
		task->dyn_modes = malloc(N * sizeof(*task->dyn_modes));
	for (unsigned i = 0; i < N; i++) {
		STARPU_TASK_SET_HANDLE(task, h[i], i);
		if (cl == &open_cl)
			task->dyn_modes[i] = STARPU_RW;
	}
	CHECK_IS(starpu_task_submit(task), 0);
}

int main(void)
{
	starpu_data_handle_t h[N];
	struct starpu_data_descr d[N];
	struct starpu_task *task;
	int x[N] = { 0 }, i, k;

	core_start(2, NULL);
	for (i = 0; i < N; i++) {
		modes[i] = STARPU_RW;
		h[i] = core_register(&x[i]);
		d[i].handle = h[i];
		d[i].mode = STARPU_RW;
	}
	for (k = 0; k < 20; k++) {
		by_fields(&fixed_cl, h);
		by_fields(&open_cl, h);
		CHECK_IS(starpu_task_insert(&fixed_cl, STARPU_DATA_ARRAY, h, (int) N, 0), 0);
		CHECK_IS(starpu_task_insert(&open_cl, STARPU_DATA_MODE_ARRAY, d, (int) N, 0), 0);
		CHECK_IS(starpu_task_insert(&silent_cl, STARPU_DATA_MODE_ARRAY, d, (int) N, 0), 0);
		CHECK_IS(starpu_task_insert(&open_cl, STARPU_RW, h[0], STARPU_DATA_MODE_ARRAY,
					    d + 1, (int) N - 2, STARPU_RW, h[N - 1], 0),
			 0);
		CHECK_IS(starpu_task_insert(&open_cl, STARPU_RW, h[0], STARPU_RW, h[1], 0), 0);
	}
	/* A copy of a task has its own lists. */
	task = starpu_task_build(&open_cl, STARPU_DATA_MODE_ARRAY, d, (int) N, 0);
	CHECK_IS(starpu_task_submit(starpu_task_dup(task)), 0);
	CHECK_IS(starpu_task_submit(task), 0);
	for (i = 0; i < N; i++) {
		starpu_data_unregister(h[i]);
		CHECK_IS(x[i], 6 * 20 + 2 + (i < 2 ? 20 : 0));
	}
	starpu_shutdown();
	return 0;
}
