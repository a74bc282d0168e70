#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# sim_network.sh: the makespans that --network share, queue and smpi predict, against
# maxmin: Cholesky, LU, stencil, broadcast, all-to-all and random traffic, on four
# topologies, for the numbers of nodes in $ORR_BENCH_NODES (default "16 64"; the
# table of doc/fidelity.md has "16 64 256"), from bound by computing to bound by
# messages. One line for each case, then medians and worst cases, and whether share
# keeps its bars: 2 % in the median and 5 % at worst. The worst does not count broadcasts of
# 16 KiB, whose pieces leave at once for the same rank: in the order of their sending with
# share, as over TCP, and together with maxmin (doc/fidelity.md, hosts with shaped links).
#
# The last model, "again", is maxmin when messages cost the engine 1 % more: how
# far a schedule differs for no reason that matters, by messages that change places.
#
# Virtual times do not depend on the machine, so results may be kept and completed
# later: $ORR_BENCH_RESULTS is a file to which they are added, and from which they are
# taken. $ORR_BENCH_MODELS are the models to run (default "maxmin share queue smpi again").
# A run that takes more than $ORR_BENCH_LIMIT seconds (default 200) counts as not done.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
examples=$ORR_TEST_BUILDDIR/examples traffic=$ORR_TEST_BUILDDIR/tests/bench/sim_traffic.sim
for program in "$examples/cholesky/cholesky.sim" "$examples/lu/lu.sim" "$examples/stencil/stencil.sim" "$traffic"; do
	[ -e "$program" ] || { echo "sim_network: $program is not built"; exit 77; }
done
nodes=${ORR_BENCH_NODES:-16 64} models=${ORR_BENCH_MODELS:-maxmin share queue smpi again}
results=${ORR_BENCH_RESULTS:-$TMPDIR/results}
: >> "$results"
: > "$TMPDIR/cases"

# seconds MODEL TOPOLOGY NODES PROGRAM ARGUMENTS: what the run prints, or its makespan.
seconds() {
	model=$1 topology=$2 n=$3 extra=
	shift 3
	[ "$model" != again ] || { model=maxmin extra="--cost-message 0.505"; }
	# shellcheck disable=SC2086
	timeout "${ORR_BENCH_LIMIT:-200}" "$ORRERY" sim -n "$n" --platform "$TMPDIR/$topology-$n.xml" --network "$model" $extra \
		--kernels skip --report "$TMPDIR/run.json" "$@" > "$TMPDIR/out" 2> "$TMPDIR/err" ||
		{ tail -n 3 "$TMPDIR/err" >&2; echo 0; return; }
	sed -n 's/.*time_s=\([0-9.eE+-]*\).*/\1/p; s/^.* time \([0-9.]*\) s.*/\1/p' "$TMPDIR/out" | head -n 1 | grep . ||
		sed -n 's/.*"makespan_s": *\([0-9.eE+-]*\).*/\1/p' "$TMPDIR/run.json"
}
# compare NAME TOPOLOGY NODES PROGRAM ARGUMENTS: the case in all models.
compare() {
	name=$1 where="$2;$3"
	shift
	echo "$name;$where" >> "$TMPDIR/cases"
	for m in $models; do
		grep -q "^$name;$where;$m;" "$results" && continue
		took=$(seconds "$m" "$@")
		echo "$name;$where;$m;$took" >> "$results"
	done
}

for n in $nodes; do
	for topology in crossbar fat-tree dragonfly torus; do
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

awk -F';' '
NR == FNR { took[$1 ";" $2 ";" $3 ";" $4] = $5; next }
function off(model, reference) {
	reference = took[$0 ";maxmin"]
	return reference > 0 && took[$0 ";" model] > 0 ? 100 * (took[$0 ";" model] / reference - 1) : "-"
}
function show(x) { return x == "-" ? "-" : sprintf("%+.2f", x) }
function abs(x) { return x < 0 ? -x : x }
function keep(group, share, queue, smpi, again) {
	if (!(group in number)) order[++ngroups] = group
	if (share == "-") { number[group] += 0; missing[group]++; return }
	number[group]++
	list[group, number[group]] = abs(share)
	if (again != "-" && abs(again) > unrest[group]) unrest[group] = abs(again)
	if (smpi != "-" && (!(group in low) || smpi < low[group])) low[group] = smpi
	if (smpi != "-" && (!(group in high) || smpi > high[group])) high[group] = smpi
	if (queue == "-") return
	if (!(group in least) || queue < least[group]) least[group] = queue
	if (!(group in most) || queue > most[group]) most[group] = queue
}
function arrange(group, i, j, x) {
	for (i = 2; i <= number[group]; i++) {
		x = list[group, i]
		for (j = i - 1; j >= 1 && list[group, j] > x; j--) list[group, j + 1] = list[group, j]
		list[group, j + 1] = x
	}
}
function median(group, n) {
	n = number[group]
	return n % 2 ? list[group, (n + 1) / 2] : (list[group, n / 2] + list[group, n / 2 + 1]) / 2
}
BEGIN { printf "%-24s %-10s %5s %12s %8s %8s %8s %8s\n", "program", "topology", "nodes", "maxmin s", "share %", "queue %", "smpi %", "again %" }
{
	share = off("share"); queue = off("queue"); smpi = off("smpi"); again = off("again")
	printf "%-24s %-10s %5d %12.6f %8s %8s %8s %8s\n", $1, $2, $3, took[$0 ";maxmin"], show(share), show(queue), show(smpi), show(again)
	for (i = 1; i <= 3; i++) keep(i == 3 ? $i " nodes" : $i, share, queue, smpi, again)
	keep("all", share, queue, smpi, again)
	if ($1 != "broadcast, 16 KiB") keep("without these broadcasts", share, queue, smpi, again)
}
END {
	printf "\n%-24s %5s %9s %8s %20s %20s %14s\n", "in per cent of maxmin", "cases", "share:", "worst", "queue:", "smpi:", "again: worst"
	printf "%-24s %5s %9s %8s %20s %20s\n", "", "", "median", "", "least .. most", "least .. most"
	for (g = 1; g <= ngroups; g++) {
		group = order[g]
		arrange(group)
		if (number[group])
			printf "%-24s %5d %9.2f %8.2f %+8.2f .. %+8.2f %+8.2f .. %+8.2f %14.2f\n", group, number[group], median(group), list[group, number[group]], least[group], most[group], low[group], high[group], unrest[group]
		if (missing[group]) printf "%-24s %5d not done\n", group, missing[group]
	}
	rest = "without these broadcasts"
	holds = number["all"] && median("all") <= 2 && list[rest, number[rest]] <= 5
	printf "share within 2 %% of maxmin in the median and 5 %% at worst, without broadcasts of 16 KiB: %s\n", holds ? "holds" : "DOES NOT HOLD"
	exit !holds
}' "$results" "$TMPDIR/cases"
