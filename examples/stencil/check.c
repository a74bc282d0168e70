/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verification of the stencil: every rank computes the whole plate sequentially and compares its
 * own blocks.
 *
 * Invariant: the verdict is the same on all ranks, and equality is exact.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stencil.h"

/* One iteration over a plate of h x w cells. */
static void step(int h, int w, const double *from, double *to)
{
	for (int x = 0; x < h; x++) {
		const double *row = from + (size_t) x * (size_t) w;
		const double *above = from + (size_t) (x ? x - 1 : h - 1) * (size_t) w;
		const double *below = from + (size_t) (x + 1 < h ? x + 1 : 0) * (size_t) w;

		for (int y = 0; y < w; y++)
			to[(size_t) x * (size_t) w + (size_t) y] = next_value(
				row[y], above[y], below[y], row[y ? y - 1 : w - 1],
				row[y + 1 < w ? y + 1 : 0]);
	}
}

/* The plate after all iterations, of which there is memory for two; NULL when there is none. */
static double *sequential(const struct problem *pb)
{
	int h = pb->nx * pb->b, w = pb->ny * pb->b;
	size_t n = (size_t) h * (size_t) w;
	double *now = malloc(n * sizeof(*now)), *next = malloc(n * sizeof(*next)), *swap;

	if (!now || !next) {
		free(now);
		free(next);
		return NULL;
	}
	for (int x = 0; x < h; x++)
		for (int y = 0; y < w; y++)
			now[(size_t) x * (size_t) w + (size_t) y] = initial_value(x, y);
	for (int t = 0; t < pb->niter; t++) {
		step(h, w, now, next);
		swap = now;
		now = next;
		next = swap;
	}
	free(next);
	return now;
}

/* Cells of block (i,j) that differ from the plate. */
static long long wrong_in_block(struct problem *pb, int i, int j, const double *plate)
{
	starpu_data_handle_t handle = block_at(pb, i, j)->cells;
	size_t b = (size_t) pb->b, w = (size_t) pb->ny * b;
	const double *cells;
	long long wrong = 0;

	starpu_data_acquire(handle, STARPU_R);
	cells = (const double *) starpu_block_get_local_ptr(handle) +
		(size_t) (pb->niter % 2) * b * b;
	for (size_t x = 0; x < b; x++)
		for (size_t y = 0; y < b; y++)
			wrong += !(cells[x * b + y] ==
				   plate[((size_t) i * b + x) * w + (size_t) j * b + y]);
	starpu_data_release(handle);
	return wrong;
}

int check_blocks(struct problem *pb)
{
	double *plate = sequential(pb);
	long long part[2] = { 0, !plate }, all[2];

	for (int i = pb->top; plate && i < pb->bottom; i++)
		for (int j = pb->left; j < pb->right; j++)
			part[0] += wrong_in_block(pb, i, j, plate);
	free(plate);
	MPI_Allreduce(part, all, 2, MPI_LONG_LONG, MPI_SUM, pb->grid.comm);
	if (pb->grid.rank == 0 && all[1])
		fprintf(stderr,
			"check: %lld ranks have no memory for the sequential computation; use a smaller plate\n",
			all[1]);
	else if (pb->grid.rank == 0 && all[0])
		fprintf(stderr,
			"check: FAILED, %lld of %lld cells differ from the sequential computation\n",
			all[0], (long long) pb->nx * pb->ny * pb->b * pb->b);
	else if (pb->grid.rank == 0)
		printf("check: OK\n");
	return all[0] || all[1];
}
