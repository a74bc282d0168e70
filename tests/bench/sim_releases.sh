#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# sim_releases.sh: whether two releases of SimGrid predict the same. A list of simulations on
# crossbars of 16 to 64 nodes: Cholesky, stencil, ring and broadcast with the models of the network
# `maxmin`, `share` and `queue`, and, where SimGrid carries all messages, plain MPI and the models
# `smpi` and `maxmin` with background load. One line for each:
#     CASE;MAKESPAN;MESSAGES;WALL;MEMORY
# the virtual seconds, a checksum of what each pair of ranks has sent, and the seconds and MB that
# the simulation took here.
#
# The results are kept in $ORR_BENCH_RESULTS. Run it in two build trees, one for each release:
#     make bench BENCH=sim_releases ORR_BENCH_RESULTS=/tmp/a           (in the first)
#     make bench BENCH=sim_releases ORR_BENCH_RESULTS=/tmp/b ORR_BENCH_OTHER=/tmp/a
# With $ORR_BENCH_OTHER, the results of another build, it prints both side by side, and fails where
# makespans differ by more than 0.1 % or other messages were sent. A build without private names of
# SimGrid refuses some, which is no failure. Virtual times do not depend on
# the machine.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
examples=$ORR_TEST_BUILDDIR/examples traffic=$ORR_TEST_BUILDDIR/tests/bench/sim_traffic.sim
for program in "$examples/cholesky/cholesky.sim" "$examples/stencil/stencil.sim" "$examples/ring/ring.sim" "$examples/ring_mpi/ring_mpi.sim" "$traffic"; do
	[ -e "$program" ] || { echo "sim_releases: $program is not built"; exit 77; }
done
[ "${ORR_TEST_SIM_INTERFACE-}" != public ] || export ORRERY_SIM_OWN_MPI=late
results=${ORR_BENCH_RESULTS:-$TMPDIR/results}
: > "$results" || exit 1

# predict NODES NAME OPTIONS... -- PROGRAM ARGUMENTS
predict() {
	nodes=$1 name=$2 options=
	shift 2
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	rm -f "$TMPDIR/stats.csv" "$TMPDIR/run.json"
	began=$(date +%s.%N)
	# shellcheck disable=SC2086
	timeout "${ORR_BENCH_LIMIT:-300}" "$ORRERY" sim -n "$nodes" --platform "$TMPDIR/$nodes.xml" --kernels skip $options \
		--report "$TMPDIR/run.json" --stats "$TMPDIR/stats.csv" "$@" > "$TMPDIR/out" 2> "$TMPDIR/err"
	status=$?
	took=$(awk -v a="$began" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f", b - a }')
	if [ $status != 0 ]; then
		tail -n 3 "$TMPDIR/err" >&2
		result=failed
		if grep -q 'simgrid-interface=p' "$TMPDIR/err"; then result=refused; fi
		echo "$name;$result;;;" >> "$results"
		return
	fi
	makespan=$(sed -n 's/.*"makespan_s": *\([0-9.eE+-]*\).*/\1/p' "$TMPDIR/run.json" | head -n 1)
	memory=$(sed -n 's/.*"peak_rss_bytes": *\([0-9]*\).*/\1/p' "$TMPDIR/run.json" | awk '{ printf "%.0f", $1 / 1e6; exit }')
	# Who sent how much to whom, without times.
	messages=$(grep -v '^#' "$TMPDIR/stats.csv" 2> /dev/null | cut -d, -f1-4,8,9 | cksum | cut -d' ' -f1)
	echo "$name;$makespan;$messages;$took;$memory" >> "$results"
}

for n in 16 64; do
	"$ORRERY" platform -n $n --topology crossbar -o "$TMPDIR/$n.xml" > "$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; exit 1; }
done
for model in maxmin share queue; do
	predict 16 "cholesky 16 $model" --network $model -- "$examples/cholesky/cholesky.sim" -nt 16 -b 320
	predict 64 "stencil 64 $model" --network $model -- "$examples/stencil/stencil.sim" -nx 16 -ny 16 -b 128 --niter 10
	predict 64 "ring 64 $model" --network $model -- "$examples/ring/ring.sim" --no-check
	predict 64 "broadcast 64, 16 KiB, $model" --network $model -- "$traffic" broadcast 16 8
	predict 64 "broadcast 64, 800 KiB, $model" --network $model -- "$traffic" broadcast 800 8
done
predict 64 "cholesky 64 share" --network share -- "$examples/cholesky/cholesky.sim" -nt 32 -b 960
predict 16 "cholesky 16 smpi" --network smpi -- "$examples/cholesky/cholesky.sim" -nt 8 -b 320
predict 16 "random 16, 800 KiB, maxmin" --network maxmin -- "$traffic" random 800 16
predict 64 "ring of MPI 64" --network share -- "$examples/ring_mpi/ring_mpi.sim"
predict 16 "cholesky 16 background" --network maxmin --background-load 30 -- "$examples/cholesky/cholesky.sim" -nt 16 -b 320

awk -F';' -v other="${ORR_BENCH_OTHER:-}" '
BEGIN {
	while (other != "" && (getline line < other) > 0) {
		split(line, f, ";")
		first[f[1]] = f[2]; sent[f[1]] = f[3]; wall[f[1]] = f[4]; mb[f[1]] = f[5]
	}
	printf "%-32s %14s %14s %9s %9s %15s %15s\n", "simulation", "other s", "this s", "% off", "messages", "other s, MB", "this s, MB"
}
{
	off = "-"; same = "-"
	if (other != "" && first[$1] > 0) {
		off = sprintf("%+.4f", 100 * ($2 / first[$1] - 1))
		same = sent[$1] == $3 ? "same" : "OTHERS"
	}
	if ($2 == "refused") off = same = "-"
	else if ($2 == "failed" || (other != "" && (off == "-" || off + 0 > 0.1 || off + 0 < -0.1 || same != "same"))) bad++
	printf "%-32s %14s %14s %9s %9s %15s %15s\n", $1, first[$1], $2, off, same, wall[$1] " " mb[$1], $4 " " $5
}
END {
	if (other != "") printf "%d simulations, %d of them differ by more than 0.1 %% or in their messages\n", NR, bad
	exit bad > 0
}' "$results"
