#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace --starpu` and starpu_fxt_tool: tasks.rec, comms.rec, dag.dot and paje.trace have what the
# tables have, read the way StarVZ does (rec2csv, pj_dump); the other commands with names of StarPU's.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

bin=$ORR_TEST_BUILDDIR
for tool in starpu_fxt_tool starpu_fxt_stats starpu_fxt_data_trace starpu_trace_state_stats.py; do
	ok "$bin/$tool" --help
	has out '^usage: '
	ok "$bin/$tool" --version
	has out "^$tool "
done
fails 1 'No such file' "$bin/starpu_fxt_tool" -i missing
fails 1 'No such file' "$bin/starpu_trace_state_stats.py" missing
fails 1 'tasks.rec, with Sizes' "$bin/starpu_fxt_data_trace" missing
tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 64 --kernels skip --trace a "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 24
else
	ok "$ORRERY" run -n 3 --trace a "$tasks"
fi
ok "$bin/starpu_fxt_tool" -i a -d files -number-events -c
has err '^starpu_fxt_tool: -c has no effect'
for file in trace.rec activity.data distrib.data sched_tasks.rec; do
	has err "there is no $file: no public documentation gives its layout; "
	[ ! -e "files/$file" ] || die "$file is written, and refused"
done
has err 'there is no papi.rec: counters of PAPI are not recorded; '
for file in paje.trace tasks.rec comms.rec dag.dot data.rec number_events.data; do
	[ -s files/$file ] || die "there is no $file"
done
ok "$ORRERY" trace a --starpu -o again
for file in paje.trace tasks.rec comms.rec dag.dot data.rec; do
	cmp files/$file again/$file || die "the same trace gives another $file"
done
ok "$bin/starpu_fxt_stats" -i a
has out '^events +[0-9]'
sort -k2 files/number_events.data | awk '{ print $2, $1 }' > got
sed -n '/^events/,$p' out | sed 1d | awk '{ print $1, $2 }' | sort > want
cmp got want || die "number_events.data differs from the numbers of starpu_fxt_stats"
ok "$bin/starpu_fxt_tool" -i a -o other.paje
cmp other.paje files/paje.trace || die "-o"
fails 2 'give one trace of Orrery' "$bin/starpu_fxt_tool" -i a -i a
fails 2 'unknown option -magic' "$bin/starpu_fxt_tool" -magic -i a
ok "$ORRERY" trace a --sqlite -o run.db
ok "$bin/starpu_trace_state_stats.py" a
cp out stats.csv
[ "$(head -n 1 stats.csv)" = '"Name","Count","Type","Duration"' ] || die "starpu_trace_state_stats.py has another head"
if command -v rec2csv > /dev/null; then
	rec2csv files/tasks.rec > tasks.csv || die "rec2csv cannot read tasks.rec"
	rec2csv files/comms.rec > comms.csv || die "rec2csv cannot read comms.rec"
	rec2csv -S Handle files/data.rec > data.csv || die "rec2csv cannot read data.rec"
else
	echo "no rec2csv (Debian: recutils)"
	rm -f tasks.csv comms.csv data.csv
fi
if command -v pj_dump > /dev/null; then
	pj_dump -o -n --user-defined files/paje.trace > paje.csv || die "pj_dump cannot read paje.trace"
else
	echo "no pj_dump (Debian: pajeng)"
	rm -f paje.csv
fi
ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_starpu.py" run.db files stats.csv
cat out

# Iterations, and what -no-counter, -no-events and -no-bus leave out.
marks=$ORR_TEST_BUILDDIR/tests/mpi/trace_marks
iterations() {
	ok "$bin/starpu_fxt_tool" -i m -d marked
	ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_starpu.py" iterations marked/tasks.rec marked/paje.trace
	ok "$bin/starpu_fxt_tool" -i m -d fewer -no-events -no-counter
	if grep -q 'has no effect' err; then die "an option has no effect"; fi
	for kind in 10 13; do
		grep -q "^$kind " marked/paje.trace || die "there is no event $kind"
		if grep -q "^$kind " fewer/paje.trace; then die "an event $kind is still there"; fi
	done
	cmp marked/tasks.rec fewer/tasks.rec || die "-no-events changes tasks.rec"
}
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 2 --trace m "$marks.sim"
	iterations
	ok "$ORRERY" machine quickstart --add cuda:1 --speedup 10 --device-memory 4096 -o gpu
	ok env STARPU_NCPU=1 STARPU_SCHED=dmda "$ORRERY" sim --machine ./gpu -n 1 --trace m "$ORR_TEST_BUILDDIR/tests/mpi/explain_causes.sim" \
		devices bytes=4194304 tasks=16 blocks=16 rounds=3 device=5000
	ok "$bin/starpu_fxt_tool" -i m -d copied
	grep -q '^1[12] .* Copy ' copied/paje.trace || die "there are no copies"
	ok "$bin/starpu_fxt_tool" -i m -d fewer -no-bus
	if grep -q '^1[12] .* Copy ' fewer/paje.trace; then die "-no-bus leaves copies in"; fi
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 2 --trace m "$marks"
	iterations
fi

# The data that each task uses, in both worlds.
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky
worlds=
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 2 --kernels skip --trace c "$cholesky.sim" -nt 6 -b 32
	ok "$ORRERY" trace c --starpu -o simulated
	worlds=simulated
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 2 --trace c "$cholesky" -nt 6 -b 32
	ok "$ORRERY" trace c --starpu -o real
	worlds="$worlds real"
	ok "$ORRERY" trace c --text --kinds uses
	has out ' uses [0-9]+ R:[0-9]+ R:[0-9]+ RW:[0-9]+$'
fi
# shellcheck disable=SC2086
ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_starpu.py" handles $worlds
cat out
