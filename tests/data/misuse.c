/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices cuda */
/* Mistakes with data that a call can answer: each is refused with a message that names the culprit,
 * nothing changes, and the data are right at the end. Those that end the program are in tests/bad,
 * those of partitions in filter_bad.
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=2
 * orr-test: expect acquisition: the handle is NULL
 * orr-test: expect is not a registered data; was it unregistered before
 * orr-test: expect "leaving" was given to starpu_data_unregister_submit
 * orr-test: expect acquiring "v" with access mode STARPU_SCRATCH: it takes STARPU_R
 * orr-test: expect acquiring "v" on memory node 17: there are 2
 * orr-test: expect acquiring "v" with a callback that is NULL
 * orr-test: expect release of "v" on memory node 0, where it is not acquired
 * orr-test: expect release of "v" on memory node 1, where it is not acquired
 * orr-test: expect there is no memory node 9, they are numbered from 0 to 1
 * orr-test: expect packing of "v" on memory node 1, where it has no buffer: acquire it there first
 * orr-test: expect unpack of "v": 12 bytes given, its shape takes 160
 * orr-test: expect source and destination are both "v"
 * orr-test: expect have different interfaces
 * orr-test: expect too few for the 160 of "v"
 * orr-test: expect has another shape than
 * orr-test: expect task nothing, datum 0: .*is not a registered data
 * orr-test: expect task nothing, datum 0 \("v"\): its access mode is STARPU_NONE
 * orr-test: expect "v" is accessed with STARPU_REDUX but has no methods
 * orr-test: expect has an arbiter already
 * orr-test: expect tasks use it already
 * orr-test: expect arbiter of "v" is NULL
 * orr-test: expect there is no memory node 31, there are 2
 * orr-test: expect packing of "v": count is NULL
 * orr-test: expect peeking of "v": its 160 bytes are at NULL
 * orr-test: expect unpacking of "v": its 160 bytes are at NULL
 * orr-test: expect partition_submit: the children of "v" are NULL
 * orr-test: expect dup_ro of "v": there is nowhere to put the duplicate
 * orr-test: expect starpu_malloc: there is nowhere to put the address
 */
#include "data/mem_test.h"

#include <errno.h>

#define N 40

static int v[N], small[N / 2];
static starpu_data_handle_t h;

