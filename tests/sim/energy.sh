#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Energy in the simulated world (energy.c): watts of a machine that this script
# describes, models of energy, the weight that policies give it, the report.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/energy.sim

mkdir -p m/bus
printf '5 # Number of CPUs\n1 # Number of CUDA devices\n' > m/bus/box.config
printf '0 1000\n1000 0\n' > m/bus/box.bandwidth
printf '0 10\n10 0\n' > m/bus/box.latency
printf '# of this test\nidle 20 W\ncpu 10 W\ncuda 100 W\n' > m/bus/box.power

# box PART [VARIABLE=VALUE ...]: joules of the run in $j, virtual microseconds of the part in $us
box() {
	part=$1
	shift
	ok env ORR_SIM_COSTS=0 STARPU_SILENT=1 STARPU_NCPU=1 "$@" "$ORRERY" sim --machine box --machine-path "$PWD/m" --report r.json "$program" "$part"
	j=$(sed -n 's/.*"energy_j": \([0-9.]*\),/\1/p' r.json) us=$(sed -n 's/took \([0-9]*\) us/\1/p' out)
}
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 0.01 && b - a < 0.01) }' || die "$3: $1, not $2"; }

# Four tasks one after the other, 60 ms: 2.4 J, and 20 W meanwhile.
box account
near "$j" 3.6 "energy of the run"
has err '^orrery sim: 3[.]6[0-9]* J of energy'
# A joule worth nothing: two thirds of 12 tasks go to the GPU, 80 ms. Worth a lot: none does, 240 ms.
box choose STARPU_SCHED=dmda STARPU_SCHED_GAMMA=0
[ "$us" -le 80010 ] || die "gamma 0: $us us"
near "$j" "$(awk -v t="$us" 'BEGIN { print 8 + 4 * 0.2 + 20 * t * 1e-6 }')" "gamma 0"
box choose STARPU_SCHED=dmda STARPU_SCHED_GAMMA=10000000
[ "$us" -ge 239990 ] || die "a joule worth 10 s: $us us"
near "$j" 7.2 "a joule worth 10 s"
# A machine that draws 400 W as long as it is kept busy makes that too dear again.
box choose STARPU_SCHED=dmda STARPU_SCHED_GAMMA=10000000 STARPU_IDLE_POWER=400
[ "$us" -lt 140000 ] || die "idle power: $us us"

# Without a model of energy the machine's watts come to the same.
box weigh STARPU_SCHED=dmda STARPU_SCHED_GAMMA=0
[ "$us" -le 80010 ] || die "watts, gamma 0: $us us"
box weigh STARPU_SCHED=dmda STARPU_SCHED_GAMMA=10000000
[ "$us" -ge 239990 ] || die "watts, a joule worth 10 s: $us us"
near "$j" 7.2 "watts, a joule worth 10 s"
box weigh STARPU_SCHED=dmda STARPU_SCHED_GAMMA=10000000 STARPU_IDLE_POWER=400
[ "$us" -lt 140000 ] || die "watts and idle power: $us us"
# Several cores end earlier and use more.
box together STARPU_SCHED=pheft STARPU_SCHED_GAMMA=0 STARPU_NCPU=4 STARPU_NCUDA=0
[ "$us" -le 8010 ] || die "four cores: $us us"
near "$j" "$(awk -v t="$us" 'BEGIN { print 4 * 10 * 0.008 + 20 * t * 1e-6 }')" "four cores"
box together STARPU_SCHED=pheft STARPU_SCHED_GAMMA=10000000 STARPU_NCPU=4 STARPU_NCUDA=0
[ "$us" -le 8010 ] || die "the machine could be idle earlier: $us us"
box together STARPU_SCHED=pheft STARPU_SCHED_GAMMA=10000000 STARPU_NCPU=4 STARPU_NCUDA=0 STARPU_IDLE_POWER=1
[ "$us" -ge 19990 ] || die "one core: $us us"
# What the machine draws while it is idle counts without the variable, which says more.
sed -i 's/idle 20 W/idle 400 W/' m/bus/box.power
box weigh STARPU_SCHED=dmda STARPU_SCHED_GAMMA=10000000
[ "$us" -lt 140000 ] || die "watts of the idle machine: $us us"
box weigh STARPU_SCHED=dmda STARPU_SCHED_GAMMA=10000000 STARPU_IDLE_POWER=20
[ "$us" -ge 239990 ] || die "the user's watts of the idle machine: $us us"

rm m/bus/box.power
box choose STARPU_SCHED=dmda STARPU_SCHED_GAMMA=0
near "$j" 8.8 "by models only"
printf 'idle 20\n' > m/bus/box.power
fails 1 'box.power:1: malformed.*idle 80 W' "$ORRERY" sim --machine box --machine-path "$PWD/m" "$program" choose
printf 'idle 20 W\nidle 30 W\n' > m/bus/box.power
fails 1 'box.power:2: malformed.*only once' "$ORRERY" sim --machine box --machine-path "$PWD/m" "$program" choose
printf 'gpu 20 W\n' > m/bus/box.power
fails 1 'box.power:1: malformed.*cuda and opencl' "$ORRERY" sim --machine box --machine-path "$PWD/m" "$program" choose
