/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of data: unregistration in its forms, data without home, invalidation, names and queries.
 *
 * Invariant: every form waits for, or comes after, the tasks submitted before it; a home buffer
 * then holds the last value. */
#include "core_test.h"

#define N 50

static void add_kernel(void *buffers[], void *arg)
{
	(void) arg;
	++*core_int(buffers[0]);
}

static void set_kernel(void *buffers[], void *arg)
{
	*core_int(buffers[0]) = (int) (intptr_t) arg;
}
static void get_kernel(void *buffers[], void *arg)
{
	*(int *) arg = *core_int(buffers[0]);
}

static struct starpu_codelet add = { .cpu_funcs = { add_kernel },
				     .nbuffers = 1,
				     .modes = { STARPU_RW } };
static struct starpu_codelet set = { .cpu_funcs = { set_kernel },
				     .nbuffers = 1,
				     .modes = { STARPU_W } };
static struct starpu_codelet get = { .cpu_funcs = { get_kernel },
				     .nbuffers = 1,
				     .modes = { STARPU_R } };

static void home(void)
{
	int x[N] = { 0 }, i, k;
	starpu_data_handle_t h[N];

	for (i = 0; i < N; i++) {
		h[i] = core_register(&x[i]);
		CHECK(starpu_data_get_local_ptr(h[i]) == &x[i]);
		for (k = 0; k < 10; k++)
			CHECK_IS(starpu_task_insert(&add, STARPU_RW, h[i], 0), 0);
	}
	for (i = 0; i < N; i++)
		switch (i % 3) {
		case 0:
			starpu_data_unregister(h[i]);
			CHECK_IS(x[i], 10);
			break;
		case 1: starpu_data_unregister_submit(h[i]); break;
		case 2: starpu_data_unregister_no_coherency(h[i]); break;
		}
	starpu_task_wait_for_all();
	for (i = 0; i < N; i++)
		CHECK(i % 3 == 2 || x[i] == 10);
}

/* Allocated when first written. */
static void homeless(void)
{
	int got[N], i;

	for (i = 0; i < N; i++) {
		starpu_data_handle_t h;

		starpu_variable_data_register(&h, -1, 0, sizeof(int));
		CHECK(!starpu_data_test_if_allocated_on_node(h, STARPU_MAIN_RAM));
		CHECK_IS(starpu_task_insert(&set, STARPU_W, h, STARPU_CL_ARGS_NFREE,
					    (void *) (intptr_t) i, sizeof(int), 0),
			 0);
		CHECK_IS(starpu_task_insert(&add, STARPU_RW, h, 0), 0);
		CHECK_IS(starpu_task_insert(&get, STARPU_R, h, STARPU_CL_ARGS_NFREE, &got[i],
					    sizeof(int), 0),
			 0);
		if (i % 2)
			starpu_data_unregister_submit(h);
		else
			starpu_data_unregister(h);
	}
	starpu_task_wait_for_all();
	for (i = 0; i < N; i++)
		CHECK_IS(got[i], i + 1);
}

static void invalidate(void)
{
	starpu_data_handle_t h;
	int got = 0, allocated, valid, requested;

	starpu_variable_data_register(&h, -1, 0, sizeof(int));
	for (int i = 0; i < 4; i++) {
		CHECK_IS(starpu_task_insert(&set, STARPU_W, h, STARPU_CL_ARGS_NFREE, (void *) 3,
					    sizeof(int), 0),
			 0);
		CHECK_IS(starpu_task_insert(&get, STARPU_R, h, STARPU_CL_ARGS_NFREE, &got,
					    sizeof(int), 0),
			 0);
		switch (i) {
		case 0: starpu_data_invalidate_submit(h); break;
		case 1: starpu_data_invalidate(h); break;
		case 2: starpu_data_deinitialize_submit(h); break;
		case 3: starpu_data_deinitialize(h); break;
		}
		starpu_task_wait_for_all();
		CHECK_IS(got, 3);
		got = 0;
		CHECK_IS(starpu_data_acquire_on_node(h, STARPU_ACQUIRE_NO_NODE, STARPU_W), 0);
		starpu_data_query_status(h, STARPU_MAIN_RAM, &allocated, &valid, &requested);
		CHECK_IS(valid, 0);
		starpu_data_release_on_node(h, STARPU_ACQUIRE_NO_NODE);
	}
	starpu_data_unregister(h);
}

static void queries(void)
{
	int x = 4, tag, allocated, valid, requested;
	starpu_data_handle_t h = core_register(&x);

	starpu_data_set_name(h, "x");
	starpu_data_set_coordinates(h, 2, 3, 4);
	starpu_data_set_user_data(h, &tag);
	CHECK(starpu_data_get_user_data(h) == &tag);
	starpu_data_set_sched_data(h, &x);
	CHECK(starpu_data_get_sched_data(h) == &x);
	starpu_data_query_status(h, STARPU_MAIN_RAM, &allocated, &valid, &requested);
	CHECK(allocated && valid);
	CHECK(starpu_data_is_on_node(h, STARPU_MAIN_RAM));
	CHECK(starpu_data_test_if_allocated_on_node(h, STARPU_MAIN_RAM));
	CHECK_IS(starpu_data_fetch_on_node(h, STARPU_MAIN_RAM, 0), 0);
	CHECK_IS(starpu_data_prefetch_on_node(h, STARPU_MAIN_RAM, 1), 0);
	starpu_data_set_name(h, NULL);
	starpu_data_unregister(h);
}

int main(void)
{
	core_start(2, NULL);
	home();
	homeless();
	invalidate();
	queries();
	starpu_shutdown();
	return 0;
}
