#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# sim_floor.sh STATS.csv NODES REPORT.json: sends by plain MPI, simulated, the
# messages that a run of that many nodes has counted (`orrery sim --stats`).
# Without arguments (make bench) there is nothing to do: sim_cholesky.sh calls it.
set -u
if [ $# -lt 3 ]; then exit 0; fi
stats=$1 nodes=$2 report=$3
dir=${TMPDIR:-/tmp}/floor.$$
mkdir -p "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
# src,dst,bytes,messages,first_s,last_s: by rank, so that each file is written once.
awk -F, 'NR > 1 && $1 != $2 { print $1, "out", $2, $4, $3, $5, $6; print $2, "in", $1, $4, $3, $5, $6 }' "$stats" | sort -n -k1,1 -s |
	awk -v dir="$dir" '{ if ($1 != last) { if (last != "") close(dir "/" last); last = $1 } print $2, $3, $4, $5, $6, $7 > (dir "/" $1) }'
"$ORRERY" sim -n "$nodes" --report "$report" "$ORR_TEST_BUILDDIR/tests/bench/sim_floor.sim" "$dir" > /dev/null
