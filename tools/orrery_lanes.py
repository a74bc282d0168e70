# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What viewers of other formats draw: bars on lanes, one lane for each worker, more where
# a worker has several kernels under way at once, or its process had several ranks.
# Invariant: the bars of a lane do not overlap and are sorted by time; each kernel of the
# tables is one bar, of its whole length.
import collections

Bar = collections.namedtuple("Bar", "first last kind name task ended")
Lane = collections.namedtuple("Lane", "rank process worker number name bars")

FETCHING = "fetching"   # the data of a task come, while its worker waits


def bars_of(tables):
    """{(rank, process, worker): the kernels, by start}; one that had not ended goes on to the end of the run."""
    found = collections.defaultdict(list)
    for t in tables.tasks:
        if t.start is not None:
            last = t.end if t.end is not None else max(t.start, tables.run.last)
            found[t.rank, t.key[0], t.worker].append((t.start, last, t))
    for kernels in found.values():
        kernels.sort(key=lambda k: (k[0], k[1], k[2].key))
    return found


def lanes(tables):
    """All lanes, sorted by rank, process, worker and number; a worker that did nothing has one, without bars."""
    kernels, workers = bars_of(tables), tables.workers()
    several = collections.Counter(rank for rank, _ in {place[:2] for place in workers})
    found = []
    for place in sorted(workers):
        name = workers[place][0] or "worker %d" % place[2]
        if several[place[0]] > 1:   # one after the other
            name += " of process %d" % place[1]
        of_worker = [[]]
        for first, last, task in kernels.get(place, ()):
            lane = next((bars for bars in of_worker if not bars or bars[-1].last <= first), None)
            if lane is None:
                lane = []
                of_worker.append(lane)
            fetch = max(first - task.fetch, lane[-1].last if lane else tables.run.first)
            if fetch < first:
                lane.append(Bar(fetch, first, "fetch", FETCHING, task, True))
            ended = task.end is not None
            lane.append(Bar(first, last, "kernel", task.name if ended else task.name + " (not ended)", task, ended))
        for number, bars in enumerate(of_worker):
            found.append(Lane(*place, number, name + (" (%d)" % (number + 1) if number else ""), bars))
    return found


def arrows(tables):
    """(left, received, message) of the messages whose both ends are known, by when they left; and how many are not.
    Clocks that differ may show an arrival before the send: it counts as at once."""
    found, unknown = [], 0
    for m in tables.messages:
        received = tables.received(m)
        if m.send is None or received is None:
            unknown += 1
        else:
            found.append((m.send, max(m.send, received), m))
    found.sort(key=lambda a: (a[0], a[1], a[2].key))
    return found, unknown


def left_out(unknown):
    """What to tell of messages that no arrow can be drawn for, or None."""
    return "%d messages have no known end, and are left out" % unknown if unknown else None


def steps(tables, since, until):
    """{rank: [(time, number of tasks)]}: how many tasks are between two of their moments."""
    changes = collections.defaultdict(collections.Counter)
    for t in tables.tasks:
        first, last = getattr(t, since), getattr(t, until)
        if first is not None:
            changes[t.rank][first] += 1
            if last is not None:
                changes[t.rank][max(first, last)] -= 1
    found = {}
    for rank, of_rank in sorted(changes.items()):
        number, found[rank] = 0, []
        for time in sorted(of_rank):
            number += of_rank[time]
            found[rank].append((time, number))
    return found


# The counters that viewers draw for each rank: (name, from this moment of a task, to this one).
COUNTERS = (("tasks submitted and not over", "submit", "done"), ("tasks ready and not started", "ready", "start"))
