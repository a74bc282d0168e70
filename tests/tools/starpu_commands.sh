#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Commands on traces by the names that users of StarPU have in their scripts: what they print is what the tables have,
# of a trace and of a Paje file alike; those that cannot be had refuse, and say what to use instead.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"${PYTHON:-python3}" -c 'import sqlite3' 2> err || skip "no sqlite3"
bin=$ORR_TEST_BUILDDIR
for tool in starpu_codelet_histo_profile starpu_workers_activity starpu_paje_state_stats starpu_paje_summary starpu_paje_draw_histogram \
	starpu_send_recv_data_use.py starpu_fxt_number_events_to_names.py starpu_tasks_rec_complete starpu_perfmodel_recdump starpu_lp2paje; do
	ok "$bin/$tool" --help
	has out "^usage: $tool "
	ok "$bin/$tool" --version
	has out "^$tool "
done
check() { ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/starpu_commands.py" "$@"; }

# commands TRACE
commands() {
	ok "$ORRERY" trace "$1" --sqlite -o run.db
	ok "$bin/starpu_fxt_tool" -i "$1" -d files -number-events
	ok "$bin/starpu_paje_state_stats" "$1" files/paje.trace
	cp out stats.csv
	check states run.db stats.csv
	ok "$bin/starpu_paje_summary" "$1" files/paje.trace
	cmp out stats.csv || die "starpu_paje_summary"
	ok "$bin/starpu_paje_draw_histogram" -v files/paje.trace
	cp out text
	check histogram run.db text
	ok "$bin/starpu_codelet_histo_profile" "$1"
	cp out text
	check histogram run.db text
	ok "$bin/starpu_workers_activity" "$1"
	cp out activity.csv
	check activity run.db activity.csv
	ok "$bin/starpu_workers_activity" -d folder "$1"
	cmp folder/activity.csv activity.csv || die "-d"
	ok "$bin/starpu_send_recv_data_use.py" "$1"
	cp out use.csv
	check use run.db use.csv
	ok "$bin/starpu_fxt_number_events_to_names.py" files/number_events.data
	[ "$(awk '{ print $2, $1 }' out | tr ' ' '\t')" = "$(cat files/number_events.data)" ] || die "names of events"
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 16 --kernels skip --trace a "$bin/examples/cholesky/cholesky.sim" -nt 12
	commands a
	ok "$ORRERY" sim -n 3 --trace a "$bin/tests/mpi/trace_steps.sim"
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace a "$bin/tests/mpi/trace_steps"
	commands a
fi

# Options, and what is no file of theirs.
ok "$bin/starpu_fxt_tool" -i a -d files -number-events
ok "$bin/starpu_paje_state_stats" -n chain -r -1:100000 a
has out '^"a","chain",30,'
fails 1 'a has no such state' "$bin/starpu_paje_state_stats" -n gone a
fails 1 'has no such state' "$bin/starpu_paje_state_stats" -r 100000:-1 files/paje.trace
fails 2 'give two times with a colon' "$bin/starpu_paje_state_stats" -r 5 a
fails 2 '-n needs a value' "$bin/starpu_paje_state_stats" a -n
fails 2 'unknown option -magic' "$bin/starpu_paje_draw_histogram" -magic a
fails 2 'or a file in Paje' "$bin/starpu_paje_summary"
fails 1 'No such file' "$bin/starpu_paje_summary" missing
echo 'no event' > text
fails 1 'text:1: not an event of Paje' "$bin/starpu_paje_summary" text
echo '# nothing' > text
fails 1 'neither a trace of Orrery' "$bin/starpu_paje_summary" text
head -n -3 files/paje.trace > shorter
ok "$bin/starpu_paje_summary" shorter
sed '/^9 /s/State/Magic/' files/paje.trace > text
fails 1 'text:[0-9]*: not an event' "$bin/starpu_paje_summary" text
# States that replace each other, as other writers of the format have them.
cat > text <<'END'
%EventDef PajeSetState 7
% Time date
% Container string
% Type string
% Value string
%EndEventDef
%EventDef PajeDefineEntityValue 8
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
8 E S "two words" "1 0 0"
7 0 c S E
7 2.5 c S other
7 4 c S E
END
ok "$bin/starpu_paje_state_stats" text
[ "$(sed 1d out)" = '"text","two words",1,2.5,2.5,0.0,2.5,2.5
"text","other",1,1.5,1.5,0.0,1.5,1.5' ] || die "states that replace each other: $(cat out)"
fails 1 'it reads traces; give the trace that distrib.data' "$bin/starpu_codelet_histo_profile" distrib.data
fails 1 'it reads traces; give the trace that activity.data' "$bin/starpu_workers_activity" activity.data
fails 2 '-d needs a value' "$bin/starpu_workers_activity" -d
fails 2 'give one trace of Orrery' "$bin/starpu_send_recv_data_use.py" a a
fails 1 'is not a trace' "$bin/starpu_send_recv_data_use.py" text
echo '12 0x5149' > text
fails 1 'text:1: not a line of a file' "$bin/starpu_fxt_number_events_to_names.py" text
fails 1 'orrery trace TRACE --csv' "$bin/starpu_tasks_rec_complete" files/tasks.rec
fails 1 'orrery perfmodel' "$bin/starpu_perfmodel_recdump" files/tasks.rec -o perfmodel.rec
fails 1 'starpu_bound_compute' "$bin/starpu_lp2paje"
