/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Communicators (chapter 14 of the handbook): the ranks split into two teams, each of which
 * computes by itself under tags that the other one uses, too. A third communicator, of the teams'
 * first ranks, brings the results together.
 *
 * Each member of a team adds the square of its rank in the team to a sum that travels from member
 * to member; tasks and owners are numbered as in the team's communicator.
 *
 * Invariant: inside a team nothing names a rank of MPI_COMM_WORLD, so that the code of a team is
 * the code of a program.
 *
 *      orrery cc --both communicators.c -o communicators
 *      orrery run -n 4 ./communicators
 *      orrery sim -n 16 communicators.sim
 */
#include <starpu_mpi.h>

#include "../options.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Two teams of ranks add squares, each on a communicator of its own.\n"
	"  --rounds N       times that each member adds its square (default 3)\n"
	"  -h, --help       this text\n";

enum { TAG_SUM = 1, TAG_OTHER = 2 };

static int rounds = 3;

static void add_square_cpu(void *buffers[], void *arg)
{
	int member;

	starpu_codelet_unpack_args(arg, &member);
	*(long *) STARPU_VARIABLE_GET_PTR(buffers[0]) += (long) member * member;
}

static struct starpu_codelet add_square_cl = {
	.cpu_funcs = { add_square_cpu },
	.cpu_funcs_name = { "add_square_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "add_square",
};

/* The result of a team of n members. */
static long expected(int n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i * i;
	return rounds * sum;
}

/* The work of a team. The sum is a datum of the team's rank 0; every member inserts all tasks. */
static int add_squares(MPI_Comm team, starpu_data_handle_t sum)
{
	int n, ret = 0;

	starpu_mpi_comm_size(team, &n);
	starpu_mpi_data_register_comm(sum, TAG_SUM, 0, team);
	for (int i = 0; i < rounds * n; i++) {
		int member = i % n;

		ret |= starpu_mpi_task_insert(team, &add_square_cl, STARPU_RW, sum, STARPU_VALUE,
					      &member, sizeof(member), STARPU_EXECUTE_ON_NODE,
					      member, 0);
	}
	starpu_mpi_wait_for_all(team);
	return ret;
}

/* The first ranks of the teams exchange their sums; returns the total, on them. */
static long add_up(MPI_Comm leaders, starpu_data_handle_t sum, long mine)
{
	long theirs = 0;
	starpu_data_handle_t other;
	int me, n;

	starpu_mpi_comm_rank(leaders, &me);
	starpu_mpi_comm_size(leaders, &n);
	if (n == 1)
		return mine;
	starpu_variable_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) &theirs, sizeof(theirs));
	starpu_mpi_isend_detached(sum, !me, TAG_OTHER, leaders, NULL, NULL);
	starpu_mpi_recv(other, !me, TAG_OTHER, leaders, MPI_STATUS_IGNORE);
	starpu_data_unregister(other);
	return mine + theirs;
}

/* Returns the exit status of a rank. */
static int run(int rank, int size)
{
	MPI_Comm team, leaders;
	long value = 0, total;
	starpu_data_handle_t sum;
	int wrong, member, n;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &team);
	starpu_mpi_comm_register(team);
	starpu_mpi_comm_rank(team, &member);
	starpu_mpi_comm_size(team, &n);
	MPI_Comm_split(MPI_COMM_WORLD, member == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);

	starpu_variable_data_register(&sum, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	wrong = add_squares(team, sum) != 0;
	if (member == 0) {
		starpu_mpi_comm_register(leaders);
		starpu_data_acquire(sum, STARPU_R);
		wrong |= value != expected(n);
		total = add_up(leaders, sum, value);
		starpu_data_release(sum);
		wrong |= total != expected((size + 1) / 2) + expected(size / 2);
		printf("communicators team=%d members=%d sum=%ld total=%ld\n", rank % 2, n, value,
		       total);
		starpu_mpi_wait_for_all(leaders);
		MPI_Comm_free(&leaders);
	}
	starpu_data_unregister(sum);
	MPI_Comm_free(&team);
	return wrong;
}

int main(int argc, char **argv)
{
	struct options o;
	int rank, size, ret, wrong;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (!options_int(&o, "--rounds", NULL, 0, 100000, &rounds))
			options_unknown(&o);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	ret = options_report(&o, rank, "communicators", usage);
	if (ret < 0) {
		wrong = run(rank, size);
		MPI_Allreduce(&wrong, &ret, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		if (rank == 0)
			printf("check: %s\n", ret ? "FAILED" : "OK");
	}
	starpu_mpi_shutdown();
	return ret;
}
