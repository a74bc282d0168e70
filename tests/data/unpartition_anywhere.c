/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_data_unpartition(h, -1) leaves the value where it is, for data with and without home, and
 * for pieces that are partitioned themselves.
 * orr-test: env STARPU_NCPU=2 ORRERY_FAKE_DEVICES=1 */
#include "data/mem_test.h"

#define N 64

static void set_func(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] = 10;
}

static struct starpu_codelet set_cl = {
	.cpu_funcs = { set_func }, .nbuffers = 1, .modes = { STARPU_W }, .name = "set"
};

static void cut_and_join(int home, int *v)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 4 };
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, home, (uintptr_t) v, N, sizeof(int));
	starpu_data_map_filters(h, 2, &f, &f);
	for (int i = 0; i < 16; i++)
		CHECK(starpu_task_insert(&set_cl, STARPU_W,
					 starpu_data_get_sub_data(h, 2, i / 4, i % 4), 0) == 0);
	add_on(starpu_data_get_sub_data(h, 2, 3, 3), 0, 5);
	starpu_data_unpartition(h, (unsigned) -1);
	CHECK(starpu_data_get_nb_children(h) == 0);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	for (int i = 0; i < N; i++)
		CHECK(((int *) starpu_data_get_local_ptr(h))[i] == (i < N - N / 16 ? 10 : 15));
	starpu_data_release(h);
	starpu_data_unregister(h);
}

int main(void)
{
	int v[N] = { 0 };

	start();
	cut_and_join(-1, NULL);
	cut_and_join(STARPU_MAIN_RAM, v);
	CHECK(v[0] == 10 && v[N - 1] == 15);
	starpu_shutdown();
	return 0;
}
