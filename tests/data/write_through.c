/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices cuda */
/* Write-through masks (handbook 27.2): what a task wrote is copied to the nodes of the mask without
 * anybody asking, and nowhere else.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include "data/mem_test.h"

#define N 1000

static int v[N];
static starpu_data_handle_t h;

/* A set of memory nodes where the value is, as a mask. */
static unsigned where(void)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < starpu_memory_nodes_get_count(); i++)
		if (starpu_data_is_on_node(h, i))
			mask |= 1U << i;
	return mask;
}

/* After `unit` wrote: the copies come while others run, so they are waited for. They may not come
 * anywhere else. */
static void check_after(int unit, unsigned mask)
{
	unsigned writer = unit < 0 ? STARPU_MAIN_RAM : device_node((unsigned) unit),
		 want = (mask | 1U << writer) & 7;

	add_on(h, unit, 1);
	CHECK(starpu_task_wait_for_all() == 0);
	while (where() != want) {
		CHECK(!(where() & ~want));
		starpu_sleep(1e-5f);
	}
}

int main(void)
{
	static const unsigned masks[] = { 0, 1, 2, 3, 5, ~0U };
	int writes = 0;

	start();
	if (starpu_cuda_worker_get_count() < 2)
		return 77;
	for (int k = 0; k < N; k++)
		v[k] = k;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(*v));
	for (unsigned i = 0; i < sizeof(masks) / sizeof(*masks); i++) {
		starpu_data_set_wt_mask(h, masks[i]);
		for (int unit = -1; unit < 2; unit++, writes++)
			check_after(unit, masks[i]);
	}
	/* Main memory has the value: nothing moves to look at it. */
	for (int k = 0; k < N; k++)
		CHECK(v[k] == k + writes);
	/* The program writes, too. */
	CHECK(starpu_data_acquire_on_node(h, (int) device_node(1), STARPU_RW) == 0);
	CHECK(where() == 4);
	starpu_data_release_on_node(h, (int) device_node(1));
	while (where() != 7)
		starpu_sleep(1e-5f);
	/* It keeps what it wrote for reading. */
	CHECK(starpu_data_acquire(h, STARPU_RW) == 0);
	CHECK(where() == 1);
	starpu_data_release_to(h, STARPU_R);
	while (where() != 7)
		starpu_sleep(1e-5f);
	starpu_data_release(h);
	/* Pieces have the mask of what they are cut from. */
	{
		struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block,
						.nchildren = 2 };
		starpu_data_handle_t whole = h;

		starpu_data_set_wt_mask(whole, 1 << STARPU_MAIN_RAM);
		starpu_data_partition(whole, &f);
		h = starpu_data_get_child(whole, 1);
		check_after(0, 1);
		h = whole;
		starpu_data_unpartition(h, STARPU_MAIN_RAM);
	}
	starpu_data_unregister(h);
	for (int k = 0; k < N; k++)
		CHECK(v[k] == k + writes + (k >= N / 2));
	starpu_shutdown();
	return 0;
}
