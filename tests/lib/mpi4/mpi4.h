/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The installed MPI, made up to be one of version 4, with sessions of its own (sessions.c), so that
 * tests/elastic/sessions.sh can build the library of process sets for such an MPI.
 *
 * Invariant: types and functions are those of the standard. */
#ifndef TESTS_LIB_MPI4_MPI4_H
#define TESTS_LIB_MPI4_MPI4_H

#include <mpi.h>

#undef MPI_VERSION
#define MPI_VERSION 4

/* A number, not a pointer, as in some MPIs. */
typedef int MPI_Session;
#define MPI_SESSION_NULL (-1)
#define MPI_MAX_PSET_NAME_LEN 512
#define MPI_MAX_STRINGTAG_LEN 1024

#define SESSION_FUNCTIONS(prefix) \
	int prefix##MPI_Session_init(MPI_Info, MPI_Errhandler, MPI_Session *); \
	int prefix##MPI_Session_finalize(MPI_Session *); \
	int prefix##MPI_Session_get_num_psets(MPI_Session, MPI_Info, int *); \
	int prefix##MPI_Session_get_nth_pset(MPI_Session, MPI_Info, int, int *, char *); \
	int prefix##MPI_Session_get_pset_info(MPI_Session, const char *, MPI_Info *); \
	int prefix##MPI_Group_from_session_pset(MPI_Session, const char *, MPI_Group *); \
	int prefix##MPI_Comm_create_from_group(MPI_Group, const char *, MPI_Info, MPI_Errhandler, \
					       MPI_Comm *);
SESSION_FUNCTIONS()
SESSION_FUNCTIONS(P)
MPI_Fint MPI_Session_c2f(MPI_Session session);
MPI_Session MPI_Session_f2c(MPI_Fint session);

#endif
