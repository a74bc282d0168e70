#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Every public header compiles alone, as C and as C++, in both worlds, with
# warnings as errors; so does the one that includes all of them, twice.
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

warnings='-Wall -Wextra -Werror -fsyntax-only'
headers=$(cd "$ORR_TEST_SRCDIR/include" && ls ./*.h ./schedulers/*.h)
real="$CC -pthread"
if [ "$ORR_TEST_MPI" = yes ]; then real="$ORRERY cc"; fi
have_cxx=no
if "${CXX:-c++}" --version > /dev/null 2>&1; then have_cxx=yes; fi

# compile COMMAND WHAT: header.c and header.cc by the command, with our include path.
compile() {
	# shellcheck disable=SC2086
	ok $1 $warnings -std=gnu11 -I"$ORR_TEST_SRCDIR/include" -I"$ORR_TEST_BUILDDIR/include" header.c
	[ $have_cxx = yes ] || return 0
	# shellcheck disable=SC2086
	ok $1 $warnings -std=gnu++17 -I"$ORR_TEST_SRCDIR/include" -I"$ORR_TEST_BUILDDIR/include" header.cc
}

for h in $headers; do
	h=${h#./}
	case $h in
	starpu_mpi*) [ "$ORR_TEST_MPI" = yes ] || [ "$ORR_TEST_SIM" = yes ] || continue ;;
	esac
	printf '#include <%s>\n#include <%s>\nint nothing_else;\n' "$h" "$h" > header.c
	cp header.c header.cc
	echo "$h"
	case $h in
	starpu_mpi*) if [ "$ORR_TEST_MPI" = yes ]; then compile "$real"; fi ;;
	*) compile "$real" ;;
	esac
	if [ "$ORR_TEST_SIM" = yes ]; then compile "$ORRERY cc --sim"; fi
done
exit 0
