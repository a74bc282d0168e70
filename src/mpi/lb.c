/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load balancing between ranks: accepted without a policy, so that programs which make it optional
 * run.
 *
 * Invariant: nothing migrates unless the program migrates it. */
#include <stdlib.h>
#include "starpu_mpi_lb.h"
#include "mpi/mpi.h"
#include "base/log.h"

void starpu_mpi_lb_init(const char *lb_policy_name, struct starpu_mpi_lb_conf *itf)
{
	(void) itf;
	if (lb_policy_name && *lb_policy_name)
		orr_warn(
			"load balancing policy '%s' is not known: data stays where it is unless the program calls starpu_mpi_data_migrate()",
			lb_policy_name);
}

void starpu_mpi_lb_shutdown(void) {}
