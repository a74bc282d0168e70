#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Traces of runs that end in the middle, at random moments: a crash in a kernel, a rank that is killed,
# ^C, all of it killed, a full disk. Each file opens, its sums are right, it has all that the kernels
# noted themselves, and `orrery explain` says where it ends. There are five ways; ORR_ENDS=50 looks at each ten times.
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

moments=${ORR_ENDS:-5}
seed=${ORR_SEED:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')}
look() { "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_ends.py" "$ORRERY" "$1" "$2" "$moments" "$seed" || die "ORR_SEED=$seed"; }
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then look "$ORR_TEST_BUILDDIR/tests/mpi/trace_ends.sim" sim; fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then look "$ORR_TEST_BUILDDIR/tests/mpi/trace_ends" mpi; fi
exit 0
