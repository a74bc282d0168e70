#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A simulated node costs the stack of its main alone: engines and drivers borrow
# one while they have something to do, and keep it only while a callback or a
# kernel of the program waits. The report counts the stacks of a run.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
build=$ORR_TEST_BUILDDIR
STARPU_SILENT=1
export STARPU_SILENT

# stacks LEAST MOST NODES OPTION... PROGRAM...
stacks() {
	least=$1 most=$2 n=$3
	shift 3
	ok "$ORRERY" sim -n "$n" --report r.json "$@"
	got=$(sed -n 's/.*"stacks": \([0-9]*\),.*/\1/p' r.json)
	[ "${got:-0}" -ge "$least" ] && [ "$got" -le "$most" ] ||
		die "$got stacks, not $least to $most, for $n nodes: $*"
}

# Without private names of SimGrid, kernels wait on fewer stacks.
waiting=48
[ -n "$smpi" ] || waiting=32
for network in share queue maxmin tcp; do
	stacks 64 72 64 --network $network "$build/tests/sim/stacks.sim"
	# All callbacks and all kernels wait at the same time.
	stacks "$waiting" 52 16 --network $network "$build/tests/sim/stacks.sim" wait
done
stacks 64 72 64 --kernels skip "$build/examples/cholesky/cholesky.sim" -nt 16 -b 64
stacks 64 72 64 --kernels skip "$build/examples/stencil/stencil.sim" -nx 16 -ny 16 -b 16 --niter 4
# Each has its own where SMPI, which finds its own actors by them, carries messages; so a kernel that
# waits has one more.
[ -z "$smpi" ] || stacks 32 33 8 --network smpi "$build/tests/sim/stacks.sim" wait
for seed in 1 2 3; do
	ok "$ORRERY" sim -n 3 --yields $seed "$build/tests/sim/stacks.sim" wait
done
