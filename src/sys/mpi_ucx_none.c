/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of mpi_ucx.c where configure found no UCX. */
#include "sys/mpi_transports.h"

#include <errno.h>
#include "base/log.h"

int orr_real_ucx_init(MPI_Comm comm, int rank, int size)
{
	(void) comm;
	(void) rank;
	(void) size;
	orr_error(
		"ORRERY_TRANSPORT=ucx: this Orrery was built without UCX; name shm or mpi, or configure again after installing it (Debian: libucx-dev)");
	return -EINVAL;
}

void orr_real_ucx_exit(MPI_Comm comm)
{
	(void) comm;
}

const struct orr_transport *orr_real_ucx_transport(void)
{
	return NULL;
}
