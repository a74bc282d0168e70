#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Collective operations on parts of the ranks are right with each selector of algorithms, and with an
# algorithm that treats ranks of one node apart (parts.c).
# orr-test: world sim
# orr-test: timeout 180
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/parts.sim
for n in 4 7 16 33; do
	ok "$ORRERY" sim --quiet -n $n "$program"
	ok "$ORRERY" sim --quiet -n $n --collectives mpich "$program"
	ok "$ORRERY" sim --quiet -n $n --cfg smpi/coll-selector:mvapich2 "$program"
	ok "$ORRERY" sim --quiet -n $n --cfg smpi/bcast:mvapich2_knomial_intra_node "$program"
done
echo "parts of the ranks are right"
