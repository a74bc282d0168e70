#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Counters, callbacks, copies with their reasons, marks and iterations, checkpoints and changes of the size: pj_dump, protoc and
# otf2-print count the same of them as the tables of the trace have, in both worlds.
# orr-test: timeout 240
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"${PYTHON:-python3}" -c 'import sqlite3' 2> err || skip "no sqlite3"
checks=$ORR_TEST_SRCDIR/tests/tools
checked=

# viewers FILE PATTERN: what its tables have is in all formats, and has that pattern in its summary
viewers() {
	ok "$ORRERY" trace "$1" --sqlite -o run.db
	ok "${PYTHON:-python3}" -B -c 'import sqlite3, sys; sys.path.insert(0, sys.argv[1]); import trace_viewers
print(trace_viewers.summary(sqlite3.connect("run.db")))' "$checks"
	cat out
	has out "$2"
	if command -v pj_dump > /dev/null; then
		ok "$ORRERY" trace "$1" --paje -o file.paje
		ok pj_dump -l 9 file.paje
		[ ! -s err ] || { cat err; die "pj_dump complains of the Paje file of $1"; }
		cp out dump
		ok "${PYTHON:-python3}" -B "$checks/trace_paje.py" dump run.db
		checked=yes
	fi
	if command -v protoc > /dev/null; then
		ok "$ORRERY" trace "$1" --perfetto -o file.pftrace
		ok protoc --proto_path="$checks" --decode=perfetto.protos.Trace perfetto.proto < file.pftrace
		cp out decoded
		ok "${PYTHON:-python3}" -B "$checks/trace_perfetto.py" decoded run.db
		checked=yes
	fi
	if command -v otf2-print > /dev/null && "${PYTHON:-python3}" -c 'import otf2' 2> /dev/null; then
		ok "$ORRERY" trace "$1" --otf2 -o archive
		ok otf2-print archive/traces.otf2
		cp out events
		ok otf2-print -G archive/traces.otf2
		cp out definitions
		ok "${PYTHON:-python3}" -B "$checks/trace_otf2.py" events definitions run.db
		checked=yes
	fi
}

programs=$ORR_TEST_BUILDDIR/tests
devices="devices bytes=4194304 tasks=16 blocks=16 rounds=3 device=5000"
export ORRERY_CHECKPOINT_DIR="$PWD/saved" ORRERY_CHECKPOINT_ANY_PROGRAM=1

# checkpoints START...: two runs, the second of which goes on from the last checkpoint of the first
checkpoints() {
	rm -rf saved
	"$@" 4 0 die > out 2> err && die "it should have died: $*"
	viewers c 'changes: .*checkpoint 3'
	ok "$@" 2 4 end
	viewers c 'changes: .*checkpoint 6.*restore 4'
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace m "$programs/mpi/trace_marks.sim"
	viewers m ', 81 marks'
	viewers m 'changes: none'
	ok "$ORRERY" machine quickstart --add cuda:1 --speedup 10 --device-memory 4096 -o gpu
	# shellcheck disable=SC2086
	ok env STARPU_NCPU=1 STARPU_SCHED=dmda STARPU_LIMIT_CUDA_MEM=32 "$ORRERY" sim --machine ./gpu -n 1 --trace d \
		"$programs/mpi/explain_causes.sim" $devices
	viewers d 'copies: .*fetch, .*prefetch'
	viewers d 'copies: .*(eviction|write-back)'
	ok "$ORRERY" sim -n 1 --cpus 2 --trace b "$programs/mpi/explain_causes.sim" pool blocks=8 tasks=64 rounds=1 ends=500 pop=200
	viewers b 'callbacks: done, taken'
	ok "$ORRERY" sim -n 4 --trace b "$programs/mpi/explain_causes.sim" rounds callback=1500 bytes=65536
	viewers b 'callbacks: message'
	checkpoints "$ORRERY" sim -n 3 --trace c "$programs/mpi/checkpoint.sim"
	printf 'at 0.02 grow 1\nat 0.15 shrink 2\nat 0.2 grow 2\n' > script
	ok env STARPU_NCPU=1 FOLLOW_PAUSE_US=1000 "$ORRERY" sim -n 2 --elastic --max 3 --scenario script --trace s \
		"$programs/elastic/follow.sim" 5 2 3 1 3
	viewers s 'changes: joins, leaves, ranks in use .*, size 2 to 3'
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 2 --trace m "$programs/mpi/trace_marks"
	viewers m ', 54 marks'
	# shellcheck disable=SC2086
	ok env STARPU_NCPU=1 STARPU_SCHED=dmda STARPU_LIMIT_CUDA_MEM=32 ORRERY_FAKE_DEVICES=1 ORRERY_FAKE_COPY_MBS=400 \
		"$ORRERY" run -n 1 --trace d "$programs/mpi/explain_causes" $devices
	viewers d 'copies: .*fetch, .*prefetch'
	ok "$ORRERY" run -n 1 --trace b "$programs/mpi/explain_causes" pool blocks=4 tasks=40 rounds=1 ends=500 pop=200
	viewers b 'callbacks: done.*, taken'
	checkpoints "$ORRERY" run -n 3 --oversubscribe --trace c "$programs/mpi/checkpoint"
fi
[ -n "$checked" ] || skip "no reader of a format (Debian: pajeng, protobuf-compiler, otf2-tools with python3-otf2)"
