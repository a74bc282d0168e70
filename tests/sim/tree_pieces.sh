# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A large value flows along a tree in as many pieces as ORRERY_MPI_PIECES allows: with many it takes at most 1.1 times as long as
# the best by hand (tests/mpi/tree_times.c says so), with the number by default longer. A number that cannot be read is refused.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs SimGrid"
times=$ORR_TEST_BUILDDIR/tests/mpi/tree_times.sim

# The time of 8 MiB, in us.
awaited() { sed -n 's/^8192 KiB.*awaited \([0-9]*\).*/\1/p' out; }

for n in 8 64; do
	ok env ORRERY_MPI_PIECES=512 "$ORRERY" sim -n $n --kernels skip --cost-message 0.5 --cost-buffer 0 "$times"
	many=$(awaited)
	ok "$ORRERY" sim -n $n --kernels skip --cost-message 0.5 --cost-buffer 0 "$times"
	few=$(awaited)
	[ "$many" -lt "$few" ] || die "$n nodes: $many us with many pieces, $few us with few"
done
fails 1 ORRERY_MPI_PIECES env ORRERY_MPI_PIECES=few "$ORRERY" sim -n 4 "$times"
