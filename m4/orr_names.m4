# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The place where `make install` puts the names by which builds look for StarPU
# (build-aux/install-names). Sets orr_names to auto or apart.

AC_DEFUN([ORR_NAMES], [
AC_ARG_WITH([starpu-names], [AS_HELP_STRING([--with-starpu-names=WHERE],
	[the names by which builds look for StarPU: auto (in the prefix unless another StarPU is there) or apart (in LIBDIR/orrery/starpu) @<:@auto@:>@])],
	[], [with_starpu_names=auto])
AS_CASE([$with_starpu_names],
	[auto|apart], [],
	[AC_MSG_ERROR([--with-starpu-names=$with_starpu_names: say auto or apart])])
AC_SUBST([orr_names], [$with_starpu_names])
])
