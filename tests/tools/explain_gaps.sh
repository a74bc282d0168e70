# SPDX-License-Identifier: LGPL-2.1-or-later
#
# When one worker executes a kernel and all others wait: such gaps of made-up runs are found to the nanosecond, with what
# the critical path had then. `orrery explain` and the table of gaps say so of a chain in either world, and not of a run whose workers work.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/explain_gaps.py" "$ORR_TEST_SRCDIR/tools"
cat out

# chain TRACE WHAT: a chain is a gap, in which the path has mostly that
chain() {
	ok "$ORRERY" explain "$1"
	has out '^At most one of [0-9]+ workers executed a kernel and all others waited for (100\.0|9[0-9]\.[0-9]) % of the time'
	has out "^  [0-9.]+ s to [0-9.]+ s: $2"
	ok "$ORRERY" trace "$1" --csv -o csv
	has csv/gaps.csv '^[0-9]+,[0-9]+,[0-9]+,[a-z]+,'
}
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace s "$ORR_TEST_BUILDDIR/tests/mpi/trace_steps.sim"
	chain s 'kernel chain, rank [0-2]$'
	[ "$(wc -l < csv/gaps.csv)" = 2 ] || die "a simulated chain is not one gap"
	ok "$ORRERY" sim -n 4 --trace h "$ORR_TEST_BUILDDIR/tests/mpi/explain_cases.sim"
	ok "$ORRERY" explain h
	if grep -q 'all others waited' out; then die "workers wait in a run whose workers work"; fi
	ok "$ORRERY" trace h --csv -o csv
	[ "$(wc -l < csv/gaps.csv)" = 1 ] || die "there are gaps in a run whose workers work"
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --oversubscribe --trace r "$ORR_TEST_BUILDDIR/tests/mpi/trace_steps"
	# (On a busy computer, the path may have more of other things.)
	chain r '.'
fi
