#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Costs of a trace: pairs of runs that are recorded and runs that are not, in an order that changes. A row for each thing:
# the medians without and with a trace, and their ratio. Tasks that do nothing and tasks of a microsecond, of one worker (ns a
# task, and ns for each of the five events of an empty task); simulations of Cholesky on 64 and 1,024 nodes (seconds of the
# processor, megabytes).
#     ORR_BENCH_RUNS     pairs (default 7)
#     ORR_BENCH_NODES    the most nodes (default 1024)
#     ORR_BENCH_TRACES   a folder for the traces (default: that of the bench); the kind of its disk counts
set -u
runs=${ORR_BENCH_RUNS:-7}
trace=${ORR_BENCH_TRACES:-$TMPDIR}/trace
export STARPU_SILENT=1
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# once WITH COMMAND...: one run, recorded or not, whose numbers take() adds to the files NAME.WITH.
once() {
	with=$1
	shift
	if [ "$with" = 1 ]; then ORRERY_TRACE=$trace "$@" > "$TMPDIR/out" 2>&1; else "$@" > "$TMPDIR/out" 2>&1; fi || { cat "$TMPDIR/out"; exit 1; }
	take "$with"
	rm -f "$trace"
}

# pairs COMMAND...
pairs() {
	rm -f "$TMPDIR"/*.0 "$TMPDIR"/*.1
	for pair in $(seq "$runs"); do
		once $((pair % 2)) "$@"
		once $((1 - pair % 2)) "$@"
	done
}

# row NAME WORDS: the medians of what take() found.
row() { echo "$(median "$TMPDIR/$1.0") $(median "$TMPDIR/$1.1")" | awk -v words="$2" -v events="${3-0}" '{
	printf "%-36s %10.6g %10.6g   ratio %.3f%s\n", words, $1, $2, $2 / $1, events ? sprintf(", %.0f ns an event", ($2 - $1) / events) : "" }'; }

echo "trace_cost                              without       with"
program=$ORR_TEST_BUILDDIR/tests/bench/task_overhead
take() { sed -n 's/^task_overhead \([a-z_]*\): median \([0-9]*\).*/\1 \2/p' "$TMPDIR/out" | while read -r name ns; do echo "$ns" >> "$TMPDIR/$name.$1"; done; }
export STARPU_NCPU=1
pairs "$program"
row no_data "an empty task, ns" 5
row one_datum "... with one datum" 5
ORR_BENCH_KERNEL_NS=1000 pairs "$program"
row no_data "a task of 1 us, ns"
row one_datum "... with one datum"
unset STARPU_NCPU

[ "$ORR_TEST_SIM" = yes ] || exit 0
program=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
take() { awk -v n="$1" -v d="$TMPDIR" '/^cost / { print $2 + $3 > (d "/cpu." n ".new"); print $4 / 1024 > (d "/rss." n ".new") }' "$TMPDIR/cost" &&
	for name in cpu rss; do cat "$TMPDIR/$name.$1.new" >> "$TMPDIR/$name.$1"; done; rm -f "$TMPDIR"/*.new; }
[ -x /usr/bin/time ] || { echo "simulations: no /usr/bin/time (Debian: time)"; exit 0; }
for nodes in 64 1024; do
	[ "$nodes" -le "${ORR_BENCH_NODES:-1024}" ] || continue
	pairs /usr/bin/time -o "$TMPDIR/cost" -f "cost %U %S %M" "$ORRERY" sim -n "$nodes" --kernels skip "$program" -nt $((nodes == 64 ? 64 : 128)) -b 960
	row cpu "Cholesky on $nodes nodes, s of CPU"
	row rss "... memory, MB"
done
