#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# No wake-up is lost in the simulated world: with `orrery sim --yields`, actors
# give the processor away at random between their last look for work and their
# sleep, and every run still comes to its end, with the same results. The same
# seed gives the same run.
# orr-test: world sim
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
tests=$ORR_TEST_BUILDDIR/tests
STARPU_SILENT=1
export STARPU_SILENT

for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	ok "$ORRERY" sim -n 3 --yields $seed "$tests/sim/yields.sim"
	ok env ORR_SIM_COSTS=0 "$ORRERY" sim -n 2 --yields $seed "$tests/sim/yields.sim"
done
for seed in 1 2 3; do
	for program in ring_detached insert_task redux migrate early_data restart; do
		ok "$ORRERY" sim -n 4 --yields $seed "$tests/mpi/$program.sim"
	done
	if [ -n "$smpi" ]; then # its kernels are members of communicators
		ok env STARPU_NCPU=2 "$ORRERY" sim -n 3 --yields $seed "$tests/mpi/member.sim"
		ok env STARPU_NCPU=2 "$ORRERY" sim -n 3 --network smpi --yields $seed "$tests/mpi/member.sim"
	fi
	ok "$ORRERY" sim --yields $seed "$tests/core/modular.sim"
	ok "$ORRERY" sim --yields $seed "$tests/core/parallel.sim"
	ok "$ORRERY" sim --yields $seed "$tests/core/threads.sim"
	ok "$ORRERY" sim --yields $seed "$tests/core/ctx_in_kernel.sim"
done

# A timer comes before a sleep that ends with it, whoever runs first.
for seed in 3 9 11 13; do
	ok "$ORRERY" sim -n 2 --yields $seed "$tests/core/interrupted.sim"
done

# It does change who runs when, in the same way each time.
time_of() { sed -n 's/.*, \([0-9.]*\) s of virtual time.*/\1/p' err; }
ok "$ORRERY" sim -n 3 "$tests/sim/yields.sim"
plain=$(time_of)
ok "$ORRERY" sim -n 3 --yields 5 "$tests/sim/yields.sim"
first=$(time_of)
ok "$ORRERY" sim -n 3 --yields 5 "$tests/sim/yields.sim"
[ "$first" = "$(time_of)" ] || die "the same seed gives $first s and $(time_of) s"
[ "$first" != "$plain" ] || die "--yields changes nothing"
fails 2 'yields x: expected a whole number' "$ORRERY" sim --yields x "$tests/sim/yields.sim"
echo "no wake-up was lost"
