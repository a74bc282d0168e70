/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rank that exits without starpu_mpi_shutdown while another waits for it, in a program that has a
 * function of MPI itself, as with an MPI that is linked into it: that is still told, and ends all.
 * orr-test: world real
 * orr-test: expect rank 1 exits without starpu_mpi_shutdown */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include "mpi_early_exit.c"

int PMPI_Abort(MPI_Comm comm, int status)
{
	union {
		void *found;
		int (*call)(MPI_Comm, int);
	} next = { dlsym(RTLD_NEXT, "PMPI_Abort") };

	return next.call(comm, status);
}
