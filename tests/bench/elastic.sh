#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# How well a simulated run predicts what a change of processes costs on this machine: measures starting, joining and leaving
# (`orrery calibrate --elastic`), and then a task program (tests/elastic/follow.c) that gets a process and gives it back, many
# times, in both worlds. A growth has the end of the process that left before, the start of another one, and its way to the run; a
# shrink has the move of data and the way of the run to fewer processes. elastic.py prints medians; the aim is 15 %.
#
# Tasks sleep 1 ms: the steps between two points take the same time in both worlds, whatever else the machine does.
#
# Calibrations and runs take turns, and each round in the reverse order of the one before, so that others who use the machine
# disturb all of them. ORR_BENCH_TURNS: rounds (default 6); ORR_BENCH_ROUNDS: changes of each kind in a run (default 5);
# ORR_BENCH_FIRST: processes before a growth.
[ "$ORR_TEST_MPI$ORR_TEST_SIM" = yesyes ] || exit 77
cd "$TMPDIR" || exit 77
. "$ORR_TEST_SRCDIR/tests/lib/elastic.sh"
STARPU_NCPU=1
FOLLOW_PAUSE_US=1000
export STARPU_NCPU FOLLOW_PAUSE_US
program=$ORR_TEST_BUILDDIR/tests/elastic/follow
[ -x "$program" ] && [ -e "$program.sim" ] || { echo "make check TESTS= builds $program"; exit 77; }

# As many processes as calibration has, and one more: a simulated process has cores of its own.
changes "$((${ORR_BENCH_ROUNDS:-5} + 1))" "${ORR_BENCH_FIRST:-$([ "$(nproc)" -gt 2 ] && echo 2 || echo 1)}"
calibrated() {
	"$ORRERY" calibrate --elastic -o machine --name here > /dev/null 2>&1 || return 1
	grep -v '^#' machine/bus/here.elastic | tr '\n' ' '
	echo
}
# shellcheck disable=SC2086
real() { ORRERY_DYN_LOG=real-$1.journal "$ORRERY" run -n "$first" --elastic --max $((first + 1)) --manager script:script "$program" 3 $sizes > "real-$1.out"; }
# shellcheck disable=SC2086
simulated() {
	ORRERY_DYN_LOG=sim-$1.journal "$ORRERY" sim -n "$first" --elastic --max $((first + 1)) --machine machine/here --scenario script "$program.sim" 3 $sizes \
		> "sim-$1.out" 2> /dev/null
}
"$ORRERY" calibrate -o machine --name here > /dev/null || exit 1
for turn in $(seq "${ORR_BENCH_TURNS:-6}"); do
	if [ $((turn % 2)) = 1 ]; then
		calibrated && real "$turn" || exit 1
	else
		real "$turn" && calibrated || exit 1
	fi
	simulated "$turn" || exit 1
done
"$PYTHON" "$ORR_TEST_SRCDIR/tests/bench/elastic.py" "$ORR_TEST_SRCDIR/tools" .
