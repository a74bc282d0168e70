/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Wishes that a program may have about the place of its data, and see (handbook 27.2 to 27.4):
 * allocation, fetch, prefetches of each urgency, acquisition on a node in all forms, release to
 * less, wont_use, eviction, invalidation; each with the state that it leaves behind.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include "data/mem_test.h"

#include <errno.h>

#define N 500

static int v[N];
static starpu_data_handle_t h;
static unsigned dev[2];

struct state {
	int allocated, valid, loading, requested;
};

static struct state state_on(unsigned node)
{
	struct state s, t;

	starpu_data_query_status2(h, (int) node, &s.allocated, &s.valid, &s.loading, &s.requested);
	starpu_data_query_status(h, (int) node, &t.allocated, &t.valid, &t.requested);
	starpu_data_query_status2(h, (int) node, NULL, NULL, NULL, NULL);
	/* Between two calls, what is under way may have begun, and ended. */
	unsigned allocated = starpu_data_test_if_allocated_on_node(h, node);
	if (!s.loading && !s.requested)
		CHECK(s.allocated == t.allocated && s.valid == t.valid &&
		      (unsigned) s.allocated == allocated);
	CHECK(!starpu_data_test_if_mapped_on_node(h, node));
	return s;
}

static int is(unsigned node, int allocated, int valid)
{
	struct state s = state_on(node);

	return s.allocated == allocated && s.valid == valid && !s.loading && !s.requested;
}

static void eventually(unsigned node, int valid)
{
	while (!is(node, valid, valid))
		starpu_sleep(1e-5f);
}

/* A buffer without value; then a value from there and back. */
static void allocation(void)
{
	CHECK(is(STARPU_MAIN_RAM, 1, 1) && is(dev[0], 0, 0));
	CHECK(starpu_data_request_allocation(h, dev[0]) == 0);
	CHECK(is(dev[0], 1, 0));
	CHECK(starpu_memory_get_used(dev[0]) == sizeof(v));
	CHECK(starpu_data_request_allocation(h, dev[0]) == 0 &&
	      starpu_memory_get_used(dev[0]) == sizeof(v));
	CHECK(starpu_data_evict_from_node(h, dev[0]) == 0);
	CHECK(is(dev[0], 0, 0) && starpu_memory_get_used(dev[0]) == 0);
}

static void prefetches(void)
{
	CHECK(starpu_data_fetch_on_node(h, dev[0], 0) == 0 && is(dev[0], 1, 1) &&
	      is(STARPU_MAIN_RAM, 1, 1));
	CHECK(starpu_data_fetch_on_node(h, dev[1], 1) == 0);
	eventually(dev[1], 1);
	CHECK(starpu_data_evict_from_node(h, dev[1]) == 0 &&
	      starpu_data_prefetch_on_node(h, dev[1], 0) == 0 && is(dev[1], 1, 1));
	CHECK(starpu_data_evict_from_node(h, dev[1]) == 0 &&
	      starpu_data_prefetch_on_node_prio(h, dev[1], 1, 7) == 0);
	eventually(dev[1], 1);
	CHECK(starpu_data_evict_from_node(h, dev[1]) == 0 &&
	      starpu_data_idle_prefetch_on_node(h, dev[1], 0) == 0 && is(dev[1], 1, 1));
	CHECK(starpu_data_evict_from_node(h, dev[1]) == 0 &&
	      starpu_data_idle_prefetch_on_node_prio(h, dev[1], 1, 3) == 0);
	eventually(dev[1], 1);
	CHECK(is(dev[0], 1, 1) && is(STARPU_MAIN_RAM, 1, 1));
	/* After the tasks that write before. */
	add_on(h, 0, 1);
	CHECK(starpu_data_prefetch_on_node(h, dev[1], 0) == 0);
	CHECK(is(dev[1], 1, 1) && is(dev[0], 1, 1));
}

static int called;

static void callback(void *arg)
{
	int *where = arg;

	CHECK(starpu_data_is_on_node(h, (unsigned) *where));
	called++;
	starpu_data_release_on_node(h, *where);
}

