#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Traces of runs that grow, shrink and grow again, in both worlds: several processes have the same rank one after
# the other, processes change their ranks, and messages are numbered anew each time. All forms of a trace have the
# same tasks and messages, each of them with its begin and its end, and the path is recorded from one end to the other.
# Changes of the size, processes that join and leave, and checkpoints are told.
# orr-test: timeout 240
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"${PYTHON:-python3}" -c 'import sqlite3' 2> err || skip "no sqlite3"

program=$ORR_TEST_BUILDDIR/tests/elastic/follow
STARPU_NCPU=1 FOLLOW_PAUSE_US=1000
export STARPU_NCPU FOLLOW_PAUSE_US

check() { ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_elastic.py" "$@"; cat out; }

# forms FILE PROCESSES SIZES: what all forms of a trace have
forms() {
	set -- "$1" "$2" $3
	sizes=$(($# - 2))
	ok "$ORRERY" trace "$1" --info
	cp out info
	ok "$ORRERY" trace "$1" --text -o text
	ok "$ORRERY" trace "$1" --csv -o csv
	ok "$ORRERY" trace "$1" --sqlite -o run.db
	check tables info text csv run.db "$2" "$sizes"
	ok "$ORRERY" trace "$1" --paje -o file.paje
	[ ! -s err ] || { cat err; die "the Paje file of $1 lacks something"; }
	check paje text file.paje
	if command -v pj_dump > /dev/null; then
		ok pj_dump -l 9 file.paje
		[ ! -s err ] || { cat err; die "pj_dump complains of the Paje file of $1"; }
	fi
	ok "$ORRERY" trace "$1" --starpu -o starpu
	check starpu text starpu
	ok "$ORRERY" trace "$1" --perfetto -o file.perfetto
	[ ! -s err ] || { cat err; die "the Perfetto file of $1 lacks something"; }
	if command -v protoc > /dev/null; then
		protoc --decode=perfetto.protos.Trace --proto_path="$ORR_TEST_SRCDIR/tests/tools" \
			"$ORR_TEST_SRCDIR/tests/tools/perfetto.proto" < file.perfetto > decoded || die "protoc"
		check perfetto text decoded
	fi
	if "${PYTHON:-python3}" -c 'import otf2' 2> /dev/null && command -v otf2-print > /dev/null; then
		ok "$ORRERY" trace "$1" --otf2 -o archive
		ok otf2-print archive/traces.otf2
		cp out events
		check otf2 text events
	fi
	ok "$ORRERY" explain "$1" --json
	cp out explained
	ok "$ORRERY" explain "$1" "$1" --json
	cp out both
	check explained info text explained both
	if "${PYTHON:-python3}" -c 'import numpy' 2> /dev/null && [ -e /usr/share/javascript/d3/d3.min.js ]; then
		ok "$ORRERY" report "$1" -o page.html
		check report text page.html
	fi
	# The ranks in a window.
	ok "$ORRERY" trace "$1" --csv -o some --ranks 1
	check rank csv some 1
	file=$1
	shift 2
	check sizes text run.db "$@"
	ok "$ORRERY" explain "$file"
	has out '^What changed the run'
}

# saved RUN...: two runs, the second of which goes on from the last checkpoint of the first
saved() {
	rm -rf saved
	"$@" 4 0 die > out 2> err && die "it should have died: $*"
	ok "$ORRERY" trace c --sqlite -o run.db
	check saved run.db 1 4 0
	ok "$@" 2 4 end
	ok "$ORRERY" trace c --text -o text
	ok "$ORRERY" trace c --sqlite -o run.db
	check saved run.db 5 6 4
	[ "$(grep -c ' change checkpoint [56] [0-9]* 8016 4008$' text)" = 6 ] || { grep ' change ' text; die "six parts of checkpoints"; }
	[ "$(grep -c ' change restore 4 [0-9]* 8016 0$' text)" = 3 ] || { grep ' change ' text; die "three ranks that go on"; }
	ok "$ORRERY" explain c --json
	has out '"what": "restore"'
}
export ORRERY_CHECKPOINT_DIR=$PWD/saved ORRERY_CHECKPOINT_ANY_PROGRAM=1

if [ "$ORR_TEST_SIM" = yes ]; then
	printf 'at 0.02 grow 1\nat 0.15 shrink 2\nat 0.2 grow 2\n' > script
	ok "$ORRERY" sim -n 2 --elastic --max 3 --scenario script --trace s "$program.sim" 5 2 3 1 3
	forms s 5 "2 3 1 3"
	# Hosts are taken back whose ranks are not the last ones: processes change their ranks.
	printf 'at 0.01 leave node-1\nat 0.02 leave node-0\nat 0.03 grow 1\n' > hosts
	ok "$ORRERY" sim -n 4 --elastic --max 5 --scenario hosts --trace h "$program.sim" 5 4 3 2 3
	forms h 5 "4 3 2 3"
	# A trace with a limit has sums of all.
	ok env ORRERY_TRACE_LIMIT=256K "$ORRERY" sim -n 2 --elastic --max 3 --scenario script --trace l "$program.sim" 5 2 3 1 3
	ok "$ORRERY" trace l --sqlite -o run.db
	ok "$ORRERY" explain l
	saved "$ORRERY" sim -n 3 --trace c "$ORR_TEST_BUILDDIR/tests/mpi/checkpoint.sim"
	# The page says nothing of what is not there.
	ok "$ORRERY" sim -n 2 --trace n "$ORR_TEST_BUILDDIR/tests/mpi/trace_turns.sim"
	ok "$ORRERY" explain n
	if grep -q 'changed the run' out; then die "nothing has changed this run"; fi
fi
[ "$ORR_TEST_MPI" = yes ] || exit 0
saved "$ORRERY" run -n 3 --oversubscribe --trace c "$ORR_TEST_BUILDDIR/tests/mpi/checkpoint"
printf 'at 0.01 grow 1\nat 0.01 shrink 1\nat 0.01 grow 1\n' > again
ok "$ORRERY" run -n 2 --elastic --max 4 --oversubscribe --manager script:again --trace r "$program" 5 2 3 2 3
forms r 4 "2 3 2 3"
exit 0
