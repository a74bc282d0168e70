/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI layer of the process: every public call of it begins here.
 *
 * Invariant: proc->mpi is set exactly while the engine may be used (mpi_init.c). */
#include "base/log.h"
#include "mpi/carry/layer.h"

struct orr_mpi *orr_mpi_get(const char *who)
{
	struct orr_mpi *mpi = orr_self()->mpi;

	if (!mpi)
		orr_error("%s: the MPI layer is not running; call starpu_mpi_init_conf() first",
			  who);
	return mpi;
}

int orr_mpi_check_blocking(const char *who)
{
	if (!orr_thread_self()->task)
		return 0;
	orr_error(
		"%s waits and must not be called from a task or callback: use a detached communication",
		who);
	return -EDEADLK;
}
