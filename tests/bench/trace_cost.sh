#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Costs of a trace against their bars: pairs of runs that are recorded and runs that are not, in an order that changes. Processor
# time (user and system, all threads) and memory, so that other work on the machine counts little. A row for each thing: the
# medians without and with a trace, their ratio, that of the least values, and the bar. Tasks that do nothing and tasks of a
# microsecond, of one worker; simulations of Cholesky on 64 and 1,024 nodes, whose virtual times must be the same to the last
# digit; and, with a build folder of other sources, a run without a trace in both.
#     ORR_BENCH_RUNS     pairs (default 7)
#     ORR_BENCH_NODES    the most nodes (default 1024)
#     ORR_BENCH_TRACES   a folder for the traces (default: that of the bench); the kind of its disk counts
#     ORR_BENCH_BASE     a build folder to compare runs without a trace with, whose tests/bench/task_overhead is built
# Fails if a virtual time changes. Other bars are told: a busy machine misses them for reasons of its own.
set -u
runs=${ORR_BENCH_RUNS:-7}
trace=${ORR_BENCH_TRACES:-$TMPDIR}/trace
tasks=880000 # of task_overhead: two kinds, 22 rounds
changed=0
export STARPU_SILENT=1
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
least() { sort -g "$1" | head -n 1; }
[ -x /usr/bin/time ] || { echo "trace_cost: no /usr/bin/time (Debian: time)"; exit 77; }

# once WITH COMMAND...: one run, recorded or not: its numbers are added to the files cpu.WITH and rss.WITH.
once() {
	with=$1
	shift
	if [ "$with" = 1 ]; then export ORRERY_TRACE="$trace"; else unset ORRERY_TRACE; fi
	/usr/bin/time -o "$TMPDIR/cost" -f "cost %U %S %M" "$@" > "$TMPDIR/out" 2> "$TMPDIR/err" || { cat "$TMPDIR/out" "$TMPDIR/err"; exit 1; }
	unset ORRERY_TRACE
	awk '/^cost / { print $2 + $3 }' "$TMPDIR/cost" >> "$TMPDIR/cpu.$with"
	awk '/^cost / { print $4 / 1024 }' "$TMPDIR/cost" >> "$TMPDIR/rss.$with"
	cp "$TMPDIR/out" "$TMPDIR/out.$with"
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

# row NAME WORDS BAR [TASKS EVENTS]: the bar is a ratio; with TASKS, nanoseconds for each of so many events of a task.
row() { echo "$(median "$TMPDIR/$1.0") $(median "$TMPDIR/$1.1") $(least "$TMPDIR/$1.0") $(least "$TMPDIR/$1.1")" |
	awk -v words="$2" -v bar="$3" -v tasks="${4-0}" -v events="${5-0}" '{
		value = tasks ? ($2 - $1) * 1e9 / tasks / events : $2 / $1
		best = tasks ? ($4 - $3) * 1e9 / tasks / events : $4 / $3
		form = tasks ? "%.0f ns an event, least %.0f; bar %.0f" : "ratio %.3f, least %.3f; bar %.2f"
		printf "%-32s %9.5g %9.5g   " form ": %s\n", words, $1, $2, value, best, bar, value <= bar ? "met" : best <= bar ? "met by the least" : "missed" }'; }

echo "trace_cost                         without      with"
program=$ORR_TEST_BUILDDIR/tests/bench/task_overhead
export STARPU_NCPU=1
# Five events of a task without data; with one datum two more: what it uses, and after which task it comes.
pairs "$program"
row cpu "empty tasks, s of CPU" 60 "$tasks" 6
export ORR_BENCH_KERNEL_NS=1000
pairs "$program"
row cpu "tasks of 1 us, s of CPU" 1.05
unset ORR_BENCH_KERNEL_NS
if [ -n "${ORR_BENCH_BASE-}" ]; then
	rm -f "$TMPDIR"/*.0 "$TMPDIR"/*.1
	for pair in $(seq "$runs"); do
		for with in $((pair % 2)) $((1 - pair % 2)); do
			folder=$ORR_TEST_BUILDDIR
			[ "$with" = 1 ] || folder=$ORR_BENCH_BASE
			/usr/bin/time -o "$TMPDIR/cost" -f "cost %U %S" "$folder/tests/bench/task_overhead" > "$TMPDIR/out" || exit 1
			awk '/^cost / { print $2 + $3 }' "$TMPDIR/cost" >> "$TMPDIR/cpu.$with"
		done
	done
	row cpu "off, against ORR_BENCH_BASE" 1.01
fi
unset STARPU_NCPU

[ "$ORR_TEST_SIM" = yes ] || exit 0
program=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
# simulation NODES OPTIONS...
simulation() {
	nodes=$1
	shift
	[ "$nodes" -le "${ORR_BENCH_NODES:-1024}" ] || return 0
	pairs "$ORRERY" sim -n "$nodes" --kernels skip "$@"
	row cpu "Cholesky, $nodes nodes, s of CPU" 1.15
	row rss "... memory, MB" 1.30
	[ -s "$TMPDIR/out.0" ] || { echo "Cholesky says nothing"; changed=1; }
	if cmp -s "$TMPDIR/out.0" "$TMPDIR/out.1"; then echo "... virtual times: the same"; else
		echo "... virtual times: CHANGED"
		diff "$TMPDIR/out.0" "$TMPDIR/out.1"
		changed=1
	fi
}
simulation 64 "$program" -nt 64 -b 512
simulation 1024 --platform "$ORR_TEST_SRCDIR/platforms/cluster-1024.xml" --machine "$ORR_TEST_SRCDIR/platforms/machines/quickstart" "$program" -nt 128 -b 960
exit "$changed"
