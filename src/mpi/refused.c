/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of the MPI layer that are declared and refuse, see src/core/refused.c.
 *
 * Invariant: no function of this file succeeds. */
#include "starpu_mpi.h"

#include <errno.h>

#include "base/log.h"

int starpu_mpi_cached_cp_receive_set(starpu_data_handle_t data_handle)
{
	(void) data_handle;
	orr_error(
		"%s is not supported: checkpoints keep copies of their own, which no cache of received values holds",
		__func__);
	return -ENOSYS;
}

char *starpu_mpi_data_get_redux_map(starpu_data_handle_t handle)
{
	(void) handle;
	orr_error(
		"%s is not supported: which ranks contribute is known to the owner's reduction only",
		__func__);
	return NULL;
}
