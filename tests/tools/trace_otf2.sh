#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace --otf2`: otf2-print reads the archive, and counts and sums what the tables have: kernels
# on each worker, messages of each pair of ranks; an archive is replaced, other folders are left alone.
# orr-test: timeout 180
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace a "$tasks.sim"
else
	ok "$ORRERY" run -n 3 --trace a "$tasks"
fi
if ! "${PYTHON:-python3}" -c 'import otf2' 2> /dev/null; then
	fails 1 'Debian: python3-otf2' "$ORRERY" trace a --otf2 -o archive
	skip "no bindings of OTF2 (Debian: python3-otf2)"
fi
command -v otf2-print > /dev/null || skip "no otf2-print (Debian: otf2-tools)"

# otf2 FILE
otf2() {
	ok "$ORRERY" trace "$1" --otf2 -o archive
	ok "$ORRERY" trace "$1" --sqlite -o run.db
	ok otf2-print archive/traces.otf2
	cp out events
	ok otf2-print -G archive/traces.otf2
	cp out definitions
	ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_otf2.py" events definitions run.db
}

otf2 a
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 16 --kernels skip --trace tree "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 12
	otf2 tree
	head -c 200000 tree > cut
	otf2 cut
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace r "$tasks"
	otf2 r
fi
mkdir mine
echo precious > mine/file
fails 1 'mine has other files' "$ORRERY" trace a --otf2 -o mine
[ "$(cat mine/file)" = precious ] || die "a file was lost"
fails 1 'file is there and is no folder' "$ORRERY" trace a --otf2 -o mine/file
