# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery platform`: writes SimGrid platform files (DTD version 4.1) from a few
# numbers. One <cluster> per file; its hosts, in order, are the nodes.
# Invariant: the file declares exactly as many hosts as were asked for if the
# topology can have that many; otherwise it declares more, and a message says so.
import math
import re
import sys

from orrery_cli import UserError
from orrery_words import Word, parse as read_words, usage

OPTIONS = [
    Word("-n", "N", "number of nodes"),
    Word("--topology", "T", "crossbar (default): every node has a link to one\nswitch that never saturates\nfat-tree, dragonfly, torus", "crossbar"),
    Word("--shape", "SHAPE", "dimensions of the topology instead of chosen ones:\ntorus: X,Y,Z  fat-tree: LEAVES,SPINES  (nodes per\n"
         "leaf switch, number of leaf switches)\ndragonfly: GROUPS,CHASSIS,ROUTERS,NODES"),
    Word("--bandwidth", "B", "of a node's link (default 12.5GBps)", "12.5GBps"),
    Word("--latency", "L", "of a node's link (default 1us); a message between two\nnodes crosses two of them, or more", "1us"),
    Word("--loopback-bandwidth", "B", "of a node's link to itself (default 25GBps)", "25GBps"),
    Word("--loopback-latency", "L", "of the same link (default 100ns)", "100ns"),
    Word("--backbone-bandwidth", "B", "crossbar only: a shared backbone behind the switch"),
    Word("--speed", "S", "of a node (default 1Gf); the machine decides what\nkernels cost, see `orrery sim --machine`", "1Gf"),
    Word("--machine", "NAME", "machine of every node (a host property)"),
    Word("--prefix", "P", "names of hosts: P0, P1, ... (default node-)", "node-"),
    Word("-o", "FILE", "file to write (default: standard output)", "-"),
]
HELP = """usage: orrery platform -n N [--topology T] [options] [-o FILE]

Writes a SimGrid platform file for `orrery sim --platform FILE`.

%s

Units: bandwidth Bps kBps MBps GBps KiBps ... bps Mbps Gbps; time s ms us ns;
speed f kf Mf Gf Tf. A torus, dragonfly or fat tree needs a product of its
dimensions; the smallest well-proportioned shape with at least N places is chosen, and the
message says how many hosts were written; `orrery sim -n N` uses the first N.
""" % usage(OPTIONS, 30)
NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
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


def parse(arguments):
    options = dict.fromkeys(word.key for word in OPTIONS)
    options.update(read_words(OPTIONS, arguments, "orrery platform")[0])
    if options["-n"] is None:
        raise UserError("how many nodes? Give -n N")
    if not options["-n"].isdigit() or int(options["-n"]) < 1:
        raise UserError("-n %s: the number of nodes must be a positive integer" % options["-n"])
    options["-n"] = int(options["-n"])
    if options["--topology"] not in TOPOLOGIES:
        raise UserError("--topology %s: there are %s" % (options["--topology"], ", ".join(TOPOLOGIES)))
    for name in options:
        if any(kind in name for kind in UNITS):
            check_quantity(name, options[name])
    for name in ("--prefix", "--machine"):
        if options[name] and not re.fullmatch(r"[-\w./]+", options[name]):
            raise UserError("%s %s: letters, digits and the characters - _ . / only" % (name, options[name]))
    return options


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


def crossbar(options):
    attributes = ""
    if options["--shape"]:
        raise UserError("--shape: a crossbar has none; leave it out or choose another --topology")
    if options["--backbone-bandwidth"]:
        attributes = 'bb_bw="%s" bb_lat="0s"' % options["--backbone-bandwidth"]
    return options["-n"], attributes, "every node on one switch"


def torus(options):
    nodes = options["-n"]
    if nodes < 2:
        raise UserError("-n 1: a torus needs two nodes at least; use --topology crossbar")
    text = options["--shape"]
    shape = shape_of(options, text.count(",") + 1) if text else smallest_box(nodes, 3)
    shape = [side for side in shape if side > 1] or [shape[0]]
    return product(shape), 'topology="TORUS" topo_parameters="%s"' % ",".join(map(str, shape)), \
        "torus " + "x".join(map(str, shape))


def fat_tree(options):
    """Two levels: `down` nodes per leaf switch, `leaves` leaf switches, and as many
    spine switches as a leaf has nodes, so that no level is narrower than the one below."""
    nodes = options["-n"]
    down, leaves = shape_of(options, 2) or smallest_box(nodes, 2)
    parameters = "2;%d,%d;1,%d;1,1" % (down, leaves, down)
    return down * leaves, 'topology="FAT_TREE" topo_parameters="%s"' % parameters, \
        "fat tree: %d leaf switches of %d nodes, %d spine switches" % (leaves, down, down)


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
    return product(shape), 'topology="DRAGONFLY" topo_parameters="%s"' % parameters, \
        "dragonfly: %d groups of %d chassis of %d routers of %d nodes" % tuple(shape)


TOPOLOGIES = {"crossbar": crossbar, "fat-tree": fat_tree, "dragonfly": dragonfly, "torus": torus}


def document(options):
    places, attributes, words = TOPOLOGIES[options["--topology"]](options)
    nodes = options["-n"]
    if places < nodes:
        raise UserError("--shape %s has room for %d nodes only; -n asks for %d" % (options["--shape"], places, nodes))
    machine = '>\n    <prop id="machine" value="%s"/>\n  </cluster>' % options["--machine"] if options["--machine"] else "/>"
    text = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- Written by `orrery platform`: %s -->
<platform version="4.1">
  <cluster id="cluster" prefix="%s" suffix="" radical="0-%d" speed="%s" bw="%s" lat="%s"
           loopback_bw="%s" loopback_lat="%s" sharing_policy="SPLITDUPLEX" %s%s
</platform>
""" % (words, options["--prefix"], places - 1, options["--speed"], options["--bandwidth"], options["--latency"],
       options["--loopback-bandwidth"], options["--loopback-latency"], attributes, machine)
    return text, places, words


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options = parse(arguments)
    text, places, words = document(options)
    if options["-o"] == "-":
        sys.stdout.write(text)
    else:
        with open(options["-o"], "w", encoding="utf-8") as stream:
            stream.write(text)
        print("%s: %d hosts (%s)" % (options["-o"], places, words))
    if places > options["-n"]:
        sys.stderr.write("orrery platform: %d nodes asked for, %d hosts written (%s); `orrery sim -n %d` uses the first %d\n"
                         % (options["-n"], places, words, options["-n"], options["-n"]))
    return 0
