#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The statistics of a run in which ranks come and leave have all of its messages: both worlds write the same matrix, with the
# lines of ranks that have left, and the clock of those that joined is that of the run.
# orr-test: timeout 60
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world"

program=$ORR_TEST_BUILDDIR/tests/elastic/tasks
STARPU_NCPU=1
export STARPU_NCPU

# The run has 2, 4, 3, 5 and 1 processes; rank 4 is there in the middle only.
see_whole() {
	has "$1" 'orrery stats: nodes=5 '
	cut -d, -f1-4 "$1" | grep -v '^#' > "$1.pairs"
	has "$1.pairs" '^4,0,' # who has left
	has "$1.pairs" '^0,4,'
	joined=$(sed -n 's/^4,0,[0-9]*,[0-9]*,\([0-9.]*\),.*/\1/p' "$1")
	before=$(sed -n 's/^0,1,[0-9]*,[0-9]*,\([0-9.]*\),.*/\1/p' "$1")
	end=$(sed -n 's/^# .*makespan_s=\([0-9.]*\)$/\1/p' "$1")
	awk "BEGIN { exit !($before < $joined && $joined < $end) }" || die "$1: rank 4 begins at $joined of $end s, and rank 0 at $before"
}
ok "$ORRERY" sim -n 2 --elastic --max 5 --stats sim.csv "$program.sim"
messages=$(sed -n 's/.* tasks, \([0-9]*\) messages.*/\1/p' err)
see_whole sim.csv
[ "$(awk -F, 'NR > 1 { n += $4 } END { print n }' sim.csv.pairs)" = "$messages" ] || die "the file has not the $messages messages of the summary"
[ "$ORR_TEST_MPI" = yes ] || exit 0
STARPU_MPI_STATS=1 ORRERY_MPI_STATS_FILE=$PWD/real.csv ok "$ORRERY" run -n 2 --elastic --max 5 "$program"
see_whole real.csv
diff sim.csv.pairs real.csv.pairs || die "the worlds count otherwise"
# what a program prints has those that left, too
bytes=$(sed -n 's/^0,4,\([0-9]*\),.*/\1/p' real.csv)
has err "0:4\].*$bytes\.0* B"
exit 0
