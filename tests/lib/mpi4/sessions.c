/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions of an MPI of version 4, as far as the tests need them: two process sets, the world and
 * the process itself. Each process says when its first session begins and its last one ends.
 *
 * Invariant: MPI runs while a session does. */
#include "mpi4.h"

#include <stdio.h>
#include <string.h>

static int nsessions;

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
	int up, level;

	(void) info;
	(void) errhandler;
	MPI_Initialized(&up);
	if (!up)
		MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	if (!nsessions)
		fprintf(stderr, "MPI's own sessions begin\n");
	*session = nsessions++;
	return MPI_SUCCESS;
}

int PMPI_Session_finalize(MPI_Session *session)
{
	*session = MPI_SESSION_NULL;
	if (!--nsessions)
		fprintf(stderr, "MPI's own sessions end\n");
	return MPI_SUCCESS;
}

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npsets)
{
	(void) session;
	(void) info;
	*npsets = 2;
	return MPI_SUCCESS;
}

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *length, char *name)
{
	(void) session;
	(void) info;
	snprintf(name, (size_t) *length, "%s", n ? "mpi://SELF" : "mpi://WORLD");
	return MPI_SUCCESS;
}

int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
	int size = 1;
	char text[16];

	(void) session;
	if (!strcmp(pset_name, "mpi://WORLD"))
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(text, sizeof(text), "%d", size);
	MPI_Info_create(info);
	return MPI_Info_set(*info, "mpi_size", text);
}

int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *group)
{
	(void) session;
	return MPI_Comm_group(strcmp(pset_name, "mpi://WORLD") ? MPI_COMM_SELF : MPI_COMM_WORLD,
			      group);
}

int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
				MPI_Errhandler errhandler, MPI_Comm *comm)
{
	(void) stringtag;
	(void) info;
	(void) errhandler;
	return MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, comm);
}

MPI_Fint MPI_Session_c2f(MPI_Session session)
{
	return session;
}

MPI_Session MPI_Session_f2c(MPI_Fint session)
{
	return session;
}
