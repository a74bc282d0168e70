#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Copies of eager messages: the sender copies one into a buffer of MPI while it leaves, and the receiver
# copies one that came before its receive out of it. All answers are computed here.
# orr-test: world sim
# orr-test: timeout 240
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/eager.sim

# Two links from node to node: 10 us and 1 GB/s; `fast`: 1 us and 50 GB/s; `long`: 100 us and 8 GB/s. All bytes are copied at 8 GB/s
# (131.072 us for 1 MiB), if nothing else is said. SMPI's own start of a message takes up to 0.02 us.
platform() {
	cat > "$1.xml" <<- X
	<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
	<cluster id="c" prefix="c" suffix="" radical="0-1" speed="1Gf" bw="$2" lat="$3" loopback_bw="25GBps" loopback_lat="0us"/></platform>
	X
}
platform slow 1GBps 5us
platform fast 50GBps 500ns
platform long 8GBps 50us

none="--cost-submit 0 --cost-foreign 0 --cost-complete 0 --cost-sched 0 --cost-message 0"
ncases=0
# takes SEND RECEIVE KIND BYTES LATE_US NUMBER: so many microseconds, within 0.1 % and 0.1 us; - : whatever.
# With $options, on $platform, with each of $models.
takes() {
	send=$1 receive=$2
	shift 2
	# Without private names of SimGrid, messages of plain MPI leave when their receive is posted.
	if [ -z "$smpi" ] && [ "$1" != runtime ]; then return; fi
	for model in $models; do
		ncases=$((ncases + 1))
		# shellcheck disable=SC2086
		ok "$ORRERY" sim --quiet $none -n 2 --platform "$platform.xml" --quantum 0 --network "$model" $options \
			"$program" "$@"
		awk -v send="$send" -v receive="$receive" '
			function off(x, y) { return y != "-" && (x < y * .999 - .1 || x > y * 1.001 + .1) }
			$1 == "send" { n++; bad += off($2, send) }
			$1 == "receive" { n++; bad += off($2, receive) }
			END { exit bad || n != 2 }' out || { cat out; die "$model, $platform $options: not $send and $receive us: $*"; }
	done
}

options="--cost-buffer 131.072" platform=slow models=share
# The sender: bytes over 8 GB/s, whether or not somebody waits. The receiver: the same if they are there.
for bytes in 1600 8000 32000 65535; do
	copy=$(awk -v b=$bytes 'BEGIN { print b / 8000 }')
	way=$(awk -v b=$bytes 'BEGIN { print 10 + b / 1000 }')
	takes "$copy" "$copy" plain $bytes 500 1
	takes "$copy" "$(awk -v w="$way" 'BEGIN { print 500 + w }')" plain $bytes -500 1
	# A ping-pong takes what the network does.
	takes "$way" - pingpong $bytes 0 20
done
# Above the limit nothing is copied: both wait for each other.
takes 576 76 plain 66000 500 1
takes 76 576 plain 66000 -500 1
# Half of the message is under way when the receive is posted: nothing lies in a buffer.
takes 4 17 plain 32000 25 1
# Several are copied one after the other, by either side, however they are received. The link has them all
# within 8 x 32 + 10 us; those that are expected come as they come, at 1 GB/s.
for kind in plain waits parts; do
	takes 32 32 $kind 32000 500 8
	takes 32 766 $kind 32000 -500 8
done
# Very many very short ones, with 16 bytes of SMPI's own: the simulator lets time pass for many of them at once.
options="--cost-buffer 131.072 --quantum 1"
takes 0.75 0.75 plain 8 500 256
# Half of the speed; none.
options="--cost-buffer 262.144"
takes 8 8 plain 32000 500 1
options="--cost-buffer 0"
takes 0 0 plain 32000 500 1
takes 0 0 waits 32000 500 8
# The default is the same; ORR_SIM_COSTS=0 leaves copies out.
options=
takes 4 4 plain 32000 500 1
export ORR_SIM_COSTS=0
takes 0 0 plain 32000 500 1
unset ORR_SIM_COSTS
# The sender copies while the bytes leave, 1 us and 32000 bytes at 50 GB/s: a ping-pong measures the network
# there, too.
options="--cost-buffer 131.072" platform=fast
takes 1.64 4 plain 32000 500 1
takes 1.64 - pingpong 32000 0 20
takes 13.12 32 plain 32000 500 8

# Data of the runtime, with each model. One that comes before its receive lies in a buffer of the runtime, and
# is copied into the datum: 500 us late, and the copy. Above 64 KiB it waits for 200 us after its envelope, which
# takes 10 us and 0.06, and then goes there.
platform=slow models="share maxmin queue $smpi"
for bytes in 2000 32000 65535; do
	takes - "$(awk -v b=$bytes 'BEGIN { print b / 8000 }')" runtime $bytes 500 1
done
takes - 12.5 runtime 100000 500 1
takes - 32 runtime 32000 500 8
# Expected ones go straight there. The few bytes in an envelope (below 4,096) are near.
takes - 512.05 runtime 2000 -500 1
takes - 542.1 runtime 32000 -500 1
takes - 620.07 runtime 100000 -500 1
options="--cost-buffer 0"
takes - 0 runtime 32000 500 1
takes - 0 runtime 100000 500 1
takes - 512.05 runtime 2000 -500 1
# The engine of the sender is busy with its copies, at 1 GB/s here: the eighth payload leaves after seven of
# them, and takes 100 us and 4. At 8 GB/s the network is the slower one: 100 us and 32.
platform=long
options="--cost-buffer 1048.576"
takes - 828 runtime 32000 -500 8
options="--cost-buffer 131.072"
takes - 632 runtime 32000 -500 8

# A machine's own number: 2 GB/s.
"$ORRERY" machine laptop8 > /dev/null || die "no machine laptop8"
mkdir -p m/bus
for f in config affinity bandwidth latency costs; do cp "$ORR_TEST_SRCDIR/platforms/machines/laptop8/bus/laptop8.$f" "m/bus/m.$f"; done
echo "buffer_us 524.288" >> m/bus/m.costs
options="--machine ./m" platform=slow models=share
takes 16 16 plain 32000 500 1
takes - 50 runtime 100000 500 1
options="--machine ./m --cost-buffer 131.072"
takes 4 4 plain 32000 500 1
echo "$ncases cases"
