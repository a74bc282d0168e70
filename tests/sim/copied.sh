#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Data that do not lie in a row, or are packed, are copied by both ends of their message, and by both ends of their tree.
# All answers are computed here. Trees are chosen with the copies into buffers of MPI: none takes longer than a message
# to each reader.
# orr-test: world sim
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/copied.sim

# Two links from node to node: 10 us and 1 GB/s. Copies at 8 GB/s: 131.072 us for 1 MiB.
cat > slow.xml << 'X'
<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
<cluster id="c" prefix="c" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="5us" loopback_bw="25GBps" loopback_lat="0us"/></platform>
X
none="--cost-submit 0 --cost-foreign 0 --cost-complete 0 --cost-sched 0 --cost-message 0 --quantum 0"
ncases=0
# runs N OPTIONS SHAPE HOW BYTES: the send and the last receive, in us, in $send and $receive.
runs() {
	n=$1 options=$2
	shift 2
	# shellcheck disable=SC2086
	ok "$ORRERY" sim --quiet $none -n "$n" $options "$program" "$@"
	send=$(sed -n 's/^send \(.*\) us$/\1/p' out)
	receive=$(awk '$1 == "receive" { n = $2 > n ? $2 : n } END { print n }' out)
}
# takes COPIES_SENDER COPIES_RECEIVER SHAPE HOW BYTES: as long as a vector, and so many copies of it, at either end;
# whether or not there are payloads, with each model. The sender copies while the envelope is under way, if there is one.
takes() {
	of_sender=$1 of_receiver=$2 shape=$3 how=$4 bytes=$5 n=2
	[ "$how" != tree ] || n=4
	hidden=0
	if [ "$how" = ssend ] || [ "$how$((bytes < 65536))" = send0 ]; then hidden=10.06; fi
	for model in $models; do
		runs $n "--platform slow.xml --network $model" vector "$how" "$bytes"
		alone_send=$send alone_receive=$receive
		for kernels in run skip; do
			ncases=$((ncases + 1))
			runs $n "--platform slow.xml --network $model --kernels $kernels" "$shape" "$how" "$bytes"
			echo "$send $receive $alone_send $alone_receive" | awk -v s="$of_sender" -v r="$of_receiver" -v b="$bytes" -v h="$hidden" '
				function off(x, y) { return x < y - .1 || x > y + .1 }
				{
					first = s * b / 8000 - h
					if (first < 0)
						first = 0
					exit off($1, $3 + first) || off($2, $4 + first + r * b / 8000)
				}' ||
				die "$model, $kernels: $shape $how $bytes: $send and $receive us, a vector $alone_send and $alone_receive, not $of_sender and $of_receiver copies more"
		done
	done
}
models="share maxmin queue $smpi"
# From 64 KiB on, MPI packs into a buffer of its own, and out of one; below, a message is copied into its buffer anyway.
for shape in rows columns; do
	takes 0 0 $shape send 32768
	takes 1 1 $shape send 102400
done
models=share
for shape in rows columns; do
	takes 1 1 $shape send 1048576
	# A message that waits for its receive is packed at any size.
	takes 1 1 $shape ssend 32768
	takes 1 1 $shape ssend 102400
	# One copy out of the buffer where it lies, as of data in a row.
	takes 0 0 $shape late 32768
	takes 0 0 $shape late 1048576
	# The root gathers, once, and each reader scatters.
	takes 0 2 $shape tree 32768
	takes 0 2 $shape tree 102400
	takes 0 2 $shape tree 1048576
done
# A type of the program without gaps, which only a tree copies, at each reader.
takes 0 0 bytes send 102400
takes 0 0 bytes ssend 32768
takes 0 1 bytes tree 102400
# Packed data are packed at any size that has a message of its own; a tree's readers copy it to unpack it.
takes 1 1 packed send 32764
takes 1 1 packed send 102397
takes 1 1 packed ssend 32764
takes 0 0 packed late 1048576
takes 0 3 packed tree 32764
takes 0 3 packed tree 1048576
# The program packs, or unpacks, itself.
for shape in vector rows packed; do
	bytes=102397
	[ $shape = packed ] || bytes=102400
	for kernels in run skip; do
		runs 2 "--kernels $kernels" $shape pack $bytes
		awk -v s="$send" -v r="$receive" 'function off(x) { return x < 12.75 || x > 12.85 } BEGIN { exit off(s) || off(r) }' ||
			die "$shape, $kernels: packed in $send us, unpacked in $receive us"
		ncases=$((ncases + 1))
	done
done

# Nothing, if copies take no time.
for how in send tree; do
	runs 4 "--platform slow.xml --cost-buffer 0" rows $how 102400
	strided=$receive
	runs 4 "--platform slow.xml --cost-buffer 0" vector $how 102400
	[ "$strided" = "$receive" ] || die "$how without copies: $strided us, not $receive"
	ncases=$((ncases + 1))
done

# 12.5 GB/s: copies of 8 GB/s are what keeps a sender busy.
for readers in 3 7 15; do
	for bytes in 8192 16384 32768 61440 131072; do
		STARPU_MPI_COOP_SENDS=0 runs $((readers + 1)) "--kernels skip" vector tree $bytes
		each=$receive
		runs $((readers + 1)) "--kernels skip" vector tree $bytes
		awk -v t="$receive" -v e="$each" 'BEGIN { exit t > e * 1.001 }' || die "$bytes bytes to $readers readers: $receive us in a tree, $each to each"
		ncases=$((ncases + 1))
	done
done
# Three rounds of 1.3 us and 1 us; to each in turn there would be seven copies.
runs 8 "--kernels skip" vector tree 16384
awk -v t="$receive" 'BEGIN { exit t > 7.1 }' || die "16 KiB to 7 readers take $receive us"
echo "$ncases cases"
