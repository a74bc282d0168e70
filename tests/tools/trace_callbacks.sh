# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Callbacks of tasks and messages are steps of their own: the trace has each of a microsecond or more, its tables and the
# page of `orrery report` have their times, and `orrery explain` says what they took of the path. Those of workers do
# nothing else meanwhile; virtual times do not change.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
causes=$ORR_TEST_BUILDDIR/tests/mpi/explain_causes
page=
if "$PYTHON" -c 'import numpy' 2> err && [ -e /usr/share/javascript/d3/d3.min.js ]; then page=p.html; fi

# callbacks WHAT=NUMBER,US... -- COMMAND...
callbacks() {
	words=
	while [ "$1" != -- ]; do
		words="$words $1"
		shift
	done
	shift
	ok env ORRERY_TRACE="$PWD/t" "$@"
	if [ -n "$page" ]; then ok "$ORRERY" report t -o p.html; fi
	# shellcheck disable=SC2086
	ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/trace_callbacks.py" "$ORR_TEST_SRCDIR/tools" t "$page" $words
	cat out
	ok "$ORRERY" explain t
}

if [ "$ORR_TEST_SIM" = yes ]; then
	run="$ORRERY sim -n 1 --cpus 2 $causes.sim"
	ok $run pool blocks=8 tasks=64 rounds=1 ends=500 pop=200
	said err | sed 's/; took.*//' | sed -n 1p > without
	callbacks done=64,500 taken=64,200 -- $run pool blocks=8 tasks=64 rounds=1 ends=500 pop=200
	# (The program's output is that of the explanation by now.)
	ok env ORRERY_TRACE="$PWD/t" $run pool blocks=8 tasks=64 rounds=1 ends=500 pop=200
	said err | sed 's/; took.*//' | sed -n 1p > with
	cmp without with || die "virtual times depend on the trace"
	ok "$ORRERY" explain t
	has out '^ +[0-9.]+ % +0.0219[0-9]+ s +callbacks of the program .[0-9]+ times.'
	has out 'callbacks of tasks hold up others, most of all on rank 0'
	has out 'do less in callbacks of tasks: submit a task that does it: at most 0.0219'
	ok "$ORRERY" trace t --text --kinds callbacks
	has out '^[0-9.]+ 0 [01] callback [0-9]+ 500000 done$'
	# Short ones have no event, and none has nothing.
	callbacks -- $run pool blocks=8 tasks=64 rounds=1 ends=0.5
	if grep -q 'callbacks' out; then die "callbacks that took nothing: $(cat out)"; fi
	callbacks message=80,1500 -- "$ORRERY" sim -n 4 "$causes.sim" rounds callback=1500 bytes=65536
	has out 'callbacks keep the progression thread from messages'
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	callbacks done=40,500 taken=40,200 -- "$ORRERY" run -n 1 "$causes" pool blocks=4 tasks=40 rounds=1 ends=500 pop=200
	has out 'callbacks of the program'
	callbacks message=40,1500 -- "$ORRERY" run -n 2 --oversubscribe "$causes" rounds callback=1500
fi
