/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The task runtime goes on while processes join and leave: two processes, then four, then three,
 * then five, then one. Data and tasks follow; what each datum holds is right all the time; nothing
 * moves that need not. A process that leaves while it owns data is refused, on all ranks; also if
 * nobody else knows the datum.
 *
 * orr-test: most 5
 * orr-test: expect cannot leave, because it owns data
 * orr-test: expect because 1 of [0-9]* ranks refuse
 * orr-test: expect is another process than before */
#include <errno.h>
#include <starpu_mpi.h>
#include <orrery_resize.h>
#include "counting.h"
#include "elastic_test.h"

enum { N = 40, INTS = 100 };

static MPI_Session session;
static char main_set[NAME_ROOM];
static MPI_Comm comm;
static int rank, size, done; /* steps that the program has made */
static starpu_data_handle_t h[N];
static orrery_distribution_t rule;

static void register_data(int in_use)
{
	rule = orrery_distribution_block(N, 2);
	for (int i = 0; i < N; i++) {
		starpu_vector_data_register(&h[i], -1, 0, INTS, sizeof(int));
		starpu_mpi_data_register_comm(h[i], i, orrery_distribution_owner(rule, i, in_use),
					      comm);
		OK(orrery_resize_follow(comm, h[i], rule, i));
	}
}

/* One step of the program; any rank looks at any datum. */
static void step(void)
{
	for (int i = 0; i < N; i++)
		count_step(comm, h[i], done, (i + done) % size);
	done++;
}

/* All learn which set comes next. */
static void learn(const char *joining, char next[NAME_ROOM])
{
	char **out = NULL;
	int type, n = 0;

	OK(MPI_Session_dyn_v2a_query_psetop(session, main_set, main_set, &type, &out, &n));
	CHECK_IS(n, 2);
	strcpy(next, out[1]);
	if (!rank && joining)
		publish(session, out[0], joining, next);
	free(out[0]);
	free(out[1]);
	free(out);
}

/* The set and its communicator are those of the run from here on. */
static void enter(const char *next, MPI_Comm its)
{
	strcpy(main_set, next);
	comm = its;
	OK(MPI_Comm_rank(comm, &rank));
	OK(MPI_Comm_size(comm, &size));
	test_rank = rank;
}

/* Goes on with comm, or leaves if there is none; the change is over. */
static void change_over(MPI_Comm old, const char *before, int was_first)
{
	OK(orrery_resize_switch(comm));
	OK(MPI_Comm_disconnect(&old));
	if (was_first)
		OK(MPI_Session_dyn_finalize_psetop(session, (char *) before));
}

static void grow(const char *by)
{
	char out[4][NAME_ROOM], next[NAME_ROOM], before[NAME_ROOM];
	MPI_Comm old = comm;
	int n, first = !rank, now[2];

	step();
	if (first)
		CHECK_IS(operate(session, MPI_PSETOP_GROW, main_set, NULL, "mpi_num_procs_add", by,
				 out, &n),
			 MPI_PSETOP_GROW);
	learn("next", next);
	strcpy(before, main_set);
	step(); /* while the others start */
	enter(next, comm_of(session, next));
	now[0] = orrery_resize_size(old);
	now[1] = done;
	change_over(old, before, first);
	OK(MPI_Bcast(now, 2, MPI_INT, 0, comm));
	CHECK_IS(orrery_resize_size(comm), now[0]);
	OK(orrery_resize(comm, size));
	step();
}

static void join(void)
{
	char next[NAME_ROOM];
	int now[2];

	look_up(session, "mpi://WORLD", "mpi://WORLD", "next", next);
	enter(next, comm_of(session, next));
	OK(starpu_mpi_init_conf(NULL, NULL, 0, comm, NULL));
	OK(MPI_Bcast(now, 2, MPI_INT, 0, comm));
	OK(orrery_resize(comm, now[0]));
	done = now[1];
	register_data(now[0]);
	OK(orrery_resize(comm, size));
	step();
}

/* While it owns data that others know, then one that others do not know, no rank can leave; `new`
 * is what the others go on with. */
static void check_keeping(int least, MPI_Comm new)
{
	starpu_data_handle_t own = NULL;

	CHECK_IS(orrery_resize_switch(new), -EBUSY);
	OK(orrery_resize(comm, least));
	if (rank == size - 1) {
		starpu_vector_data_register(&own, -1, 0, INTS, sizeof(int));
		starpu_mpi_data_register_comm(own, N, rank, comm);
	}
	CHECK_IS(orrery_resize_switch(new), -EBUSY);
	if (own)
		starpu_data_unregister(own);
}

/* Returns whether this process stays. */
static int shrink(const char *by)
{
	char out[4][NAME_ROOM], next[NAME_ROOM], before[NAME_ROOM];
	MPI_Comm old = comm, new = MPI_COMM_NULL;
	int n, first = !rank, least = size - atoi(by), was = rank;

	if (first)
		CHECK_IS(operate(session, MPI_PSETOP_SHRINK, main_set, NULL, "mpi_num_procs_sub",
				 by, out, &n),
			 MPI_PSETOP_SHRINK);
	learn(NULL, next);
	strcpy(before, main_set);
	if (rank < least)
		new = comm_of(session, next);
	check_keeping(least, new);
	step();
	comm = new;
	if (new != MPI_COMM_NULL)
		enter(next, new);
	change_over(old, before, first);
	if (was < least)
		step();
	return was < least;
}

/* Ranks in another order, and another communicator that is in use. */
static void check_refusals(void)
{
	MPI_Comm other;

	OK(MPI_Comm_split(comm, 0, -rank, &other));
	CHECK_IS(orrery_resize_switch(other), -EINVAL);
	OK(starpu_mpi_comm_register(other));
	CHECK_IS(orrery_resize_switch(comm), -EINVAL);
	OK(MPI_Comm_free(&other));
}

static void work(int joined_at)
{
	int stays = 1;

	if (joined_at < 4) {
		grow("2");
		CHECK_IS(size, 4);
	}
	if (joined_at < 5) {
		stays = shrink("1");
		if (stays)
			grow("2");
	}
	if (stays && shrink("4"))
		step();
}

int main(int argc, char **argv)
{
	(void) argc;
	(void) argv;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	int joined_at = 0;
	if (info_says(session, "mpi://WORLD", "mpi_dyn", "True")) {
		join();
		joined_at = size;
	} else {
		enter("mpi://WORLD", comm_of(session, "mpi://WORLD"));
		OK(starpu_mpi_init_conf(NULL, NULL, 0, comm, NULL));
		register_data(size);
		begin_to_count(h, N, rank);
		check_refusals();
	}
	work(joined_at);
	if (comm != MPI_COMM_NULL)
		printf("%d steps, %d process at the end\n", done, size);
	for (int i = 0; i < N; i++)
		starpu_data_unregister(h[i]);
	OK(starpu_mpi_shutdown());
	orrery_distribution_free(rule);
	if (comm != MPI_COMM_NULL)
		OK(MPI_Comm_disconnect(&comm));
	OK(MPI_Session_finalize(&session));
	return 0;
}
