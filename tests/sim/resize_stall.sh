#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A stencil goes on while its data move: in virtual time, the stall at a resize is at most a fifth of
# what a blocking redistribution takes, on fast and slow networks, growing and shrinking. The
# program is the benchmark tests/bench/resize.c, which also measures it in a real run.
# orr-test: world sim
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
STARPU_NCPU=1
export STARPU_NCPU

ok "$ORRERY" cc --sim -O1 -I"$ORR_TEST_SRCDIR/include" -I"$ORR_TEST_BUILDDIR/include" \
	"$ORR_TEST_SRCDIR/tests/bench/resize.c" -o resize.sim

# stall BANDWIDTH N: every change of a run on N nodes, most of whose moves take longer than a task.
stall() {
	ok "$ORRERY" platform -n "$2" --bandwidth "$1" -o platform.xml
	ok "$ORRERY" sim -n "$2" --cpus 2 --platform platform.xml resize.sim
	[ "$(grep -c '^resize from' out)" = 2 ] || die "$(cat out)"
	sed -n 's/^resize .*blocking_ms=\([^ ]*\) .*stall_percent=\(.*\)/\1 \2/p' out | while read -r blocking percent; do
		awk "BEGIN { exit !($blocking > 0.5 && $percent <= 20) }" || exit 1
	done || die "at $1: $(cat out)"
}
stall 12.5GBps 8
stall 5GBps 4
exit 0
