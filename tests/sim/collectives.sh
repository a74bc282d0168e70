#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Collective operations of the program's own MPI are right, and take no less than the least that
# their bytes and steps need, nor much more than the algorithms of the MPI that is meant.
# `orrery sim --cfg` takes the settings of SMPI that choose the algorithms: each takes the time that
# its messages take. Settings and values that do not exist are refused by name.
# orr-test: timeout 600
# orr-test: debug none
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/collectives.sim
# Copies of messages keep their memory: the system would fill gigabytes with zeroes, again and again.
export MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=1073741824

# Eight hosts on a switch. One message of 16 MiB takes 16.8 ms.
cat > p.xml << 'X'
<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
<cluster id="c" prefix="c" suffix="" radical="0-7" speed="1Gf" bw="1GBps" lat="0s"/></platform>
X
# broadcast LEAST MOST OPTIONS: the time is so many times that of one message.
plain="--platform p.xml --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1"
broadcast() {
	least=$1 most=$2
	shift 2
	ok "$ORRERY" sim -n 8 $plain "$@" "$program"
	us=$(sed -n 's/^broadcast \([0-9]*\) us$/\1/p' out)
	awk -v us="$us" -v least="$least" -v most="$most" 'BEGIN { n = us / 16777; print n " messages"; exit n < least || n > most }' ||
		die "a broadcast takes $us us, not $least to $most messages: $*"
}
# The root sends to each of the others; the number of holders doubles; eighths are scattered and then passed round.
broadcast 6.9 7.2 --cfg=smpi/bcast:flattree
broadcast 2.9 3.2 --cfg=smpi/bcast:binomial_tree
broadcast 1.7 1.8 --cfg=smpi/bcast:scatter_LR_allgather
broadcast 2.9 3.2 --cfg smpi/bcast:binomial_tree
# The last one counts; a selector chooses for all collectives.
broadcast 2.9 3.2 --cfg=smpi/bcast:flattree --cfg=smpi/bcast:binomial_tree
# Open MPI takes a loop for 8 ranks and 32 KiB or more, MPICH a tree here.
broadcast 6.9 7.2
broadcast 2.9 3.1 --collectives mpich
broadcast 2.9 3.1 --cfg=smpi/coll-selector:default
broadcast 1.7 1.8 --cfg=smpi/coll-selector:mvapich2
# In the platform, too.
sed 's,<cluster,<config id="General"><prop id="smpi/bcast" value="flattree"/></config>&,' p.xml > c.xml
mv c.xml p.xml
broadcast 6.9 7.2

# Each operation, 5 sizes, for numbers of ranks with and without a power of two. The program checks
# what was received and says so; the times are held against bounds.
sed 's,0-7,0-63,' p.xml | sed 's,<config.*</config>,,; s,lat="0s",lat="5us",' > big.xml
sed 's,0-63,0-99,' big.xml > huge.xml
cat > bounds.py <<'END'
import math, sys
# 1 GB/s for each direction of a node (the bytes of a message's head included), 10 us.
LATENCY, BANDWIDTH = 10.0, 1000.0
worst = {}
for line in sys.stdin:
    what, ranks, size, us = line.split()
    n, s, us = int(ranks), float(size), float(us)
    steps = math.ceil(math.log2(n)) * LATENCY
    part = (n - 1) / n * s / BANDWIDTH
    least = {"barrier": LATENCY, "bcast": s / BANDWIDTH, "reduce": s / BANDWIDTH, "allreduce": 2 * part,
             "scan": s / BANDWIDTH}.get(what, part)
    least = max(least, LATENCY) if what != "bcast" else least
    if us < 0.999 * least:
        sys.exit(f"{what}, {n} ranks, {size} bytes: {us} us, and {least:.1f} is the least")
    worst[what] = max(worst.get(what, 0), us / max(least, 20 * steps))
    if us > (2 if what == "allreduce" else 1) * n * (s / BANDWIDTH + LATENCY) * 1.01 + steps:
        sys.exit(f"{what}, {n} ranks, {size} bytes: {us} us, more than one message after the other")
print(worst)
END
for mpi in openmpi mpich; do
	for n in 2 3 5 8 12; do
		ok "$ORRERY" sim --quiet -n $n --platform big.xml --collectives $mpi "$program" all
		grep -c . out > lines
		[ "$(cat lines)" -ge 55 ] || die "$mpi, $n ranks: only $(cat lines) results"
		python3 bounds.py $mpi < out || die "$mpi, $n ranks"
	done
done
# The first operation takes no longer than others.
for mpi in openmpi mpich; do
	ok "$ORRERY" sim --quiet -n 16 --platform big.xml --collectives $mpi "$program" first
	awk '/^first/ { found = 1; exit $2 > 1.01 * $5 || $2 < 20 } END { exit !found }' out || { cat out; die "$mpi: the first broadcast takes longer"; }
done
# More ranks than the tables of Open MPI have a first line for.
for n in 67 100; do
	ok "$ORRERY" sim --quiet -n $n --platform huge.xml "$program" small
	python3 bounds.py openmpi < out || die "$n ranks"
done
# Six steps of a dissemination, and the ring's 2 x 15 / 16 of the time of one message.
ok "$ORRERY" sim --quiet -n 64 --platform big.xml "$program" barrier
awk '$1 == "barrier" { found = 1; exit $4 < 60 || $4 > 80 } END { exit !found }' out || die "a barrier of 64 ranks does not take six steps of 10 us"
ok "$ORRERY" sim --quiet -n 16 --platform big.xml "$program" allreduce
awk '$1 == "allreduce" && $3 == 16777216 { found = 1; exit $4 > 32500 } END { exit !found }' out || die "an allreduce of 16 MiB on 16 ranks takes more than 32.5 ms"

refused() { regex=$1; shift; fails 1 "$regex" "$ORRERY" sim -n 8 "$@" "$program"; [ "$(wc -l < err)" = 1 ] || die "more than one message: $*"; }
refused '^orrery sim: --cfg=smpi/bcats:flattree: SimGrid cannot use it: .*smpi/bcats; ' --cfg=smpi/bcats:flattree
refused '^orrery sim: --cfg=nothing/at-all:1: SimGrid cannot use it: .*nothing/at-all; ' --cfg=nothing/at-all:1
refused '^orrery sim: --cfg=bcast: SimGrid cannot use it: .*bcast.*name:value' --cfg=bcast
refused "a setting of SMPI .*: Collective 'bcast' has no algorithm 'oak'! Valid .* flattree,.*; " --cfg=smpi/bcast:oak
refused "a setting of SMPI .*: Collective '[a-z]*' has no algorithm 'oak'!" --cfg=smpi/coll-selector:oak
refused '^orrery sim: --cfg=smpi/async-small-thresh:x: SimGrid cannot use it: ' --cfg=smpi/async-small-thresh:x
refused "^orrery sim: --cfg=smpi/shared-malloc:x: SimGrid cannot use it: Invalid value 'x'" --cfg=smpi/shared-malloc:x
refused 'a setting of SMPI .*smpi/async-small-thresh .*should be smaller' --cfg=smpi/async-small-thresh:70000
for factor in 1 0 x:1 0:x '0:1;2' '0:1;3:' ; do
	refused "a setting of SMPI .*smpi/bw-factor:$factor: expected SIZE:VALUE" --cfg="smpi/bw-factor:$factor"
done
