# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Links of a simulated network, as a trace has them: how much of its bandwidth each of them
# gave over time, and for how long it was full.
# Invariant: a link that was full all the time has the length of the run in both columns;
# real runs have none.
import collections

SUM = 1        # flag of an event: of the whole run, not of a stretch of it
MOST_OF = 0.5  # of the time: a link that was full so long is mentioned
LINES = 3
Link = collections.namedtuple("Link", "name bytes_per_s busy full")
Load = collections.namedtuple("Load", "name start end busy full")


def read(trace):
    """([Link], the fullest first; [Load], by name and time)"""
    sums, loads = {}, []
    for ns, _, _, flags, _, a, b, c, d, process in trace.events(("link",)):
        name = process.strings.get(a, "unnamed")
        if flags & SUM:
            sums[name] = Link(name, b, c, d)   # the last one counts
        else:
            loads.append(Load(name, ns - b, ns, c, d))
    # A runtime that began again told of what was before once more.
    latest = {}
    for load in loads:
        latest[load.name, load.start] = load
    return sorted(sums.values(), key=lambda s: (-s.full, -s.busy, s.name)), without_parts(sorted(latest.values(), key=lambda s: (s.name, s.start, -s.end)))


def without_parts(loads):
    """Stretches become longer as the run does: those within longer ones that came later are left out."""
    found = []
    for load in loads:
        if not found or found[-1].name != load.name or load.start >= found[-1].end:
            found.append(load)
    return found


def shares(trace, first, last):
    """[(Link, share of the time between two instants in which it was full, share of its bandwidth that it gave)], the fullest first."""
    links, loads = read(trace)
    span = last - first
    if span <= 0:
        return []
    if trace.bounds() is None:
        found = [(link, link.full / span, link.busy / span) for link in links]
    else:   # of those that have stretches
        full, busy = collections.Counter(), collections.Counter()
        for load in loads:
            part = max(0, min(load.end, last) - max(load.start, first)) / max(1, load.end - load.start)
            full[load.name] += load.full * part
            busy[load.name] += load.busy * part
        found = [(link, full[link.name] / span, busy[link.name] / span) for link in links if link.name in busy]
    return sorted(((link, min(1, a), min(1, b)) for link, a, b in found), key=lambda s: (-s[1], -s[2], s[0].name))


def as_json(found):
    """Of the fullest ones."""
    return [{"name": link.name, "bytes_per_second": link.bytes_per_s, "full_share": full, "busy_share": busy} for link, full, busy in found[:10 * LINES]]


def lines(rows):
    """Sentences on links that were full most of the time."""
    some = [row for row in rows if row["full_share"] >= MOST_OF]
    for row in some[:LINES]:
        yield "%s (%.6g GB/s): full for %.0f %% of the time" % (row["name"], row["bytes_per_second"] * 1e-9, 100 * row["full_share"])
    if len(some) > LINES:
        yield "and %s%d others" % ("at least " if len(some) == len(rows) else "", len(some) - LINES)
