#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The Cholesky example simulated without kernels, next to plain MPI in the same
# simulator that sends the same messages at the same times (sim_floor.c says how):
# bound by computing on 64 nodes with 64x64 tiles, and on 1,024 nodes of the machine
# `quickstart` with 128x128 tiles; bound by messages on 256 nodes with 96x96 tiles
# and on 1,024 with 128x128. Each line ends with its bars and whether they hold.
#
# Times are processor time of the whole command, so that other programs disturb
# little; peak memory comes from the reports. Address space is limited, of which folded
# memory takes much and uses little. ORR_BENCH_NODES limits the numbers of nodes.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
program=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
[ -e "$program" ] || { echo "sim_cholesky: $program is not built"; exit 77; }
failed=0

# number FILE KEY
number() { sed -n "s/.*\"$2\": *\([0-9.eE+-]*\).*/\1/p" "$1" | head -n 1; }

# timed FILE GIB COMMAND...: the seconds of processor time of the command go to the file.
timed() (
	file=$1
	ulimit -v $(($2 * 1048576))
	shift 2
	timeout "${ORR_BENCH_LIMIT:-300}" "$@" > "$TMPDIR/run.out" 2>&1
	status=$?
	times > "$TMPDIR/times"
	awk 'NR == 2 { gsub(/s/, ""); for (i = 1; i <= 2; i++) { split($i, t, "m"); sum += 60 * t[1] + t[2] } print sum }' "$TMPDIR/times" > "$file"
	[ $status = 0 ] || tail -n 5 "$TMPDIR/run.out"
	exit $status
)

# measure NODES TILES SIZE GIB RATIO SECONDS OPTIONS: the bars are 0 where there are none.
measure() {
	n=$1 tiles=$2 size=$3 gib=$4 ratio=$5 seconds=$6
	shift 6
	[ "$n" -le "${ORR_BENCH_NODES:-$n}" ] || return 0
	timed "$TMPDIR/seconds" "$gib" "$ORRERY" sim -n "$n" "$@" --kernels skip --stats "$TMPDIR/stats.csv" --report "$TMPDIR/run.json" \
		"$program" -nt "$tiles" -b "$size" || { echo "sim_cholesky: $n nodes: failed"; return 1; }
	timed "$TMPDIR/floor" "$gib" sh "$ORR_TEST_SRCDIR/tests/bench/sim_floor.sh" "$TMPDIR/stats.csv" "$n" "$TMPDIR/floor.json" ||
		{ echo "sim_cholesky: $n nodes: plain MPI failed, or took too long"; echo 0 > "$TMPDIR/floor"; }
	awk -v n="$n" -v nt="$tiles" -v size="$size" -v tasks="$(number "$TMPDIR/run.json" tasks)" -v messages="$(number "$TMPDIR/run.json" messages)" \
		-v took="$(cat "$TMPDIR/seconds")" -v rss="$(number "$TMPDIR/run.json" peak_rss_bytes)" -v virtual="$(number "$TMPDIR/run.json" makespan_s)" \
		-v floor="$(cat "$TMPDIR/floor")" -v most_ratio="$ratio" -v most_s="$seconds" '
	function bar(x, most) { return sprintf(" (bar %g: %s)", most, x <= most ? "holds" : "MISSED") }
	BEGIN {
		printf "sim_cholesky %d nodes, %dx%d tiles of %d: %.2f s%s, %.0f MB%s (%d tasks, %d messages, %.3f s of virtual time)",
			n, nt, nt, size, took, most_s ? bar(took, most_s) : "", rss / 1e6, n == 1024 ? bar(rss / 1e6, 1073) : "", tasks, messages, virtual
		if (floor > 0) printf "; plain MPI: %.2f s, ratio %.2f%s", floor, took / floor, most_ratio ? bar(took / floor, most_ratio) : ""
		printf "\n" }'
}

measure 64 64 512 100 0.5 0 || failed=1
measure 1024 128 960 500 0.25 15 --machine quickstart || failed=1
measure 256 96 320 300 0 4 || failed=1
measure 1024 128 320 500 0 20 || failed=1
exit $failed
