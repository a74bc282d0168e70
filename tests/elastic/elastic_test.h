/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the tests of process sets share.
 *
 * Invariant: each call that is made here must succeed. */
#ifndef TESTS_ELASTIC_ELASTIC_TEST_H
#define TESTS_ELASTIC_ELASTIC_TEST_H

#include <mpi.h>
#include <string.h>
#include "orrery_dyn.h"
#include "test.h"

#define NAME_ROOM MPI_MAX_PSET_NAME_LEN

/* The value of a key of an info object, "" if it is not there. */
__attribute__((unused)) static const char *value_of(MPI_Info info, const char *key)
{
	static char value[NAME_ROOM];
	int found;
	OK(MPI_Info_get(info, key, sizeof(value) - 1, value, &found));
	return found ? value : "";
}

/* The operation on these sets, with one key of info or NULL. Outputs are copied to out. Returns the
 * operation that was done. */
__attribute__((unused)) static int operate(MPI_Session session, int op, const char *a,
					   const char *b, const char *key, const char *value,
					   char out[][NAME_ROOM], int *nout)
{
	char *in[] = { (char *) a, (char *) b }, **names = NULL;
	MPI_Info info = MPI_INFO_NULL;
	int n = 0;
	if (key) {
		OK(MPI_Info_create(&info));
		OK(MPI_Info_set(info, key, value));
	}
	OK(MPI_Session_dyn_v2a_psetop(session, &op, in, b ? 2 : 1, &names, &n, info));
	if (key)
		OK(MPI_Info_free(&info));
	for (int i = 0; i < n; i++) {
		snprintf(out[i], NAME_ROOM, "%s", names[i]);
		free(names[i]);
	}
	free(names);
	*nout = n;
	return op;
}

/* The words of get_pset_info for a set. */
__attribute__((unused)) static int info_says(MPI_Session session, const char *set, const char *key,
					     const char *wanted)
{
	MPI_Info info;
	OK(MPI_Session_get_pset_info(session, set, &info));
	int same = !strcmp(value_of(info, key), wanted);
	OK(MPI_Info_free(&info));
	return same;
}

__attribute__((unused)) static void publish(MPI_Session session, const char *set, const char *key,
					    const char *value)
{
	MPI_Info info;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, key, value));
	OK(MPI_Session_set_pset_data(session, set, info));
	OK(MPI_Info_free(&info));
}

/* All of coll wait for the key. */
__attribute__((unused)) static void look_up(MPI_Session session, const char *coll, const char *set,
					    const char *key, char out[NAME_ROOM])
{
	char *keys[] = { (char *) key };
	MPI_Info info;
	OK(MPI_Session_get_pset_data(session, (char *) coll, (char *) set, keys, 1, 1, &info));
	snprintf(out, NAME_ROOM, "%s", value_of(info, key));
	OK(MPI_Info_free(&info));
}

__attribute__((unused)) static MPI_Comm comm_of(MPI_Session session, const char *set)
{
	MPI_Group group;
	MPI_Comm comm;
	OK(MPI_Group_from_session_pset(session, set, &group));
	OK(MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
	OK(MPI_Group_free(&group));
	return comm;
}

/* All processes of the communicator are there, in this order. */
__attribute__((unused)) static void check_comm(MPI_Comm comm, int rank, int size)
{
	int is_rank, is_size, sum;
	OK(MPI_Comm_rank(comm, &is_rank));
	OK(MPI_Comm_size(comm, &is_size));
	CHECK_IS(is_size, size);
	CHECK_IS(is_rank, rank);
	OK(MPI_Allreduce(&is_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
	CHECK_IS(sum, size * (size - 1) / 2);
}

#endif
