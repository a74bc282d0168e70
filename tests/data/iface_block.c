/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block interface: leading dimensions larger than the sizes, a task, packing, all filters. */
#include "data/iface_test.h"

#define NX 3
#define NY 5
#define NZ 4
#define LDY 4
#define LDZ 23

static int in_x(const uint32_t *at)
{
	return at[0] >= 2;
}
static int in_y(const uint32_t *at)
{
	return at[1] >= 3;
}
static int in_z(const uint32_t *at)
{
	return at[2] < 2 ? 0 : (int) at[2] - 1;
}
static int slice_y(const uint32_t *at)
{
	return at[1] >= 1 && at[1] < 3 ? (int) at[1] - 1 : -1;
}
static int slice_z(const uint32_t *at)
{
	return at[2] >= 1 ? (int) at[2] - 1 : -1;
}
static int one(const uint32_t *at)
{
	return at[0] == 1 && at[1] == 4 && at[2] == 2 ? 0 : -1;
}

static void filters(starpu_data_handle_t h)
{
	uint32_t pos[3] = { 1, 4, 2 };
	struct starpu_data_filter f = { .filter_func = starpu_block_filter_block, .nchildren = 2 };

	check_filter(h, &f, 2, in_x);
	f.filter_func = starpu_block_filter_vertical_block;
	check_filter(h, &f, 2, in_y);
	f = (struct starpu_data_filter){ .filter_func = starpu_block_filter_depth_block,
					 .nchildren = 3 };
	check_filter(h, &f, 3, in_z);
	f = (struct starpu_data_filter){
		.filter_func = starpu_block_filter_pick_matrix_y,
		.nchildren = 2,
		.filter_arg_ptr = (void *) (uintptr_t) 1,
		.get_child_ops = starpu_block_filter_pick_matrix_child_ops
	};
	check_filter(h, &f, 2, slice_y);
	f.filter_func = starpu_block_filter_pick_matrix_z;
	f.nchildren = 3;
	check_filter(h, &f, 3, slice_z);
	f = (struct starpu_data_filter){
		.filter_func = starpu_block_filter_pick_variable,
		.nchildren = 1,
		.filter_arg_ptr = pos,
		.get_child_ops = starpu_block_filter_pick_variable_child_ops
	};
	check_filter(h, &f, 1, one);
	f = (struct starpu_data_filter){ .filter_func = starpu_block_filter_block_shadow,
					 .nchildren = 1,
					 .filter_arg_ptr = (void *) (uintptr_t) 1 };
	check_shadow(h, &f, 0, 1, (uint32_t[]){ 0 }, (uint32_t[]){ 3 });
	f.filter_func = starpu_block_filter_vertical_block_shadow;
	f.nchildren = 2;
	check_shadow(h, &f, 1, 2, (uint32_t[]){ 0, 2 }, (uint32_t[]){ 4, 3 });
	f.filter_func = starpu_block_filter_depth_block_shadow;
	check_shadow(h, &f, 2, 2, (uint32_t[]){ 0, 1 }, (uint32_t[]){ 3, 3 });
}

int main(void)
{
	starpu_data_handle_t h, other;
	int a[LDZ * NZ], b[NX * NY * NZ];
	struct view v;

	start();
	starpu_block_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, LDY, LDZ, NX, NY, NZ,
				   sizeof(*a));
	starpu_block_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) b, NX, NX * NY, NX, NY, NZ,
				   sizeof(*b));
	CHECK(starpu_block_get_nx(h) == NX && starpu_block_get_ny(h) == NY &&
	      starpu_block_get_nz(h) == NZ);
	CHECK(starpu_block_get_local_ldy(h) == LDY && starpu_block_get_local_ldz(h) == LDZ);
	CHECK(starpu_block_get_elemsize(h) == sizeof(*a) &&
	      starpu_block_get_local_ptr(h) == (uintptr_t) a);
	memset(a, 0x55, sizeof(a));
	v = main_view(h);
	fill_view(&v, -1);
	check_task(h);
	check_pack(h, other);
	filters(h);
	starpu_data_unregister(other);
	starpu_data_unregister(h);
	CHECK(a[NX] == 0x55555555 && a[LDZ - 1] == 0x55555555);
	starpu_shutdown();
	return 0;
}
