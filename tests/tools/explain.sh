#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain`: the critical path is the longest one of random graphs; its pieces add up to the
# makespan in both worlds; a chain is a chain of kernels; a file that was cut short says so.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps

# adds_up FILE SHARE: the pieces are the makespan, within SHARE; the makespan is what the file says
adds_up() {
	ok "$ORRERY" explain --json "$1"
	cp out json
	ok "$ORRERY" trace "$1"
	"${PYTHON:-python3}" -c '
import json, sys
found = json.load(open("json"))
total = sum(part["seconds"] for part in found["path"])
line = next(line for line in open("out") if line.startswith("time "))
seconds = float(line.split()[1])
for what in (total, found["makespan_seconds"]):
    if abs(what - seconds) > float(sys.argv[1]) * seconds:
        sys.exit("%s: %r is not %r" % (sys.argv[2], what, seconds))
' "$2" "$1" || { cat json; die "the shares of $1 do not add up"; }
}

ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/explain.py" "$ORR_TEST_SRCDIR/tools" 1000

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace a "$tasks.sim"
	adds_up a 0.001
	ok "$ORRERY" explain a
	has out '^ +99\.[0-9] %.* kernel chain \(30 times\)$'
	has out 'messages: latency \(2 times\)$'
	fails 137 'ended by signal 9' "$ORRERY" sim -n 3 --trace k "$tasks.sim" killed
	ok "$ORRERY" explain k
	has out 'the run was cut short: .* true up to there'
	adds_up k 0.001
	head -c 4096 a > empty
	fails 1 'there is nothing to explain' "$ORRERY" explain empty
	fails 2 'one run at a time' "$ORRERY" explain a a
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace r "$tasks"
	adds_up r 0.02
	ok "$ORRERY" explain r
	has out 'kernel chain \(30 times\)$'
	has out 'times are of real clocks'
fi
fails 2 'which run' "$ORRERY" explain
fails 2 'unknown option --magic' "$ORRERY" explain --magic
fails 1 'No such file' "$ORRERY" explain missing
fails 1 'is not a trace' "$ORRERY" explain json
