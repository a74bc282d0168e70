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

rounds=${ORR_BENCH_ROUNDS:-15}
sizes=2
: > script
for _ in $(seq "$rounds"); do
	printf 'at 0.01 grow 1\nat 0.01 shrink 1\n' >> script
	sizes="$sizes 3 2"
done

# medians: of the milliseconds of growths and of shrinks, without the first two.
medians() {
	sed -n 's/^step .*: \([0-9]*\) ranks.* \([0-9.]*\) s$/\1 \2/p' "$1" | awk 'NR > 5 { print $1, ($2 - last) * 1e3 } { last = $2 }' > differences
	for ranks in 3 2; do
		awk -v r=$ranks '$1 == r { print $2 }' differences | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
	done
}

"$ORRERY" calibrate -o machine --name here > /dev/null || exit 1
"$ORRERY" calibrate --elastic -o machine --name here > /dev/null || exit 1
grep -v '^#' machine/bus/here.elastic | tr '\n' ' '
echo
"$ORRERY" run -n 2 --elastic --max 3 --manager script:script "$program" 3 $sizes > real.txt || exit 1
"$ORRERY" sim -n 2 --elastic --max 3 --machine machine/here --scenario script "$program.sim" 3 $sizes > sim.txt 2> /dev/null || exit 1
medians real.txt | tr '\n' ' ' > numbers
medians sim.txt | tr '\n' ' ' >> numbers
awk '{ printf "elastic growth real_ms=%.1f predicted_ms=%.1f difference_percent=%.1f\n", $1, $3, 100 * ($3 / $1 - 1)
	printf "elastic shrink real_ms=%.1f predicted_ms=%.1f difference_ms=%.1f\n", $2, $4, $4 - $2 }' numbers
