# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Functions of the program that the runtime called because of a task or a message, as a
# trace has them: rows for its tables, and what they took of a part of the critical path.
# Invariant: the pieces that a part is cut into touch each other and cover it.
import bisect
import collections

from orrery_tracefile import CALLBACKS

# worker: -1: another thread; number: of the task or the request.
Callback = collections.namedtuple("Callback", "rank what number worker start end process")


def callbacks(trace):
    """All of them, by time."""
    found = [Callback(rank, CALLBACKS.get(flags, str(flags)), b, worker, ns - c, ns, process.number)
             for ns, rank, _, flags, worker, _, b, c, _, process in trace.events(("callback",))]
    return sorted(found, key=lambda c: (c.start, c.end, c.process, c.number))


class Index:
    """Which callbacks held up something."""

    def __init__(self, trace):
        self.of_worker, self.of_what = collections.defaultdict(list), collections.defaultdict(list)
        for c in callbacks(trace):
            if c.worker >= 0:
                self.of_worker[c.process, c.worker].append(c)
            self.of_what["message" if c.what == "message" else "task", c.process, c.number].append(c)
        # Of callbacks within each other the outer one ends last, so that the latest end so far is what a search needs.
        self.ends = {}
        for key, some in self.of_worker.items():
            latest, ends = None, []
            for c in some:
                latest = c.end if latest is None else max(latest, c.end)
                ends.append(latest)
            self.ends[key] = ends

    def between(self, first, last, process, worker, of):
        """[(first, last, "task" or "message")] of the callbacks between two instants, that this worker executed, or that are of one of
        these ("task" or "message", process, number); they do not overlap."""
        some = []
        key = process, worker
        for c in self.of_worker.get(key, ())[bisect.bisect_right(self.ends.get(key, ()), first):]:
            if c.start >= last:
                break
            some.append(c)
        if of is not None:
            some += self.of_what.get(of, ())
        found = []
        for c in sorted(some, key=lambda c: c.start):
            begin, end = max(c.start, first, found[-1][1] if found else first), min(c.end, last)
            if begin < end:
                found.append((begin, end, "message" if c.what == "message" else "task"))
        return found
