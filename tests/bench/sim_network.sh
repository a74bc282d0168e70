#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# sim_network.sh: the makespans that --network share and queue predict, against
# maxmin: Cholesky, LU, stencil, broadcast, all-to-all and random traffic, on four
# topologies, for the numbers of nodes in $ORR_BENCH_NODES (default "16 64"; the
# table of doc/fidelity.md has "16 64 256"), from bound by computing to bound by
# messages. One line for each case, then medians and worst cases.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
examples=$ORR_TEST_BUILDDIR/examples traffic=$ORR_TEST_BUILDDIR/tests/bench/sim_traffic.sim
for program in "$examples/cholesky/cholesky.sim" "$examples/lu/lu.sim" "$examples/stencil/stencil.sim" "$traffic"; do
	[ -e "$program" ] || { echo "sim_network: $program is not built"; exit 77; }
done
nodes=${ORR_BENCH_NODES:-16 64}
rows=$TMPDIR/rows
: > "$rows"

# seconds MODEL TOPOLOGY NODES PROGRAM ARGUMENTS: what the run prints, or its makespan.
seconds() {
	model=$1 topology=$2 n=$3
	shift 3
	timeout 200 "$ORRERY" sim -n "$n" --platform "$TMPDIR/$topology-$n.xml" --network "$model" --kernels skip --report "$TMPDIR/run.json" "$@" \
		> "$TMPDIR/out" 2> "$TMPDIR/err" || { tail -n 3 "$TMPDIR/err" >&2; echo 0; return; }
	sed -n 's/.*time_s=\([0-9.eE+-]*\).*/\1/p; s/^.* time \([0-9.]*\) s.*/\1/p' "$TMPDIR/out" | head -n 1 | grep . ||
		sed -n 's/.*"makespan_s": *\([0-9.eE+-]*\).*/\1/p' "$TMPDIR/run.json"
}
# compare NAME TOPOLOGY NODES PROGRAM ARGUMENTS: one row.
compare() {
	name=$1
	shift
	reference=$(seconds maxmin "$@") share=$(seconds share "$@") queue=$(seconds queue "$@")
	awk -v name="$name" -v topology="$1" -v n="$2" -v r="$reference" -v s="$share" -v q="$queue" 'BEGIN {
		if (!(r > 0 && s > 0 && q > 0)) { printf "%-24s %-10s %4d failed\n", name, topology, n; exit 1 }
		printf "%-24s %-10s %4d %12.6f %+7.2f %+7.2f\n", name, topology, n, r, 100 * (s / r - 1), 100 * (q / r - 1) }' | tee -a "$rows"
}

echo "program                  topology   nodes    maxmin s share %  queue %"
for topology in crossbar fat-tree dragonfly torus; do
	for n in $nodes; do
		"$ORRERY" platform -n "$n" --topology $topology -o "$TMPDIR/$topology-$n.xml" > "$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; exit 1; }
		tiles=$(awk -v n="$n" 'BEGIN { print int(4 * sqrt(n)) }') side=$(awk -v n="$n" 'BEGIN { print int(2 * sqrt(n)) }')
		for block in 960 320 96; do
			compare "cholesky, tiles of $block" $topology "$n" "$examples/cholesky/cholesky.sim" -nt "$tiles" -b $block
			compare "lu, tiles of $block" $topology "$n" "$examples/lu/lu.sim" -nt "$((tiles / 2))" -b $block
		done
		for block in 2048 128; do
			compare "stencil, blocks of $block" $topology "$n" "$examples/stencil/stencil.sim" -nx "$side" -ny "$side" -b $block --niter 10
		done
		for kib in 16 800; do
			compare "broadcast, $kib KiB" $topology "$n" "$traffic" broadcast $kib 8
			compare "random, $kib KiB" $topology "$n" "$traffic" random $kib 16
		done
		[ "$n" -gt 64 ] || compare "all-to-all, 64 KiB" $topology "$n" "$traffic" alltoall 64 1
	done
done

# summary COLUMN NAME
summary() {
	grep -v failed "$rows" | awk -v c="$1" '{ x = $(NF - c); if (x < 0) x = -x; print x }' | sort -n |
		awk -v name="$2" '{ v[NR] = $1 } END { if (NR) printf "%s: median %.2f %%, worst %.2f %% of %d cases\n", name, v[int((NR + 1) / 2)], v[NR], NR }'
}
summary 1 share
summary 0 queue
! grep -q failed "$rows"
