/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rank does not end when the other side of a connection is gone, as a rank of a lost host is for
 * MPI: it writes, and is told EPIPE. Programs that it starts have the usual disposition of SIGPIPE,
 * as the program itself has after the shutdown; a handler of its own stays. (In a simulation, the
 * signal concerns all ranks: doc/simulating.md.)
 * orr-test: world real */
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <starpu_mpi.h>
#include "lib/test.h"

static volatile sig_atomic_t told;

static void on_pipe(int sig)
{
	(void) sig;
	told++;
}

static void write_to_nobody(void)
{
	int ends[2];

	OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	OK(close(ends[1]));
	errno = 0;
	CHECK(write(ends[0], "x", 1) == -1 && errno == EPIPE, "errno %d", errno);
	OK(close(ends[0]));
}

static void (*handler(void))(int)
{
	struct sigaction now;

	OK(sigaction(SIGPIPE, NULL, &now));
	return now.sa_handler;
}

static void start(void)
{
	OK(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL));
}

int main(int argc, char **argv)
{
	int level, status;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (handler() != SIG_DFL) {
		printf("this MPI handles SIGPIPE\n");
		MPI_Finalize();
		return 77;
	}
	start();
	write_to_nobody();
	status = system("kill -s PIPE $$");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE, "status 0x%x", (unsigned) status);
	OK(starpu_mpi_shutdown());
	CHECK(handler() == SIG_DFL);

	signal(SIGPIPE, on_pipe);
	start();
	write_to_nobody();
	CHECK(told == 1, "told %d times", (int) told);
	OK(starpu_mpi_shutdown());
	CHECK(handler() == on_pipe);
	MPI_Finalize();
	return 0;
}
