/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is declared but not there says so: policies for load balancing are unknown.
 *
 * orr-test: expect load balancing policy 'heat' is not known */
#include "mpi_test.h"

#include <starpu_mpi_lb.h>

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 1))
		return 77;
	starpu_mpi_lb_init("heat", NULL);
	starpu_mpi_lb_shutdown();
	return end();
}
