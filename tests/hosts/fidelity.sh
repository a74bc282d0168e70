#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The truth bed, `make fidelity FIDELITY=--hosts`: its graphs end with the same check for real and simulated, two cases
# run on shaped hosts and give a table, and the arithmetic of the table is right on prepared files. No bar is judged
# by time: other programs use the cores.
# orr-test: debug none
# orr-test: sanitizer none
# orr-test: timeout 900
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI$ORR_TEST_SIM" = yesyes ] || skip "it takes both worlds"
fidelity="$PYTHON -B $ORR_TEST_SRCDIR/tests/fidelity/fidelity.py --hosts"
bed=$ORR_TEST_BUILDDIR/tests/fidelity/bed

# ---- graphs ----
export STARPU_NCPU=1
for graph in cholesky lu stencil cg broadcast alltoall random; do
	words="$graph -n 3 --steps 3 --bytes 8192 --us 100"
	for world in run sim; do
		# shellcheck disable=SC2086 # words
		ok timeout 100 "$ORRERY" $world -n 3 "$bed$([ $world = run ] || echo .sim)" $words
		has out "^bed $graph ranks=3 n=3 steps=3 bytes=8192 us=100 time_s=[0-9.]+ check=[0-9a-f]{16}$"
		sed -n 's/.* check=//p' out > $world.check
	done
	cmp run.check sim.check || die "$graph computes something else in one of the worlds"
	cat run.check >> checks
done
[ "$(sort -u checks | wc -l)" = 7 ] || die "graphs have the same check"
# Kernels take the time of their model: a chain of four changes of two tiles, 10 + 30 + 30 + 10 ms.
ok "$ORRERY" sim -n 1 "$bed.sim" cholesky -n 2 --us 60000
has out 'time_s=0\.080[0-9]* '
ok timeout 100 "$ORRERY" run -n 1 "$bed" cholesky -n 2 --us 60000
has out 'time_s=(0\.0[89]|0\.[1-9]|[1-9])'
fails 1 "'spiral' is no graph" "$ORRERY" sim -n 2 "$bed.sim" spiral

# ---- the table ----
# case_line GRAPH REAL SHARE QUEUE FLOOR
case_line() { echo "$1,-n 8 --kib 128 --us 20500,50,0,4,1,3,$2,$2,$2,$5,$3,$4"; }
table() {
	echo graph,words,rate_mbit,late_us,hosts,ranks_per_host,runs,real_median_s,real_min_s,real_max_s,floor_percent,share_s,queue_s
	"$@"
}
kept() { case_line cholesky 1.0 1.04 0.8 1; case_line lu 2.0 1.92 2.0 1; case_line cg 1.0 0.89 1.3 2; }
missed() { kept; case_line random 1.0 1.2 1.5 1; }
hidden() { kept; case_line random 1.0 1.2 1.5 9; }
table kept > kept.csv
ok $fidelity --judge kept.csv
has out '^graph +size +hosts x ranks +real ms +\(least .. most\) +floor % +share +queue$'
has out '^cholesky +8, 128 KiB, 20.5 ms +4 x 1, 50 Mbit/s +1000 +\(1000 .. 1000\) +1.0 +[+]4.0 +-20.0$'
has out '^share +median absolute error 4.0 %, worst 11.0 %, beyond 15 %: 0 of 3 cases$'
has out '^queue +median absolute error 20.0 %, worst 30.0 %, beyond 15 %: 2 of 3 cases$'
has out '^best: share, median absolute error 4.0 % \(bar: 8 %\)$'
has out '^best: share, worst absolute error 11.0 % \(bar: 15 %\)$'
table missed > missed.csv
$fidelity --judge missed.csv > out && die "a bar that was missed is no failure"
has out '^best: share, worst absolute error 20.0 % \(bar: 15 %\) MISSED$'
table hidden > hidden.csv
ok $fidelity --judge hidden.csv
has out '^best: share, worst absolute error 11.0 % \(bar: 15 %\)$'
ok $fidelity --judge missed.csv --bars 8,25
fails 2 'no case of the table' $fidelity --only nothing

# ---- hosts ----
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
hosts_lack > lack.txt
if [ -s lack.txt ]; then
	echo "without hosts: $(cat lack.txt)"
	exit 0
fi
$fidelity --build "$ORR_TEST_BUILDDIR" --output "$PWD/bed" --tiny --runs 2 --most-runs 2 --models share,queue --bars 1e9,1e9 \
	--case "200,1000,2,1,cholesky -n 4 --kib 64 --us 2000" --case "200,1000,2,2,stencil -n 4 --steps 3 --kib 16 --us 2000" > out 2> err
got=$?
cat out err
if grep -q 'links cannot be shaped' err; then skip "links cannot be shaped"; fi
[ $got = 0 ] || die "status $got"
has out '^cholesky +4, 64 KiB, 2 ms +2 x 1, 200 Mbit/s, 1 ms +[0-9]+ +\([0-9]+ \.\. [0-9]+\) +[0-9.]+ +[-+][0-9.]+ +[-+][0-9.]+$'
has out '^stencil +4, 3 steps, 16 KiB, 2 ms +2 x 2, 200 Mbit/s, 1 ms '
has out '^2 real runs per case or more'
ok $fidelity --judge bed/hosts.csv --bars 1e9,1e9
exit 0
