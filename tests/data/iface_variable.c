/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variable interface: registration, accessors, a task, packing, data without home node. */
#include "data/iface_test.h"

int main(void)
{
	starpu_data_handle_t h, other, none, same;
	int a = 1, b = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &a, sizeof(a));
	starpu_variable_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) &b, sizeof(b));
	starpu_variable_data_register(&none, -1, 0, sizeof(int));
	CHECK(starpu_variable_get_elemsize(h) == sizeof(a));
	CHECK(starpu_variable_get_local_ptr(h) == (uintptr_t) &a);
	CHECK(starpu_data_get_interface_id(h) == STARPU_VARIABLE_INTERFACE_ID);
	CHECK(starpu_data_get_local_ptr(h) == &a);
	CHECK(starpu_data_get_alloc_size(h) == sizeof(a));
	CHECK(starpu_variable_get_local_ptr(none) == 0);
	check_task(h);
	check_pack(h, other);
	CHECK(starpu_task_insert(&fill_cl, STARPU_W, none, STARPU_VALUE, &(int){ 5 }, sizeof(int),
				 0) == 0);
	CHECK(starpu_data_acquire(none, STARPU_R) == 0);
	CHECK(*(int *) starpu_variable_get_local_ptr(none) == 5);
	starpu_data_release(none);
	starpu_data_register_same(&same, h);
	CHECK(starpu_variable_get_elemsize(same) == sizeof(a) &&
	      starpu_data_get_home_node(same) == -1);
	starpu_data_unregister(same);
	starpu_data_unregister(none);
	starpu_data_unregister(other);
	starpu_data_unregister(h);
	CHECK(a == 1001 && b == 1001);
	starpu_shutdown();
	return 0;
}
