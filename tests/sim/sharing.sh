#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Messages that share a link get equal parts of it, whatever their latencies, and may be under way
# without a window: random messages on random platforms against max-min by hand, in the models. The
# shares and the window of TCP are there when they are asked for.
# orr-test: world sim
# orr-test: timeout 180
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/network.sim
oracle=$ORR_TEST_SRCDIR/tests/sim/sharing.py

for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	flows=$(python3 "$oracle" $seed p.xml) || die "the oracle fails"
	for model in maxmin:0.01 share:0.05; do
		# shellcheck disable=SC2086
		may env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 8 --platform p.xml --network ${model%:*} "$program" $flows || continue
		python3 "$oracle" $seed ${model#*:} < out > verdict || { cat verdict; die "${model%:*}"; }
	done
done

# A long way: 100,000 KiB over 10 GB/s and 10 ms. The window of TCP lets 4 MiB be under way.
cat > p.xml << 'X'
<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
<zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><link id="l" bandwidth="10GBps" latency="10ms"/>
<route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>
X
# wide US OPTIONS: the message takes that long, within 1 %.
wide() {
	want=$1
	shift
	for model in share maxmin queue $smpi tcp; do
		ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 2 --platform p.xml --network $model "$@" "$program" 0 1 100000
		us=$(sed -n 's/^message 0 \([0-9.]*\) us$/\1/p' out)
		awk -v us="$us" -v want="$want" 'BEGIN { exit !(us > want * .99 && us < want * 1.01) }' || die "$model: $us us, not $want: $*"
	done
}
wide 30240
wide 508281 --cfg network/TCP-gamma:4194304
