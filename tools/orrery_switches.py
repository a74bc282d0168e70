# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Switches of a network, as Slurm's topology.conf lists them, for `orrery platform --switches` and
# `orrery calibrate --network --switches`: a tree of switches with hosts at some of them. Each switch but the first one
# has a link to the switch above it, which all hosts below it share.
# Invariant: a file that is no such tree is refused with the line that is at fault.
import collections
import os
import re
import shlex
from statistics import median

import orrery_jobs
from orrery_cli import UserError

SLURM = "/etc/slurm/topology.conf"
USED = 0.8  # of what pairs get alone: if those that cross a link at once get less, it is full
KEYS = ("switchname", "switches", "nodes", "linkspeed")

Switch = collections.namedtuple("Switch", "name line above below hosts")  # above: a list with the name of one at most


def default_path():
    """The file of the machine's Slurm."""
    conf = os.environ.get("SLURM_CONF")
    return os.path.join(os.path.dirname(conf), "topology.conf") if conf else SLURM


def logical_lines(stream):
    """(number of the first line, text) without comments; a line that ends with \\ goes on."""
    start, text = None, ""
    for number, line in enumerate(stream, 1):
        line = line.split("#")[0].rstrip()
        start = start or number
        if line.endswith("\\"):
            text += line[:-1] + " "
            continue
        if (text + line).strip():
            yield start, (text + line).strip()
        start, text = None, ""
    if text.strip():
        yield start, text.strip()


def read_line(where, text):
    """{key: value} of a line."""
    found = {}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError("%s: %s: %s" % (where, text, error), 1)
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not value or key.lower() not in KEYS:
            raise UserError("%s: \"%s\" is not SwitchName=, Switches=, Nodes= or LinkSpeed= with a value" % (where, word), 1)
        if key.lower() in found:
            raise UserError("%s: %s= stands there twice" % (where, key), 1)
        found[key.lower()] = value
    if "switchname" not in found:
        raise UserError("%s: \"%s\" has no SwitchName=" % (where, text), 1)
    if "switches" not in found and "nodes" not in found:
        raise UserError("%s: the switch %s has neither Switches= nor Nodes=" % (where, found["switchname"]), 1)
    return found


def names_of(where, key, value):
    names = orrery_jobs.expand_hosts(value)
    if not names or not all(re.fullmatch(r"[\w.-]+", name) for name in names):
        raise UserError("%s: %s=%s is no list of names such as n[1-3,7],m2" % (where, key, value), 1)
    return names


class Tree:
    """switches: by name, in the order of the file; hosts: the name of the switch of each, in that order."""

    def __init__(self, path):
        self.path, self.switches, self.hosts = path, {}, {}
        try:
            with open(path, encoding="utf-8") as stream:
                for number, text in logical_lines(stream):
                    self.add("%s:%d" % (path, number), number, read_line("%s:%d" % (path, number), text))
        except OSError as error:
            raise UserError("--switches %s: %s" % (path, error.strerror))
        except UnicodeDecodeError:
            raise UserError("--switches %s: this is no text" % path, 1)
        if not self.switches:
            raise UserError("--switches %s: there is no switch in it" % path, 1)
        self.join()
        self.root = self.top()

    def where(self, switch):
        return "%s:%d" % (self.path, switch.line)

    def add(self, where, number, found):
        name = found["switchname"]
        if not re.fullmatch(r"[\w.-]+", name):
            raise UserError("%s: SwitchName=%s: letters, digits and the characters - _ . only" % (where, name), 1)
        if name in self.switches:
            raise UserError("%s: the switch %s stands in line %d already" % (where, name, self.switches[name].line), 1)
        switch = Switch(name, number, [], names_of(where, "Switches", found["switches"]) if "switches" in found else [],
                        names_of(where, "Nodes", found["nodes"]) if "nodes" in found else [])
        self.switches[name] = switch
        for host in switch.hosts:
            if host in self.hosts:
                raise UserError("%s: the host %s is at the switch %s already (line %d)"
                                % (where, host, self.hosts[host], self.switches[self.hosts[host]].line), 1)
            self.hosts[host] = name

    def join(self):
        for switch in self.switches.values():
            for name in switch.below:
                below = self.switches.get(name)
                if not below:
                    raise UserError("%s: there is no switch %s" % (self.where(switch), name), 1)
                if below.above:
                    raise UserError("%s: the switch %s is below %s already (line %d)"
                                    % (self.where(switch), name, below.above[0], self.switches[below.above[0]].line), 1)
                below.above.append(switch.name)
            if switch.name in self.hosts:
                raise UserError("%s: %s is a switch and a host" % (self.where(switch), switch.name), 1)

    def top(self):
        """The name of the switch above all others."""
        for switch in self.switches.values():
            seen = [switch.name]
            while self.switches[seen[-1]].above:
                seen.append(self.switches[seen[-1]].above[0])
                if seen[-1] in seen[:-1]:
                    circle = seen[seen.index(seen[-1]):]
                    raise UserError("%s: switches go around in a circle: %s" % (self.where(self.switches[circle[0]]), " below ".join(circle)), 1)
        tops = [switch for switch in self.switches.values() if not switch.above]
        if len(tops) > 1:
            raise UserError("%s: the switches %s and %s are not joined by another one" % (self.where(tops[1]), tops[0].name, tops[1].name), 1)
        if not self.hosts:
            raise UserError("--switches %s: no switch has a host" % self.path, 1)
        return tops[0].name

    def check(self, names):
        """Refuses hosts that are at no switch."""
        missing = [name for name in names if name not in self.hosts]
        if missing:
            raise UserError("--switches %s: no switch has the host%s %s; add Nodes= there" % (self.path, "s" * (len(missing) > 1), ", ".join(missing[:8])), 1)

    def up(self, host):
        """The switches above a host, the nearest one first."""
        names = [self.hosts[host]]
        while self.switches[names[-1]].above:
            names.append(self.switches[names[-1]].above[0])
        return names

    def crossed(self, a, b):
        """The switches whose links to the one above a message from a to b takes: on its way up, and down."""
        left, right = self.up(a), self.up(b)
        common = next(name for name in left if name in right)
        return left[:left.index(common)], right[:right.index(common)]

    def distance(self, a, b):
        """Links between switches on the way."""
        return sum(map(len, self.crossed(a, b)))

    def below(self, name):
        """The number of hosts that share the link of a switch."""
        return sum(name in self.up(host) for host in self.hosts)

    def only(self, names):
        """The switches above these hosts, in the order of the file."""
        used = {name for host in names for name in self.up(host)}
        return [switch for switch in self.switches.values() if switch.name in used]

    def farthest(self, names):
        """The greatest distance between two of these hosts."""
        depths = {}  # of each switch: the two greatest heights below it
        for host in names:
            for height, name in enumerate(self.up(host)):
                depths.setdefault(name, {}).setdefault(self.up(host)[height - 1] if height else host, 0)
                child = self.up(host)[height - 1] if height else host
                depths[name][child] = max(depths[name][child], height)
        return max(sum(sorted(heights.values())[-2:]) if len(heights) > 1 else 0 for heights in depths.values())


