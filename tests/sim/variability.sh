#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Noise, speeds and loaded links, with a machine and a network that this script
# describes: means and deviations of many draws, what depends on the seed and
# what does not, and `orrery sim --repeat`.
# Invariant: expected numbers follow from the description; limits are five times
# the standard error that theory gives, so that a wrong law cannot pass.
# orr-test: world sim
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/variability.sim
ORR_SIM_COSTS=0
STARPU_SILENT=1
export ORR_SIM_COSTS STARPU_SILENT

mkdir -p m/bus m/codelets/45
printf '2 # Number of CPUs\n0 # Number of CUDA devices\n0 # Number of OpenCL devices\n' > m/bus/box.config
printf '0\n' > m/bus/box.bandwidth
printf '0\n' > m/bus/box.latency
# 4096 bytes take 1000 us, deviation 300 us, 100 samples.
printf '45\n1\n1\n0\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n12345678 4096 0 1000 300 100000 109000000 100\n' \
	> m/codelets/45/variability_work.box
cat > two.xml << 'X'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="1us"/>
<route src="a" dst="b"><link_ctn id="l"/></route>
</zone></platform>
X

# sim N OPTIONS -- PART [N]: standard output is in out.
sim() {
	n=$1 options=
	shift
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	ok "$ORRERY" sim -n "$n" --machine box --machine-path "$PWD/m" $options "$program" "$@"
}

# law WHAT MEAN DEVIATION FOURTH: mean and deviation of the last numbers of lines
# of out; FOURTH is the kurtosis, which tells how exact a deviation can be.
law() {
	awk -v what="$1" -v mu="$2" -v sigma="$3" -v kurtosis="$4" '
		{ x = $NF; n++; s += x; q += (x - mu) ^ 2; if (x <= 0) bad++ }
		END {
			m = s / n; d = sqrt(q / n)
			em = 5 * sigma / sqrt(n); ed = 5 * sigma * sqrt((kurtosis - 1) / (4 * n))
			printf "%s: %d draws, mean %.4f (%.4f within %.4f), deviation %.4f (%.4f within %.4f)\n", what, n, m, mu, em, d, sigma, ed
			exit bad || n < 2 || m > mu + em || m < mu - em || d > sigma + ed || d < sigma - ed
		}' out || die "$1 does not follow its law"
}
# The kurtosis of a log-normal law with that relative deviation.
kurtosis() { awk -v c="$1" 'BEGIN { w = 1 + c * c; print w ^ 4 + 2 * w ^ 3 + 3 * w ^ 2 - 3 }'; }
numbers() { sort -n "$1" | awk '{ print $1, $3, $4 }' | sort -n -k 1 -k 2; }	# rank, task, duration

# ---- kernels ----
sim 2 -- kernels 100
law "no noise" 1000 0 1
sim 2 --noise --seed 7 -- kernels 4000
law "measured noise" 1000 300 "$(kurtosis 0.3)"
cp out noise7
sim 2 --noise=0.5 --seed 7 -- kernels 4000
law "half of it" 1000 150 "$(kurtosis 0.15)"
sim 2 --seed 7 --noise -- kernels 4000
cmp -s out noise7 || die "the same seed does not give the same run"
sim 2 --seed 8 --noise -- kernels 4000
cmp -s out noise7 && die "another seed gives the same run"
STARPU_RAND_SEED=7 sim 2 --noise -- kernels 4000
cmp -s out noise7 || die "STARPU_RAND_SEED is not the seed"
# A task's own number: neither other ranks, nor the order, nor the worker matter.
numbers noise7 > one
sim 3 --noise --seed 7 -- kernels 4000
numbers out | grep -v '^2' > two
cmp -s one two || die "a third node changes the draws of the first two"
STARPU_NCPU=1 STARPU_SCHED=eager sim 2 --noise --seed 7 -- kernels 4000
numbers out > two
cmp -s one two || die "the policy or the number of workers changes the draws"
# Two ranks, and neighbouring tasks, have nothing to do with each other.
awk '{ v[$1] = v[$1] " " $3; x[$1, $2] = $3 } END {
	for (i = 0; i < 4000; i++) { a = x[0, i] - 1000; between += a * (x[1, i] - 1000); next_one += a * (x[0, i + 1] - 1000) * (i < 3999) }
	limit = 5 / sqrt(4000); between /= 4000 * 90000; next_one /= 3999 * 90000
	printf "correlations %.4f and %.4f, within %.4f\n", between, next_one, limit
	exit between > limit || between < -limit || next_one > limit || next_one < -limit }' one || die "the draws depend on each other"
# Without measurements of the deviation: told, or given.
sed -i 's/1000 300/1000 0/' m/codelets/45/variability_work.box
sim 2 --noise -- kernels 100
has err 'leaves 100 %.*--noise-default'
law "nothing measured" 1000 0 1
sim 2 --noise-default 20 -- kernels 2000
law "a deviation by default" 1000 200 "$(kurtosis 0.2)"
if grep -q 'noise-default' err; then die "told to give --noise-default, which was given"; fi
sed -i 's/1000 0/1000 300/' m/codelets/45/variability_work.box

