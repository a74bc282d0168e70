#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The Cholesky example simulated without kernels: 64 nodes with 64x64 tiles, then
# 1,024 nodes with 128x128; next to each the time that plain MPI needs in the
# same simulator for the same messages (sim_floor). Wall time and peak memory
# come from the reports; memory and time are limited.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
program=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
[ -e "$program" ] || { echo "sim_cholesky: $program is not built"; exit 77; }
failed=0

# number FILE KEY
number() { sed -n "s/.*\"$2\": *\([0-9.eE+-]*\).*/\1/p" "$1" | head -n 1; }

# measure NODES TILES MIB SECONDS
measure() {
	(
		ulimit -v $(($3 * 1024))
		exec timeout "$4" "$ORRERY" sim -n "$1" --kernels skip --stats "$TMPDIR/stats.csv" --report "$TMPDIR/run.json" \
			"$program" -nt "$2" -b 512 > "$TMPDIR/run.out" 2>&1
	) || { tail -n 5 "$TMPDIR/run.out"; echo "sim_cholesky: $1 nodes: failed"; return 1; }
	(
		ulimit -v $(($3 * 1024))
		exec timeout "$4" sh "$ORR_TEST_SRCDIR/tests/bench/sim_floor.sh" "$TMPDIR/stats.csv" "$1" "$TMPDIR/floor.json" 2> "$TMPDIR/floor.err"
	) || { tail -n 5 "$TMPDIR/floor.err"; echo "sim_cholesky: $1 nodes: the floor failed"; return 1; }
	awk -v n="$1" -v nt="$2" -v tasks="$(number "$TMPDIR/run.json" tasks)" -v messages="$(number "$TMPDIR/run.json" messages)" \
		-v wall="$(number "$TMPDIR/run.json" wall_s)" -v rss="$(number "$TMPDIR/run.json" peak_rss_bytes)" \
		-v virtual="$(number "$TMPDIR/run.json" makespan_s)" -v floor="$(number "$TMPDIR/floor.json" wall_s)" 'BEGIN {
		printf "sim_cholesky %d nodes, %dx%d tiles: %.2f s, %.0f MB (%d tasks, %d messages, %.3f s of virtual time); plain MPI: %.2f s, ratio %.2f\n",
			n, nt, nt, wall, rss / 1e6, tasks, messages, virtual, floor, wall / floor }'
}

measure 64 64 8000 120 || failed=1
measure 1024 128 16000 300 || failed=1
exit $failed
