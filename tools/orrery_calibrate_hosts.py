# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery calibrate --network` over several hosts: what each pair gets alone, and what all
# get at once, beside the curve of one pair by size; and the platform file of these hosts.
# Invariant: hosts that are alike share one description; one whose link is slower has a link
# of its own. Numbers are those of MPI, measured, never of a data sheet.
import math
import os
import statistics

import orrery_jobs
from orrery_cli import UserError
from orrery_doctor import host_names
from orrery_doctor_links import Mpi, better, in_words, read_pairs, rounds

ALIKE = 1.15  # quotient of the bandwidths of two links that are described as one
ALIKE_US = 1.5  # the same of latencies
BOTH_WAYS = 0.95  # of its link: a host that gets less while it sends and receives at once has a limit for both together
SHARED = 0.8  # of the sum of pairs alone: if all at once get less, something is shared
TIMEOUT_S = 20.0


def chosen_hosts(options, launcher):
    """The hosts to measure, None: those that --mpirun and mpirun find."""
    if "--host" not in options and "--hostfile" not in options and not (orrery_jobs.in_job(os.environ) and "--mpirun" not in options):
        return None
    names = list(dict.fromkeys(host_names(options, launcher)[0]))
    if "--host" not in options and "--hostfile" not in options and len(names) < 2:
        return None
    if len(names) < 2:
        raise UserError("the network is between hosts, and %s is one; name two or more" % names[0])
    return names


class Measured:
    """{(a, b): (us, bytes/s)} alone and at once; and what a host gets in each direction, in bytes/s, while all send to all."""

    def __init__(self, names, alone, at_once, crowd=math.inf):
        self.names, self.alone, self.at_once, self.crowd = names, alone, at_once, crowd

    def of_host(self, name):
        """(latency in us, bytes/s) of the best pair of a host, which its own link bounds."""
        values = [value for pair, value in self.alone.items() if name in pair]
        return min(v[0] for v in values), max(v[1] for v in values)

    def best_pair(self):
        return max(self.alone, key=lambda pair: self.alone[pair][1])

    def alike(self):
        links = [self.of_host(name) for name in self.names]
        latencies, speeds = [link[0] for link in links], [link[1] for link in links]
        return max(speeds) <= ALIKE * min(speeds) and max(latencies) <= ALIKE_US * min(latencies) + 10

    def both_ways(self, link):
        """The part of the speed of its link, in bytes/s, that a host has in each direction if it uses both, None: all of it. Where
        pairs share a link, or hosts differ, it is not known. A message of a pair alone is slower than the link by its latency, which
        many messages hide."""
        part = self.crowd / link
        return part if part < BOTH_WAYS and self.alike() and not self.backbone() else None

    def backbone(self):
        """Bytes/s that all pairs of a round share, None: they do not."""
        size = len(self.names) // 2
        if size < 2:
            return None
        alone, at_once = sum(v[1] for v in self.alone.values()), sum(v[1] for v in self.at_once.values())
        return size * at_once / len(self.at_once) if at_once < SHARED * alone else None


def one_bandwidth(pieces, points):
    """Pieces with the bandwidth of large messages, which is what a link has for all of its messages; what a size takes beyond that
    is latency. A small message that finds buffers and token buckets empty seems to have more, and many of them have not. One whose
    ends have to agree first seems to have less, but others use the link meanwhile."""
    most, result = pieces[-1][2], []
    for number, (first, _, _) in enumerate(pieces):
        last = pieces[number + 1][0] if number + 1 < len(pieces) else math.inf
        rest = [t - size / most for size, t in points if first <= size < last]
        result.append((first, max(1e-7, statistics.median(rest)), most))
    return result


def measure(context, names, extra, say):
    mpi = Mpi(context, names, extra, (0, 0), TIMEOUT_S)

    def pairs(words):
        lines, why, said = mpi.run(1, ["pairs"] + words, more_s=len(names) ** 2)
        if why:
            raise UserError("mpirun fails on these hosts: %s; `orrery doctor' says what is wrong with them" % (why or said), 1)
        return read_pairs(lines, names)[0]
    say("all pairs of %d hosts at once, in %d rounds" % (len(names), len(rounds(names))))
    at_once = pairs([])
    every = ",".join("%d-%d" % (names.index(a), names.index(b)) for a, b in at_once)
    say("%d pairs, one after another" % len(at_once))
    alone = pairs([every])
    if not alone or set(alone) != set(at_once):
        raise UserError("only %d of %d pairs could be measured; `orrery doctor' says what is wrong" % (len(alone), len(at_once)), 1)
    say("all hosts with all at once")
    lines, why, said = mpi.run(1, ["crowd"], more_s=len(names))
    if why:
        raise UserError("mpirun fails on these hosts: %s; `orrery doctor' says what is wrong with them" % (why or said), 1)
    crowd = float(next((line.split()[1] for line in lines if line.startswith("crowd ")), math.inf))
    measured = Measured(names, {pair: (min(us, at_once[pair][0]), speed) for pair, (us, speed) in alone.items()}, at_once, crowd)
    if not measured.alike():
        say("hosts differ; the pairs again, to be sure")
        again = pairs([every])
        measured = Measured(names, {pair: better(value, again.get(pair, value)) for pair, value in measured.alone.items()}, at_once, crowd)
    say("alone: %s; at once: %s" % (in_words(alone), in_words(at_once)))
    if measured.backbone():
        say("pairs share a link: together they get %.4g MB/s" % (measured.backbone() / 1e6))
    return measured


def options_of_pair(names, pair, launcher, extra):
    """Options for mpirun that put two ranks on the two hosts of a pair."""
    return [launcher.hosts[0], ",".join("%s:1" % name for name in sorted(pair, key=names.index))] + launcher.unbound + extra


def zone_text(measured, pieces):
    """The zone of hosts that differ: a link for each, with the factors by size of the best pair."""
    best = pieces[-1][2]
    scale = best / max(value[1] for value in measured.alone.values())
    shared, lines = measured.backbone(), ['  <zone id="cluster" routing="Full">']
    for name in measured.names:
        us, speed = measured.of_host(name)
        lines.append('    <host id="%s" speed="1Gf" />' % name)
        lines.append('    <link id="link-%s" bandwidth="%.6gBps" latency="%.6gs" sharing_policy="SPLITDUPLEX" />' % (name, speed * scale, us / 2 * 1e-6))
        lines.append('    <link id="own-%s" bandwidth="%.6gBps" latency="%.6gs" sharing_policy="FATPIPE" />' % (name, best, us * 1e-6))
    if shared:
        lines.append('    <link id="backbone" bandwidth="%.6gBps" latency="0s" />' % (shared * scale))
    for i, a in enumerate(measured.names):
        lines.append('    <route src="%s" dst="%s"><link_ctn id="own-%s" /></route>' % (a, a, a))
        for b in measured.names[i + 1:]:
            lines.append('    <route src="%s" dst="%s"><link_ctn id="link-%s" direction="UP" />%s<link_ctn id="link-%s" direction="DOWN" /></route>'
                         % (a, b, a, '<link_ctn id="backbone" />' if shared else "", b))
    return "\n".join(lines + ["  </zone>"]) + "\n"


def eager_of(lines):
    """The property of the platform for `eager BYTES', "" if it was not measured."""
    sizes = [int(words[1]) for words in lines if words[0] == "eager"]
    return sizes[0] if sizes and math.isfinite(sizes[0]) else None
