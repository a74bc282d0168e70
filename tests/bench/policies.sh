#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Cholesky on one simulated node under each policy, so that the figures are the same everywhere: the machine h100 (16 cores and a
# GPU) with tiles of 1,920 rows, and laptop8 (8 cores) with tiles of 960. Prints a table of makespans, each as a multiple of the
# shortest one in its column, from which doc/refresh.py makes the picture of doc/schedulers.md. There is no bar but the sense of it:
# where units differ, policies with performance models beat those without.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
program=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
[ -e "$program" ] || { echo "policies: $program is not built"; exit 77; }
policies="eager prio lws ws random dm dmda dmdar dmdas heteroprio modular-eager-prefetching modular-heft modular-heft2"

# Lines "policy column makespan".
for policy in $policies; do
	for column in h100/8 h100/16 h100/32 laptop8/8 laptop8/16 laptop8/32; do
		machine=${column%/*} tiles=${column#*/}
		rows=960
		[ "$machine" != h100 ] || rows=1920
		STARPU_SCHED=$policy "$ORRERY" sim -n 1 --quiet --machine "$machine" --kernels skip --report "$TMPDIR/run.json" \
			"$program" -nt "$tiles" -b $rows > "$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; exit 1; }
		echo "$policy $column $(sed -n 's/.*"makespan_s": *\([0-9.eE+-]*\).*/\1/p' "$TMPDIR/run.json" | head -n 1)"
	done
done > "$TMPDIR/makespans"
echo "Cholesky on one node: makespan over the best, by policy and machine/tiles:"
awk '
	!($1 in row) { row[$1] = ++nrows; policy[nrows] = $1 }
	!($2 in column) { column[$2] = ++ncolumns; name[ncolumns] = $2; best[ncolumns] = $3 }
	{ c = column[$2]; s[row[$1], c] = $3; if ($3 < best[c]) best[c] = $3 }
	END {
		line = "| policy |"; rule = "|---|"
		for (c = 1; c <= ncolumns; c++) { line = line " " name[c] " |"; rule = rule "---|" }
		print line; print rule
		for (r = 1; r <= nrows; r++) {
			line = "| " policy[r] " |"
			for (c = 1; c <= ncolumns; c++) line = line sprintf(" %.2f |", s[r, c] / best[c])
			print line
		}
		bad = s[row["dmdas"], 1] >= s[row["eager"], 1]
		printf "policies: dmdas %.3f s, eager %.3f s on h100 with 8 x 8 tiles%s\n", s[row["dmdas"], 1], s[row["eager"], 1], bad ? ": MISSED" : ""
		exit bad
	}' "$TMPDIR/makespans"
