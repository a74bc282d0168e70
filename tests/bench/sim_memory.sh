#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Bytes that a simulation takes for a rank that does nothing, a datum, a datum of another rank, a task that
# waits, and a message with its receive (sim_memory.c): the peak of the process's memory (peak_rss_bytes of
# --report) in a run with more of them, less that in a run with fewer, by their number. Tables that double fill
# to the same part in both runs, and malloc asks for no large pages (2 MiB more or less are 10 bytes of a datum).
# ORR_BENCH_BEFORE names another build folder, whose numbers come beside;
# ORR_BENCH_NODES is the most nodes (default 4,112).
#
# The system counts code that all ranks share for each of them, though it is in memory once: 4,096 bytes of a
# rank that does nothing.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
ulimit -v $((60 * 1000000))
export GLIBC_TUNABLES=glibc.malloc.hugetlb=0
most=${ORR_BENCH_NODES:-4112}

# peak NODES ARG...: bytes, with $orrery.
peak() {
	n=$1
	shift
	timeout "${ORR_BENCH_LIMIT:-200}" "$orrery" sim -n "$n" --kernels skip --quiet --report "$TMPDIR/run.json" "$program" "$@" > "$TMPDIR/out" 2>&1 ||
		{ tail -n 3 "$TMPDIR/out" >&2; return 1; }
	sed -n 's/.*"peak_rss_bytes": *\([0-9]*\).*/\1/p' "$TMPDIR/run.json"
}

# difference FEW MANY NUMBER: bytes of one.
difference() { echo $((($2 - $1 + $3 / 2) / $3)); }

# measure BUILD: a line for each kind.
measure() {
	orrery=$1/orrery
	for p in bench/sim_memory sim/idle; do
		"$orrery" cc --sim -O2 "$ORR_TEST_SRCDIR/tests/$p.c" -o "$TMPDIR/${p#*/}.sim" || return 1
	done
	program=$TMPDIR/idle.sim ranks=$((most - 16))
	for kind in "without runtime" idle; do
		few=$(peak 16 "$kind") && many=$(peak "$most" "$kind") || return 1
		echo "rank, $kind: $(difference "$few" "$many" $ranks)"
	done
	program=$TMPDIR/sim_memory.sim
	ranks=32 less=6000 more=12000
	for kind in handles foreign tasks; do
		few=$(peak $ranks $kind $less) && many=$(peak $ranks $kind $more) || return 1
		echo "$kind: $(difference "$few" "$many" $((ranks * (more - less))))"
	done
	few=$(peak $ranks messages $more $less) && many=$(peak $ranks messages $more $more) || return 1
	echo "messages: $(difference "$few" "$many" $((ranks * (more - less))))"
}

measure "$ORR_TEST_BUILDDIR" > "$TMPDIR/now" || exit 1
if [ -n "${ORR_BENCH_BEFORE:-}" ]; then
	measure "$ORR_BENCH_BEFORE" > "$TMPDIR/before" || exit 1
	paste -d: "$TMPDIR/now" "$TMPDIR/before" | awk -F: '{ printf "sim_memory %s: %d bytes, before %d\n", $1, $2, $4 }'
else
	awk -F: '{ printf "sim_memory %s: %d bytes\n", $1, $2 }' "$TMPDIR/now"
fi
