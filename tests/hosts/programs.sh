#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs on three hosts: a ring, a stencil and a mixture of all kinds of messages, with one rank and with two on
# each, over each transport. Shared memory carries messages inside a host, and none between two.
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 3
examples=$ORR_TEST_BUILDDIR/examples
export STARPU_NCPU=2 STARPU_MPI_STATS=1 ORR_SOAK_STEPS=40

# over TRANSPORT RANKS PROGRAM...: RANKS on each host.
over() {
	transport=$1 each=$2
	shift 2
	options="--host h1:$each,h2:$each,h3:$each --bind-to none -x ORRERY_TRANSPORT -x STARPU_NCPU -x STARPU_MPI_STATS -x ORR_SOAK_STEPS"
	ORRERY_TRANSPORT=$transport ok on h1 timeout 60 "$ORRERY" run -n $((3 * each)) --mpirun "$options" "$@"
	if [ "${each}$transport" = 2shm ]; then cp err shm.err; fi
}

transports="mpi shm"
if [ "$ORR_TEST_UCX" = yes ]; then transports="$transports ucx ucx,shm"; fi
for transport in $transports; do
	for each in 1 2; do
		date +"%T $transport $each"
		over "$transport" $each "$examples/ring/ring"
		over "$transport" $each "$examples/stencil/stencil" --check
		over "$transport" $each "$ORR_TEST_BUILDDIR/tests/mpi/soak"
		case $transport in ucx*) has err 'ucx: [1-9][0-9]* messages' ;; esac
	done
done
exit 0
