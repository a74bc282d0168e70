#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Cores that ranks share, and what messages take from the kernels of a rank that
# has no core to spare (cores.c): host properties, costs, who notices messages.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/cores.sim

# platform PROPERTY=VALUE ...: two hosts, 10 GB/s: a MiB takes 105 us
platform() {
	{
		echo '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
		echo '<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="10GBps" lat="0s">'
		for p; do echo "<prop id=\"${p%%=*}\" value=\"${p#*=}\"/>"; done
		echo '</cluster></platform>'
	} > p.xml
}
# costs [NAME_us VALUE]: what the runtime costs, everything else nothing
costs() {
	mkdir -p m/bus
	echo '2 # Number of CPUs' > m/bus/box.config
	echo 0 > m/bus/box.bandwidth
	echo 0 > m/bus/box.latency
	for name in submit foreign complete datum sched message interrupt wake look; do
		[ "${1:-}" = ${name}_us ] && echo "$1 $2" || echo ${name}_us 0
	done > m/bus/box.costs
}
# cores NAME=VALUE...: $chain and $noticed, microseconds
cores() {
	ok env STARPU_NCPU=1 ORRERY_MPI_WORKERS_LOOK=$look "$ORRERY" sim -n 2 --platform p.xml --machine box --machine-path "$PWD/m" "$program" "$@"
	chain=$(sed -n 's/^chain \([0-9]*\) us/\1/p' out) noticed=$(sed -n 's/^noticed \([0-9]*\) us/\1/p' out)
}
between() { [ "$2" -le "$1" ] && [ "$1" -le "$3" ] || die "$4: $1 us, not $2 to $3"; }
look=-1
costs
mib=1048576

platform cores=1
cores kernel=1000 tasks=4 bytes=$mib
between "$chain" 4000 4005 "messages that cost nothing"
# A MiB that the processor copies, 400 us, into memory that it never used, 600 us more: the next kernel waits for that.
platform cores=1 copy_us=400 touch_us=600
cores kernel=1000 tasks=4 bytes=$mib
between "$chain" 5000 5010 "one message"
cores kernel=1000 tasks=4 bytes=$mib messages=2
between "$chain" 5400 5420 "two messages, of which one comes into new memory"
platform cores=2 copy_us=400 touch_us=600
cores kernel=1000 tasks=4 bytes=$mib
between "$chain" 4000 4005 "a message beside a core that is free"
between "$noticed" 1000 1010 "the message, copied in 400 us, of which it was 105 us on the way, and with 600 us for new memory"

# One computer of one core for both ranks: kernels share it.
platform cores=1 computer=box
cores kernel=1000 tasks=1 bytes=$mib make=1000
between "$chain" 1990 2010 "two kernels on one core"
platform cores=2 computer=box
cores kernel=1000 tasks=1 bytes=$mib make=1000
between "$chain" 1000 1010 "two kernels on two cores"

# Who notices a message that comes in the middle of the second kernel: a worker after it, or a thread that wakes from its nap.
platform cores=1
costs interrupt_us 10
cores kernel=100 tasks=8 make=150
between "$noticed" 198 215 "noticed by the worker"
between "$chain" 810 830 "a chain that one message interrupts"
look=0
cores kernel=100 tasks=8 make=150
between "$noticed" 170 190 "noticed by a thread that wakes"
look=-1
# A kernel of a second: a thread comes first, each millisecond.
cores kernel=1000000 tasks=1 make=150
between "$noticed" 640 670 "noticed in a long kernel"
costs wake_us 50
cores kernel=10000 tasks=1 make=20000
between "$chain" 10490 10510 "a kernel of 10 ms, with a thread that wakes in each of them"
costs look_us 7
cores kernel=100 tasks=8 make=5000
between "$chain" 845 860 "eight kernels with a look after each"
look=0
cores kernel=100 tasks=8 make=5000
between "$chain" 800 805 "eight kernels where others look"
look=-1

# A rank that computes nothing receives beside the kernel of the other one, each with half of the core.
costs
platform cores=1 computer=box copy_us=400 touch_us=600
cores bytes=$mib
between "$noticed" 1000 1010 "received with the core to itself"
cores bytes=$mib other=10000
between "$noticed" 1890 1910 "received beside a kernel"

# A rank that waits looks again and again: half of the time that the other one computes, where each wake takes as long as a nap.
platform cores=1 computer=box
costs wake_us 0
cores kernel=10 tasks=1 make=6000
between "$noticed" 6005 6060 "a message of a rank that computes for 6 ms"
costs wake_us 50
cores kernel=10 tasks=1 make=6000
between "$noticed" 11900 12060 "the same beside a rank that looks for it"

platform cores=1 copy_us=fast
fails 1 'copy_us="fast"; it takes microseconds per MiB' "$ORRERY" sim -n 2 --platform p.xml "$program"
platform cores=1 touch_us=-1
fails 1 'touch_us="-1"; it takes microseconds per MiB' "$ORRERY" sim -n 2 --platform p.xml "$program"
platform cores=1
fails 2 'cores: bites=1: expected NAME=NUMBER' "$ORRERY" sim -n 2 --platform p.xml "$program" bites=1
