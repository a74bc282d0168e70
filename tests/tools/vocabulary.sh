#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Events, causes, lists, turns, changes, states and pieces of the path have the same names in the runtime, in traces and
# their tables, in viewers, in explain, report and top, and in the manual; and the check finds a word that differs.
# orr-test: sanitizer none
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
check() { "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/vocabulary.py" "$1" > out 2>&1; }
check "$ORR_TEST_SRCDIR" || { cat out; die "a word differs"; }
cat out

# differs WORDS FILE EXPRESSION: with the file changed by sed, the check says so
differs() {
	rm -rf copy
	mkdir copy
	for folder in tools doc src; do
		mkdir copy/$folder
		cp -R "$ORR_TEST_SRCDIR/$folder/." copy/$folder
	done
	chmod -R u+w copy
	sed -i "$3" "copy/$2"
	cmp -s "copy/$2" "$ORR_TEST_SRCDIR/$2" && die "nothing has changed in $2: $3"
	if check copy; then die "not found: $3 in $2"; fi
	has out "^vocabulary: $1"
}
differs events src/trace/format.h 's/ORR_TRACE_GRANT/ORR_TRACE_GIVEN/'
differs 'events in the manual' doc/trace-format.md 's/| 13 | grant |/| 13 | granted |/'
differs 'reasons of copies' tools/orrery_tracefile.py 's/"write-back", "prefetch"/"writeback", "prefetch"/'
differs 'turns' tools/orrery_tracefile.py 's/3: "asleep"/3: "sleeping"/'
differs 'the progression' tools/orrery_top.py 's/"poll_pc"/"look_pc"/'
differs 'changes' tools/orrery_changes.py 's/"restore": /"return": /'
differs 'lists' src/mpi/carry/mpi_tell.c 's/\\"flying\\"/\\"under way\\"/'
differs 'lists' tools/orrery_lanes.py 's/"requests posted"/"requests waiting"/'
differs 'lists' tools/orrery_report_lists.py 's/"early": (m/"unexpected": (m/'
differs 'fetching is' tools/orrery_report_data.py 's/"fetching": "fetching data between memory nodes"/"fetching": "waiting for data"/'
differs 'a worker whose data come' src/core/worker/worker_life.c 's/= "fetching"/= "copying"/'
differs 'a worker whose data come' tools/orrery_lanes.py 's/^FETCHING = "fetching"/FETCHING = "data"/'
differs 'pieces of the path' tools/orrery_critical.py 's/"messages: ready to leave, and held"/"messages: kept back"/'
differs 'times of workers' tools/orrery_compare.py 's/"submission", "foreign"/"program", "foreign"/'
