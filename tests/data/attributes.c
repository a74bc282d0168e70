/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Things that a handle carries for the program (handbook 27.6, 27.7): names, coordinates, pointers
 * of its own, flags, its home, its buffers' addresses, and its description as text.
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=1
 * orr-test: expect "table" on memory node 0: .*160 bytes
 * orr-test: expect "table" on memory node 1: never used, not allocated, 160 bytes
 */
#include "data/mem_test.h"

static void coordinates(starpu_data_handle_t h)
{
	int at[5] = { -1, -1, -1, -1, -1 }, two[2] = { 8, 9 };

	CHECK(starpu_data_get_coordinates_array(h, 5, at) == 0 && at[0] == -1);
	starpu_data_set_coordinates(h, 3, 4, 5, 6);
	CHECK(starpu_data_get_coordinates_array(h, 5, at) == 3 && at[0] == 4 && at[1] == 5 &&
	      at[2] == 6 && at[3] == -1);
	starpu_data_set_coordinates_array(h, 2, two);
	CHECK(starpu_data_get_coordinates_array(h, 1, at) == 2 && at[0] == 8 && at[1] == 5);
}

static void flags(starpu_data_handle_t h)
{
	starpu_data_handle_t other;

	CHECK(starpu_data_get_sequential_consistency_flag(h) == 1 &&
	      starpu_data_get_ooc_flag(h) == 1);
	starpu_data_set_sequential_consistency_flag(h, 0);
	starpu_data_set_ooc_flag(h, 0);
	CHECK(starpu_data_get_sequential_consistency_flag(h) == 0 &&
	      starpu_data_get_ooc_flag(h) == 0);
	starpu_data_set_sequential_consistency_flag(h, 1);
	starpu_data_set_ooc_flag(h, 1);
	CHECK(starpu_data_get_sequential_consistency_flag(h) == 1 &&
	      starpu_data_get_ooc_flag(h) == 1);
	CHECK(starpu_data_get_default_sequential_consistency_flag() == 1);
	starpu_data_set_default_sequential_consistency_flag(0);
	starpu_void_data_register(&other);
	CHECK(starpu_data_get_sequential_consistency_flag(other) == 0);
	starpu_data_unregister(other);
	starpu_data_set_default_sequential_consistency_flag(1);
}

/* On the device it is elsewhere than at home; nowhere while there is no buffer. */
static void pointers(starpu_data_handle_t h, int *home)
{
	unsigned dev = device_node(0);
	void *there;

	CHECK(starpu_data_get_home_node(h) == STARPU_MAIN_RAM);
	CHECK(starpu_data_handle_to_pointer(h, STARPU_MAIN_RAM) == home &&
	      starpu_data_get_local_ptr(h) == home);
	CHECK(!starpu_data_handle_to_pointer(h, dev));
	CHECK(starpu_data_acquire_on_node(h, (int) dev, STARPU_R) == 0);
	there = starpu_data_handle_to_pointer(h, dev);
	CHECK(there && there != home &&
	      there == (void *) STARPU_MATRIX_GET_PTR(starpu_data_get_interface_on_node(h, dev)));
	CHECK(STARPU_MATRIX_GET_DEV_HANDLE(starpu_data_get_interface_on_node(h, dev)) ==
	      (uintptr_t) there);
	CHECK(STARPU_MATRIX_GET_OFFSET(starpu_data_get_interface_on_node(h, dev)) == 0);
	starpu_data_release_on_node(h, (int) dev);
}

static void *seen;

static void look_func(void *buffers[], void *arg)
{
	(void) buffers;
	seen = starpu_data_get_local_ptr(*(starpu_data_handle_t *) arg);
	CHECK(seen == (void *) STARPU_MATRIX_GET_PTR(buffers[0]));
}

static struct starpu_codelet look_cl = {
	.cuda_funcs = { look_func }, .nbuffers = 1, .modes = { STARPU_R }, .name = "look"
};

int main(void)
{
	int v[40] = { 0 }, mine, theirs;
	starpu_data_handle_t h, same;

	start();
	if (!starpu_cuda_worker_get_count())
		return 77;
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 8, 8, 5, sizeof(*v));
	CHECK(!starpu_data_get_user_data(h) && !starpu_data_get_sched_data(h));
	starpu_data_set_user_data(h, &mine);
	starpu_data_set_sched_data(h, &theirs);
	CHECK(starpu_data_get_user_data(h) == &mine && starpu_data_get_sched_data(h) == &theirs);
	starpu_data_set_name(h, "first");
	starpu_data_set_name(h, "table");
	starpu_data_print(h, STARPU_MAIN_RAM, stderr);
	fputc('\n', stderr);
	starpu_data_print(h, device_node(0), stderr);
	fputc('\n', stderr);
	coordinates(h);
	flags(h);
	pointers(h, v);
	CHECK(starpu_task_insert(&look_cl, STARPU_R, h, STARPU_CL_ARGS_NFREE, &h, sizeof(h),
				 STARPU_TASK_SYNCHRONOUS, 1, 0) == 0);
	CHECK(seen && seen != v);
	CHECK(starpu_data_get_interface_id(h) == STARPU_MATRIX_INTERFACE_ID &&
	      starpu_data_get_interface_ops(h) == &starpu_interface_matrix_ops);
	CHECK(starpu_data_get_size(h) == sizeof(v) && starpu_data_get_alloc_size(h) == sizeof(v) &&
	      starpu_data_get_max_size(h) == sizeof(v));
	/* The same shape; none of what the program attached. */
	starpu_data_register_same(&same, h);
	CHECK(starpu_data_get_home_node(same) == -1 && starpu_matrix_get_nx(same) == 8 &&
	      !starpu_data_get_user_data(same));
	CHECK(starpu_data_get_coordinates_array(same, 0, NULL) == 0);
	starpu_data_unregister(same);
	starpu_data_set_name(h, NULL);
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
