# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compiler switches: warnings, --enable-werror, --enable-debug,
# --enable-sanitizer. What they set applies to our own code (ORR_WARNINGS,
# ORR_DEBUG_CPPFLAGS); sanitizers apply to everything that is linked into one
# program, hence also to CFLAGS and LDFLAGS. A build with a sanitizer is a debug
# build, too.

AC_DEFUN([ORR_COMPILER_SWITCHES], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors])],
	[], [enable_werror=no])
AC_ARG_ENABLE([debug], [AS_HELP_STRING([--enable-debug],
	[check our own invariants and the order of locks at run time (default: with --enable-sanitizer only)])],
	[], [enable_debug=auto])
AC_ARG_ENABLE([sanitizer], [AS_HELP_STRING([--enable-sanitizer=LIST],
	[build with -fsanitize=LIST: address, undefined, address,undefined or thread (thread: real world only)])],
	[], [enable_sanitizer=no])
ORR_WARNINGS="-Wall -Wextra"
AS_IF([test "$enable_werror" = yes], [ORR_WARNINGS="$ORR_WARNINGS -Werror"])
# Libtool links libraries of C++ without the standard ones, and clang says then that -pthread is not used.
ORR_LINK_WARNINGS=
orr_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror -Wunused-command-line-argument"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [ORR_LINK_WARNINGS=-Wc,-Wno-unused-command-line-argument])
CFLAGS=$orr_saved_CFLAGS
ORR_SANITIZE=
orr_test_factor=1
AS_CASE([$enable_sanitizer],
	[no], [],
	[yes], [AC_MSG_ERROR([--enable-sanitizer needs a list, for instance --enable-sanitizer=address,undefined])],
	[ORR_SANITIZE="-fsanitize=$enable_sanitizer -fno-omit-frame-pointer"
	 AS_CASE([$enable_sanitizer], [*thread*], [orr_test_factor=5], [orr_test_factor=3])
	 AC_MSG_CHECKING([whether $CC accepts $ORR_SANITIZE])
	 orr_saved_CFLAGS=$CFLAGS
	 CFLAGS="$CFLAGS $ORR_SANITIZE"
	 AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		 AC_MSG_ERROR([$CC cannot link with $ORR_SANITIZE; install the sanitizer's library or choose another list])])
	 # GCC warns of each fence, which its thread sanitizer cannot follow; ours only stand beside accesses that are atomic.
	 AS_CASE([$enable_sanitizer], [*thread*],
		[CFLAGS="$orr_saved_CFLAGS -Werror -Wno-error=tsan"
		 AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [ORR_SANITIZE="$ORR_SANITIZE -Wno-tsan"])])
	 # The code of a sanitizer hides from GCC that a value is set: in C++'s own headers, too.
	 CFLAGS="$orr_saved_CFLAGS -Werror -Wno-error=maybe-uninitialized"
	 AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [ORR_WARNINGS="$ORR_WARNINGS -Wno-error=maybe-uninitialized"])
	 CFLAGS="$orr_saved_CFLAGS $ORR_SANITIZE"
	 CXXFLAGS="$CXXFLAGS $ORR_SANITIZE"
	 LDFLAGS="$LDFLAGS $ORR_SANITIZE"])
AS_IF([test "$enable_debug" = auto],
	[AS_IF([test "$enable_sanitizer" = no], [enable_debug=no], [enable_debug=yes])])
AS_CASE([$enable_debug],
	[yes], [ORR_DEBUG_CPPFLAGS=-DORR_DEBUG=1],
	[no], [ORR_DEBUG_CPPFLAGS=],
	[AC_MSG_ERROR([--enable-debug=$enable_debug: say --enable-debug or --disable-debug])])
AS_IF([test "$enable_debug$enable_sanitizer" != nono && test "$enable_debug" = no],
	[AC_MSG_ERROR([--enable-sanitizer=$enable_sanitizer checks invariants, too; leave --disable-debug out])])
ORR_HARDENING
# Names are internal unless a public header says otherwise.
ORR_VISIBILITY=
AC_MSG_CHECKING([whether $CC accepts -fvisibility=hidden])
orr_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror -fvisibility=hidden"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])
	ORR_VISIBILITY=-fvisibility=hidden], [AC_MSG_RESULT([no])])
CFLAGS=$orr_saved_CFLAGS
# The linker hides the names that a compiler exports in spite of that, such as
# those of C++ templates. src/exports.map is the list of what is exported.
ORR_EXPORTS=
AC_MSG_CHECKING([whether $CC accepts a version script])
orr_saved_LDFLAGS=$LDFLAGS
LDFLAGS="$LDFLAGS -shared -fPIC -Wl,--version-script=$srcdir/src/exports.map"
AC_LINK_IFELSE([AC_LANG_SOURCE([[int starpu_nothing;]])], [AC_MSG_RESULT([yes])
	ORR_EXPORTS='-Wl,--version-script=$(srcdir)/src/exports.map'],
	[AC_MSG_RESULT([no])
	 ORR_EXPORTS="-export-symbols-regex '^(starpu_|fstarpu_|orrery_|__wrap_)'"])
LDFLAGS=$orr_saved_LDFLAGS
# A library of ours that lacks a function is found out when it is linked.
# Sanitizers' functions come with the program, so there this cannot be asked for.
ORR_NO_UNDEFINED=
AS_IF([test "$enable_sanitizer" = no], [
	AC_MSG_CHECKING([whether $CC accepts -Wl,-z,defs])
	orr_saved_LDFLAGS=$LDFLAGS
	LDFLAGS="$LDFLAGS -Wl,-z,defs"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])
		ORR_NO_UNDEFINED=-Wl,-z,defs], [AC_MSG_RESULT([no])])
	LDFLAGS=$orr_saved_LDFLAGS])
