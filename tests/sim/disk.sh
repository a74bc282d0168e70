#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Simulated disks: copies to and from them take the time that the machine's files tell, or what is assumed, one after the other; runs
# that skip kernels touch no file. Copies to fake devices and conversions of multiformat data take time too.
# Invariant: expected times follow from the numbers in the description.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/disk.sim

mkdir -p m/bus
printf '2 # Number of CPUs\n0 # Number of CUDA devices\n0 # Number of OpenCL devices\n' > m/bus/box.config
printf 'disk_read 1000 MB/s\ndisk_write 500 MB/s\ndisk_latency 50 us\n' > m/bus/box.memory

# box PART US [VARIABLE=VALUE ...]: the part takes that, up to 2 microseconds, whether or not kernels run.
box() {
	part=$1 want=$2
	shift 2
	for kernels in run skip; do
		ok env ORR_SIM_COSTS=0 ORRERY_FAKE_DEVICES=1 STARPU_NCPU=1 "$@" "$ORRERY" sim -n 1 $machine --kernels $kernels "$program" "$part" $kernels
		us=$(sed -n "s/^$part //p" out)
		awk -v a="$us" -v b="$want" 'BEGIN { exit !(a - b < 2 && b - a < 2) }' || die "$part took $us us, not $want ($kernels)"
		ls | grep -q '^orrery-' && die "a file is left"
	done
}

machine="--machine box --machine-path $PWD/m"
box read $((50 + 1048))
box write $((50 + 2097))
box both $((2 * (50 + 2097)))
box both 0 STARPU_SIMGRID_TRANSFER_COST=0
# A policy that prefetches reads the data of the next task while one executes, whether the disk is the only other memory or not.
for policy in dmda dmdap dmdar dmdas dmdasd heft pheft modular-dmda; do
	for devices in 0 1; do
		box overlap $((11 * (50 + 1048) + 6)) STARPU_SCHED=$policy ORRERY_FAKE_DEVICES=$devices
	done
done
box overlap $((20 * (50 + 1048) + 11)) STARPU_SCHED=dm ORRERY_FAKE_DEVICES=0
# What nobody described: 2000 and 1000 MB/s, 100 us.
machine=
box read $((100 + 524))
box write $((100 + 1048))
# 10 us and 8000 MB/s to a fake device; the codelet's model says a microsecond per KiB.
box convert $((10 + 131 + 1024))
box convert 1024 STARPU_SIMGRID_TRANSFER_COST=0

machine="--machine box --machine-path $PWD/m"
printf 'disk_read 1000\n' > m/bus/box.memory
fails 1 'box.memory:1: malformed' "$ORRERY" sim -n 1 $machine "$program" read
