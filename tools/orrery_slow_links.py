# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Slow ways between ranks in a recorded run, for `orrery explain`: all ways to and from a computer, or one way.
# Invariant: only messages of about the same size are compared, those within a computer with each other only.
import collections
import statistics

import orrery_once
from orrery_critical import path_seconds
try:
    import orrery_gains
except ImportError:   # without numpy gains are bounds
    orrery_gains = None

SLOW = 2.0        # times what the others take
FEW = 3           # fewer messages on a way, or ways, say nothing
KINDS = ("latency", "transfer", "sending")


def medians(run):
    """[{(sender, receiver): median nanoseconds of its messages}], one for each size, of ways between computers first."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for sender, receiver, size, ns in run.flights():
        if sender != receiver:
            found[run.host_of[sender] == run.host_of[receiver], size.bit_length()][sender, receiver].append(ns)
    return [(within, {way: statistics.median(ns) for way, ns in ways.items() if len(ns) >= FEW}) for (within, _), ways in sorted(found.items())]


def slow_hosts(run, sizes):
    """{computer: by how many times each way to and from it takes longer than the others do}."""
    worst = {}
    for within, ways in sizes:
        for host in set(map(run.host_of.get, run.ranks)) if not within else ():
            own = {way for way in ways if host in (run.host_of[way[0]], run.host_of[way[1]])}
            others = [ways[way] for way in ways if way not in own]
            usual = statistics.median(others) if others else 0
            if len(own) >= 2 and len(ways) >= FEW and usual > 0 and min(ways[way] for way in own) / usual >= SLOW:
                worst[host] = max(worst.get(host, 0), min(ways[way] for way in own) / usual)
    return worst


def slow_ways(ways):
    """{way: by how many times it takes longer than others do} of ways of one size."""
    usual = statistics.median(ways.values()) if len(ways) >= FEW else 0
    return {way: ns / usual for way, ns in ways.items() if ns / usual >= SLOW} if usual > 0 else {}


def finding(pieces, ways, subject, ratio, text, remedy):
    names = {"%d to %d" % way for way in ways}
    gain = sum(path_seconds(pieces, KINDS, None, name) for name in names) * (1 - 1 / ratio)
    return "slow-link", subject, gain, text, remedy, lambda replay: orrery_gains.slow_links(replay, ways, ratio)


def slow_links(run, pieces):
    """A finding for each slow computer, and for each slow way between others."""
    sizes = medians(run)
    hosts = slow_hosts(run, sizes)
    for host, ratio in sorted(hosts.items()):
        ranks = sorted(rank for rank in run.ranks if run.host_of[rank] == host)
        ways = {(a, b) for a in run.ranks for b in run.ranks if (a in ranks) != (b in ranks)}
        yield finding(pieces, ways, orrery_once.in_words(ranks), ratio,
                      "all ways to and from %s%s are slow: messages take at least %.1f times what others of their size take"
                      % (orrery_once.in_words(ranks), ", on %s," % host if isinstance(host, str) else "", ratio),
                      "look at the link of that computer, or send less through it")
    worst = {}
    for _, ways in sizes:
        for way, ratio in slow_ways({way: ns for way, ns in ways.items() if not hosts.keys() & {run.host_of[way[0]], run.host_of[way[1]]}}).items():
            worst[way] = max(worst.get(way, 0), ratio)
    for way, ratio in sorted(worst.items()):
        yield finding(pieces, {way}, "%d to %d" % way, ratio,
                      "the way from rank %d to %d is slow: messages take %.1f times what others of their size take" % (*way, ratio),
                      "look at that link, or place these ranks elsewhere")
