#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A trace of many nodes with a limit, explained and drawn: Cholesky on simulated nodes, twice, without a trace and recorded with
# a limit; then `orrery explain` and `orrery report` of the file. A row for each: processor time in seconds, and the most memory
# in MB. The bars: what explain and report take together, and what recording adds, at most 60 s, and at most 2 GiB beyond
# those of the simulation, at 10,000 nodes.
#     ORR_BENCH_NODES    nodes (default 10000)
#     ORR_BENCH_TILES    tiles of a row (default 128)
#     ORR_BENCH_LIMIT    of the file (default 256M)
# Fails if a virtual time changes, the file is larger than its limit, or a command fails. Bars are told.
set -u
nodes=${ORR_BENCH_NODES:-10000}
tiles=${ORR_BENCH_TILES:-128}
limit=${ORR_BENCH_LIMIT:-256M}
[ "$ORR_TEST_SIM" = yes ] || { echo "no simulations"; exit 77; }
[ -x /usr/bin/time ] || { echo "trace_large: no /usr/bin/time (Debian: time)"; exit 77; }
cd "$TMPDIR" || exit 1
export STARPU_SILENT=1

# cost NAME COMMAND...: runs it, and keeps its row in the file costs.
cost() {
	name=$1
	shift
	/usr/bin/time -o took -f "%U %S %M" "$@" > "out.$name" 2> err || { cat "out.$name" err; exit 1; }
	awk -v name="$name" '{ print name, $1 + $2, $3 / 1024 }' took | tee -a costs
}
cholesky() {
	name=$1
	shift
	cost "$name" "$ORRERY" sim -n "$nodes" --kernels skip "$@" "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt "$tiles" -b 960
}

echo "trace_large: $nodes nodes, $tiles tiles, limit $limit: s of CPU, MB"
cholesky plain
cholesky recorded --trace run --trace-limit "$limit"
cmp out.plain out.recorded || { echo "virtual times: CHANGED"; exit 1; }
bytes=$(wc -c < run)
most=$(echo "$limit" | awk '{ print $1 + 0 }')
case $limit in *K) most=$((most << 10)) ;; *M) most=$((most << 20)) ;; *G) most=$((most << 30)) ;; esac
[ "$bytes" -le "$most" ] || { echo "the file has $bytes bytes, more than $limit"; exit 1; }
cost explain "$ORRERY" explain run
[ -s out.explain ] || { echo "explain says nothing"; exit 1; }
cost report "$ORRERY" report run -o page.html
[ -s page.html ] || { echo "there is no page"; exit 1; }
awk -v bytes="$bytes" -v page="$(wc -c < page.html)" '
	{ s[$1] = $2; mb[$1] = $3 }
	END {
		time = s["recorded"] - s["plain"] + s["explain"] + s["report"]
		memory = mb["recorded"] - mb["plain"]
		for (name in mb)
			if ((name == "explain" || name == "report") && mb[name] > memory)
				memory = mb[name]
		printf "file %.1f MB, page %.1f MB\n", bytes / 1e6, page / 1e6
		printf "recorded, explained and drawn: %.1f s beyond the simulation; bar 60: %s\n", time, time <= 60 ? "met" : "missed"
		printf "... memory %.0f MB; bar 2048: %s\n", memory, memory <= 2048 ? "met" : "missed"
	}' costs
