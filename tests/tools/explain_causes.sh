# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain` names the right cause first in simulated runs that are made slow on purpose, and accuses nothing
# in healthy ones. For each, the change that it proposes is made, and the gain compared with the one that it said:
# of a few, or with ORR_CAUSES=all of all (`make check-long`), which must be right within a tenth in half of them.
# orr-test: timeout 400
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "explained runs are simulated"
"${PYTHON:-python3}" -c 'import numpy' 2> err || skip "no numpy, without which gains are bounds"

app=$ORR_TEST_BUILDDIR/tests/mpi/explain_causes.sim
. "$ORR_TEST_SRCDIR/tests/lib/causes.sh"

platform() { ok "$ORRERY" platform "$@"; }
platform -n 4 --bandwidth 100MBps -o slow.xml
platform -n 4 --bandwidth 200MBps -o slow2.xml
platform -n 8 --latency 1ms -o far.xml
platform -n 8 --latency 0.5ms -o far2.xml
ok "$ORRERY" machine quickstart --add cuda:1 --speedup 10 --device-memory 4096 -o gpu
# A way between nodes 1 and 2 that is slower than the others, or as fast.
link() {
	echo '<?xml version="1.0"?>'
	echo '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
	echo '<platform version="4.1"><zone id="z" routing="Full">'
	for i in 0 1 2 3; do echo "<host id=\"h$i\" speed=\"1Gf\"/>"; done
	for pair in 00 11 22 33 01 02 03 12 13 23; do
		bandwidth=10GBps
		[ $pair = 12 ] && bandwidth=$1
		echo "<link id=\"l$pair\" bandwidth=\"$bandwidth\" latency=\"1us\"/>"
	done
	for pair in 00 11 22 33 01 02 03 12 13 23; do
		echo "<route src=\"h${pair%?}\" dst=\"h${pair#?}\"><link_ctn id=\"l$pair\"/></route>"
	done
	echo '</zone></platform>'
}
link 200MBps > link.xml
link 10GBps > link2.xml

FEW="slow-node late-release callback imbalance many-messages"
s="$ORRERY sim --trace trace"
f=$s
# shellcheck disable=SC2086
{
	is none take slow-kernel $s -n 4 $app rounds take=10000 -- $f -n 4 $app rounds take=5000
	is slow-rank rank_2 slow-node $s -n 4 $app rounds which=2 factor=4 -- $f -n 4 $app rounds
	is slow-rank rank_2 slow-barrier $s -n 4 $app rounds which=2 factor=2 barrier=1 -- $f -n 4 $app rounds barrier=1
	is slow-link 1_to_2 slow-link $s --platform link.xml -n 4 $app rounds bytes=1048576 -- $f --platform link2.xml -n 4 $app rounds bytes=1048576
	is messages network bandwidth $s --platform slow.xml -n 4 $app rounds bytes=1048576 -- $f --platform slow2.xml -n 4 $app rounds bytes=1048576
	is messages network latency $s --platform far.xml -n 8 $app rounds -- $f --platform far2.xml -n 8 $app rounds
	is late-rank rank_2 late-rank $s -n 4 $app rounds which=2 begin=20000 -- $f -n 4 $app rounds
	is late-once rank_2 late-once $s -n 8 $app rounds which=2 once=10 factor=8 -- $f -n 8 $app rounds
	is late-submission rank_1 late-program $s -n 4 $app rounds sleep=5000 -- $f -n 4 $app rounds
	is late-release rank_0 late-release $s -n 4 $app rounds hold=3000 -- $f -n 4 $app rounds
	is imbalance rank_1 imbalance $s -n 4 $app rounds more=4 -- $f -n 4 $app rounds make=1750
	is tiny-tasks runtime tiny-tasks $s -n 4 --cost-complete 20 $app rounds make=1 take=1 rounds=200 -- $f -n 4 --cost-complete 20 $app rounds make=10 take=10 rounds=20
	is slow-submission rank_0 slow-submitter $s -n 1 --cpus 8 --cost-submit 300 $app pool -- $f -n 1 --cpus 8 $app pool
	is slow-submission rank_15 unpruned $s -n 16 --cost-foreign 200 $app rounds -- $f -n 16 --cost-foreign 0 $app rounds
	is held rank_0 limit STARPU_MPI_NDETACHED_SEND=1 $s -n 8 --platform far.xml $app spread bytes=2048 blocks=64 rounds=1 -- $f -n 8 --platform far.xml $app spread bytes=2048 blocks=64 rounds=1
	is many-messages rank_0 many-messages $s -n 8 --cost-message 5 $app spread bytes=64 blocks=1000 take=1 rounds=1 -- $f -n 8 --cost-message 5 $app spread bytes=640 blocks=100 take=10 rounds=1
	is no-tree rank_0 no-tree STARPU_MPI_COOP_SENDS=0 $s -n 16 $app tree bytes=16777216 rounds=5 -- $f -n 16 $app tree bytes=16777216 rounds=5
	is eager messages eager $s -n 8 --platform far.xml $app rounds bytes=131072 -- STARPU_MPI_EAGER_LIMIT=1048576 $f -n 8 --platform far.xml $app rounds bytes=131072
	is callback rank_* callback $s -n 4 $app rounds callback=1500 bytes=65536 -- $f -n 4 $app rounds callback=1 bytes=65536
	d="--machine ./gpu -n 1"
	is no-prefetch copies no-prefetch STARPU_PREFETCH=0 STARPU_CUDA_PIPELINE=1 STARPU_SCHED=dmda $s $d $app devices bytes=8388608 rounds=1 tasks=32 -- STARPU_SCHED=dmda $f $d $app devices bytes=8388608 rounds=1 tasks=32
	is memory copies memory STARPU_LIMIT_CUDA_MEM=128 $s $d $app devices bytes=8388608 tasks=32 rounds=3 device=200 -- $f $d $app devices bytes=8388608 tasks=32 rounds=3 device=200
	is policy either policy STARPU_SCHED=eager STARPU_NCPU=2 $s $d $app units blocks=64 rounds=1 cpu=50000 -- STARPU_SCHED=dmdas STARPU_NCPU=2 $f $d $app units blocks=64 rounds=1 cpu=50000
	is wrong-model either wrong-model STARPU_SCHED=dmdas STARPU_NCPU=2 $s $d $app units blocks=64 rounds=2 device=20000 says=1000 -- STARPU_SCHED=dmdas STARPU_NCPU=2 $f $d $app units blocks=64 rounds=2 device=20000
	is order scheduler priorities STARPU_SCHED=prio $s -n 1 --cpus 4 $app order blocks=256 tasks=12 -- STARPU_SCHED=prio $f -n 1 --cpus 4 $app order blocks=256 tasks=12 priority=1

	healthy rounds $s -n 4 $app rounds
	healthy blocks $s -n 8 $app rounds bytes=1048576
	healthy tree $s -n 16 $app tree bytes=1048576
	healthy pool $s -n 1 --cpus 8 $app pool
	healthy device $s $d $app devices bytes=1048576 tasks=32
	healthy units STARPU_SCHED=dmdas STARPU_NCPU=2 $s $d $app units blocks=64 rounds=2
	ok "$ORRERY" machine quickstart --add cuda:1 --speedup 20 -o large
	healthy heterogeneous STARPU_SCHED=dmdas $s -n 1 --machine ./large --kernels skip "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 20 -b 960
	healthy Cholesky $s -n 4 --kernels skip --machine quickstart "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 32 -b 960
}
half_right
