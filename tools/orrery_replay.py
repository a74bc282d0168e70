# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A recorded run as a graph of its steps, that is executed again with other times:
# how long the run would have taken if something had been different.
# Invariant: with nothing changed, each step comes when it was recorded, exactly.
import bisect
import collections
import heapq
import re
import statistics

from orrery_critical import BARRIER, Run, Walk, ended_wait, last_to_come, latest
from orrery_tracefile import TURNS, cause_of

MOST = 40000   # tasks and messages, of about six steps each (60 us and 1 KiB): beyond, an answer would take longer than 15 s
MESSAGES = next(number for number, name in TURNS.items() if name == "messages")
HELD_NS = 2000  # a send that leaves so late after its datum was there waited for something else


class Step:
    """A moment of the run: it comes `lag` after the last of the moments before it, each with a lag of its own."""
    __slots__ = ("kind", "of", "at", "rank", "before", "lag", "number", "now")

    def __init__(self, kind, of, at, rank):
        self.kind, self.of, self.at, self.rank = kind, of, at, rank
        self.before, self.lag, self.number, self.now = [], 0, 0, 0


class Records(Run):
    """A run, with the causes that were not the last ones, the copies and the turns of progression threads."""

    HANDLED = Run.HANDLED + ("release", "copy", "copied")

    def __init__(self, trace):
        self.causes, self.copies, self.nodes = collections.defaultdict(list), [], {}
        self.came_after = collections.defaultdict(list)   # (kind of step, key): causes that were over when it was submitted
        self.under_way, self.copying = collections.defaultdict(list), collections.Counter()   # (rank, to): nanoseconds of copies
        super().__init__(trace)
        for _, rank, _, _, _, _, b, c, _, _ in trace.events(("after",)):
            self.came_after["ready", (rank, b)].append(c)
        # A real receiver may note a message before its sender does, which writes it down when MPI has it.
        for m in self.messages.values():
            if m.send is not None and m.envelope is not None and m.send > m.envelope:
                m.send = m.envelope
        for process in trace.processes.values():
            for number, (_, node) in process.workers.items():
                self.nodes[process.rank, number] = node
        # [(begin, end, share of it in callbacks)] of each rank, and [(begin, end)] of long turns with messages alone
        self.callbacks, self.carrying = collections.defaultdict(list), collections.defaultdict(list)
        for ns, rank, _, _, _, a, b, _, d, _ in trace.events(("engine",)):
            if d and b:
                self.callbacks[rank].append((ns, ns + b, d / b))
            elif a == MESSAGES and b >= HELD_NS:
                self.carrying[rank].append((ns, ns + b))

    def carried(self, rank, first, last):
        """Nanoseconds between two instants in which the progression of a rank was at work on messages: it copies them, for instance."""
        turns = self.carrying.get(rank, [])
        ns, i = 0, max(0, bisect.bisect_left(turns, (first,)) - 1)
        while i < len(turns) and turns[i][0] < last:
            ns += max(0, min(last, turns[i][1]) - max(first, turns[i][0]))
            i += 1
        return min(ns, last - first)

    def on_release(self, ns, rank, _kind, _flags, _worker, _a, b, c, _d, _process):
        self.causes[rank, b].append((ns, c))

    def on_ready(self, ns, rank, kind, flags, worker, a, b, c, d, process):
        super().on_ready(ns, rank, kind, flags, worker, a, b, c, d, process)
        self.causes[rank, b].append((ns, c))

    def on_grant(self, ns, rank, kind, flags, worker, a, b, c, d, process):
        super().on_grant(ns, rank, kind, flags, worker, a, b, c, d, process)
        if d:
            self.came_after["grant", (rank, b)].append(d)

    def on_copy(self, ns, rank, _kind, _flags, _worker, a, b, c, d, _process):
        self.copies.append((ns, rank, a, b, c, d))
        self.under_way[rank, a, b, c].append(ns)

    def on_copied(self, ns, rank, _kind, _flags, _worker, a, b, c, _d, _process):
        if self.under_way[rank, a, b, c]:
            self.copying[rank, b] += ns - self.under_way[rank, a, b, c].pop(0)


