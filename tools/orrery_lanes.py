# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Pictures for viewers of other formats: bars on lanes, one lane for each worker, more where
# a worker has several kernels under way at once, or its process had several ranks; and
# counters, callbacks, copies, changes and marks of each rank.
# Invariant: the bars of a lane do not overlap and are sorted by time; each kernel of the
# tables is one bar, of its whole length; all formats have the same names.
import collections
import heapq

import orrery_callbacks
import orrery_changes
from orrery_tracefile import copy_why, signed

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


def names_of(workers):
    """{(rank, process, worker): its name}, from those of the tables."""
    several = collections.Counter(rank for rank, _ in {place[:2] for place in workers})
    return {place: (about[0] or "worker %d" % place[2]) + (" of process %d" % place[1] if several[place[0]] > 1 else "")   # one after the other
            for place, about in workers.items()}


def lanes(tables):
    """All lanes, sorted by rank, process, worker and number; a worker that did nothing has one, without bars."""
    kernels, workers = bars_of(tables), tables.workers()
    names, found = names_of(workers), []
    for place in sorted(workers):
        name, of_worker = names[place], [[]]
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
            found.append(Lane(*place, number, numbered(name, number), bars))
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


# The counters of tasks that viewers draw for each rank: (name, from this moment of a task, to this one).
COUNTERS = (("tasks submitted and not over", "submit", "done"), ("tasks ready and not started", "ready", "start"))
# Counters of requests and messages: {list (orrery_lists.LISTS): name}
OF_LISTS = {"fetching": "requests fetching", "ready": "requests ready", "posted": "requests posted", "flying": "requests flying",
            "early": "messages early"}
OF_MEMORY = "memory %d: bytes in use"

Counter = collections.namedtuple("Counter", "rank name unit steps")   # steps: (time, value), by time


def heights(intervals):
    """{rank: [(time, number)]}: how many of these (rank, first, last) are under way; last is None where there is no end."""
    changes = collections.defaultdict(collections.Counter)
    for rank, first, last in intervals:
        if first is not None:
            changes[rank][first] += 1
            if last is not None:
                changes[rank][max(first, last)] -= 1
    found = {}
    for rank, of_rank in sorted(changes.items()):
        number, found[rank] = 0, []
        for time in sorted(of_rank):
            number += of_rank[time]
            found[rank].append((time, number))
    return found


def counters(tables):
    """All counters: of tasks, of requests and messages in each list, and of the bytes in use of each memory."""
    for name, since, until in COUNTERS:
        for rank, found in heights((t.rank, getattr(t, since), getattr(t, until)) for t in tables.tasks).items():
            yield Counter(rank, name, "tasks", found)
    stays = tables.chosen_stays()
    for of_list, name in OF_LISTS.items():
        for rank, found in heights((s.rank, s.since, s.until) for s in stays if s.list == of_list).items():
            yield Counter(rank, name, name.split()[0], found)
    used = collections.defaultdict(list)
    for use in tables.memories():
        used[use.rank, use.node].append((use.at, use.used - use.reusable))
    for (rank, node), found in sorted(used.items()):
        yield Counter(rank, OF_MEMORY % node, "bytes", found)


def copies(tables):
    """Copies that came to their end, by when they started."""
    return [c for c in tables.run.copies if c.end is not None and tables.inside(c.rank, c.start, c.end)]


def copy_name(c):
    return "%s: memory %d to %d" % (copy_why(c.why), c.source, c.target)


def marks(tables):
    return [m for m in tables.run.marks if tables.inside(m.rank, m.at)]


def mark_name(m):
    """Words of the program; iterations are such marks, too."""
    return m.text or "mark"


def mark_number(m):
    return signed(m.number)


def changes(tables):
    """(first, last, rank, name) of checkpoints and changes of the size, by time. A run goes on from a checkpoint before its first step."""
    for c in orrery_changes.changes(tables.trace):
        first, last = max(c.first, tables.run.first), max(c.last, tables.run.first)
        if tables.inside(c.rank, first, last):
            yield first, last, c.rank, orrery_changes.label(c)


def callbacks(tables):
    """[(place, title, [[(first, last, place, name, number)]])] of the functions of the program that the runtime called, by the worker whose
    thread was in them: place is (rank, process, worker), and a worker has as many lanes as it has calls under way at once."""
    names, found = names_of(tables.workers()), []
    for c in orrery_callbacks.callbacks(tables.trace):
        if tables.inside(c.rank, c.start, c.end):
            task = tables.run.tasks.get((c.process, c.number)) if c.what != "message" else None
            first = max(c.start, tables.run.first)
            found.append((first, max(first, c.end), (c.rank, c.process, c.worker), "%s: %s" % (c.what, task.name) if task else c.what, c.number))
    found.sort(key=lambda c: c[:3])
    return [(place, "callbacks of %s" % names.get(place, "another thread"), lanes_of) for place, lanes_of in sorted(side_by_side(found).items())]


def side_by_side(intervals):
    """{key: lanes} of (first, last, key, ...) that are sorted by their begin: those of a lane do not overlap."""
    found, free, busy = (collections.defaultdict(list) for _ in range(3))
    for interval in intervals:
        first, last, key = interval[:3]
        while busy[key] and busy[key][0][0] <= first:
            heapq.heappush(free[key], heapq.heappop(busy[key])[1])
        number = heapq.heappop(free[key]) if free[key] else len(found[key])
        if number == len(found[key]):
            found[key].append([])
        found[key][number].append(interval)
        heapq.heappush(busy[key], (last, number))
    return found


def numbered(name, number):
    """The name of a lane: the first one has the name alone."""
    return name + (" (%d)" % (number + 1) if number else "")
