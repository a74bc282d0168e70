/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of the LU example and their codelets: CBLAS and LAPACKE where the build found them
 * (HAVE_CBLAS, HAVE_LAPACKE), plain loops otherwise. Those of devices are in opencl.c and
 * kernels.cu.
 *
 * Invariant: a kernel touches its own tiles only. The residual is always computed by plain loops:
 * it must not rest on the library that it verifies.
 */
#ifdef HAVE_CBLAS
#include <cblas.h>
#endif
#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

#include "lu.h"

#define MODEL(kernel) \
	{ \
		.type = STARPU_HISTORY_BASED, .symbol = "orrery_lu_" kernel \
	}
static struct starpu_perfmodel init_model = MODEL("init");
static struct starpu_perfmodel getrf_model = MODEL("getrf");
static struct starpu_perfmodel trsm_row_model = MODEL("trsm_row");
static struct starpu_perfmodel trsm_column_model = MODEL("trsm_column");
static struct starpu_perfmodel gemm_model = MODEL("gemm");
static struct starpu_perfmodel residual_model = MODEL("residual");

static int singular;

int kernels_singular(void)
{
	return __atomic_load_n(&singular, __ATOMIC_ACQUIRE);
}

int kernels_setup(const struct problem *pb)
{
	struct starpu_codelet *const factor[] = { &getrf_cl, &trsm_row_cl, &trsm_column_cl,
						  &gemm_cl, NULL };

	blas_one_thread();
	if (pb->clblast && !opencl_setup)
		return devices_no_clblast("lu");
	if (cuda_setup)
		cuda_setup(pb->b);
	int ret = opencl_setup ? opencl_setup(pb->clblast) : 0;
	return ret || !pb->devices ? ret : devices_only(factor, "lu");
}

void kernels_end(void)
{
	device_call(opencl_end);
	device_call(cuda_end);
}

/* Element of A: pseudo-random in [-1/2, 1/2), plus n on the diagonal. */
double matrix_element(int row, int column, int n)
{
	return random_element(row, column) + (row == column ? n : 0);
}

/* Buffer `n` of a task as BLAS wants it. */
#define TILE(n) ((double *) STARPU_MATRIX_GET_PTR(buffers[n]))
#define LD(n) ((int) STARPU_MATRIX_GET_LD(buffers[n]))
#define ORDER(n) ((int) STARPU_MATRIX_GET_NX(buffers[n]))

static void init_cpu(void *buffers[], void *arg)
{
	int i, j, n, b = ORDER(0);

	starpu_codelet_unpack_args(arg, &i, &j, &n);
	for (int c = 0; c < b; c++)
		for (int r = 0; r < b; r++)
			TILE(0)
	[(size_t) c * (size_t) LD(0) + (size_t) r] = matrix_element(i * b + r, j * b + c, n);
}

/* tile_getrf: 0, or -1 when a pivot is not on the diagonal or zero. L has ones on its diagonal,
 * which are not stored. */
#ifdef HAVE_LAPACKE
static int tile_getrf(int b, double *A, int lda)
{
	lapack_int *pivot = malloc((size_t) b * sizeof(*pivot));
	int ret = !pivot || LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, b, b, A, lda, pivot) ? -1 : 0;

	for (int i = 0; i < b && !ret; i++)
		ret = pivot[i] == i + 1 ? 0 : -1;
	free(pivot);
	return ret;
}
#else
static int tile_getrf(int b, double *A, int lda)
{
	for (int j = 0; j < b; j++) {
		double *column = A + (size_t) j * (size_t) lda;

		for (int k = 0; k < j; k++) {
			const double *left = A + (size_t) k * (size_t) lda;

			for (int i = k + 1; i < b; i++)
				column[i] -= left[i] * column[k];
		}
		for (int i = j + 1; i < b; i++) {
			if (!(fabs(column[i]) <= fabs(column[j])))
				return -1;
			column[i] /= column[j];
		}
		if (!(fabs(column[j]) > 0))
			return -1;
	}
	return 0;
}
#endif

#ifdef HAVE_CBLAS
static void tile_trsm_row(int b, const double *LU, int ld, double *A, int lda)
{
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, b, b, 1.0, LU,
		    ld, A, lda);
}

static void tile_trsm_column(int b, const double *LU, int ld, double *A, int lda)
{
	cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, b, b, 1.0,
		    LU, ld, A, lda);
}

static void tile_gemm(int b, const double *A, int lda, const double *B, int ldb, double *C, int ldc)
{
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, b, b, b, -1.0, A, lda, B, ldb, 1.0,
		    C, ldc);
}
#else
/* A := L^-1 * A, column after column. */
static void tile_trsm_row(int b, const double *LU, int ld, double *A, int lda)
{
	for (int j = 0; j < b; j++)
		for (int k = 0; k < b; k++) {
			double *column = A + (size_t) j * (size_t) lda;
			const double *left = LU + (size_t) k * (size_t) ld;

			for (int i = k + 1; i < b; i++)
				column[i] -= left[i] * column[k];
		}
}

