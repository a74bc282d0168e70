/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A growth that the task runtime refuses: the new process learns of it and ends, or tries another
 * communicator; the old ranks get their error, and go on with tasks. Refused are a growth while one
 * of them has another communicator in use, one whose ranks would be others, and two whose new
 * process cannot begin: the MPI layer refuses it, or the core does. The pool has one process more
 * than the run: the second growth needs the place of the first new process.
 *
 * orr-test: most 3
 * orr-test: expect because 1 of 2 ranks refuse
 * orr-test: expect 2 of the processes of the communicator refuse it
 * orr-test: expect is another process than before
 * orr-test: expect 1 of its new processes refuse
 * orr-test: expect 3 ranks at the end */
#include <errno.h>
#include <starpu_mpi.h>
#include <orrery_resize.h>
#include "counting.h"
#include "elastic_test.h"

enum { INTS = 10 };

static MPI_Session session;
static MPI_Comm comm;
static starpu_data_handle_t h;
static int rank, done; /* steps of the datum */

/* Another process looks at the datum of rank 0. */
static void step(void)
{
	count_step(comm, h, done++, 1);
	OK(starpu_task_wait_for_all());
}

/* All learn which sets the change of the main set has: those that join, and all. */
static void grow(char joining[NAME_ROOM], char next[NAME_ROOM])
{
	char **out = NULL, set[] = "mpi://WORLD", made[4][NAME_ROOM];
	int type, n = 0;

	if (!rank)
		CHECK_IS(operate(session, MPI_PSETOP_GROW, set, NULL, "mpi_num_procs_add", "1",
				 made, &n),
			 MPI_PSETOP_GROW);
	OK(MPI_Session_dyn_v2a_query_psetop(session, set, set, &type, &out, &n));
	CHECK_IS(n, 2);
	strcpy(joining, out[0]);
	strcpy(next, out[1]);
	free(out[0]);
	free(out[1]);
	free(out);
}

static void end_change(const char *set)
{
	OK(MPI_Barrier(comm));
	if (!rank)
		OK(MPI_Session_dyn_finalize_psetop(session, (char *) set));
}

/* The ranks refuse the set, for that reason; the run goes on as it was. */
static void refuse(const char *set, int why)
{
	MPI_Comm more = comm_of(session, set);

	CHECK_IS(orrery_resize_switch(more), why);
	OK(MPI_Comm_disconnect(&more));
	CHECK_IS(orrery_resize_size(comm), 2);
	step();
}

/* Only rank 1 has another communicator in use. The new process ends and is taken back. */
static void refuse_by_one(void)
{
	char joining[NAME_ROOM], next[NAME_ROOM], taken[4][NAME_ROOM];
	MPI_Comm other;
	int n;

	grow(joining, next);
	if (!rank) {
		publish(session, joining, "front", "-");
		publish(session, joining, "next", next);
	}
	OK(MPI_Comm_dup(comm, &other));
	if (rank)
		OK(starpu_mpi_comm_register(other));
	refuse(next, -EINVAL);
	OK(MPI_Comm_free(&other));
	end_change("mpi://WORLD");
	if (!rank)
		CHECK_IS(operate(session, MPI_PSETOP_SHRINK, next, NULL, "mpi_num_procs_sub", "1",
				 taken, &n),
			 MPI_PSETOP_SHRINK);
	end_change(next);
}

/* A new process that is in front of the others, and one that cannot begin; then all go on. */
static void refuse_and_grow(void)
{
	char joining[NAME_ROOM], next[NAME_ROOM], front[4][NAME_ROOM];
	MPI_Comm old = comm;
	int n;

	grow(joining, next);
	if (!rank) {
		operate(session, MPI_PSETOP_UNION, joining, "mpi://WORLD", NULL, NULL, front, &n);
		publish(session, joining, "front", front[0]);
		publish(session, "mpi://WORLD", "front", front[0]);
		publish(session, joining, "next", next);
	}
	look_up(session, "mpi://WORLD", "mpi://WORLD", "front", front[0]);
	refuse(front[0], -EINVAL);
	refuse(next, -ECANCELED);
	refuse(next, -ECANCELED);
	end_change("mpi://WORLD");
	comm = comm_of(session, next);
	OK(orrery_resize_switch(comm));
	OK(MPI_Comm_disconnect(&old));
}

static void stay(void)
{
	comm = comm_of(session, "mpi://WORLD");
	OK(MPI_Comm_rank(comm, &rank));
	OK(starpu_mpi_init_conf(NULL, NULL, 0, comm, NULL));
	starpu_vector_data_register(&h, -1, 0, INTS, sizeof(int));
	starpu_mpi_data_register_comm(h, 1, 0, comm);
	begin_to_count(&h, 1, rank);
	step();
	refuse_by_one();
	refuse_and_grow();
	step();
	starpu_data_unregister(h);
}

/* The communicator of a set; the runtime says `wanted` to it. */
static void try(const char *set, struct starpu_conf *conf, int wanted)
{
	MPI_Comm tried = comm_of(session, set);

	CHECK_IS(starpu_mpi_init_conf(NULL, NULL, 0, tried, conf), wanted);
	if (wanted)
		OK(MPI_Comm_disconnect(&tried));
	comm = wanted ? MPI_COMM_NULL : tried;
}

/* Returns whether this process is one of the run. */
static int join(void)
{
	char front[NAME_ROOM], next[NAME_ROOM];
	struct starpu_conf conf;

	look_up(session, "mpi://WORLD", "mpi://WORLD", "front", front);
	look_up(session, "mpi://WORLD", "mpi://WORLD", "next", next);
	try(*front == '-' ? next : front, NULL, -ECANCELED);
	if (*front == '-')
		return 0;
	OK(starpu_conf_init(&conf));
	conf.nmpi_ms = 1;
	try(next, &conf, -EINVAL);
	conf.nmpi_ms = 0;
	conf.sched_policy_name = "nothing";
	try(next, &conf, -EINVAL);
	try(next, NULL, 0);
	return 1;
}

int main(void)
{
	int part = 1, size;

	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	if (info_says(session, "mpi://WORLD", "mpi_dyn", "True"))
		part = join();
	else
		stay();
	if (part) {
		OK(starpu_mpi_barrier(comm));
		OK(MPI_Comm_size(comm, &size));
		if (!rank && h)
			printf("%d ranks at the end\n", size);
		OK(starpu_mpi_shutdown());
		OK(MPI_Comm_disconnect(&comm));
	}
	OK(MPI_Session_finalize(&session));
	return 0;
}
