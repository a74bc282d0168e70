# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery platform`: writes SimGrid platform files (DTD version 4.1) from a few
# numbers. One <cluster> per file; its hosts, in order, are the nodes. It is in a zone, because SimGrid 4.0 reads no torus, fat tree or
# dragonfly without one.
# Invariant: the file declares exactly as many hosts as were asked for if the
# topology can have that many; otherwise it declares more, and a message says so.
import math
import os
import re
import sys

from orrery_cli import UserError
import orrery_checksum
import orrery_networks
import orrery_switches
from orrery_words import Word, parse as read_words, usage

OPTIONS = [
    Word("-n", "N", "number of nodes"),
    Word("--topology", "T", "crossbar (default): every node has a link to one\nswitch that never saturates\nfat-tree, dragonfly, torus", "crossbar"),
    Word("--shape", "SHAPE", "dimensions of the topology instead of chosen ones:\ntorus: X,Y,Z\nfat-tree: NODES,LEAVES (nodes per leaf switch, and\n"
         "number of leaf switches)\ndragonfly: GROUPS,CHASSIS,ROUTERS,NODES"),
    Word("--taper", "T", "fat-tree only: the nodes of a leaf switch have T times\nthe bandwidth of its links to the spine switches\n"
         "(default 1; as many spine switches as that leaves)"),
    Word("--switches", "FILE", "the switches and hosts of Slurm's topology.conf, or of\na file like it, instead of a topology"),
    Word("--uplink-bandwidth", "B", "of the link above each of these switches, which the\nhosts below it share (default: that of --bandwidth)"),
    Word("--bandwidth", "B", "that a ping-pong of long messages between two nodes\nmeasures (default 12.5GBps)", "12.5GBps"),
    Word("--latency", "L", "that a ping-pong of short messages between two nodes\nmeasures (default 1us); in a torus: between neighbours"),
    Word("--like", "NAME", "both from what was published for a network:\nethernet-10, ethernet-100, infiniband-hdr,\ninfiniband-ndr, omni-path-100, slingshot-11; messages\ntake what a ping-pong took, by size"),
    Word("--hop-latency", "L", "fat-tree, dragonfly, --switches: what each link between\ntwo switches adds to that (default 0s)"),
    Word("--link-latency", "L", "of each link, instead of the two options above: a\nmessage crosses two links in a crossbar, and up to\nfour in a fat tree"),
    Word("--loopback-bandwidth", "B", "of a node's link to itself (default 25GBps)", "25GBps"),
    Word("--loopback-latency", "L", "of the same link (default 100ns)", "100ns"),
    Word("--backbone-bandwidth", "B", "crossbar only: a shared backbone behind the switch"),
    Word("--speed", "S", "of a node (default 1Gf); the machine decides what\nkernels cost, see `orrery sim --machine`", "1Gf"),
    Word("--machine", "NAME", "machine of every node (a host property)"),
    Word("--prefix", "P", "names of hosts: P0, P1, ... (default node-)", "node-"),
    Word("-o", "FILE", "file to write (default: standard output)", "-"),
]
HELP = """usage: orrery platform -n N [--topology T] [options] [-o FILE]
       orrery platform --switches FILE [-n N] [options] [-o FILE]

Writes a SimGrid platform file for `orrery sim --platform FILE`.

%s

Units: bandwidth Bps kBps MBps GBps KiBps ... bps Mbps Gbps; time s ms us ns;
speed f kf Mf Gf Tf. A torus, dragonfly or fat tree needs a product of its
dimensions; the smallest well-proportioned shape with at least N places is chosen, and the
message says how many hosts were written; `orrery sim -n N` uses the first N.

With -o FILE, the command prints what messages get: the time and the bandwidth of 1 B, 4 KiB,
64 KiB and 4 MiB between near and far nodes, and the bandwidth between two halves.
""" % usage(OPTIONS, 30)
NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
SIZES = (1, 4 << 10, 64 << 10, 4 << 20)
HEADER = 16  # bytes that each message has in addition
UNITS = {
    "bandwidth": (r"(?:[kMGTPEZY]|[KMGTPEZY]i)?(?:Bps|bps)", "12.5GBps"),
    "latency": (r"(?:s|ms|us|ns|ps)", "1us"),
    "speed": (r"(?:[kMGTPEZY]|[KMGTPEZY]i)?f(?:lops)?", "1Gf"),
}


def check_quantity(option, value):
    if value is None:
        return
    kind = next(kind for kind in UNITS if kind in option)
    unit, example = UNITS[kind]
    match = re.fullmatch("(%s)(%s)" % (NUMBER, unit), value)
    if not match:
        raise UserError("%s %s: not a %s; write a number and its unit, for instance %s" % (option, value, kind, example))
    if float(match.group(1)) == 0 and kind != "latency":
        raise UserError("%s %s: must be more than zero" % (option, value))


