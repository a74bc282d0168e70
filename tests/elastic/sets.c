/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets without a change of resources: their names, what is known of them, the operations that
 * combine them, groups and communicators, dictionaries; mistakes return errors, outputs untouched.
 *
 * orr-test: ranks 4
 * orr-test: sim-ranks 4 */
#include "elastic_test.h"

static MPI_Session session;
static int rank;

static void check_names(void)
{
	char name[NAME_ROOM];
	int n, length = 0;
	OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
	CHECK_IS(n, 2);
	OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL));
	CHECK_IS(length, sizeof("mpi://WORLD"));
	OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name));
	CHECK(!strcmp(name, "mpi://WORLD"));
	length = sizeof(name);
	OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, &length, name));
	CHECK(!strcmp(name, "mpi://SELF"));
	CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &length, name) != MPI_SUCCESS);
}

static void check_infos(void)
{
	CHECK(info_says(session, "mpi://WORLD", "mpi_size", "4"));
	CHECK(info_says(session, "mpi://WORLD", "mpi_dyn", "False"));
	CHECK(info_says(session, "mpi://WORLD", "mpi_primary", rank ? "False" : "True"));
	CHECK(info_says(session, "mpi://SELF", "mpi_size", "1"));
	CHECK(info_says(session, "mpi://SELF", "mpi_primary", "True"));
}

/* The first process splits the world into parts and combines them; all check what that makes. */
static void check_algebra(void)
{
	char out[4][NAME_ROOM], part[NAME_ROOM], all[NAME_ROOM];
	int n;
	if (!rank) {
		CHECK_IS(operate(session, MPI_PSETOP_SPLIT, "mpi://WORLD", NULL, "mpi_part_sizes",
				 "1,2,1", out, &n),
			 MPI_PSETOP_SPLIT);
		CHECK_IS(n, 3);
		CHECK(!strcmp(out[0], "prrte://base_name/0"), "%s", out[0]);
		strcpy(part, out[1]);
		operate(session, MPI_PSETOP_UNION, out[2], out[1], NULL, NULL, out, &n);
		CHECK_IS(n, 1);
		strcpy(all, out[0]); /* ranks 3, 1, 2 */
		operate(session, MPI_PSETOP_INTERSECTION, all, "mpi://SELF", NULL, NULL, out, &n);
		CHECK(info_says(session, out[0], "mpi_size", "0"));
		operate(session, MPI_PSETOP_DIFFERENCE, "mpi://WORLD", all, NULL, NULL, out, &n);
		CHECK(info_says(session, out[0], "mpi_size", "1"));
		CHECK(info_says(session, out[0], "mpi_included", "True"));
		publish(session, "mpi://WORLD", "all", all);
	}
	look_up(session, "mpi://WORLD", "mpi://WORLD", "all", all);
	CHECK(info_says(session, all, "mpi_included", rank ? "True" : "False"));
	CHECK(info_says(session, all, "mpi_primary", rank == 3 ? "True" : "False"));
	if (rank) {
		MPI_Comm comm = comm_of(session, all);
		check_comm(comm, rank == 3 ? 0 : rank, 3);
		OK(MPI_Comm_disconnect(&comm));
	}
}

static void check_named(void)
{
	char *in[] = { "mpi://WORLD" }, *names[] = { "mine://left", "mine://right" };
	char **out = names;
	MPI_Info info;
	int op = MPI_PSETOP_SPLIT, n = 2;
	if (!rank) {
		OK(MPI_Info_create(&info));
		OK(MPI_Info_set(info, "mpi_part_sizes", "2,2"));
		OK(MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &n, info));
		CHECK_IS(n, 2);
		CHECK(out == names);
		CHECK(MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &n, info) !=
		      MPI_SUCCESS); /* the names are taken */
		OK(MPI_Info_free(&info));
		publish(session, "mpi://WORLD", "split", "yes");
	}
	look_up(session, "mpi://WORLD", "mpi://WORLD", "split", (char[NAME_ROOM]){ 0 });
	MPI_Comm comm = comm_of(session, rank < 2 ? names[0] : names[1]);
	check_comm(comm, rank % 2, 2);
	OK(MPI_Comm_free(&comm));
}

/* Keys that are missing are left out, or waited for. */
static void check_dictionary(void)
{
	char *keys[] = { "there", "missing" };
	MPI_Info info;
	MPI_Request request;
	if (!rank)
		publish(session, "mpi://WORLD", "there", "1");
	look_up(session, "mpi://WORLD", "mpi://WORLD", "there", (char[NAME_ROOM]){ 0 });
	OK(MPI_Session_get_pset_data(session, "mpi://WORLD", "mpi://WORLD", keys, 2, 0, &info));
	CHECK(!strcmp(value_of(info, "there"), "1"));
	CHECK(!strcmp(value_of(info, "missing"), ""));
	OK(MPI_Info_free(&info));
	OK(MPI_Session_get_pset_data_nb(session, "mpi://WORLD", "mpi://WORLD", keys, 2, 1, &info,
					&request));
	if (!rank)
		publish(session, "mpi://WORLD", "missing", "2");
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(!strcmp(value_of(info, "missing"), "2"));
	OK(MPI_Info_free(&info));
}

static void check_mistakes(void)
{
	char *in[] = { "prrte://base_name/99" }, **out = NULL;
	int op = MPI_PSETOP_GROW, n = 0, type = 7;
	MPI_Info info = MPI_INFO_NULL;
	MPI_Group group;
	MPI_Session none = MPI_SESSION_NULL;
	CHECK_IS(MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &n, info), MPI_ERR_ARG);
	CHECK(op == MPI_PSETOP_GROW && !n && !out);
	in[0] = "mpi://WORLD"; /* how many? */
	CHECK_IS(MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &n, info), MPI_ERR_ARG);
	op = 77;
	CHECK_IS(MPI_Session_dyn_v2a_psetop(session, &op, in, 1, &out, &n, info), MPI_ERR_ARG);
	CHECK_IS(MPI_Session_dyn_v2a_query_psetop(session, "no", "no", &type, &out, &n),
		 MPI_ERR_ARG);
	CHECK_IS(MPI_Session_dyn_finalize_psetop(session, "mpi://WORLD"), MPI_ERR_ARG);
	CHECK_IS(MPI_Session_get_pset_info(session, "no", &info), MPI_ERR_ARG);
	CHECK_IS(MPI_Group_from_session_pset(session, "no", &group), MPI_ERR_ARG);
	CHECK_IS(MPI_Session_get_pset_info(none, "mpi://WORLD", &info), MPI_ERR_ARG);
	CHECK_IS(type, 7);
}

int main(void)
{
	MPI_Session second;
	MPI_Comm comm;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second));
	CHECK(second != session && MPI_Session_f2c(MPI_Session_c2f(second)) == second);
	OK(MPI_Session_finalize(&second));
	CHECK(second == MPI_SESSION_NULL);
	comm = comm_of(session, "mpi://WORLD");
	OK(MPI_Comm_rank(comm, &rank));
	test_rank = rank;
	check_comm(comm, rank, 4);
	check_names();
	OK(MPI_Barrier(comm)); /* the first process makes more sets from now on */
	check_infos();
	check_algebra();
	check_named();
	check_dictionary();
	check_mistakes();
	check_comm(comm, rank, 4);
	OK(MPI_Comm_free(&comm));
	OK(MPI_Session_finalize(&session));
	return 0;
}
