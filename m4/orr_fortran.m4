# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The Fortran compiler, which builds the modules fstarpu_mod and fstarpu_mpi_mod,
# and MPI's flags for Fortran programs of the real world. Sets orr_fortran, FC,
# MPI_FCFLAGS, MPI_FCLIBS, and ORR_MPI_FC_SESSIONS, which says whether mpif.h has constants of sessions.

AC_DEFUN([ORR_FORTRAN], [
AC_ARG_VAR([FC], [Fortran compiler, for the modules and for orrery fc])
AC_CHECK_TOOLS([FC], [gfortran flang])
AC_ARG_WITH([mpifort], [AS_HELP_STRING([--with-mpifort=PATH], [MPI's wrapper of the Fortran compiler (default: mpifort beside mpicc or in PATH; no: without Fortran)])],
	[], [with_mpifort=yes])
orr_fortran=no
orr_fortran_error="no Fortran compiler in PATH (Debian: gfortran)"
MPI_FCFLAGS=
MPI_FCLIBS=
AS_CASE([$with_mpifort],
	[no], [FC=
		MPIFORT=
		orr_fortran_error="switched off by --without-mpifort"],
	[yes], [ORR_BESIDE_MPICC([MPIFORT], [mpifort])
		AS_IF([test -z "$MPIFORT"], [AC_PATH_PROG([MPIFORT], [mpifort])])],
	[MPIFORT=`command -v "$with_mpifort"`
	 AS_IF([test -z "$MPIFORT"], [AC_MSG_ERROR([--with-mpifort=$with_mpifort: there is no such program])])])
AS_IF([test -n "$FC"], [
	AC_MSG_CHECKING([whether $FC compiles modules of Fortran 2008])
	rm -rf conftest.fc
	mkdir conftest.fc
	cat > conftest.fc/m.f90 <<'END'
module m
  use iso_c_binding
  interface
     subroutine f(p) bind(C, name="f")
       import
       type(c_ptr), value, intent(in) :: p
     end subroutine f
  end interface
end module m
END
	AS_IF([(cd conftest.fc && $FC -fPIC -J . -c m.f90 && test -f m.mod) >&AS_MESSAGE_LOG_FD 2>&1],
		[orr_fortran=yes], [orr_fortran_error="$FC does not compile a module"])
	rm -rf conftest.fc
	AC_MSG_RESULT([$orr_fortran])])
AS_IF([test $orr_fortran = yes && test -n "$MPIFORT"], [
	AS_IF([MPI_FCFLAGS=`$MPIFORT --showme:compile 2>/dev/null` && MPI_FCLIBS=`$MPIFORT --showme:link 2>/dev/null`], [],
		[MPI_FCFLAGS=
		 MPI_FCLIBS=
		 for orr_word in `$MPIFORT -show 2>/dev/null`; do
			AS_CASE([$orr_word],
				[-I*|-D*], [MPI_FCFLAGS="$MPI_FCFLAGS $orr_word"],
				[-L*|-l*|-Wl,*], [MPI_FCLIBS="$MPI_FCLIBS $orr_word"])
		 done])
	MPI_FCFLAGS=`AS_ECHO(["$MPI_FCFLAGS"]) | $SED 's/-pthread//g'`
	MPI_FCLIBS=`AS_ECHO(["$MPI_FCLIBS"]) | $SED 's/-pthread//g'`
	printf "program p\n  implicit none\n  include 'mpif.h'\n  print *, MPI_SESSION_NULL, MPI_MAX_PSET_NAME_LEN\nend program\n" > conftest.f90
	AS_IF([$FC $MPI_FCFLAGS -c conftest.f90 -o conftest.o >&AS_MESSAGE_LOG_FD 2>&1], [ORR_MPI_FC_SESSIONS=-DORR_MPI_SESSIONS])
	rm -f conftest.f90 conftest.o])
AC_SUBST([ORR_MPI_FC_SESSIONS])
AC_SUBST([MPI_FCFLAGS])
AC_SUBST([MPI_FCLIBS])
AC_SUBST([orr_fortran])
AM_CONDITIONAL([ORR_FORTRAN], [test $orr_fortran = yes])
])
