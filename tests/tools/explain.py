# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The critical path of `orrery explain` against an oracle: random graphs on several ranks and
# workers, executed by a little scheduler, whose longest paths are found by trying all of them.
# Invariant: the oracle knows the graph and the durations, and nothing of the events' causes.
#     explain.py TOOLS [GRAPHS]
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_critical  # noqa: E402
import orrery_tracefile  # noqa: E402
from orrery_tracefile import NUMBER, RECEIVE  # noqa: E402

LATENCY = 1000


class Graph:
    """Tasks with a rank, a worker, a duration, and the tasks that they depend on."""

    def __init__(self, rng):
        self.n = rng.randint(1, 9)
        self.ranks, self.per_rank = rng.randint(1, 3), rng.randint(1, 2)
        self.rank = [rng.randrange(self.ranks) for _ in range(self.n)]
        self.length = [rng.randint(1, 50000) for _ in range(self.n)]
        self.submit = [rng.choice((0, 0, rng.randint(1, 30000))) for _ in range(self.n)]
        self.flight = {}
        for v in range(self.n):
            for u in range(v):
                if rng.random() < 0.35:
                    self.flight[u, v] = 0 if self.rank[u] == self.rank[v] else LATENCY + rng.randint(0, 40000)
        self.submit.sort()
        self.schedule()

    def schedule(self):
        """In the order of their numbers: each on the worker of its rank that is free first."""
        free = {(r, w): (0, None) for r in range(self.ranks) for w in range(self.per_rank)}
        self.start, self.end, self.worker, self.ready, self.cause = [], [], [], [], []
        self.edges = dict(self.flight)
        for v in range(self.n):
            ready, cause = self.submit[v], None
            for u in range(v):
                if (u, v) in self.flight and self.end[u] + self.flight[u, v] > ready:
                    ready, cause = self.end[u] + self.flight[u, v], u
            worker = min(range(self.per_rank), key=lambda w: free[self.rank[v], w][0])
            at, before = free[self.rank[v], worker]
            if before is not None:
                self.edges.setdefault((before, v), 0)
            self.ready.append(ready)
            self.cause.append(cause)
            self.worker.append(worker)
            self.start.append(max(ready, at))
            self.end.append(self.start[v] + self.length[v])
            free[self.rank[v], worker] = (self.end[v], v)

    def longest(self):
        """(makespan, nanoseconds in kernels, in messages) of the longest of all paths."""
        best = (0, 0, 0)

        def extend(v, kernels, messages):
            nonlocal best
            kernels += self.length[v]
            best = max(best, (kernels + messages + begin, kernels, messages))
            for (u, w), flight in self.edges.items():
                if u == v:
                    extend(w, kernels, messages + flight)
        for v in range(self.n):
            begin = self.submit[v]
            extend(v, 0, 0)
        return best

    def events(self):
        """What the recorder would write."""
        process = [orrery_tracefile.Process(r) for r in range(self.ranks)]
        for p in process:
            p.strings = {v: "k%d" % v for v in range(self.n)}
        found = [(0, 0, NUMBER["user"], 0, -1, 0, 0, 0, 0, process[0])]

        def tell(ns, rank, name, b, worker=-1, a=0, c=0, flags=0, d=0):
            found.append((ns, rank, NUMBER[name], flags, worker, a, b, c, d, process[rank]))
        for v in range(self.n):
            r, cause = self.rank[v], 0
            tell(self.submit[v], r, "submit", v + 1, a=v)
            for u in range(v):
                if self.flight.get((u, v)):
                    number, q = 1 + u * self.n + v, self.rank[u]
                    arrival = self.end[u] + self.flight[u, v]
                    tell(0, q, "post", number, a=r)
                    tell(0, r, "post", number, a=q, flags=RECEIVE)
                    tell(0, r, "grant", number)
                    tell(self.end[u], q, "grant", number, c=1 << 60 | u + 1)
                    tell(self.end[u], q, "send", number << 32 | number, a=r, d=8)
                    tell(arrival, r, "envelope", number << 32 | number, a=q)
                    tell(arrival, r, "match", number << 32 | number, a=q)
                    tell(arrival, r, "recv", number, a=q, d=8)
                    if self.cause[v] == u:
                        cause = 2 << 60 | number
            if self.cause[v] is not None and not cause:
                cause = 1 << 60 | self.cause[v] + 1
            tell(self.ready[v], r, "ready", v + 1, c=cause)
            tell(self.start[v], r, "start", v + 1, self.worker[v], a=v)
            tell(self.end[v], r, "end", v + 1, self.worker[v])
            tell(self.end[v], r, "done", v + 1, self.worker[v])
        self.processes = {p.rank: p for p in process}
        return sorted(found, key=lambda e: e[:2])


def check(seed):
    graph = Graph(random.Random(seed))
    found = graph.events()
    trace = orrery_tracefile.Trace.__new__(orrery_tracefile.Trace)
    trace.windows, trace.limited, trace.processes, trace.events = None, False, graph.processes, lambda names=None: [] if names else found
    trace.number_eras()
    run = orrery_critical.Run(trace)
    pieces = orrery_critical.critical_path(run)
    sums = {}
    for piece in pieces:
        sums[piece.kind] = sums.get(piece.kind, 0) + piece.last - piece.first
    makespan, kernels, messages = graph.longest()
    assert pieces[0].first == 0 and pieces[-1].last == makespan == run.last, (seed, makespan, run.last)
    assert all(a.last == b.first for a, b in zip(pieces, pieces[1:])), (seed, pieces)
    got = sums.get("kernel", 0), sums.get("latency", 0) + sums.get("transfer", 0)
    # A program that waits for its last task is told from one that is late by the events alone: a guess,
    # which the graphs do not have. What the path has before a late submission is not compared.
    late = any(p.kind in ("program", "begin") for p in pieces)
    if not late:
        assert got == (kernels, messages) and sum(got) == makespan, (seed, got, kernels, messages, pieces)
    return not late


if __name__ == "__main__":
    graphs = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    compared = sum(check(seed) for seed in range(graphs))
    print("%d graphs, %d with the same longest path" % (graphs, compared))
    sys.exit(0 if compared > graphs // 3 else "too few graphs were compared")
