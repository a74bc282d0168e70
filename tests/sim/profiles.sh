#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Links whose bandwidths change while messages are under way (profiles of the platform), in each model of the network: one
# message with a change that pen and paper can follow, then random messages over random changes against the same by hand.
# orr-test: world sim
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
[ -n "$smpi" ] || skip "needs private names of SimGrid"
program=$ORR_TEST_BUILDDIR/tests/sim/network.sim
oracle=$ORR_TEST_SRCDIR/tests/sim/profiles.py

# link POLICY: two hosts; 1 GB/s fall to 250 MB/s at 1.005 s and rise to 2 GB/s at 1.009 s, and so again every 20 ms
link() {
	cat > p.xml << X
<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="10us" sharing_policy="$1" bandwidth_file="l.bw"/>
<route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>
X
}
# takes US US_TCP MESSAGES: the last message arrives then, and the collectives that follow come to an end
takes() {
	wants="$1 $2"
	shift 2
	for model in share maxmin queue smpi tcp; do
		want=${wants% *}
		[ $model != tcp ] || want=${wants#* }
		ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 2 --platform p.xml --network $model "$program" "$@"
		sed -n 's/^message [0-9]* \([0-9.]*\) us$/\1/p' out | sort -n | tail -n 1 > last
		awk -v want="$want" '{ exit !($1 > want - 5 && $1 < want + 5) }' last ||
			die "$model: the last of $* arrives after $(cat last) us, not $want"
	done
}
# 10,240,016 bytes from 20 us on: 4,980,000 before the change, 1,000,000 until the next one, the rest at 2 GB/s. With tcp they
# leave 10 us earlier and arrive 10 us after that; and messages of two ranks have one connection, whatever the link.
printf '1.005 250000000\n1.009 2000000000\n' > l.bw
for policy in SHARED FATPIPE; do
	link $policy
	takes $((9000 + 2130)) $((9000 + 2135)) 0 1 10000
done
# Two of 5,120,016 bytes: together as one. Each by itself: 4,980,000, and the rest at 250 MB/s.
link SHARED
takes $((9000 + 2130)) $((9000 + 2135)) 0 1 5000 0 1 5000
link FATPIPE
takes $((5000 + 560)) $((9000 + 2135)) 0 1 5000 0 1 5000
# Before any change.
takes 1044 1044 0 1 1000

# (`smpi` has latencies of its own in its protocol.)
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	flows=$(python3 "$oracle" share $seed p.xml) || die "the oracle fails"
	for model in maxmin:0.01 share:0.05; do
		# shellcheck disable=SC2086
		ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 8 --platform p.xml --network ${model%:*} "$program" $flows
		python3 "$oracle" share $seed ${model#*:} < out > verdict || { cat verdict; die "${model%:*}"; }
	done
	flows=$(python3 "$oracle" queue $seed p.xml) || die "the oracle fails"
	# shellcheck disable=SC2086
	ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 8 --platform p.xml --network queue "$program" $flows
	python3 "$oracle" queue $seed 0.01 < out > verdict || { cat verdict; die queue; }
done
