#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The time of a program that inserts other ranks' tasks: the simulator lets it go on for a while
# before that time passes, and all that happens, happens at the same nanosecond as if it had passed
# at once, which it does with STARPU_PROFILING=1.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/put_off.sim

# same NAME OPTION...: the lines of the program, its messages and its end are the same.
same() {
	name=$1
	shift
	for profiling in 0 1; do
		ok env STARPU_PROFILING=$profiling "$ORRERY" sim "$@" "$program"
		grep -v ' took ' out > lines.$profiling
		sed -n 's/.*nodes, \([0-9.]* s of virtual time, .*\); took .*/\1/p' err out > end.$profiling
		[ -s end.$profiling ] || die "$name: no end"
	done
	[ "$(wc -l < lines.0)" -gt 100 ] || die "$name: $(wc -l < lines.0) lines"
	cmp lines.0 lines.1 || { diff lines.0 lines.1 | head -n 6; die "$name: other times"; }
	cmp end.0 end.1 || die "$name: other ends"
}

same "two nodes" -n 2
same "four nodes" -n 4
# Three threads want two cores: the program takes turns with kernels.
for turn in 0 20 400; do
	STARPU_NCPU=2 same "turns of $turn us" -n 3 --cost-turn $turn --cost-foreign 0.3
done
same "no costs" -n 2 --cost-foreign 0
same "a large quantum" -n 3 --quantum 25 --cost-foreign 0.7
same "many at once" -n 2 --cost-foreign 3
