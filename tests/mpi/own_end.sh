#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Each rank ends by itself, with its own functions of atexit() and its relatives
# and its own destructors, and prints its own lines: the same text in both worlds.
# orr-test: timeout 60
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] && [ "$ORR_TEST_MPI" = yes ] || skip "needs both worlds"
program=$ORR_TEST_BUILDDIR/tests/mpi/own_end

ok "$ORRERY" sim --quiet -n 4 $program.sim
sort out >simulated
for rank in 0 1; do
	grep -n "rank $rank: first function" out >/dev/null || die "rank $rank did not run its functions"
	order=$(sed -n "s/^rank $rank: \(second\|first\|destructor\).*/\1/p" out | tr '\n' ' ')
	[ "$order" = "second first destructor " ] || die "rank $rank: $order"
done
ok "$ORRERY" run -n 4 $program
sort out >real
cmp real simulated || { diff real simulated; die "the worlds print different lines"; }
[ "$(wc -l <real)" = 52 ] || die "$(wc -l <real) lines"
echo "each rank ended by itself"
