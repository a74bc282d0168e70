#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A rank that ends early, and bad input to the launcher: a message that names the
# culprit, the right status, in bounded time, nothing of SimGrid's own.
# Invariant: every case is tried, the first failure is reported with its output.
# orr-test: world sim
# orr-test: timeout 120
set -u
[ "${ORR_TEST_SIM:-yes}" = yes ] || { echo "SKIP: the simulated world was not built"; exit 77; }
tmp=${ORR_TEST_TMP:-$(mktemp -d)}
program=${ORR_TEST_BUILDDIR:?}/tests/sim/ends.sim

# expect STATUS PATTERN COMMAND...: status 0 stands for "any but 0".
expect() {
	want=$1 pattern=$2
	shift 2
	timeout 30 "$@" > "$tmp/out" 2>&1
	got=$?
	if { [ "$want" != 0 ] && [ $got != "$want" ]; } || [ $got = 0 ] || [ $got = 124 ]; then
		echo "status $got instead of $want: $*"; cat "$tmp/out"; exit 1
	fi
	grep -q -- "$pattern" "$tmp/out" || { echo "no line matches '$pattern': $*"; cat "$tmp/out"; exit 1; }
	if grep -q 'CRITICAL\|Backtrace' "$tmp/out"; then echo "SimGrid talks: $*"; cat "$tmp/out"; exit 1; fi
}

sim="$ORRERY sim -n 4"
expect 3 'rank 1 had ended with status 3' $sim "$program" exit
expect 3 'rank 1 had ended with status 3' $sim "$program" poll
# The message does not come into the middle of a line of the ranks.
expect 3 '^orrery sim: the program of rank 1 ended with status 3' $sim "$program" lines
expect 1 'rank 1 had ended with status 0' $sim "$program" return
expect 134 'rank 1 .*aborted' $sim "$program" abort
expect 7 'rank 1 called MPI_Abort' $sim "$program" mpi-abort
expect 139 'rank 1 .*crashed' $sim "$program" crash

echo '<platform version="4.1"><zone id="z"' > "$tmp/bad.xml"
expect 0 'bad.xml' $sim --platform "$tmp/bad.xml" "$program"
expect 0 'no-such.xml' $sim --platform "$tmp/no-such.xml" "$program"
cat > "$tmp/two.xml" <<X
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us" loopback_bw="1GBps" loopback_lat="100ns"/>
</platform>
X
expect 0 'only 2 hosts' $sim --platform "$tmp/two.xml" "$program"
expect 0 'no-such-machine' $sim --machine no-such-machine "$program"
expect 0 'no-such-setting' $sim --cfg no-such-setting:1 "$program"
head -c 900 "$program" > "$tmp/cut.sim"
chmod +x "$tmp/cut.sim"
expect 0 'cut.sim' $sim "$tmp/cut.sim"
echo "all cases end as they should"
