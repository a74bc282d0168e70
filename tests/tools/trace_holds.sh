# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Messages that something holds back: the trace says what and since when, for each cause; its tables agree with the steps
# of the messages, virtual times do not change, and `orrery explain` names the limit that held most.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
causes=$ORR_TEST_BUILDDIR/tests/mpi/explain_causes
broadcast=$ORR_TEST_BUILDDIR/tests/mpi/broadcast
throttle=$ORR_TEST_BUILDDIR/tests/mpi/mem_throttle
check() { ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/trace_holds.py" "$ORR_TEST_SRCDIR/tools" "$@"; cat out; }

if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" platform -n 8 --latency 1ms -o far.xml
	# held LIMIT CAUSES VARIABLE... -- COMMAND...: one simulation, whose time the trace does not change
	held() {
		limit=$1 named=$2
		shift 2
		ok env "$@"
		said err | sed 's/; took.*//' | sed -n 1p > without
		ok env ORRERY_TRACE="$PWD/t" "$@"
		said err | sed 's/; took.*//' | sed -n 1p > with
		cmp without with || die "virtual times depend on the trace"
		# shellcheck disable=SC2086
		check t "$limit" $named
		ok "$ORRERY" explain t
	}
	sim="$ORRERY sim -n 8 --platform far.xml"
	held 1 number STARPU_MPI_NDETACHED_SEND=1 $sim "$causes.sim" spread bytes=2048 blocks=64 rounds=1
	has out 'messages of rank 0 are ready to leave, and are held: [0-9]+ % of that by the limit on the number of sends under way'
	has out 'raise STARPU_MPI_NDETACHED_SEND, or send larger pieces: about'
	ok "$ORRERY" trace t --text --kinds held
	has out ' held number -1 0 0 begins$'
	has out ' held number -1 0 0 ends$'
	held 10 number X=1 $sim "$causes.sim" spread bytes=2048 blocks=64 rounds=1
	held 0 bytes STARPU_MPI_NDETACHED_SEND=0 STARPU_MPI_NREADY_PROCESS=0 ORRERY_MPI_SEND_MIB=1 STARPU_MPI_COOP_SENDS=0 \
		$sim "$causes.sim" spread bytes=1000000 blocks=64 rounds=1
	has out 'held: [0-9]+ % of that by the limit on the bytes of sends under way'
	has out 'raise ORRERY_MPI_SEND_MIB'
	held 0 turn STARPU_MPI_NDETACHED_SEND=0 STARPU_MPI_NREADY_PROCESS=1 $sim "$causes.sim" spread bytes=2048 blocks=64 rounds=1
	held 0 '' STARPU_MPI_NDETACHED_SEND=0 STARPU_MPI_NREADY_PROCESS=0 $sim "$causes.sim" spread bytes=2048 blocks=64 rounds=1
	if grep -q 'ready to leave, and are held' out; then die "something is held: $(cat out)"; fi
	held 0 others X=1 "$ORRERY" sim -n 16 "$causes.sim" tree bytes=16777216 rounds=1
	held 0 value X=1 "$ORRERY" sim -n 64 --kernels skip "$causes.sim" tree bytes=200000 rounds=5
	# While an engine copies what it sends, it does not see that a send has ended, and others wait a little longer.
	held 0 'order value' X=1 "$ORRERY" sim -n 64 --kernels skip --cost-buffer 0 "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 48
	ok env ORRERY_TRACE="$PWD/t" "$ORRERY" sim -n 4 "$broadcast.sim"
	check t 0 announced
	ok env ORRERY_TRACE="$PWD/t" "$ORRERY" sim -n 2 "$throttle.sim"
	check t 0 memory
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	ok env ORRERY_TRACE="$PWD/t" "$ORRERY" run -n 2 --oversubscribe "$throttle"
	check t 0 memory
	ok env STARPU_MPI_NDETACHED_SEND=1 ORRERY_TRACE="$PWD/t" "$ORRERY" run -n 2 --oversubscribe "$causes" spread bytes=2000000 blocks=64 rounds=1
	check t 1 number
fi
