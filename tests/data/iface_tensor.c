/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tensor interface: leading dimensions larger than the sizes, a task, packing, all filters. */
#include "data/iface_test.h"

#define NX 3
#define NY 3
#define NZ 4
#define NT 5
#define LDY 4
#define LDZ 13
#define LDT 60

static int in_x(const uint32_t *at)
{
	return at[0] >= 2;
}
static int in_y(const uint32_t *at)
{
	return at[1] >= 2;
}
static int in_z(const uint32_t *at)
{
	return at[2] >= 2;
}
static int in_t(const uint32_t *at)
{
	return at[3] >= 3;
}
static int slice_y(const uint32_t *at)
{
	return at[1] >= 1 ? (int) at[1] - 1 : -1;
}
static int slice_z(const uint32_t *at)
{
	return at[2] >= 1 && at[2] < 3 ? (int) at[2] - 1 : -1;
}
static int slice_t(const uint32_t *at)
{
	return at[3] >= 1 && at[3] < 3 ? (int) at[3] - 1 : -1;
}
static int one(const uint32_t *at)
{
	return at[0] == 1 && at[1] == 2 && at[2] == 3 && at[3] == 4 ? 0 : -1;
}

#define SHADOW(func, dim, start, len) \
	do { \
		f = (struct starpu_data_filter){ .filter_func = func, \
						 .nchildren = sizeof(start) / sizeof(*start), \
						 .filter_arg_ptr = (void *) (uintptr_t) 1 }; \
		check_shadow(h, &f, dim, f.nchildren, start, len); \
	} while (0)

static void filters(starpu_data_handle_t h)
{
	static const uint32_t start1[] = { 0 }, len1[] = { 3 }, start2[] = { 0, 1 },
			      len2[] = { 3, 3 }, start3[] = { 0, 2 }, len3[] = { 4, 3 };
	uint32_t pos[4] = { 1, 2, 3, 4 };
	struct starpu_data_filter f = { .filter_func = starpu_tensor_filter_block, .nchildren = 2 };

	check_filter(h, &f, 2, in_x);
	f.filter_func = starpu_tensor_filter_vertical_block;
	check_filter(h, &f, 2, in_y);
	f.filter_func = starpu_tensor_filter_depth_block;
	check_filter(h, &f, 2, in_z);
	f.filter_func = starpu_tensor_filter_time_block;
	check_filter(h, &f, 2, in_t);
	f = (struct starpu_data_filter){
		.filter_func = starpu_tensor_filter_pick_block_y,
		.nchildren = 2,
		.filter_arg_ptr = (void *) (uintptr_t) 1,
		.get_child_ops = starpu_tensor_filter_pick_block_child_ops
	};
	check_filter(h, &f, 2, slice_y);
	f.filter_func = starpu_tensor_filter_pick_block_z;
	check_filter(h, &f, 2, slice_z);
	f.filter_func = starpu_tensor_filter_pick_block_t;
	check_filter(h, &f, 2, slice_t);
	f = (struct starpu_data_filter){
		.filter_func = starpu_tensor_filter_pick_variable,
		.nchildren = 1,
		.filter_arg_ptr = pos,
		.get_child_ops = starpu_tensor_filter_pick_variable_child_ops
	};
	check_filter(h, &f, 1, one);
	SHADOW(starpu_tensor_filter_block_shadow, 0, start1, len1);
	SHADOW(starpu_tensor_filter_vertical_block_shadow, 1, start1, len1);
	SHADOW(starpu_tensor_filter_depth_block_shadow, 2, start2, len2);
	SHADOW(starpu_tensor_filter_time_block_shadow, 3, start3, len3);
}

int main(void)
{
	static int a[LDT * NT], b[NX * NY * NZ * NT];
	starpu_data_handle_t h, other;
	struct view v;

	start();
	starpu_tensor_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, LDY, LDZ, LDT, NX, NY, NZ,
				    NT, sizeof(*a));
	starpu_tensor_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) b, NX, NX * NY,
				    NX * NY * NZ, NX, NY, NZ, NT, sizeof(*b));
	CHECK(starpu_tensor_get_nx(h) == NX && starpu_tensor_get_ny(h) == NY &&
	      starpu_tensor_get_nz(h) == NZ && starpu_tensor_get_nt(h) == NT);
	CHECK(starpu_tensor_get_local_ldy(h) == LDY && starpu_tensor_get_local_ldz(h) == LDZ &&
	      starpu_tensor_get_local_ldt(h) == LDT);
	CHECK(starpu_tensor_get_elemsize(h) == sizeof(*a) &&
	      starpu_tensor_get_local_ptr(h) == (uintptr_t) a);
	memset(a, 0x55, sizeof(a));
	v = main_view(h);
	fill_view(&v, -1);
	check_task(h);
	check_pack(h, other);
	filters(h);
	starpu_data_unregister(other);
	starpu_data_unregister(h);
	CHECK(a[NX] == 0x55555555 && a[LDT - 1] == 0x55555555);
	starpu_shutdown();
	return 0;
}
