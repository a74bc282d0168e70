/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernels of OpenCL on square tiles of floats or doubles, for the factorisations: plain ones, or
 * those of CLBlast if the program wants them and the build found it (HAVE_CLBLAST). Tiles are
 * factored by a plain kernel always, because CLBlast has none.
 *
 * Invariant: a function gives kernels to the queue of the calling worker and does not wait for
 * them. One program, compiled for one type, serves all tiles of a run.
 */
#ifndef EXAMPLES_MATRIX_OPENCL_H
#define EXAMPLES_MATRIX_OPENCL_H

#include <stdio.h>

#include "opencl_kernels.h"

#ifdef STARPU_USE_OPENCL

#ifdef HAVE_CLBLAST
#include <clblast_c.h>
#endif

struct matrix_ops {
	/* C -= A * B, or A * B^T. lower: only the lower triangle is wanted, and B is A. */
	void (*update)(void *A, void *B, void *C, int transposed, int lower);
	/* A := A * T^-T for a lower triangle T (transposed), else A * T^-1 for an upper one. */
	void (*solve_right)(void *T, void *A, int transposed);
	/* A := T^-1 * A for a lower triangle T with ones on its diagonal. */
	void (*solve_left)(void *T, void *A);
};

#define MATRIX_GROUP 16 /* work items that factor a tile together */

static struct starpu_opencl_program matrix_program;

/* A tile's element (i,j) is X(i,j). potrf and getrf are executed by one group of work items. */
static const char matrix_source[] =
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	"#define TILE(X) __global REAL *X, ulong at_##X, uint ld_##X\n"
	"#define AT(X, i, j) X[at_##X / sizeof(REAL) + (size_t) (j) * ld_##X + (i)]\n"
	"#define EACH(i, from, to) (uint i = (from) + get_local_id(0); i < (to); i += get_local_size(0))\n"
	"\n"
	"__kernel void update(TILE(A), TILE(B), TILE(C), uint b, int transposed, int lower)\n"
	"{\n"
	"	uint i = get_global_id(0), j = get_global_id(1);\n"
	"	REAL sum = 0;\n"
	"	if (lower && i < j) return;\n"
	"	for (uint k = 0; k < b; k++)\n"
	"		sum += AT(A, i, k) * (transposed ? AT(B, j, k) : AT(B, k, j));\n"
	"	AT(C, i, j) -= sum;\n"
	"}\n"
	"\n"
	"__kernel void solve_right(TILE(T), TILE(A), uint b, int transposed)\n"
	"{\n"
	"	uint i = get_global_id(0);\n"
	"	for (uint j = 0; j < b; j++) {\n"
	"		REAL x = AT(A, i, j);\n"
	"		for (uint k = 0; k < j; k++)\n"
	"			x -= AT(A, i, k) * (transposed ? AT(T, j, k) : AT(T, k, j));\n"
	"		AT(A, i, j) = x / AT(T, j, j);\n"
	"	}\n"
	"}\n"
	"\n"
	"__kernel void solve_left(TILE(T), TILE(A), uint b)\n"
	"{\n"
	"	uint j = get_global_id(0);\n"
	"	for (uint i = 0; i < b; i++) {\n"
	"		REAL x = AT(A, i, j);\n"
	"		for (uint k = 0; k < i; k++)\n"
	"			x -= AT(T, i, k) * AT(A, k, j);\n"
	"		AT(A, i, j) = x;\n"
	"	}\n"
	"}\n"
	"\n"
	"__kernel void potrf(TILE(A), uint b)\n"
	"{\n"
	"	for (uint j = 0; j < b; j++) {\n"
	"		for EACH(i, j, b)\n"
	"			for (uint k = 0; k < j; k++)\n"
	"				AT(A, i, j) -= AT(A, i, k) * AT(A, j, k);\n"
	"		barrier(CLK_GLOBAL_MEM_FENCE);\n"
	"		REAL root = sqrt(AT(A, j, j));\n"
	"		barrier(CLK_GLOBAL_MEM_FENCE);\n"
	"		for EACH(i, j, b) AT(A, i, j) = i == j ? root : AT(A, i, j) / root;\n"
	"		for EACH(i, 0, j) AT(A, i, j) = 0;\n"
	"		barrier(CLK_GLOBAL_MEM_FENCE);\n"
	"	}\n"
	"}\n"
	"\n"
	"__kernel void getrf(TILE(A), uint b)\n"
	"{\n"
	"	for (uint k = 0; k < b; k++) {\n"
	"		for EACH(i, k + 1, b) AT(A, i, k) /= AT(A, k, k);\n"
	"		barrier(CLK_GLOBAL_MEM_FENCE);\n"
	"		for EACH(j, k + 1, b)\n"
	"			for (uint i = k + 1; i < b; i++)\n"
	"				AT(A, i, j) -= AT(A, i, k) * AT(A, k, j);\n"
	"		barrier(CLK_GLOBAL_MEM_FENCE);\n"
	"	}\n"
	"}\n";

#define MATRIX_SINGLE(tile) (STARPU_MATRIX_GET_ELEMSIZE(tile) == sizeof(float))
#define MATRIX_ORDER(tile) ((cl_uint) STARPU_MATRIX_GET_NX(tile))

static inline void matrix_tile(struct opencl_launch *l, void *tile)
{
	cl_uint ld = (cl_uint) STARPU_MATRIX_GET_LD(tile);

	opencl_place(l, STARPU_MATRIX_GET_DEV_HANDLE(tile), STARPU_MATRIX_GET_OFFSET(tile));
	opencl_arg(l, sizeof(ld), &ld);
}

/* Factors a tile: `name` is potrf (the lower triangle, zeros above it) or getrf (without exchange
 * of rows). */