def parse(arguments, networks):
    options = dict.fromkeys(word.key for word in OPTIONS)
    options.update(read_words(OPTIONS, arguments, "orrery platform")[0])
    given = {word.partition("=")[0] for word in arguments}
    options["network"] = settle_like(options, given, networks)
    options["tree"] = settle_switches(options, given)
    if options["-n"] is None:
        raise UserError("how many nodes? Give -n N")
    if not options["-n"].isdigit() or int(options["-n"]) < 1:
        raise UserError("-n %s: the number of nodes must be a positive integer" % options["-n"])
    options["-n"] = int(options["-n"])
    if options["--topology"] not in TOPOLOGIES and not options["tree"]:
        raise UserError("--topology %s: there are %s" % (options["--topology"], ", ".join(TOPOLOGIES)))
    for name in options:
        if any(kind in name for kind in UNITS):
            check_quantity(name, options[name])
    settle_latency(options)
    settle_taper(options)
    for name in ("--prefix", "--machine"):
        if options[name] and not re.fullmatch(r"[-\w./]+", options[name]):
            raise UserError("%s %s: letters, digits and the characters - _ . / only" % (name, options[name]))
    return options


def settle_like(options, given, networks):
    """The network of --like, or None; it decides about latency and bandwidth."""
    name = options["--like"]
    if name is None:
        return None
    if name not in networks:
        raise UserError("--like %s: there are %s" % (name, ", ".join(networks)))
    for other in ("--bandwidth", "--latency", "--link-latency"):
        if other in given:
            raise UserError("--like excludes %s: it gives both latency and bandwidth" % other)
    options["--bandwidth"] = "%.9gBps" % networks[name].bytes_per_s
    options["--latency"] = "%.9gus" % (1e6 * networks[name].latency)
    return networks[name]


def settle_switches(options, given):
    """The switches of --switches, or None; they decide about hosts and their names."""
    if options["--switches"] is None:
        if options["--uplink-bandwidth"]:
            raise UserError("--uplink-bandwidth is about the links above switches; add --switches FILE")
        return None
    for other in ("--topology", "--shape", "--taper", "--backbone-bandwidth", "--prefix", "--link-latency"):
        if other in given:
            raise UserError("--switches excludes %s: the file says how hosts are joined, and what they are called" % other)
    tree = orrery_switches.Tree(options["--switches"])
    options["-n"] = options["-n"] or str(len(tree.hosts))
    options["--topology"] = "switches"
    return tree


def settle_latency(options):
    topology = options["--topology"]
    if options["--link-latency"]:
        for other in ("--latency", "--hop-latency"):
            if options[other]:
                raise UserError("--link-latency excludes %s: it is the latency of each link" % other)
    if options["--hop-latency"] and topology not in SWITCHED:
        raise UserError("--hop-latency: a %s has no links between switches; leave it out" % topology)
    options["--latency"] = options["--latency"] or "1us"


def settle_taper(options):
    text = options["--taper"]
    if text and options["--topology"] != "fat-tree":
        raise UserError("--taper is about fat trees; add --topology fat-tree")
    if text and not (re.fullmatch(NUMBER, text) and float(text) >= 1):
        raise UserError("--taper %s: expected a number of 1 or more" % text)


def seconds(text):
    """The seconds of a latency with its unit."""
    number, unit = re.fullmatch("(%s)([a-z]+)" % NUMBER, text).groups()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}[unit]


def bytes_per_s(text):
    """The bytes per second of a bandwidth with its unit."""
    number, prefix, unit = re.fullmatch("(%s)([kKMGTPEZY]?i?)(Bps|bps)" % NUMBER, text).groups()
    power = "KMGTPEZY".find(prefix[:1].upper()) + 1 if prefix else 0
    return float(number) * (1024 if prefix.endswith("i") else 1000) ** power / (8 if unit == "bps" else 1)


def shape_of(options, count):
    """The user's --shape as COUNT positive integers, or None."""
    text = options["--shape"]
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) != count or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise UserError("--shape %s: this topology takes %d positive integers separated by commas" % (text, count))
    return [int(part) for part in parts]


