#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The trace of messages (ORRERY_TRACE): what one rank sends to another, the other
# receives, with the same tag and size and not before; ranks are those of the
# program, whatever the communicator; the statistics count the same messages.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

# events KIND: "source destination tag bytes" of all ranks, sorted
events() {
	awk -v kind="$1" '$4 == kind { print (kind == "send" ? $2 " " $5 : $5 " " $2), $6, $7 }' text | sort
}
# traced PROGRAM COMMAND...
traced() {
	name=$1
	shift
	rm -f t s.csv
	ok env ORRERY_TRACE="$PWD/t" "$@"
	ok "$ORRERY" trace t --text -o text
	events send > sent
	events recv > received
	[ -s sent ] || die "$name: no message in the trace"
	cmp sent received || die "$name: sent and received are not the same"
	awk '{ n[$1 "," $2]++; b[$1 "," $2] += $4 } END { for (k in n) print k "," b[k] "," n[k] }' sent | sort > pairs
	grep '^[0-9]' s.csv | cut -d, -f1-4 | sort > counted
	cmp pairs counted || { cat pairs counted; die "$name: the statistics count other messages"; }
	# One message per pair, tag and size here and there: the times of these must follow each other.
	uniq -u sent > once
	awk 'NR == FNR { once[$0]; next }
		$4 == "send" { at[$2 " " $5 " " $6 " " $7] = $1 }
		$4 == "recv" { to[$5 " " $2 " " $6 " " $7] = $1 }
		END { for (k in once) if (to[k] < at[k]) { print k; bad = 1 } exit bad }' once text > early ||
		{ cat early; die "$name: received before it was sent"; }
}

for program in communicators any_source; do
	built=$ORR_TEST_BUILDDIR/tests/mpi/$program
	if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
		traced $program env ORRERY_MPI_STATS_FILE="$PWD/s.csv" "$ORRERY" run -n 4 "$built"
	fi
	if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
		traced $program.sim "$ORRERY" sim -n 4 --stats s.csv "$built.sim"
	fi
done
