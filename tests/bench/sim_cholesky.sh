#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The Cholesky example simulated without kernels: 64 nodes with 64x64 tiles, then
# 1,024 nodes with 128x128; next to each the time that plain MPI needs in the
# same simulator for the same messages (sim_floor). Then smaller tiles, so that
# the network is the limit: 256 nodes with 96x96, and 1,024 with 128x128, which
# plain MPI does not finish in time. Wall time and peak memory come from the
# reports. Time is limited, and so is address space, of which folded
# memory takes much and uses little.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
program=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
[ -e "$program" ] || { echo "sim_cholesky: $program is not built"; exit 77; }
failed=0

# number FILE KEY
number() { sed -n "s/.*\"$2\": *\([0-9.eE+-]*\).*/\1/p" "$1" | head -n 1; }

# measure NODES TILES SIZE GIB SECONDS
measure() {
	(
		ulimit -v $(($4 * 1048576))
		exec timeout "$5" "$ORRERY" sim -n "$1" --kernels skip --stats "$TMPDIR/stats.csv" --report "$TMPDIR/run.json" \
			"$program" -nt "$2" -b "$3" > "$TMPDIR/run.out" 2>&1
	) || { tail -n 5 "$TMPDIR/run.out"; echo "sim_cholesky: $1 nodes: failed"; return 1; }
	(
		ulimit -v $(($4 * 1048576))
		exec timeout 120 sh "$ORR_TEST_SRCDIR/tests/bench/sim_floor.sh" "$TMPDIR/stats.csv" "$1" "$TMPDIR/floor.json" 2> "$TMPDIR/floor.err"
	) || { tail -n 5 "$TMPDIR/floor.err"; echo "sim_cholesky: $1 nodes: the floor failed, or took more than 120 s"; : > "$TMPDIR/floor.json"; }
	awk -v n="$1" -v nt="$2" -v size="$3" -v tasks="$(number "$TMPDIR/run.json" tasks)" -v messages="$(number "$TMPDIR/run.json" messages)" \
		-v wall="$(number "$TMPDIR/run.json" wall_s)" -v rss="$(number "$TMPDIR/run.json" peak_rss_bytes)" \
		-v virtual="$(number "$TMPDIR/run.json" makespan_s)" -v floor="$(number "$TMPDIR/floor.json" wall_s)" 'BEGIN {
		printf "sim_cholesky %d nodes, %dx%d tiles of %d: %.2f s, %.0f MB (%d tasks, %d messages, %.3f s of virtual time)",
			n, nt, nt, size, wall, rss / 1e6, tasks, messages, virtual
		if (floor > 0) printf "; plain MPI: %.2f s, ratio %.2f", floor, wall / floor
		printf "\n" }'
}

measure 64 64 512 100 120 || failed=1
measure 1024 128 512 500 300 || failed=1
measure 256 96 320 300 120 || failed=1
measure 1024 128 320 500 300 || failed=1
exit $failed
