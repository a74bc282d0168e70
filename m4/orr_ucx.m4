# SPDX-License-Identifier: LGPL-2.1-or-later
#
# UCX, a transport of the real world: its headers only (Debian: libucx-dev). The
# library is loaded when ORRERY_TRANSPORT names it.

AC_DEFUN([ORR_UCX], [
AC_ARG_WITH([ucx], [AS_HELP_STRING([--without-ucx], [no transport over UCX])],
	[], [with_ucx=auto])
orr_ucx=no
UCX_CFLAGS=
AS_IF([test "$with_ucx" != no && test "$orr_mpi" = yes],
	[PKG_CHECK_EXISTS([ucx >= 1.10],
		[orr_ucx=yes
		 UCX_CFLAGS=`$PKG_CONFIG --cflags ucx`],
		[AS_IF([test "$with_ucx" != auto],
			[AC_MSG_ERROR([--with-ucx: pkg-config knows no ucx of version 1.10 or later (Debian: libucx-dev)])])])])
AC_SUBST([UCX_CFLAGS])
AC_SUBST([orr_ucx])
AM_CONDITIONAL([ORR_UCX], [test $orr_ucx = yes])
])
