/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of the Cholesky example and their codelets: CBLAS and LAPACKE where the build found
 * them (HAVE_CBLAS, HAVE_LAPACKE), plain loops otherwise. Those of devices are in opencl.c and
 * kernels.cu.
 *
 * Invariant: a kernel touches its own tiles only, so any number of them run at once; BLAS is told
 * to stay on one thread. The residual is always computed by plain loops: it must not rest on the
 * library that it verifies.
 */
#include <math.h>
#include <stdio.h>

#ifdef HAVE_CBLAS
#include <cblas.h>
#endif
#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

#include "cholesky.h"

/* Their symbols are set by kernels_setup(). */
static struct starpu_perfmodel init_model = { .type = STARPU_HISTORY_BASED };
static struct starpu_perfmodel potrf_model = { .type = STARPU_HISTORY_BASED };
static struct starpu_perfmodel trsm_model = { .type = STARPU_HISTORY_BASED };
static struct starpu_perfmodel syrk_model = { .type = STARPU_HISTORY_BASED };
static struct starpu_perfmodel gemm_model = { .type = STARPU_HISTORY_BASED };
static struct starpu_perfmodel residual_model = { .type = STARPU_HISTORY_BASED };

static int not_definite;

/* Names of the models of potrf, trsm, syrk and gemm, and of those that are always ours. */
static char symbols[6][64];

static void name_models(const struct problem *pb)
{
	static const char *const kernel[] = { "potrf", "trsm", "syrk", "gemm", "init", "residual" };
	struct starpu_perfmodel *model[] = { &potrf_model, &trsm_model, &syrk_model,
					     &gemm_model,  &init_model, &residual_model };

	for (int i = 0; i < 6; i++) {
		const char *prefix = pb->models && i < 4 ? pb->models
				     : pb->single        ? "orrery_s"
							 : "orrery_d";

		snprintf(symbols[i], sizeof(symbols[i]), "%.48s%s", prefix, kernel[i]);
		model[i]->symbol = symbols[i];
	}
}

int kernels_setup(const struct problem *pb)
{
	struct starpu_codelet *const factor[] = { &potrf_cl, &trsm_cl, &syrk_cl, &gemm_cl, NULL };

	name_models(pb);
	blas_one_thread();
	if (pb->clblast && !opencl_setup)
		return devices_no_clblast("cholesky");
	if (cuda_setup)
		cuda_setup(pb->b, pb->single);
	int ret = opencl_setup ? opencl_setup(pb->single, pb->clblast) : 0;
	return ret || !pb->devices ? ret : devices_only(factor, "cholesky");
}

void kernels_end(void)
{
	device_call(opencl_end);
	device_call(cuda_end);
}

int kernels_not_definite(void)
{
	return __atomic_load_n(&not_definite, __ATOMIC_ACQUIRE);
}

/*
 * Element of A: pseudo-random in [-1/2, 1/2), symmetric, plus n on the diagonal, which makes A
 * strictly diagonally dominant and hence positive definite.
 */
double matrix_element(int row, int column, int n)
{
	return random_element(row < column ? column : row, row < column ? row : column) +
	       (row == column ? n : 0);
}

/* Buffer `n` of a task as BLAS wants it. */
#define TILE(n) ((double *) STARPU_MATRIX_GET_PTR(buffers[n]))
#define SINGLE (STARPU_MATRIX_GET_ELEMSIZE(buffers[0]) == sizeof(float))
#define SINGLE_TILE(n) ((float *) STARPU_MATRIX_GET_PTR(buffers[n]))
#define LD(n) ((int) STARPU_MATRIX_GET_LD(buffers[n]))
#define ORDER(n) ((int) STARPU_MATRIX_GET_NX(buffers[n]))

