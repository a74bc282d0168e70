#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A program that takes its user's locale, with a decimal comma, writes and reads the
# same models, machines, statistics and environment as any other (locale.c).
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/locale.sh"

program=$ORR_TEST_BUILDDIR/tests/core/locale
export STARPU_HOSTNAME=box STARPU_HOME="$PWD"
models=$PWD/.starpu/sampling

# Written with a comma in the program, read in both ways: the same numbers.
ok german env STARPU_CALIBRATE=1 STARPU_SCHED_ALPHA=1.5 STARPU_HISTORY_MAX_ERROR=99999.5 ORRERY_TRACE="$PWD/trace" STARPU_BUS_STATS=1 "$program" measure
cp out said
ok "$ORRERY" trace trace --text -o events
mv said out
pointed out err events "$models/codelets/45/locale_model.box"
has out '^area bound: [0-9]+[.][0-9]+ ms'
has events '^[0-9]+[.][0-9]+ '
ok env STARPU_SCHED_ALPHA=1.5 "$program" read
cp out plain
has plain '^from the environment 1500$'
ok german env STARPU_SCHED_ALPHA=1.5 "$program" read
cmp plain out || die "a model is read in another way"
# What others wrote is learned on.
ok env STARPU_CALIBRATE=1 STARPU_HISTORY_MAX_ERROR=99999.5 "$program" measure
ok german env STARPU_CALIBRATE=1 STARPU_HISTORY_MAX_ERROR=99999.5 "$program" measure
has "$models/codelets/45/locale_model.box" '[[:space:]]72$'
fails 1 'STARPU_SCHED_ALPHA has the value "1,5"' german env STARPU_SCHED_ALPHA=1,5 "$program" read

[ "${ORR_TEST_SIM:-yes}" = yes ] || exit 0
mkdir -p m/bus m/codelets/45
cp "$models/codelets/45/locale_model.box" m/codelets/45
printf '2 # Number of CPUs\n1 # Number of CUDA devices\n' > m/bus/box.config
printf '0 1000.5\n1000.5 0\n' > m/bus/box.bandwidth
printf '0 10.25\n10.25 0\n' > m/bus/box.latency
printf 'submit_us 0.75\ncomplete_us 0.25\n' > m/bus/box.costs
printf 'cuda0 100.5 MiB\nalloc 10.5 us\n' > m/bus/box.memory
printf 'idle 20.5 W\ncpu 10.5 W\n' > m/bus/box.power
# simulate COMMAND...: its program's output in out, the summary without wall times, and without the number of the process in what the
# sanitizer says about stacks that it does not know, in told
simulate() {
	ok "$@" "$ORRERY" sim --machine box --machine-path "$PWD/m" --report report.json --stats stats.csv --bound "$program.sim" time
	pointed err report.json stats.csv
	sed 's/; took.*//; /^==[0-9]*==WARNING: ASan/,/sanitizers.issues/d' err > told
	sed '/wall_s/d; /peak_rss/d' report.json > report
}
simulate
mkdir plainly
mv out told report stats.csv plainly
simulate german
for f in out told report stats.csv; do
	cmp "plainly/$f" "$f" || { cat "plainly/$f" "$f"; die "$f differs in a simulated run"; }
done
has out '^took [1-9]'
