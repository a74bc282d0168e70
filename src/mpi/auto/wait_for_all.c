/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for all tasks and communications of this process.
 *
 * Invariant: nothing is pending when the call returns, unless another thread submitted more. */
#include <errno.h>
#include "core/task/task_count.h"
#include "mpi/carry/fake_rank.h"
#include "mpi/auto/check_inserts.h"
#include "mpi/carry/mpi_wait.h"
#include "mpi/auto/mpi_redux.h"
#include "mpi/carry/comm.h"

int starpu_mpi_wait_for_all(MPI_Comm comm)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	int ret = mpi ? orr_mpi_check_blocking(__func__) : -ENODEV;
	struct orr_mpi_comm *c = ret ? NULL : orr_mpi_comm_of(mpi, comm);

	if (ret)
		return ret;
	if (!c)
		return -EINVAL;
	if (mpi->alone)
		orr_mpi_alone_pauses(mpi);
	if (__builtin_expect(mpi->check != NULL, 0) && c->size == mpi->size)
		orr_mpi_check_compare(mpi);
	ret = orr_mpi_redux_flush_all(mpi, c);
	if (ret)
		return ret;
	orr_mpi_wait_everything(mpi, __func__);
	if (mpi->alone)
		orr_mpi_alone_waited(mpi);
	return 0;
}
