/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the factorisations share: matrices in square tiles that are dealt block-cyclically, and the
 * verdict on a result. An array of handles has one for each tile, NULL where this rank has no part
 * in the tile.
 *
 * Invariant: no state, as in tiled.h; a tile is a b x b column-major matrix without memory before a
 * task writes or a message fills it.
 */
#ifndef EXAMPLES_MATRIX_H
#define EXAMPLES_MATRIX_H

#include <math.h>
#include <stdlib.h>

#include "tiled.h"

/* ---- who owns what ---- */

static inline int row_is_mine(const struct grid *g, int i)
{
	return i % g->P == g->p;
}

static inline int column_is_mine(const struct grid *g, int j)
{
	return j % g->Q == g->q;
}

static inline int tile_owner(const struct grid *g, int i, int j)
{
	return i % g->P * g->Q + j % g->Q;
}

/* ---- arrays of tiles ---- */

/* An array for the handles of `count` tiles; ends the program when there is no memory for it. */
static inline starpu_data_handle_t *tiles_alloc(const struct grid *g, size_t count,
						const char *program)
{
	starpu_data_handle_t *handles = calloc(count, sizeof(*handles));

	if (!handles) {
		fprintf(stderr,
			"%s: no memory for the handles of %zu tiles; use fewer tiles (-nt)\n",
			program, count);
		MPI_Abort(g->comm, 1);
		abort();
	}
	return handles;
}

/* Registers tile (i,j), of b rows of elements of `size` bytes, with the runtime and for messages
 * under `tag`. */
static inline starpu_data_handle_t tile_register(const struct grid *g, int i, int j, int b,
						 size_t size, starpu_mpi_tag_t tag)
{
	uint32_t n = (uint32_t) b;
	starpu_data_handle_t handle;

	starpu_matrix_data_register(&handle, -1, 0, n, n, n, size);
	starpu_mpi_data_register(handle, tag, tile_owner(g, i, j));
	return handle;
}

/* Generates tile (i,j) of a matrix of order n by `init`, a codelet that writes it and takes the
 * values i, j and n. */
static inline void tile_generate(const struct grid *g, starpu_data_handle_t tile,
				 struct starpu_codelet *init, int i, int j, int n,
				 const char *program)
{
	int ret = starpu_mpi_task_insert(g->comm, init, STARPU_VALUE, &i, sizeof(i), STARPU_VALUE,
					 &j, sizeof(j), STARPU_VALUE, &n, sizeof(n), STARPU_W, tile,
					 0);

	check_inserted(g->comm, ret, program, "init", i, j, 0);
}

/* Gives a tile back that is not needed any more: receivers free their copies, the owner forgets to
 * whom it sent them. */
static inline void tile_flush(const struct grid *g, starpu_data_handle_t tile)
{
	if (tile)
		starpu_mpi_cache_flush(g->comm, tile);
}

/* Unregisters the tiles and frees the array, which may be NULL. */
static inline void tiles_free(starpu_data_handle_t *handles, size_t count)
{
	for (size_t at = 0; handles && at < count; at++)
		if (handles[at])
			starpu_data_unregister(handles[at]);
	free(handles);
}

/* ---- kernels ---- */

/* Provided by OpenBLAS, absent from other implementations. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

/* Workers are the only parallelism that is wanted. */
static inline void blas_one_thread(void)
{
	if (openblas_set_num_threads)
		openblas_set_num_threads(1);
}

/* ---- results ---- */

/* Prints, on rank 0, how long it took to factor a matrix of nt x nt tiles of b rows. */
static inline void print_factored(const struct grid *g, const char *program, int nt, int b,
				  long long tasks, double flops, double seconds)
{
	if (g->rank == 0)
		printf("%s nodes=%d tiles=%d tile=%d tasks=%lld time_s=%.6f gflops=%.3f\n", program,
		       g->size, nt, b, tasks, seconds, seconds > 0 ? flops / seconds * 1e-9 : 0);
}

static inline double square(double x)
{
	return x * x;
}

/* A stable algorithm leaves ||R|| well below n * ||A|| * epsilon; in practice the ratio is below
 * one. */
#define LARGEST_RATIO 10.0

/*
 * Judges a residual R of a matrix A of order n from the sums of squares of this rank's elements of
 * both, R's first. Rank 0 prints the verdict, with `name` for R. Returns the program's exit status,
 * the same on all ranks.
 */
static inline int judge_residual(const struct grid *g, const double squares[2], int n,
				 double epsilon, const char *name)
{
	double sums[2], r, a, ratio;
	int good;

	MPI_Allreduce(squares, sums, 2, MPI_DOUBLE, MPI_SUM, g->comm);
	r = sqrt(sums[0]);
	a = sqrt(sums[1]);
	ratio = r / (n * a * epsilon);
	good = ratio <= LARGEST_RATIO; /* false for a NaN */
	if (g->rank == 0 && good)
		printf("check: OK (||%s|| / (n ||A|| eps) = %.3g)\n", name, ratio);
	else if (g->rank == 0)
		fprintf(stderr,
			"check: FAILED, ||%s|| / (n ||A|| eps) = %g exceeds %g (||%s|| = %g, ||A|| = %g)\n",
			name, ratio, LARGEST_RATIO, name, r, a);
	return !good;
}

#endif /* EXAMPLES_MATRIX_H */
