#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Instructions that the simulator executes for a task of the stencil with its messages, and for
# a node from start to end, by numbers of nodes, as valgrind's cachegrind counts them. A node has
# one block: an update sends and receives four messages. The cost of a task is the difference of
# two runs, so that start and end are not in it. The largest over the smallest cost of a task
# must be at most 1.5. ORR_BENCH_NODES limits the numbers of nodes. 4,096 take most of the time.
#
# Cachegrind counts what callgrind counts. Callgrind takes a change to the stack of another rank for
# a call that does not return, and becomes slower with each. Valgrind knows 30,000 mappings at most,
# so stacks have no guard pages: each would be one more.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
command -v valgrind > /dev/null || { echo "sim_instructions: there is no valgrind"; exit 77; }
program=$ORR_TEST_BUILDDIR/examples/stencil/stencil.sim
[ -e "$program" ] || { echo "sim_instructions: $program is not built"; exit 77; }

# count SIDE ITERATIONS: instructions of a run with SIDE * SIDE nodes.
count() {
	log=$TMPDIR/cachegrind.log
	ORRERY_SIM_WRAPPER="valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --read-inline-info=no --log-file=$log" \
	ORR_SIM_WATCH=0 timeout "${ORR_BENCH_LIMIT:-2000}" "$ORRERY" sim -n $(($1 * $1)) --kernels skip --cfg=contexts/guard-size:0 \
		"$program" -nx "$1" -ny "$1" -b 64 --niter "$2" > "$TMPDIR/out" 2>&1 ||
		{ tail -n 3 "$TMPDIR/out" "$log" >&2; return 1; }
	sed -n 's/.*I *refs: *\([0-9,]*\).*/\1/p' "$log" | tr -d ,
}

echo "nodes  instructions per task with its messages  per node"
for side in 8 16 32 64; do
	n=$((side * side))
	[ "$n" -le "${ORR_BENCH_NODES:-4096}" ] || continue
	few=$(count $side 2) && many=$(count $side 6) || exit 1
	awk -v n="$n" -v few="$few" -v many="$many" 'BEGIN {
		task = (many - few) / (4 * n)
		printf "%5d  %40.0f  %8.0f\n", n, task, (few - 2 * n * task) / n }'
done | tee "$TMPDIR/table"
awk 'NR == 1 { low = high = $2 } { if ($2 < low) low = $2; if ($2 > high) high = $2 }
	END { if (!NR) exit 1; r = high / low; printf "sim_instructions: largest / smallest %.2f (at most 1.5: %s)\n", r, r <= 1.5 ? "holds" : "MISSED"; exit r > 1.5 }' "$TMPDIR/table"
