#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A decimal comma of the user (locale.c) changes neither statistics of communication
# nor virtual time.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/locale.sh"
program=$ORR_TEST_BUILDDIR/tests/mpi/locale

# lines FILE...: all lines are as statistics in CSV should be
lines() {
	if grep -E -v -q '^#|^src,|^[0-9]+,[0-9]+,[0-9]+,[0-9]+(,[0-9]+[.][0-9]+){3},[0-9]+,[0-9]+$' "$@"; then cat "$@"; die "statistics with a comma"; fi
}

if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok german env STARPU_MPI_STATS=1 STARPU_MPI_COMM=1 ORRERY_MPI_STATS_FILE="$PWD/real.csv" "$ORRERY" run -n 2 "$program"
	lines real.csv own_0.csv own_1.csv
	pointed err
	has err '^.starpu_comm_stats..0:1.[[:space:]]*[0-9]+[.][0-9]+ B'
fi
[ "${ORR_TEST_SIM:-yes}" = yes ] || exit 0
# The network's own numbers are read by the simulator, some of them when the first message comes.
options="-n 2 --seed 3 --background-load 20.5 --noise=0.5 --cost-message 1.5"
ok "$ORRERY" sim $options --stats stats.csv "$program.sim"
cp out plain
mv stats.csv plain.csv
ok german "$ORRERY" sim $options --stats stats.csv "$program.sim"
cmp plain out || { cat plain out; die "virtual time depends on the locale"; }
lines stats.csv own_0.csv own_1.csv
cmp plain.csv stats.csv || die "statistics depend on the locale"
