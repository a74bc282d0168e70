#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Costs of the heartbeat in a run without faults: pairs of runs with it and without it, in an order that changes. A row for
# each number of heartbeat.c: the medians with it and without it, their ratio, and the quartiles of the ratios of pairs,
# which say how much the clock is worth here; then the CPU of the heartbeat's thread, in millionths of a core.
#     ORR_BENCH_RUNS    pairs (default 15); ORR_BENCH_TIMEOUT_US    the heartbeat's timeout (the default one)
# The exit status is 1 if the thread uses more than a thousandth of a core, which does not depend on the load.
set -u
[ "$ORR_TEST_MPI" = yes ] || { echo "heartbeat: no mpirun, skipped"; exit 77; }
program=$ORR_TEST_BUILDDIR/tests/bench/heartbeat
[ -x "$program" ] || { echo "heartbeat: $program is not built"; exit 1; }
export STARPU_SILENT=1 STARPU_NCPU=1
with=${ORR_BENCH_TIMEOUT_US:-20000000}
: > "$TMPDIR/with"
: > "$TMPDIR/without"
once() {
	ORRERY_HEARTBEAT_TIMEOUT=$2 timeout 120 "$ORRERY" run -n 2 --oversubscribe "$program" 2> "$TMPDIR/err" >> "$TMPDIR/$1" || { cat "$TMPDIR/err"; exit 1; }
}
for pair in $(seq "${ORR_BENCH_RUNS:-15}"); do
	if [ $((pair % 2)) = 1 ]; then
		once with "$with" && once without 0
	else
		once without 0 && once with "$with"
	fi
done
grep -q '^thread' "$TMPDIR/with" || { echo "heartbeat: there is none in a run that should have one"; exit 1; }
if grep -q '^thread' "$TMPDIR/without"; then echo "heartbeat: there is one in a run that should have none"; exit 1; fi
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
echo "               with us  without us   ratio   quartiles of pairs"
for what in ping-pong message task; do
	for side in with without; do sed -n "s/^$what //p" "$TMPDIR/$side" > "$TMPDIR/$side.column"; done
	paste "$TMPDIR/with.column" "$TMPDIR/without.column" | awk '{ print $1 / $2 }' | sort -g > "$TMPDIR/ratios"
	echo "$(median < "$TMPDIR/with.column") $(median < "$TMPDIR/without.column") $(awk '{ v[NR] = $1 } END { print v[int((NR + 3) / 4)], v[int((3 * NR + 3) / 4)] }' "$TMPDIR/ratios")" |
		awk -v what=$what '{ printf "%-12s %9.4f   %9.4f   %5.3f   %5.3f %5.3f\n", what, $1, $2, $1 / $2, $3, $4 }'
done
used=$(sed -n 's/^thread //p' "$TMPDIR/with" | median)
echo "thread: $used millionths of a core"
awk -v used="$used" 'BEGIN { exit used > 1000 }'
