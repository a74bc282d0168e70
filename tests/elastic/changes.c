/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Changes of resources: what each operation gives to the processes that stay, leave and come, and
 * what is refused. Two processes become four (non-blocking), two of them are replaced, and in the
 * end one process is left, which was not there at the beginning of the last change.
 *
 * orr-test: most 5
 * orr-test: expect refused: 2 of 5 in the pool are in use
 * orr-test: expect none would be left
 * orr-test: expect another one is pending
 * orr-test: expect rank 0 of 1 ends */
#include "elastic_test.h"

static MPI_Session session;
static char main_set[NAME_ROOM];
static MPI_Comm comm;
static int rank, size;

static void join_main(void)
{
	comm = comm_of(session, main_set);
	OK(MPI_Comm_rank(comm, &rank));
	OK(MPI_Comm_size(comm, &size));
	test_rank = rank;
	check_comm(comm, rank, size);
}

/* All learn which change is pending, and which set comes next. */
static int learn(int wanted, int noutput, const char *next_key, char next[NAME_ROOM])
{
	char **out = NULL;
	int type, n = 0;
	OK(MPI_Session_dyn_v2a_query_psetop(session, main_set, main_set, &type, &out, &n));
	CHECK_IS(type, wanted);
	CHECK_IS(n, noutput);
	char last[NAME_ROOM];
	strcpy(last, out[n - 1]);
	for (int i = 0; i < n; i++) {
		CHECK(strncmp(out[i], "prrte://base_name/", 18) == 0);
		if (!rank)
			publish(session, out[i], next_key, last);
		free(out[i]);
	}
	free(out);
	strcpy(next, last);
	return info_says(session, next, "mpi_included", "True");
}

static void finish(const char *next)
{
	char before[NAME_ROOM];
	MPI_Comm old = comm;
	int was_first = !rank;
	strcpy(before, main_set);
	strcpy(main_set, next);
	OK(MPI_Comm_disconnect(&old));
	if (was_first)
		OK(MPI_Session_dyn_finalize_psetop(session, before));
	if (info_says(session, next, "mpi_included", "True"))
		join_main();
}

static void check_refusals(void)
{
	char out[4][NAME_ROOM];
	int n;
	if (rank)
		return;
	CHECK_IS(operate(session, MPI_PSETOP_GROW, main_set, NULL, "mpi_num_procs_add", "4", out,
			 &n),
		 MPI_PSETOP_NULL);
	CHECK_IS(n, 0);
	CHECK_IS(operate(session, MPI_PSETOP_SHRINK, main_set, NULL, "mpi_num_procs_sub", "2", out,
			 &n),
		 MPI_PSETOP_NULL);
	CHECK_IS(n, 0);
}

static void grow(void)
{
	char *in[] = { main_set }, **out = NULL, next[NAME_ROOM], more[4][NAME_ROOM];
	int op = MPI_PSETOP_GROW, n = 0;
	MPI_Request request;
	MPI_Info info;
	if (!rank) {
		OK(MPI_Info_create(&info));
		OK(MPI_Info_set(info, "mpi_num_procs_add", "2"));
		OK(MPI_Session_dyn_v2a_psetop_nb(session, &op, in, 1, &out, &n, info, &request));
		OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
		OK(MPI_Info_free(&info));
		CHECK_IS(op, MPI_PSETOP_GROW);
		CHECK_IS(n, 2);
		free(out[0]);
		free(out[1]);
		free(out);
		/* a second one, while this is pending */
		CHECK_IS(operate(session, MPI_PSETOP_ADD, main_set, NULL, "mpi_num_procs_add", "1",
				 more, &n),
			 MPI_PSETOP_NULL);
	}
	CHECK(learn(MPI_PSETOP_GROW, 2, "stage1", next));
	finish(next);
	CHECK_IS(size, 4);
}

/* The last three of four leave, and one comes: [0 new]. Then the first leaves with REPLACE again,
 * as the set is given in reverse order. */
static int replace(void)
{
	char out[4][NAME_ROOM], next[NAME_ROOM];
	char *in[] = { main_set }, **names = NULL;
	MPI_Info info;
	int op = MPI_PSETOP_REPLACE, n = 0;
	(void) out;
	if (!rank) {
		OK(MPI_Info_create(&info));
		OK(MPI_Info_set(info, "mpi_num_procs_add", "1"));
		OK(MPI_Info_set(info, "mpi_num_procs_sub", "3"));
		OK(MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &names, &n, info));
		OK(MPI_Info_free(&info));
		CHECK_IS(n, 3);
		for (int i = 0; i < n; i++)
			free(names[i]);
		free(names);
	}
	int stays = learn(MPI_PSETOP_REPLACE, 3, "stage2", next);
	CHECK_IS(stays, rank == 0);
	finish(next);
	return stays;
}

/* The old process gives its place to the new one: the set in reverse order, and its last leaves. */
static int hand_over(void)
{
	char out[4][NAME_ROOM], next[NAME_ROOM], last[NAME_ROOM];
	int n;
	if (!rank) {
		operate(session, MPI_PSETOP_SPLIT, main_set, NULL, "mpi_part_sizes", "1,1", out,
			&n);
		operate(session, MPI_PSETOP_UNION, out[1], out[0], NULL, NULL, out, &n);
		publish(session, main_set, "reversed", out[0]);
	}
	look_up(session, main_set, main_set, "reversed", last);
	OK(MPI_Comm_disconnect(&comm));
	strcpy(main_set, last);
	join_main();
	if (!rank)
		CHECK_IS(operate(session, MPI_PSETOP_SHRINK, main_set, NULL, "mpi_num_procs_sub",
				 "1", out, &n),
			 MPI_PSETOP_SHRINK);
	int stays = learn(MPI_PSETOP_SHRINK, 2, "stage3", next);
	CHECK_IS(stays, rank == 0);
	finish(next);
	return stays;
}

int main(void)
{
	int stage = 0, stays;
	MPI_Info info;
	char *keys[] = { "stage1", "stage2" };
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	strcpy(main_set, "mpi://WORLD");
	if (info_says(session, "mpi://WORLD", "mpi_dyn", "True")) {
		for (stage = 0; !stage;) {
			OK(MPI_Session_get_pset_data(session, main_set, main_set, keys, 2, 0,
						     &info));
			for (int i = 0; i < 2; i++) {
				if (!*value_of(info, keys[i]))
					continue;
				strcpy(main_set, value_of(info, keys[i]));
				stage = i + 1;
			}
			OK(MPI_Info_free(&info));
		}
	}
	join_main();
	if (stage == 0) {
		check_refusals();
		grow();
	}
	stays = stage == 2 || replace();
	if (stays)
		stays = hand_over();
	if (stays) {
		CHECK_IS(size, 1);
		CHECK(info_says(session, "mpi://WORLD", "mpi_dyn", "True"));
		printf("rank %d of %d ends\n", rank, size);
	}
	OK(MPI_Session_finalize(&session));
	return 0;
}
