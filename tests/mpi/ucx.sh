#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ORRERY_TRANSPORT=ucx: programs give the same data over UCX, alone and below copies between
# neighbours, with messages of all kinds and with the layer started again and again. A rank that has
# no UCX is reached over MPI; a build without UCX says what to do.
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "UCX carries messages of the real world"
tests=$ORR_TEST_BUILDDIR/tests/mpi
ORRERY_TRANSPORT=ucx
ORR_SOAK_STEPS=60
export ORRERY_TRANSPORT ORR_SOAK_STEPS
# over N PROGRAM: a real run of N ranks.
over() { ok "$ORRERY" run -n "$1" --oversubscribe "$2"; }

if [ "$ORR_TEST_UCX" != yes ]; then
	fails 1 'built without UCX; name shm or mpi, or configure again' "$ORRERY" run -n 1 "$tests/ring_blocking"
	exit 0
fi

STARPU_MPI_STATS=1 over 3 "$tests/large"
has err '\[2\] ucx: [1-9][0-9]* messages, [1-9][0-9]* B, sent to 2 of 2 ranks'
for test in soak any_source broadcast communicators datatype early_data interfaces issend pack pieces redux_tree restart \
	ring_detached scatter_gather self strided unlock_tag; do
	over 4 "$tests/$test"
done
STARPU_MPI_MEM_THROTTLE=1 over 3 "$tests/soak"
STARPU_MPI_DRIVER_CALL_FREQUENCY=2 over 3 "$tests/soak"

ORRERY_TRANSPORT=ucx,shm STARPU_MPI_STATS=1 over 3 "$tests/large"
has err 'ucx: [1-9][0-9]* messages'
if ! grep -q 'may not reach' err; then has err 'shm: [1-9][0-9]* payloads'; fi
ORRERY_TRANSPORT=ucx,shm over 4 "$tests/soak"

# Debian's MPICH is built on UCX itself, and does not start without a device for it.
[ "${ORR_TEST_MPI_LIBRARY-}" != mpich ] || exit 0

# Rank 1 finds no device for UCX.
cat > one_without <<END
#!/bin/sh
if [ "\$$rank_variable" = 1 ]; then UCX_TLS=nowhere; export UCX_TLS; fi
exec "\$@"
END
chmod +x one_without
for test in large soak restart; do
	printf '#!/bin/sh\nexec ./one_without "%s"\n' "$tests/$test" > program
	chmod +x program
	STARPU_MPI_STATS=1 over 3 ./program
	has err 'UCX does not start \(.*\); MPI carries the messages of rank 1'
	has err 'ucx: [0-9]* messages, [0-9]* B, sent to 1 of 2 ranks'
done
