#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Switches from Slurm's topology.conf: a platform of `orrery platform --switches` has the distances and the shared
# uplinks of the file, by messages of a simulated program; what was measured gives the same switches; a file that is no
# tree of switches is refused with its line.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/sim/network.sim

cat > topology.conf << 'END'
# Two switches of four hosts, and one further away
SwitchName=leaf0 Nodes=n[0-3]
switchname=leaf1 \
	Nodes=n[04-05],m6,m7 LinkSpeed=100	# written another way
SwitchName=far Nodes=z8
SwitchName=middle Switches=leaf[0-1]
SwitchName=top Switches=middle,far
END
ok "$ORRERY" platform --switches topology.conf --latency 2us --hop-latency 500us --bandwidth 1GBps --uplink-bandwidth 2GBps --machine mirage -o p.xml
has out '^p.xml: 9 hosts \(5 switches of topology.conf\)'
has p.xml '<host id="n04" speed="1Gf"><prop id="machine" value="mirage"/></host>'
# From leaf0 to z8: leaf0 to middle, middle to top, top to far.
has out 'far nodes +150[0-9]\.'
sed '/^<!-- checksum/d; s|><prop id="machine" value="mirage"/></host>| />|' p.xml > plain.xml

if [ "$ORR_TEST_SIM" = yes ]; then
	# arrive N "US" MESSAGES: in so many microseconds, within 2 %; ranks are the hosts in the order of the file.
	arrive() {
		n=$1 want=$2
		shift 2
		for network in share maxmin; do
			may env ORR_SIM_COSTS=0 "$ORRERY" sim -n "$n" --platform plain.xml --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 --network $network "$program" "$@" ||
				{ [ $network = maxmin ] && continue || die "$network is refused"; }
			sort -n -k2 out | sed -n 's/^message [0-9]* \([0-9.]*\) us$/\1/p' | tr '\n' ' ' > got
			awk -v want="$want" '{ n = split(want, w); bad = n != NF
				for (i = 1; i <= n; i++) bad += $i < w[i] * .98 || $i > w[i] * 1.02
				exit bad }' got || die "$network: messages $* arrive after $(cat got) us, not $want"
		done
	}
	# 1 MiB takes 1,049 us on a host's link; a hop adds 500 us to the envelope and to the payload: none, two, and three of them.
	arrive 9 "1051" 0 3 1024
	arrive 9 "3052" 0 4 1024
	arrive 9 "4052" 0 8 1024
	arrive 9 "4052" 8 7 1024
	# Two messages fit into the link above leaf0, which is twice as quick; four share it, and not with those of leaf1 to leaf1, nor
	# with those that go the other way.
	arrive 9 "3052 3052" 0 4 1024 1 5 1024
	arrive 9 "4100 4100 4100 4100" 0 4 1024 1 5 1024 2 6 1024 3 7 1024
	arrive 9 "3052 3052 1051" 0 4 1024 1 5 1024 6 7 1024
	arrive 9 "3052 3052 3052 3052" 0 4 1024 1 5 1024 6 2 1024 7 3 1024
	# Routes are asked for before the run where processors copy messages.
	sed 's|speed="1Gf" />|speed="1Gf"><prop id="copy_us" value="400"/></host>|' plain.xml > copies.xml
	has copies.xml 'id="z8" speed="1Gf"><prop id="copy_us"'
	ok env ORR_SIM_COSTS=0 "$ORRERY" sim -n 9 --platform copies.xml "$program" 0 8 1024
	has out '^message 0 '
	# The first hosts of the file.
	ok "$ORRERY" platform --switches topology.conf -n 5 --hop-latency 500us --latency 2us --bandwidth 1GBps -o plain.xml
	if grep -q -e z8 -e '"far"' plain.xml; then die "a switch without hosts"; fi
	arrive 5 "3052" 0 4 1024
	ok env ORR_SIM_COSTS=0 "$ORRERY" sim -n 5 --platform plain.xml "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"
fi