# A library that a program refers to weakly is kept.
ORR_NO_AS_NEEDED=
AC_MSG_CHECKING([whether $CC accepts -Wl,--no-as-needed])
orr_saved_LDFLAGS=$LDFLAGS
LDFLAGS="$LDFLAGS -Wl,--no-as-needed"
AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])
	ORR_NO_AS_NEEDED=-Wl,--no-as-needed], [AC_MSG_RESULT([no])])
LDFLAGS=$orr_saved_LDFLAGS
AC_SUBST([ORR_NO_AS_NEEDED])
AC_SUBST([ORR_WARNINGS])
AC_SUBST([ORR_VISIBILITY])
AC_SUBST([ORR_EXPORTS])
AC_SUBST([ORR_NO_UNDEFINED])
AC_SUBST([ORR_DEBUG_CPPFLAGS])
AC_SUBST([orr_debug], [$enable_debug])
AC_SUBST([ORR_SANITIZE])
AC_SUBST([orr_sanitizer], [$enable_sanitizer])
AC_SUBST([orr_test_factor])
])

# ORR_ENABLE_MAXBUFFERS: data of a task held inside the public structures. Programs are compiled for
# it: starpu_config.h and the pkg-config files (ORR_MAXBUFFERS) carry the number.
AC_DEFUN([ORR_ENABLE_MAXBUFFERS], [
AC_ARG_ENABLE([maxbuffers],
	[AS_HELP_STRING([--enable-maxbuffers=N], [data of a codelet without dyn_modes, of a task without dyn_handles, 8 to 256 @<:@8@:>@])],
	[orr_nmaxbufs=$enableval], [orr_nmaxbufs=8])
AS_CASE([$orr_nmaxbufs],
	[''|*@<:@!0-9@:>@*|0*|????*], [AC_MSG_ERROR([--enable-maxbuffers=$orr_nmaxbufs: give a number from 8 to 256])])
AS_IF([test "$orr_nmaxbufs" -lt 8 || test "$orr_nmaxbufs" -gt 256],
	[AC_MSG_ERROR([--enable-maxbuffers=$orr_nmaxbufs: give a number from 8 to 256])])
AC_DEFINE_UNQUOTED([STARPU_NMAXBUFS], [$orr_nmaxbufs], [Data of a task held inside the structures.])
AC_SUBST([ORR_MAXBUFFERS], [$orr_nmaxbufs])
])

# ORR_HARDENING: what distributions build with, for all that is installed, as far as the compiler and the
# linker have it. The user's own flags stand behind these, or take their place: what CPPFLAGS or CFLAGS
# say of _FORTIFY_SOURCE is left alone. Checks of strings and files need optimization, and none is there
# beside a sanitizer, which checks the same calls.
AC_DEFUN([ORR_HARDENING], [
ORR_FORTIFY=
ORR_STACK_PROTECTOR=
ORR_RELRO=
AC_MSG_CHECKING([whether $CC and its C library check strings and files])
orr_saved_CPPFLAGS=$CPPFLAGS
orr_saved_CFLAGS=$CFLAGS
AS_CASE([" $enable_sanitizer $CPPFLAGS $CFLAGS"],
	[" no "*_FORTIFY_SOURCE*], [AC_MSG_RESULT([left to your flags])],
	[" no "*],
	[CPPFLAGS="-D_FORTIFY_SOURCE=2 $CPPFLAGS"
	 CFLAGS="-Werror $CFLAGS"
	 AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>
		#if !defined __USE_FORTIFY_LEVEL || __USE_FORTIFY_LEVEL < 2
		#error no
		#endif]], [])],
		[AC_MSG_RESULT([yes]); ORR_FORTIFY=-D_FORTIFY_SOURCE=2], [AC_MSG_RESULT([no])])],
	[AC_MSG_RESULT([no, because of the sanitizer])])
CPPFLAGS=$orr_saved_CPPFLAGS
CFLAGS=$orr_saved_CFLAGS
AC_MSG_CHECKING([whether $CC accepts -fstack-protector-strong])
CFLAGS="-Werror -fstack-protector-strong $CFLAGS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#ifndef __SSP_STRONG__
	#error no
	#endif]], [])],
	[AC_MSG_RESULT([yes]); ORR_STACK_PROTECTOR=-fstack-protector-strong], [AC_MSG_RESULT([no])])
CFLAGS=$orr_saved_CFLAGS
AC_MSG_CHECKING([whether $CC accepts -Wl,-z,relro -Wl,-z,now])
orr_saved_LDFLAGS=$LDFLAGS
LDFLAGS="-Wl,-z,relro -Wl,-z,now $LDFLAGS"
AS_CASE([$orr_saved_LDFLAGS],
	[*-z,lazy* | *-z,norelro*], [AC_MSG_RESULT([left to your flags])],
	[AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])
		ORR_RELRO="-Wl,-z,relro -Wl,-z,now"], [AC_MSG_RESULT([no])])])
LDFLAGS=$orr_saved_LDFLAGS
AC_SUBST([ORR_LINK_WARNINGS])
AC_SUBST([ORR_FORTIFY])
AC_SUBST([ORR_STACK_PROTECTOR])
AC_SUBST([ORR_RELRO])
])
