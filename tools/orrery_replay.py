# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The graph of a recorded run (orrery_steps.py), executed again with other times: how long
# the run would have taken if something had been different.
# Invariant: with nothing changed, each step comes when it was recorded, exactly.
import bisect
import collections
import heapq
import re

import numpy as np

import orrery_columns
from orrery_columns import NEVER
from orrery_steps import DONE, END, ENVELOPE, OF_TASKS, POST, READY, RECV, SEND, START, SUBMIT, Steps, is_kind
from orrery_tracefile import COPIES, TURNS

EACH = 50e-6     # seconds for a task or message, with 1.5 KiB
QUICK = 100000   # of them: beyond, an answer would take longer than five seconds,
MOST = 1500000   # and longer than a minute, and 2 GiB
MESSAGES = next(number for number, name in TURNS.items() if name == "messages")
LONG_NS = 2000   # turns that are shorter hold nothing up
CHUNK = 1 << 17  # edges that are numbers of Python at the same time


class Turns:
    """What progression threads did: `callbacks`, {rank: [(begin, end, share of it in callbacks)]}."""

    def __init__(self, columns):
        self.callbacks, self.carrying = collections.defaultdict(list), collections.defaultdict(list)
        t = columns.turns
        some = np.flatnonzero((t.d != 0) & (t.b != 0) | (t.a == MESSAGES) & (t.b >= LONG_NS))
        ranks = columns.rank_at(t.process[some], t.ns[some])
        order = np.lexsort((t.ns[some], ranks))
        some = some[order]
        for ns, rank, b, d in zip(t.ns[some].tolist(), ranks[order].tolist(), t.b[some].tolist(), t.d[some].tolist()):
            if d and b:
                self.callbacks[rank].append((ns, ns + b, d / b))
            else:
                self.carrying[rank].append((ns, ns + b))

    def carried(self, rank, first, last):
        """Nanoseconds between two instants in which the progression of a rank was at work on messages: it copies them, for instance."""
        turns = self.carrying.get(rank, [])
        ns, i = 0, max(0, bisect.bisect_left(turns, (first,)) - 1)
        while i < len(turns) and turns[i][0] < last:
            ns += max(0, min(last, turns[i][1]) - max(first, turns[i][0]))
            i += 1
        return min(ns, last - first)


class Copies:
    """Copies between memory nodes: `bytes` that each brought, `to` its node, `evicts` whether it made room, and `copying`,
    {(process, node): nanoseconds under way}."""

    def __init__(self, columns):
        begun, over = columns.events["copy"], columns.events["copied"]
        self.to, self.bytes, self.evicts = begun.b, begun.c, np.isin(begun.d, (COPIES.index("eviction"), COPIES.index("write-back")))
        self.copying, under_way, some = collections.Counter(), collections.defaultdict(collections.deque), []
        for number, e in enumerate((begun, over)):
            some += zip(e.ns.tolist(), [number] * e.n, e.process.tolist(), e.a.tolist(), e.b.tolist(), e.c.tolist())
        for ns, ends, *key in sorted(some):
            waiting = under_way[tuple(key)]
            if not ends:
                waiting.append(ns)
            elif waiting:
                self.copying[key[0], key[2]] += ns - waiting.popleft()