# Measurements of made-up hosts: a hop takes 30 us, and the link above leaf1 carries 150 MB/s.
PYTHONPATH=$ORR_TEST_SRCDIR/tools ok "${PYTHON:-python3}" -B - <<- 'END'
	from orrery_calibrate_hosts import Measured, rounds
	from orrery_switches import Tree, hop_us, measured_zone, uplink_speed
	tree = Tree("topology.conf")
	names = list(tree.hosts)
	assert [tree.distance("n0", x) for x in ("n1", "m7", "z8")] == [0, 2, 3] and tree.farthest(names) == 3
	assert tree.farthest(["n0", "n1"]) == 0 and tree.farthest(["n0", "n04"]) == 2
	pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1:]]
	alone = {pair: (10 + 30.0 * tree.distance(*pair), 100e6) for pair in pairs}
	at_once = {}
	for some in rounds(names):
	    crossing = [pair for pair in some if "leaf1" in sum(tree.crossed(*pair), [])]
	    for pair in some:
	        pair = pair if pair in alone else pair[::-1]
	        at_once[pair] = (alone[pair][0], min(100e6, 150e6 / len(crossing)) if "leaf1" in sum(tree.crossed(*pair), []) else 100e6)
	assert abs(hop_us(tree, alone) - 30) < 1e-6
	assert abs(uplink_speed(tree, "leaf1", rounds(names), alone, at_once) - 150e6) < 1
	assert abs(uplink_speed(tree, "middle", rounds(names), alone, at_once) - 8 * 100e6) < 1
	text, hop, uplinks = measured_zone(tree, Measured(names, alone, at_once), rounds(names), 100e6)
	assert 'id="up-leaf1" bandwidth="1.5e+08Bps" latency="3e-05s"' in text and 'id="link-z8" bandwidth="1e+08Bps" latency="5e-06s"' in text, text
	open("measured.xml", "w").write('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
	                                + text + "</platform>")
END
if [ "$ORR_TEST_SIM" = yes ]; then ok timeout 60 "$ORRERY" sim -n 9 --platform measured.xml "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"; fi

# wrong STATUS TEXT REGEX: a file of that text is refused.
wrong() {
	printf "$2" > wrong.conf
	fails "$1" "$3" "$ORRERY" platform --switches wrong.conf
}
wrong 1 'SwitchName=a Nodes=n[0-1]\nSwitchName=b Switches=a,c\n' '^orrery platform: wrong.conf:2: there is no switch c$'
wrong 1 'SwitchName=t Nodes=h\nSwitchName=a Switches=b\nSwitchName=b Switches=a\n' 'wrong.conf:[23]: switches go around in a circle: [ab] below [ab] below [ab]'
wrong 1 'SwitchName=a Switches=a\n' 'wrong.conf:1: switches go around in a circle: a below a'
wrong 1 '# a\n\nSwitchName=a Nodes=n[0-1\n' 'wrong.conf:3: Nodes=n\[0-1 is no list of names'
wrong 1 'SwitchName=a Hosts=n0\n' 'wrong.conf:1: "Hosts=n0" is not SwitchName='
wrong 1 'SwitchName=a\n' 'wrong.conf:1: the switch a has neither'
wrong 1 'Nodes=n[0-1]\n' 'wrong.conf:1: .* has no SwitchName='
wrong 1 'SwitchName=a Nodes="n0\n' 'wrong.conf:1: .*quotation'
wrong 1 'SwitchName=a SwitchName=b Nodes=n0\n' 'wrong.conf:1: SwitchName= stands there twice'
wrong 1 'SwitchName=a Nodes=n0\nSwitchName=a Nodes=n1\n' 'wrong.conf:2: the switch a stands in line 1 already'
wrong 1 'SwitchName=a Nodes=n0\nSwitchName=b Nodes=n[0-1]\n' 'wrong.conf:2: the host n0 is at the switch a already \(line 1\)'
wrong 1 'SwitchName=a Nodes=n0\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n' 'wrong.conf:3: the switch a is below b already \(line 2\)'
wrong 1 'SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\n' 'wrong.conf:2: the switches a and b are not joined'
wrong 1 'SwitchName=a Nodes=b\nSwitchName=b Switches=a\n' 'wrong.conf:2: b is a switch and a host'
wrong 1 '# nothing\n' 'wrong.conf: there is no switch in it'
wrong 1 '\377\376\n' 'wrong.conf: this is no text'
fails 2 'switches absent: No such file' "$ORRERY" platform --switches absent
fails 2 'topology.conf has 9 hosts only; -n asks for 10' "$ORRERY" platform --switches topology.conf -n 10
fails 2 'switches excludes --topology' "$ORRERY" platform --switches topology.conf --topology torus
fails 2 'switches excludes --prefix' "$ORRERY" platform --switches topology.conf --prefix=a
fails 2 'uplink-bandwidth is about the links above switches' "$ORRERY" platform -n 4 --uplink-bandwidth 1GBps
fails 2 'uplink-bandwidth 3: not a bandwidth' "$ORRERY" platform --switches topology.conf --uplink-bandwidth 3
fails 2 'switches only goes with --network' "$ORRERY" calibrate --switches topology.conf
if [ "$ORR_TEST_MPI" = yes ]; then
	fails 2 'switches is about several hosts' "$ORRERY" calibrate --network --switches topology.conf
	fails 1 'topology.conf: no switch has the host nowhere' "$ORRERY" calibrate --network --host n0,nowhere --switches topology.conf
	fails 2 'switches excludes -n' "$ORRERY" calibrate --network -n 3 --host n0,n1 --switches topology.conf
fi
exit 0
