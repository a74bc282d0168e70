# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The places that the files for pkg-config and CMake name. Each is written by its
# way from the prefix, and the prefix by its way from the file, so that a tree can
# be moved as a whole.
# Invariant: a place outside the prefix is written as it is; so is, for pkg-config,
# the prefix /usr, whose folders it leaves out by their names.

# ORR_EXPAND(VARIABLE, DIRECTORY): as make would expand it.
AC_DEFUN([ORR_EXPAND], [
orr_saved_prefix=$prefix
orr_saved_exec_prefix=$exec_prefix
test "$prefix" != NONE || prefix=$ac_default_prefix
test "$exec_prefix" != NONE || exec_prefix=$prefix
$1=$2
while :; do
	AS_CASE([$$1], [*'$'*], [eval "$1=\"$$1\""], [break])
done
prefix=$orr_saved_prefix
exec_prefix=$orr_saved_exec_prefix
])

# ORR_BELOW(VARIABLE, DIRECTORY): its way from the prefix, or nothing if it is not below it.
AC_DEFUN([ORR_BELOW], [
ORR_EXPAND([orr_place], [$2])
AS_CASE([$orr_place], ["$orr_prefix"/*], [$1=`expr "X$orr_place" : "X$orr_prefix/*\(.*\)"`], [$1=])
])

# ORR_PLACE(VARIABLE, DIRECTORY): ${prefix}/... if it is below the prefix.
AC_DEFUN([ORR_PLACE], [
ORR_BELOW([orr_below], [$2])
AS_IF([test -n "$orr_below"], [$1="\${prefix}/$orr_below"], [$1=$orr_place])
AC_SUBST([$1])
])

# ORR_WAY_BACK(VARIABLE, BASE, DIRECTORY): BASE/../..., which is the prefix if BASE is DIRECTORY.
AC_DEFUN([ORR_WAY_BACK], [
ORR_BELOW([orr_below], [$3])
$1=$orr_prefix
AS_IF([test -n "$orr_below"], [$1=$2/`AS_ECHO(["$orr_below"]) | $SED 's,@<:@^/@:>@@<:@^/@:>@*,..,g'`])
AC_SUBST([$1])
])

AC_DEFUN([ORR_PLACES], [
ORR_EXPAND([orr_prefix], [$prefix])
ORR_PLACE([ORR_PC_LIBDIR], [$libdir])
ORR_PLACE([ORR_PC_INCLUDEDIR], [$includedir])
ORR_PLACE([ORR_PC_DATADIR], [$datadir])
ORR_PLACE([ORR_CMAKE_BINDIR], [$bindir])
ORR_PLACE([ORR_CMAKE_PKGCONFIGDIR], [$pkgconfigdir])
ORR_WAY_BACK([ORR_PC_PREFIX], ["\${pcfiledir}"], [$pkgconfigdir])
AS_IF([test "$orr_prefix" = /usr], [ORR_PC_PREFIX=/usr])
ORR_WAY_BACK([ORR_CMAKE_PREFIX], ["\${here}"], [$libdir/cmake/Orrery])
# The procedures for Fortran: an archive of which other programs take nothing.
AS_IF([test "$orr_fortran" = yes], [ORR_PC_FORTRAN='-L${libdir}/orrery -lfstarpu'], [ORR_PC_FORTRAN=])
AC_SUBST([ORR_PC_FORTRAN])
])
