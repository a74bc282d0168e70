/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vector interface: registration with and without allocation size, a task, packing, a size that
 * a task changes, all filters. */
#include "data/iface_test.h"

#define NX 10

static int thirds(const uint32_t *at)
{
	return at[0] < 4 ? 0 : at[0] < 7 ? 1 : 2;
}
static int in_2(const uint32_t *at)
{
	return at[0] >= 3;
}
static int listed(const uint32_t *at)
{
	return at[0] < 1 ? 0 : at[0] < 6 ? 1 : 2;
}
static int picked(const uint32_t *at)
{
	return at[0] >= 2 && at[0] < 5 ? (int) at[0] - 2 : -1;
}

static void shrink_cpu(void *buffers[], void *arg)
{
	(void) arg;
	STARPU_VECTOR_SET_NX(buffers[0], 4);
}

static struct starpu_codelet shrink_cl = { .cpu_funcs = { shrink_cpu },
					   .cpu_funcs_name = { "shrink_cpu" },
					   .nbuffers = 1,
					   .modes = { STARPU_RW },
					   .name = "shrink" };

static void filters(starpu_data_handle_t h)
{
	long longs[3] = { 1, 5, 4 };
	uint32_t lengths[3] = { 1, 5, 4 };
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 3 };

	check_filter(h, &f, 3, thirds);
	f = (struct starpu_data_filter){ .filter_func = starpu_vector_filter_divide_in_2,
					 .nchildren = 2,
					 .filter_arg = 3 };
	check_filter(h, &f, 2, in_2);
	f = (struct starpu_data_filter){ .filter_func = starpu_vector_filter_list,
					 .nchildren = 3,
					 .filter_arg_ptr = lengths };
	check_filter(h, &f, 3, listed);
	f = (struct starpu_data_filter){ .filter_func = starpu_vector_filter_list_long,
					 .nchildren = 3,
					 .filter_arg_ptr = longs };
	check_filter(h, &f, 3, listed);
	f = (struct starpu_data_filter){
		.filter_func = starpu_vector_filter_pick_variable,
		.nchildren = 3,
		.filter_arg_ptr = (void *) (uintptr_t) 2,
		.get_child_ops = starpu_vector_filter_pick_variable_child_ops
	};
	check_filter(h, &f, 3, picked);
	f = (struct starpu_data_filter){ .filter_func = starpu_vector_filter_block_shadow,
					 .nchildren = 3,
					 .filter_arg_ptr = (void *) (uintptr_t) 1 };
	check_shadow(h, &f, 0, 3, (uint32_t[]){ 0, 3, 6 }, (uint32_t[]){ 5, 5, 4 });
	/* slice_base counts in the whole vector, also for pieces of pieces. */
	f = (struct starpu_data_filter){ .filter_func = starpu_vector_filter_block,
					 .nchildren = 2 };
	starpu_data_map_filters(h, 2, &f, &f);
	for (int i = 0; i < 4; i++) {
		void *iface = starpu_data_get_interface_on_node(
			starpu_data_get_sub_data(h, 2, i / 2, i % 2), STARPU_MAIN_RAM);

		CHECK((STARPU_VECTOR_GET_SLICE_BASE(iface) == (uint32_t[]){ 0, 3, 5, 8 }[i]));
		CHECK((STARPU_VECTOR_GET_NX(iface) == (uint32_t[]){ 3, 2, 3, 2 }[i]));
	}
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
}

static void chunks(void)
{
	unsigned chunk;
	size_t offset;

	starpu_filter_nparts_compute_chunk_size_and_offset(10, 3, 4, 0, 2, &chunk, &offset);
	CHECK(chunk == 4 && offset == 0);
	starpu_filter_nparts_compute_chunk_size_and_offset(10, 3, 4, 1, 2, &chunk, &offset);
	CHECK(chunk == 3 && offset == 32);
	starpu_filter_nparts_compute_chunk_size_and_offset(10, 3, 4, 2, 2, &chunk, &offset);
	CHECK(chunk == 3 && offset == 56);
}

int main(void)
{
	starpu_data_handle_t h, other, large;
	int a[NX], b[NX], i;

	start();
	for (i = 0; i < NX; i++)
		a[i] = i + 1;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, NX, sizeof(*a));
	starpu_vector_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) b, NX, sizeof(*b));
	starpu_vector_data_register_allocsize(&large, -1, 0, NX, sizeof(int), 4096);
	CHECK(starpu_vector_get_nx(h) == NX && starpu_vector_get_elemsize(h) == sizeof(*a));
	CHECK(starpu_vector_get_allocsize(h) == sizeof(a) &&
	      starpu_vector_get_local_ptr(h) == (uintptr_t) a);
	CHECK(starpu_data_get_size(large) == sizeof(a) &&
	      starpu_data_get_alloc_size(large) == 4096);
	check_task(h);
	check_pack(h, other);
	filters(h);
	chunks();
	CHECK(starpu_task_insert(&fill_cl, STARPU_W, large, STARPU_VALUE, &(int){ -1 }, sizeof(int),
				 0) == 0);
	CHECK(starpu_task_insert(&shrink_cl, STARPU_RW, large, 0) == 0);
	CHECK(starpu_data_acquire(large, STARPU_R) == 0);
	CHECK(starpu_vector_get_nx(large) == 4 && starpu_data_get_size(large) == 4 * sizeof(int) &&
	      starpu_data_get_alloc_size(large) == 4096);
	CHECK(((int *) starpu_vector_get_local_ptr(large))[3] == 4);
	starpu_data_release(large);
	starpu_data_unregister(large);
	starpu_data_unregister(other);
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
