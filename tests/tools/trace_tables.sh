#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace --csv` and `--sqlite`: both have the tables and columns that the manual describes, with
# the same contents; their sums are those of the events; each question of the manual has an answer;
# windows, ranks, and files that were cut short; other files are left alone.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps
check() { ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_tables.py" "$ORR_TEST_SRCDIR" "$@"; }

# tables FILE [OPTION...]: converts and compares
tables() {
	file=$1
	shift
	rm -rf csv
	ok "$ORRERY" trace "$file" --csv -o csv "$@"
	ok "$ORRERY" trace "$file" --sqlite -o run.db "$@"
	ok "$ORRERY" trace "$file" --text -o text
	check same run.db csv
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace a "$tasks.sim"
	tables a
	check sums run.db text 30 2 28
	check answers run.db 25
	[ "$(wc -l < csv/tasks.csv)" = 31 ] || die "tasks.csv has not one line for each task"
	cp run.db whole.db
	cp -R csv whole
	# The same trace gives the same tables.
	tables a
	diff -r csv whole || die "the same trace gives other tables"
	tables a --ranks 1
	check rows run.db "SELECT count(*), min(rank), max(rank) FROM tasks" "10 1 1"
	tables a --from 0.0045
	check rows run.db "SELECT count(*) BETWEEN 5 AND 10, min(rank), max(rank) FROM tasks" "1 2 2"
	# A program with messages through trees, many ranks.
	ok "$ORRERY" sim -n 64 --kernels skip --trace tree "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 24
	tables tree
	check sums run.db text
	check answers run.db 25
	check rows run.db "SELECT count(*) > 0 FROM messages WHERE relayed" 1
	# Cut short: what is there is right, and it is said.
	fails 137 'ended by signal 9' "$ORRERY" sim -n 3 --trace k "$tasks.sim" killed
	tables k
	check sums run.db text 30 2
	ok "$ORRERY" trace k --csv -o csv
	has err 'the run was cut short.* true up to there'
	for bytes in 4096 5000 20000; do
		head -c $bytes a > cut
		tables cut
		check sums run.db text
	done
	# Other files are left alone.
	echo precious > mine
	fails 1 'mine is there and is no database of orrery trace' "$ORRERY" trace a --sqlite -o mine
	[ "$(cat mine)" = precious ] || die "a file was overwritten"
	fails 1 'mine' "$ORRERY" trace a --csv -o mine
	fails 2 'give -o OUT' "$ORRERY" trace a --csv
	fails 2 '--kinds chooses events' "$ORRERY" trace a --sqlite -o run.db --kinds tasks
	# There is no room.
	if unshare -r -m true 2> /dev/null; then
		mkdir small
		fails 1 'enough room' unshare -r -m sh -c 'mount -t tmpfs -o size=64k none small; "$0" trace tree --sqlite -o small/full' "$ORRERY"
	fi
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace r "$tasks"
	tables r
	check sums run.db text 30 2 28
	check answers run.db 25
fi

# Why copies are made: a device of too small a memory.
copies() {
	ok env STARPU_NCPU=1 STARPU_SCHED=dmda STARPU_LIMIT_CUDA_MEM=32 "$@" \
		devices bytes=4194304 tasks=16 blocks=16 rounds=3 device=5000
	tables d
	for why in "'fetch'" "'prefetch'" "'eviction', 'write-back'"; do
		check rows run.db "SELECT count(*) > 0 FROM copies WHERE why IN ($why)" 1
	done
	check rows run.db "SELECT count(*) FROM copies WHERE why IN ('eviction', 'write-back') AND target != 0 OR why = 'prefetch' AND target = 0" 0
	has text ' copied 1 0 4194304 (eviction|write-back)$'
}
copied=$ORR_TEST_BUILDDIR/tests/mpi/explain_causes
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then copies ORRERY_FAKE_DEVICES=1 ORRERY_FAKE_COPY_MBS=400 "$ORRERY" run --trace d -n 1 "$copied"; fi
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" machine quickstart --add cuda:1 --speedup 10 --device-memory 4096 -o gpu
	copies "$ORRERY" sim --machine ./gpu -n 1 --trace d "$copied.sim"
fi
