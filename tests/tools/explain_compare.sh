#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain A B`: the differences add up to that of the makespans; what was made slow on purpose
# comes first, and nothing of two runs that are the same; the verdict on a simulated run against a real
# one, on runs whose answer is known; real runs; files that were cut short.
# orr-test: timeout 180
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

cases=$ORR_TEST_BUILDDIR/tests/mpi/explain_cases
# adds_up A B: and the makespans are those that explain says of each
adds_up() {
	ok "$ORRERY" explain --json "$1"
	cp out one
	ok "$ORRERY" explain --json "$2"
	cp out other
	ok "$ORRERY" explain --json "$1" "$2"
	cp out both
	"${PYTHON:-python3}" -c '
import json
one, other, both = (json.load(open(name)) for name in ("one", "other", "both"))
d = other["makespan_seconds"] - one["makespan_seconds"]
for what in (both["difference_seconds"], sum(p["seconds"] for p in both["path"])):
    assert abs(what - d) < 1e-8, (what, d)
assert both["a"]["makespan_seconds"] == one["makespan_seconds"] and both["b"]["tasks"] == other["tasks"]
sizes = [abs(p["seconds"]) for p in both["path"]]
assert sizes == sorted(sizes, reverse=True)
for side, whole in (("a", one), ("b", other)):
    parts = {(p["kind"], p["name"]): p["seconds"] for p in whole["path"]}
    for p in both["path"]:
        assert abs(p[side + "_seconds"] - parts.get((p["kind"], p["name"]), 0)) < 1e-8, p
' || { cat both; die "the differences of $1 and $2 do not add up"; }
}

