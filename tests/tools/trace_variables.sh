#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# STARPU_FXT_TRACE and its relatives: where the trace goes, that ORRERY_TRACE wins, and that
# STARPU_GENERATE_TRACE has it converted by the last process, or says what is wrong.
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps
mkdir fxt
export STARPU_FXT_TRACE=1 STARPU_FXT_PREFIX="$PWD/fxt" USER=nobody
# variables COMMAND...: on 3 ranks, in one world
variables() {
	ok "$@"
	ok "$ORRERY" trace fxt/prof_file_nobody_0
	has out '^ranks +3$'
	has out '^ +start +30$'
	has out 'whole$'
	ok env STARPU_FXT_SUFFIX=mine STARPU_FXT_PREFIX="$PWD/fxt/" "$@"
	ok "$ORRERY" trace fxt/mine
	rm -f fxt/*
	ok env ORRERY_TRACE="$PWD/wins" "$@"
	ok "$ORRERY" trace wins
	[ -z "$(ls fxt)" ] || die "ORRERY_TRACE does not win"
	ok env STARPU_FXT_TRACE=0 "$@"
	[ -z "$(ls fxt)" ] || die "STARPU_FXT_TRACE=0 records"
	# Converted at the end.
	rm -rf made
	ok env PATH="$ORR_TEST_BUILDDIR:$PATH" STARPU_GENERATE_TRACE=1 STARPU_GENERATE_TRACE_OPTIONS="-d $PWD/made -number-events" "$@"
	[ "$(grep -c '^JobId: ' made/tasks.rec)" = 30 ] || die "tasks.rec has not 30 tasks"
	[ -s made/paje.trace ] && [ -s made/number_events.data ] || die "STARPU_GENERATE_TRACE_OPTIONS"
	# What cannot be converted stays, and is told.
	env PATH="$ORR_TEST_BUILDDIR:$PATH" STARPU_GENERATE_TRACE=1 STARPU_GENERATE_TRACE_OPTIONS=-magic "$@" > out 2> err && die "no error"
	has err 'unknown option -magic'
	has err 'STARPU_GENERATE_TRACE: starpu_fxt_tool ended with status 2; the trace .* is as it was'
	ok "$ORRERY" trace fxt/prof_file_nobody_0
	has out 'whole$'
	mkdir -p empty
	cat > empty/starpu_fxt_tool <<'END'
#!/nowhere
END
	chmod +x empty/starpu_fxt_tool
	env PATH="$PWD/empty:$PATH" STARPU_GENERATE_TRACE=1 "$@" > out 2> err && die "no error"
	has err 'STARPU_GENERATE_TRACE: starpu_fxt_tool (cannot be started: No such file|ended with status 127)'
	rm -f fxt/*
}
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then variables "$ORRERY" sim -n 3 "$tasks.sim"; fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then variables "$ORRERY" run -n 3 "$tasks"; fi
export STARPU_FXT_SUFFIX=a/b
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	"$ORRERY" run -n 1 "$tasks" > out 2> err && die "a name with a slash"
	has err 'STARPU_FXT_SUFFIX has the value "a/b"'
fi
exit 0
