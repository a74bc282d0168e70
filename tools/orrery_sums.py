# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The sums of a trace with a limit: over all events of the run, whether they are still in the file or
# not (src/trace/sums.h).
# Invariant: each sum equals the one over the events of the same run recorded without a limit; times
# are those of the run, in nanoseconds; what a process with several ranks did counts at its last one.
import collections

import orrery_part
from orrery_tracefile import GUEST, KINDS, NO_STEPS, NUMBER

KERNEL, SENT, RECEIVED, COPIED, MOMENTS, TURNS, MEMORY = range(1, 8)
FLAG = 0x100   # above a kind: of a receive, of a message that a tree passes on, of another thread
WRAP = 1 << 64


class Sums:
    """`kernels`: {(rank, worker, name): [number, nanoseconds, nanoseconds before the start]}; `sent` and `received`:
    {(rank, other rank): [messages, bytes]}; `relayed`; `copied`: {(rank, from, to): [copies, bytes]}; `turns`:
    {(rank, state, in another thread): [number, nanoseconds, of these in callbacks]}."""

    def __init__(self, trace):
        self.kernels = collections.defaultdict(lambda: [0, 0, 0])
        self.sent, self.received, self.copied = (collections.defaultdict(lambda: [0, 0]) for _ in range(3))
        self.turns = collections.defaultdict(lambda: [0, 0, 0])
        self.moments = collections.defaultdict(lambda: [0, 0])   # (rank, kind, flag): number, sum of the times
        self.relayed = 0
        # Of a part of the times or of the kinds, requests come into lists of which nobody knows when they left them.
        self.knows_lists = trace.part is None or (trace.part.window is None and trace.part.has(*orrery_part.MESSAGES))
        self.memory = {}   # (rank, node): the most bytes in use but those kept for reuse, the limit
        self.first, self.last, self.last_of = None, None, {}
        self.last_complete = -WRAP   # the last end of a task or a receive
        steps = ~sum(1 << NUMBER[name] for name in NO_STEPS)
        for number, e in trace.raw(1 << NUMBER["sum"]):
            process = trace.processes[number]
            rank, clock = process.rank, process.clock_ns
            ns, _, what, worker, a, b, c, d = e
            if what == KERNEL:
                found = self.kernels[rank, worker, process.strings.get(a, "unnamed")]
                found[0] += b
                found[1] += c
                found[2] += d
            elif what in (SENT, RECEIVED):
                found = (self.sent if what == SENT else self.received)[rank, a]
                found[0] += b
                found[1] += c
                self.relayed += d if what == SENT else 0
            elif what == COPIED:
                found = self.copied[rank, worker, a]
                found[0] += b
                found[1] += c
            elif what == TURNS:
                found = self.turns[rank, a & FLAG - 1, GUEST if a & FLAG else 0]
                found[0] += b
                found[1] += c
                found[2] += d
            elif what == MEMORY:
                self.memory[rank, a] = max(self.memory.get((rank, a), (0, None)), (c, d or None), key=lambda some: some[0])
            elif what == MOMENTS and b:
                kind = a & FLAG - 1
                found = self.moments[rank, kind, a >> 8]
                found[0] += b
                found[1] = (found[1] + c + b * clock) % WRAP
                if steps >> kind & 1:
                    first = d - WRAP if d >> 63 else d
                    self.first = first + clock if self.first is None else min(self.first, first + clock)
                    self.last = ns + clock if self.last is None else max(self.last, ns + clock)
                    if kind in (NUMBER["done"], NUMBER["recv"]):
                        self.last_complete = max(self.last_complete, ns + clock)
                    self.last_of[number] = max(self.last_of.get(number, ns + clock), ns + clock)

    def count(self, name, flag=None):
        """How many events of that kind there were."""
        return sum(n for (_, kind, f), (n, _) in self.moments.items() if kind == NUMBER[name] and flag in (None, f))

    def events(self):
        return sum(n for n, _ in self.moments.values())

    def kernels_by_name(self):
        found = collections.defaultdict(lambda: [0, 0, 0])
        for (_, _, name), sums in self.kernels.items():
            for i, value in enumerate(sums):
                found[name][i] += value
        return found

    def busy(self):
        """{(rank, worker): nanoseconds in kernels}"""
        found = collections.Counter()
        for (rank, worker, _), (_, ns, _) in self.kernels.items():
            found[rank, worker] += ns
        return found

    def stay(self, rank, since, until):
        """(requests, nanoseconds) from events of some kinds to events of others; what has not left counts to the end."""
        def add(kinds):
            parts = [self.moments.get((rank, NUMBER[name], flag), (0, 0)) for name, flag in kinds]
            return sum(n for n, _ in parts), sum(ns for _, ns in parts)
        (came, since_ns), (left, until_ns) = add(since), add(until)
        ns = (until_ns - since_ns + (came - left) * self.last) % WRAP
        return came, ns - WRAP if ns >> 63 else ns

    # From which events to which a request is in a list (orrery_lists.LISTS).
    STEPS = {"fetching": ((("post", 0), ("post", 1)), (("grant", 0), ("grant", 1))),
             "ready": ((("grant", 0),), (("send", 0), ("route", 0))),
             "posted": ((("grant", 1),), (("match", 0),)),
             "flying": ((("send", 0), ("route", 0), ("match", 0)), (("sent", 0), ("recv", 0))),
             "early": ((("envelope", 0),), (("match", 0),))}

    def lists_of(self, rank):
        return {name: self.stay(rank, *steps) for name, steps in self.STEPS.items()}

    def lists(self):
        """{list: (requests that came into it, nanoseconds that they stayed, in sum)}; nothing where that is not known."""
        if not self.knows_lists:
            return {}
        found = {name: [0, 0] for name in self.STEPS}
        for rank in {rank for rank, _, _ in self.moments}:
            for name, (n, ns) in self.lists_of(rank).items():
                found[name][0] += n
                found[name][1] += ns
        return found


assert KINDS[NUMBER["sum"]] == "sum"
