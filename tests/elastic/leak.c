/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory that a start of a process costs without us: a program of plain MPI starts processes
 * one after the other, and disconnects from each. It prints the bytes in use after each. Driven by
 * leak.sh, which compares them with those of a run that grows and shrinks. */
#include <malloc.h>
#include <mpi.h>
#include "test.h"

int main(int argc, char **argv)
{
	MPI_Comm parent, child;
	int n = argc > 1 ? atoi(argv[1]) : 1, level;
	char libraries[4096], env[] = "/usr/bin/env", *args[] = { libraries, argv[0], NULL };
	const char *path = getenv("LD_LIBRARY_PATH");

	snprintf(libraries, sizeof(libraries), "LD_LIBRARY_PATH=%s", path ? path : "");

	OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
	OK(MPI_Comm_get_parent(&parent));
	for (int i = 0; parent == MPI_COMM_NULL && i < n; i++) {
		OK(MPI_Comm_spawn(env, args, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child,
				  MPI_ERRCODES_IGNORE));
		OK(MPI_Comm_disconnect(&child));
		printf("%d starts, %zu bytes\n", i + 1, mallinfo2().uordblks);
	}
	if (parent != MPI_COMM_NULL)
		OK(MPI_Comm_disconnect(&parent));
	OK(MPI_Finalize());
	return 0;
}
