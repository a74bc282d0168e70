/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The matrix interface: a leading dimension larger than nx, a task, packing, sizes that a task
 * changes, all filters. */
#include "data/iface_test.h"

#define NX 5
#define NY 7
#define LD 8

static int in_x(const uint32_t *at)
{
	return at[0] >= 3;
}
static int in_y(const uint32_t *at)
{
	return at[1] < 3 ? 0 : at[1] < 5 ? 1 : 2;
}
static int column(const uint32_t *at)
{
	return at[1] >= 1 && at[1] < 4 ? (int) at[1] - 1 : -1;
}
static int one(const uint32_t *at)
{
	return at[0] == 2 && at[1] == 4 ? 0 : -1;
}

static void reshape_cpu(void *buffers[], void *arg)
{
	(void) arg;
	STARPU_MATRIX_SET_NX(buffers[0], 3);
	STARPU_MATRIX_SET_NY(buffers[0], 2);
	STARPU_MATRIX_SET_LD(buffers[0], 3);
}

static struct starpu_codelet reshape_cl = { .cpu_funcs = { reshape_cpu },
					    .cpu_funcs_name = { "reshape_cpu" },
					    .nbuffers = 1,
					    .modes = { STARPU_RW },
					    .name = "reshape" };

static void filters(starpu_data_handle_t h)
{
	uint32_t pos[2] = { 2, 4 };
	struct starpu_data_filter f = { .filter_func = starpu_matrix_filter_block, .nchildren = 2 };

	check_filter(h, &f, 2, in_x);
	f = (struct starpu_data_filter){ .filter_func = starpu_matrix_filter_vertical_block,
					 .nchildren = 3 };
	check_filter(h, &f, 3, in_y);
	f = (struct starpu_data_filter){
		.filter_func = starpu_matrix_filter_pick_vector_y,
		.nchildren = 3,
		.filter_arg_ptr = (void *) (uintptr_t) 1,
		.get_child_ops = starpu_matrix_filter_pick_vector_child_ops
	};
	check_filter(h, &f, 3, column);
	f = (struct starpu_data_filter){
		.filter_func = starpu_matrix_filter_pick_variable,
		.nchildren = 1,
		.filter_arg_ptr = pos,
		.get_child_ops = starpu_matrix_filter_pick_variable_child_ops
	};
	check_filter(h, &f, 1, one);
	f = (struct starpu_data_filter){ .filter_func = starpu_matrix_filter_block_shadow,
					 .nchildren = 2,
					 .filter_arg_ptr = (void *) (uintptr_t) 1 };
	check_shadow(h, &f, 0, 2, (uint32_t[]){ 0, 2 }, (uint32_t[]){ 4, 3 });
	f = (struct starpu_data_filter){ .filter_func = starpu_matrix_filter_vertical_block_shadow,
					 .nchildren = 2,
					 .filter_arg_ptr = (void *) (uintptr_t) 2 };
	check_shadow(h, &f, 1, 2, (uint32_t[]){ 0, 2 }, (uint32_t[]){ 6, 5 });
}

int main(void)
{
	starpu_data_handle_t h, other, changing;
	int a[LD * NY], b[NX * NY];
	struct view v;

	start();
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, LD, NX, NY, sizeof(*a));
	starpu_matrix_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) b, NX, NX, NY, sizeof(*b));
	starpu_matrix_data_register_allocsize(&changing, -1, 0, NX, NX, NY, sizeof(int), 4096);
	CHECK(starpu_matrix_get_nx(h) == NX && starpu_matrix_get_ny(h) == NY &&
	      starpu_matrix_get_local_ld(h) == LD);
	CHECK(starpu_matrix_get_elemsize(h) == sizeof(*a) &&
	      starpu_matrix_get_local_ptr(h) == (uintptr_t) a);
	CHECK(starpu_matrix_get_allocsize(h) == NX * NY * sizeof(*a) &&
	      starpu_matrix_get_allocsize(changing) == 4096);
	memset(a, 0x55, sizeof(a));
	v = main_view(h);
	fill_view(&v, -1);
	check_task(h);
	CHECK(a[NX] == 0x55555555 && a[LD - 1] == 0x55555555);
	check_pack(h, other);
	filters(h);
	CHECK(starpu_task_insert(&fill_cl, STARPU_W, changing, STARPU_VALUE, &(int){ -1 },
				 sizeof(int), 0) == 0);
	CHECK(starpu_task_insert(&reshape_cl, STARPU_RW, changing, 0) == 0);
	CHECK(starpu_data_acquire(changing, STARPU_R) == 0);
	CHECK(starpu_matrix_get_nx(changing) == 3 && starpu_matrix_get_ny(changing) == 2 &&
	      starpu_data_get_size(changing) == 6 * sizeof(int));
	v = main_view(changing);
	CHECK(*element(&v, (uint32_t[]){ 2, 1 }) == 6);
	starpu_data_release(changing);
	starpu_data_unregister(changing);
	starpu_data_unregister(other);
	starpu_data_unregister(h);
	CHECK(a[NX] == 0x55555555 && a[LD - 1] == 0x55555555);
	starpu_shutdown();
	return 0;
}
