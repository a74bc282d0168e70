#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The network that was asked for: latency and bandwidth of the default platform and of generated ones,
# in each model, are what half a round trip takes, near and far, through a taper, by plain MPI and
# by the runtime; and what a message to oneself takes.
# Prints the table of doc/machines.md.
# orr-test: world sim
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/asked.sim

# A message takes latency + (bytes + 16) / bandwidth. The runtime adds an envelope to messages below
# 4 KiB, and sends one ahead of others; those of 64 KiB and more wait for the receive that it causes.
cat > judge.awk << 'END'
function off(got, want) { return got > want ? got / want - 1 : 1 - got / want }
BEGIN { header = 16; envelope = 40; split(own, itself, ",") }
{
	split(latencies, us, ",")
	split(partners, who, ",")
	for (i in who) if (who[i] == $1) L = us[i]
	plain = L + ($2 + header) / mbs
	runtime = L + ($2 + header + envelope) / mbs + ($2 >= 65536 ? L : 0)
	# One to oneself has no envelope, and waits for nothing.
	if ($1 == 0) plain = runtime = itself[1] + ($2 + header) / itself[2]
	a = off($3, plain)
	b = off($4, runtime)
	n += 2
	# A ring of the engine's bell is a message to oneself there.
	if (model == "smpi" && $4 - runtime < itself[1] + 17 / itself[2] + .009) b = 0
	if (a > .03 || b > .03) {
		print "node " $1 ", " $2 " bytes: plain MPI " $3 " us, expected " plain "; runtime " $4 " us, expected " runtime
		bad++
	}
	worst = a > worst ? a : worst
	worst = b > worst ? b : worst
	if ($2 == 1) { small = small " " $3; }
	if ($2 == 67108864) { large = large sprintf(" %.2f", $2 / $3 / 1000) }
}
END {
	if (n != 20 * (split(partners, who, ",") + 1)) { print n " numbers"; bad++ }
	printf "%-44s %-7s%s us,%s GB/s, worst %.1f %%\n", name, model, small, large, 100 * worst
	exit bad > 0
}
END
# asked NAME MBS "PARTNERS" "LATENCIES" OPTIONS
asked() {
	name=$1 mbs=$2 partners=$3 latencies=$4
	shift 4
	for model in share maxmin queue $smpi tcp; do
		# shellcheck disable=SC2046
		may env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 64 --network $model "$@" "$program" $(echo "$partners" | tr , ' ') 0 || continue
		cp out times
		awk -v name="$name" -v model="$model" -v mbs="$mbs" -v partners="$partners" -v latencies="$latencies" \
			-v own="$own" -f judge.awk times > verdict || { cat verdict; die "$name, $model"; }
		cat verdict
	done
}
# Latency in us, MB/s.
own=.1,25000
asked "default" 12500 1,63 1,1
platform() { ok "$ORRERY" platform -n 64 -o p.xml "$@"; cat out; }
platform --bandwidth 10GBps --latency 2us --loopback-bandwidth 2GBps --loopback-latency 700ns
own=.7,2000
asked "crossbar, 10 GB/s, 2 us; own 2 GB/s, 0.7 us" 10000 1,63 2,2 --platform p.xml
own=.1,25000
platform --topology fat-tree --shape 8,8 --latency 1.2us
asked "fat tree, 1.2 us" 12500 1,63 1.2,1.2 --platform p.xml
platform --topology fat-tree --shape 8,8 --taper 2 --latency 1.2us --hop-latency 100ns
asked "fat tree, taper 2, 1.2 us and 100 ns" 12500 1,63 1.2,1.4 --platform p.xml
platform --topology fat-tree --shape 8,8 --link-latency 500ns --bandwidth 25GBps
asked "fat tree, 25 GB/s, 500 ns a link" 25000 1,63 1,2 --platform p.xml
platform --topology dragonfly --shape 4,2,4,2 --latency 1.5us
asked "dragonfly, 1.5 us" 12500 1,63 1.5,1.5 --platform p.xml
platform --topology torus --shape 4,4,4 --latency 1us
asked "torus, 1 us, 1 and 6 links" 12500 1,42 1,6 --platform p.xml
