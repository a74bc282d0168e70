#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The cores and the relative speeds of the hosts of a platform file apply (cores.c prints how long a
# chain of kernels takes on rank 1).
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/cores.sim

# platform "ATTRIBUTES" "ATTRIBUTES": two hosts.
platform() {
	cat > p.xml << X
<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
<zone id="z" routing="Full"><host id="a" $1</host><host id="b" $2</host>
<link id="l" bandwidth="10GBps" latency="0us"/><route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>
X
}
# chain US OPTIONS: ten kernels of 1,000 us take that long on rank 1, within 1 %.
chain() {
	want=$1
	shift
	ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 2 --platform p.xml "$@" "$program" kernel=1000 tasks=10
	us=$(sed -n 's/^chain \([0-9]*\) us.*/\1/p' out)
	awk -v us="$us" -v want="$want" 'BEGIN { exit !(us > want * .99 && us < want * 1.01) }' || die "a chain takes $us us, not $want"
}
platform 'speed="1Gf">' 'speed="1Gf">'
chain 10000
platform 'speed="1Gf">' 'speed="4Gf">'
chain 2500
platform 'speed="4Gf">' 'speed="1Gf">'
chain 40000
# Each machine is the one of its first host.
platform 'speed="4Gf"><prop id="machine" value="laptop8"/>' 'speed="1Gf"><prop id="machine" value="quickstart"/>'
chain 10000 --machine-path "$ORR_TEST_SRCDIR/platforms/machines"

# cores N OPTIONS: so many cores has the first node.
cores() {
	want=$1
	shift
	ok "$ORRERY" sim --quiet -n 2 --platform p.xml --report r.json "$@" "$ORR_TEST_BUILDDIR/tests/sim/network.sim" 0 1 1
	has r.json "\"cpus_per_node\": $want,"
}
platform 'speed="1Gf" core="8">' 'speed="1Gf">'
cores 8
cores 3 --cpus 3
platform 'speed="1Gf" core="8"><prop id="cores" value="2"/>' 'speed="1Gf">'
cores 2
platform 'speed="1Gf">' 'speed="1Gf">'
cores 4
platform 'speed="1Gf" core="100000">' 'speed="1Gf">'
fails 1 'the host a has core="100000"; at most [0-9]* are possible' "$ORRERY" sim --platform p.xml "$program"
