#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Kernels of sizes that nobody measured: below and above all that were, the curve through them goes on, and that is said.
# Models that are broken, or whose numbers no kernel has, end the run.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/models.sim
mkdir -p m/bus m/codelets/45
file=m/codelets/45/models.box
echo '4 # Number of CPUs' > m/bus/box.config

# model SIZE:US...: what was measured
model() {
	printf '45\n1\n1\n0\n0\n1\n1\n%d\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n' $# > $file
	for point; do
		echo "$point" | awk -F: '{ printf "%08x %s 0 %s 0 %.9e %.9e 10\n", $1 + 1, $1, $2, $2 * 10, $2 * $2 * 10 }' >> $file
	done
}
sim() { env ORR_SIM_COSTS=0 "$ORRERY" sim -n 1 --machine m/box "$program" "$@"; }
# takes BYTES US [TELLS]: up to 1 %
takes() {
	ok sim "$1"
	us=$(sed -n 's/^kernel \([0-9.]*\) us$/\1/p' out)
	awk -v us="$us" -v want="$2" 'BEGIN { exit !(us > want * .99 && us < want * 1.01) }' || { cat $file; die "$1 bytes take $us us, not $2"; }
	[ $# = 2 ] || has err "$3"
}
beyond='models of box: .* an extrapolation of the curve through the measured sizes \([0-9]* bytes\)'

# 1 ns for each byte, and 5 us: measured, in between on the power law through both, and beyond
model 1000:6 10000:15 100000:105
takes 10000 15
for bytes in 200000 1000000 10000000 50000000; do takes $bytes $((5 + bytes / 1000)) "$beyond"; done
takes 100 5.1 "$beyond"
takes 1000000 1005 'is uncalibrated: models'
# as the square of the size
model 1000:1 2000:4 4000:16 8000:64
takes 80000 6400 "$beyond"
takes 100 0.01 "$beyond"
# a power law through two, proportion with one
model 1000:2 4000:4
takes 64000 16 "$beyond"
model 1000:2
takes 64000 128 "$beyond"
takes 500 1 "$beyond"
# The runs that follow are those of a curve with scatter: it goes on where the last measurement was.
model 1000:10 2000:21 4000:39 8000:82
takes 8001 82.01 "$beyond"

# refused LINE TEXT: a message with file and line, and a status
refused() { fails 1 "models.box:$1: .*$2" sim 1000; }
model 1000:6 10000:15 100000:105
head -n 13 $file > half && mv half $file
refused 13 'truncated performance model'
model 1000:6
sed -i 's/^45$/46/' $file
refused 1 'version 45'
model 1000:1e-320
refused 12 'a mean of 1e-9 to 1e15'
model 1000:1e20
refused 12 'a mean of 1e-9 to 1e15'
model 1000:-3
refused 12 'not negative'
model 1000:six
refused 12 '8 fields'
model 1000:nan
refused 12 'not negative'
: > $file
refused 0 'truncated performance model'