static void init_cpu(void *buffers[], void *arg)
{
	double *a = (double *) STARPU_MATRIX_GET_PTR(buffers[0]);
	int b = (int) STARPU_MATRIX_GET_NX(buffers[0]);
	size_t ld = STARPU_MATRIX_GET_LD(buffers[0]);
	int i, j, n;

	starpu_codelet_unpack_args(arg, &i, &j, &n);
	for (int c = 0; c < b; c++)
		for (int r = 0; r < b; r++) {
			size_t at = (size_t) c * ld + (size_t) r;
			double element = matrix_element(i * b + r, j * b + c, n);

			if (SINGLE)
				SINGLE_TILE(0)[at] = (float) element;
			else
				a[at] = element;
		}
}

/* C -= A * B^T. `lower`: only the lower triangle of C. */
static void plain_update(int b, const double *A, size_t lda, const double *B, size_t ldb, double *C,
			 size_t ldc, int lower)
{
	for (int j = 0; j < b; j++)
		for (int k = 0; k < b; k++) {
			const double *a = A + (size_t) k * lda;
			double factor = B[(size_t) k * ldb + (size_t) j];
			double *c = C + (size_t) j * ldc;

			for (int i = lower ? j : 0; i < b; i++)
				c[i] -= a[i] * factor;
		}
}

#ifdef HAVE_LAPACKE
static int tile_potrf(int b, double *A, int lda)
{
	return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', b, A, lda) == 0 ? 0 : -1;
}
#else
static int tile_potrf(int b, double *A, int lda)
{
	for (int j = 0; j < b; j++) {
		double *column = A + (size_t) j * (size_t) lda;

		for (int k = 0; k < j; k++) {
			const double *left = A + (size_t) k * (size_t) lda;

			for (int i = j; i < b; i++)
				column[i] -= left[i] * left[j];
		}
		if (!(column[j] > 0))
			return -1;
		column[j] = sqrt(column[j]);
		for (int i = j + 1; i < b; i++)
			column[i] /= column[j];
	}
	return 0;
}
#endif

#ifdef HAVE_CBLAS
static void tile_trsm(int b, const double *L, int ldl, double *A, int lda)
{
	cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, b, b, 1.0, L,
		    ldl, A, lda);
}

static void tile_syrk(int b, const double *A, int lda, double *C, int ldc)
{
	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, b, b, -1.0, A, lda, 1.0, C, ldc);
}

static void tile_gemm(int b, const double *A, int lda, const double *B, int ldb, double *C, int ldc)
{
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, b, b, b, -1.0, A, lda, B, ldb, 1.0, C,
		    ldc);
}
#else
/* A := A * L^-T, column after column. */
static void tile_trsm(int b, const double *L, int ldl, double *A, int lda)
{
	for (int j = 0; j < b; j++) {
		double *column = A + (size_t) j * (size_t) lda;

		for (int k = 0; k < j; k++) {
			const double *left = A + (size_t) k * (size_t) lda;
			double factor = L[(size_t) k * (size_t) ldl + (size_t) j];

			for (int i = 0; i < b; i++)
				column[i] -= left[i] * factor;
		}
		for (int i = 0; i < b; i++)
			column[i] /= L[(size_t) j * (size_t) ldl + (size_t) j];
	}
}

static void tile_syrk(int b, const double *A, int lda, double *C, int ldc)
{
	plain_update(b, A, (size_t) lda, A, (size_t) lda, C, (size_t) ldc, 1);
}

static void tile_gemm(int b, const double *A, int lda, const double *B, int ldb, double *C, int ldc)
{
	plain_update(b, A, (size_t) lda, B, (size_t) ldb, C, (size_t) ldc, 0);
}
#endif