class Replay(Steps):
    """The graph, and what became of it with other times. Times of a replay are nanoseconds since the begin of the run."""

    def __init__(self, trace, run=None):
        if not isinstance(run, orrery_columns.Run):
            run = orrery_columns.Run(orrery_columns.Columns(trace))
        super().__init__(run)
        self.policy = trace.text.get("policy", "lws")
        self.turns, self.copies = Turns(self.columns), Copies(self.columns)
        self.makespan = run.last - run.first
        self.ends = np.flatnonzero(is_kind(self.kind, DONE, RECV))
        self.tail = run.last - int(self.at[self.ends].max()) if len(self.ends) else self.makespan
        # Edges along which messages travel, and which message.
        self.flying = np.flatnonzero((self.kind[self.source] == SEND) & is_kind(self.kind[self.target], RECV, ENVELOPE))
        self.flyer = self.row[self.source[self.flying]]
        self.names_of_steps()
        self.places()
        self.fetch = self.fetches()
        known = re.search(r"([0-9.]+) GB/s", trace.text.get("network", "")) if trace.simulated else None
        self.rate = float(known.group(1)) if known else self.fastest()   # bytes per ns

    def names_of_steps(self):
        """`name` of each step: the number of the kernel of its task, -1: it is none of a task."""
        self.name = np.full(self.n, -1, np.int32)
        some = np.flatnonzero(is_kind(self.kind, *OF_TASKS))
        self.name[some] = self.tasks.name[self.row[some]]

    def places(self):
        """`units`: names of kinds of workers, the first for those that are not known; `unit` of each task, by the worker that executed it."""
        workers, t = self.run.workers, self.tasks
        kinds = {place: name.split()[0] if name else "" for place, name in workers.items()}
        self.units = [""] + sorted(set(kinds.values()) - {""})
        self.unit_of = {place: self.units.index(kind) for place, kind in kinds.items()}
        most = int(t.worker.max(initial=0)) + 2
        pairs, back = np.unique(t.process * most + t.worker + 1, return_inverse=True)
        table = np.array([self.unit_of.get((pair // most, pair % most - 1), 0) for pair in pairs.tolist()], np.int32)
        self.unit = table[back] if t.n else np.zeros(0, np.int32)

    def fetches(self):
        """For how long the data of each task kept its worker from the kernel."""
        t = self.tasks
        since, idle = t.start - t.fetch, self.when(t.end, t.before)
        return np.where(t.start != NEVER, np.maximum(0, t.start - np.maximum(np.where(idle != NEVER, idle, since), since)), 0)

    def flights(self):
        """Rows of the messages that travelled from one rank to another, and were received, and of their receives."""
        r, m = self.requests, self.messages
        rows = np.flatnonzero((r.message >= 0) & (r.recv != NEVER))
        message = r.message[rows]
        good = (self.send[message] != NEVER) & (m.sender[message] != m.receiver[message])
        return message[good], rows[good]

    def fastest(self):
        """The rate at which bytes travel, for each nanosecond beside the latency; MPI asks first, there and back, before it sends many."""
        message, request = self.flights()
        size, ns = self.messages.bytes[message], self.requests.recv[request] - self.send[message]
        asks = (self.messages.eager[message] == 0) & (not self.columns.trace.simulated)
        alone = ns - self.run.latency
        alone = np.where(asks, np.maximum(alone - 2 * self.run.latency, alone / 4), alone)
        return float((size / np.maximum(1, alone))[size >= 1024].max(initial=0))

    # ---- with other times ----

    def times(self, lag=None, wait=None, edges=None, queues=None):
        """When the steps come, since the begin of the run, if they had other lags, and their edges, or these (source, target), sorted by target,
        other waits. With queues, (places of edges, a queue of each, another, nanoseconds), what comes along these edges keeps both queues busy."""
        lag = self.lag if lag is None else lag
        wait = self.wait if wait is None else wait
        source, target = edges or (self.source, self.target)
        now = lag.tolist()
        if queues:
            served = np.zeros(len(source), np.int64)
            which, one, other, lengths = queues
            served[which] = np.arange(1, len(which) + 1)
            one, other, lengths = one.tolist(), other.tolist(), lengths.tolist()
            free = [0] * (1 + max(one + other, default=0))
        for i in range(0, len(source), CHUNK):
            part = slice(i, i + CHUNK)
            some = zip(source[part].tolist(), target[part].tolist(), (wait[part] + lag[target[part]]).tolist())
            if queues:
                for (s, t, ns), turn in zip(some, served[part].tolist()):
                    at = now[s]
                    if turn:
                        a, b = one[turn - 1], other[turn - 1]
                        at = free[a] = free[b] = max(at, free[a], free[b]) + lengths[turn - 1]
                    if at + ns > now[t]:
                        now[t] = at + ns
            else:
                for s, t, ns in some:
                    ns += now[s]
                    if ns > now[t]:
                        now[t] = ns
        return now

    def again(self, lag=None, wait=None, edges=None, queues=None):
        """The makespan then."""
        now = self.times(lag, wait, edges, queues)
        return max(0, max((now[i] for i in self.ends.tolist()), default=0)) + self.tail

    def gain(self, lag=None, wait=None, edges=None, queues=None):
        """What that would save, in seconds."""
        return (self.makespan - self.again(lag, wait, edges, queues)) * 1e-9

    def flights_with(self, change):
        """Waits with which messages are under way for change(rows of messages, nanoseconds)."""
        wait = self.wait.astype(float)
        wait[self.flying] = change(self.flyer, wait[self.flying])
        return wait

    def durations(self):
        """{(kernel, kind of unit): (median nanoseconds and what its data take beside that, how many)}, all by their numbers."""
        t = self.tasks
        some = np.flatnonzero((t.start != NEVER) & (t.end != NEVER))
        ns, group = (t.end - t.start)[some], t.name[some] * len(self.units) + self.unit[some]
        order = np.lexsort((ns, group))
        ns, group, fetch = ns[order], group[order], self.fetch[some][order]
        found = {}
        for part in np.split(np.arange(len(some)), np.flatnonzero(np.diff(group)) + 1):
            if len(part):
                found[divmod(int(group[part[0]]), len(self.units))] = np.median(ns[part]) + fetch[part].sum() / len(part), len(part)
        return found

    def scheduled(self, lag=None):
        """The makespan with other lags if each task that is ready went to the worker of its process that would have done with it first, the one
        with the longest way to the end first. What a task took where it was counts on units of that kind, the median elsewhere."""
        return Schedule(self, self.lag if lag is None else lag).makespan()


class Schedule:
    """A simple schedule of the tasks of a replay. Only tasks that are ready and tasks that end are events in the order of their times."""

    def __init__(self, replay, lag):
        self.replay = replay
        kind, lag = replay.kind, np.maximum(0, lag)
        # A task does not come after what its worker did then.
        good = np.flatnonzero((kind[replay.target] != START) | (kind[replay.source] == READY))
        good = good[np.argsort(replay.source[good], kind="stable")]
        source, target, wait = replay.source[good], replay.target[good], replay.wait[good]
        self.medians = {key: ns for key, (ns, _) in replay.durations().items()}
        self.rank_up = self.to_the_end(source, target, wait)
        begins = np.searchsorted(source, np.arange(replay.n + 1))
        # (Views make numbers of Python of what is asked for only.)
        self.target, self.wait, self.begins = memoryview(target), memoryview(wait), memoryview(begins)
        missing = np.bincount(target, minlength=replay.n)
        self.first = np.flatnonzero(missing == 0).tolist()
        self.missing, self.lag, self.now, self.last = missing.tolist(), lag, [0] * replay.n, 0
        started = kind == START
        self.overhead = np.median(np.maximum(0, replay.lag[started] - replay.fetch[replay.row[started]])) if started.any() else 0
        self.beyond = memoryview(np.where(started, 0, lag))   # what a step takes after those before it; a task waits for a worker
        self.kinds = memoryview(kind)
        self.heap, self.where, self.done = [], {}, 0
        # Workers by numbers: those that are known, by process, and those that are met.
        self.workers, self.of_process = {}, collections.defaultdict(list)
        self.busy, self.expected, self.queues, self.unit = [], [], [], []
        for place in sorted(replay.unit_of):
            self.of_process[place[0]].append((self.worker(place), replay.unit_of[place]))
        self.choices = {}   # (process, kernel): [(worker, nanoseconds there)]

    def worker(self, place):
        """The number of a worker; what it executes, will have executed, and will execute."""
        if place not in self.workers:
            self.workers[place] = len(self.busy)
            self.busy.append(False)
            self.expected.append(0)
            self.queues.append([])
            self.unit.append(self.replay.unit_of.get(place, 0))
        return self.workers[place]

    def to_the_end(self, source, target, wait):
        """How long it takes at least from each step to the end of the run."""
        replay, best = self.replay, {}
        for (name, _), ns in self.medians.items():
            best[name] = min(best.get(name, ns), ns)
        own = np.where(is_kind(replay.kind, START, SUBMIT, POST), 0, replay.lag).astype(float)
        ends = np.flatnonzero(replay.kind == END)
        table = np.zeros(max(best, default=0) + 1)
        table[list(best)] = list(best.values())
        own[ends] = table[np.minimum(replay.name[ends], len(table) - 1)] if len(ends) else 0
        own = np.maximum(0, own)
        up = own.tolist()
        for i in reversed(range(0, len(source), CHUNK)):
            part = slice(i, i + CHUNK)
            for s, t, ns in zip(source[part][::-1].tolist(), target[part][::-1].tolist(), (wait[part] + own[source[part]])[::-1].tolist()):
                ns += up[t]
                if ns > up[s]:
                    up[s] = ns
        return up

    def makespan(self):
        replay, t, heap = self.replay, self.replay.tasks, self.heap
        rows, ends, kinds = memoryview(replay.row), memoryview(replay.number[END]), self.kinds
        length = memoryview(np.where((t.start != NEVER) & (t.end != NEVER), t.end - t.start + replay.fetch, -1))
        process, name, own, unit = (memoryview(x) for x in (t.process, t.name, t.worker, replay.unit))

        def begin(worker, at):
            queue = self.queues[worker]
            if not queue or self.busy[worker]:
                return
            _, step = heapq.heappop(queue)
            row = rows[step]
            ns = length[row]
            if ns < 0 or self.unit[worker] != unit[row]:
                ns = self.medians.get((name[row], self.unit[worker]), 0)
            self.busy[worker] = True
            end = ends[row]
            if end >= 0:
                self.where[end] = worker
                heapq.heappush(heap, (at + self.overhead + ns, -1 - end))
            self.passed(step, at)     # to tasks that are submitted in it

        for step in self.first:
            ns = max(0, float(self.lag[step]))
            if kinds[step] == START:
                heapq.heappush(heap, (ns, step))
            elif kinds[step] != END:
                self.passed(step, ns)
        while heap:
            at, number = heapq.heappop(heap)
            if number < 0:            # a kernel ends
                worker = self.where[-1 - number]
                self.busy[worker] = False
                self.done += 1
                self.passed(-1 - number, at)
                begin(worker, at)
                continue
            row = rows[number]
            place = process[row], name[row]
            if place not in self.choices:
                self.choices[place] = [(w, self.medians[name[row], kind]) for w, kind in self.of_process[process[row]] if (name[row], kind) in self.medians]
            choices = self.choices[place]
            if not choices:
                worker = self.worker((process[row], own[row]))
                choices = [(worker, self.medians.get((name[row], self.unit[worker]), 0))]
            least = None
            for w, ns in choices:
                ns += max(at, self.expected[w])
                if least is None or ns < least:
                    least, worker = ns, w
            self.expected[worker] = least
            heapq.heappush(self.queues[worker], (-self.rank_up[number], number))
            begin(worker, at)
        # A task that never ended, or steps that wait for each other: nothing is known then.
        if self.done < int((replay.kind == END).sum()):
            return replay.makespan
        return float(self.last) + replay.tail

    def passed(self, step, at):
        """A step comes: those that wait for it alone come, too, and tasks that are ready are events."""
        begins, target, wait, missing, now, kinds = self.begins, self.target, self.wait, self.missing, self.now, self.kinds
        stack = [(step, at)]
        while stack:
            step, at = stack.pop()
            if kinds[step] in (DONE, RECV) and at > self.last:
                self.last = at
            for i in range(begins[step], begins[step + 1]):
                other = target[i]
                if at + wait[i] > now[other]:
                    now[other] = at + wait[i]
                missing[other] -= 1
                if not missing[other]:
                    if kinds[other] == START:
                        heapq.heappush(self.heap, (now[other], other))
                    elif kinds[other] != END:
                        stack.append((other, now[other] + self.beyond[other]))
