#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Progression threads and lists of requests in traces of both worlds: a callback of the program of
# 3 ms is booked as one, the message that comes meanwhile is noticed late, requests are in one list at a time from
# their begin to their end, and virtual times do not depend on the recorder.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
turns=$ORR_TEST_BUILDDIR/tests/mpi/trace_turns
"${PYTHON:-python3}" -c 'import sqlite3' 2> err || skip "no sqlite3"

# row SELECT ROW: what the database answers
row() {
	got=$("${PYTHON:-python3}" -c '
import sqlite3, sys
print("\n".join(" ".join(map(str, row)) for row in sqlite3.connect("run.db").execute(sys.argv[1])))' "$1") || die "$1"
	[ "$got" = "$2" ] || die "$1: $got, not $2"
}

# lists FILE: what must be true of every trace of trace_turns
lists() {
	ok "$ORRERY" trace "$1" --sqlite -o run.db
	row "SELECT rank, list, requests FROM lists WHERE list IN ('fetching', 'ready') ORDER BY rank, list" "0 fetching 2
0 ready 2
1 fetching 2"
	row "SELECT count(*) FROM requests r WHERE r.done_ns - r.post_ns !=
		(SELECT sum(until_ns - since_ns) FROM stays s WHERE s.rank = r.rank AND s.request = r.request AND s.list != 'early')" 0
	row "SELECT count(*) FROM requests" 4
	row "SELECT rank FROM progression WHERE callbacks_ns > 2900000" 1
	row "SELECT sum(own), sum(what = 'messages' AND own) > 0 FROM turns WHERE callbacks_ns > 2900000" "1 1"
	row "SELECT count(*) FROM turns WHERE callbacks_ns > length_ns" 0
	row "SELECT count(*) FROM progression WHERE messages_ns + callbacks_ns + tasks_ns + asleep_ns + poll_ns <
		(SELECT value FROM run WHERE name = 'makespan_ns') - 1" 0
}

if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 2 --trace s "$turns.sim"
	sed 's/; took.*//' err > with
	lists s
	row "SELECT rank, callbacks_ns, poll_ns, others_ns FROM progression ORDER BY rank" "0 0 0 0
1 3000000 0 0"
	# The second message was there 1 ms after the first, and was noticed 2 ms late.
	row "SELECT max(arrived_ns - left_ns) / 100000 FROM messages" 20
	ok "$ORRERY" sim -n 2 "$turns.sim"
	sed 's/; took.*//' err > without
	cmp with without || die "virtual times depend on the recorder"
	# The thread executes tasks, too.
	ok env STARPU_MPI_DRIVER_CALL_FREQUENCY=1 "$ORRERY" sim -n 3 --trace w "$ORR_TEST_BUILDDIR/tests/mpi/trace_steps.sim"
	ok "$ORRERY" trace w --sqlite -o run.db
	row "SELECT count(*) > 0, min(length_ns) >= 0 FROM turns WHERE what = 'tasks'" "1 1"
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	ok "$ORRERY" run -n 2 --oversubscribe --trace r "$turns"
	lists r
	ok "$ORRERY" trace r --text --kinds progression
	has out ' engine asleep [0-9]+ 0 0 own'
fi
