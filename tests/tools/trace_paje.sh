#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace --paje`: pj_dump reads the file, and its sums are those of the tables: the time of
# each kernel on each worker, of fetching, the messages of each pair of ranks, the counters, the marks.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

command -v pj_dump > /dev/null || skip "no pj_dump (Debian: pajeng)"
tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps

# paje FILE: the sums of pj_dump are those of the tables
paje() {
	ok "$ORRERY" trace "$1" --paje -o file.paje
	ok "$ORRERY" trace "$1" --sqlite -o run.db
	ok pj_dump -l 9 file.paje
	[ ! -s err ] || { cat err; die "pj_dump complains of the Paje file of $1"; }
	cp out dump
	ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_paje.py" dump run.db
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace a "$tasks.sim"
	paje a
	cp file.paje first
	paje a
	cmp first file.paje || die "the same trace gives another file"
	ok "$ORRERY" sim -n 64 --kernels skip --trace tree "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 24
	paje tree
	# Kernels and messages that have no end.
	for bytes in 20000 1000000; do
		head -c $bytes tree > cut
		paje cut
	done
	ok "$ORRERY" trace tree --paje -o window.paje --ranks 3
	ok pj_dump window.paje
	if grep -q '^State.*rank [0124-9]' out; then die "--ranks shows workers of other ranks"; fi
	has out '^State.*rank 3 '
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace r "$tasks"
	paje r
	ok env STARPU_NCPU=2 ORRERY_TRACE="$PWD/marks" "$ORR_TEST_BUILDDIR/tests/mpi/trace_steps"
	paje marks
fi
fails 2 'give -o OUT' "$ORRERY" trace a --paje
