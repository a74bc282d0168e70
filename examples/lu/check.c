/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verification of the factors: the runtime computes R = A - L*U, distributed like A, from a second
 * copy of A; then each rank adds up its own tiles.
 *
 * Invariant: the verdict is the same on all ranks, and a result that is not a number is a failure.
 */
#include <float.h>

#include "lu.h"

static void insert_residual(struct problem *pb, int i, int j, int k)
{
	double b = pb->b;
	int left_is_pivot = i == k, right_is_pivot = k == j;
	int ret = starpu_mpi_task_insert(
		pb->grid.comm, &residual_cl, STARPU_VALUE, &left_is_pivot, sizeof(left_is_pivot),
		STARPU_VALUE, &right_is_pivot, sizeof(right_is_pivot), STARPU_RW,
		pb->residual[tile_index(pb, i, j)], STARPU_R, pb->factor[tile_index(pb, i, k)],
		STARPU_R, pb->factor[tile_index(pb, k, j)], STARPU_FLOPS, 2 * b * b * b, 0);

	check_inserted(pb->grid.comm, ret, "lu", "residual", i, j, k);
}

/* Adds the squares of the elements of tile (i,j) of R and of A. */
static void add_squares(struct problem *pb, int i, int j, double *r2, double *a2)
{
	starpu_data_handle_t handle = pb->residual[tile_index(pb, i, j)];
	const double *r;
	size_t ld;

	starpu_data_acquire(handle, STARPU_R);
	r = (const double *) starpu_matrix_get_local_ptr(handle);
	ld = starpu_matrix_get_local_ld(handle);
	for (int column = 0; column < pb->b; column++)
		for (int row = 0; row < pb->b; row++) {
			*r2 += square(r[(size_t) column * ld + (size_t) row]);
			*a2 += square(matrix_element(i * pb->b + row, j * pb->b + column,
						     pb->nt * pb->b));
		}
	starpu_data_release(handle);
}

int check_factor(struct problem *pb)
{
	double squares[2] = { 0, 0 };

	for (int k = 0; k < pb->nt; k++) {
		for_each_update(pb, k, k, insert_residual);
		tiles_flush_step(pb, k);
		disk_settle(pb);
	}
	starpu_mpi_wait_for_all(pb->grid.comm);
	for (int i = pb->grid.p; i < pb->nt; i += pb->grid.P)
		for (int j = pb->grid.q; j < pb->nt; j += pb->grid.Q)
			add_squares(pb, i, j, &squares[0], &squares[1]);
	return judge_residual(&pb->grid, squares, pb->nt * pb->b, DBL_EPSILON, "A - L U");
}
