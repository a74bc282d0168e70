#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery calibrate --network` over several hosts: one whose link is slower gets a link of its own, at the speed that it was
# given; simulations read the file, and `orrery doctor` finds a link that has become slower since. Hosts that are alike
# are measured by cluster_chapter.sh.
# orr-test: debug none
# orr-test: sanitizer none
# orr-test: timeout 900
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 3
export OMPI_MCA_mpi_yield_when_idle=1 HOME="$PWD" STARPU_HOME="$PWD"
for h in h1 h2; do hosts_shape $h 200mbit || skip "links cannot be shaped"; done
hosts_shape h3 50mbit
ok on h1 timeout 200 "$ORRERY" calibrate --network --host h1,h2,h3 --name net --rounds 10
has err 'all pairs of 3 hosts at once, in 3 rounds'
has err 'messages of up to [0-9]+ bytes leave before'
has net.xml '<prop id="smpi/send-is-detached-thresh" value="[0-9]+"'
# asks NAME: simulations with that file take the model of TCP, if this computer has no other network.
asks() {
	for folder in /sys/class/infiniband /sys/class/cxi; do
		if [ -n "$(ls $folder 2> /dev/null)" ]; then return; fi
	done
	[ "$(grep -c '<prop id="network" value="tcp"' $1.xml)" = 1 ] || die "$1.xml asks for no model"
	[ "$ORR_TEST_SIM" = yes ] || return 0
	ok timeout 60 "$ORRERY" sim -n 3 --platform $1.xml "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"
	has err "platform $1.xml, network tcp "
}
asks net
ok "${PYTHON:-python3}" - <<- 'END'
	import xml.etree.ElementTree as tree
	links = {l.get("id"): float(l.get("bandwidth")[:-3]) / 1e6 for l in tree.parse("net.xml").getroot().iter("link")}
	print(links)
	assert 20 < links["link-h1"] < 32 and 20 < links["link-h2"] < 32, links
	assert 5 < links["link-h3"] < 9, links
END
if [ "$ORR_TEST_SIM" = yes ]; then ok timeout 60 "$ORRERY" sim -n 3 --platform net.xml "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"; fi
ok on h1 timeout 200 "$ORRERY" doctor --host h1,h2,h3 --platform net.xml
has out '^  links  *as calibrated in net.xml: .* to '
# With switches: h1 and h2 are at one, h3 is behind another.
printf 'SwitchName=near Nodes=h[1-2]\nSwitchName=far Nodes=h3\nSwitchName=top Switches=near,far\n' > topology.conf
ok on h1 env SLURM_CONF="$PWD/slurm.conf" timeout 200 "$ORRERY" calibrate --network --host h1,h2,h3 --switches slurm --name switches --rounds 5
has err 'a link between two switches takes .* us; above near: '
for name in near far top; do has switches.xml "<router id=\"$name\""; done
asks switches
if [ "$ORR_TEST_SIM" = yes ]; then ok timeout 60 "$ORRERY" sim -n 3 --platform switches.xml "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"; fi
hosts_shape h3 10mbit
on h1 timeout 200 "$ORRERY" doctor --host h1,h2,h3 --platform net.xml > out && die "a slower link is fine"
has out '^DEFECT links, h3: between h[12] and h3: .* MB/s, calibrated are [5-9]'
if grep 'between h1 and h2' out; then die "a link is accused that is as it was"; fi

# The file of made-up numbers: pairs that share a link, and hosts that are alike.
PYTHONPATH=$ORR_TEST_SRCDIR/tools ok "${PYTHON:-python3}" -B - <<- 'END'
	from orrery_calibrate_hosts import Measured, one_bandwidth, zone_text
	names = ["a", "b", "c", "d"]
	pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1:]]
	alone = {pair: (10.0, 100e6) for pair in pairs}
	free = Measured(names, alone, alone)
	assert free.alike() and free.backbone() is None
	shared = Measured(names, alone, {pair: (10.0, 60e6) for pair in pairs})
	assert shared.alike() and abs(shared.backbone() - 120e6) < 1, shared.backbone()
	# A message alone has a millisecond of latency, which many hide: they show that the link has less for both directions.
	late = Measured(names, {pair: (1000.0, 91e6) for pair in pairs}, {pair: (1000.0, 91e6) for pair in pairs}, crowd=90e6)
	assert late.both_ways(100e6) == 0.9 and late.both_ways(92e6) is None, late.both_ways(100e6)
	slow = Measured(names, {pair: (10.0, 10e6 if "d" in pair else 100e6) for pair in pairs}, alone)
	assert not slow.alike() and slow.of_host("d") == (10.0, 10e6) and slow.best_pair() == ("a", "b")
	# The small ones seem to have ten times the bandwidth of the large ones, those between them half of it.
	pieces = one_bandwidth([(0, 1e-5, 1e9), (65536, 1e-5, 5e7), (1 << 20, 1e-4, 1e8)],
	                       [(1, 1e-5), (1000, 1.2e-5), (10000, 2e-5), (100000, 2e-3), (200000, 4e-3), (400000, 8e-3), (1 << 20, 1.06e-2), (1 << 21, 2.11e-2)])
	assert [p[2] for p in pieces] == [1e8] * 3 and abs(pieces[0][1] - 2e-6) < 1e-9, pieces
	assert abs(pieces[1][1] - 2e-3) < 1e-9 and 1e-4 < pieces[2][1] < 1.4e-4, pieces
	text = zone_text(shared, pieces)
	assert text.count("<route ") == 10 and text.count('link_ctn id="backbone"') == 6, text
	open("shared.xml", "w").write('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
	                              + text + "</platform>")
END
if [ "$ORR_TEST_SIM" = yes ]; then ok timeout 60 "$ORRERY" sim -n 4 --platform shared.xml "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"; fi

for h in h1 h2 h3; do hosts_idle $h || die "processes stay on $h: $(hosts_processes $h)"; done

fails 2 '--host only goes with --network' "$ORRERY" calibrate --host a,b
fails 2 'the network is between hosts, and a is one' "$ORRERY" calibrate --network --host a
fails 2 '--shared is about ranks on this computer' "$ORRERY" calibrate --network --shared --host a,b
fails 2 '--hostfile absent: No such file' "$ORRERY" calibrate --network --hostfile absent
hosts_cut h2
on h1 timeout 200 "$ORRERY" calibrate --network --host h1,h2 --name none > out 2> err && die "a host that is down has a network"
has err '^orrery calibrate: mpirun fails on these hosts: .*orrery doctor'
[ ! -e none.xml ] || die "a file of nothing"
exit 0
