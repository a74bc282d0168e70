#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Networks by name: a ping-pong of plain MPI takes what was published for the network (the numbers below are from the
# sources that sim/launcher/networks.def names), with `orrery sim --like` and on a fat tree of `orrery platform --like`,
# and the runtime's messages take the same curve (InfiniBand HDR: in each model). The name is in the last lines and in the report.
# orr-test: world sim
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/asked.sim

# Name, bytes, microseconds. Where only a latency and a bandwidth were published: latency + bytes / bandwidth.
cat > published << 'END'
ethernet-10 1 22.48
ethernet-10 1024 31.06
ethernet-10 65536 229.79
ethernet-10 4194304 7055.16
ethernet-100 1 1.68
ethernet-100 65536 7.03
ethernet-100 4194304 343.95
infiniband-hdr 1 1.61
infiniband-hdr 1024 2.59
infiniband-hdr 65536 9.46
infiniband-hdr 4194304 179.11
infiniband-ndr 1 2.00
infiniband-ndr 65536 3.31
infiniband-ndr 4194304 85.89
omni-path-100 1 0.71
omni-path-100 65536 6.00
omni-path-100 4194304 339.49
slingshot-11 1 1.80
slingshot-11 65536 4.53
slingshot-11 4194304 176.24
END
cat > judge.py << 'END'
import os
import sys
sys.dont_write_bytecode = True
source, name, model = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "tools"))
import orrery_networks
network = orrery_networks.read(os.path.join(source, orrery_networks.TABLE))[name]
published = {int(size): float(us) for which, size, us in map(str.split, open("published")) if which == name}
ENVELOPE, LATE = 40, 65536


def curve(size):
    slower, part = network.factors(size + orrery_networks.HEADER)
    return 1e6 * (network.latency * slower + (size + orrery_networks.HEADER) / (network.bytes_per_s * part))


worst, seen = 0, 0
for _, size, plain, runtime in map(str.split, open("times")):
    size, plain, runtime = int(size), float(plain), float(runtime)
    pairs = [(plain, curve(size)), (runtime, curve(size + ENVELOPE) + (curve(0) if size >= LATE else 0))]
    if size in published:
        pairs.append((plain, published[size]))
        seen += 1
    for got, want in pairs:
        off = max(got / want, want / got) - 1
        if model == "smpi" and abs(got - want) < .11:  # a ring of the engine's bell is a message to oneself there
            off = 0
        worst = max(worst, off)
        if off > .03:
            sys.exit("%s, %s, %d bytes: %.2f us, expected %.2f us" % (name, model, size, got, want))
assert seen == len(published) >= 3, (seen, published)
print("%-15s %-7s worst %.1f %%" % (name, model, 100 * worst))
END
judge() {
	"$PYTHON" judge.py "$ORR_TEST_SRCDIR" "$@" > verdict 2>&1 || { cat verdict; die "$*"; }
	cat verdict
}
for name in $(cut -d' ' -f1 published | uniq); do
	models=share
	case $name in ethernet-*) models="share tcp" ;; esac
	[ "$name" != infiniband-hdr ] || models="share maxmin queue $smpi"
	for model in $models; do
		ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 2 --like "$name" --network $model "$program" 1
		cp out times
		judge "$name" $model
	done
	ok "$ORRERY" platform -n 4 --topology fat-tree --shape 2,2 --like "$name" -o p.xml
	cp out got
	has got 'a message alone of'
	ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 4 --platform p.xml "$program" 3
	cp out times
	judge "$name" "fat tree"
	# `orrery platform` says what was measured.
	want=$(awk '$2 == 4194304 { printf "%d", $3 }' times)
	has got "far nodes.* $want[.][0-9]+ us"
	# The one size that was published.
	[ "$name" != omni-path-100 ] || has got 'near nodes +0[.]71 us +1[.]04 us'
done

ok "$ORRERY" sim -n 2 --like infiniband-hdr --report r.json "$program" 1
has err 'platform default like infiniband-hdr, network share \(24\.62 GB/s, 1\.61 us\)'
has r.json 'default cluster like infiniband-hdr'
ok "$ORRERY" platform -n 2 --like slingshot-11 -o p.xml
ok "$ORRERY" sim -n 2 --platform p.xml --report r.json "$program" 1
has err 'platform p.xml like slingshot-11, network share \(24\.04 GB/s, 1\.8 us\)'
has r.json 'p.xml like slingshot-11'
# --cfg comes first.
ok env ORR_SIM_COSTS=0 "$ORRERY" sim --quiet -n 2 --like ethernet-10 --cfg smpi/lat-factor:0:2 --cfg smpi/bw-factor:0:1 "$program" 1
has out '^1 1 44\.9'

fails 2 '--like myrinet: expected ethernet-10, ethernet-100, infiniband-hdr, infiniband-ndr, omni-path-100 or slingshot-11' "$ORRERY" sim --like myrinet "$program"
fails 2 '--like myrinet: there are ethernet-10, ethernet-100, infiniband-hdr, infiniband-ndr, omni-path-100, slingshot-11' "$ORRERY" platform -n 2 --like myrinet
fails 2 '--like excludes --bandwidth' "$ORRERY" platform -n 2 --like ethernet-10 --bandwidth 1GBps
fails 1 '--like ethernet-10 and --platform p.xml exclude each other' "$ORRERY" sim --like ethernet-10 --platform p.xml "$program"
sed '/^<!-- checksum/d; s/slingshot-11/myrinet/' p.xml > q.xml
fails 1 'a network like myrinet is unknown; there are: ethernet-10 ' "$ORRERY" sim -n 2 --platform q.xml "$program" 1
# Each network of the table has a source and is one of those above.
"$PYTHON" - "$ORR_TEST_SRCDIR" << 'END' || die "the table"
import os
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.argv[1], "tools"))
import orrery_networks
networks = orrery_networks.read(os.path.join(sys.argv[1], orrery_networks.TABLE))
assert set(networks) == {line.split()[0] for line in open("published")}, networks
assert all("https://" in network.source for network in networks.values())
END
