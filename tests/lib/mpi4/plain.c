/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program of MPI 4 that is linked with the library of process sets and does not run elastically:
 * MPI's own functions answer, and operations on sets are refused. Driven by
 * tests/elastic/sessions.sh. */
#include "elastic/elastic_test.h"

int main(void)
{
	MPI_Session session;
	int n, length = MPI_MAX_PSET_NAME_LEN, rank, op = MPI_PSETOP_GROW, noutput = 0;
	char name[MPI_MAX_PSET_NAME_LEN], *in[] = { name }, **out = NULL;

	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
	CHECK_IS(n, 2);
	OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name));
	CHECK(!strcmp(name, "mpi://WORLD"));
	CHECK(info_says(session, name, "mpi_size", "2"));
	MPI_Comm comm = comm_of(session, name);
	OK(MPI_Comm_rank(comm, &rank));
	check_comm(comm, rank, 2);
	CHECK_IS(MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &noutput, MPI_INFO_NULL),
		 MPI_ERR_OTHER);
	CHECK(op == MPI_PSETOP_GROW && !out && !noutput);
	OK(MPI_Comm_free(&comm));
	OK(MPI_Session_finalize(&session));
	CHECK(session == MPI_SESSION_NULL);
	OK(MPI_Finalize());
	return 0;
}
