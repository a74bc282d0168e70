/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The factorisation A = L*U as tasks, right-looking: step k factors the pivot tile, solves the row
 * to its right and the column below it, and updates what is left.
 *
 * Invariant: a rank inserts exactly the tasks that it executes or sends a tile for, in the order of
 * the sequential program; its loops stride over the process grid, so that they cost what the rank
 * takes part in.
 */
#include "lu.h"

/* Lengths of the longest chain of tasks that starts at the task, all tasks counted as one: getrf,
 * trsm, gemm, getrf and so on. */
int getrf_priority(const struct problem *pb, int k)
{
	return 3 * (pb->nt - 1 - k) + 1;
}

/* A tile on the row or the column of step `to`, `steps` updates before its trsm. */
int chain_priority(const struct problem *pb, int i, int j, int k)
{
	int to = i < j ? i : j, far = i < j ? j : i;

	if (i == j)
		return to - k + getrf_priority(pb, i);
	/* updates, trsm, then the update of (far,far), the pivot that it leads to */
	return to - k + 1 + far - to + getrf_priority(pb, far);
}

static void insert_getrf(struct problem *pb, int k)
{
	double b = pb->b;
	int ret = starpu_mpi_task_insert(pb->grid.comm, &getrf_cl, STARPU_VALUE, &k, sizeof(k),
					 STARPU_RW, pb->factor[tile_index(pb, k, k)],
					 STARPU_PRIORITY, getrf_priority(pb, k), STARPU_FLOPS,
					 2 * b * b * b / 3, 0);

	check_inserted(pb->grid.comm, ret, "lu", "getrf", k, k, k);
}

/* Solves tile (i,j) of row or column k. */
static void insert_trsm(struct problem *pb, int i, int j, int k)
{
	double b = pb->b;
	int ret = starpu_mpi_task_insert(pb->grid.comm, i == k ? &trsm_row_cl : &trsm_column_cl,
					 STARPU_R, pb->factor[tile_index(pb, k, k)], STARPU_RW,
					 pb->factor[tile_index(pb, i, j)], STARPU_PRIORITY,
					 chain_priority(pb, i, j, k), STARPU_FLOPS, b * b * b, 0);

	check_inserted(pb->grid.comm, ret, "lu", "trsm", i, j, k);
}

static void insert_gemm(struct problem *pb, int i, int j, int k)
{
	double b = pb->b;
	int ret = starpu_mpi_task_insert(
		pb->grid.comm, &gemm_cl, STARPU_R, pb->factor[tile_index(pb, i, k)], STARPU_R,
		pb->factor[tile_index(pb, k, j)], STARPU_RW, pb->factor[tile_index(pb, i, j)],
		STARPU_PRIORITY, chain_priority(pb, i, j, k), STARPU_FLOPS, 2 * b * b * b, 0);

	check_inserted(pb->grid.comm, ret, "lu", "gemm", i, j, k);
}

/*
 * The update (i,j) of step k reads (i,k) and (k,j). In a row of this rank, it owns (i,k), and then
 * all j count, or else the columns of its own; in another row it can own (k,j) only.
 */
void for_each_update(struct problem *pb, int k, int first, update_function insert)
{
	for (int i = first; i < pb->nt; i++) {
		int all = row_is_mine(&pb->grid, i) && column_is_mine(&pb->grid, k);

		if (!row_is_mine(&pb->grid, i) && !row_is_mine(&pb->grid, k))
			continue;
		for (int j = all ? first : next_in_stride(first, pb->grid.q, pb->grid.Q);
		     j < pb->nt; j += all ? 1 : pb->grid.Q)
			insert(pb, i, j, k);
	}
}

/* The owner of the pivot takes part in all of its row and column, others in what is theirs. */
static void insert_panels(struct problem *pb, int k)
{
	int row = row_is_mine(&pb->grid, k), column = column_is_mine(&pb->grid, k),
	    both = row && column;

	if (both)
		insert_getrf(pb, k);
	for (int x = k + 1; x < pb->nt; x++) {
		if (both || (row && column_is_mine(&pb->grid, x)))
			insert_trsm(pb, k, x, k);
		if (both || (column && row_is_mine(&pb->grid, x)))
			insert_trsm(pb, x, k, k);
	}
}

void factor_insert(struct problem *pb)
{
	for (int k = 0; k < pb->nt; k++) {
		insert_panels(pb, k);
		for_each_update(pb, k, k + 1, insert_gemm);
		tiles_flush_step(pb, k);
		disk_settle(pb);
	}
}
