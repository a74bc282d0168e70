#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery sim --repeat`: its runs are those of --seed, its summary is computed
# again here, its output does not depend on --jobs, and failures are named.
# orr-test: world sim
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/variability.sim
STARPU_SILENT=1
export STARPU_SILENT

# repeat OPTIONS: of 20 tasks on each of 2 nodes.
repeat() { ok "$ORRERY" sim -n 2 --noise-default 25 --speed-spread 5 "$@" "$program" kernels 20; }
makespan() { sed -n 's/.*"makespan_s": \([0-9.]*\),.*/\1/p' "$1"; }

repeat --repeat 9 --seed 5 --report all.csv
cp out first
if grep -q '[0-9] [0-9] ' out; then die "the programs' output is shown"; fi
has all.csv '^seed,status,makespan_s,tasks,messages,bytes$'
[ "$(cut -d , -f 1 all.csv | tail -n +2 | tr '\n' ' ')" = "5 6 7 8 9 10 11 12 13 " ] || die "the seeds are not 5 to 13"
for seed in 5 9 13; do
	repeat --seed $seed --report one.json
	has all.csv "^$seed,0,$(makespan one.json),40,0,0\$"
done
ok "$ORRERY" sim -n 2 --report one.json "$program" kernels 20
has first "^  without variability +$(makespan one.json)$"

# The summary: order statistics of 9 values are some of them; mean and deviation by awk.
value() { sed -n "s/^  $1 *\([0-9.]*\).*/\1/p" "$2"; }
tail -n +2 all.csv | cut -d , -f 3 | sort -n > sorted
nth() { sed -n "$1p" sorted | awk '{ printf "%.9f\n", $1 }'; }
check() { [ "$(value "$1" first)" = "$2" ] || { cat first sorted; die "$1 is $(value "$1" first), not $2"; }; }
check minimum "$(nth 1)"
check "first quartile" "$(nth 3)"
check median "$(nth 5)"
check "third quartile" "$(nth 7)"
check maximum "$(nth 9)"
check mean "$(awk '{ s += $1 } END { printf "%.9f", s / NR }' sorted)"
check "standard deviation" "$(awk '{ x[NR] = $1; s += $1 } END { m = s / NR; for (i in x) q += (x[i] - m) ^ 2; printf "%.9f", sqrt(q / (NR - 1)) }' sorted)"

# Between values when they do not divide: 4 runs, quartiles at 1.75 and 3.25.
repeat --repeat 4 --seed 5 --report four.json
"${PYTHON:-python3}" - << 'P' || die "the JSON report does not say what the runs say"
import json, statistics
r = json.load(open("four.json"))
v = [x["makespan_s"] for x in r["runs"]]
q = statistics.quantiles(v, n=4, method="inclusive")
s = r["makespan_s"]
want = {"min": min(v), "quartile1": q[0], "median": q[1], "quartile3": q[2], "max": max(v), "mean": statistics.fmean(v), "deviation": statistics.stdev(v)}
assert set(s) == set(want) and all(abs(s[k] - want[k]) < 1e-12 for k in want), (s, want)
assert [x["seed"] for x in r["runs"]] == [5, 6, 7, 8] and all(x["status"] == 0 for x in r["runs"]), r["runs"]
assert len(set(v)) == 4 and r["options"]["--noise-default"] == "25" and r["arguments"] == ["kernels", "20"], r
P

# The same bytes, however many at a time.
repeat --repeat 9 --seed 5 --jobs 3 --report again.csv
cmp -s out first || die "--jobs changes the summary"
cmp -s all.csv again.csv || die "--jobs changes the report"

# Nothing varies: said. One run: no deviation.
ok "$ORRERY" sim -n 2 --repeat 2 "$program" kernels 5
has err 'all runs are the same'
has out 'standard deviation +0.000000'
ok "$ORRERY" sim -n 2 --noise --repeat 1 "$program" kernels 5
ok env ORRERY_TRACE=t.log "$ORRERY" sim --repeat 1 "$program" kernels 5
has err 'ORRERY_TRACE is ignored'
[ ! -e t.log ] || die "a trace was written"

# Failures: the seed, the status, what it said; the others count.
fails 1 'seed 3 ended with status 1: .*nothing can advance' "$ORRERY" sim -n 2 --seed 3 --repeat 2 "$program" stall
has err 'seed 4 ended'
fails 77 'the run without variability ended with status 77' "$ORRERY" sim -n 2 --repeat 1 --report f.csv "$program"
has f.csv '^0,77,,,,$'
ok "$ORRERY" sim -n 2 --noise=2 --repeat 2 --show "$program" kernels
has out 'noise=2 --seed 0 .*kernels$'
has out 'noise=2 --seed 1 .*kernels$'
echo "all is as it should be"
