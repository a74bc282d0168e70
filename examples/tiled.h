/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tiled examples share: the grid of processes over which tiles or blocks are dealt, how
 * such a program begins, and where the clock is read.
 *
 * Invariant: no state; what is computed here depends on the arguments only, so that every rank gets
 * the same.
 */
#ifndef EXAMPLES_TILED_H
#define EXAMPLES_TILED_H

#include <stdio.h>
#include <string.h>

#include <starpu_mpi.h>
#include <orrery.h>

#include "options.h"

/* ---- the processes ---- */

struct grid {
	MPI_Comm comm;
	int rank, size; /* of this process in comm, and of comm */
	int P, Q;       /* rows and columns of processes, P * Q = ranks */
	int p, q;       /* this rank's place: rank = p * Q + q */
};

/* Consumes the options that give P and Q; returns whether it was one of them. */
static inline int grid_option(struct options *o, struct grid *g)
{
	return options_int(o, "-p", NULL, 1, 1000000, &g->P) ||
	       options_int(o, "-q", NULL, 1, 1000000, &g->Q);
}

/* Completes a grid of which P and Q are given or 0: as square as possible, P <= Q. An impossible
 * one becomes an error of `o`. */
static inline void grid_complete(struct grid *g, struct options *o)
{
	int given_p = g->P, given_q = g->Q, size = g->size;

	if (!g->P && !g->Q) {
		for (g->P = 1; (g->P + 1) <= size / (g->P + 1); g->P++)
			;
		while (size % g->P)
			g->P--;
	}
	if (!g->P)
		g->P = size / g->Q;
	if (!g->Q)
		g->Q = size / g->P;
	if (!o->error[0] && (long long) g->P * g->Q != size)
		snprintf(o->error, sizeof(o->error),
			 "-p %d -q %d does not describe a grid of %d ranks (0: not given): "
			 "p * q must be %d",
			 given_p, given_q, size, size);
	else if (g->Q) {
		g->p = g->rank / g->Q;
		g->q = g->rank % g->Q;
	}
}

/* Smallest index from `from` on which is `offset` modulo `stride`. */
static inline int next_in_stride(int from, int offset, int stride)
{
	int ahead = (offset - from) % stride;

	return from + (ahead < 0 ? ahead + stride : ahead);
}

/* ---- numbers ---- */

/*
 * A pseudo-random number in [-1/2, 1/2) that belongs to a pair of indices: any rank computes any
 * element without communication.
 */
static inline double random_element(int row, int column)
{
	uint64_t x = ((uint64_t) row << 32 | (uint64_t) column) + 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (double) (x >> 11) * 0x1p-53 - 0.5;
}

/* ---- running ---- */

/*
 * Starts the runtime and completes the grid `g`, of which the communicator and what options give
 * are set. Returns -1 when the program shall go on, and then it calls starpu_mpi_shutdown() at its
 * end; otherwise the program's exit status.
 */
static inline int grid_start(struct grid *g, int *argc, char ***argv, struct options *o,
			     const char *program, const char *usage)
{
	int ret = starpu_mpi_init_conf(argc, argv, 1, g->comm, NULL);

	if (ret) {
		fprintf(stderr, "%s: the runtime did not start (%s)\n", program, strerror(-ret));
		return 1;
	}
	starpu_mpi_comm_rank(g->comm, &g->rank);
	starpu_mpi_comm_size(g->comm, &g->size);
	grid_complete(g, o);
	ret = options_report(o, g->rank, program, usage);
	if (ret >= 0)
		starpu_mpi_shutdown();
	return ret;
}

/* Waits until all ranks have done all that was submitted, and tells the time in microseconds. */
static inline double settle(MPI_Comm comm)
{
	starpu_mpi_wait_for_all(comm);
	starpu_mpi_barrier(comm);
	return starpu_timing_now();
}

/* With STARPU_PROFILING=1: from here on the runtime notes where the time of workers goes. */
static inline void times_begin(void)
{
	if (starpu_profiling_status_get())
		starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
}

/* Prints that on rank 0, in per cent of the time of all workers of all ranks, if profiling is on.
 * All ranks call it. */
static inline void times_print(const struct grid *g, const char *program)
{
	struct orrery_worker_times t;
	double mine[7], sum[7] = { 0 }, all = 0;

	if (!starpu_profiling_status_get() || orrery_worker_times(-1, &t))
		return;
	mine[0] = t.kernels_us;
	mine[1] = t.messages_us;
	mine[2] = t.submission_us;
	mine[3] = t.foreign_us;
	mine[4] = t.idle_us;
	mine[5] = t.data_us;
	mine[6] = t.runtime_us;
	MPI_Reduce(mine, sum, 7, MPI_DOUBLE, MPI_SUM, 0, g->comm);
	for (int i = 0; i < 7; i++)
		all += sum[i];
	all = all > 0 ? all / 100 : 1;
	if (g->rank == 0)
		printf("%s_times nodes=%d kernels=%.2f messages=%.2f submission=%.2f foreign=%.2f idle=%.2f data=%.2f runtime=%.2f\n",
		       program, g->size, sum[0] / all, sum[1] / all, sum[2] / all, sum[3] / all,
		       sum[4] / all, sum[5] / all, sum[6] / all);
}

/* Ends the program when the insertion of a task was refused. */
static inline void check_inserted(MPI_Comm comm, int ret, const char *program, const char *task,
				  int i, int j, int step)
{
	int rank;

	if (ret >= 0)
		return;
	starpu_mpi_comm_rank(comm, &rank);
	fprintf(stderr,
		"%s: rank %d cannot insert %s(%d,%d) of step %d: %s; is there a CPU worker?\n",
		program, rank, task, i, j, step, strerror(-ret));
	MPI_Abort(comm, 1);
}

#endif /* EXAMPLES_TILED_H */
