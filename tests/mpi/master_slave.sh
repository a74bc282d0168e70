#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Settings of the master-slave mode: how many cores the master gives up, how many
# workers slaves have, how many of the ranks are slaves; and the example. The program is not linked
# with the MPI library.
# orr-test: timeout 200
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
pi=$ORR_TEST_BUILDDIR/examples/pi/pi
built=$ORR_TEST_BUILDDIR/tests/core/master_slave

# counts CPUS SLAVES COMMAND...: the master has so many workers of its own and of slaves.
counts() {
	cpus=$1 slaves=$2; shift 2
	ok env "$@"
	has out "the master has ended; it had $cpus CPU workers, and $slaves of slaves"
}
# example COMMAND...: slaves take part in the example.
example() {
	ok "$@" --strips 300 -n 20000
	has out 'by_slaves=[1-9]'
	has out 'check: OK'
}
# all COMMAND...: the same in each world.
all() {
	counts 7 3 STARPU_NMPIMSTHREADS=1 "$@" --master-slave "$program"
	counts 5 6 STARPU_NMPIMSTHREADS=2 STARPU_MPI_MS_MULTIPLE_THREAD=1 "$@" --master-slave "$program"
	counts 7 2 STARPU_NMPI_MS=2 STARPU_NMPIMSTHREADS=1 STARPU_DISABLE_ASYNCHRONOUS_MPI_MS_COPY=1 "$@" "$program"
	counts 2 6 STARPU_NCPU=2 STARPU_NMPIMSTHREADS=2 STARPU_SCHED=dmdar STARPU_MPI_MASTER_NODE=3 "$@" --master-slave "$program"
}
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	program=$built
	if ldd "$ORR_TEST_BUILDDIR/tests/core/master_slave" | grep -q orrery-mpi; then die "the program is linked with MPI"; fi
	example "$ORRERY" run -n 3 --oversubscribe --master-slave "$pi"
	all STARPU_HWLOC_INPUT="numa:1 core:8 pu:1" "$ORRERY" run -n 4 --oversubscribe
fi
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	program=$built.sim
	example "$ORRERY" sim -n 3 --master-slave "$pi.sim"
	all "$ORRERY" sim -n 4 --cpus 8
fi
