#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain`: the critical path is the longest one of random graphs; its pieces add up to the
# makespan in both worlds; a chain is a chain of kernels; a file that was cut short says so. Runs that
# are made slow on purpose have the right cause first, and healthy ones have none.
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
# The largest gain stands first among what would help, a fault before a kernel of the same.
PYTHONPATH=$ORR_TEST_SRCDIR/tools "${PYTHON:-python3}" -B - <<'END' || die "what would help most is not the first"
from orrery_explain import changes
found = {"findings": [{"remedy": "tasks", "seconds": 2, "sure": True}, {"remedy": "links", "seconds": 1, "sure": False}],
         "kernels": [{"name": "k", "seconds": 3, "sure": True}, {"name": "l", "seconds": 2, "sure": True}]}
assert [text.split()[-1] for text, _, _ in changes(found)] == ["fast", "tasks", "fast"] and changes(found)[0][1] == 3, changes(found)
END

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
	fails 2 'one run, or two' "$ORRERY" explain a a a
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	# (On a busy computer, a program may be interrupted between two submissions, which the path has then.)
	for try in 1 2 3; do
		ok "$ORRERY" run -n 3 --trace r "$tasks"
		adds_up r 0.02
		ok "$ORRERY" explain r
		if grep -q 'kernel chain (30 times)$' out; then break; fi
		echo "try $try: the path has other things than the chain"
	done
	has out 'kernel chain \(30 times\)$'
	has out 'times are of real clocks'
fi

# blames CAUSE [OPTIONS] [KIND]: what is said first of a run of that kind; none: nothing is
cases=$ORR_TEST_BUILDDIR/tests/mpi/explain_cases.sim
blames() {
	cause=$1
	shift
	ok "$ORRERY" sim --trace case "$@"
	adds_up case 0.001
	first=$("${PYTHON:-python3}" -c 'import json
print(" ".join([f["cause"] + " " + f["subject"] for f in json.load(open("json"))["findings"]][:1]) or "none")')
	case $first in "$cause"*) ;; *) "$ORRERY" explain case; die "'$first' is named first, not '$cause', of: $*" ;; esac
	if [ "$cause" = none ]; then
		ok "$ORRERY" explain case
		has out '^  nothing$'
	fi
}
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	"$ORRERY" platform -n 4 --bandwidth 100MBps -o slow.xml > out
	"$ORRERY" platform -n 8 --latency 1ms -o far.xml > out
	# The kernel that has the most of the path is the first one to change.
	blames none -n 4 "$cases"
	has json '"name": "(make|take)"'
	blames none -n 8 "$cases" big
	blames none -n 2 "$cases"
	blames none -n 1 "$cases"
	blames none -n 4 "$cases" slow-kernel
	ok "$ORRERY" explain case
	has out '^ +90\.[0-9] %.* kernel take '
	grep -A1 '^What would help most' out | grep -q 'kernel take that is twice as fast' || die "the slow kernel is not named first"
	blames late-submission -n 4 "$cases" late
	blames 'slow-rank rank 2' -n 4 "$cases" slow-rank
	blames 'imbalance rank 1' -n 4 "$cases" imbalance
	blames tiny-tasks -n 4 --cost-complete 100 "$cases" tiny
	blames messages --platform slow.xml -n 4 "$cases" big
	# The runtime's own tasks combine contributions: the path goes on through them.
	blames none -n 1 "$cases" redux
	has json '"name": "combine"'
	has json '"name": "use"'
	# Ranks pass messages on in trees: the path goes through them, and all of it is known.
	ok "$ORRERY" sim -n 64 --kernels skip --trace case "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 48
	adds_up case 0.001
	has json '"kind": "relay"|"kind": "transfer"'
	if grep -q '"kind": "unknown"' json; then "$ORRERY" explain case; die "the path through a tree is not known"; fi
	# The way between nodes 1 and 2 is slower than the others.
	{
		echo '<?xml version="1.0"?>'
		echo '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
		echo '<platform version="4.1"><zone id="z" routing="Full">'
		for i in 0 1 2 3; do echo "<host id=\"h$i\" speed=\"1Gf\"/>"; done
		for pair in 00 11 22 33 01 02 03 12 13 23; do
			bandwidth=10GBps
			[ $pair = 12 ] && bandwidth=200MBps
			echo "<link id=\"l$pair\" bandwidth=\"$bandwidth\" latency=\"1us\"/>"
		done
		for pair in 00 11 22 33 01 02 03 12 13 23; do
			echo "<route src=\"h${pair%?}\" dst=\"h${pair#?}\"><link_ctn id=\"l$pair\"/></route>"
		done
		echo '</zone></platform>'
	} > link.xml
	blames 'slow-link 1 to 2' --platform link.xml -n 4 "$cases" big
	export STARPU_MPI_COOP_SENDS=0
	blames messages --platform far.xml -n 8 "$cases" fan
	export STARPU_MPI_NDETACHED_SEND=1
	blames 'held rank 0' --platform far.xml -n 8 "$cases" fan
	unset STARPU_MPI_NDETACHED_SEND STARPU_MPI_COOP_SENDS
	blames messages --platform far.xml -n 8 "$cases" fan
fi
fails 2 'which run' "$ORRERY" explain
fails 2 'unknown option --magic' "$ORRERY" explain --magic
fails 1 'No such file' "$ORRERY" explain missing
fails 1 'is not a trace' "$ORRERY" explain json