static void potrf_cpu(void *buffers[], void *arg)
{
	int b = ORDER(0), k;
	size_t ld = (size_t) LD(0);
	double *a = TILE(0);

	if (SINGLE ? single_potrf(b, SINGLE_TILE(0), LD(0)) : tile_potrf(b, a, LD(0))) {
		starpu_codelet_unpack_args(arg, &k);
		__atomic_store_n(&not_definite, k + 1, __ATOMIC_RELEASE);
	}
	/* The rest of A above the diagonal is no part of L. */
	for (int c = 1; c < b; c++)
		for (int r = 0; r < c; r++)
			if (SINGLE)
				SINGLE_TILE(0)[(size_t) c * ld + (size_t) r] = 0;
			else
				a[(size_t) c * ld + (size_t) r] = 0;
}

static void trsm_cpu(void *buffers[], void *arg)
{
	(void) arg;
	if (SINGLE)
		single_trsm(ORDER(0), SINGLE_TILE(0), LD(0), SINGLE_TILE(1), LD(1));
	else
		tile_trsm(ORDER(0), TILE(0), LD(0), TILE(1), LD(1));
}

static void syrk_cpu(void *buffers[], void *arg)
{
	(void) arg;
	if (SINGLE)
		single_syrk(ORDER(0), SINGLE_TILE(0), LD(0), SINGLE_TILE(1), LD(1));
	else
		tile_syrk(ORDER(0), TILE(0), LD(0), TILE(1), LD(1));
}

static void gemm_cpu(void *buffers[], void *arg)
{
	(void) arg;
	if (SINGLE)
		single_gemm(ORDER(0), SINGLE_TILE(0), LD(0), SINGLE_TILE(1), LD(1), SINGLE_TILE(2),
			    LD(2));
	else
		tile_gemm(ORDER(0), TILE(0), LD(0), TILE(1), LD(1), TILE(2), LD(2));
}

static void residual_cpu(void *buffers[], void *arg)
{
	(void) arg;
	if (SINGLE)
		single_update(ORDER(0), SINGLE_TILE(1), LD(1), SINGLE_TILE(2), LD(2),
			      SINGLE_TILE(0), LD(0), 0);
	else
		plain_update(ORDER(0), TILE(1), (size_t) LD(1), TILE(2), (size_t) LD(2), TILE(0),
			     (size_t) LD(0), 0);
}

static void residual_diag_cpu(void *buffers[], void *arg)
{
	(void) arg;
	if (SINGLE)
		single_update(ORDER(0), SINGLE_TILE(1), LD(1), SINGLE_TILE(1), LD(1),
			      SINGLE_TILE(0), LD(0), 0);
	else
		plain_update(ORDER(0), TILE(1), (size_t) LD(1), TILE(1), (size_t) LD(1), TILE(0),
			     (size_t) LD(0), 0);
}

struct starpu_codelet init_cl = {
	.cpu_funcs = { init_cpu },
	.cpu_funcs_name = { "init_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_W },
	.model = &init_model,
	.name = "init",
};

struct starpu_codelet potrf_cl = {
	.cpu_funcs = { potrf_cpu },
	.cpu_funcs_name = { "potrf_cpu" },
	.cuda_funcs = { potrf_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { potrf_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.model = &potrf_model,
	.name = "potrf",
};

struct starpu_codelet trsm_cl = {
	.cpu_funcs = { trsm_cpu },
	.cpu_funcs_name = { "trsm_cpu" },
	.cuda_funcs = { trsm_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { trsm_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 2,
	.modes = { STARPU_R, STARPU_RW },
	.model = &trsm_model,
	.name = "trsm",
};

struct starpu_codelet syrk_cl = {
	.cpu_funcs = { syrk_cpu },
	.cpu_funcs_name = { "syrk_cpu" },
	.cuda_funcs = { syrk_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { syrk_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 2,
	.modes = { STARPU_R, STARPU_RW },
	.model = &syrk_model,
	.name = "syrk",
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

struct starpu_codelet residual_diag_cl = {
	.cpu_funcs = { residual_diag_cpu },
	.cpu_funcs_name = { "residual_diag_cpu" },
	.nbuffers = 2,
	.modes = { STARPU_RW, STARPU_R },
	.model = &residual_model,
	.name = "residual_diag",
};
