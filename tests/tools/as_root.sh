# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery run` does not answer Open MPI's question to root by itself: an option or a variable does.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs Open MPI"
[ "${ORR_TEST_MPI_LIBRARY-}" != mpich ] || skip "needs Open MPI; MPICH does not ask"
[ "$(id -u)" = 0 ] || skip "needs root"
unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM PRTE_ALLOW_RUN_AS_ROOT PRTE_ALLOW_RUN_AS_ROOT_CONFIRM ORRERY_ALLOW_RUN_AS_ROOT
printf '#!/bin/sh\nexit 5\n' > program
chmod +x program
fails 1 'run as root|as the root user' "$ORRERY" run -n 1 ./program
has err '^orrery run: mpirun refuses root; .orrery run --allow-run-as-root., or ORRERY_ALLOW_RUN_AS_ROOT=1'
fails 2 'ORRERY_ALLOW_RUN_AS_ROOT has the value "banana": it takes 0 or 1' env ORRERY_ALLOW_RUN_AS_ROOT=banana "$ORRERY" run -n 1 ./program
fails 1 'run as root|as the root user' env ORRERY_ALLOW_RUN_AS_ROOT=0 "$ORRERY" run -n 1 ./program
fails 5 '' env ORRERY_ALLOW_RUN_AS_ROOT=1 "$ORRERY" run -n 1 ./program
fails 5 '' "$ORRERY" run --allow-run-as-root -n 1 ./program
if grep -q 'refuses root' err; then die "mpirun has not refused"; fi
ok "$ORRERY" run --help
sed '/^$/,$d' out > usage
has usage '--allow-run-as-root'
exit 0
