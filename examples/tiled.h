/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tiled examples share: the grid of processes over which tiles or blocks are dealt, the elements of the matrices
 * that are factored, and where the clock is read.
 * Invariant: no state; what is computed here depends on the arguments only, so that every rank gets the same.
 */
#ifndef EXAMPLES_TILED_H
#define EXAMPLES_TILED_H

#include <math.h>
#include <stdio.h>

#include <starpu_mpi.h>

#include "options.h"

/* ---- the processes ---- */

struct grid
{
	int P, Q;	/* rows and columns of processes, P * Q = ranks */
	int p, q;	/* this rank's place: rank = p * Q + q */
};

/* Completes a grid of which P and Q are given or 0: as square as possible, P <= Q. An impossible one becomes an error of `o`. */
static inline void grid_complete(struct grid *g, int rank, int size, struct options *o)
{
	int given_p = g->P, given_q = g->Q;

	if (!g->P && !g->Q)
	{
		for (g->P = 1; (g->P + 1) <= size / (g->P + 1); g->P++)
			;
		while (size % g->P)
			g->P--;
	}
	if (!g->P)
		g->P = size / g->Q;
	if (!g->Q)
		g->Q = size / g->P;
	if (!o->error[0] && (long long)g->P * g->Q != size)
		snprintf(o->error, sizeof(o->error), "-p %d -q %d does not describe a grid of %d ranks (0: not given): "
			 "p * q must be %d", given_p, given_q, size, size);
	else if (g->Q)
	{
		g->p = rank / g->Q;
		g->q = rank % g->Q;
	}
}

/* Smallest index from `from` on which is `offset` modulo `stride`. */
static inline int next_in_stride(int from, int offset, int stride)
{
	int ahead = (offset - from) % stride;

	return from + (ahead < 0 ? ahead + stride : ahead);
}

/* ---- matrices ---- */

/*
 * A pseudo-random number in [-1/2, 1/2) that belongs to a pair of indices: any rank computes any element without
 * communication.
 */
static inline double random_element(int row, int column)
{
	uint64_t x = ((uint64_t)row << 32 | (uint64_t)column) + 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (double)(x >> 11) * 0x1p-53 - 0.5;
}

static inline double square(double x)
{
	return x * x;
}

/* The root of the sum over all ranks of what each has in `squares`: n Frobenius norms. */
static inline void norms_of(MPI_Comm comm, const double *squares, double *norms, int n)
{
	MPI_Allreduce(squares, norms, n, MPI_DOUBLE, MPI_SUM, comm);
	for (int i = 0; i < n; i++)
		norms[i] = sqrt(norms[i]);
}

/* Provided by OpenBLAS, absent from other implementations. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

/* Workers are the only parallelism that is wanted. */
static inline void blas_one_thread(void)
{
	if (openblas_set_num_threads)
		openblas_set_num_threads(1);
}

/* ---- running ---- */

/* Waits until all ranks have done all that was submitted, and tells the time in microseconds. */
static inline double settle(MPI_Comm comm)
{
	starpu_mpi_wait_for_all(comm);
	starpu_mpi_barrier(comm);
	return starpu_timing_now();
}

/* Ends the program when the insertion of a task was refused. */
static inline void check_inserted(MPI_Comm comm, int ret, const char *program, const char *task, int i, int j, int step)
{
	int rank;

	if (ret >= 0)
		return;
	starpu_mpi_comm_rank(comm, &rank);
	fprintf(stderr, "%s: rank %d cannot insert %s(%d,%d) of step %d: %s; is there a CPU worker?\n",
		program, rank, task, i, j, step, strerror(-ret));
	MPI_Abort(comm, 1);
}

#endif /* EXAMPLES_TILED_H */
