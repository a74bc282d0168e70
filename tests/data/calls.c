/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Smaller calls that nothing else shows: buffers given for a node (starpu_*_ptr_register), the
 * statement form of acquisition, pieces by a list of arguments, data that are important, and an
 * acquisition that is tried inside a task.
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=1 STARPU_LIMIT_CUDA_MEM=1 */
#include "data/mem_test.h"

#include <errno.h>

#define N 60

/* Every dense interface uses the buffer that it was given on the device, at its offset, and never
 * frees it. */
static void given(unsigned dev)
{
	uint32_t nn[2] = { 6, 10 }, ldn[2] = { 1, 8 };
	int ram[N], i, kind;

	for (kind = 0; kind < 6; kind++) {
		uintptr_t p = starpu_malloc_on_node(dev, 1000), at = p + 16 * sizeof(int);
		starpu_data_handle_t h;
		int *there;

		CHECK(p);
		for (i = 0; i < N; i++)
			ram[i] = i;
		switch (kind) {
		case 0:
			starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) ram,
						      sizeof(ram));
			starpu_variable_ptr_register(h, dev, at, p, 16 * sizeof(int));
			break;
		case 1:
			starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) ram, N,
						    sizeof(int));
			starpu_vector_ptr_register(h, dev, at, p, 16 * sizeof(int));
			break;
		case 2:
			starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) ram, 6, 6, 10,
						    sizeof(int));
			starpu_matrix_ptr_register(h, dev, at, p, 16 * sizeof(int), 8);
			break;
		case 3:
			starpu_block_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) ram, 6, 30, 6,
						   5, 2, sizeof(int));
			starpu_block_ptr_register(h, dev, at, p, 16 * sizeof(int), 8, 40);
			break;
		case 4:
			starpu_tensor_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) ram, 6, 30, 30,
						    6, 5, 1, 2, sizeof(int));
			starpu_tensor_ptr_register(h, dev, at, p, 16 * sizeof(int), 8, 40, 40);
			break;
		default:
			ldn[1] = 6;
			starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) ram, ldn, nn, 2,
						  sizeof(int));
			ldn[1] = 8;
			starpu_ndim_ptr_register(h, dev, at, p, 16 * sizeof(int), ldn);
		}
		CHECK(starpu_data_test_if_allocated_on_node(h, dev) &&
		      !starpu_data_is_on_node(h, dev));
		CHECK(starpu_data_acquire_on_node(h, (int) dev, STARPU_RW) == 0);
		CHECK(starpu_data_handle_to_pointer(h, dev) == (void *) at);
		there = (int *) at;
		for (i = 0; i < N; i++) {
			int *e = &there[kind < 2 ? i : i / 6 * 8 + i % 6];

			CHECK(*e == i);
			*e += 1000;
		}
		starpu_data_release_on_node(h, (int) dev);
		CHECK(starpu_data_evict_from_node(h, dev) != 0); /* not the runtime's to free */
		starpu_data_unregister(h);
		for (i = 0; i < N; i++)
			CHECK(ram[i] == i + 1000);
		starpu_free_on_node(dev, p, 1000);
	}
	CHECK(starpu_memory_get_used(dev) == 0);
}

static void statement(starpu_data_handle_t h)
{
	add_on(h, 0, 7);
#ifndef __clang__ /* It has no nested functions, which this macro needs. */
	static int seen;
	STARPU_DATA_ACQUIRE_CB(h, STARPU_RW, seen++);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	CHECK(seen == 1);
	starpu_data_release(h);
#endif
}

static starpu_data_handle_t by_list(starpu_data_handle_t h, unsigned depth, ...)
{
	starpu_data_handle_t found;
	va_list args;

	va_start(args, depth);
	found = starpu_data_vget_sub_data(h, depth, args);
	va_end(args);
	return found;
}

