#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain` names the right cause first in real runs that are made slow on purpose, and accuses nothing in
# healthy ones. Kernels, programs and callbacks sleep for tens of milliseconds, so that a busy computer changes
# little; devices are made of main memory. With ORR_CAUSES=all (`make check-long`) the change is made that is proposed: half
# of the gains must be right within a tenth. Times of a busy computer are no test of that, so `make check` leaves it out.
# orr-test: timeout 600
# orr-test: debug none
# orr-test: sanitizer none
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs the real world"
"${PYTHON:-python3}" -c 'import numpy' 2> err || skip "no numpy, without which gains are bounds"

app=$ORR_TEST_BUILDDIR/tests/mpi/explain_causes
. "$ORR_TEST_SRCDIR/tests/lib/causes.sh"

TRIES=3
FEW=
export STARPU_NCPU=1
r="$ORRERY run --oversubscribe --quiet --trace trace"
t="make=20000 take=20000"
# One CPU, one device.
unset ORRERY_FAKE_DEVICES
d="STARPU_NCPU=1 ORRERY_FAKE_DEVICES=1"
# shellcheck disable=SC2086
{
	is none take slow-kernel $r -n 4 $app rounds make=10000 take=60000 rounds=6 -- $r -n 4 $app rounds make=10000 take=30000 rounds=6
	is slow-rank rank_2 slow-node $r -n 4 $app rounds $t rounds=6 which=2 factor=4 -- $r -n 4 $app rounds $t rounds=6
	is slow-rank rank_2 slow-barrier $r -n 4 $app rounds $t rounds=6 which=2 factor=2 barrier=1 -- $r -n 4 $app rounds $t rounds=6 barrier=1
	is late-rank rank_2 late-rank $r -n 4 $app rounds $t rounds=6 which=2 begin=400000 -- $r -n 4 $app rounds $t rounds=6
	is late-submission "rank_*" late-program $r -n 4 $app rounds $t rounds=6 sleep=100000 -- $r -n 4 $app rounds $t rounds=6
	is late-release "rank_*" late-release $r -n 4 $app rounds $t rounds=6 hold=60000 -- $r -n 4 $app rounds $t rounds=6
	is imbalance rank_1 imbalance $r -n 4 $app rounds $t rounds=6 more=4 -- $r -n 4 $app rounds take=20000 make=35000 rounds=6
	is tiny-tasks runtime tiny-tasks $r -n 1 $app pool take=0 tasks=5000 rounds=4 -- $r -n 1 $app pool take=0 tasks=500 rounds=4
	is slow-submission rank_0 slow-submitter STARPU_NCPU=8 $r -n 1 $app pool take=50000 tasks=40 rounds=1 blocks=64 sleep=20000 -- STARPU_NCPU=8 $r -n 1 $app pool take=50000 tasks=40 rounds=1 blocks=64
	is messages network bandwidth $r -n 2 $app rounds make=100 take=100 rounds=10 bytes=67108864 -- $r -n 2 $app rounds make=100 take=100 rounds=10 bytes=33554432
	is callback "rank_*" callback $r -n 4 $app rounds make=10000 take=10000 rounds=8 callback=40000 -- $r -n 4 $app rounds make=10000 take=10000 rounds=8 callback=1
	is order scheduler priorities STARPU_NCPU=4 STARPU_SCHED=prio $r -n 1 $app order take=20000 make=20000 blocks=64 tasks=4 -- STARPU_NCPU=4 STARPU_SCHED=prio $r -n 1 $app order take=20000 make=20000 blocks=64 tasks=4 priority=1
	is policy either policy $d STARPU_SCHED=eager $r -n 1 $app units blocks=10 tasks=10 rounds=1 cpu=500000 device=20000 -- $d STARPU_SCHED=dmdas $r -n 1 $app units blocks=10 tasks=10 rounds=1 cpu=500000 device=20000
	is wrong-model either wrong-model $d STARPU_SCHED=dmdas $r -n 1 $app units blocks=40 tasks=20 rounds=2 cpu=10000 device=50000 says=1000 -- $d STARPU_SCHED=dmdas $r -n 1 $app units blocks=40 tasks=20 rounds=2 cpu=10000 device=50000
	is no-prefetch copies no-prefetch $d ORRERY_FAKE_COPY_MBS=200 STARPU_PREFETCH=0 STARPU_CUDA_PIPELINE=1 STARPU_SCHED=dmda $r -n 1 $app devices bytes=4194304 rounds=1 tasks=24 device=20000 -- $d ORRERY_FAKE_COPY_MBS=200 STARPU_SCHED=dmda $r -n 1 $app devices bytes=4194304 rounds=1 tasks=24 device=20000
	is memory copies memory $d ORRERY_FAKE_COPY_MBS=400 STARPU_LIMIT_CUDA_MEM=32 $r -n 1 $app devices bytes=4194304 tasks=16 blocks=16 rounds=3 device=5000 -- $d ORRERY_FAKE_COPY_MBS=400 $r -n 1 $app devices bytes=4194304 tasks=16 blocks=16 rounds=3 device=5000

	healthy rounds $r -n 4 $app rounds make=50000 take=50000 rounds=8
	healthy blocks $r -n 4 $app rounds make=50000 take=50000 rounds=8 bytes=65536
	healthy tree $r -n 4 $app tree make=50000 take=50000 rounds=8
	healthy pool STARPU_NCPU=4 $r -n 1 $app pool take=50000 tasks=40 rounds=1 blocks=64
	healthy device $d $r -n 1 $app devices bytes=65536 tasks=20 device=20000 rounds=1
}
[ "${ORR_CAUSES-}" != all ] || half_right
