# SPDX-License-Identifier: LGPL-2.1-or-later
#
# BLAS and LAPACK by their C interfaces, for the kernels of the examples only.
# Without them the examples use plain kernels of their own.

AC_DEFUN([ORR_BLAS], [
AC_ARG_WITH([blas], [AS_HELP_STRING([--without-blas], [examples use their own plain kernels])],
	[], [with_blas=yes])
orr_blas=no
orr_lapacke=no
BLAS_CPPFLAGS=
BLAS_LIBS=
AS_IF([test "$with_blas" != no], [
	PKG_CHECK_MODULES([OPENBLAS], [openblas], [orr_openblas=yes], [orr_openblas=no])
	orr_saved_CPPFLAGS=$CPPFLAGS
	orr_saved_LIBS=$LIBS
	AS_IF([test $orr_openblas = yes],
		[BLAS_CPPFLAGS=$OPENBLAS_CFLAGS
		 BLAS_LIBS=$OPENBLAS_LIBS],
		[BLAS_LIBS="-lblas"])
	CPPFLAGS="$CPPFLAGS $BLAS_CPPFLAGS"
	LIBS="$BLAS_LIBS $LIBS"
	AC_CHECK_HEADER([cblas.h], [AC_CHECK_FUNC([cblas_dgemm], [orr_blas=yes])])
	LIBS="-llapacke $LIBS"
	AC_CHECK_HEADER([lapacke.h], [AC_CHECK_FUNC([LAPACKE_dpotrf], [orr_lapacke=yes])])
	CPPFLAGS=$orr_saved_CPPFLAGS
	LIBS=$orr_saved_LIBS])
AS_IF([test $orr_blas = yes], [
	BLAS_CPPFLAGS="$BLAS_CPPFLAGS -DHAVE_CBLAS"
	AC_DEFINE([STARPU_HAVE_CBLAS_H], [1], [cblas.h exists])
	AC_DEFINE([STARPU_HAVE_BLAS], [1], [a BLAS is used by the examples])
	AS_IF([test $orr_openblas = yes],
		[AC_DEFINE([STARPU_OPENBLAS], [1], [the BLAS is OpenBLAS])],
		[AC_DEFINE([STARPU_SYSTEM_BLAS], [1], [the BLAS is the system's])])
	AS_IF([test $orr_lapacke = yes],
		[BLAS_CPPFLAGS="$BLAS_CPPFLAGS -DHAVE_LAPACKE"
		 BLAS_LIBS="-llapacke $BLAS_LIBS"])],
	[BLAS_CPPFLAGS=
	 BLAS_LIBS=
	 orr_lapacke=no])
AC_SUBST([BLAS_CPPFLAGS])
AC_SUBST([BLAS_LIBS])
])
