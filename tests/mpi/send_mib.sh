#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ORRERY_MPI_SEND_MIB limits the bytes that are under way at once (send_mib.c), beside their
# number.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
built=$ORR_TEST_BUILDDIR/tests/mpi/send_mib

# most VARIABLES COMMAND...: at most how many sends of rank 0 were under way at once
most() {
	ok env STARPU_MPI_COMM=1 "$@"
	cat out err | awk '/: start send / { if (++n > m) m = n } /: done send / { n-- } END { print m + 0 }'
}
# check LIMIT WANTED COMMAND...
check() {
	limit=$1 wanted=$2
	shift 2
	got=$(most ORRERY_MPI_SEND_MIB="$limit" "$@") || exit 1
	[ "$got" = "$wanted" ] || { cat out err; die "$got sends under way with $limit MiB, not $wanted"; }
}
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	check 1 1 "$ORRERY" run -n 2 "$built"
fi
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	check 1 1 "$ORRERY" sim -n 2 "$built.sim"
	check 2 2 "$ORRERY" sim -n 2 "$built.sim"
	check 0 4 "$ORRERY" sim -n 2 "$built.sim"
fi