static void acquisitions(void)
{
	int where[3] = { STARPU_MAIN_RAM, (int) dev[0], (int) dev[1] }, i;

	for (i = 0; i < 3; i++) {
		add_on(h, (i + 1) % 3 - 1, 1);
		CHECK(starpu_data_acquire_on_node(h, where[i], STARPU_R) == 0 &&
		      state_on((unsigned) where[i]).valid);
		starpu_data_release_on_node(h, where[i]);
		CHECK(starpu_data_acquire_on_node_try(h, where[i], STARPU_RW) == 0);
		CHECK(is((unsigned) where[(i + 1) % 3],
			 state_on((unsigned) where[(i + 1) % 3]).allocated,
			 0)); /* it may be written */
		CHECK(starpu_data_acquire_on_node_try(h, where[i], STARPU_R) == -EAGAIN);
		starpu_data_release_to_on_node(h, STARPU_R, where[i]);
		CHECK(starpu_data_acquire_on_node_try(h, STARPU_MAIN_RAM, STARPU_R) ==
		      0); /* readers join */
		starpu_data_release_on_node(h, STARPU_MAIN_RAM);
		CHECK(starpu_data_acquire_on_node_try(h, where[i], STARPU_W) == -EAGAIN);
		starpu_data_release_to_on_node(h, STARPU_NONE, where[i]);
		CHECK(starpu_data_acquire_on_node_cb(h, where[i], STARPU_R, callback, &where[i]) ==
		      0);
		CHECK(starpu_data_acquire_on_node_cb_sequential_consistency(
			      h, where[i], STARPU_RW, callback, &where[i], 0) == 0);
		CHECK(starpu_data_acquire_on_node(h, STARPU_ACQUIRE_NO_NODE, STARPU_RW) == 0);
		starpu_data_release_on_node(h, STARPU_ACQUIRE_NO_NODE);
	}
	CHECK(starpu_data_acquire(h, STARPU_RW) == 0);
	CHECK(called == 6);
	starpu_data_release(h);
}

/* Home, and the first to be evicted; eviction itself only when nobody uses it there. */
static void leaving(void)
{
	add_on(h, 0, 1);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(!state_on(STARPU_MAIN_RAM).valid);
	starpu_data_wont_use(h);
	while (!state_on(STARPU_MAIN_RAM).valid)
		starpu_sleep(1e-5f);
	CHECK(starpu_data_acquire_on_node(h, (int) dev[0], STARPU_R) == 0);
	CHECK(!starpu_data_can_evict(h, dev[0], STARPU_FETCH) &&
	      starpu_data_evict_from_node(h, dev[0]) == -EBUSY);
	starpu_data_release_on_node(h, (int) dev[0]);
	CHECK(starpu_data_can_evict(h, dev[0], STARPU_FETCH) &&
	      starpu_data_can_evict(h, dev[0], STARPU_IDLEFETCH));
	CHECK(starpu_data_evict_from_node(h, dev[0]) == 0 && is(dev[0], 0, 0));
	/* The only value is written back, for which speculation is no reason. */
	add_on(h, 1, 1);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(starpu_data_can_evict(h, dev[1], STARPU_FETCH) &&
	      !starpu_data_can_evict(h, dev[1], STARPU_IDLEFETCH));
	CHECK(starpu_data_evict_from_node(h, dev[1]) == 0 && is(dev[1], 0, 0) &&
	      is(STARPU_MAIN_RAM, 1, 1));
	CHECK(starpu_data_evict_from_node(h, dev[1]) == 0);               /* nothing is there */
	CHECK(starpu_data_evict_from_node(h, STARPU_MAIN_RAM) == -EBUSY); /* the program's buffer */
}

/* A value that is gone: buffers of the runtime, too, unless they are to be kept. */
static void invalidation(void)
{
	starpu_data_handle_t home = h;

	starpu_vector_data_register(&h, -1, 0, N, sizeof(*v));
	for (unsigned i = 0; i < 4; i++) {
		CHECK(starpu_data_acquire_on_node(h, (int) dev[0], STARPU_W) == 0);
		CHECK(is(STARPU_MAIN_RAM, 0, 0));
		starpu_data_release_on_node(h, (int) dev[0]);
		CHECK(starpu_data_prefetch_on_node(h, dev[1], 0) == 0 && is(dev[1], 1, 1));
		if (i == 0)
			starpu_data_invalidate(h);
		else if (i == 1)
			starpu_data_invalidate_submit(h);
		else if (i == 2)
			starpu_data_deinitialize(h);
		else
			starpu_data_deinitialize_submit(h);
		CHECK(starpu_task_wait_for_all() == 0 &&
		      starpu_data_acquire_on_node(h, STARPU_ACQUIRE_NO_NODE, STARPU_W) == 0);
		starpu_data_release_on_node(h, STARPU_ACQUIRE_NO_NODE);
		CHECK(is(dev[0], i >= 2, 0) && is(dev[1], i >= 2, 0));
		CHECK(starpu_data_prefetch_on_node(h, dev[0], 0) == 0 &&
		      !state_on(dev[0]).valid); /* there is nothing to bring */
		if (i == 2)
			starpu_data_invalidate(h);
	}
	starpu_data_unregister(h);
	h = home;
}

int main(void)
{
	start();
	if (starpu_cuda_worker_get_count() < 2)
		return 77;
	dev[0] = device_node(0);
	dev[1] = device_node(1);
	for (int i = 0; i < N; i++)
		v[i] = i;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(*v));
	allocation();
	prefetches();
	acquisitions();
	leaving();
	invalidation();
	starpu_data_unregister(h);
	for (int i = 0; i < N; i++)
		CHECK(v[i] == i + 6);
	for (int i = 0; i < 3; i++)
		CHECK(starpu_memory_get_used((unsigned) i) == 0);
	starpu_shutdown();
	return 0;
}
