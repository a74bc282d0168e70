#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# How much the latency of blocking messages differs from run to run: rings of 2, 3
# and 4 ranks, many separate runs each, with idle and with busy workers; a row for
# each size: best, median and 95th percentile of the runs' medians, and the last
# over the first. ORR_BENCH_RUNS is the number of runs (default 50).
set -u
[ "$ORR_TEST_MPI" = yes ] || { echo "latency: no mpirun, skipped"; exit 77; }
program=$ORR_TEST_BUILDDIR/tests/bench/latency
[ -x "$program" ] || { echo "latency: $program is not built"; exit 1; }
runs=${ORR_BENCH_RUNS:-50}
STARPU_SILENT=1 STARPU_NCPU=1
export STARPU_SILENT STARPU_NCPU

# many RANKS ARGUMENT...
many() {
	ranks=$1
	shift
	: > "$TMPDIR/latency.txt"
	i=0
	while [ $i -lt "$runs" ]; do
		timeout 60 "$ORRERY" run -n "$ranks" "$program" "$@" >> "$TMPDIR/latency.txt" || exit 1
		i=$((i + 1))
	done
	for what in 1 4096 65536 kernel; do
		grep "^$what " "$TMPDIR/latency.txt" | cut -d' ' -f2 | sort -g > "$TMPDIR/column.txt"
		awk -v what="$what" -v ranks="$ranks" -v load="$1" '
			{ v[NR] = $1 }
			END {
				if (!NR) exit
				p = v[int(NR * 0.95 + 0.999)]
				printf "latency %d ranks, %-4s workers, %6s: best %9.2f us, median %9.2f us, 95 %% %9.2f us, %6.2f x the best\n", ranks, load, what == "kernel" ? what : what " B", v[1], v[int((NR + 1) / 2)], p, p / v[1]
			}' "$TMPDIR/column.txt"
	done
}

for ranks in 2 3 4; do
	many $ranks idle
done
for ranks in 2 3 4; do
	many $ranks busy 50
done
