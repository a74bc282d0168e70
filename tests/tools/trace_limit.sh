# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Traces with a limit (--trace-limit, ORRERY_TRACE_LIMIT): the file stays within it; the sums of each
# rank are those over the events of the same run without a limit, and the windows have all events;
# `orrery trace`, explain and report say what is missing. A run that is killed while its trace is
# thinned out leaves one that is read. Limits that are too small, or no sizes, are refused.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
stencil=$ORR_TEST_BUILDDIR/examples/stencil/stencil
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky
small="-nx 4 -ny 4 -b 64 --niter 60"
check() { ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/trace_limit.py" "$ORR_TEST_SRCDIR/tools" "$@"; cat out; }

# within FILE BYTES
within() { [ "$(wc -c < "$1")" -le "$2" ] || die "$1 has $(wc -c < "$1") bytes, more than $2"; }

# told FILE: everybody says what is missing
told() {
	ok "$ORRERY" trace "$1"
	has out '^limit +the trace reached its limit: single events are there for .* of every .*; sums are of all events, and exact'
	ok "$ORRERY" explain "$1"
	has out 'the trace reached its limit'
	has out 'of the path is recorded'
}

# killed COMMAND...: in the middle of a trace k with a limit of 1 MiB
killed() {
	rm -f k
	"$@" > log 2>&1 &
	pid=$!
	i=0
	while [ "$(wc -c < k 2> /dev/null || echo 0)" -lt 500000 ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i + 1)); done
	sleep "0.$((delay % 10))"
	delay=$((delay + 3))
	kill -9 $pid 2> /dev/null || die "the run was over: $(cat log)"
	wait $pid 2> /dev/null
	within k 1048576
	check cut k
	ok "$ORRERY" explain k
	has out 'the run was cut short'
}

delay=1
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 16 --kernels skip --trace f "$stencil.sim" $small
	said err | sed 's/; took.*//' | sed -n 1p > with
	for limit in 600K 1M 100M; do
		ok "$ORRERY" sim -n 16 --kernels skip --trace l --trace-limit $limit "$stencil.sim" $small
		said err | sed 's/; took.*//' | sed -n 1p > limited
		cmp with limited || die "virtual times depend on the limit"
		check same f l
		case $limit in
		600K) within l 614400; told l ;;
		1M) within l 1048576; told l ;;
		*) ok "$ORRERY" trace l; if grep -q '^limit' out; then die "nothing is missing"; fi ;;
		esac
	done
	ok "$ORRERY" sim -n 16 --kernels skip --trace f "$cholesky.sim" -nt 24
	ok env ORRERY_TRACE="$PWD/l" ORRERY_TRACE_LIMIT=800K "$ORRERY" sim -n 16 --kernels skip "$cholesky.sim" -nt 24
	within l 819200
	check same f l
	told l
	if "$PYTHON" -c 'import numpy' 2> err && [ -e /usr/share/javascript/d3/d3.min.js ]; then
		ok "$ORRERY" report l -o l.html
		has l.html 'Not all is drawn'
		has l.html 'what is drawn is in the windows: the trace reached its limit'
	fi
	ok "$ORRERY" explain l f
	fails 1 'too small for the sums of 16 processes; give [0-9]+K or more' \
		"$ORRERY" sim -n 16 --trace l --trace-limit 100K "$stencil.sim"
	fails 2 'not a size' "$ORRERY" sim --trace l --trace-limit 1X "$stencil.sim"
	fails 1 'ORRERY_TRACE_LIMIT has the value "12Q": it takes bytes' env ORRERY_TRACE_LIMIT=12Q "$ORRERY" sim --trace l "$stencil.sim"
	fails 2 'add --trace FILE' "$ORRERY" sim --trace-limit 1M "$stencil.sim"
	for round in 1 2 3; do
		killed "$ORRERY" sim -n 16 --kernels skip --trace k --trace-limit 1M "$stencil.sim" -nx 4 -ny 4 -b 64 --niter 1000000
	done
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	# Nothing is missing: the sums are those of the file's own events.
	ok "$ORRERY" run -n 2 --oversubscribe --trace l --trace-limit 100M "$stencil" $small
	check same l l
	ok "$ORRERY" run -n 2 --oversubscribe --trace l --trace-limit 400K "$stencil" $small
	within l 409600
	told l
	ok "$ORRERY" trace l
	has out '^  kernel +update: 960, '
	fails 2 'add --trace FILE' "$ORRERY" run --trace-limit 1M "$stencil"
	killed "$ORRERY" run --trace k --trace-limit 1M "$stencil" -nx 4 -ny 4 -b 64 --niter 1000000
fi
