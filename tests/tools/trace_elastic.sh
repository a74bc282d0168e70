#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Traces of runs that grow, shrink and grow again, in both worlds: several processes have the same rank one after
# the other, processes change their ranks, and messages are numbered anew each time. All forms of a trace have the
# same tasks and messages, each of them with its begin and its end, and the path is recorded from one end to the other.
# orr-test: timeout 180
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"${PYTHON:-python3}" -c 'import sqlite3' 2> err || skip "no sqlite3"

program=$ORR_TEST_BUILDDIR/tests/elastic/follow
STARPU_NCPU=1 FOLLOW_PAUSE_US=1000
export STARPU_NCPU FOLLOW_PAUSE_US

check() { ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_elastic.py" "$@"; cat out; }

# forms FILE PROCESSES ERAS: what all forms of a trace have
forms() {
	ok "$ORRERY" trace "$1" --info
	cp out info
	ok "$ORRERY" trace "$1" --text -o text
	ok "$ORRERY" trace "$1" --csv -o csv
	ok "$ORRERY" trace "$1" --sqlite -o run.db
	check tables info text csv run.db "$2" "$3"
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
}

if [ "$ORR_TEST_SIM" = yes ]; then
	printf 'at 0.02 grow 1\nat 0.15 shrink 2\nat 0.2 grow 2\n' > script
	ok "$ORRERY" sim -n 2 --elastic --max 3 --scenario script --trace s "$program.sim" 5 2 3 1 3
	forms s 5 4
	# Hosts are taken back whose ranks are not the last ones: processes change their ranks.
	printf 'at 0.01 leave node-1\nat 0.02 leave node-0\nat 0.03 grow 1\n' > hosts
	ok "$ORRERY" sim -n 4 --elastic --max 5 --scenario hosts --trace h "$program.sim" 5 4 3 2 3
	forms h 5 4
	# A trace with a limit has sums of all.
	ok env ORRERY_TRACE_LIMIT=256K "$ORRERY" sim -n 2 --elastic --max 3 --scenario script --trace l "$program.sim" 5 2 3 1 3
	ok "$ORRERY" explain l
	ok "$ORRERY" trace l --sqlite -o run.db
fi
[ "$ORR_TEST_MPI" = yes ] || exit 0
printf 'at 0.01 grow 1\nat 0.01 shrink 1\nat 0.01 grow 1\n' > again
ok "$ORRERY" run -n 2 --elastic --max 4 --oversubscribe --manager script:again --trace r "$program" 5 2 3 2 3
forms r 4 4
exit 0
