#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Conjugate gradients in Fortran on a process set that grows and shrinks: the solution is right in both
# worlds, after the same number of iterations and changes; a growth beyond the pool is refused, and
# the program goes on.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_FORTRAN" = yes ] || skip "needs Fortran"
[ "$ORR_TEST_MPI" = yes ] && [ "$ORR_TEST_SIM" = yes ] || skip "needs both worlds"
ok "$ORRERY" fc --elastic --both "$ORR_TEST_SRCDIR/examples/elastic_sets.f90" "$ORR_TEST_SRCDIR/examples/elastic_cg/elastic_cg.f90" -o cg

# Sizes of the set, the first one at the beginning, then the numbers of changes and of processes at the end.
both() {
	n=$1 changes=$2 last=$3
	shift 3
	ok "$ORRERY" run --elastic -n "$n" --max 6 ./cg "$@"
	has out 'check: OK'
	has out ", $changes changes, $last processes at the end"
	grep '^elastic_cg' out > real
	ok "$ORRERY" sim --quiet --elastic -n "$n" --max 6 ./cg.sim "$@"
	has out 'check: OK'
	grep '^elastic_cg' out > sim
	cmp real sim || die "the worlds differ: $(cat real sim)"
}
both 2 3 3 4 6 3
both 3 3 4 1 7 4
has err 'more processes are refused'
ok "$ORRERY" sim --quiet --elastic -n 16 --max 48 ./cg.sim 48 24
has out '2 changes, 24 processes at the end'
exit 0
