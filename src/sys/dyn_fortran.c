/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of MPI that elastic runs take (dyn_group.c, dyn_end.c), in Fortran: those of Open
 * MPI call its own ones directly.
 *
 * Invariant: each does what its relative in C does. */
#include <mpi.h>

#pragma GCC visibility push(default)

void mpi_group_size_(MPI_Fint *group, MPI_Fint *size, MPI_Fint *ierror);
void mpi_group_size_(MPI_Fint *group, MPI_Fint *size, MPI_Fint *ierror)
{
	*ierror = MPI_Group_size(PMPI_Group_f2c(*group), size);
}

void mpi_group_rank_(MPI_Fint *group, MPI_Fint *rank, MPI_Fint *ierror);
void mpi_group_rank_(MPI_Fint *group, MPI_Fint *rank, MPI_Fint *ierror)
{
	*ierror = MPI_Group_rank(PMPI_Group_f2c(*group), rank);
}

void mpi_group_free_(MPI_Fint *group, MPI_Fint *ierror);
void mpi_group_free_(MPI_Fint *group, MPI_Fint *ierror)
{
	MPI_Group g = PMPI_Group_f2c(*group);
	*ierror = MPI_Group_free(&g);
	if (!*ierror)
		*group = PMPI_Group_c2f(g);
}

void mpi_comm_disconnect_(MPI_Fint *comm, MPI_Fint *ierror);
void mpi_comm_disconnect_(MPI_Fint *comm, MPI_Fint *ierror)
{
	MPI_Comm c = PMPI_Comm_f2c(*comm);
	*ierror = MPI_Comm_disconnect(&c);
	if (!*ierror)
		*comm = PMPI_Comm_c2f(c);
}

void mpi_finalize_(MPI_Fint *ierror);
void mpi_finalize_(MPI_Fint *ierror)
{
	*ierror = MPI_Finalize();
}

#pragma GCC visibility pop
