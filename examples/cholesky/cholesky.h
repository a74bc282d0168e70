/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the Cholesky example share: the problem as one rank sees it, and the codelets.
 *
 * Invariant: a tile is a b x b column-major matrix of doubles (of floats with --single), named
 * (i,j) with i >= j, owned by rank (i mod P) * Q + (j mod Q), and has a handle on the ranks that
 * own it, read it, or send something to its owner. With --sizes and --elastic, phases.c says who
 * owns it, and all ranks have a handle.
 */
#ifndef EXAMPLES_CHOLESKY_H
#define EXAMPLES_CHOLESKY_H

#include <starpu_mpi.h>

#include "../checkpoint.h"
#include "../devices.h"
#include "../matrix.h"
#include "../resize.h"

struct problem {
	struct grid grid;
	int nt, b; /* tiles per dimension, rows of a tile */
	int prune, check;
	int single;         /* tiles are of floats */
	int devices;        /* only devices factor */
	int clblast;        /* those of OpenCL by CLBlast */
	int period;         /* steps between two checkpoints, 0: there are none */
	const char *models; /* what the names of the kernels' performance models begin with; NULL:
			       ours */
	starpu_data_handle_t *factor;           /* A, overwritten by L; see tile_index() */
	starpu_data_handle_t *residual;         /* A - L*L^T, with --check only */
	starpu_mpi_checkpoint_template_t saved; /* what a checkpoint saves */
	struct progress now;                    /* now.step is inserted next */
	struct watch watch;                     /* how many ranks there were at the last point */
	struct phases phases;                   /* numbers of ranks in use, and */
	orrery_distribution_t rule;             /* who owns what then; NULL: the grid says it */
	int elastic, joined, left;              /* --elastic; this rank came later; it has left */
};

/* Lower tiles in row order; both arrays of handles have this shape, NULL where this rank has no
 * part. */
static inline size_t tile_index(int i, int j)
{
	return (size_t) i * ((size_t) i + 1) / 2 + (size_t) j;
}

static inline size_t tile_count(const struct problem *pb)
{
	return tile_index(pb->nt, 0);
}

static inline int tile_is_mine(const struct problem *pb, int i, int j)
{
	return row_is_mine(&pb->grid, i) && column_is_mine(&pb->grid, j);
}

/* True if this rank owns a tile just now. */
static inline int tile_is_here(const struct problem *pb, int i, int j)
{
	return pb->rule ? starpu_mpi_data_get_rank(pb->factor[tile_index(i, j)]) == pb->grid.rank
			: tile_is_mine(pb, i, j);
}

/* kernels.c */
extern struct starpu_codelet init_cl;          /* W: tile of A; values: i, j, order of A (ints) */
extern struct starpu_codelet potrf_cl;         /* RW: A(k,k); value: k */
extern struct starpu_codelet trsm_cl;          /* R: L(k,k), RW: A(i,k) */
extern struct starpu_codelet syrk_cl;          /* R: L(i,k), RW: A(i,i) */
extern struct starpu_codelet gemm_cl;          /* R: L(i,k), R: L(j,k), RW: A(i,j) */
extern struct starpu_codelet residual_cl;      /* RW: R(i,j), R: L(i,k), R: L(j,k) */
extern struct starpu_codelet residual_diag_cl; /* RW: R(i,i), R: L(i,k) */

/* Once per rank, before the first task; 0, or the exit status after a message. */
int kernels_setup(const struct problem *pb);
void kernels_end(void);
int kernels_not_definite(void); /* 1 + k when pivot tile k was not positive definite here, else 0 */
double matrix_element(int row, int column, int n);

/* opencl.c and kernels.cu, where the build has them */
DEVICE_KERNEL(potrf_opencl);
DEVICE_KERNEL(trsm_opencl);
DEVICE_KERNEL(syrk_opencl);
DEVICE_KERNEL(gemm_opencl);
DEVICE_KERNEL(potrf_cuda);
DEVICE_KERNEL(trsm_cuda);
DEVICE_KERNEL(syrk_cuda);
DEVICE_KERNEL(gemm_cuda);
int opencl_setup(int single, int clblast) __attribute__((weak)); /* 0, or an exit status */
DEVICE_SETUP(opencl_end);
void cuda_setup(int b, int single) __attribute__((weak)); /* order of the tiles that come */
DEVICE_SETUP(cuda_end);

/* single.c: what kernels.c has for doubles; single_update is C -= A * B^T by plain loops */
void single_update(int b, const float *A, int lda, const float *B, int ldb, float *C, int ldc,
		   int lower);
int single_potrf(int b, float *A, int lda); /* -1 when it is not positive definite */
void single_trsm(int b, const float *L, int ldl, float *A, int lda);
void single_syrk(int b, const float *A, int lda, float *C, int ldc);
void single_gemm(int b, const float *A, int lda, const float *B, int ldb, float *C, int ldc);

/* checkpoint.c */
/* The rank that keeps a copy of another rank's tile. */
static inline int tile_backup(const struct problem *pb, int i, int j)
{
	return (tile_owner(&pb->grid, i, j) + 1) % pb->grid.size;
}
/* Names the tiles and the step; takes them back from the last checkpoint of a run that was lost.
 * Returns whether there was one. */
int checkpoint_begin(struct problem *pb);

/* tiles.c */
void tiles_register(struct problem *pb);
void tiles_generate(struct problem *pb); /* inserts the tasks that fill the tiles of A */
void tiles_unregister(struct problem *pb);
/* Gives L(k..nt-1,k) back: receivers free their copies, the owner forgets to whom it sent them. */
void tiles_flush_panel(struct problem *pb, int k);
static inline void tiles_inserted(const struct problem *pb, int ret, const char *name, int i, int j,
				  int k)
{
	check_inserted(pb->grid.comm, ret, "cholesky", name, i, j, k);
}

/* phases.c */
/* Begins an elastic run instead of grid_start(), and returns the same. */
int phases_begin(struct problem *pb, int *argc, char ***argv, struct options *o, const char *usage);
void phases_start(struct problem *pb); /* before tiles are registered */
/* The tile, just registered, gets its owner and follows the number of ranks; if there is a rule. */
void phases_follow(const struct problem *pb, starpu_data_handle_t tile, int i, int j);
/* Before step k; sets pb->left if this rank leaves instead. */
void phases_step(struct problem *pb, int k);
void phases_end(struct problem *pb); /* after tiles were unregistered */

/* factor.c */
typedef void (*update_function)(struct problem *pb, int i, int j, int k);
/* Calls `insert` for the updates of step k in columns j >= `first`, rows i >= j, that concern this
 * rank. */
void for_each_update(struct problem *pb, int k, int first, update_function insert);
void factor_insert(struct problem *pb);

/* check.c */
int check_factor(struct problem *pb); /* prints the verdict on rank 0; returns the exit status */

#endif /* EXAMPLES_CHOLESKY_H */
