#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# With --kernels skip, memory of the program and of data takes no addresses where they
# are limited: 6 GB of blocks and 2 nodes in 1 GB.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SANITIZER" = no ] || skip "sanitizers take many addresses"
program=$ORR_TEST_BUILDDIR/tests/sim/addresses.sim
ok "$ORRERY" sim -n 2 --kernels skip "$program"
ok sh -c 'ulimit -v 1000000; exec "$@"' sh "$ORRERY" sim -n 2 --kernels skip "$program"
