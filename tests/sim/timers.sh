#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Timers and waits for files take virtual time (timers.c checks each against pen and paper), in ranks of their own; a file
# that nobody makes ready is told as a standstill; where the program has children, which are real, it waits in real time.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/timers.sim
for n in 1 3; do
	ok "$ORRERY" sim -n $n "$program"
	has err "$n nodes?, 32\.8"
done
fails 1 'nothing can advance any more after 0\.0' "$ORRERY" sim -n 2 "$program" nobody
has err '2 of 2 ranks wait for ever'
ok "$ORRERY" sim -n 1 "$program" a child
