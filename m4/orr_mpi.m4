# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The MPI of the real world. Its compiler wrapper is only asked for flags, so
# that one compiler builds everything. Sets orr_mpi, MPI_CPPFLAGS, MPI_LIBS,
# MPIEXEC and whether `make check` starts programs on several ranks.

# ORR_MPI_WHICH: ORR_MPI_LIBRARY becomes a name of tools/orrery_launchers.py: openmpi4 (or older), openmpi5 (or later),
# mpich (and its relatives), other.
AC_DEFUN([ORR_MPI_WHICH], [
AC_MSG_CHECKING([which MPI this is])
ORR_MPI_LIBRARY=other
AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
#if !defined(OMPI_MAJOR_VERSION) || OMPI_MAJOR_VERSION >= 5
#error not that one
#endif]])], [ORR_MPI_LIBRARY=openmpi4])
AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
#if !defined(OMPI_MAJOR_VERSION) || OMPI_MAJOR_VERSION < 5
#error not that one
#endif]])], [ORR_MPI_LIBRARY=openmpi5])
AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
#if !defined(MPICH_VERSION) && !defined(MPICH_NUMVERSION)
#error not that one
#endif]])], [ORR_MPI_LIBRARY=mpich])
AC_MSG_RESULT([$ORR_MPI_LIBRARY])
])

