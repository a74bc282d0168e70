#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Simulated GPUs on a machine that this script describes: results, durations of
# transfers, contention, fetching ahead, eviction, and the same again.
# Invariant: expected times follow from the numbers in the description.
# orr-test: world sim
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/gpu.sim
bytes=1048576

mkdir -p m/bus m/codelets/45
printf '4 # Number of CPUs\n2 # Number of CUDA devices\n0 # Number of OpenCL devices\n' > m/bus/box.config
printf '0 1000 1000\n1000 0 2000\n1000 2000 0\n' > m/bus/box.bandwidth
printf '0 10 10\n10 0 20\n10 20 0\n' > m/bus/box.latency
printf '# of this test\ncuda0 256 MiB\ncuda1 512 MiB\nalloc 100 us\n' > m/bus/box.memory

# comb TYPE DEVICE US
comb() {
	printf '1\n%s\n%s\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n12345678 %s 0 %s 0 %s 0 10\n' "$1" "$2" $bytes "$3" "${3}0"
}
{ printf '45\n3\n'; comb 0 0 20000; comb 1 0 2000; comb 1 1 2000; } > m/codelets/45/gpu_add.box

# box PART [VARIABLE=VALUE ...]: runs a part of the program; its time is in $us.
box() {
	part=$1
	shift
	ok env ORR_SIM_COSTS=0 STARPU_SILENT=1 "$@" "$ORRERY" sim -n 1 --machine box --machine-path "$PWD/m" $options "$program" "$part"
	us=$(sed -n "s/^$part //p" out)
}

# about US: the last part took that, up to 2 microseconds.
about() { awk -v a="$us" -v b="$1" 'BEGIN { exit !(a - b < 2 && b - a < 2) }' || die "$part took $us us, not $1"; }

options=
# A copy: 10 us + 1048576 / 1000; an allocation before it: 100 us.
box pipeline STARPU_SCHED=eager
about $((100 + 10 + 1048 + 10 * 2000))
box pipeline STARPU_SCHED=eager STARPU_CUDA_PIPELINE=0
about $(((100 + 10 + 1048 + 2000) * 10 + 6))
box pipeline STARPU_SCHED=eager STARPU_CUDA_PIPELINE=0 STARPU_SIMGRID_TRANSFER_COST=0
about $((10 * 2000))

# A launch takes time, but where the device has another kernel.
printf 'cuda1 512 MiB\nalloc 100 us\nlaunch 50 us\npin 200 us\n' > m/bus/box.memory
box pipeline STARPU_SCHED=eager STARPU_CUDA_PIPELINE=0
about $(((100 + 10 + 1048 + 50 + 2000) * 10 + 6))
box pipeline STARPU_SCHED=eager
awk -v us="$us" 'BEGIN { exit !(us >= 1158 + 50 + 20000 && us <= 1158 + 10 * 2050 + 2) }' || die "launches ahead take $us us"
# 8 MiB of the program, and 4 buffers of 1 MiB for data, twice: the second ones are used again.
box pin
about $((8 * 200 + 4 * 200))
box pin ORRERY_PINNED_KEEP=0
about $((8 * 200 + 8 * 200))
box pin STARPU_DISABLE_PINNING=1
about 0
box pin STARPU_SIMGRID_CUDA_MALLOC_COST=0
about 0
printf 'cuda0 256 MiB\ncuda1 512 MiB\nalloc 100 us\n' > m/bus/box.memory

# Two devices share a link as wide as one of them, or as the description says.
box copies
about $((100 + 10 + 1048 + 1048))
printf 'alloc 0 us\nlink_in 2000 MB/s\ncuda1 512 MiB\n' > m/bus/box.memory
box copies
about $((10 + 1049))
printf 'alloc 0 us\nlink_in 1000000 MB/s\ncuda1 512 MiB\n' > m/bus/box.memory
box copies
about $((10 + 1049))
box peer
about $((20 + 524))
box peer STARPU_BUS_STATS=1
for way in 'RAM 0 .*CUDA 0' 'CUDA 0 .*CUDA 1' 'CUDA 1 .*RAM 0'; do has err "$way +1.049 MB +1 transfers, +1048.576 kB each"; done
has err 'all +3.146 MB +3 transfers'

# Memory for 4 of 24 data on each device: results, and the same twice.
for sched in eager lws dmda dmdas; do
	box evict STARPU_SCHED=$sched STARPU_LIMIT_CUDA_MEM=4
	first=$us
	box evict STARPU_SCHED=$sched STARPU_LIMIT_CUDA_MEM=4
	[ "$us" = "$first" ] || die "$sched: $first us, then $us us"
done
options="--kernels inject"
box evict STARPU_LIMIT_CUDA_MEM=4

# Without functions from models nothing can run there; without devices all is as before.
options="--cuda-from-model no"
fails 1 "worker" env STARPU_SILENT=0 "$ORRERY" sim -n 1 --machine box --machine-path "$PWD/m" $options "$program" pipeline
options=
box none STARPU_NCUDA=0

# Descriptions that are wrong say where.
printf 'cuda0 12 GiB\n' > m/bus/box.memory
fails 1 'box.memory:1: malformed.*cuda0 5375 MiB' "$ORRERY" sim -n 1 --machine box --machine-path "$PWD/m" "$program" copies
printf 'memory0 12 MiB\n' > m/bus/box.memory
fails 1 'box.memory:1: malformed.*link_in' "$ORRERY" sim -n 1 --machine box --machine-path "$PWD/m" "$program" copies
