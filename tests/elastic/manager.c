/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set that is malleable: the resource manager grows it and shrinks it, and in a simulated run a
 * host fails. Driven by manager.sh, which gives the scripts. Ends when it has seen as many changes
 * as the first argument says, and prints the size after each. */
#include <unistd.h>
#include "elastic_test.h"

int main(int argc, char **argv)
{
	MPI_Session session;
	char main_set[NAME_ROOM] = "mpi://WORLD", next[NAME_ROOM], **out, *in[] = { main_set };
	int rank, size, changes = 0, wanted = argc > 1 ? atoi(argv[1]) : 1, n = 0;
	int op = MPI_PSETOP_MALLEABLE, type;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	int added = info_says(session, main_set, "mpi_dyn", "True");
	if (added) {
		look_up(session, "mpi://WORLD", "mpi://WORLD", "changes", next);
		changes = atoi(next);
		look_up(session, "mpi://WORLD", "mpi://WORLD", "next", main_set);
	}
	MPI_Comm comm = comm_of(session, main_set);
	OK(MPI_Comm_rank(comm, &rank));
	OK(MPI_Comm_size(comm, &size));
	check_comm(comm, rank, size);
	if (!rank && !added)
		OK(MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &n, MPI_INFO_NULL));
	if (!added)
		OK(MPI_Barrier(comm));
	while (changes < wanted) {
		usleep(20000);
		OK(MPI_Session_dyn_v2a_query_psetop(session, main_set, main_set, &type, &out, &n));
		if (type == MPI_PSETOP_NULL)
			continue;
		CHECK_IS(n, 2);
		snprintf(next, sizeof(next), "%s", out[1]);
		changes++;
		if (!rank) {
			char text[16];
			snprintf(text, sizeof(text), "%d", changes);
			publish(session, out[0], "changes", text);
			publish(session, out[0], "next", next);
			OK(MPI_Session_dyn_finalize_psetop(session, next));
		}
		free(out[0]);
		free(out[1]);
		free(out);
		OK(MPI_Comm_free(&comm));
		strcpy(main_set, next);
		if (!info_says(session, next, "mpi_included", "True"))
			return 0;
		comm = comm_of(session, main_set);
		OK(MPI_Comm_rank(comm, &rank));
		OK(MPI_Comm_size(comm, &size));
		check_comm(comm, rank, size);
		if (!rank)
			printf("change %d: operation %d, %d processes\n", changes, type, size);
		fflush(stdout);
	}
	OK(MPI_Comm_free(&comm));
	OK(MPI_Session_finalize(&session));
	return 0;
}
