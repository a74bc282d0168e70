/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is not there says so: a policy for load balancing, copies of checkpoints in the cache, the
 * map of who contributes to a reduction.
 *
 * orr-test: expect there is no policy 'cold', only 'heat'
 * orr-test: expect starpu_mpi_cached_cp_receive_set is not supported
 * orr-test: expect starpu_mpi_data_get_redux_map is not supported */
#include "mpi_test.h"

#include <starpu_mpi_lb.h>

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 1))
		return 77;
	new_int(&h);
	starpu_mpi_data_register(h, 1, 0);
	CHECK_IS(starpu_mpi_cached_cp_receive_set(h), -ENOSYS);
	CHECK(!starpu_mpi_data_get_redux_map(h), "a map");
	starpu_data_unregister(h);
	starpu_mpi_lb_init("cold", NULL);
	starpu_mpi_lb_shutdown();
	return end();
}
