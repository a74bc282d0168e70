/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is declared but not there says so: checkpoints are refused, policies for load balancing are
 * unknown.
 *
 * orr-test: expect there are no checkpoints: all functions of starpu_mpi_ft.h return -ENOSYS
 * orr-test: expect load balancing policy 'heat' is not known */
#include "mpi_test.h"

#include <starpu_mpi_lb.h>

int main(int argc, char **argv)
{
	starpu_mpi_checkpoint_template_t template = NULL;
	int dummy = 0;

	if (!begin(&argc, &argv, 1))
		return 77;
	CHECK_IS(starpu_mpi_checkpoint_init(), -ENOSYS);
	CHECK_IS(starpu_mpi_checkpoint_template_register(&template, 1, 0, STARPU_VALUE, &dummy,
							 sizeof(dummy), 1, NULL, 0),
		 -ENOSYS);
	CHECK_IS(starpu_mpi_checkpoint_template_create(&template, 1, 0), -ENOSYS);
	CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&template, STARPU_VALUE, &dummy,
							  sizeof(dummy), 1, NULL),
		 -ENOSYS);
	CHECK_IS(starpu_mpi_checkpoint_template_freeze(&template), -ENOSYS);
	CHECK(!template);
	CHECK_IS(starpu_mpi_checkpoint_template_submit(template, 0), -ENOSYS);
	CHECK_IS(starpu_mpi_checkpoint_template_print(template), -ENOSYS);
	CHECK_IS(starpu_mpi_ft_turn_on(), -ENOSYS);
	CHECK_IS(starpu_mpi_ft_turn_off(), -ENOSYS);
	CHECK_IS(starpu_mpi_checkpoint_shutdown(), -ENOSYS);

	starpu_mpi_lb_init("heat", NULL);
	starpu_mpi_lb_shutdown();
	return end();
}
