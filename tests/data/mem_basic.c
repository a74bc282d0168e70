/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices cuda */
/* orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
/* Data move to devices and back: each kind of unit increments what the others left, prefetches and
 * queries on the way. */
#include "data/mem_test.h"

#define N 1000

static void check_location(starpu_data_handle_t h, unsigned node, int valid)
{
	int allocated, is_valid, requested;

	starpu_data_query_status(h, (int) node, &allocated, &is_valid, &requested);
	CHECK(is_valid == valid);
	CHECK(!valid || (allocated && starpu_data_test_if_allocated_on_node(h, node) &&
			 starpu_data_is_on_node(h, node)));
}

int main(void)
{
	starpu_data_handle_t h;
	int v[N];
	unsigned i, dev[2];

	start();
	if (starpu_cuda_worker_get_count() < 2)
		return 77;
	CHECK(starpu_memory_nodes_get_count() == 3);
	CHECK(starpu_memory_nodes_get_numa_count() == 1);
	for (i = 0; i < 2; i++)
		dev[i] = device_node(i);
	CHECK(starpu_node_get_kind(dev[0]) == STARPU_CUDA_RAM && dev[0] != dev[1]);
	for (i = 0; i < N; i++)
		v[i] = (int) i;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(*v));
	for (i = 0; i < 12; i++)
		add_on(h, i % 3 == 2 ? -1 : (int) (i % 3), 1);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	for (i = 0; i < N; i++)
		CHECK(v[i] == (int) i + 12);
	check_location(h, STARPU_MAIN_RAM, 1);
	starpu_data_release(h);
	CHECK(starpu_data_prefetch_on_node(h, dev[1], 0) == 0);
	check_location(h, dev[1], 1);
	check_location(h, STARPU_MAIN_RAM, 1);
	CHECK(starpu_data_evict_from_node(h, dev[1]) == 0);
	CHECK(!starpu_data_test_if_allocated_on_node(h, dev[1]));
	CHECK(starpu_data_fetch_on_node(h, dev[0], 0) == 0);
	CHECK(starpu_data_idle_prefetch_on_node(h, dev[1], 0) == 0);
	check_location(h, dev[0], 1);
	check_location(h, dev[1], 1);
	/* Written through the program on a device: the others lose their copies. */
	CHECK(starpu_data_acquire_on_node(h, (int) dev[0], STARPU_RW) == 0);
	check_location(h, dev[1], 0);
	check_location(h, STARPU_MAIN_RAM, 0);
	starpu_data_release_on_node(h, (int) dev[0]);
	CHECK(starpu_data_can_evict(h, dev[0], STARPU_FETCH));
	CHECK(starpu_data_evict_from_node(h, dev[0]) == 0);
	check_location(h, STARPU_MAIN_RAM, 1);
	add_on(h, 1, 5);
	starpu_data_wont_use(h);
	starpu_task_wait_for_all();
	CHECK(starpu_data_idle_prefetch_on_node_prio(h, dev[0], 1, 3) == 0);
	CHECK(starpu_data_prefetch_on_node_prio(h, dev[0], 1, 3) == 0);
	starpu_data_unregister(h);
	for (i = 0; i < N; i++)
		CHECK(v[i] == (int) i + 17);
	for (i = 0; i < 3; i++)
		CHECK(starpu_memory_get_used(i) == 0);
	starpu_shutdown();
	return 0;
}
