#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# How well a simulated run predicts what a change of processes costs on this machine: measures starting and joining
# (`orrery calibrate --elastic`), and then a task program (tests/elastic/follow.c) that gets a process and gives it back, many
# times, in both worlds. The cost of a growth is the time from one size to the next, as the demands wait in a queue: it has the
# start of a process, its way to the run, and the move of its data. Prints medians; the aim is 15 %.
[ "$ORR_TEST_MPI$ORR_TEST_SIM" = yesyes ] || exit 77
cd "$TMPDIR" || exit 77
STARPU_NCPU=1
export STARPU_NCPU
program=$ORR_TEST_BUILDDIR/tests/elastic/follow
[ -x "$program" ] && [ -e "$program.sim" ] || { echo "make check TESTS= builds $program"; exit 77; }

turns=3
rounds=$(((${ORR_BENCH_ROUNDS:-15} + turns - 1) / turns + 1))
sizes=2
: > script
for _ in $(seq "$rounds"); do
	printf 'at 0.01 grow 1\nat 0.01 shrink 1\n' >> script
	sizes="$sizes 3 2"
done

# differences: milliseconds of the growths and shrinks of a run, without the first two.
differences() {
	sed -n 's/^step .*: \([0-9]*\) ranks.* \([0-9.]*\) s$/\1 \2/p' "$1" | awk 'NR > 3 { print $1, ($2 - last) * 1e3 } { last = $2 }'
}

# median RANKS FILE: of the changes to that number of ranks.
median() { awk -v r="$1" '$1 == r { print $2 }' "$2" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# Measurements and runs take turns, so that others who use the machine disturb all of them.
"$ORRERY" calibrate -o machine --name here > /dev/null || exit 1
for _ in $(seq $turns); do
	"$ORRERY" calibrate --elastic -o machine --name here > /dev/null 2>&1 || exit 1
	grep -v '^#' machine/bus/here.elastic | tr '\n' ' '
	echo
	"$ORRERY" sim -n 2 --elastic --max 3 --machine machine/here --scenario script "$program.sim" 3 $sizes > sim.txt 2> /dev/null || exit 1
	differences sim.txt >> sim
	"$ORRERY" run -n 2 --elastic --max 3 --manager script:script "$program" 3 $sizes > real.txt || exit 1
	differences real.txt >> real
done
echo "$(median 3 real) $(median 2 real) $(median 3 sim) $(median 2 sim)" |
	awk '{ printf "elastic growth real_ms=%.1f predicted_ms=%.1f difference_percent=%.1f\n", $1, $3, 100 * ($3 / $1 - 1)
		printf "elastic shrink real_ms=%.1f predicted_ms=%.1f difference_ms=%.1f\n", $2, $4, $4 - $2 }'
