#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# With and without priorities of messages, alternating (handbook, 14.13): when the block arrives on
# which a chain of tasks waits, and the time of the whole run; simulated with links of 2 GB/s, and
# real. ORR_BENCH_RUNS is the number of real runs of each (default 5).
set -u
program=$ORR_TEST_BUILDDIR/tests/bench/priorities
runs=${ORR_BENCH_RUNS:-5}
export STARPU_SILENT=1 STARPU_NCPU=2

# one PRIORITIES WORLD: one run, whose times go to a file.
one() {
	case $2 in
	real) STARPU_MPI_PRIORITIES=$1 timeout 60 "$ORRERY" run -n 2 "$program" ;;
	sim) STARPU_MPI_PRIORITIES=$1 timeout 60 "$ORRERY" sim -n 2 --quiet --platform "$TMPDIR/two.xml" "$program.sim" ;;
	esac >> "$TMPDIR/$2-$1.txt" || exit 1
}

# median COLUMN FILE
median() { cut -d' ' -f"$1" "$2" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# table WORLD
table() {
	awk -v world="$1" -v a="$(median 1 "$TMPDIR/$1-1.txt")" -v b="$(median 1 "$TMPDIR/$1-0.txt")" \
		-v c="$(median 2 "$TMPDIR/$1-1.txt")" -v d="$(median 2 "$TMPDIR/$1-0.txt")" 'BEGIN {
		printf "priorities %-4s: the chain begins after %.1f ms (without: %.1f ms), all is done after %.1f ms (without: %.1f ms), %.2f x\n", world, a, b, c, d, d / c }'
}

if [ "$ORR_TEST_SIM" = yes ]; then
	"$ORRERY" platform -n 2 --bandwidth 2GBps -o "$TMPDIR/two.xml" || exit 1
	one 1 sim
	one 0 sim
	table sim
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	for i in $(seq "$runs"); do
		one 1 real
		one 0 real
	done
	table real
fi
