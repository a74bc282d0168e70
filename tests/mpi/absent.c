/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A policy for load balancing that is not there says so.
 *
 * orr-test: expect there is no policy 'cold', only 'heat' */
#include "mpi_test.h"

#include <starpu_mpi_lb.h>

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 1))
		return 77;
	starpu_mpi_lb_init("cold", NULL);
	starpu_mpi_lb_shutdown();
	return end();
}
