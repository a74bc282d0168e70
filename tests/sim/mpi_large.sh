#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The program's own MPI in a simulation: each call with more bytes than SMPI counts is refused by its
# name, and no other one is.
# orr-test: timeout 120
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "no simulated world"
program=$ORR_TEST_BUILDDIR/tests/sim/mpi_large.sim

ok "$ORRERY" sim -n 2 "$program"
call=0
for name in Send Isend Recv Irecv Sendrecv Send_init Bcast Allreduce Gather Gatherv Scatter Scatterv \
	Allgather Alltoall Alltoallv Alltoallw Reduce_scatter Ibcast Type_contiguous Type_vector Type_vector \
	Type_create_hvector Type_indexed Type_create_hindexed Type_create_struct Type_create_subarray; do
	fails 1 "MPI_$name with [0-9]+ bytes: the messages and datatypes" "$ORRERY" sim -n 2 "$program" $call
	call=$((call + 1))
done
[ $call = 26 ] || die "$call calls were tried"
