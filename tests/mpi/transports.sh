#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ORRERY_TRANSPORT: large payloads of all shapes (large.c) and random programs (soak.c) give the same
# data whatever carries them, and with each setting of the engine; the statistics say that
# neighbours really copied.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
large=$ORR_TEST_BUILDDIR/tests/mpi/large soak=$ORR_TEST_BUILDDIR/tests/mpi/soak
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	for network in share smpi; do ok "$ORRERY" sim -n 3 --network $network "$large.sim"; done
fi
[ "${ORR_TEST_MPI:-yes}" = yes ] || exit 0

fails 1 'no transport .pigeon.; the names are shm, ucx, mpi and auto' env ORRERY_TRANSPORT=shm,pigeon OMPI_MCA_orte_abort_print_stack=0 "$ORRERY" run -n 1 "$large"
for transport in mpi shm auto shm,mpi; do
	ok env ORRERY_TRANSPORT=$transport STARPU_MPI_STATS=1 "$ORRERY" run -n 3 "$large"
	cp err large.err
	ok env ORRERY_TRANSPORT=$transport ORR_SOAK_STEPS=60 "$ORRERY" run -n 4 "$soak"
	if grep -q 'may not reach' large.err; then continue; fi
	if [ $transport = mpi ]; then
		if grep 'shm:' large.err; then die "payloads were copied with ORRERY_TRANSPORT=mpi"; fi
	else
		has large.err 'shm: [1-9][0-9]* payloads'
	fi
done
for setting in STARPU_MPI_MEM_THROTTLE=1 ORRERY_MPI_PEDANTIC_ISEND=1 ORRERY_MPI_SEND_MIB=1 STARPU_MPI_DRIVER_CALL_FREQUENCY=2; do
	ok env $setting ORR_SOAK_STEPS=60 "$ORRERY" run -n 3 "$soak"
done
