# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The operating system, hwloc and valgrind's header. All are optional; each sets
# a shell variable orr_NAME to yes or no for the summary.

AC_DEFUN([ORR_SYSTEM], [
orr_threads=no
orr_saved_LIBS=$LIBS
AC_SEARCH_LIBS([pthread_create], [pthread], [orr_threads=yes])
AC_SEARCH_LIBS([dlopen], [dl])
AC_SEARCH_LIBS([clock_gettime], [rt])
AC_SEARCH_LIBS([sqrt], [m])
ORR_SYS_LIBS="-lpthread -lm"
LIBS=$orr_saved_LIBS
AC_CHECK_HEADERS([linux/futex.h sys/eventfd.h sys/prctl.h numa.h])
AC_SUBST([ORR_SYS_LIBS])
])

AC_DEFUN([ORR_HWLOC], [
AC_ARG_WITH([hwloc], [AS_HELP_STRING([--without-hwloc], [do not use hwloc: no binding, flat machine])],
	[], [with_hwloc=yes])
orr_hwloc=no
AS_IF([test "$with_hwloc" != no],
	[PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0], [orr_hwloc=yes], [orr_hwloc=no])])
AS_IF([test $orr_hwloc = yes],
	[AC_DEFINE([STARPU_HAVE_HWLOC], [1], [hwloc is used])])
AM_CONDITIONAL([ORR_HWLOC], [test $orr_hwloc = yes])
])

# Libraries that `pkg-config --static` names beside ours: only a static one needs more. hwloc's own list names libraries
# whose files for the linker its package does not bring, so it is not asked. OpenCL must be known.
AC_DEFUN([ORR_LIBS_OF_STATIC], [
AS_IF([test "$enable_static" = yes], [ORR_PRIVATE_LIBS="$HWLOC_LIBS $OPENCL_LIBS $ORR_SYS_LIBS"], [ORR_PRIVATE_LIBS=])
AC_SUBST([ORR_PRIVATE_LIBS])
])

AC_DEFUN([ORR_VALGRIND], [
AC_CHECK_HEADER([valgrind/valgrind.h],
	[AC_DEFINE([STARPU_HAVE_VALGRIND_H], [1], [valgrind/valgrind.h exists])])
])
