#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Settings that ask for something that is not there are not ignored in silence.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
built=$ORR_TEST_BUILDDIR/tests/mpi/empty

# warned COMMAND...
warned() {
	ok env STARPU_MPI_GPUDIRECT=1 "$@"
	has err 'STARPU_MPI_GPUDIRECT=1: this MPI does not reach the memory of GPUs'
	ok "$@"
	if grep GPUDIRECT err; then die "a warning without reason"; fi
}
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then warned "$ORRERY" run -n 2 "$built"; fi