# ORR_MPI_FLAGS: asks $MPICC (Open MPI's --showme, otherwise MPICH's -show).
AC_DEFUN([ORR_MPI_FLAGS], [
orr_mpi_error=
AS_IF([MPI_CPPFLAGS=`$MPICC --showme:compile 2>/dev/null` && MPI_LIBS=`$MPICC --showme:link 2>/dev/null`], [],
	[orr_mpi_show=`$MPICC -show 2>/dev/null`
	 MPI_CPPFLAGS=
	 MPI_LIBS=
	 for orr_word in $orr_mpi_show; do
		AS_CASE([$orr_word],
			[-I*|-D*], [MPI_CPPFLAGS="$MPI_CPPFLAGS $orr_word"],
			[-L*|-l*|-Wl,*], [MPI_LIBS="$MPI_LIBS $orr_word"])
	 done])
# -pthread belongs to both steps and is given by us
MPI_CPPFLAGS=`AS_ECHO(["$MPI_CPPFLAGS"]) | $SED 's/-pthread//g'`
MPI_LIBS=`AS_ECHO(["$MPI_LIBS"]) | $SED 's/-pthread//g'`
AC_MSG_CHECKING([whether programs link with $MPICC's MPI])
orr_saved_CPPFLAGS=$CPPFLAGS
orr_saved_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
LIBS="$MPI_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[int level; return MPI_Init_thread(0, 0, MPI_THREAD_MULTIPLE, &level);]])],
	[orr_mpi=yes], [orr_mpi=no; orr_mpi_error="$MPICC does not link an MPI program"])
AC_MSG_RESULT([$orr_mpi])
AS_IF([test $orr_mpi = yes], [ORR_MPI_WHICH])
dnl Calls that MPI 4 has declared deprecated are the only ones of MPI 3, which other MPIs and SMPI are.
AC_COMPUTE_INT([orr_mpi_version], [MPI_VERSION], [#include <mpi.h>], [orr_mpi_version=0])
AS_IF([test $orr_mpi_version -ge 4], [ORR_WARNINGS="$ORR_WARNINGS -Wno-deprecated-declarations"])
AS_IF([test $orr_mpi = yes], [AC_CHECK_FUNC([MPI_Comm_create_group],
	[AC_DEFINE([STARPU_HAVE_MPI_COMM_CREATE_GROUP], [1], [MPI_Comm_create_group exists])])])
CPPFLAGS=$orr_saved_CPPFLAGS
LIBS=$orr_saved_LIBS
])

# ORR_BESIDE_MPICC(VARIABLE, NAMES): the first of these programs in the folder of $MPICC, which may be another MPI's than
# the one in PATH. Debian has several MPIs in one folder: beside mpicc.mpich is mpirun.mpich.
AC_DEFUN([ORR_BESIDE_MPICC], [
AS_IF([test -n "$MPICC" && test -z "$$1"],
	[orr_folder=`AS_DIRNAME(["$MPICC"])`
	 orr_folder=`cd "$orr_folder" && pwd`
	 orr_ending=`AS_ECHO(["$MPICC"]) | $SED -n 's/^.*mpicc\(\.@<:@^/@:>@*\)$/\1/p'`
	 orr_beside=
	 for orr_word in $2; do orr_beside="$orr_beside $orr_word$orr_ending"; done
	 for orr_word in $orr_beside $2; do
		AS_IF([test -z "$$1" && test -f "$orr_folder/$orr_word" && test -x "$orr_folder/$orr_word"], [$1=$orr_folder/$orr_word])
	 done])
])

# ORR_NO_MPI_CHECK, ORR_NO_PROGRAM(OPTION, PATH): the ends of configure that two places have.
AC_DEFUN([ORR_NO_MPI_CHECK], [AC_MSG_ERROR([--enable-mpi-check needs a working mpicc and mpirun; give them with --with-mpicc and --with-mpiexec])])
AC_DEFUN([ORR_NO_PROGRAM], [AC_MSG_ERROR([--with-$1=$2: there is no such program])])

# ORR_MPI_OPTIONS: those of ORR_MPI, and what can be refused before anything is looked for.
AC_DEFUN([ORR_MPI_OPTIONS], [
AC_ARG_WITH([mpicc], [AS_HELP_STRING([--with-mpicc=PATH], [MPI's compiler wrapper (default: mpicc in PATH; no: without MPI)])],
	[], [with_mpicc=yes])
AC_ARG_WITH([mpiexec], [AS_HELP_STRING([--with-mpiexec=PATH], [what starts MPI programs (default: mpirun or mpiexec beside mpicc or in PATH)])],
	[], [with_mpiexec=yes])
AC_ARG_ENABLE([mpi-check], [AS_HELP_STRING([--enable-mpi-check], [run the real tests of several ranks in make check (default: when mpiexec is found)])],
	[], [enable_mpi_check=auto])
dnl Names of switches that builds of StarPU give; what they ask for is always there.
AC_ARG_ENABLE([mpi-ft], [AS_HELP_STRING([--enable-mpi-ft], [checkpoints, which are always there])])
AC_ARG_ENABLE([mpi-ft-stats], [AS_HELP_STRING([--enable-mpi-ft-stats], [their statistics, which STARPU_MPI_STATS=1 prints])])
AC_ARG_ENABLE([mpi-master-slave], [AS_HELP_STRING([--enable-mpi-master-slave], [master and slaves, which are always there])])
AC_ARG_WITH([mpi-master-slave-multiple-thread], [AS_HELP_STRING([--with-mpi-master-slave-multiple-thread],
	[the master keeps a core free for each slave; the default of STARPU_MPI_MS_MULTIPLE_THREAD])],
	[], [with_mpi_master_slave_multiple_thread=no])
AS_IF([test "$with_mpi_master_slave_multiple_thread" = no], [orr_multiple=0], [orr_multiple=1])
AC_DEFINE_UNQUOTED([ORR_MPI_MS_MULTIPLE_THREAD], [$orr_multiple], [the default of STARPU_MPI_MS_MULTIPLE_THREAD])
AS_IF([test "$enable_mpi_master_slave" = no],
	[AC_MSG_ERROR([--disable-mpi-master-slave: master and slaves are part of the MPI layer; programs that do not ask for them pay nothing])])
AC_ARG_ENABLE([mpi-pedantic-isend], [AS_HELP_STRING([--enable-mpi-pedantic-isend],
	[a datum that is being sent is used by nobody else; the default of ORRERY_MPI_PEDANTIC_ISEND])],
	[], [enable_mpi_pedantic_isend=no])
AS_IF([test "$enable_mpi_pedantic_isend" = no], [orr_pedantic=0], [orr_pedantic=1])
AC_DEFINE_UNQUOTED([ORR_MPI_PEDANTIC_ISEND], [$orr_pedantic], [the default of ORRERY_MPI_PEDANTIC_ISEND])
AS_IF([test "$enable_mpi_ft" = no || test "$enable_mpi_ft_stats" = no],
	[AC_MSG_ERROR([--disable-mpi-ft and --disable-mpi-ft-stats: checkpoints are part of the MPI layer; programs that use none pay nothing for them])])
AS_CASE([$with_mpicc], [yes|no], [], [AS_IF([command -v "$with_mpicc" > /dev/null], [], [ORR_NO_PROGRAM([mpicc], [$with_mpicc])])])
AS_CASE([$with_mpiexec], [yes|no], [], [AS_IF([command -v "$with_mpiexec" > /dev/null], [], [ORR_NO_PROGRAM([mpiexec], [$with_mpiexec])])])
AS_IF([test "$enable_mpi_check" = yes && { test "$with_mpicc" = no || test "$with_mpiexec" = no; }], [ORR_NO_MPI_CHECK])
])

AC_DEFUN([ORR_MPI], [
AC_REQUIRE([ORR_MPI_OPTIONS])
orr_mpi=no
orr_mpi_error="switched off by --without-mpicc"
MPI_CPPFLAGS=
MPI_LIBS=
AC_ARG_VAR([MPICC], [MPI's compiler wrapper, as of --with-mpicc])
AS_IF([test "$with_mpicc" = yes && test -n "$MPICC"], [with_mpicc=$MPICC])
AS_CASE([$with_mpicc],
	[no], [MPICC=],
	[yes], [AC_PATH_PROG([MPICC], [mpicc])
		orr_mpi_error="no mpicc in PATH (Debian: libopenmpi-dev)"],
	[MPICC=`command -v "$with_mpicc"`
	 AS_IF([test -z "$MPICC"], [ORR_NO_PROGRAM([mpicc], [$with_mpicc])])])
AS_CASE([$MPICC], [*smpicc*], [AC_MSG_ERROR([--with-mpicc=$MPICC is SimGrid's wrapper; give the one of a real MPI, SimGrid is found by --with-simgrid])])
AS_IF([test -n "$MPICC"], [ORR_MPI_FLAGS])
AS_CASE([$with_mpiexec],
	[no], [MPIEXEC=],
	[yes], [ORR_BESIDE_MPICC([MPIEXEC], [mpirun mpiexec])
		AS_IF([test -z "$MPIEXEC"], [AC_PATH_PROGS([MPIEXEC], [mpirun mpiexec])])],
	[MPIEXEC=`command -v "$with_mpiexec"`
	 AS_IF([test -z "$MPIEXEC"], [ORR_NO_PROGRAM([mpiexec], [$with_mpiexec])])])
AS_IF([test "$enable_mpi_check" = auto],
	[AS_IF([test $orr_mpi = yes && test -n "$MPIEXEC"], [enable_mpi_check=yes], [enable_mpi_check=no])])
AS_IF([test "$enable_mpi_check" = yes && { test $orr_mpi = no || test -z "$MPIEXEC"; }],
	[ORR_NO_MPI_CHECK])
AS_IF([test $orr_mpi = yes],
	[AC_DEFINE([STARPU_USE_MPI], [1], [the MPI layer is built])
	 AC_DEFINE([STARPU_USE_MPI_FT], [1], [the MPI layer has checkpoints])
	 AC_DEFINE([STARPU_USE_MPI_MPI], [1], [the MPI layer runs on MPI])])
AC_SUBST([MPICC])
AC_SUBST([ORR_MPI_LIBRARY])
AC_SUBST([MPIEXEC])
AC_SUBST([MPI_CPPFLAGS])
AC_SUBST([MPI_LIBS])
AC_SUBST([orr_mpi])
AM_CONDITIONAL([ORR_MPI], [test $orr_mpi = yes])
AM_CONDITIONAL([ORR_MPI_CHECK], [test $enable_mpi_check = yes])
])
