# SPDX-License-Identifier: LGPL-2.1-or-later
#
# CUDA 12 or 13. The driver needs no toolkit to compile: it loads the runtime's
# library when a program starts. With the toolkit's headers (--with-cuda) programs
# see STARPU_USE_CUDA and starpu_cuda.h, and devices are driven by default; without
# them only where $ORRERY_CUDART names the library. Examples have kernels for CUDA
# where the toolkit has nvcc, cuBLAS and cuSOLVER.

# ORR_CUDA_TOOLKIT: where it is, in orr_cuda_toolkit, or no.
AC_DEFUN([ORR_CUDA_TOOLKIT], [
AC_ARG_ENABLE([cuda], [AS_HELP_STRING([--disable-cuda], [no driver for CUDA devices])],
	[], [enable_cuda=yes])
AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda=DIR], [use the CUDA toolkit in DIR (without DIR: in CUDA_HOME or /usr/local/cuda)])],
	[], [with_cuda=])
orr_cuda=no
orr_cuda_toolkit=no
CUDA_CFLAGS=
AS_IF([test "$with_cuda" = no], [enable_cuda=no])
AS_IF([test "$enable_cuda" != no], [
	orr_cuda=yes
	AS_CASE([$with_cuda], [yes], [orr_dirs="${CUDA_HOME-} /usr/local/cuda"], [orr_dirs=$with_cuda])
	for orr_dir in $orr_dirs; do
		AS_IF([test $orr_cuda_toolkit = no && test -f "$orr_dir/include/cuda_runtime_api.h"],
			[orr_cuda_toolkit=$orr_dir])
	done])
AS_IF([test -n "$with_cuda" && test "$with_cuda" != no && test "$orr_cuda_toolkit" = no],
	[AC_MSG_ERROR([--with-cuda=$with_cuda: there is no include/cuda_runtime_api.h])])
])

AC_DEFUN([ORR_CUDA], [
AC_REQUIRE([ORR_CUDA_TOOLKIT])
AS_IF([test $orr_cuda_toolkit != no],
	[CUDA_CFLAGS="-isystem $orr_cuda_toolkit/include"
	 AC_DEFINE([STARPU_USE_CUDA], [1], [CUDA devices are driven])])
NVCC=
CUDA_EXAMPLE_LIBS=
CUDA_MATRIX_LIBS=
AS_IF([test $orr_cuda_toolkit != no && test -x "$orr_cuda_toolkit/bin/nvcc" &&
	test -f "$orr_cuda_toolkit/include/cublas_v2.h" && test -f "$orr_cuda_toolkit/include/cusolverDn.h"],
	[NVCC=$orr_cuda_toolkit/bin/nvcc
	 CUDA_EXAMPLE_LIBS="-L$orr_cuda_toolkit/lib64 -Wl,-rpath,$orr_cuda_toolkit/lib64 -lcudart -lstdc++"
	 CUDA_MATRIX_LIBS="-lcusolver -lcublas $CUDA_EXAMPLE_LIBS"])
AC_SUBST([NVCC])
AC_SUBST([CUDA_EXAMPLE_LIBS])
AC_SUBST([CUDA_MATRIX_LIBS])
AM_CONDITIONAL([ORR_NVCC], [test -n "$NVCC"])
AC_SUBST([CUDA_CFLAGS])
AC_SUBST([orr_cuda])
AM_CONDITIONAL([ORR_CUDA], [test $orr_cuda = yes])
])
