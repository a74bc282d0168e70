/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The n-dimensional interface, with five dimensions and fewer: a task, packing, all filters. */
#include "data/iface_test.h"

static uint32_t nn5[] = { 3, 2, 4, 2, 3 }, ld5[] = { 1, 4, 9, 40, 81 };

static int dim2(const uint32_t *at)
{
	return at[2] < 2 ? 0 : (int) at[2] - 1;
}
static int slice4(const uint32_t *at)
{
	return at[4] >= 1 ? (int) at[4] - 1 : -1;
}
static int slice0(const uint32_t *at)
{
	return at[0] >= 1 ? (int) at[0] - 1 : -1;
}
static int slice3(const uint32_t *at)
{
	return (int) at[3];
}
static int slice1(const uint32_t *at)
{
	return (int) at[1];
}
static int half1(const uint32_t *at)
{
	return at[1] >= 1;
}
static int all(const uint32_t *at)
{
	(void) at;
	return 0;
}
static int one(const uint32_t *at)
{
	return at[0] == 2 && at[1] == 1 && at[2] == 3 && at[3] == 0 && at[4] == 2 ? 0 : -1;
}
static int at_1(const uint32_t *at)
{
	return at[0] == 1 ? 0 : -1;
}

typedef void (*filter_t)(void *, void *, struct starpu_data_filter *, unsigned, unsigned);
typedef struct starpu_data_interface_ops *(*ops_t)(struct starpu_data_filter *, unsigned);

static void cut(starpu_data_handle_t h, filter_t func, ops_t ops, unsigned arg, void *ptr,
		unsigned n, int (*owner)(const uint32_t *))
{
	struct starpu_data_filter f = { .filter_func = func,
					.get_child_ops = ops,
					.nchildren = n,
					.filter_arg = arg,
					.filter_arg_ptr = ptr };

	check_filter(h, &f, n, owner);
}

/* The first `ndim` dimensions of the five. */
static void lower(int *a, size_t ndim, filter_t to, ops_t to_ops, filter_t pick, ops_t pick_ops)
{
	starpu_data_handle_t h;

	starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, ld5, nn5, ndim, sizeof(*a));
	CHECK(starpu_ndim_get_ndim(h) == ndim);
	if (to) {
		cut(h, to, to_ops, 0, NULL, 1, all);
		if (ndim > 1)
			cut(h, to, to_ops, 1, NULL, 2, half1);
	}
	if (pick && ndim > 1)
		cut(h, pick, pick_ops, 1, NULL, 2, slice1);
	else if (pick)
		cut(h, pick, pick_ops, 0, (void *) (uintptr_t) 1, 1, at_1);
	starpu_data_unregister(h);
}

static void five(starpu_data_handle_t h)
{
	uint32_t pos[5] = { 2, 1, 3, 0, 2 };
	struct starpu_data_filter f = { .filter_func = starpu_ndim_filter_block_shadow,
					.nchildren = 2,
					.filter_arg = 2,
					.filter_arg_ptr = (void *) (uintptr_t) 1 };

	cut(h, starpu_ndim_filter_block, NULL, 2, NULL, 3, dim2);
	cut(h, starpu_ndim_filter_pick_ndim, NULL, 4, (void *) (uintptr_t) 1, 2, slice4);
	cut(h, starpu_ndim_filter_pick_ndim, NULL, 0, (void *) (uintptr_t) 1, 2, slice0);
	cut(h, starpu_ndim_filter_5d_pick_tensor, starpu_ndim_filter_pick_tensor_child_ops, 3, NULL,
	    2, slice3);
	cut(h, starpu_ndim_filter_pick_variable, starpu_ndim_filter_pick_variable_child_ops, 0, pos,
	    1, one);
	check_shadow(h, &f, 2, 2, (uint32_t[]){ 0, 1 }, (uint32_t[]){ 3, 3 });
}

int main(void)
{
	static int a[81 * 3], b[3 * 2 * 4 * 2 * 3];
	static uint32_t packed[] = { 1, 3, 6, 24, 48 }, ones[] = { 1, 1 };
	starpu_data_handle_t h, other;
	struct view v;

	start();
	starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, ld5, nn5, 5, sizeof(*a));
	starpu_ndim_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) b, packed, nn5, 5,
				  sizeof(*b));
	CHECK(starpu_ndim_get_ndim(h) == 5 && starpu_ndim_get_elemsize(h) == sizeof(*a) &&
	      starpu_ndim_get_local_ptr(h) == (uintptr_t) a);
	CHECK(starpu_ndim_get_nn(h) != nn5 && !memcmp(starpu_ndim_get_nn(h), nn5, sizeof(nn5)));
	CHECK(starpu_ndim_get_local_ldn(h) != ld5 &&
	      !memcmp(starpu_ndim_get_local_ldn(h), ld5, sizeof(ld5)));
	CHECK(starpu_ndim_get_ni(h, 2) == 4 && starpu_ndim_get_local_ldi(h, 3) == 40);
	v = main_view(h);
	fill_view(&v, -1);
	check_task(h);
	check_pack(h, other);
	five(h);
	starpu_data_unregister(other);
	starpu_data_unregister(h);
	lower(a, 4, starpu_ndim_filter_to_tensor, starpu_ndim_filter_to_tensor_child_ops,
	      starpu_ndim_filter_4d_pick_block, starpu_ndim_filter_pick_block_child_ops);
	lower(a, 3, starpu_ndim_filter_to_block, starpu_ndim_filter_to_block_child_ops,
	      starpu_ndim_filter_3d_pick_matrix, starpu_ndim_filter_pick_matrix_child_ops);
	lower(a, 2, starpu_ndim_filter_to_matrix, starpu_ndim_filter_to_matrix_child_ops,
	      starpu_ndim_filter_2d_pick_vector, starpu_ndim_filter_pick_vector_child_ops);
	lower(a, 1, starpu_ndim_filter_to_vector, starpu_ndim_filter_to_vector_child_ops,
	      starpu_ndim_filter_1d_pick_variable, starpu_ndim_filter_pick_variable_child_ops);
	starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, ones, ones, 2, sizeof(*a));
	cut(h, starpu_ndim_filter_to_variable, starpu_ndim_filter_to_variable_child_ops, 0, NULL, 1,
	    all);
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
