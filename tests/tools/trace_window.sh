# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `--from` and `--to` of `orrery explain` and `orrery report`: tasks, messages, kernels and the path are those between these
# times; what had begun before begins with the window; users' mistakes are named.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"$PYTHON" -c 'import numpy' 2> err || skip "no numpy"
d3=/usr/share/javascript/d3/d3.min.js

# window TRACE FROM TO
window() {
	ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/trace_window.py" "$ORR_TEST_SRCDIR/tools" "$@"
	cat out
}

# parts TRACE PART...: the whole, and parts of it, "FROM TO" as shares
parts() {
	trace=$1
	shift
	ok "$ORRERY" explain "$trace"
	seconds=$(sed -n '1s/^\([0-9.]*\) s in .*/\1/p' out)
	window "$trace" -1 1000
	for part; do
		from=$(echo "$seconds $part" | awk '{ printf "%.9f", $1 * $2 }')
		to=$(echo "$seconds $part" | awk '{ printf "%.9f", $1 * $3 }')
		window "$trace" "$from" "$to"
		ok "$ORRERY" explain "$trace" --from "$from" --to="$to"
		has out "only what was between [0-9.]+ s and [0-9.]+ s of the run is here"
		[ -e $d3 ] || continue
		ok "$ORRERY" report "$trace" --from "$from" --to "$to" -o part.html
		has part.html 'Only what was between [0-9.]+ s and [0-9.]+ s of the run is here'
	done
	fails 1 'no message between these times' "$ORRERY" explain "$trace" --from 100000
	fails 2 '--from x: give a number of seconds' "$ORRERY" explain "$trace" --from x
	fails 2 '--to nan: give a number of seconds' "$ORRERY" explain "$trace" --to nan
	fails 2 '--to needs a value' "$ORRERY" explain "$trace" --to
	fails 2 'are for one run' "$ORRERY" explain "$trace" "$trace" --to 1
	if [ -e $d3 ]; then
		fails 2 'not for --compare' "$ORRERY" report --compare "$trace" "$trace" --to 1
		fails 1 'no message between these times' "$ORRERY" report "$trace" --from 100000
	fi
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
	ok "$ORRERY" sim -n 16 --kernels skip --trace c "$cholesky" -nt 24
	parts c '0 0.3' '0.3 0.7' '0.5 0.51' '0.7 1'
	ok "$ORRERY" sim -n 16 --kernels skip --trace l --trace-limit 512K "$cholesky" -nt 24
	fails 2 'l reached its limit, and has its own windows' "$ORRERY" explain l --to 1
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 2 --oversubscribe --trace r "$ORR_TEST_BUILDDIR/tests/mpi/explain_causes" rounds make=1000 take=1000
	parts r '0 0.6' '0.3 0.7' '0.7 1'
fi
