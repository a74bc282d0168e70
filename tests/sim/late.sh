#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Messages whose receive is posted late: short ones are there, long ones of plain MPI leave when it is
# posted, and long payloads of the runtime wait 200 us for it, then go to a buffer.
# orr-test: world sim
# orr-test: timeout 180
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/late.sim

cat > p.xml << 'X'
<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="5us" loopback_bw="25GBps" loopback_lat="0us"/></platform>
X
# late SEND RECEIVE KIND BYTES US: so long they take, within 1 % and 1.5 us. A short message of the runtime
# is complete for its sender at once with smpi, and when it has come with the other models.
late() {
	send=$1 receive=$2
	shift 2
	# Without private names of SimGrid, all messages of plain MPI leave when their receive is posted.
	if [ -z "$smpi" ] && [ "$1" = plain ] && [ "$3" != 0 ]; then return; fi
	for model in share maxmin queue $smpi; do
		ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 2 --platform p.xml --network $model "$program" "$@"
		[ $model,$1 != smpi,runtime ] || [ "$2" -ge 65536 ] || send=0
		awk -v send="$send" -v receive="$receive" 'function off(x, y) { return x < y * .99 - 1.5 || x > y * 1.01 + 1.5 }
			$1 == "send" { n++; bad += off($2, send) }
			$1 == "receive" { n++; bad += off($2, receive) }
			END { exit bad || n != 2 }' out || { cat out; die "$model: not $send and $receive us: $*"; }
	done
}
# Posted in time: 10 us, and 1 ns for a byte. A message of plain MPI that is short costs its sender nothing.
late 0 10 plain 8 0
late 0 42 plain 32000 0
late 1010 1010 plain 1000000 0
for us in 100 1000 5000; do
	late 0 0 plain 8 $us
	late 0 0 plain 32000 $us
	late $((us + 1010)) 1010 plain 1000000 $us
done
# The runtime sends an envelope first. A payload of 1 MB waits from 10 us to 210 us.
late 10 10 runtime 8 0
for us in 1000 5000; do
	late 10 0 runtime 8 $us
	late 42 0 runtime 32000 $us
	late 1220 $((us < 1220 ? 1220 - us : 0)) runtime 1000000 $us
done
late 1110 1010 runtime 1000000 100
