/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The factorisation A = L*L^T as tasks, right-looking: step k factors the pivot tile, solves the
 * panel below it and updates what lies to the right.
 *
 * Invariant: a rank inserts at least every task that it executes or sends a tile for, in the order
 * of the sequential program. With pruning it inserts exactly those, and its loops stride over the
 * process grid, so that they cost what the rank takes part in and not the size of the whole graph.
 */
#include "cholesky.h"

/*
 * Priorities are lengths of the longest chain of tasks that starts at the task, all tasks counted
 * as one. The longest of all is potrf(k), trsm(k+1,k), syrk(k+1,k), potrf(k+1) and so on.
 */
static int potrf_priority(const struct problem *pb, int k)
{
	return 3 * (pb->nt - 1 - k) + 1;
}

/* trsm(i,k), gemm(i,k+1,k), trsm(i,k+1), gemm(i,k+2,k+1) … until syrk(i,i-1) and potrf(i). */
static int trsm_priority(const struct problem *pb, int i, int k)
{
	return 2 * (i - k) + potrf_priority(pb, i);
}

/* The updates of the tile that are still to come, then its trsm or potrf. */
static int syrk_priority(const struct problem *pb, int i, int k)
{
	return i - k + potrf_priority(pb, i);
}

static int gemm_priority(const struct problem *pb, int i, int j, int k)
{
	return j - k + trsm_priority(pb, i, j);
}

static void insert_potrf(struct problem *pb, int k)
{
	double b = pb->b;
	int ret = starpu_mpi_task_insert(pb->grid.comm, &potrf_cl, STARPU_VALUE, &k, sizeof(k),
					 STARPU_RW, pb->factor[tile_index(k, k)], STARPU_PRIORITY,
					 potrf_priority(pb, k), STARPU_FLOPS,
					 b * b * b / 3 + b * b / 2 + b / 6, 0);

	tiles_inserted(pb, ret, "potrf", k, k, k);
}

static void insert_trsm(struct problem *pb, int i, int k)
{
	double b = pb->b;
	int ret = starpu_mpi_task_insert(pb->grid.comm, &trsm_cl, STARPU_R,
					 pb->factor[tile_index(k, k)], STARPU_RW,
					 pb->factor[tile_index(i, k)], STARPU_PRIORITY,
					 trsm_priority(pb, i, k), STARPU_FLOPS, b * b * b, 0);

	tiles_inserted(pb, ret, "trsm", i, k, k);
}

static void insert_syrk(struct problem *pb, int i, int k)
{
	double b = pb->b;
	int ret = starpu_mpi_task_insert(pb->grid.comm, &syrk_cl, STARPU_R,
					 pb->factor[tile_index(i, k)], STARPU_RW,
					 pb->factor[tile_index(i, i)], STARPU_PRIORITY,
					 syrk_priority(pb, i, k), STARPU_FLOPS, b * b * (b + 1), 0);

	tiles_inserted(pb, ret, "syrk", i, i, k);
}

static void insert_gemm(struct problem *pb, int i, int j, int k)
{
	double b = pb->b;
	int ret = starpu_mpi_task_insert(
		pb->grid.comm, &gemm_cl, STARPU_R, pb->factor[tile_index(i, k)], STARPU_R,
		pb->factor[tile_index(j, k)], STARPU_RW, pb->factor[tile_index(i, j)],
		STARPU_PRIORITY, gemm_priority(pb, i, j, k), STARPU_FLOPS, 2 * b * b * b, 0);

	tiles_inserted(pb, ret, "gemm", i, j, k);
}

static void insert_update(struct problem *pb, int i, int j, int k)
{
	if (i == j)
		insert_syrk(pb, i, k);
	else
		insert_gemm(pb, i, j, k);
}

/*
 * The update (i,j) of step k reads (i,k) and (j,k) and writes (i,j). This rank has a part in it
 * when it owns one of them: (j,k), and then all i count; or (i,k) or (i,j), and then i is in its
 * rows. Only in these rows, too, can it own (i,j), and only in its columns j unless it owns the
 * panel's column k.
 */
void for_each_update(struct problem *pb, int k, int first, update_function insert)
{
	int panel = !pb->prune || k % pb->grid.Q == pb->grid.q;
	int j = panel ? first : next_in_stride(first, pb->grid.q, pb->grid.Q);

	for (; j < pb->nt; j += panel ? 1 : pb->grid.Q) {
		int all = !pb->prune || (panel && j % pb->grid.P == pb->grid.p);
		int i = all ? j + 1 : next_in_stride(j + 1, pb->grid.p, pb->grid.P);

		if (all || tile_is_mine(pb, j, j))
			insert(pb, j, j, k);
		for (; i < pb->nt; i += all ? 1 : pb->grid.P)
			insert(pb, i, j, k);
	}
}

/* trsm(i,k) reads (k,k), whose owner takes part in all of them, and writes (i,k). */
static void insert_panel(struct problem *pb, int k)
{
	int all = !pb->prune || tile_is_mine(pb, k, k);
	int i = all ? k + 1 : next_in_stride(k + 1, pb->grid.p, pb->grid.P);

	if (all)
		insert_potrf(pb, k);
	if (!all && k % pb->grid.Q != pb->grid.q)
		return;
	for (; i < pb->nt; i += all ? 1 : pb->grid.P)
		insert_trsm(pb, i, k);
}

void factor_insert(struct problem *pb)
{
	for (int first = pb->now.step; pb->now.step < pb->nt; pb->now.step++) {
		int k = pb->now.step;

		if (pb->period && k > first && k % pb->period == 0)
			checkpoint_submit(pb->saved);
		phases_step(pb, k);
		if (pb->left)
			return;
		insert_panel(pb, k);
		for_each_update(pb, k, k + 1, insert_update);
		tiles_flush_panel(pb, k);
	}
}
