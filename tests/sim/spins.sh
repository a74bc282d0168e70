#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A program that spins on a variable, in its own code or in a kernel, or that
# waits in the system for itself, ends with a message that names the function.
# Long work does not; there is a warning when it takes too long.
# orr-test: world sim
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/spins.sim

# As usual, five seconds of its time are enough to know one who waits; all else is about other things than that, and looked
# at five times as often.
fails 1 'rank 0 \(main\) spins in wait_for_flag\(\)' "$ORRERY" sim -n 2 "$program" variable
export ORR_SIM_WATCH_LOOKS=50
fails 1 'rank 0 \(workers\) spins in wait_for_flag\(\)' "$ORRERY" sim "$program" kernel
fails 1 'rank 0 \(main\) waits in the system .* in wait_in_the_system\(\)' "$ORRERY" sim "$program" system
ok "$ORRERY" sim "$program" compute
ok "$ORRERY" sim "$program" memory
# Otherwise it would end after a second.
ORR_SIM_WATCH=0 timeout 2 "$ORRERY" sim "$program" variable 2>err
[ $? = 124 ] || die "ORR_SIM_WATCH=0 does not leave the program alone"
ORR_SIM_WATCH=2 timeout 5 "$ORRERY" sim "$program" counts 2>err
[ $? = 124 ] || die "a loop that counts was ended"
has err 'rank 0 \(main\) has been in count_until_flag\(\) for 2 s of real time'
has err 'rank 0 \(main\) has been in count_until_flag\(\) for 4 s of real time'
echo "who never waits is found"
