/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The non-blocking query of a change: it waits for all processes of the set, while its caller goes
 * on; it knows the pending change like the blocking form, and no change once that is over; a null
 * name is refused at once, and an unknown set when the request completes.
 *
 * orr-test: most 3
 * orr-test: expect there is no process set "nowhere" */
#include "elastic_test.h"

enum { TESTS = 100 };

static MPI_Session session;
static MPI_Comm comm;
static char world[NAME_ROOM] = "mpi://WORLD";
static int rank;

struct answer {
	int type, n;
	char **names;
	MPI_Request request;
};

static void ask(struct answer *a, char *set)
{
	*a = (struct answer){ .type = -1, .n = -1 };
	OK(MPI_Session_dyn_v2a_query_psetop_nb(session, set, set, &a->type, &a->names, &a->n,
					       &a->request));
	CHECK(a->request != MPI_REQUEST_NULL);
}

static void await(struct answer *a, int type, int n)
{
	OK(MPI_Wait(&a->request, MPI_STATUS_IGNORE));
	CHECK(a->request == MPI_REQUEST_NULL);
	CHECK_IS(a->type, type);
	CHECK_IS(a->n, n);
}

static void forget(struct answer *a)
{
	for (int i = 0; i < a->n; i++)
		free(a->names[i]);
	free(a->names);
}

/* Rank 1 asks when rank 0 has waited in vain; rank 0 receives a message while its request is open.
 */
static void check_waits_for_all(void)
{
	struct answer a;
	int done = 0;

	if (rank) {
		OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
		ask(&a, world);
	} else {
		ask(&a, world);
		for (int i = 0; i < TESTS; i++) {
			OK(MPI_Test(&a.request, &done, MPI_STATUS_IGNORE));
			CHECK(!done, "the query did not wait for rank 1");
		}
		OK(MPI_Send(NULL, 0, MPI_INT, 1, 1, comm));
	}
	await(&a, MPI_PSETOP_NULL, 0);
	CHECK(!a.names);
}

/* Both forms find the pending change, on the old set as on the new one, and nothing is pending
 * afterwards. */
static void check_pending(char next[NAME_ROOM])
{
	char made[4][NAME_ROOM], **names = NULL;
	struct answer a;
	int type, n = 0;

	if (!rank)
		CHECK_IS(operate(session, MPI_PSETOP_GROW, world, NULL, "mpi_num_procs_add", "1",
				 made, &n),
			 MPI_PSETOP_GROW);
	OK(MPI_Barrier(comm));
	ask(&a, world);
	await(&a, MPI_PSETOP_GROW, 2);
	OK(MPI_Session_dyn_v2a_query_psetop(session, world, world, &type, &names, &n));
	CHECK_IS(type, MPI_PSETOP_GROW);
	CHECK_IS(n, 2);
	for (int i = 0; i < 2; i++) {
		CHECK(!strcmp(a.names[i], names[i]), "%s, not %s", a.names[i], names[i]);
		if (!rank)
			CHECK(!strcmp(a.names[i], made[i]), "%s, not %s", a.names[i], made[i]);
		free(names[i]);
	}
	free(names);
	strcpy(next, a.names[1]);
	if (!rank) {
		publish(session, a.names[0], "next", next);
		OK(MPI_Session_dyn_finalize_psetop(session, world));
	}
	OK(MPI_Barrier(comm));
	forget(&a);
	ask(&a, world);
	await(&a, MPI_PSETOP_NULL, 0);
}

static void check_mistakes(void)
{
	struct answer a = { .type = 7, .n = 7, .request = MPI_REQUEST_NULL };
	char nowhere[] = "nowhere";

	CHECK_IS(MPI_Session_dyn_v2a_query_psetop_nb(session, NULL, world, &a.type, &a.names, &a.n,
						     &a.request),
		 MPI_ERR_ARG);
	CHECK(a.request == MPI_REQUEST_NULL && a.type == 7 && a.n == 7);
	ask(&a, nowhere);
	int ret = MPI_Wait(&a.request, MPI_STATUS_IGNORE);
	CHECK(ret != MPI_SUCCESS, "an unknown set has no error");
	CHECK(a.type == -1 && a.n == -1 && !a.names);
}

int main(void)
{
	char set[NAME_ROOM] = "mpi://WORLD";
	MPI_Comm all;

	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	if (info_says(session, world, "mpi_dyn", "True")) {
		look_up(session, world, world, "next", set);
		test_rank = rank = 2;
	} else {
		comm = comm_of(session, world);
		OK(MPI_Comm_rank(comm, &rank));
		test_rank = rank;
		check_waits_for_all();
		check_mistakes();
		check_pending(set);
		OK(MPI_Comm_free(&comm));
	}
	all = comm_of(session, set);
	check_comm(all, rank, 3);
	OK(MPI_Comm_free(&all));
	OK(MPI_Session_finalize(&session));
	return 0;
}
