#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The model `tcp` of the network, by pen and paper: parts of messages on a connection, connections of a host in turn, switches
# that serve what comes first, a limit of both directions of a host, and senders that are told early.
# orr-test: world sim
# orr-test: timeout 60
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
network=$ORR_TEST_BUILDDIR/tests/sim/network.sim late=$ORR_TEST_BUILDDIR/tests/sim/late.sim

# platform OPTIONS: hosts on a switch; 64 KiB take 65.536 us on a link.
platform() {
	cat > p.xml <<- X
		<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
		<cluster id="c" prefix="c" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us" loopback_bw="25GBps" loopback_lat="0us" $1/></platform>
	X
}
run() { ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n "${nodes:-4}" --platform p.xml --network tcp --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 "$@"; }
# arrive "PARTS" MESSAGES: in so many times 65.536 us, and the envelope's and the message's latency, within 1 %.
arrive() {
	want=$1
	shift
	run "$network" "$@"
	sort -n -k2 out | sed -n 's/^message [0-9]* \([0-9.]*\) us$/\1/p' | tr '\n' ' ' > got
	awk -v want="$want" '{ n = split(want, w); bad = n != NF
		for (i = 1; i <= n; i++) { x = ($i - 4) / 65.536; bad += x < w[i] * .99 || x > w[i] * 1.01 }
		exit bad }' got || die "messages $* arrive after $(cat got) us, not $want times 65.536"
}
platform ""
# Parts of 1, 6, 6 and 3 times 64 KiB.
arrive "16" 0 1 1024
# Two messages hand them over in turn: of one connection, of one sender, to one receiver.
arrive "29 32" 0 1 1024 0 1 1024
arrive "29 32" 0 1 1024 0 2 1024
arrive "29 32" 1 0 1024 2 0 1024
# 1 and 6 times 64 KiB: the first message is over when the second one has sent its first part only.
arrive "8 14" 0 1 448 0 1 448
# A short one waits for the part that is under way.
arrive "17 2" 0 1 1024 0 2 64
# A host sends to a busy receiver and to a free one: the link of 0 is full until 32. The switch serves 1 -> 2 as its parts come:
# 1 and 6 of those of 0 -> 2 are before its last one.
arrive "32 23 32" 0 2 1024 1 2 1024 0 3 1024
# Both directions of a host together.
arrive "16 16" 0 1 1024 1 0 1024
platform 'limiter_link="1.5GBps"'
arrive "16" 0 1 1024
# (The very first part leaves while the other direction is idle.)
arrive "21 21.33" 0 1 1024 1 0 1024

# A platform may ask for it.
sed 's|/></platform>|><prop id="network" value="tcp"/></cluster></platform>|' p.xml > asks.xml
ok "$ORRERY" sim -n 2 --platform asks.xml "$network" 0 1 1
has err 'platform asks.xml, network tcp '
ok "$ORRERY" sim -n 2 --platform asks.xml --network queue "$network" 0 1 1
has err 'platform asks.xml, network queue '
sed 's/value="tcp"/value="smpi"/' asks.xml > other.xml
fails 1 '^orrery sim: --platform other.xml: the property network of its first host is .smpi.; it can be share' "$ORRERY" sim -n 2 --platform other.xml "$network" 0 1 1

# told US BYTES: a sender knows after so long that a message is gone, within 1 % and 0.2 us; its receive is posted 5 ms later.
# A new connection takes 29,200 bytes over, and two more for each one that it has sent.
told() {
	nodes=2 run "$late" runtime "$2" 5000
	awk -v want="$1" '$1 == "send" { n++; bad += $2 < want * .99 - .2 || $2 > want * 1.01 + .2 } END { exit bad || n != 1 }' out ||
		{ cat out; die "not $1 us: $2 bytes"; }
}
platform ""
told 0 8
told 0 20000
told 32 32000
exit 0