# ---- nodes and workers ----
sim 300 --speed-spread 10 -- kernels 2
awk '{ if ($1 in x && x[$1] != $4) bad = 1; x[$1] = $4 } END { for (r in x) print x[r]; exit bad }' out > nodes || die "a node changes its speed"
cp nodes out
law "speeds of nodes" 1000 100 "$(kurtosis 0.1)"
STARPU_SCHED=eager sim 150 --worker-spread 5 -- kernels 6
awk '{ k = $1 " " $2; if (k in x && x[k] != $4) bad = 1; x[k] = $4 } END { for (r in x) print x[r]; exit bad }' out > workers ||
	die "a worker changes its speed"
cp workers out
law "speeds of workers" 1000 50 "$(kurtosis 0.05)"

# ---- links ----

load_of_links() {
	# microseconds OPTIONS: what 50 MB take on a link of 1 GB/s.
	microseconds() { sim 2 --platform two.xml "$@" -- message 50; cat out; }
	free=$(microseconds)
	# 100 to 5000 periods: the mean share is 1 - load, within 5 * load / sqrt(3 * periods).
	for load in 5 30 60; do
		for period in 20 500; do
			us=$(microseconds --background-load $load --background-period $period --seed 3)
			awk -v free="$free" -v us="$us" -v percent=$load -v period=$period 'BEGIN {
				p = percent / 100; w = p < 0.95 - p ? p : 0.95 - p; limit = 5 * w / sqrt(3 * us / period); share = free / us
				printf "load %d %%, period %d us: share %.4f (%.4f within %.4f)\n", percent, period, share, 1 - p, limit
				exit share > 1 - p + limit || share < 1 - p - limit || share == 1 - p }' || die "links are not slowed as asked"
		done
	done
	# One share for the whole run, one for each seed.
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		microseconds --background-load 30 --background-period 1e9 --seed $seed
	done | awk -v free="$free" '{ print free / $1 }' > shares
	awk '!seen[$1]++ { n++ } $1 <= 0.4 || $1 >= 1 { bad = 1 } END { exit bad || n != NR || NR != 16 }' shares || { cat shares; die "shares are not spread from 0.4 to 1"; }
	[ "$(microseconds --background-load 30)" = "$(microseconds --background-load 30)" ] || die "the same command gives another run"
	# Load changes neither results nor the end of a run that stalls.
	sim 4 --background-load 40 --background-period 50 --noise --speed-spread 5 -- chain 25
	fails 1 'nothing can advance' "$ORRERY" sim -n 2 --background-load 40 "$program" stall
}
[ -z "$smpi" ] || load_of_links

# ---- the report, and mistakes ----
load=
[ -z "$smpi" ] || load="--background-load 25"
# shellcheck disable=SC2086
sim 2 --noise=2 --seed 12 $load --report r.json -- kernels 10
has r.json '"seed": 12,'
has r.json '"noise": 2,'
[ -z "$load" ] || has r.json '"background_load_percent": 25,'
sim 2 --report r.json -- kernels 10
if grep -q -E '"(noise|background_load_percent)"' r.json || [ "$(grep -c seed r.json)" != 1 ]; then cat r.json; die "the report of a run without variability speaks of it"; fi
mistake() { regex=$1; shift; fails 2 "$regex" "$ORRERY" sim "$@" "$program" kernels 1; }
mistake 'noise -1: expected a factor between 0' --noise=-1
mistake 'noise : expected' --noise=
mistake 'noise 2: write its factor as --noise=2' --noise 2
mistake 'noise-default x: expected a percentage' --noise-default x
mistake 'speed-spread nan: expected a percentage' --speed-spread nan
mistake 'worker-spread -5: expected a percentage' --worker-spread -5
mistake 'background-load 95: expected a percentage between 0 and 90' --background-load 95
mistake 'background-period 0: expected a number of microseconds' --background-period 0
mistake 'seed 1.5: expected a whole number' --seed 1.5
mistake 'seed -1: expected a whole number' --seed -1
mistake 'repeat 0: expected a whole number between 1' --repeat 0
mistake 'jobs 0: expected a whole number' --repeat 2 --jobs 0
mistake 'jobs is about several runs' --jobs 2
mistake 'stats is about one run' --repeat 2 --stats s.csv
mistake 'bound is about one run' --repeat 2 --bound
mistake 'ends in .csv or .json' --repeat 2 --report r.txt
# The launcher checks by itself.
launcher=$ORR_TEST_BUILDDIR/.libs/orrery-sim-launcher
refuse() { regex=$1; shift; fails 1 "$regex" env LD_LIBRARY_PATH="$ORR_TEST_BUILDDIR/.libs" "$launcher" "$@" "$program" kernels 1; }
refuse 'noise x: expected a factor' --noise=x
refuse 'background-load 91: expected a percentage between 0 and 90' --background-load 91
refuse 'background-period 0: expected' --background-period 0
refuse 'seed 4294967296: expected a whole number' --seed 4294967296
