#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Kernels that slow each other down (contention.c), as bus/NAME.contention says:
# answers of pen and paper, guesses that are announced, files that are refused.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/contention.sim
export STARPU_SILENT=1 ORR_SIM_COSTS=0
unset STARPU_NCPU

# machine NAME [CURVE...]: one of 4 cores
machine() {
	mkdir -p m/bus
	echo '4 # Number of CPUs' > "m/bus/$1.config"
	file=m/bus/$1.contention
	shift
	rm -f "$file"
	if [ $# -gt 0 ]; then { echo 'contention 1' && printf '%s\n' "$@"; } > "$file"; fi
}
# hosts PROPERTY=VALUE ...: two hosts
hosts() {
	{
		echo '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
		echo '<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="10GBps" lat="0s">'
		for p; do echo "<prop id=\"${p%%=*}\" value=\"${p#*=}\"/>"; done
		echo '</cluster></platform>'
	} > p.xml
}
run() { ok "$ORRERY" sim $options --machine box --machine-path "$PWD/m" --report r.json "$program" "$@"; }
# ends WORDS TIMES WHAT: the tasks end then
ends() {
	run $1
	sort -n out | sed 's/.* //' > got
	printf '%s\n' $2 > wanted
	paste -d ' ' got wanted | awk '!($1 - $2 < 0.02 && $2 - $1 < 0.02) { exit 1 }' || { cat out; die "$3: not $2"; }
}
options=

machine box 'a: 2 1.5 4 3' 'b: 2 1.125 4 1.5' 'c: 2 1' 's: 2 1.5 4 3' 'symbol: 2 2' 'long name: n: 2 1.25'
ends 'a:1000' '1000' "alone"
ends 'a:1000 a:1000' '1500 1500' "two of a kind"
ends 'a:1000 a:1000 a:1000' '2250 2250 2250' "three, half way between two and four"
ends 'a:1000 a:1000 a:1000 a:1000' '3000 3000 3000 3000' "four"
# The first has 500 left when the second comes: 750. Then the second has 500 left and is alone.
ends 'a:1000 a:1000@500' '1250 1750' "one after the other"
# Each does 100 alone, or in company of two (150 us), or of three (225 us).
ends 'a:300 a:300@100 a:300@250' '475 625 725' "three, one after the other"
# Excesses of 2 and 0.5 in company 4: b presses on a as half an a, a on b as two of b.
ends 'a:1000 b:1000' '1250 1297.62' "two kinds"
ends 'a:1000 c:1000' '1000 1000' "beside a kernel that uses no memory"
ends 'a:1000 d:1000' '1000 1000' "beside a kernel that nobody measured"
has err '^orrery sim: not measured beside others, and simulated as if alone: d$'
if grep -q guess err r.json; then die "a guess, where companies were measured"; fi
ends 'd:1000 a:1000@500' '1000 1500' "begins alone, and nobody measured it"
has err 'as if alone: d$'
ends 'd:1000 a:1000@1500' '1000 2500' "stays alone, and nobody measured it"
if grep -q alone err; then die "nothing was beside it"; fi
ends 'm:1000 m:1000' '2000 2000' "by the name of the model"
ends 'n:1000 n:1000' '1250 1250' "by a name with spaces and a colon"
# The other one sleeps until 400, and has 600 left then.
ends 'a:1000 s:1000' '1300 1300' "beside a kernel that sleeps at first"

# Two cores: the third waits.
options='--cpus 2'
ends 'a:1000 a:1000 a:1000' '1500 1500 2500' "three kernels on two cores"

# Ranks.
options='-n 2 --platform p.xml'
hosts cores=2
ends 'a:1000/0 a:1000/1' '1000 1000' "two ranks on two computers"
ends 'a:1000/0 a:1000/0 a:1000/1' '1500 1500 1000' "a rank alone, beside one that is not"
hosts cores=4 computer=box
ends 'a:1000/0 a:1000/1' '1500 1500' "two ranks on one computer"
ends 'a:1000/0 a:1000@500/1' '1250 1750' "two ranks on one computer, one after the other"
# Four kernels on two cores: each has half of one, and another one beside it meanwhile.
hosts cores=2 computer=box
ends 'a:1000/0 a:1000/0 a:1000/1 a:1000/1' '3000 3000 3000 3000' "twice as many kernels as cores"
hosts cores=1 computer=box
ends 'a:1000/0 a:1000/1' '2000 2000' "two kernels on one core"
# A computer has one memory.
hosts cores=2 computer=box
machine other 'a: 2 1.6'
fails 1 'c1 and c0 are one computer, but bus/other.contention and bus/box.contention of their machines differ' \
	"$ORRERY" sim -n 2 --platform p.xml --machine box,other --machine-path "$PWD/m" "$program" a:1000
options=

# Guesses: as between the last two, but never more than in proportion.
machine box 'a: 2 1.5'
ends 'a:1000 a:1000' '1500 1500' "as measured"
if grep -q guess err r.json; then die "a guess, where companies were measured"; fi
ends 'a:1000 a:1000 a:1000 a:1000' '2500 2500 2500 2500' "a guess"
[ "$(grep -c guess err)" = 1 ] || die "one line says that it is a guess"
has err '^orrery sim: how kernels slow each other down is a guess beyond what was measured: a measured on 2 cores, used on 4; '
has r.json '"company_guessed": {"a": {"measured": 2, "used": 4}},'
"$PYTHON" -c 'import json; json.load(open("r.json"))' || die "the report is no JSON"
machine box 'a: 2 1 4 3'
options='--cpus 6'
ends 'a:100 a:100 a:100 a:100 a:100 a:100' '450 450 450 450 450 450' "a guess in proportion"
options=

# Nobody measured anything: as before.
machine box
ends 'a:1000 a:1000 b:1000 d:1000' '1000 1000 1000 1000' "no file"
if grep -q -e guess -e 'beside others' err; then die "a machine without a file is said to have one"; fi

# More cores than the machine has whose kernels were measured, and no file: a guess where they are used.
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
calibrated() {
	tiles=$1
	shift
	ok "$ORRERY" sim "$@" --kernels skip --report r.json "$cholesky" -nt "$tiles" -b 960
}
for cpus in '' '--cpus 2'; do
	calibrated 12 --machine ci-xeon2 $cpus
	if grep -q guess err r.json; then die "a guess on the cores that were measured"; fi
done
calibrated 12 --machine ci-xeon2 --cpus 64
[ "$(grep -c guess err)" = 1 ] || die "one line says that it is a guess"
has err '^orrery sim: how kernels slow each other down is a guess beyond what was measured: orrery_dgemm measured on 2 cores, used on [2-6][0-9], '
has r.json '"company_guessed": \{"orrery_dgemm": \{"measured": 2, "used": [2-6][0-9]\}, '
# One kernel after the other on 64 cores, and kernels that nobody measured.
calibrated 1 --machine ci-xeon2 --cpus 64
if grep -q guess err r.json; then die "a guess, where kernels were alone"; fi
calibrated 12 --cpus 64
if grep -q guess err r.json; then die "a guess from measurements, where there are none"; fi

refused() {
	machine box "$1"
	fails 1 "bus/box.contention:$2: malformed machine description: expected $3" "$ORRERY" sim --machine box --machine-path "$PWD/m" "$program" a:1
}
refused 'a: 2 0.5' 2 'slowdowns that do not fall'
refused 'a: 1 1' 2 'companies that rise: whole numbers from 2'
refused 'a 2 1.5' 2 'a name, a colon'
refused 'a: 2' 2 'pairs'
echo 'a: 2 1.5' > m/bus/box.contention
fails 1 'box.contention:1: malformed.*`contention 1' "$ORRERY" sim --machine box --machine-path "$PWD/m" "$program" a:1