def smallest_box(nodes, sides):
    """SIDES numbers, largest first, none more than four times another, whose product is
    the least that is >= NODES; among equals the most cubic ones."""
    root = nodes ** (1.0 / sides)
    best = None

    def extend(box):
        nonlocal best
        if len(box) == sides - 1:
            box = box + [-(-nodes // product(box))]
            key = (max(box) > 4 * min(box), product(box), max(box) - min(box))
            if best is None or key < best[0]:
                best = (key, sorted(box, reverse=True))
            return
        for side in range(max(1, math.floor(root / 4)), math.ceil(2 * root) + 1):
            extend(box + [side])
    extend([])
    return best[1]


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


class Network:
    """A topology: its places, its attributes in the file, and what a message crosses. `near` and `far` are numbers of
    links (None: by the place), `half` the bandwidth between two halves in bytes per second (None: by the places)."""

    def __init__(self, places, attributes, words, near, far, half):
        self.places, self.attributes, self.words = places, attributes, words
        self.near, self.far, self.half = near, far, half


def crossbar(options):
    attributes = ""
    if options["--shape"]:
        raise UserError("--shape: a crossbar has none; leave it out or choose another --topology")
    if options["--backbone-bandwidth"]:
        attributes = 'bb_bw="%s" bb_lat="0s"' % options["--backbone-bandwidth"]
    half = options["-n"] // 2 * bytes_per_s(options["--bandwidth"])
    if attributes:
        half = min(half, bytes_per_s(options["--backbone-bandwidth"]))
    return Network(options["-n"], attributes, "every node on one switch", 2, 2, half)


def torus(options):
    nodes = options["-n"]
    if nodes < 2:
        raise UserError("-n 1: a torus needs two nodes at least; use --topology crossbar")
    text = options["--shape"]
    shape = shape_of(options, text.count(",") + 1) if text else smallest_box(nodes, 3)
    shape = [side for side in shape if side > 1] or [shape[0]]
    longest = max(shape)
    cut = product(shape) // longest * (2 if longest > 2 else 1)
    return Network(product(shape), 'topology="TORUS" topo_parameters="%s"' % ",".join(map(str, shape)),
                   "torus " + "x".join(map(str, shape)), 1, sum(side // 2 for side in shape), cut * bytes_per_s(options["--bandwidth"]))


def fat_tree(options):
    """Two levels: `down` nodes per leaf switch, `leaves` leaf switches, and as many spine
    switches as a leaf has nodes, or fewer by the taper."""
    nodes = options["-n"]
    down, leaves = shape_of(options, 2) or smallest_box(nodes, 2)
    spines = max(1, round(down / float(options["--taper"] or 1)))
    parameters = "2;%d,%d;1,%d;1,1" % (down, leaves, spines)
    cut = min(leaves // 2 * spines, down * leaves // 2) if leaves > 1 else down // 2
    return Network(down * leaves, 'topology="FAT_TREE" topo_parameters="%s"' % parameters,
                   "fat tree: %d leaf switches of %d nodes, %d spine switches, taper %.3g" % (leaves, down, spines, down / spines),
                   2, 4 if leaves > 1 else 2, cut * bytes_per_s(options["--bandwidth"]))


def dragonfly(options):
    nodes = options["-n"]
    shape = shape_of(options, 4)
    if shape is None:
        routers, groups, per_router, chassis = smallest_box(nodes, 4)
        shape = [groups, chassis, routers, per_router]
    groups, chassis, routers, _ = shape
    # SimGrid joins each pair of groups by routers of their first chassis (3.32 crashes when there are too few).
    if groups > routers:
        raise UserError("--shape: %d groups need as many routers in a chassis, here %d" % (groups, routers))
    parameters = "%d,1;%d,1;%d,1;%d" % tuple(shape)
    return Network(product(shape), 'topology="DRAGONFLY" topo_parameters="%s"' % parameters,
                   "dragonfly: %d groups of %d chassis of %d routers of %d nodes" % tuple(shape),
                   2, None, (groups // 2) * -(-groups // 2) * bytes_per_s(options["--bandwidth"]) if groups > 1 else None)


def of_switches(options):
    tree = options["tree"]
    names = list(tree.hosts)[:options["-n"]]
    links = len(tree.switches)
    return Network(len(tree.hosts), "", "%d switch%s of %s" % (links, "es" * (links > 1), options["--switches"]), 2, 2 + tree.farthest(names) if names else 2, None)


SWITCHED = ("fat-tree", "dragonfly", "switches")
TOPOLOGIES = {"crossbar": crossbar, "fat-tree": fat_tree, "dragonfly": dragonfly, "torus": torus}


def link_latency(options, network):
    """The seconds of a link that ends at a node, and of one between switches."""
    if options["--link-latency"]:
        return (seconds(options["--link-latency"]),) * 2
    first = seconds(options["--latency"]) / network.near
    return first, seconds(options["--hop-latency"] or "0s") if options["--topology"] in SWITCHED else first


def properties(options):
    lines = []
    if options["--like"]:
        lines.append('<prop id="like" value="%s"/>' % options["--like"])
    if options["--machine"]:
        lines.append('<prop id="machine" value="%s"/>' % options["--machine"])
    if options["--topology"] in SWITCHED and not options["--link-latency"]:
        lines.append('<prop id="hop_latency" value="%.9g"/>' % seconds(options["--hop-latency"] or "0s"))
    return "/>" if not lines else ">\n    %s\n  </cluster>" % "\n    ".join(lines)


def document_of_switches(options, network):
    tree, (first, between) = options["tree"], link_latency(options, network)
    names = list(tree.hosts)[:options["-n"]]
    network.places = len(names)
    own = (bytes_per_s(options["--loopback-bandwidth"]), seconds(options["--loopback-latency"]))
    node = (bytes_per_s(options["--bandwidth"]), first, options["--speed"])
    up = (bytes_per_s(options["--uplink-bandwidth"] or options["--bandwidth"]), between)
    known = "".join('<prop id="%s" value="%s"/>' % (key[2:], options[key]) for key in ("--like", "--machine") if options[key])
    return """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- Written by `orrery platform`: %s -->
<platform version="4.1">
%s</platform>
""" % (network.words.replace("--", "- -"), orrery_switches.zone(tree, names, dict.fromkeys(names, node), dict.fromkeys(tree.switches, up), own, known))


def document(options):
    network = of_switches(options) if options["tree"] else TOPOLOGIES[options["--topology"]](options)
    if options["tree"] and network.places < options["-n"]:
        raise UserError("--switches %s has %d hosts only; -n asks for %d" % (options["--switches"], network.places, options["-n"]))
    if options["tree"]:
        return document_of_switches(options, network), network
    if network.places < options["-n"]:
        raise UserError("--shape %s has room for %d nodes only; -n asks for %d" % (options["--shape"], network.places, options["-n"]))
    text = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- Written by `orrery platform`: %s -->
<platform version="4.1">
  <zone id="network" routing="Full">
  <cluster id="cluster" prefix="%s" suffix="" radical="0-%d" speed="%s" bw="%s" lat="%.9gus"
           loopback_bw="%s" loopback_lat="%s" sharing_policy="SPLITDUPLEX" %s%s
  </zone>
</platform>
""" % (network.words, options["--prefix"], network.places - 1, options["--speed"], options["--bandwidth"],
       1e6 * link_latency(options, network)[0], options["--loopback-bandwidth"], options["--loopback-latency"],
       network.attributes, properties(options))
    return text, network


def far_words(options, network):
    """The most that a message may take for its way, in seconds, or None."""
    first, between = link_latency(options, network)
    if options["--topology"] == "dragonfly":
        groups, chassis, routers, _ = map(int, re.findall(r"[0-9]+", network.words))
        inside = (routers > 1) + (chassis > 1)
        hops = 2 * inside + 1 if groups > 1 else inside
        return 2 * first + hops * between
    return min(2, network.far) * first + max(0, network.far - 2) * between


def got(options, network):
    """The lines that say what messages get."""
    first, _ = link_latency(options, network)
    bandwidth = bytes_per_s(options["--bandwidth"])
    lines = ["%-22s %13s %13s %13s %13s" % ("a message alone of", "1 B", "4 KiB", "64 KiB", "4 MiB")]
    for words, latency in ("near nodes", network.near * first), ("far nodes", far_words(options, network)):
        times = []
        for size in SIZES:
            slower, part = options["network"].factors(size + HEADER) if options["network"] else (1, 1)
            times.append(latency * slower + (size + HEADER) / (bandwidth * part))
        lines.append("  %-20s" % words + "".join(" %10.2f us" % (1e6 * time) for time in times))
        lines.append(" " * 22 + "".join(" %8.2f GB/s" % (1e-9 * size / time) for size, time in zip(SIZES, times)))
    if network.half:
        lines.append("between two halves of the nodes, each way: %.4g GB/s" % (1e-9 * network.half))
    return "\n".join(lines)


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options = parse(arguments, orrery_networks.read(os.path.join(context.paths["data"], orrery_networks.TABLE)))
    text, network = document(options)
    text = orrery_checksum.sealed(text, orrery_checksum.XML)
    if options["-o"] == "-":
        sys.stdout.write(text)
    else:
        with open(options["-o"], "w", encoding="utf-8") as stream:
            stream.write(text)
        print("%s: %d hosts (%s)" % (options["-o"], network.places, network.words))
        print(got(options, network))
    if network.places > options["-n"]:
        sys.stderr.write("orrery platform: %d nodes asked for, %d hosts written (%s); `orrery sim -n %d` uses the first %d\n"
                         % (options["-n"], network.places, network.words, options["-n"], options["-n"]))
    return 0
