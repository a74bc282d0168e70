/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process that ends while it joins: the operation is refused, the other new process ends as well,
 * and the run goes on with the processes that it has; the next operation succeeds. The other one is
 * slow: it arrives while the next operation starts processes, and is none of them.
 *
 * orr-test: expect ended while it joined; the run goes on without the 2 new processes
 * orr-test: expect grown to 4 */
#include <fcntl.h>
#include <unistd.h>
#include "elastic_test.h"

/* The file in which the processes of this run count. */
static char path[4096];

/* It has a name of its own: simulated, all are one process; real ones share the address of the
 * registry. */
static void name_file(void)
{
	const char *folder = getenv("ORR_TEST_TMP"), *run = getenv("ORRERY_DYN_SERVER");
	if (run)
		snprintf(path, sizeof(path), "%s/count-%s", folder ? folder : ".", run);
	else
		snprintf(path, sizeof(path), "%s/count-%ld", folder ? folder : ".",
			 (long) getpid());
}

/* The number of processes that have begun, with this one. */
static long count(void)
{
	name_file();
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1);
	long n = (long) lseek(fd, 0, SEEK_CUR);
	close(fd);
	return n;
}

int main(void)
{
	MPI_Session session;
	MPI_Comm comm;
	char out[4][NAME_ROOM], set[NAME_ROOM] = "mpi://WORLD";
	int rank, n;
	long number = count();
	if (number == 3 || number == 4) {
		int up;
		MPI_Initialized(&up);
		if (!up)
			MPI_Init(NULL, NULL);
		if (number == 3)
			_exit(0);
		usleep(300000);
	}
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	int added = info_says(session, set, "mpi_dyn", "True");
	if (added)
		look_up(session, "mpi://WORLD", "mpi://WORLD", "next", set);
	comm = comm_of(session, set);
	OK(MPI_Comm_rank(comm, &rank));
	if (!added) {
		if (!rank) {
			CHECK_IS(operate(session, MPI_PSETOP_GROW, set, NULL, "mpi_num_procs_add",
					 "2", out, &n),
				 MPI_PSETOP_NULL);
			CHECK_IS(operate(session, MPI_PSETOP_GROW, set, NULL, "mpi_num_procs_add",
					 "2", out, &n),
				 MPI_PSETOP_GROW);
			publish(session, out[0], "next", out[1]);
			publish(session, set, "next", out[1]);
		}
		char next[NAME_ROOM];
		look_up(session, set, set, "next", next);
		strcpy(set, next);
		OK(MPI_Comm_free(&comm));
		comm = comm_of(session, set);
		OK(MPI_Comm_rank(comm, &rank));
	}
	check_comm(comm, rank, 4);
	if (!rank) {
		unlink(path);
		printf("grown to 4\n");
	}
	OK(MPI_Comm_free(&comm));
	OK(MPI_Session_finalize(&session));
	return 0;
}
