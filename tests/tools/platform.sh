# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery platform`: every topology and size gives well-formed XML with at least N
# hosts (exactly N where the topology can), which SimGrid loads and routes.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

cat > count.py <<'END'
import sys
import xml.dom.minidom
cluster = xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("cluster")[0]
first, last = cluster.getAttribute("radical").split("-")
print(int(last) - int(first) + 1)
END
cat > load.c <<'END'
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	simgrid_init(&argc, argv);
	simgrid_load_platform(argv[1]);
	size_t n = sg_host_count();
	sg_host_t *hosts = sg_host_list();
	if (n != (size_t)atol(argv[2]))
		return fprintf(stderr, "%zu hosts\n", n), 1;
	for (size_t i = 0; i < n; i += 1 + n / 10)
		for (size_t j = 0; j < n; j += 1 + n / 10)
			if (sg_host_get_route_latency(hosts[i], hosts[j]) <= 0)
				return fprintf(stderr, "no route from %zu to %zu\n", i, j), 1;
	return 0;
}
END
loader=
if [ "$ORR_TEST_SIM" = yes ] && [ "$ORR_TEST_SANITIZER" = no ] && ${CC:-cc} load.c -o load -lsimgrid 2> err; then loader=./load; fi

for topology in crossbar fat-tree dragonfly torus; do
	for n in 2 3 4 17 64 1000 1024; do
		ok "$ORRERY" platform --topology $topology -n $n -o p.xml --machine mirage
		hosts=$("$PYTHON" count.py p.xml) || die "$topology $n: not well-formed"
		[ "$hosts" -ge $n ] && [ "$hosts" -le $((2 * n)) ] || die "$topology: $hosts hosts for $n nodes"
		if [ $topology = crossbar ]; then [ "$hosts" = $n ] || die "crossbar: $hosts hosts for $n nodes"; fi
		if [ "$hosts" != $n ]; then has err "$n nodes asked for, $hosts hosts written"; fi
		has out "^p.xml: $hosts hosts"
		[ -z "$loader" ] || $loader p.xml "$hosts" > load.log 2>&1 || { cat load.log; die "SimGrid: $topology $n"; }
	done
done

ok "$ORRERY" platform -n 8 --bandwidth 10Gbps --latency 250ns --loopback-bandwidth 7GBps --loopback-latency 90ns
has out 'bw="10Gbps" lat="0.125us"'
has out 'loopback_bw="7GBps" loopback_lat="90ns"'
ok "$ORRERY" platform -n 8 --link-latency 250ns
has out 'lat="0.25us"'
ok "$ORRERY" platform -n 8 --topology fat-tree --latency 1us --hop-latency 90ns
has out 'lat="0.5us"'
has out '<prop id="hop_latency" value="9e-08"/>'
ok "$ORRERY" platform -n 64 --topology fat-tree --shape 16,4 --taper 4
has out 'topo_parameters="2;16,4;1,4;1,1"'
# The result: 1 B and 4 MiB near and far, and the halves.
ok "$ORRERY" platform -n 64 --topology fat-tree --shape 16,4 --taper 4 --latency 2us --hop-latency 500ns --bandwidth 10GBps -o p.xml
has out '^  near nodes +2\.00 us +2\.41 us +8\.56 us +421\.43 us$'
has out '^  far nodes +3\.00 us +3\.41 us +9\.56 us +422\.43 us$'
has out '^between two halves of the nodes, each way: 80 GB/s$'
ok "$ORRERY" platform -n 4 --topology torus --shape 4
has out 'topo_parameters="4"'
ok "$ORRERY" platform -n 48 --topology=dragonfly --shape=3,2,4,2
has out 'topo_parameters="3,1;2,1;4,1;2"'

fails 2 'how many nodes' "$ORRERY" platform
fails 2 '^orrery platform: -n 0: .*positive' "$ORRERY" platform -n 0
fails 2 '--topology ring: there are crossbar' "$ORRERY" platform -n 4 --topology ring
fails 2 '--bandwidth fast: not a bandwidth' "$ORRERY" platform -n 4 --bandwidth fast
fails 2 '--latency 3: .*for instance 1us' "$ORRERY" platform -n 4 --latency 3
fails 2 '--bandwidth 0GBps: must be more' "$ORRERY" platform -n 4 --bandwidth 0GBps
fails 2 'room for 4 nodes only' "$ORRERY" platform -n 5 --topology torus --shape 2,2
fails 2 'a torus needs two' "$ORRERY" platform -n 1 --topology torus
fails 2 'groups need' "$ORRERY" platform -n 4 --topology dragonfly --shape 4,1,2,1
fails 2 '--machine a"b' "$ORRERY" platform -n 4 --machine 'a"b'
fails 2 '--link-latency excludes --latency' "$ORRERY" platform -n 4 --link-latency 1us --latency 1us
fails 2 '--hop-latency: a torus has no links between switches' "$ORRERY" platform -n 4 --topology torus --hop-latency 1us
fails 2 '--taper is about fat trees' "$ORRERY" platform -n 4 --taper 2
fails 2 '--taper 0.5: expected a number of 1 or more' "$ORRERY" platform -n 4 --topology fat-tree --taper 0.5
fails 1 'no/such/p.xml' "$ORRERY" platform -n 4 -o no/such/p.xml