# first KIND NAME RANK A B: what explains the difference first
first() {
	adds_up "$4" "$5"
	got=$("${PYTHON:-python3}" -c 'import json
p = json.load(open("both"))["path"][0]
print(p["kind"], p["name"] or "-", p["rank"])')
	[ "$got" = "$1 $2 $3" ] || { "$ORRERY" explain "$4" "$5"; die "'$got' comes first, not '$1 $2 $3'"; }
}

# real FROM TO: the same trace, which says that it is of a real run
real() { "${PYTHON:-python3}" -c '
import struct, sys, zlib
data = bytearray(open(sys.argv[1], "rb").read())
flags, = struct.unpack_from("=I", data, 20)
struct.pack_into("=I", data, 20, flags & ~1)
struct.pack_into("=I", data, len(data) - 4, zlib.crc32(data[:4096]))
open(sys.argv[2], "wb").write(data)' "$1" "$2"; }

# verdict WORD A B
verdict() {
	ok "$ORRERY" explain --json "$2" "$3"
	has out "\"verdict\": \"$1\""
	ok "$ORRERY" explain "$2" "$3"
	has out '^Simulated against real:$'
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	for kind in healthy slow-kernel slow-rank late big; do
		ok "$ORRERY" sim -n 4 --trace $kind "$cases.sim" $kind
	done
	"$ORRERY" platform -n 4 --bandwidth 100MBps -o slow.xml > out
	ok "$ORRERY" sim --platform slow.xml -n 4 --trace big-slow "$cases.sim" big
	first kernel take None healthy slow-kernel
	ok "$ORRERY" explain healthy slow-kernel
	has out '^B takes 0\.[0-9]+ s longer than A, \+4[0-9][0-9]\.[0-9] %$'
	has out '^ +\+0\.18[0-9]+ s  kernel take: '
	has out '^ +\+0\.7[0-9]+ s  take: 80 of 0\.0010'
	if grep -q 'make: 80' out; then die "a kernel that is the same is mentioned"; fi
	ok "$ORRERY" explain slow-kernel healthy
	has out '^B takes 0\.[0-9]+ s less than A, -8[0-9]\.[0-9] %$'
	first kernel make 2 healthy slow-rank
	ok "$ORRERY" explain healthy slow-rank
	grep -A1 '^Ranks' out | grep -q 'rank 2:' || die "the slow rank is not the first one"
	first program - None healthy late
	adds_up big big-slow
	has both '"kind": "transfer"'
	"${PYTHON:-python3}" -c 'import json
assert json.load(open("both"))["path"][0]["kind"] in ("transfer", "sending", "latency")' || die "the slow network does not come first"
	ok "$ORRERY" explain big big-slow
	has out '^Messages, by the time that they were under way:$'
	# Policy against policy.
	for policy in eager random; do
		ok env STARPU_SCHED=$policy "$ORRERY" sim -n 4 --kernels skip --trace $policy "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 10
	done
	adds_up eager random
	# The same: nothing.
	adds_up healthy healthy
	ok "$ORRERY" explain healthy healthy
	has out '^  nothing$'
	[ "$(grep -c 'none differs' out)" = 2 ] || die "something differs between a run and itself"
	if grep -q 'Simulated against real' out; then die "a verdict on two simulated runs"; fi
	# Other work.
	ok "$ORRERY" sim -n 2 --trace two "$cases.sim"
	ok "$ORRERY" explain healthy two
	has out 'not the same work: A has 4 ranks, B has 2'
	# Verdicts.
	real healthy as-real
	verdict good healthy as-real
	verdict good as-real healthy
	verdict poor slow-kernel as-real
	verdict none two as-real
	head -c $(($(wc -c < as-real) / 2)) as-real > cut
	ok "$ORRERY" explain --json healthy cut
	has out '"verdict": "none"'
	ok "$ORRERY" explain healthy cut
	has out '^cut: the file was cut short.* true up to there$'
fi
"${PYTHON:-python3}" -B -c 'import sys
sys.path.insert(0, sys.argv[1])
from orrery_drift import judge
assert judge(0.05, 0.05) == judge(-0.1, 0.1) == "good"
# The sum is right because errors cancel.
assert judge(0.0, 0.2) == judge(0.2, 0.0) == judge(-0.3, 0) == "fair" and judge(0.0, 0.4) == judge(-0.5, 0) == "poor"' \
	"$ORR_TEST_SRCDIR/tools" || die "limits of the verdict"
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace r1 "$ORR_TEST_BUILDDIR/tests/mpi/trace_steps"
	ok "$ORRERY" run -n 3 --trace r2 "$ORR_TEST_BUILDDIR/tests/mpi/trace_steps"
	adds_up r1 r2
	# Three workers on one core.
	core=$("${PYTHON:-python3}" -c 'import os; print(min(os.sched_getaffinity(0)))')
	busy=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky
	ok taskset -c "$core" env STARPU_NCPU=3 STARPU_WORKERS_NOBIND=1 "$ORRERY" run --quiet --trace full "$busy" -nt 24
	if [ -e /proc/self/schedstat ]; then
		waits='had to wait for cores: its threads for [0-9.]+ s in all, as much as [0-9]+ % of the time of its workers'
		ok "$ORRERY" explain full
		has out "^  the run $waits.* the times above include that$"
		ok "$ORRERY" explain r1 full
		has out "^  B $waits"
		if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
			ok env STARPU_NCPU=3 "$ORRERY" sim --quiet --kernels run --trace quiet "$busy.sim" -nt 24
			ok "$ORRERY" explain quiet full
			has out '% off.*; the real run had to wait for cores, which no simulation knows of: record one when the machine is quiet$'
			ok "$ORRERY" explain quiet
			if grep 'wait for cores' out; then die "a simulated run waited for cores"; fi
		fi
	fi
	if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
		ok "$ORRERY" sim -n 3 --trace s "$ORR_TEST_BUILDDIR/tests/mpi/trace_steps.sim"
		adds_up s r1
		ok "$ORRERY" explain s r1
		has out '^  the simulated makespan is [+-][0-9.]+ % off(; errors of [0-9.]+ % cancel each other out)?(; the real run had to wait for cores, .*)?$'
		has out '^  (The prediction |No verdict)'
	fi
fi
fails 2 'one run, or two to compare' "$ORRERY" explain a b c
