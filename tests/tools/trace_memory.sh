# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The use of memories over time: the table has it, within the limit; `orrery explain` names a device's memory that was nearly
# full, also of a trace with a limit, and none that had room; the report has a band; recording changes no virtual time.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
app=$ORR_TEST_BUILDDIR/tests/mpi/explain_causes

# rows SELECT ROW
rows() { ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/trace_tables.py" "$ORR_TEST_SRCDIR" rows run.db "$@"; }

# world START...: a device of 32 MB for 16 blocks of 4 MB each, and one that has room for all of them
world() {
	devices="devices bytes=4194304 tasks=16 blocks=16 rounds=3 device=1000"
	# shellcheck disable=SC2086
	{
		ok env STARPU_NCPU=1 STARPU_SCHED=dmda STARPU_LIMIT_CUDA_MEM=32 "$@" $devices
		ok "$ORRERY" trace t --sqlite -o run.db
		rows "SELECT min(limit_bytes), max(limit_bytes), max(used_bytes), max(used_bytes - reusable_bytes) > 30000000, min(at_ns) >= 0
			FROM memory WHERE node = 1" "33554432 33554432 33554432 1 1"
		rows "SELECT count(*) BETWEEN 8 AND 500 FROM memory WHERE node = 1" 1
		ok "$ORRERY" explain t
		has out '^Memory that was nearly full:'
		has out 'memory 1 \(CUDA 0.*\) of rank 0: 33.5544 of 33.5544 MB in use at most, 100 %'
		ok "$ORRERY" explain --json t
		has out '"most_bytes": 33554432'
		if "$PYTHON" -c 'import numpy' 2> err; then
			ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/report.py" "$ORR_TEST_SRCDIR/tools" --same t
			if [ -e /usr/share/javascript/d3/d3.min.js ]; then
				ok "$ORRERY" report t -o t.html
				ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/report.py" "$ORR_TEST_SRCDIR/tools" t.html t
				has t.html '"name":"memory 1 \(CUDA 0[^"]*\)","words":"in use","unit":"MB"'
				has t.html '"name":"ready tasks"'
			fi
		fi
		cp t whole
		ok env STARPU_NCPU=1 STARPU_SCHED=dmda STARPU_LIMIT_CUDA_MEM=32 ORRERY_TRACE_LIMIT=256K "$@" $devices
		ok "$ORRERY" explain t
		has out 'memory 1 \(CUDA 0.*\) of rank 0: 33.5544 of 33.5544 MB in use at most, 100 %'
		ok env STARPU_NCPU=1 STARPU_SCHED=dmda STARPU_LIMIT_CUDA_MEM=128 "$@" $devices
		ok "$ORRERY" explain t
		if grep 'nearly full' out; then die "a memory is named that had room"; fi
	}
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" machine quickstart --add cuda:1 --speedup 10 --device-memory 4096 -o gpu
	world "$ORRERY" sim --machine ./gpu -n 1 --trace t "$app.sim"
	time_of() { sed -n 's/.*: 1 node, \([0-9.]* s of virtual time\).*/\1/p' err; }
	limited="env STARPU_NCPU=1 STARPU_SCHED=dmda STARPU_LIMIT_CUDA_MEM=32 $ORRERY sim --machine ./gpu -n 1"
	# shellcheck disable=SC2086
	{
		ok $limited --trace t "$app.sim" $devices
		recorded=$(time_of)
		ok $limited "$app.sim" $devices
	}
	[ -n "$recorded" ] || die "no virtual time"
	[ "$recorded" = "$(time_of)" ] || die "a trace changes the virtual time: $recorded, $(time_of)"
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	world env ORRERY_FAKE_DEVICES=1 ORRERY_FAKE_COPY_MBS=2000 "$ORRERY" run -n 1 --trace t "$app"
fi
