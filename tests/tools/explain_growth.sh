# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Lists of requests that grow through the run: `orrery explain` names the list, the rank, and how long it was first and last,
# for messages without a receive and for receives without a message; it says nothing of runs that drain what they submit.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
causes=$ORR_TEST_BUILDDIR/tests/mpi/explain_causes
head='^Lists of requests that grew through the run:$'

# grows LIST COMMAND...: and reports
grows() {
	list=$1
	shift
	ok env ORRERY_TRACE="$PWD/t" "$@"
	ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/explain_growth.py" "$ORR_TEST_SRCDIR/tools" t
	ok "$ORRERY" explain t
	has out "$head"
	has out "^  $list .*, rank 1: [0-9]+ at [0-9.]+ s, [0-9]{3,} at [0-9.]+ s; "
	ok "$ORRERY" explain t --json
	has out "\"list\": \"$list\""
}

# calm COMMAND...: no list grows
calm() {
	ok env ORRERY_TRACE="$PWD/t" "$@"
	ok "$ORRERY" explain t
	if grep -q "$head" out; then die "a list is said to grow: $(cat out)"; fi
	ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/explain_growth.py" "$ORR_TEST_SRCDIR/tools" t
}

if [ "$ORR_TEST_SIM" = yes ]; then
	grows early "$ORRERY" sim -n 2 "$causes.sim" pile rounds=1000 sleep=20
	grows fetching "$ORRERY" sim -n 2 "$causes.sim" pile rounds=1000 sleep=20 ahead=1
	calm "$ORRERY" sim -n 2 "$causes.sim" pile rounds=150 sleep=20
	calm "$ORRERY" sim -n 4 "$causes.sim" rounds rounds=300 make=10 take=10
	calm "$ORRERY" sim -n 4 "$causes.sim" rounds rounds=300 sleep=50 make=100
	calm "$ORRERY" sim -n 8 "$causes.sim" spread blocks=500 rounds=1
	calm "$ORRERY" sim -n 16 --kernels skip "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 24
	# Of a part, and of a trace that reached its limit, nobody knows.
	ok "$ORRERY" sim -n 2 --trace t --trace-window 0..10 "$causes.sim" pile rounds=1000 sleep=20
	ok "$ORRERY" explain t
	if grep -q "$head" out; then die "of a window: $(cat out)"; fi
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	grows early "$ORRERY" run -n 2 --oversubscribe "$causes" pile rounds=1000 sleep=200
	grows fetching "$ORRERY" run -n 2 --oversubscribe "$causes" pile rounds=1000 sleep=200 ahead=1
	calm "$ORRERY" run -n 2 --oversubscribe "$causes" rounds rounds=200 make=100 take=100
fi
