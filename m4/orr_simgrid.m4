# SPDX-License-Identifier: LGPL-2.1-or-later
#
# SimGrid with SMPI, used as a library by the simulated world. Sets orr_simgrid,
# SIMGRID_CPPFLAGS, SIMGRID_LIBS and SMPI_INCLUDE, the folder of SMPI's mpi.h.

dnl SimGrid's release, and every private name of it that sim/sys/simgrid_private.h declares. Each
dnl file sim/sys/simgrid_RELEASE.h lists the releases that work.
AC_DEFUN([ORR_SIMGRID_PRIVATE_NAMES], [
AC_MSG_CHECKING([the release of SimGrid])
AC_COMPUTE_INT([orr_simgrid_major], [SIMGRID_VERSION_MAJOR], [#include <simgrid/forward.h>
#include <simgrid/version.h>], [orr_simgrid_major=0])
AC_COMPUTE_INT([orr_simgrid_minor], [SIMGRID_VERSION_MINOR], [#include <simgrid/forward.h>
#include <simgrid/version.h>], [orr_simgrid_minor=0])
AC_MSG_RESULT([$orr_simgrid_major.$orr_simgrid_minor])
orr_simgrid_known=`sed -n 's/^.define ORR_SIMGRID_TESTED "\(.*\)"$/\1/p' "$srcdir"/sim/sys/simgrid_[[0-9]]*.h | grep . | paste -s -d ' '`
orr_simgrid_wanted=`AS_ECHO(["$orr_simgrid_known"]) | sed 's/ /, /g; s/\(.*\), /\1 and /'`
AS_CASE([" $orr_simgrid_known "], [*" $orr_simgrid_major.$orr_simgrid_minor "*], [],
	[AS_IF([test "$enable_any_simgrid" != yes],
		[orr_simgrid_private=no
		 orr_simgrid_error="this is SimGrid $orr_simgrid_major.$orr_simgrid_minor, and Orrery knows the inside of $orr_simgrid_wanted only (--enable-any-simgrid tries it all the same)"])])
AS_IF([test $orr_simgrid_private = yes], [
	AC_MSG_CHECKING([for the private names of SimGrid that are used])
	dnl (Not -I: C++20 has a header <format>, and build-aux has a script of that name.)
	CPPFLAGS="$CPPFLAGS -iquote $srcdir/sim/sys -iquote $srcdir/build-aux"
	AC_LINK_IFELSE([AC_LANG_SOURCE([[#include "simgrid_probe.cpp"]])],
		[AC_MSG_RESULT([all there])],
		[AC_MSG_RESULT([no])
		 orr_simgrid_private=no
		 orr_simgrid_error="this SimGrid lacks private names that are used, or cannot be linked with (config.log names the first); install SimGrid $orr_simgrid_wanted as Debian builds it"])])
])

dnl Private names, or those of installed headers alone: as --with-simgrid-interface says, else the
dnl former where all of them are there.
AC_DEFUN([ORR_SIMGRID_CHOOSE], [
orr_simgrid_private=yes
AS_IF([test "$with_simgrid_interface" = public], [orr_simgrid_private=no], [ORR_SIMGRID_PRIVATE_NAMES])
AS_IF([test $orr_simgrid_private = yes], [orr_simgrid_interface=private],
	[test "$with_simgrid_interface" = private], [orr_simgrid=no],
	[orr_simgrid_interface=public
	 ORR_SIMGRID_INTERFACE=-DORR_SIMGRID_PUBLIC
	 AS_IF([test "$with_simgrid_interface" != public],
		[AC_MSG_WARN([$orr_simgrid_error: the simulated world uses the names of its installed headers alone, and refuses what needs others])])])
])

AC_DEFUN([ORR_SIMGRID_LINK], [
AC_MSG_CHECKING([whether SMPI instances can be registered from C])
orr_saved_CPPFLAGS=$CPPFLAGS
orr_saved_LIBS=$LIBS
orr_saved_CXXFLAGS=$CXXFLAGS
CPPFLAGS="$CPPFLAGS -I$SMPI_INCLUDE $SIMGRID_CPPFLAGS"
# The standard of AM_CXXFLAGS: autoconf 2.71 puts an older one into CXX where GCC is new.
CXXFLAGS="$CXXFLAGS -std=gnu++17"
LIBS="$SIMGRID_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#include <simgrid/engine.h>]], [[SMPI_init(); SMPI_app_instance_register("x", 0, 1);]])],
	[orr_simgrid=yes], [orr_simgrid_error="SimGrid was found but is built without SMPI, or is too old (3.32 is needed)"])
AC_MSG_RESULT([$orr_simgrid])
AS_IF([test $orr_simgrid = yes], [
	AC_LANG_PUSH([C++])
	AC_MSG_CHECKING([whether $CXX compiles and links C++ with SimGrid])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <simgrid/s4u.hpp>]], [[simgrid::s4u::Engine::is_initialized();]])],
		[AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		 orr_simgrid=no
		 orr_simgrid_error="no working C++ compiler for SimGrid's headers (Debian: g++)"])
	AS_IF([test $orr_simgrid = yes], [ORR_SIMGRID_CHOOSE])
	AC_LANG_POP([C++])])
CPPFLAGS=$orr_saved_CPPFLAGS
CXXFLAGS=$orr_saved_CXXFLAGS
LIBS=$orr_saved_LIBS
])

AC_DEFUN([ORR_SIMGRID], [
AC_ARG_WITH([simgrid], [AS_HELP_STRING([--with-simgrid@<:@=DIR@:>@], [where SimGrid 3.32, 4.0 or 4.1 is installed (default: by pkg-config, then /usr; no: without)])],
	[], [with_simgrid=yes])
AC_ARG_ENABLE([any-simgrid], [AS_HELP_STRING([--enable-any-simgrid], [try a SimGrid of another release than the one whose private names are known])])
AC_ARG_WITH([simgrid-interface], [AS_HELP_STRING([--with-simgrid-interface=private|public|auto],
	[what the simulated world uses of SimGrid: private names; names of its installed headers alone, which is slower and refuses some options; the former if they are there (default)])],
	[], [with_simgrid_interface=auto])
AS_CASE([$with_simgrid_interface], [private|public|auto], [],
	[AC_MSG_ERROR([--with-simgrid-interface=$with_simgrid_interface: expected private, public or auto])])
orr_simgrid_interface=
ORR_SIMGRID_INTERFACE=
orr_simgrid=no
orr_simgrid_error="switched off by --without-simgrid"
SIMGRID_CPPFLAGS=
SIMGRID_LIBS=-lsimgrid
orr_simgrid_prefix=
orr_simgrid_rpath=
AS_CASE([$with_simgrid],
	[no], [],
	[yes], [orr_simgrid_prefix=`$PKG_CONFIG --variable=prefix simgrid 2>/dev/null`
		test -n "$orr_simgrid_prefix" || orr_simgrid_prefix=/usr],
	[orr_simgrid_prefix=$with_simgrid])
AS_CASE([$enable_sanitizer], [*thread*],
	[orr_simgrid_prefix=
	 orr_simgrid_error="ThreadSanitizer does not follow SimGrid's contexts; only the real world is built with it"])
# Stacks and calls of each processor: sim/sys/actors/sim_fiber.c, sim/launcher/interpose_loop.c, sim/public/interpose_mpi.c.
AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#if !defined __x86_64__ && !defined __aarch64__
#error no
#endif]])], [], [
	orr_simgrid_prefix=
	orr_simgrid_error="it is written for x86_64 and aarch64, and not for $host_cpu"])
SMPI_INCLUDE=$orr_simgrid_prefix/include/smpi
AS_IF([test -n "$orr_simgrid_prefix"], [
	AS_IF([test "$orr_simgrid_prefix" != /usr], [
		orr_simgrid_lib=$orr_simgrid_prefix/lib
		test -e "$orr_simgrid_lib/libsimgrid.so" || orr_simgrid_lib=$orr_simgrid_prefix/lib64
		SIMGRID_CPPFLAGS="-I$orr_simgrid_prefix/include"
		SIMGRID_LIBS="-L$orr_simgrid_lib -Wl,-rpath,$orr_simgrid_lib -lsimgrid"])
	AS_IF([test -e "$SMPI_INCLUDE/mpi.h"], [ORR_SIMGRID_LINK],
		[orr_simgrid_error="no $SMPI_INCLUDE/mpi.h (Debian: libsimgrid-dev)"])
	AS_IF([test $orr_simgrid = no && test "$with_simgrid" != yes],
		[AC_MSG_ERROR([--with-simgrid=$with_simgrid: $orr_simgrid_error])])])
# The loader that the system starts programs with (sim/start/start.c).
AS_IF([test $orr_simgrid = yes], [
	AC_MSG_CHECKING([for the loader of programs])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
		[orr_interpreter=`LC_ALL=C grep -a -o '/[[-+._/a-zA-Z0-9]]*/ld[[-+._a-zA-Z0-9]]*\.so\.[[0-9]]*' conftest$ac_exeext | sed 1q`])
	AC_MSG_RESULT([${orr_interpreter:-none}])
	AS_IF([test -n "$orr_interpreter"], [ORR_START_CPPFLAGS="-DORR_INTERPRETER='\"$orr_interpreter\"'"])])
AC_SUBST([ORR_START_CPPFLAGS])
AC_SUBST([SMPI_INCLUDE])
AC_SUBST([SIMGRID_CPPFLAGS])
AC_SUBST([SIMGRID_LIBS])
AC_SUBST([ORR_SIMGRID_INTERFACE])
AC_SUBST([orr_simgrid])
AC_SUBST([orr_simgrid_interface])
AM_CONDITIONAL([ORR_SIMGRID_PRIVATE], [test "$orr_simgrid_interface" = private])
AM_CONDITIONAL([ORR_SIM], [test $orr_simgrid = yes])
])
