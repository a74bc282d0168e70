#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The models of the network: how messages of the runtime share links in each, that payloads arrive
# whole, that the same run is the same, and that factors, overheads and background load count.
# orr-test: world sim
# orr-test: timeout 180
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/network.sim

# Hosts on a switch: 1 MiB takes 1,049 us on a link.
cat > p.xml << 'X'
<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
<cluster id="c" prefix="c" suffix="" radical="0-7" speed="1Gf" bw="1GBps" lat="1us" loopback_bw="25GBps" loopback_lat="100ns"/></platform>
X
plain="--platform p.xml --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1"

run() { ok env ORR_SIM_COSTS=0 "$ORRERY" sim -n 8 $plain "$@"; }
# shellcheck disable=SC2086
# arrive MODEL "TIMES" MESSAGES: in so many times 1,049 us, within 2 %.
arrive() {
	model=$1 times=$2
	shift 2
	run --network $model "$program" "$@"
	sort -n -k2 out | sed -n 's/^message [0-9]* \([0-9.]*\) us$/\1/p' | tr '\n' ' ' > got
	awk -v want="$times" '{ n = split(want, w); bad = n != NF
		for (i = 1; i <= n; i++) { x = $i / 1048.6; bad += x < w[i] * .98 || x > w[i] * 1.02 + .02 }
		exit bad }' got ||
		die "$model: messages $* arrive after $(cat got) us, not $times times 1,049 us"
}
for model in maxmin share queue $smpi tcp; do
	arrive $model "1" 0 1 1024
	arrive $model "1 1" 0 1 1024 2 3 1024
	arrive $model "1 1" 0 1 1024 1 0 1024
	arrive $model "1" 0 1 1024 typed
	arrive $model "0.25" 5 2 256 typed
done
# Two messages leave the same node, and two come to the same one.
for model in maxmin share $smpi; do
	arrive $model "2 2" 0 1 1024 0 2 1024
	arrive $model "2 2" 1 0 1024 2 0 1024
	# The short one is over first, and leaves the link to the long one.
	arrive $model "1 1.5" 0 1 512 0 2 1024
	arrive $model "3 3 3" 0 1 1024 0 2 1024 0 3 1024
done
arrive queue "1 2" 0 1 1024 0 2 1024
arrive queue "0.5 1.5" 0 1 512 0 2 1024
arrive queue "1 2 3" 0 1 1024 0 2 1024 0 3 1024

# Two channels: each has half of the link, and a third message waits for the first one that is free.
channels="queue --channels 2"
arrive "$channels" "2" 0 1 1024
arrive "$channels" "2 2" 0 1 1024 0 2 1024
arrive "$channels" "2 2 4" 0 1 1024 0 2 1024 0 3 1024
arrive "$channels" "1 2 3" 0 1 512 0 2 1024 0 3 1024
fails 1 '--channels is about --network queue' "$ORRERY" sim --channels 2 "$program"

# Messages that end at the same time arrive in the order in which they were sent, and envelopes
# share links, too: so `share` decides as `maxmin` what comes first. No link is given away twice,
# as SimGrid's lazy solver does here: 5 -> 6 has 6/7 of its link, since 0 -> 6 has 1/7 of another.
crowd="0 1 16 0 2 16 0 3 16 0 4 16 0 5 16 0 6 16 0 7 16 1 2 16 1 3 16 2 3 16 4 3 16 5 6 16"
# shellcheck disable=SC2086
for model in maxmin share; do
	run --network $model "$program" $crowd
	grep '^message' out > "crowd.$model"
done
paste -d ' ' crowd.maxmin crowd.share | awk '{ bad += $2 != $6 || $3 < $7 * .98 || $3 > $7 * 1.02 } END { exit bad || NR != 12 }' || {
	paste crowd.maxmin crowd.share
	die "share (right) and maxmin (left) differ"
}

# Eager messages do not overtake each other, and all of them arrive.
for model in maxmin share queue tcp; do
	run --network $model "$program" 0 1 1 0 1 2 0 1 3 0 1 1 1 0 3 0 1 1
done

# takes OPTIONS: the time of one message of 1 MiB.
takes() { run "$@" "$program" 0 1 1024; sed -n 's/^message 0 \([0-9.]*\) us$/\1/p' out; }
for model in maxmin share queue tcp; do
	slow=$(takes --network $model --cfg=smpi/bw-factor:0:0.5)
	late=$(takes --network $model --cfg=smpi/lat-factor:0:500)
	busy=$(takes --network $model --cfg=smpi/ois:0:0.001:0)
	load=2000
	[ -z "$smpi" ] || load=$(takes --network $model --background-load 50)
	echo "$slow $late $busy $load" | awk '{ exit !($1 > 2050 && $1 < 2150 && $2 > 3000 && $2 < 3100 && $3 > 2000 && $4 > 1200) }' ||
		die "$model: half the bandwidth $slow us, 500 times the latency $late us, overhead $busy us, load $load us"
done

# The same run is the same.
background=
[ -z "$smpi" ] || background="--background-load 30"
for model in maxmin share queue tcp; do
	for again in 1 2; do
		# shellcheck disable=SC2086
		run --network $model $background --report run.json --stats stats.csv "$program" 0 1 1024 0 2 700 3 1 100 2 1 300
		mv stats.csv "stats.$again"
		sed 's/"wall_s": [^,]*,//; s/"peak_rss_bytes": [0-9]*//' run.json > "run.$again"
	done
	cmp run.1 run.2 && cmp stats.1 stats.2 || die "$model: two runs differ"
done
fails 2 '^orrery sim: --network fair: expected share, maxmin, queue, smpi or tcp' "$ORRERY" sim --network fair "$program"