/* A := A * U^-1, column after column. */
static void tile_trsm_column(int b, const double *LU, int ld, double *A, int lda)
{
	for (int j = 0; j < b; j++) {
		const double *u = LU + (size_t) j * (size_t) ld;
		double *column = A + (size_t) j * (size_t) lda;

		for (int k = 0; k < j; k++) {
			const double *left = A + (size_t) k * (size_t) lda;

			for (int i = 0; i < b; i++)
				column[i] -= left[i] * u[k];
		}
		for (int i = 0; i < b; i++)
			column[i] /= u[j];
	}
}

static void tile_gemm(int b, const double *A, int lda, const double *B, int ldb, double *C, int ldc)
{
	for (int j = 0; j < b; j++)
		for (int k = 0; k < b; k++) {
			const double *a = A + (size_t) k * (size_t) lda;
			double factor = B[(size_t) j * (size_t) ldb + (size_t) k];
			double *c = C + (size_t) j * (size_t) ldc;

			for (int i = 0; i < b; i++)
				c[i] -= a[i] * factor;
		}
}
#endif

static void getrf_cpu(void *buffers[], void *arg)
{
	int k;

	if (tile_getrf(ORDER(0), TILE(0), LD(0))) {
		starpu_codelet_unpack_args(arg, &k);
		__atomic_store_n(&singular, k + 1, __ATOMIC_RELEASE);
	}
}

static void trsm_row_cpu(void *buffers[], void *arg)
{
	(void) arg;
	tile_trsm_row(ORDER(0), TILE(0), LD(0), TILE(1), LD(1));
}

static void trsm_column_cpu(void *buffers[], void *arg)
{
	(void) arg;
	tile_trsm_column(ORDER(0), TILE(0), LD(0), TILE(1), LD(1));
}

static void gemm_cpu(void *buffers[], void *arg)
{
	(void) arg;
	tile_gemm(ORDER(0), TILE(0), LD(0), TILE(1), LD(1), TILE(2), LD(2));
}

/* R -= L * U, where of a pivot tile L has what is below the diagonal and ones on it, U the rest. */
static void residual_cpu(void *buffers[], void *arg)
{
	int b = ORDER(0), left_is_pivot, right_is_pivot;

	starpu_codelet_unpack_args(arg, &left_is_pivot, &right_is_pivot);
	for (int j = 0; j < b; j++)
		for (int k = 0; k < b && (!right_is_pivot || k <= j); k++) {
			const double *l = TILE(1) + (size_t) k * (size_t) LD(1);
			double u = TILE(2)[(size_t) j * (size_t) LD(2) + (size_t) k];
			double *r = TILE(0) + (size_t) j * (size_t) LD(0);

			if (left_is_pivot)
				r[k] -= u;
			for (int i = left_is_pivot ? k + 1 : 0; i < b; i++)
				r[i] -= l[i] * u;
		}
}

struct starpu_codelet init_cl = {
	.cpu_funcs = { init_cpu },
	.cpu_funcs_name = { "init_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_W },
	.model = &init_model,
	.name = "init",
};

struct starpu_codelet getrf_cl = {
	.cpu_funcs = { getrf_cpu },
	.cpu_funcs_name = { "getrf_cpu" },
	.cuda_funcs = { getrf_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { getrf_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.model = &getrf_model,
	.name = "getrf",
};

struct starpu_codelet trsm_row_cl = {
	.cpu_funcs = { trsm_row_cpu },
	.cpu_funcs_name = { "trsm_row_cpu" },
	.cuda_funcs = { trsm_row_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { trsm_row_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 2,
	.modes = { STARPU_R, STARPU_RW },
	.model = &trsm_row_model,
	.name = "trsm_row",
};

struct starpu_codelet trsm_column_cl = {
	.cpu_funcs = { trsm_column_cpu },
	.cpu_funcs_name = { "trsm_column_cpu" },
	.cuda_funcs = { trsm_column_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { trsm_column_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 2,
	.modes = { STARPU_R, STARPU_RW },
	.model = &trsm_column_model,
	.name = "trsm_column",
};

struct starpu_codelet gemm_cl = {
	.cpu_funcs = { gemm_cpu },
	.cpu_funcs_name = { "gemm_cpu" },
	.cuda_funcs = { gemm_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { gemm_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 3,
	.modes = { STARPU_R, STARPU_R, STARPU_RW },
	.model = &gemm_model,
	.name = "gemm",
};

struct starpu_codelet residual_cl = {
	.cpu_funcs = { residual_cpu },
	.cpu_funcs_name = { "residual_cpu" },
	.nbuffers = 3,
	.modes = { STARPU_RW, STARPU_R, STARPU_R },
	.model = &residual_model,
	.name = "residual",
};