def zone(tree, names, links, uplinks, own, properties=""):
    """The zone of a platform file with these hosts. links, uplinks: (bytes/s, seconds) of each host, maybe with its speed, and
    of each switch; own: those of a host's link to itself; properties: of each host."""
    link = '    <link id="%s" bandwidth="%.6gBps" latency="%.9gs" sharing_policy="%s" />'
    edge = '    <route src="%s" dst="%s" symmetrical="NO"><link_ctn id="%s" direction="UP" /></route>\n' \
           '    <route src="%s" dst="%s" symmetrical="NO"><link_ctn id="%s" direction="DOWN" /></route>'
    lines = ['  <zone id="cluster" routing="DijkstraCache">']
    for name in names:
        lines.append('    <host id="%s" speed="%s"%s' % (name, links[name][2] if len(links[name]) > 2 else "1Gf",
                                                         ">%s</host>" % properties if properties else " />"))
    switches = tree.only(names)
    lines += ['    <router id="%s" />' % switch.name for switch in switches]
    for name in names:
        lines.append(link % ("link-" + name, links[name][0], links[name][1], "SPLITDUPLEX"))
        lines.append(link % ("own-" + name, own[0], own[1], "FATPIPE"))
    lines += [link % ("up-" + switch.name, *uplinks[switch.name], "SPLITDUPLEX") for switch in switches if switch.above]
    for name in names:
        lines.append('    <route src="%s" dst="%s" symmetrical="NO"><link_ctn id="own-%s" /></route>' % (name, name, name))
        lines.append(edge % (name, tree.hosts[name], "link-" + name, tree.hosts[name], name, "link-" + name))
    lines += [edge % (s.name, s.above[0], "up-" + s.name, s.above[0], s.name, "up-" + s.name) for s in switches if s.above]
    return "\n".join(lines + ["  </zone>"]) + "\n"


# ---- from measurements ----

def hop_us(tree, alone):
    """Microseconds that a link between switches adds: by the medians of pairs that are equally far, near and far ones."""
    by_distance = {}
    for (a, b), (us, _) in alone.items():
        by_distance.setdefault(tree.distance(a, b), []).append(us)
    near, far = min(by_distance), max(by_distance)
    if near == far:
        return 0.0
    return max(0.0, (median(by_distance[far]) - median(by_distance[near])) / (far - near))


def uplink_speed(tree, switch, rounds, alone, at_once):
    """Bytes/s of the link above a switch: what pairs that cross it get together where they get less than alone, else as
    much as its hosts can use."""
    full = []
    for pairs in rounds:
        known = [pair if pair in at_once else pair[::-1] for pair in pairs]
        crossing = [pair for pair in known if pair in at_once and switch in sum(tree.crossed(*pair), [])]
        together = sum(at_once[pair][1] for pair in crossing)
        if len(crossing) > 1 and together < USED * sum(alone[pair][1] for pair in crossing):
            full.append(together)
    if full:
        return max(full)
    return max(value[1] for value in alone.values()) * max(1, tree.below(switch))


def measured_zone(tree, measured, rounds, best):
    """The zone of hosts that were measured; best: bytes/s of large messages of the best pair, as fitted."""
    scale = best / max(value[1] for value in measured.alone.values())
    hop = hop_us(tree, measured.alone)
    links = {}
    for name in measured.names:
        near = min(us - hop * tree.distance(*pair) for pair, (us, _) in measured.alone.items() if name in pair)
        links[name] = (measured.of_host(name)[1] * scale, max(near, 1e-3) / 2 * 1e-6)
    uplinks = {switch.name: (uplink_speed(tree, switch.name, rounds, measured.alone, measured.at_once) * scale, hop * 1e-6)
               for switch in tree.switches.values() if switch.above}
    return zone(tree, measured.names, links, uplinks, (best, min(us for us, _ in measured.alone.values()) * 1e-6)), hop, uplinks
