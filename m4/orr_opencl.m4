# SPDX-License-Identifier: LGPL-2.1-or-later
#
# OpenCL: the headers and the loader of drivers (Debian: ocl-icd-opencl-dev). A
# driver for CPUs is PoCL (pocl-opencl-icd); tests with devices need it. CLBlast
# (libclblast-dev) is for the examples only, which else use plain kernels.

AC_DEFUN([ORR_OPENCL], [
AC_ARG_ENABLE([opencl], [AS_HELP_STRING([--disable-opencl], [no driver for OpenCL devices])],
	[], [enable_opencl=yes])
orr_opencl=no
OPENCL_LIBS=
AS_IF([test "$enable_opencl" != no], [
	orr_saved_LIBS=$LIBS
	orr_saved_CPPFLAGS=$CPPFLAGS
	CPPFLAGS="$CPPFLAGS -DCL_TARGET_OPENCL_VERSION=120"
	LIBS="-lOpenCL $LIBS"
	AC_CHECK_HEADER([CL/cl.h], [AC_CHECK_FUNC([clEnqueueMarkerWithWaitList], [orr_opencl=yes])])
	LIBS=$orr_saved_LIBS
	CPPFLAGS=$orr_saved_CPPFLAGS])
AS_IF([test $orr_opencl = yes],
	[# Newer libtools keep the last one of equal words: ORR_NO_AS_NEEDED must not be among these.
	 OPENCL_LIBS='-Wl,--push-state,--as-needed -lOpenCL -Wl,--pop-state'
	 AC_DEFINE([STARPU_USE_OPENCL], [1], [OpenCL devices are driven])])
AC_ARG_WITH([clblast], [AS_HELP_STRING([--without-clblast], [examples use their own plain kernels for OpenCL])],
	[], [with_clblast=yes])
orr_clblast=no
CLBLAST_CPPFLAGS=
CLBLAST_LIBS=
AS_IF([test $orr_opencl = yes && test "$with_clblast" != no], [
	orr_saved_LIBS=$LIBS
	LIBS="-lclblast -lOpenCL $LIBS"
	AC_CHECK_HEADER([clblast_c.h], [AC_CHECK_FUNC([CLBlastDgemm],
		[orr_clblast=yes
		 CLBLAST_CPPFLAGS=-DHAVE_CLBLAST
		 CLBLAST_LIBS='-Wl,--push-state,--as-needed -lclblast -Wl,--pop-state'])],
		[], [#define CL_TARGET_OPENCL_VERSION 120])
	LIBS=$orr_saved_LIBS])
AC_SUBST([CLBLAST_CPPFLAGS])
AC_SUBST([CLBLAST_LIBS])
AC_SUBST([orr_clblast])
AC_SUBST([OPENCL_LIBS])
AC_SUBST([orr_opencl])
AM_CONDITIONAL([ORR_OPENCL], [test $orr_opencl = yes])
])