static void map_by_list(starpu_data_handle_t h, unsigned n, ...)
{
	va_list args;

	va_start(args, n);
	starpu_data_vmap_filters(h, n, args);
	va_end(args);
}

static void pieces(starpu_data_handle_t h)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 3 },
				  g = { .filter_func = starpu_vector_filter_block, .nchildren = 2 };

	map_by_list(h, 2, &f, &g);
	CHECK(starpu_data_get_nb_children(h) == 3 &&
	      starpu_data_get_nb_children(starpu_data_get_child(h, 2)) == 2);
	CHECK(by_list(h, 0) == h &&
	      by_list(h, 2, 1, 1) == starpu_data_get_child(starpu_data_get_child(h, 1), 1));
	CHECK(by_list(h, 2, 1, 1) == starpu_data_get_sub_data(h, 2, 1, 1));
	CHECK(!by_list(h, 2, 3, 0) && !by_list(h, 3, 0, 0, 0));
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
}

/* Of data that fill the device, what is important stays longest. */
static void important(unsigned dev)
{
	static int v[3][100 << 10];
	starpu_data_handle_t d[3];

	for (int i = 0; i < 3; i++)
		starpu_vector_data_register(&d[i], STARPU_MAIN_RAM, (uintptr_t) v[i], 100 << 10,
					    sizeof(int));
	CHECK(starpu_data_prefetch_on_node(d[0], dev, 0) == 0 &&
	      starpu_data_prefetch_on_node(d[1], dev, 0) == 0);
	starpu_data_advise_as_important(d[0], 1);
	CHECK(starpu_data_can_evict(d[1], dev, STARPU_PREFETCH) &&
	      !starpu_data_can_evict(d[0], dev, STARPU_PREFETCH));
	CHECK(starpu_data_can_evict(d[0], dev, STARPU_FETCH));
	CHECK(starpu_data_prefetch_on_node(d[2], dev, 0) == 0);
	CHECK(starpu_data_is_on_node(d[0], dev) && starpu_data_is_on_node(d[2], dev) &&
	      !starpu_data_is_on_node(d[1], dev));
	starpu_data_advise_as_important(d[0], 0);
	CHECK(starpu_data_can_evict(d[0], dev, STARPU_PREFETCH));
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(d[i]);
}

/* Tried until the value has come from the device: a kernel may not wait for it. */
static starpu_data_handle_t wanted;
static int tries, got;

static void try_func(void *buffers[], void *arg)
{
	int ret = starpu_data_acquire_on_node_try(wanted, STARPU_MAIN_RAM, STARPU_R);

	(void) buffers;
	(void) arg;
	CHECK(ret == 0 || ret == -EAGAIN);
	tries++;
	if (ret)
		return;
	got = *(int *) starpu_data_get_local_ptr(wanted);
	starpu_data_release_on_node(wanted, STARPU_MAIN_RAM);
}

static struct starpu_codelet try_cl = { .cpu_funcs = { try_func }, .name = "try" };

static void in_task(starpu_data_handle_t h)
{
	int before;

	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	before = *(int *) starpu_data_get_local_ptr(h);
	starpu_data_release(h);
	add_on(h, 0, 5);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(!starpu_data_is_on_node(h, STARPU_MAIN_RAM));
	wanted = h;
	while (!got) {
		CHECK(starpu_task_insert(&try_cl, STARPU_TASK_SYNCHRONOUS, 1, 0) == 0);
		starpu_sleep(1e-5f);
	}
	CHECK(tries > 1 && got == before + 5);
}

int main(void)
{
	starpu_data_handle_t h;
	int v[N] = { 0 };

	start();
	if (!starpu_cuda_worker_get_count())
		return 77;
	given(device_node(0));
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(*v));
	statement(h);
	pieces(h);
	in_task(h);
	starpu_data_unregister(h);
	important(device_node(0));
	starpu_shutdown();
	CHECK(v[0] == 12 && v[N - 1] == 12);
	return 0;
}