class Replay:
    """The graph; `steps` in an order in which each comes after those before it."""

    STAGES = {name: i for i, name in enumerate(("submit", "post", "ready", "grant", "start", "send", "end", "envelope", "recv", "sent", "done"))}

    def __init__(self, trace):
        self.run = run = Records(trace)
        self.policy = trace.text.get("policy", "lws")
        self.of = {}            # (kind, key): step
        self.make_steps()
        self.end_others()
        self.first = run.first
        self.connect_tasks()
        self.connect_messages()
        self.connect_programs()
        # It waited for nobody there, and would have if it had been submitted earlier.
        for (kind, key), causes in run.came_after.items():
            self.after(kind, key, *((self.cause(key[0], c), 0) for c in causes))
        self.steps = self.in_order()
        for number, step in enumerate(self.steps):
            step.number = number
        for step in self.steps:
            step.before = [(other, lag) for other, lag in step.before if other.number < step.number]
            step.lag = step.at - max((other.at + lag for other, lag in step.before), default=run.first)
        ends = [s.at for s in self.steps if s.kind in ("done", "recv")]
        self.tail = run.last - max(ends) if ends else run.last - run.first
        self.makespan = run.last - run.first
        big = [(m.bytes, r.recv - m.send) for m, r in self.flights() if m.bytes >= 1024]
        known = re.search(r"([0-9.]+) GB/s", trace.text.get("network", "")) if getattr(trace, "simulated", False) else None
        self.rate = float(known.group(1)) if known else max((size / max(1, ns - run.latency) for size, ns in big), default=0)   # bytes per ns

    def in_order(self):
        """The steps by their times, and those of one instant after what they came of."""
        found, begun = [], set()
        for first in sorted(self.of.values(), key=lambda s: (s.at, self.STAGES[s.kind], s.rank)):
            stack = [] if id(first) in begun else [first]
            while stack:
                s = stack[-1]
                if id(s) not in begun:
                    begun.add(id(s))
                    s.number = -1
                    stack += [o for o, _ in s.before if id(o) not in begun and o.at <= s.at]
                else:
                    stack.pop()
                    if s.number < 0:
                        s.number = 0
                        found.append(s)
        return found

    def step(self, kind, key, at, of):
        if at is not None:
            self.of[kind, key] = Step(kind, of, at, key[0])

    def make_steps(self):
        for t in self.run.tasks.values():
            for kind in ("submit", "ready", "start", "end", "done"):
                self.step(kind, t.key, getattr(t, kind), t)
        for r in self.run.requests.values():
            for kind in ("post", "grant", "recv", "sent"):
                self.step(kind, r.key, getattr(r, kind), r)
        for m in self.run.messages.values():
            for kind in ("send", "envelope"):
                at = getattr(m, kind)
                if at is not None:
                    self.of[kind, m.key] = Step(kind, m, at, m.sender if kind == "send" else m.key[1])

    def end_others(self):
        """A task whose end waited for another one is over when that one is. (Its event comes when others have gone on already.)"""
        for t in sorted((t for t in self.run.tasks.values() if t.over and t.done is not None), key=lambda t: -t.done):
            step, cause = self.of["done", t.key], self.cause(t.key[0], t.over)
            if cause is not None:
                step.at = min(step.at, max(cause.at, t.end or 0))

    def flights(self):
        """(message, its receive) of those that travelled from one rank to another."""
        for r in self.run.requests.values():
            m = r.message
            if m is not None and m.send is not None and r.recv is not None and m.sender != m.key[1]:
                yield m, r

    def after(self, kind, key, *others):
        """This step comes after those (step, lag) that there are."""
        step = self.of.get((kind, key))
        if step is not None:
            step.before += [(other, lag) for other, lag in others if other is not None]

    def cause(self, rank, value):
        """The step that a cause is."""
        kind, number = cause_of(value)
        if kind == "task":
            task = self.run.tasks.get((rank, number))
            return self.of.get(("done" if task is not None and task.over else "end", (rank, number)))
        if kind == "message":
            return self.of.get(("recv", (rank, number))) or self.of.get(("sent", (rank, number)))
        return None

    def connect_tasks(self):
        get = self.of.get
        for t in self.run.tasks.values():
            causes = [(self.cause(t.key[0], c), ns) for ns, c in self.run.causes.get(t.key, ())]
            self.after("ready", t.key, (get(("submit", t.key)), 0), *((s, max(0, ns - s.at)) for s, ns in causes if s is not None))
            b = t.before
            self.after("start", t.key, (get(("ready", t.key)), 0),
                       (b and (None if b.over else get(("done", b.key))) or b and get(("end", b.key)), 0))
            self.after("end", t.key, (get(("start", t.key)), 0))
            self.after("done", t.key, (get(("end", t.key)), 0), (self.cause(t.key[0], t.over), 0))

    def connect_messages(self):
        get, run = self.of.get, self.run
        sent = collections.defaultdict(list)
        for r in run.requests.values():
            if r.sent is not None and not r.receive:
                sent[r.key[0]].append((r.sent, r.key))
        for some in sent.values():
            some.sort()
        receive = {r.message.key: r for r in run.requests.values() if r.message is not None}
        for r in run.requests.values():
            cause = self.cause(r.key[0], r.cause)
            self.after("grant", r.key, (get(("post", r.key)), 0), (cause, max(0, (r.grant or 0) - cause.at) if cause else 0))
            self.after("sent", r.key, (get(("grant", r.key)), 0))
            m = r.message
            if m is not None:
                self.after("recv", r.key, (get(("envelope", m.key)), 0), (get(("send", m.key)), self.flight(m, r)), (get(("grant", r.key)), 0))
        for m in run.messages.values():
            request = run.requests.get((m.key[0], m.request))
            if m.envelope is not None and m.send is not None:
                self.after("envelope", m.key, (get(("send", m.key)), m.envelope - m.send))
            if m.send is None:
                continue
            if m.sender != m.key[0]:
                came = [a for a in run.arrivals.get((m.key[0], m.sender, m.tag), ()) if a.envelope <= m.send]
                own = max(came, key=lambda a: a.envelope, default=None)
                if own is not None:
                    r = receive.get(own.key)
                    done = r is not None and r.recv is not None and r.recv <= m.send
                    self.after("send", m.key, (get(("recv", r.key)) if done else get(("envelope", own.key)), 0))
                continue
            if request is None:
                continue
            grant = get(("grant", request.key))
            self.after("send", m.key, (grant, 0))
            if grant is not None and m.send - grant.at > HELD_NS:
                place = self.latest(sent[m.key[0]], m.send)
                if place is not None and place[0] > grant.at and place[1] != request.key:
                    self.after("send", m.key, (get(("sent", place[1])), 0))
            r = receive.get(m.key)
            flies = r is not None and r.recv is not None and r.recv <= (request.sent or 0)
            self.after("sent", request.key, (get(("recv", r.key)) if flies else get(("send", m.key)), 0))

    @staticmethod
    def fetch(t):
        """For how long the data of a task kept its worker from the kernel."""
        idle = t.before.end if t.before is not None and t.before.end is not None else t.start - t.fetch
        return max(0, t.start - max(idle, t.start - t.fetch))

    @staticmethod
    def latest(some, at):
        """The last of these pairs that is not after that time."""
        low, high = 0, len(some)
        while low < high:
            middle = (low + high) // 2
            if some[middle][0] <= at:
                low = middle + 1
            else:
                high = middle
        return some[low - 1] if low else None

    @staticmethod
    def flight(m, r):
        """The time that a message is under way; one that waited for its receive, up to its envelope."""
        if m.send is None or r.recv is None:
            return 0
        if r.grant is not None and m.envelope is not None and r.grant > m.envelope:
            return m.envelope - m.send
        return r.recv - m.send

    def connect_programs(self):
        """Each submission follows the one before, and what the program waited for since."""
        walk = Walk(self.run)
        rows = collections.defaultdict(list)
        for (kind, key), step in self.of.items():
            if kind in ("submit", "post"):
                if cause_of(step.of.parent)[0] == "program":
                    rows[key[0]].append(step)
                else:
                    parent = self.submitter(key[0], step)
                    if parent is not None:
                        step.before.append((parent, step.at - parent.at))
        self.programs = {}
        for rank, some in rows.items():
            some.sort(key=lambda s: (s.at, s.of.key))
            self.programs[rank] = some
            before = None
            for step in some:
                waited = walk.waited(rank, before.at if before else self.run.first - 1, step.at)
                if waited is not None:
                    step.before += self.waits_for(rank, waited)
                if before is not None:
                    step.before.append((before, 0))
                before = step

    def submitter(self, rank, step):
        """The step that a submission follows which is not the program's: a kernel, in which it was made, or the end of a task or of a message. (The end
        of the last task that contributes to a reduction submits those that combine, and a callback follows the end of its task.)"""
        kind, number = cause_of(step.of.parent)
        if kind == "message":
            return self.of.get(("recv", (rank, number))) or self.of.get(("sent", (rank, number)))
        end = self.of.get(("end", (rank, number)))
        return end if end is not None and end.at <= step.at else self.of.get(("start", (rank, number)))

    def waits_for(self, rank, wait):
        """The steps that ended a wait of the program, with their lags."""
        if wait.call.startswith(BARRIER):
            # (No rank left before the last one came, which had waited for something itself, or submitted something.)
            other, begin = last_to_come(self.run, rank, wait)
            if other == rank:
                return []
            some = [self.over(found) for found in (latest(self.run.ends[other], begin), latest(self.run.messages_over[other], begin)) if found]
            return [(s, 0) for s in some if s is not None]
        what = ended_wait(self.run, rank, wait)
        step = what and self.over((what[2], what[1].key), what[0])
        return [(step, 0)] if step is not None else []

    def over(self, found, kind=None):
        """The step at which a task or a request, (when, key), was over."""
        for name in ("done", "end") if kind == "task" else ("recv", "sent") if kind else ("done", "recv", "sent"):
            step = self.of.get((name, found[1]))
            if step is not None and step.at <= found[0]:
                return step
        return None

    # ---- with other times ----

    def again(self, lag=None, edges=None):
        """The makespan if step s had the lag lag(s), and came after edges(s), [(step, lag)], instead of what is recorded."""
        first, last = self.first, self.first
        for s in self.steps:
            now = first
            for other, wait in (edges(s) if edges else s.before):
                at = other.now + wait
                if at > now:
                    now = at
            s.now = now = now + (lag(s) if lag else s.lag)
            if now > last and (s.kind == "done" or s.kind == "recv"):
                last = now
        return last + self.tail - first

    def gain(self, lag=None, edges=None):
        """What that would save, in seconds."""
        return (self.makespan - self.again(lag, edges)) * 1e-9

    def flights_with(self, change):
        """edges() in which a message is under way for change(message, nanoseconds)."""
        def edges(s):
            if s.kind not in ("recv", "envelope"):
                return s.before
            return [(o, change(o.of, wait) if o.kind == "send" else wait) for o, wait in s.before]
        return edges

    def durations(self):
        """{(kernel, kind of unit): median nanoseconds, and what its data take beside that}, and the kind of unit of each worker."""
        kinds = {place: name.split()[0] if name else "" for place, name in self.run.workers.items()}
        lengths, fetches = collections.defaultdict(list), collections.Counter()
        for t in self.run.tasks.values():
            if t.start is not None and t.end is not None:
                key = t.name, kinds.get((t.key[0], t.worker), "")
                lengths[key].append(t.end - t.start)
                fetches[key] += self.fetch(t)
        return {key: statistics.median(some) + fetches[key] / len(some) for key, some in lengths.items()}, kinds

    def scheduled(self, lag=None):
        """The makespan with lags of lag(s) if each task that is ready went to the worker of its rank that would have done with it first, the one
        with the longest way to the end first. What a task took where it was counts on units of that kind, the median elsewhere."""
        medians, kinds = self.durations()
        places = collections.defaultdict(list)
        for (rank, worker) in sorted(kinds):
            places[rank].append(worker)
        follow = [[] for _ in self.steps]
        missing = [0] * len(self.steps)
        lag = lag or (lambda s: s.lag)
        for s in self.steps:
            for other, wait in s.before:
                if s.kind == "start" and other.kind != "ready":
                    continue          # not after what its worker did then
                follow[other.number].append((s, wait))
                missing[s.number] += 1
        best = {}
        for (name, kind), ns in medians.items():
            best[name] = min(best.get(name, ns), ns)
        rank_up = [0] * len(self.steps)
        for s in reversed(self.steps):
            own = best.get(s.of.name, 0) if s.kind == "end" else s.lag if s.kind not in ("start", "submit", "post") else 0
            rank_up[s.number] = max((rank_up[f.number] + wait for f, wait in follow[s.number]), default=0) + max(0, own)
        overhead = statistics.median([max(0, s.lag - self.fetch(s.of)) for s in self.steps if s.kind == "start"] or [0])
        now = [self.first] * len(self.steps)
        free = {place: self.first for place in kinds}
        queues = collections.defaultdict(list)
        heap, last, busy, expected = [], self.first, {}, dict(free)

        def pass_on(s, at):
            nonlocal last
            if s.kind in ("done", "recv"):
                last = max(last, at)
            for f, wait in follow[s.number]:
                now[f.number] = max(now[f.number], at + wait)
                missing[f.number] -= 1
                if not missing[f.number]:
                    heapq.heappush(heap, (now[f.number] + max(0, 0 if f.kind == "start" else lag(f)), f.number))

        def begin(place, at):
            queue = queues[place]
            if not queue or busy.get(place):
                return
            _, number = heapq.heappop(queue)
            s = self.steps[number]
            t, kind = s.of, kinds[place]
            own = kinds.get((t.key[0], t.worker), "")
            ns = t.end - t.start + self.fetch(t) if t.end is not None and kind == own else medians.get((t.name, kind), 0)
            free[place] = at + overhead + ns
            busy[place] = True
            end = self.of.get(("end", t.key))
            heapq.heappush(heap, (free[place], -1 - end.number if end else 1 << 60))
            where[t.key] = place
            pass_on(s, at)            # to tasks that are submitted in it

        where, done = {}, 0
        for s in self.steps:
            if not missing[s.number]:
                heapq.heappush(heap, (self.first + max(0, lag(s)), s.number))
        while heap:
            at, number = heapq.heappop(heap)
            if number < 0:            # a kernel ends
                s = self.steps[-1 - number]
                place = where[s.of.key]
                busy[place] = False
                done += 1
                pass_on(s, at)
                begin(place, at)
                continue
            if number >= len(self.steps):
                continue
            s = self.steps[number]
            if s.kind == "start":
                t = s.of
                choices = [w for w in places[t.key[0]] if (t.name, kinds[t.key[0], w]) in medians] or [t.worker]

                def done_at(w):
                    place = (t.key[0], w)
                    return max(at, expected.get(place, at)) + medians.get((t.name, kinds.get(place, "")), 0), w
                worker = min(choices, key=done_at)
                place = (t.key[0], worker)
                expected[place] = done_at(worker)[0]
                heapq.heappush(queues[place], (-rank_up[number], number))
                begin(place, at)
            elif s.kind != "end":
                pass_on(s, at)
        # A task that never ended, or steps that wait for each other: nothing is known then.
        if done < sum(s.kind == "end" for s in self.steps):
            return self.makespan
        return last + self.tail - self.first
