#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Progress: on a terminal, a line with tasks, virtual time and speed that goes
# away for whatever else is written; without a terminal nothing.
# Invariant: the terminal is one that `script` makes, and what came is in typed,
# one line for each time that the cursor went to the left.
# orr-test: world sim
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
command -v script > /dev/null || skip "there is no script(1)"
program=$ORR_TEST_BUILDDIR/tests/sim/variability.sim
STARPU_SILENT=1
export STARPU_SILENT

# on_terminal COMMAND
on_terminal() {
	ok script -qec "$1" typescript
	sed '1d; $d' typescript | tr '\r' '\n' | sed 's/\x1b\[K//g' > typed
}

# 30,000 tasks on two nodes take longer than the quarter of a second after which the first line comes.
on_terminal "$ORRERY sim -n 2 --noise-default 5 $program kernels 15000"
has typed '^[0-9]+ tasks done, [0-9]+\.[0-9]+ s of virtual time, [0-9]+ tasks/s$'
[ "$(grep -c -E '^[01] [0-9]+ [0-9]+ [0-9.]+$' typed)" = 30000 ] || { grep -v -E '^[01] [0-9]+ [0-9]+ [0-9.]+$' typed | head -n 5; die "progress stands in the program's lines"; }
has typed '^orrery sim: 2 nodes, .* 30000 tasks'
ok "$ORRERY" sim -n 2 --noise-default 5 "$program" kernels 15000
if grep -q "tasks done" err; then cat err; die "progress without a terminal"; fi

on_terminal "$ORRERY sim --noise-default 5 --repeat 40 $program kernels 100"
has typed '^41 of 41 runs done, .* runs/s, makespans from [0-9.]+ to [0-9.]+ s$'
has typed '^makespan of variability.sim on 1 node, 40 runs, in seconds:$'
ok "$ORRERY" sim --noise-default 5 --repeat 4 "$program" kernels 100
[ ! -s err ] || { cat err; die "progress without a terminal"; }
echo "all is as it should be"
