/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the stencil example share: the problem as one rank sees it, and the codelets.
 *
 * Invariant: block (i,j) is the b x b cells from row i*b and column j*b on, stored row after row,
 * for two times in turn: at time t the plane t mod 2 holds the values of time t. What its
 * neighbours read of it are its edges, separate data per parity of time: `rows` its first and its
 * last row, `columns` its first and its last column. A block and its edges have one owner.
 */
#ifndef EXAMPLES_STENCIL_H
#define EXAMPLES_STENCIL_H

#include <starpu_mpi.h>

#include "../checkpoint.h"
#include "../devices.h"
#include "../tiled.h"

/* The parts of a block that exist on a rank; NULL where the rank has nothing to do with it. */
struct block {
	starpu_data_handle_t cells;
	starpu_data_handle_t rows[2], columns[2];
};

/* Blocks of a rectangle, row after row; it may reach over an end of the plate. */
struct window {
	int top, left, rows, columns;
	struct block *blocks;
};

struct problem {
	struct grid grid;
	int nx, ny, b; /* rows and columns of blocks; rows and columns of a block */
	int niter;
	int check;
	int devices;                  /* only devices iterate */
	int period;                   /* iterations between two checkpoints, 0: there are none */
	int t;                        /* the iteration that is inserted next */
	int top, bottom, left, right; /* own blocks: rows [top,bottom), columns [left,right) */
	struct window near;           /* own blocks, and one more on each side */
	struct window kept;           /* with checkpoints: those that this rank keeps copies of */
	struct place {
		int i, j;
	} * known; /* those that this rank has to do with, row after row */
	size_t nknown;
	starpu_mpi_checkpoint_template_t saved; /* what a checkpoint saves */
};

/* First of the block rows (or columns) of part `k` when `n` of them are cut into `parts`; and the
 * part that `i` lies in. */
static inline int part_start(int k, int n, int parts)
{
	return (int) ((long long) k * n / parts);
}

static inline int part_of(int i, int n, int parts)
{
	return (int) ((((long long) i + 1) * parts - 1) / n);
}

static inline int block_owner(const struct problem *pb, int i, int j)
{
	return part_of(i, pb->nx, pb->grid.P) * pb->grid.Q + part_of(j, pb->ny, pb->grid.Q);
}

/* kernels.c; modes are those of the buffers in order */
extern struct starpu_codelet init_cl; /* W: cells, rows[0], columns[0]; values: i, j (ints) */
/* RW: cells; R: rows of the block above, of the one below, columns of the one to the left, to the
 * right, all of time t; W: rows, columns of time t + 1; value: t (int) */
extern struct starpu_codelet update_cl;

/* Once per rank, before the first task; 0, or the exit status after a message. */
int kernels_setup(const struct problem *pb);
void kernels_end(void);

/* opencl.c and kernels.cu, where the build has them */
DEVICE_KERNEL(update_opencl);
DEVICE_KERNEL(update_cuda);
DEVICE_SETUP(opencl_setup);
DEVICE_SETUP(opencl_end);

double initial_value(int x, int y);
/* The cell's next value from its own and those of its four neighbours. */
static inline double next_value(double cell, double above, double below, double left, double right)
{
	return cell + 0.2 * (((above + below) + (left + right)) - 4 * cell);
}

/* blocks.c */
/* Block (i,j) as this rank knows it. Indices beyond an end come in again at the other. */
const struct block *block_at(const struct problem *pb, int i, int j);
void blocks_register(struct problem *pb);
void blocks_generate(struct problem *pb); /* inserts the tasks that fill the blocks */
void blocks_unregister(struct problem *pb);
void blocks_iterate(struct problem *pb); /* inserts all iterations */

/* checkpoint.c */
/* The rank that keeps a copy of another rank's blocks. */
static inline int block_backup(const struct problem *pb, int i, int j)
{
	return (block_owner(pb, i, j) + 1) % pb->grid.size;
}
/* Names the blocks and the iteration; takes them back from the last checkpoint of a run that was
 * lost. Returns whether there was one. */
int checkpoint_begin(struct problem *pb);

/* check.c */
int check_blocks(struct problem *pb); /* prints the verdict on rank 0; returns the exit status */

#endif /* EXAMPLES_STENCIL_H */
