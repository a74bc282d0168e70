/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The blocks of the stencil example: their registration, and the tasks that update them.
 *
 * Invariant: a rank knows its own blocks and those next to them, and inserts the updates of these:
 * they are the tasks that it runs and those that read edges of its blocks. Of another rank's block
 * the cells are known as the place where a task runs, never received.
 */
#include <stdio.h>
#include <stdlib.h>

#include "stencil.h"

static int is_mine(const struct problem *pb, int i, int j)
{
	return i >= pb->top && i < pb->bottom && j >= pb->left && j < pb->right;
}

/* Mine, or beside one of mine; i and j are indices of existing blocks. */
static int is_near(const struct problem *pb, int i, int j)
{
	int up = (i + pb->nx - 1) % pb->nx, down = (i + 1) % pb->nx;
	int left = (j + pb->ny - 1) % pb->ny, right = (j + 1) % pb->ny;

	return is_mine(pb, i, j) || is_mine(pb, up, j) || is_mine(pb, down, j) ||
	       is_mine(pb, i, left) || is_mine(pb, i, right);
}

static void register_block(struct problem *pb, int i, int j)
{
	struct block *k = block_at(pb, i, j);
	starpu_mpi_tag_t tag = 5 * ((starpu_mpi_tag_t) i * pb->ny + j);
	int owner = block_owner(pb, i, j);
	uint32_t b = (uint32_t) pb->b;

	starpu_block_data_register(&k->cells, -1, 0, b, b * b, b, b, 2, sizeof(double));
	starpu_mpi_data_register(k->cells, tag, owner);
	for (int parity = 0; parity < 2; parity++) {
		starpu_vector_data_register(&k->rows[parity], -1, 0, 2 * b, sizeof(double));
		starpu_mpi_data_register(k->rows[parity], tag + 1 + parity, owner);
		starpu_vector_data_register(&k->columns[parity], -1, 0, 2 * b, sizeof(double));
		starpu_mpi_data_register(k->columns[parity], tag + 3 + parity, owner);
	}
}

static void generate_block(struct problem *pb, int i, int j)
{
	struct block *k = block_at(pb, i, j);
	int ret = starpu_mpi_task_insert(pb->grid.comm, &init_cl, STARPU_VALUE, &i, sizeof(i),
					 STARPU_VALUE, &j, sizeof(j), STARPU_W, k->cells, STARPU_W,
					 k->rows[0], STARPU_W, k->columns[0], 0);

	check_inserted(pb->grid.comm, ret, "stencil", "init", i, j, 0);
}

void blocks_register(struct problem *pb)
{
	/* Next to n blocks in a rectangle there are at most 4 * n others. */
	size_t own = (size_t) (pb->bottom - pb->top) * (size_t) (pb->right - pb->left);

	pb->blocks = calloc((size_t) pb->nx * (size_t) pb->ny, sizeof(*pb->blocks));
	pb->known = malloc((5 * own + 1) * sizeof(*pb->known));
	if (!pb->blocks || !pb->known) {
		fprintf(stderr,
			"stencil: no memory for %d * %d blocks; use fewer of them (-nx, -ny)\n",
			pb->nx, pb->ny);
		MPI_Abort(pb->grid.comm, 1);
		abort();
	}
	for (int i = 0; i < pb->nx; i++)
		for (int j = 0; j < pb->ny; j++)
			if (is_near(pb, i, j)) {
				register_block(pb, i, j);
				pb->known[pb->nknown++] = (struct place){ i, j };
			} else if (pb->period && block_backup(pb, i, j) == pb->grid.rank)
				register_block(pb, i, j);
}

void blocks_generate(struct problem *pb)
{
	for (int i = pb->top; i < pb->bottom; i++)
		for (int j = pb->left; j < pb->right; j++)
			generate_block(pb, i, j);
}

void blocks_unregister(struct problem *pb)
{
	for (size_t at = 0; at < (size_t) pb->nx * (size_t) pb->ny; at++) {
		struct block *k = &pb->blocks[at];

		if (!k->cells)
			continue;
		starpu_data_unregister(k->cells);
		for (int parity = 0; parity < 2; parity++) {
			starpu_data_unregister(k->rows[parity]);
			starpu_data_unregister(k->columns[parity]);
		}
	}
	free(pb->blocks);
	free(pb->known);
	pb->blocks = NULL;
	pb->known = NULL;
}

/* Early iterations go first, so that no block runs far ahead of its neighbours. */
static void insert_update(struct problem *pb, int i, int j, int t)
{
	struct block *k = block_at(pb, i, j);
	int now = t % 2, next = !now;
	double b = pb->b;
	int ret = starpu_mpi_task_insert(
		pb->grid.comm, &update_cl, STARPU_VALUE, &t, sizeof(t), STARPU_RW, k->cells,
		STARPU_R, block_at(pb, i - 1, j)->rows[now], STARPU_R,
		block_at(pb, i + 1, j)->rows[now], STARPU_R, block_at(pb, i, j - 1)->columns[now],
		STARPU_R, block_at(pb, i, j + 1)->columns[now], STARPU_W, k->rows[next], STARPU_W,
		k->columns[next], STARPU_PRIORITY, pb->niter - t, STARPU_FLOPS, 6 * b * b, 0);

	check_inserted(pb->grid.comm, ret, "stencil", "update", i, j, t);
}

void blocks_iterate(struct problem *pb)
{
	for (int first = pb->t; pb->t < pb->niter; pb->t++) {
		if (pb->period && pb->t > first && pb->t % pb->period == 0)
			checkpoint_submit(pb);
		for (size_t at = 0; at < pb->nknown; at++)
			insert_update(pb, pb->known[at].i, pb->known[at].j, pb->t);
	}
}
