# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The operating system, hwloc and valgrind's header. The system must be one of 64 bits; all else is
# optional, and each sets a shell variable orr_NAME to yes or no for the summary.

# ORR_64_BITS: atomics of 8 bytes, and addresses that a number of 64 bits is reserved for.
AC_DEFUN([ORR_64_BITS], [
AC_REQUIRE([AC_CANONICAL_HOST])
AC_MSG_CHECKING([the bytes of a pointer])
AC_COMPUTE_INT([ORR_SIZEOF_POINTER], [sizeof(void *)], [#include <stddef.h>], [ORR_SIZEOF_POINTER=unknown])
AC_MSG_RESULT([$ORR_SIZEOF_POINTER])
AS_IF([test "$ORR_SIZEOF_POINTER" != 8],
	[AC_MSG_ERROR([$CC $CFLAGS compiles for $host_cpu with pointers of $ORR_SIZEOF_POINTER bytes; Orrery needs a system of 64 bits, such as x86_64 or aarch64, and runs on none of 32 bits])])
AC_SUBST([ORR_SIZEOF_POINTER])
])

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
