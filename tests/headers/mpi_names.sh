#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A simulated program that includes mpi.h gets MPI's names and no others: no macro of SimGrid's, none of those of
# the C library's headers that SimGrid includes, no feature of the C library that the program did not ask for. A program
# that wants SimGrid's own headers still gets them.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"

# macros FILE OPTIONS: the names of the macros of a translation unit.
macros() {
	file=$1
	shift
	# shellcheck disable=SC2086
	"$ORRERY" cc --sim "$@" -dM -E "$file" | awk '{ print $2 }' | sed 's/(.*//' | sort -u
}

# Reserved names, MPI's own, guards of headers, MPI's constants' helper, and what MPI's declarations need of the
# language (stdarg.h) and of the system (sys/time.h in smpi.h).
cat > known <<'END'
^_
^P?MPI_
^ORRERY_SIM_(MPI_H|HANDLE)$
^(SIMGRID_SMPI_FORWARD_HPP|SIMGRID_TYPES_H|SMPI_H|XBT_FUNCTION_TYPE_H|XBT_MISC_H)$
^SMPI_PREDEFINED_POINTER$
^va_(arg|copy|end|start)$
END
echo '#include <mpi.h>' > with.c
printf '#include <stddef.h>\n#include <sys/time.h>\n' > without.c
for standard in c99 c11 gnu11; do
	macros with.c -std=$standard > with
	macros without.c -std=$standard > without
	[ "$(grep -c '^MPI_' with)" -gt 200 ] || die "only $(grep -c '^MPI_' with) macros of MPI were found"
	comm -23 with without | grep -v -E -f known > leaked && die "-std=$standard: mpi.h defines $(tr '\n' ' ' < leaked)"
done
macros with.c -std=c11 > with
if grep -x -e _GNU_SOURCE -e _UNISTD_H -e __USE_GNU with > leaked; then die "mpi.h asks for features of the C library: $(cat leaked)"; fi
# Headers of C++ that SimGrid includes define macros of their own; SimGrid's must not stay.
cp with.c with.cc
macros with.cc --cxx > with
grep -E '^(SMPI_|XBT_|xbt_|SG_|SIMGRID_HAVE|SIMGRID_PUBLIC|NS3_|MC_|SEED$|FOREACH_|GENERATE_)' with |
	grep -v -E -f known > leaked && die "as C++, mpi.h defines $(tr '\n' ' ' < leaked)"

cat > names.c <<'END'
#include <mpi.h>
enum { SEED = 1, EOF, BUFSIZ, R_OK, GENERATE_ENUM };
static int access, link, pause, xbt_new, option, getopt, index;
int main(int argc, char **argv)
{
	int assert[4] = { SEED, EOF, BUFSIZ, R_OK };
	MPI_Init(&argc, &argv);
	access = link = pause = xbt_new = option = getopt = index = assert[0];
	MPI_Finalize();
	return access - link + pause - xbt_new + option - getopt + index - SEED;
}
END
ok "$ORRERY" cc --sim -std=c11 -Wall -Wextra -Werror names.c -o names.sim
ok "$ORRERY" sim --quiet -n 2 ./names.sim

cat > after.c <<'END'
#include <mpi.h>
#include <unistd.h>
#include <xbt/log.h>
#include <simgrid/host.h>
XBT_LOG_NEW_DEFAULT_CATEGORY(names, "of a program");
int main(void)
{
	return access("/", R_OK);
}
END
ok "$ORRERY" cc --sim -fsyntax-only after.c
cat > before.c <<'END'
#include <smpi/smpi.h>
#include <mpi.h>
void *allocate(void)
{
	return SMPI_SHARED_MALLOC(4);
}
END
ok "$ORRERY" cc --sim -fsyntax-only before.c
for f in after before; do
	cp $f.c $f.cc
	ok "$ORRERY" cc --sim --cxx -fsyntax-only $f.cc
done
echo "only MPI's names are visible"
