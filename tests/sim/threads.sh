#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Threads of a program that submit tasks: those that are more than the cores of the node share these. A submission costs
# 10 us, so T threads on C cores need T * N * 10 / C us for N tasks each, and N * 10 us if there is a core for each.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/threads.sim

# takes US CORES THREADS TASKS
takes() {
	ok "$ORRERY" sim --quiet --cpus "$2" --cost-submit 10 --cost-sched 0 --cost-complete 0 "$program" "$3" "$4"
	us=$(sed -n 's/^submit \([0-9.]*\) us$/\1/p' out)
	awk -v us="$us" -v want="$1" 'BEGIN { exit !(us > want * .99 && us < want * 1.01 + 10) }' || die "$3 threads on $2 cores: $us us, not $1"
}
takes 2500 1 0 250
takes 2500 1 1 250
takes 5000 1 2 250
takes 40000 1 16 250
takes 2500 16 16 250
takes 10000 4 16 250
takes 2500 4 3 250
takes 15000 2 12 250
takes 7500 8 24 250
