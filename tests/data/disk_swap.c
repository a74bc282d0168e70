/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env STARPU_NCPU=2 ORRERY_FAKE_DEVICES=1 STARPU_LIMIT_CPU_MEM=2 STARPU_LIMIT_CUDA_MEM=1 */
/* Main memory overflows to disk: 8 MiB of data without home on 2 MiB of main memory and 1 MiB of
 * device memory; those that may not go to a disk stay, whatever their age. */
#include "data/mem_test.h"

#define NDATA 32
#define N (64 << 10) /* ints: 256 KiB each */

static void set_func(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);
	int first;

	starpu_codelet_unpack_args(arg, &first);
	for (int i = 0; i < N; i++)
		v[i] = first + i;
}

static struct starpu_codelet set_cl = {
	.cpu_funcs = { set_func }, .nbuffers = 1, .modes = { STARPU_W }, .name = "set"
};

/* The datum may be evicted, or a worker without tasks is doing that or has done it. */
static void may_go(starpu_data_handle_t h)
{
	while (!starpu_data_can_evict(h, STARPU_MAIN_RAM, STARPU_FETCH) &&
	       starpu_data_is_on_node(h, STARPU_MAIN_RAM))
		starpu_usleep(100);
}

/* The first datum and each third one stay in main memory while the others pass through it. */
static void kept(starpu_data_handle_t *h)
{
	for (int i = 0; i < 12; i += 3)
		starpu_data_set_ooc_flag(h[i], 0);
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 12; i++)
			CHECK(starpu_data_acquire(h[i], STARPU_RW) == 0 &&
			      (starpu_data_release(h[i]), 1));
	for (int i = 0; i < 12; i += 3) {
		CHECK(starpu_data_is_on_node(h[i], STARPU_MAIN_RAM) &&
		      !starpu_data_can_evict(h[i], STARPU_MAIN_RAM, STARPU_FETCH));
		CHECK(starpu_data_evict_from_node(h[i], STARPU_MAIN_RAM) != 0 &&
		      starpu_data_is_on_node(h[i], STARPU_MAIN_RAM));
		starpu_data_set_ooc_flag(h[i], 1);
		may_go(h[i]);
	}
	CHECK(!starpu_data_is_on_node(h[1], STARPU_MAIN_RAM));
}

int main(void)
{
	starpu_data_handle_t h[NDATA];
	int i, k, value[NDATA];

	setenv("STARPU_DISK_SWAP", getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp", 1);
	start();
	for (i = 0; i < NDATA; i++) {
		value[i] = i * 1000;
		starpu_vector_data_register(&h[i], -1, 0, N, sizeof(int));
		CHECK(starpu_task_insert(&set_cl, STARPU_VALUE, &value[i], sizeof(int), STARPU_W,
					 h[i], 0) == 0);
	}
	for (k = 0; k < 3; k++)
		for (i = 0; i < NDATA; i++)
			add_on(h[i], k == 1 ? 0 : -1, k + 1);
	kept(h);
	for (i = 0; i < NDATA; i++) {
		int *v;

		CHECK(starpu_data_acquire(h[i], STARPU_R) == 0);
		v = starpu_data_get_local_ptr(h[i]);
		for (k = 0; k < N; k++)
			CHECK(v[k] == value[i] + k + 6);
		starpu_data_release(h[i]);
		CHECK(starpu_memory_get_used(STARPU_MAIN_RAM) <= 2 << 20);
	}
	for (i = 0; i < NDATA; i++)
		starpu_data_unregister(h[i]);
	starpu_shutdown();
	return 0;
}
