#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The same command gives the same run, whatever the addresses of data and the contents of fresh memory: neither the size of
# the environment nor what malloc leaves in a block changes the virtual time of random sequences of operations.
# orr-test: world sim
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"

# takes VARIABLE=VALUE...: the virtual time with these in the environment.
takes() {
	ok env "$@" "$ORRERY" sim -n 1 --report run.json "$ORR_TEST_BUILDDIR/tests/data/stress.sim" 1500 1
	sed -n 's/.*"makespan_s": \([0-9.]*\),.*/\1/p' run.json
}
first=$(takes A=1)
[ -n "$first" ] || die "no time is reported"
long=$(printf '%0500d' 0)
for change in A=2 "A=$long" "B=1 C=2" "MALLOC_PERTURB_=17" "MALLOC_TOP_PAD_=123456"; do
	again=$(takes A=1 $change)
	[ "$again" = "$first" ] || die "it takes $again s with $change, $first s without"
done
