/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of the Cholesky example in single precision (option --single): those of kernels.c
 * with other names.
 *
 * Invariant: as in kernels.c, a kernel touches its own tiles only, and the residual never rests on
 * a library.
 */
#include <math.h>

#ifdef HAVE_CBLAS
#include <cblas.h>
#endif
#ifdef HAVE_LAPACKE
#include <lapacke.h>
#endif

#include "cholesky.h"

void single_update(int b, const float *A, int lda, const float *B, int ldb, float *C, int ldc,
		   int lower)
{
	for (int j = 0; j < b; j++)
		for (int k = 0; k < b; k++) {
			const float *a = A + (size_t) k * (size_t) lda;
			float factor = B[(size_t) k * (size_t) ldb + (size_t) j];
			float *c = C + (size_t) j * (size_t) ldc;

			for (int i = lower ? j : 0; i < b; i++)
				c[i] -= a[i] * factor;
		}
}

#ifdef HAVE_LAPACKE
int single_potrf(int b, float *A, int lda)
{
	return LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'L', b, A, lda) == 0 ? 0 : -1;
}
#else
int single_potrf(int b, float *A, int lda)
{
	for (int j = 0; j < b; j++) {
		float *column = A + (size_t) j * (size_t) lda;

		for (int k = 0; k < j; k++) {
			const float *left = A + (size_t) k * (size_t) lda;

			for (int i = j; i < b; i++)
				column[i] -= left[i] * left[j];
		}
		if (!(column[j] > 0))
			return -1;
		column[j] = sqrtf(column[j]);
		for (int i = j + 1; i < b; i++)
			column[i] /= column[j];
	}
	return 0;
}
#endif

#ifdef HAVE_CBLAS
void single_trsm(int b, const float *L, int ldl, float *A, int lda)
{
	cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, b, b, 1.0f, L,
		    ldl, A, lda);
}

void single_syrk(int b, const float *A, int lda, float *C, int ldc)
{
	cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, b, b, -1.0f, A, lda, 1.0f, C, ldc);
}

void single_gemm(int b, const float *A, int lda, const float *B, int ldb, float *C, int ldc)
{
	cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, b, b, b, -1.0f, A, lda, B, ldb, 1.0f,
		    C, ldc);
}
#else
void single_trsm(int b, const float *L, int ldl, float *A, int lda)
{
	for (int j = 0; j < b; j++) {
		float *column = A + (size_t) j * (size_t) lda;

		for (int k = 0; k < j; k++) {
			const float *left = A + (size_t) k * (size_t) lda;
			float factor = L[(size_t) k * (size_t) ldl + (size_t) j];

			for (int i = 0; i < b; i++)
				column[i] -= left[i] * factor;
		}
		for (int i = 0; i < b; i++)
			column[i] /= L[(size_t) j * (size_t) ldl + (size_t) j];
	}
}

void single_syrk(int b, const float *A, int lda, float *C, int ldc)
{
	single_update(b, A, lda, A, lda, C, ldc, 1);
}

void single_gemm(int b, const float *A, int lda, const float *B, int ldb, float *C, int ldc)
{
	single_update(b, A, lda, B, ldb, C, ldc, 0);
}
#endif
