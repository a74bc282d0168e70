/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time that a value takes to all other ranks on a network of 1 us and 12.5 GB/s where a message
 * costs an engine 0.5 us, and copies into buffers of MPI nothing: if its readers were inserted
 * before it was written (awaited), and if each insertion finds one more reader of a value that is
 * there (late). Below is what no broadcast can beat; above, by hand, the best of three textbook
 * ways in LogGP: a binomial tree of whole messages, and a chain and a binary tree of pieces. Late
 * readers are held against MPI_Bcast as well, in which SMPI's ranks copy nothing either. As long as
 * nothing is said (ORRERY_MPI_PIECES) a value is cut into 8 pieces, or one per
 * MiB, or five for each rank on its way if it has many MiB, because what more of them cost a
 * simulation is more than it gains: so many have the ways by hand, too. tests/sim/tree_pieces.sh
 * runs this with as many as help.
 *
 * orr-test: world sim
 * orr-test: sim-ranks 4 8 64
 * orr-test: sim-args --kernels skip --cost-message 0.5 --cost-buffer 0
 * orr-test: expect 65536 KiB */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "mpi_test.h"

#define LATENCY_US 1.0
#define BYTES_PER_US 12.5e3
#define MESSAGE_US 0.5

/* Virtual time is the same on all ranks. */
static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

/* From the start on rank 0 to the last end. */
static double elapsed(double start, double end)
{
	double mine[2] = { rank ? -1e300 : -start, end }, most[2];

	MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most[1] + most[0];
}

static double began_us;

static void cpu_read(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	began_us = now_us();
}

static struct starpu_codelet read_cl = { .cpu_funcs = { cpu_read },
					 .nbuffers = 2,
					 .modes = { STARPU_W, STARPU_R },
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					 .name = "read" };

static double broadcast_us(size_t bytes, int awaited)
{
	starpu_data_handle_t h, *mark = calloc((size_t) size, sizeof(*mark));

	starpu_vector_data_register(&h, -1, 0, (uint32_t) bytes, 1);
	starpu_mpi_data_register(h, 7, 0);
	for (int i = 1; i < size; i++)
		if (i == rank || rank == 0) {
			new_int(&mark[i]);
			starpu_mpi_data_register(mark[i], 100 + i, i);
		}
	if (rank == 0)
		OK(starpu_data_acquire(h, STARPU_W));
	if (rank == 0 && !awaited)
		starpu_data_release(h);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = now_us();
	for (int i = 1; i < size; i++)
		if (mark[i])
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &read_cl, STARPU_W, mark[i],
						  STARPU_R, h, 0));
	if (awaited) {
		MPI_Barrier(MPI_COMM_WORLD);
		start = now_us();
	}
	if (rank == 0 && awaited)
		starpu_data_release(h);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	for (int i = 1; i < size; i++)
		if (mark[i])
			starpu_data_unregister(mark[i]);
	starpu_data_unregister(h);
	free(mark);
	return elapsed(start, rank ? began_us : start);
}

static double bcast_us(size_t bytes)
{
	char *buf = calloc(bytes, 1);

	MPI_Barrier(MPI_COMM_WORLD);
	double start = now_us();
	MPI_Bcast(buf, (int) bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	double us = elapsed(start, now_us());
	free(buf);
	return us;
}

/* Pieces go through `arity` links of each rank one after the other, and cross `ranks` ranks. */
static double pipe_us(double bytes_us, double hop_us, double arity, double ranks, int many)
{
	double mib = bytes_us * BYTES_PER_US / (1 << 20),
	       most = many ? INFINITY : fmax(fmax(8, mib), fmin(mib * mib / 8, 5 * ranks)),
	       pieces = fmax(1, fmin(sqrt(ranks * bytes_us / hop_us), most));

	return arity * (pieces + ranks) * (hop_us + bytes_us / pieces);
}

static double by_hand_us(double bytes_us, int many)
{
	double hop_us = LATENCY_US + 2 * MESSAGE_US, depth = ceil(log2(size + 1)) - 1;
	double binomial_us = ceil(log2(size)) * (hop_us + bytes_us);
	double chain_us = pipe_us(bytes_us, hop_us, 1, size - 2, many);
	double binary_us = pipe_us(bytes_us, hop_us, 2, depth - 1, many);

	return fmin(binomial_us, fmin(chain_us, binary_us));
}

int main(int argc, char **argv)
{
	static const size_t kib[] = { 4, 64, 256, 1024, 8192, 65536 };

	if (!begin(&argc, &argv, 2))
		return 77;
	int many = getenv("ORRERY_MPI_PIECES") != NULL;
	double most = many ? 1.1 : 1.2;

	bcast_us(1); /* the first one takes longer */
	for (unsigned i = 0; i < sizeof(kib) / sizeof(*kib); i++) {
		size_t bytes = kib[i] << 10;
		double bytes_us = (double) bytes / BYTES_PER_US,
		       hand_us = by_hand_us(bytes_us, many),
		       mpi_us = kib[i] <= 1024 ? bcast_us(bytes) : 0,
		       awaited_us = broadcast_us(bytes, 1), late_us = broadcast_us(bytes, 0),
		       least_us = bytes_us + LATENCY_US;
		if (rank)
			continue;
		printf("%zu KiB to %d ranks: at least %.1f us, by hand %.1f us, MPI_Bcast %.1f us, awaited %.1f us, late %.1f us\n",
		       kib[i], size - 1, least_us, hand_us, mpi_us, awaited_us, late_us);
		CHECK(awaited_us >= least_us && late_us >= least_us, "faster than the network");
		CHECK(awaited_us <= most * hand_us, "awaited: %.2f times the time by hand",
		      awaited_us / hand_us);
		CHECK(late_us <= 1.2 * hand_us, "late: %.2f times the time by hand",
		      late_us / hand_us);
		CHECK(!mpi_us || late_us <= 1.1 * mpi_us, "late: %.2f times MPI_Bcast",
		      late_us / mpi_us);
	}
	return end();
}
