#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery sim --bound`: lower bounds of a run whose tasks are known (bound.c), on
# one and on several nodes; the run itself stays as it was.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/bound.sim

# bounds NODES STARTS AREA NODE PATH: in milliseconds.
bounds() {
	ok "$ORRERY" sim -n "$1" --cpus 4 --report plain.json "$program" "$2"
	ok "$ORRERY" sim -n "$1" --cpus 4 --bound --report report.json "$program" "$2"
	has err "lower bounds: area 0[.]0[0-9]* s \(node $4; mean of the nodes 0[.]0[0-9]* s\), critical path 0[.]0[0-9]* s; the run took [0-9.]* times"
	python3 - "$@" <<- 'END' || die "the report is wrong: $(cat report.json)"
	import json, sys
	plain, r = json.load(open("plain.json")), json.load(open("report.json"))
	area, node, path = (float(x) for x in sys.argv[3:6])
	assert abs(r["area_bound_s"] * 1e3 - area) < 1e-6 and r["area_bound_node"] == node
	assert abs(r["path_bound_s"] * 1e3 - path) < 1e-6
	assert r["area_bound_mean_s"] <= r["area_bound_s"]
	assert r["makespan_s"] >= max(r["area_bound_s"], r["path_bound_s"])
	assert r["makespan_s"] == plain["makespan_s"] and "area_bound_s" not in plain
	END
}

# Rank 1 of several has 3 tasks of 1 ms and 20 of 2 ms on 4 cores; 3 laps of 1 ms on each rank.
bounds 4 1 10.75 1 12
bounds 2 1 10.75 1 6
# Work of several starts adds up, paths do not cross them.
bounds 3 2 21.5 1 9
# One rank alone: 3 tasks on 4 cores in a row.
bounds 1 1 0.75 0 3
fails 2 'unknown option --bounds' "$ORRERY" sim --bounds "$program"
