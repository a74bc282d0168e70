/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the LU example share: the problem as one rank sees it, and the codelets.
 *
 * Invariant: a tile is a b x b column-major matrix of doubles, named (i,j), owned by rank (i mod P)
 * * Q + (j mod Q), and has a handle on the ranks in whose rows or columns of the grid it lies: no
 * other rank reads it or sends something to its owner.
 */
#ifndef EXAMPLES_LU_H
#define EXAMPLES_LU_H

#include <starpu_mpi.h>

#include "../devices.h"
#include "../matrix.h"

struct problem {
	struct grid grid;
	int nt, b; /* tiles per dimension, rows of a tile */
	int check, explicit;
	int devices;      /* only devices factor */
	int clblast;      /* those of OpenCL by CLBlast */
	const char *disk; /* a folder, or NULL; then disk_node is the memory node on it */
	char folder[256];
	int disk_node;
	starpu_data_handle_t *factor;   /* A, overwritten by L and U; see tile_index() */
	starpu_data_handle_t *residual; /* A - L*U, with --check only */
};

static inline size_t tile_index(const struct problem *pb, int i, int j)
{
	return (size_t) i * (size_t) pb->nt + (size_t) j;
}

static inline size_t tile_count(const struct problem *pb)
{
	return tile_index(pb, pb->nt, 0);
}

/* kernels.c; modes are those of the buffers in order */
extern struct starpu_codelet init_cl;        /* W: tile of A; values: i, j, order of A (ints) */
extern struct starpu_codelet getrf_cl;       /* RW: A(k,k); value: k */
extern struct starpu_codelet trsm_row_cl;    /* R: LU(k,k), RW: A(k,j), which becomes U(k,j) */
extern struct starpu_codelet trsm_column_cl; /* R: LU(k,k), RW: A(i,k), which becomes L(i,k) */
extern struct starpu_codelet gemm_cl;        /* R: L(i,k), R: U(k,j), RW: A(i,j) */
extern struct starpu_codelet
	residual_cl; /* RW: R(i,j), R: LU(i,k), R: LU(k,j); values: i == k, k == j (ints) */

int kernels_singular(
	void); /* 1 + k when pivot tile k needed an exchange of rows here or was singular, else 0 */
double matrix_element(int row, int column, int n);

/* Once per rank, before the first task; 0, or the exit status after a message. */
int kernels_setup(const struct problem *pb);
void kernels_end(void);

/* opencl.c and kernels.cu, where the build has them */
DEVICE_KERNEL(getrf_opencl);
DEVICE_KERNEL(trsm_row_opencl);
DEVICE_KERNEL(trsm_column_opencl);
DEVICE_KERNEL(gemm_opencl);
DEVICE_KERNEL(getrf_cuda);
DEVICE_KERNEL(trsm_row_cuda);
DEVICE_KERNEL(trsm_column_cuda);
DEVICE_KERNEL(gemm_cuda);
int opencl_setup(int clblast) __attribute__((weak)); /* 0, or an exit status */
DEVICE_SETUP(opencl_end);
void cuda_setup(int b) __attribute__((weak)); /* order of the tiles that come */
DEVICE_SETUP(cuda_end);

/* tiles.c */
void tiles_register(struct problem *pb);
void tiles_unregister(struct problem *pb);
/* Gives the row and the column of step k back: receivers free their copies, the owner forgets to
 * whom it sent them. */
void tiles_flush_step(struct problem *pb, int k);

/* factor.c */
typedef void (*update_function)(struct problem *pb, int i, int j, int k);
/* Calls `insert` for the tiles (i,j), i and j >= first, whose update in step k concerns this rank.
 */
void for_each_update(struct problem *pb, int k, int first, update_function insert);
void factor_insert(struct problem *pb);
int getrf_priority(const struct problem *pb, int k);
/* Of the tasks that write tile (i,j) in step k, but getrf. */
int chain_priority(const struct problem *pb, int i, int j, int k);

/* explicit.c: the same as factor_insert() */
void factor_explicitly(struct problem *pb);

/* disk.c; disk_open() returns 0, or 1 after a message */
void disk_limit_memory(void);
int disk_open(struct problem *pb);
void disk_settle(const struct problem *pb); /* after a step; nothing without a disk */
void disk_print(const struct problem *pb);
void disk_close(const struct problem *pb);

/* check.c */
int check_factor(struct problem *pb); /* prints the verdict on rank 0; returns the exit status */

#endif /* EXAMPLES_LU_H */
