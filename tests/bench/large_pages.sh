#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The simulator's memory in large pages (`orrery sim` sets the C library's switch), beside the same
# without: seconds of processor time and peak memory of the Cholesky example on 64, 256 and 1,024
# nodes, and of ranks that only start and end. Runs alternate; medians are printed. Where the system gives all
# programs large pages ("always" in /sys/kernel/mm/transparent_hugepage/enabled) the two are equal.
# ORR_BENCH_ROUNDS is the number of runs of each (default 5), ORR_BENCH_NODES the most nodes.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
ring=$ORR_TEST_BUILDDIR/examples/ring/ring.sim
[ -e "$cholesky" ] && [ -e "$ring" ] || { echo "large_pages: the examples are not built"; exit 77; }
rounds=${ORR_BENCH_ROUNDS:-5}
ulimit -v $((500 * 1048576))

# one PAGES FILE COMMAND...: appends "seconds megabytes".
one() (
	pages=$1 file=$2
	shift 2
	GLIBC_TUNABLES=glibc.malloc.hugetlb=$pages timeout "${ORR_BENCH_LIMIT:-300}" "$@" --report "$TMPDIR/run.json" $program > "$TMPDIR/out" 2>&1 ||
		{ tail -n 5 "$TMPDIR/out"; exit 1; }
	times > "$TMPDIR/times"
	rss=$(sed -n 's/.*"peak_rss_bytes": *\([0-9]*\).*/\1/p' "$TMPDIR/run.json")
	awk -v rss="$rss" 'NR == 2 { gsub(/s/, ""); for (i = 1; i <= 2; i++) { split($i, t, "m"); sum += 60 * t[1] + t[2] } printf "%.2f %.0f\n", sum, rss / 1e6 }' \
		"$TMPDIR/times" >> "$file"
)

median() { sort -n "$1" | awk '{ v[NR] = $0 } END { print v[int((NR + 1) / 2)] }'; }

# measure NAME NODES PROGRAM OPTIONS...
measure() {
	name=$1 n=$2 program=$3
	shift 3
	[ "$n" -le "${ORR_BENCH_NODES:-$n}" ] || return 0
	rm -f "$TMPDIR/small" "$TMPDIR/large"
	i=0
	while [ "$i" -lt "$rounds" ]; do
		one 0 "$TMPDIR/small" "$ORRERY" sim -n "$n" --kernels skip "$@" || return 1
		one 1 "$TMPDIR/large" "$ORRERY" sim -n "$n" --kernels skip "$@" || return 1
		i=$((i + 1))
	done
	echo "$(median "$TMPDIR/small") $(median "$TMPDIR/large")" | awk -v name="$name" -v n="$n" \
		'{ printf "large_pages %s, %d nodes: %.2f s and %.0f MB without, %.2f s and %.0f MB with; ratios %.2f and %.2f\n", name, n, $1, $2, $3, $4, $3 / $1, $4 / $2 }'
}

failed=0
echo "large_pages: the system's setting: $(cat /sys/kernel/mm/transparent_hugepage/enabled 2> /dev/null || echo none)"
measure cholesky 64 "$cholesky -nt 64 -b 512" || failed=1
measure cholesky 256 "$cholesky -nt 96 -b 320" || failed=1
measure cholesky 1024 "$cholesky -nt 128 -b 960" --machine quickstart || failed=1
measure ring 4096 "$ring" || failed=1
exit $failed