static inline void matrix_factor(const char *name, void *A)
{
	struct opencl_launch l = opencl_kernel(&matrix_program, name);
	cl_uint b = MATRIX_ORDER(A);

	matrix_tile(&l, A);
	opencl_arg(&l, sizeof(b), &b);
	opencl_run_groups(&l, MATRIX_GROUP, 1, MATRIX_GROUP);
}

static inline void plain_update(void *A, void *B, void *C, int transposed, int lower)
{
	struct opencl_launch l = opencl_kernel(&matrix_program, "update");
	cl_uint b = MATRIX_ORDER(A);
	cl_int flag[2] = { transposed, lower };

	matrix_tile(&l, A);
	matrix_tile(&l, B);
	matrix_tile(&l, C);
	opencl_arg(&l, sizeof(b), &b);
	opencl_arg(&l, sizeof(cl_int), &flag[0]);
	opencl_arg(&l, sizeof(cl_int), &flag[1]);
	opencl_run(&l, b, b);
}

static inline void plain_solve_right(void *T, void *A, int transposed)
{
	struct opencl_launch l = opencl_kernel(&matrix_program, "solve_right");
	cl_uint b = MATRIX_ORDER(A);
	cl_int flag = transposed;

	matrix_tile(&l, T);
	matrix_tile(&l, A);
	opencl_arg(&l, sizeof(b), &b);
	opencl_arg(&l, sizeof(flag), &flag);
	opencl_run(&l, b, 1);
}

static inline void plain_solve_left(void *T, void *A)
{
	struct opencl_launch l = opencl_kernel(&matrix_program, "solve_left");
	cl_uint b = MATRIX_ORDER(A);

	matrix_tile(&l, T);
	matrix_tile(&l, A);
	opencl_arg(&l, sizeof(b), &b);
	opencl_run(&l, b, 1);
}

static const struct matrix_ops plain_ops = { plain_update, plain_solve_right, plain_solve_left };

#ifdef HAVE_CLBLAST

/* A tile as CLBlast takes it: buffer, offset in elements, leading dimension. */
#define MATRIX_PLACE(tile) \
	(cl_mem) STARPU_MATRIX_GET_DEV_HANDLE(tile), \
		STARPU_MATRIX_GET_OFFSET(tile) / STARPU_MATRIX_GET_ELEMSIZE(tile), \
		STARPU_MATRIX_GET_LD(tile)

/* Calls CLBlast's function of that name for floats or doubles, as the tile says. */
#define MATRIX_CALL(tile, name, ...) \
	do { \
		cl_command_queue queue_; \
		starpu_opencl_get_current_queue(&queue_); \
		int err_ = MATRIX_SINGLE(tile) ? CLBlastS##name(__VA_ARGS__, &queue_, NULL) \
					       : CLBlastD##name(__VA_ARGS__, &queue_, NULL); \
		opencl_check(err_); \
	} while (0)

static inline void clblast_update(void *A, void *B, void *C, int transposed, int lower)
{
	size_t b = MATRIX_ORDER(A);

	if (lower)
		MATRIX_CALL(A, syrk, CLBlastLayoutColMajor, CLBlastTriangleLower,
			    CLBlastTransposeNo, b, b, -1, MATRIX_PLACE(A), 1, MATRIX_PLACE(C));
	else
		MATRIX_CALL(A, gemm, CLBlastLayoutColMajor, CLBlastTransposeNo,
			    transposed ? CLBlastTransposeYes : CLBlastTransposeNo, b, b, b, -1,
			    MATRIX_PLACE(A), MATRIX_PLACE(B), 1, MATRIX_PLACE(C));
}

static inline void clblast_solve_right(void *T, void *A, int transposed)
{
	size_t b = MATRIX_ORDER(A);

	MATRIX_CALL(A, trsm, CLBlastLayoutColMajor, CLBlastSideRight,
		    transposed ? CLBlastTriangleLower : CLBlastTriangleUpper,
		    transposed ? CLBlastTransposeYes : CLBlastTransposeNo, CLBlastDiagonalNonUnit,
		    b, b, 1, MATRIX_PLACE(T), MATRIX_PLACE(A));
}

static inline void clblast_solve_left(void *T, void *A)
{
	size_t b = MATRIX_ORDER(A);

	MATRIX_CALL(A, trsm, CLBlastLayoutColMajor, CLBlastSideLeft, CLBlastTriangleLower,
		    CLBlastTransposeNo, CLBlastDiagonalUnit, b, b, 1, MATRIX_PLACE(T),
		    MATRIX_PLACE(A));
}

static const struct matrix_ops clblast_ops = { clblast_update, clblast_solve_right,
					       clblast_solve_left };

static inline const struct matrix_ops *matrix_ops_of(int clblast)
{
	return clblast ? &clblast_ops : &plain_ops;
}

#else

static inline const struct matrix_ops *matrix_ops_of(int clblast)
{
	return clblast ? NULL : &plain_ops;
}

#endif

static const struct matrix_ops *matrix_ops;

/* Compiles the program for tiles of floats or of doubles. 0, or 77 after a message. */
static inline int matrix_opencl_begin(int single, int clblast, const char *program)
{
	matrix_ops = matrix_ops_of(clblast);
	if (!matrix_ops) {
		fprintf(stderr,
			"%s --clblast: the examples were built without CLBlast (Debian: libclblast-dev)\n",
			program);
		return 77;
	}
	opencl_check(starpu_opencl_load_opencl_from_string(
		matrix_source, &matrix_program, single ? "-DREAL=float" : "-DREAL=double"));
	return 0;
}

static inline void matrix_opencl_end(void)
{
	starpu_opencl_unload_opencl(&matrix_program);
}

#endif
#endif /* EXAMPLES_MATRIX_OPENCL_H */
