#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Trees against no trees, simulated, so that the figures are the same everywhere: one
# datum for all other ranks (broadcast.c), and the Cholesky example, over sizes from
# 4 KiB to 8 MiB and 2 to 64 nodes. Prints two tables with the time with trees as a
# share of the time without, from which doc/refresh.py makes the pictures of doc/mpi.md,
# and the worst of all; the bar is 1.03.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
broadcast=$ORR_TEST_BUILDDIR/tests/bench/broadcast.sim
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
for program in "$broadcast" "$cholesky"; do
	[ -e "$program" ] || { echo "broadcast_trees: $program is not built"; exit 77; }
done
nodes="2 3 4 8 16 32 64"

# Lines "nodes KiB without with", in µs or seconds.
for n in $nodes; do
	"$ORRERY" sim -n "$n" --quiet --kernels skip "$broadcast" 8192 flat awaited > "$TMPDIR/out" || exit 1
	sed -n "s/^broadcast of *\([0-9]*\) KiB.*without trees *\([0-9.]*\) us.*with trees *\([0-9.]*\) us.*/$n \1 \2 \3/p" "$TMPDIR/out"
done > "$TMPDIR/broadcast"

# makespan NODES ROWS COOP
makespan() {
	env STARPU_MPI_COOP_SENDS="$3" "$ORRERY" sim -n "$1" --quiet --kernels skip --report "$TMPDIR/run.json" \
		"$cholesky" -nt 24 -b "$2" > "$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out" >&2; exit 1; }
	sed -n 's/.*"makespan_s": *\([0-9.eE+-]*\).*/\1/p' "$TMPDIR/run.json" | head -n 1
}
# Tiles of rows x rows numbers of 8 bytes.
for n in $nodes; do
	for rows in 24 64 128 256 512 1024; do
		echo "$n $((rows * rows / 128)) $(makespan "$n" $rows 0) $(makespan "$n" $rows 1)"
	done
done > "$TMPDIR/cholesky"

# table WORDS FILE: ratios, sizes down and nodes across.
table() {
	echo "$1:"
	awk '
	!($1 in column) { column[$1] = ++ncolumns; name[ncolumns] = $1 }
	!($2 in row) { row[$2] = ++nrows; size[nrows] = $2 }
	{ ratio[row[$2], column[$1]] = $4 / $3 }
	END {
		line = "| KiB |"; rule = "|---|"
		for (c = 1; c <= ncolumns; c++) { line = line " " name[c] " |"; rule = rule "---|" }
		print line; print rule
		for (r = 1; r <= nrows; r++) {
			line = "| " size[r] " |"
			for (c = 1; c <= ncolumns; c++) line = line sprintf(" %.3f |", ratio[r, c])
			print line
		}
	}' "$2"
}
table "one datum for all other ranks: time with trees / without, by KiB and nodes" "$TMPDIR/broadcast"
table "Cholesky, 24 x 24 tiles: makespan with trees / without, by KiB of a tile and nodes" "$TMPDIR/cholesky"
cat "$TMPDIR/broadcast" "$TMPDIR/cholesky" | awk '
	$4 / $3 > worst { worst = $4 / $3; where = $1 " nodes, " $2 " KiB" }
	END {
		printf "broadcast_trees: worst %.4f (%s; bar 1.03: %s)\n", worst, where, worst <= 1.03 ? "holds" : "MISSED"
		exit worst > 1.03
	}'