static void nothing_func(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet nothing_cl = {
	.cpu_funcs = { nothing_func }, .nbuffers = 1, .modes = { STARPU_R }, .name = "nothing"
};
static struct starpu_codelet no_mode_cl = { .cpu_funcs = { nothing_func },
					    .nbuffers = 1,
					    .name = "nothing" };
static struct starpu_codelet redux_cl = {
	.cpu_funcs = { nothing_func }, .nbuffers = 1, .modes = { STARPU_REDUX }, .name = "nothing"
};

static int submit(struct starpu_codelet *cl, starpu_data_handle_t handle)
{
	struct starpu_task *task = starpu_task_create();
	int ret;

	task->cl = cl;
	task->handles[0] = handle;
	ret = starpu_task_submit(task);
	if (ret)
		starpu_task_destroy(task);
	return ret;
}

static void never(void *arg)
{
	(void) arg;
	CHECK(!"called");
}

/* All that a program might do with a handle that is none. */
static void wrong_handle(starpu_data_handle_t bad)
{
	starpu_data_handle_t c[2] = { bad, bad }, out = NULL;
	starpu_ssize_t count;

	CHECK(starpu_data_acquire(bad, STARPU_R) == -EINVAL);
	CHECK(starpu_data_acquire_try(bad, STARPU_R) == -EINVAL);
	CHECK(starpu_data_acquire_cb(bad, STARPU_R, never, NULL) == -EINVAL);
	starpu_data_invalidate(bad);
	starpu_data_invalidate_submit(bad);
	starpu_data_wont_use(bad);
	CHECK(starpu_data_prefetch_on_node(bad, 0, 0) == -EINVAL);
	CHECK(starpu_data_request_allocation(bad, 0) == -EINVAL);
	CHECK(starpu_data_evict_from_node(bad, 0) == -EINVAL &&
	      !starpu_data_can_evict(bad, 0, STARPU_FETCH));
	CHECK(starpu_data_pack(bad, NULL, &count) == -EINVAL &&
	      starpu_data_unpack(bad, NULL, 0) == -EINVAL);
	CHECK(starpu_data_peek(bad, NULL, 0) == -EINVAL);
	CHECK(starpu_data_cpy(bad, h, 0, NULL, NULL) == -EINVAL &&
	      starpu_data_cpy(h, bad, 0, NULL, NULL) == -EINVAL);
	CHECK(starpu_data_dup_ro(&out, bad, 0) == -EINVAL && !out);
	CHECK(!starpu_data_get_child(bad, 0) && !starpu_data_get_sub_data(bad, 1, 0));
	starpu_data_partition_submit(bad, 2, c);
	starpu_data_unpartition_submit(h, 2, c, STARPU_MAIN_RAM);
	CHECK(submit(&nothing_cl, bad) == -EINVAL);
}

static void handles(void)
{
	starpu_data_handle_t gone;

	wrong_handle(NULL);
	starpu_variable_data_register(&gone, -1, 0, sizeof(int));
	starpu_data_unregister(gone);
	wrong_handle(gone);
	starpu_data_release(NULL);
	starpu_data_release(gone);
}

static void nothing_cb(void *arg)
{
	(void) arg;
}

/* After its end was submitted, while the program and a task still use it. */
static void leaving(void)
{
	starpu_data_handle_t l;

	starpu_vector_data_register(&l, STARPU_MAIN_RAM, (uintptr_t) small, N / 2, sizeof(*small));
	starpu_data_set_name(l, "leaving");
	CHECK(starpu_data_acquire_cb(l, STARPU_RW, nothing_cb, NULL) == 0);
	add_on(l, 0, 3);
	starpu_data_unregister_submit(l);
	wrong_handle(l);
	CHECK(starpu_data_get_size(l) == sizeof(small));
	starpu_data_release(l);
	starpu_task_wait_for_all();
	while (__atomic_load_n(&small[0], __ATOMIC_ACQUIRE) != 3)
		starpu_sleep(1e-5f); /* the value goes home once nobody uses it */
}

static void acquisitions(void)
{
	CHECK(starpu_data_acquire(h, STARPU_SCRATCH) == -EINVAL &&
	      starpu_data_acquire(h, STARPU_NONE) == -EINVAL);
	CHECK(starpu_data_acquire(h, STARPU_REDUX | STARPU_RW) == -EINVAL);
	CHECK(starpu_data_acquire_on_node(h, 17, STARPU_R) == -EINVAL &&
	      starpu_data_acquire_on_node_try(h, 17, STARPU_R) == -EINVAL);
	CHECK(starpu_data_acquire_on_node_cb(h, 17, STARPU_R, never, NULL) == -EINVAL);
	CHECK(starpu_data_acquire_cb(h, STARPU_R, NULL, NULL) == -EINVAL);
	starpu_data_release(h); /* without acquisition */
	CHECK(starpu_data_acquire(h, STARPU_RW) == 0);
	starpu_data_release_on_node(h, 1); /* elsewhere than it was acquired: it stays acquired */
	CHECK(starpu_data_acquire_try(h, STARPU_R) == -EAGAIN);
	v[0]++;
	starpu_data_release(h);
	starpu_data_release(h); /* twice */
	starpu_data_release_to(h, STARPU_R);
	CHECK(starpu_data_acquire_try(h, STARPU_RW) == 0);
	v[0]--;
	starpu_data_release(h);
}

static void nodes(void)
{
	int allocated = 7, valid = 7, requested = 7;
	starpu_ssize_t count;

	CHECK(starpu_data_prefetch_on_node(h, 9, 0) == -EINVAL &&
	      starpu_data_fetch_on_node(h, 9, 1) == -EINVAL);
	CHECK(starpu_data_idle_prefetch_on_node(h, 9, 0) == -EINVAL &&
	      starpu_data_request_allocation(h, 9) == -EINVAL);
	CHECK(starpu_data_evict_from_node(h, 9) == -EINVAL &&
	      !starpu_data_can_evict(h, 9, STARPU_FETCH));
	CHECK(!starpu_data_get_interface_on_node(h, 9) &&
	      !starpu_data_get_interface_on_node(h, 4000));
	CHECK(!starpu_data_handle_to_pointer(h, 9));
	CHECK(!starpu_data_is_on_node(h, 9) && !starpu_data_test_if_allocated_on_node(h, 9));
	starpu_data_query_status(h, 9, &allocated, &valid, &requested);
	CHECK(!allocated && !valid && !requested);
	CHECK(starpu_data_pack_node(h, 9, NULL, &count) == -EINVAL &&
	      starpu_data_unpack_node(h, 9, v, sizeof(v)) == -EINVAL);
	starpu_data_print(h, 9, stderr);
	starpu_memchunk_tidy(9);
	CHECK(starpu_memory_get_total(31) == -1 && starpu_memory_get_used(31) == 0 &&
	      starpu_memory_allocate(31, 1, 0) == -EINVAL);
	CHECK(!starpu_malloc_on_node(31, 1));
	starpu_memory_deallocate(31, 1);
	starpu_free_on_node(31, (uintptr_t) v, 1);
}

static void packing(void)
{
	void *bytes = NULL;
	starpu_ssize_t count = 0;
	int few[3] = { 0 };

	CHECK(starpu_data_pack_node(h, 1, &bytes, &count) == -EINVAL && !bytes);
	CHECK(starpu_data_peek_node(h, 1, v, sizeof(v)) == -EINVAL &&
	      starpu_data_unpack_node(h, 1, v, sizeof(v)) == -EINVAL);
	CHECK(starpu_data_pack_node(h, 1, NULL, &count) == 0 &&
	      count == sizeof(v)); /* the size alone needs no buffer */
	CHECK(starpu_data_peek(h, few, sizeof(few)) == -EINVAL &&
	      starpu_data_unpack(h, few, sizeof(few)) == -EINVAL);
	CHECK(starpu_data_peek(h, few, 4 * sizeof(v)) == -EINVAL);
	CHECK(starpu_data_pack(h, &bytes, NULL) == -EINVAL && !bytes);
	CHECK(starpu_data_peek(h, NULL, sizeof(v)) == -EINVAL &&
	      starpu_data_unpack(h, NULL, sizeof(v)) == -EINVAL);
}

static void nowhere(void)
{
	CHECK(starpu_data_dup_ro(NULL, h, 0) == -EINVAL && starpu_malloc(NULL, 10) == -EINVAL);
	starpu_data_partition_submit(h, 4, NULL);
	starpu_data_unpartition_submit(h, 4, NULL, STARPU_MAIN_RAM);
	starpu_data_partition_clean(h, 4, NULL);
	CHECK(starpu_data_get_nb_children(h) == 0);
	starpu_data_query_status(h, -1, NULL, NULL, NULL);
	starpu_data_print(h, STARPU_MAIN_RAM, NULL);
}

static void copies(void)
{
	starpu_data_handle_t s, x, m, wide;
	int one = 5;
	long long_one = 5;

	starpu_vector_data_register(&s, STARPU_MAIN_RAM, (uintptr_t) small, N / 2, sizeof(*small));
	starpu_matrix_data_register(&m, STARPU_MAIN_RAM, (uintptr_t) small, 5, 5, 4,
				    sizeof(*small));
	starpu_variable_data_register(&x, STARPU_MAIN_RAM, (uintptr_t) &one, sizeof(one));
	starpu_variable_data_register(&wide, STARPU_MAIN_RAM, (uintptr_t) &long_one,
				      sizeof(long_one));
	CHECK(starpu_data_cpy(h, h, 0, NULL, NULL) == -EINVAL);
	CHECK(starpu_data_cpy(h, m, 0, NULL, NULL) == -EINVAL);
	CHECK(starpu_data_cpy(s, h, 0, NULL, NULL) == -EINVAL);
	CHECK(starpu_data_cpy(wide, x, 0, NULL, NULL) ==
	      -EINVAL); /* would fit, but a variable has one size */
	starpu_data_unregister(s);
	starpu_data_unregister(m);
	starpu_data_unregister(x);
	starpu_data_unregister(wide);
	CHECK(one == 5 && long_one == 5);
}

static void tasks(void)
{
	starpu_arbiter_t a = starpu_arbiter_create(), b = starpu_arbiter_create();
	starpu_data_handle_t c;

	CHECK(submit(&no_mode_cl, h) == -EINVAL);
	CHECK(submit(&redux_cl, h) == -EINVAL);
	starpu_variable_data_register(&c, -1, 0, sizeof(int));
	starpu_data_assign_arbiter(c, a);
	starpu_data_assign_arbiter(c, b);
	starpu_data_assign_arbiter(h, NULL);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	starpu_data_assign_arbiter(h, b);
	starpu_data_release(h);
	starpu_arbiter_destroy(a); /* too early: c keeps it */
	starpu_arbiter_destroy(b);
	starpu_data_unregister(c);
}

int main(void)
{
	start();
	for (int i = 0; i < N; i++)
		v[i] = i;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(*v));
	starpu_data_set_name(h, "v");
	handles();
	leaving();
	acquisitions();
	nodes();
	packing();
	nowhere();
	copies();
	tasks();
	add_on(h, 0, 100);
	add_on(h, -1, 1000);
	starpu_data_unregister(h);
	for (int i = 0; i < N; i++)
		CHECK(v[i] == i + 1100);
	for (int i = 0; i < N / 2; i++)
		CHECK(small[i] == 3);
	starpu_shutdown();
	return 0;
}
