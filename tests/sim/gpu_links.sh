#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The link from main memory to several GPUs: who copies at the same time shares it. Random copies on random machines against
# the same by hand, and the machine h200x8 against its data sheet: links, sizes of memories.
# orr-test: world sim
# orr-test: timeout 180
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/gpu_links.sim
oracle=$ORR_TEST_SRCDIR/tests/sim/gpu_links.py

for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
	copies=$(python3 "$oracle" $seed m) || die "the oracle fails"
	# shellcheck disable=SC2086
	ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 1 --machine m/box --kernels skip "$program" $copies
	# shellcheck disable=SC2086
	ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 1 --machine m/box "$program" $copies
	python3 "$oracle" $seed < out > verdict || { cat verdict; die "$copies"; }
done

# h200x8 MS COPIES: the last one is there then.
h200x8() {
	want=$1
	shift
	ok env ORR_SIM_COSTS=0 STARPU_SIMGRID_CUDA_MALLOC_COST=0 "$ORRERY" sim --quiet -n 1 --machine h200x8 "$program" "$@"
	said err && die "h200x8 is complaining: $(cat err)"
	sed -n 's/^copy [0-9]* //p' out | sort -n | tail -n 1 > last
	awk -v want="$want" '{ exit !($1 > want * .999 && $1 < want * 1.001) }' last || die "$* takes $(cat last) us, not $want"
}
# PCIe x16 for each GPU: 100 MB at 55 GB/s, and 8 us.
h200x8 1826.2 0 100000000
h200x8 1826.2 0 100000000 1 100000000 2 100000000 3 100000000 4 100000000 5 100000000 6 100000000 7 100000000
h200x8 3652.4 0 100000000 0 100000000

# Machines that do not say how large the memories are, and those with a bandwidth that nobody knows.
mkdir -p m/bus
printf '4 # Number of CPUs\n1 # Number of CUDA devices\n0 # Number of OpenCL devices\n' > m/bus/box.config
printf '0 1000\n1000 0\n' > m/bus/box.bandwidth
printf '0 10\n10 0\n' > m/bus/box.latency
rm -f m/bus/box.memory
ok env STARPU_SILENT=0 "$ORRERY" sim --quiet -n 2 --machine m/box "$program" 0 1000
has err 'box.memory does not say how large the memories of its devices are; 3 GiB each are assumed'
[ "$(grep -c 'does not say' err)" = 1 ] || die "it is said more than once"
printf 'cuda0 1024 MiB\n' > m/bus/box.memory
printf '0 nan\n1000 0\n' > m/bus/box.bandwidth
fails 1 'box.bandwidth: no bandwidth between memory nodes 0 and 1 \(nan MB/s\)' "$ORRERY" sim -n 1 --machine m/box "$program" 0 1000
printf '0 1000\n1000 0\n' > m/bus/box.bandwidth
printf '0 10\nnan 0\n' > m/bus/box.latency
fails 1 'box.latency: no latency between memory nodes 1 and 0 \(nan us\)' "$ORRERY" sim -n 1 --machine m/box "$program" 0 1000
