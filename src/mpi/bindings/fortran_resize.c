/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data and runs that grow and shrink, for Fortran (fortran/orrery_resize_mod.f90). Only functions
 * that take communicators need translation; the module binds the others directly.
 *
 * Invariant: nothing happens here but the translation of arguments. */
#include <orrery_resize.h>
#include "mpi/bindings/mpi_fortran.h"
#include "mpi/carry/layer.h"

int orrery_fortran_resize_follow(int comm, starpu_data_handle_t handle,
				 orrery_distribution_t distribution, int64_t index)
{
	return orrery_resize_follow(MPI_Comm_f2c(comm), handle, distribution, index);
}

int orrery_fortran_resize(int comm, int n)
{
	return orrery_resize(MPI_Comm_f2c(comm), n);
}

int orrery_fortran_resize_size(int comm)
{
	return orrery_resize_size(MPI_Comm_f2c(comm));
}

int orrery_fortran_resize_ask(int comm, int n)
{
	return orrery_resize_ask(MPI_Comm_f2c(comm), n);
}

int orrery_fortran_resize_switch(int comm)
{
	return orrery_resize_switch(MPI_Comm_f2c(comm));
}

/* The communicator of the runtime, which a point may have replaced. */
static int present_comm(void)
{
	const struct orr_mpi *mpi = orr_self()->mpi;

	return MPI_Comm_c2f(!mpi || mpi->life.left ? MPI_COMM_NULL : mpi->comms.all[0]->comm);
}

int orrery_fortran_resize_point(int *comm)
{
	int ret = orrery_resize_point(MPI_Comm_f2c(*comm));

	if (ret >= 0)
		*comm = present_comm();
	return ret;
}

int orrery_fortran_elastic_start(int *comm, void *state, size_t bytes)
{
	int ret = orrery_elastic_start(NULL, NULL, NULL, NULL, state, bytes);

	if (ret >= 0)
		*comm = present_comm();
	return ret;
}
