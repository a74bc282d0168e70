#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# NUMA nodes as memory nodes (numa.c), on machines that this script describes: in
# the real world by hwloc, where this machine's memory is used whatever the
# description says, and in the simulated world by measurements.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/core/numa

ok "$program"
ok env STARPU_HWLOC_INPUT="numa:2 core:2 pu:1" "$program" 1 4
if ! env STARPU_HWLOC_INPUT="numa:2 core:2 pu:1" STARPU_USE_NUMA=1 "$program" 2 4 > out 2> err; then
	grep -q 'needs a build with hwloc' err || die "$(cat out err)"
	echo "this build is without hwloc"
else
	ok env STARPU_HWLOC_INPUT="numa:4 core:3 pu:2" STARPU_USE_NUMA=1 "$program" 4 12
	ok env STARPU_HWLOC_INPUT="numa:1 core:3 pu:1" STARPU_USE_NUMA=1 "$program" 1 3
	ok env STARPU_USE_NUMA=1 STARPU_HWLOC_INPUT="numa:2 core:2 pu:1" STARPU_LIMIT_CPU_NUMA_MEM=4 "$program" 2 4
	fails 1 'STARPU_HWLOC_INPUT: numa:x is no readable' env STARPU_HWLOC_INPUT="numa:x" "$program"
	# This machine as it is: its memory is bound for real.
	n=$(ls -d /sys/devices/system/node/node[0-9]* 2> /dev/null | wc -l)
	[ "$n" != 1 ] || ok env STARPU_USE_NUMA=1 "$program" 1
fi
[ "${ORR_TEST_SIM:-yes}" = yes ] || exit 0

mkdir -p m/bus
printf '4 # Number of CPUs\n2 # Number of NUMA nodes\n1 # Number of CUDA devices\n' > m/bus/two.config
printf '0 2000 1000\n4000 0 500\n1000 500 0\n' > m/bus/two.bandwidth
printf '0 2 10\n3 0 10\n10 10 0\n' > m/bus/two.latency
sim="$ORRERY sim -n 1 --machine two --machine-path $PWD/m"
ok env ORR_SIM_COSTS=0 STARPU_USE_NUMA=1 STARPU_NCUDA=0 $sim "$program.sim" 2 4
# Latency 3 us, 4000 MB/s from the second node to the first.
has out 'copy 265[.]'
ok env ORR_SIM_COSTS=0 STARPU_NCUDA=0 $sim "$program.sim" 1 4
ok "$ORRERY" machine "$PWD/m/two"
has out 'NUMA 1.*CUDA 0'
has out 'NUMA 1.4000.-.500'
