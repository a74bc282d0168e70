/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verification of the factor: the runtime computes R = A - L*L^T, distributed like A, from a second
 * copy of A; then each rank adds up its own tiles.
 *
 * Invariant: the verdict is the same on all ranks, and a result that is not a number is a failure.
 */
#include <float.h>

#include "cholesky.h"

static void insert_residual(struct problem *pb, int i, int j, int k)
{
	starpu_data_handle_t r = pb->residual[tile_index(i, j)];
	starpu_data_handle_t left = pb->factor[tile_index(i, k)],
			     right = pb->factor[tile_index(j, k)];
	double b = pb->b;
	int ret;

	if (i == j)
		ret = starpu_mpi_task_insert(pb->grid.comm, &residual_diag_cl, STARPU_RW, r,
					     STARPU_R, left, STARPU_FLOPS, 2 * b * b * b, 0);
	else
		ret = starpu_mpi_task_insert(pb->grid.comm, &residual_cl, STARPU_RW, r, STARPU_R,
					     left, STARPU_R, right, STARPU_FLOPS, 2 * b * b * b, 0);
	tiles_inserted(pb, ret, "residual", i, j, k);
}

/* Adds the squares of the elements of tile (i,j) of R and of A; tiles off the diagonal stand for
 * two. */
static void add_squares(struct problem *pb, int i, int j, double *r2, double *a2)
{
	starpu_data_handle_t handle = pb->residual[tile_index(i, j)];
	double r_sum = 0, a_sum = 0, times = i == j ? 1 : 2;
	const void *r;
	size_t ld;

	starpu_data_acquire(handle, STARPU_R);
	r = (const void *) starpu_matrix_get_local_ptr(handle);
	ld = starpu_matrix_get_local_ld(handle);
	for (int column = 0; column < pb->b; column++)
		for (int row = 0; row < pb->b; row++) {
			size_t at = (size_t) column * ld + (size_t) row;

			r_sum += square(pb->single ? ((const float *) r)[at]
						   : ((const double *) r)[at]);
			a_sum += square(matrix_element(i * pb->b + row, j * pb->b + column,
						       pb->nt * pb->b));
		}
	starpu_data_release(handle);
	*r2 += times * r_sum;
	*a2 += times * a_sum;
}

int check_factor(struct problem *pb)
{
	double squares[2] = { 0, 0 };

	for (int k = 0; k < pb->nt; k++) {
		for_each_update(pb, k, k, insert_residual);
		tiles_flush_panel(pb, k);
	}
	starpu_mpi_wait_for_all(pb->grid.comm);
	for (int i = 0; i < pb->nt; i++)
		for (int j = 0; j <= i; j++)
			if (tile_is_here(pb, i, j))
				add_squares(pb, i, j, &squares[0], &squares[1]);
	return judge_residual(&pb->grid, squares, pb->nt * pb->b,
			      pb->single ? FLT_EPSILON : DBL_EPSILON, "A - L L^T");
}
