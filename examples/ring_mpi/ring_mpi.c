/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Token ring, first stage: plain MPI, no task runtime at all (chapter 14.2 of the handbook).
 * A token starts at 0 on rank 0 and goes round the ring; each rank adds one and passes it on.
 *
 * Invariant: after `loops` turns the last rank holds loops * size, which it checks.
 *
 * The next two stages, ring_acquire and ring, are this program with its work moved step by step
 * into the runtime. It also shows that a program which only uses MPI can be simulated unmodified.
 *
 *      orrery cc --both ring_mpi.c -o ring_mpi
 *      orrery run -n 4 ./ring_mpi
 *      orrery sim -n 64 ring_mpi.sim
 */
#include <mpi.h>

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Passes a token round a ring of MPI ranks; each adds one.\n"
			    "  -n, --loops N   turns round the ring (default 32)\n"
			    "  -h, --help      this text\n";

/* One rank's part. With one rank alone there is nobody to talk to, and the token just stays. */
static int turn(int loops, int rank, int size)
{
	int token = 0;

	for (int loop = 0; loop < loops; loop++) {
		int tag = loop * size + rank;

		if (loop == 0 && rank == 0)
			printf("Start with token value %d\n", token);
		else if (size > 1)
			MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);

		token++;

		if (loop == loops - 1 && rank == size - 1)
			printf("Finished: token value %d\n", token);
		else if (size > 1)
			MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, tag + 1, MPI_COMM_WORLD);
	}
	return token;
}

int main(int argc, char **argv)
{
	struct options o;
	int loops = 32, rank, size, token, status;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (!options_int(&o, "--loops", "-n", 1, 100000, &loops))
			options_unknown(&o);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	status = options_report(&o, rank, "ring_mpi", usage);
	if (status >= 0) {
		MPI_Finalize();
		return status;
	}

	token = turn(loops, rank, size);
	MPI_Finalize();
	if (rank == size - 1 && token != loops * size) {
		fprintf(stderr, "ring_mpi: token is %d, expected %d * %d = %d\n", token, loops,
			size, loops * size);
		return 1;
	}
	return 0;
}
