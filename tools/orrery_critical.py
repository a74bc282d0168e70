# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The critical path of a recorded run: what followed from what, from the last event
# back to the first, for `orrery explain`.
# Invariant: the pieces of a path touch each other and cover the run from its first
# event to its last, so that their lengths add up to the makespan, exactly.
import bisect
import collections

import orrery_callbacks
import orrery_memories
import orrery_models
import orrery_sums
import orrery_tracefile
from orrery_tracefile import EAGER, NUMBER, RECEIVE, RELAYED, SYNC, cause_of

# request: of a message that was held, (process, number).
Piece = collections.namedtuple("Piece", "first last kind detail rank worker request", defaults=(None,))

# A thread of the program waited in a call; what let it go on is a cause, 0: see the times.
Wait = collections.namedtuple("Wait", "end begin call cause")
SLACK_NS = 1000         # what was over so long before a wait began did not end it
BARRIER = "a barrier"   # begins the calls in which ranks wait for each other

# The kinds of pieces of the path, in the words of the page.
KINDS = {
    "kernel": "kernels", "fetching": "fetching data between memory nodes", "runtime": "runtime: from a cause to its effect",
    "callback": "callbacks of the program",
    "latency": "messages: latency", "transfer": "messages: transfer", "held": "messages: ready to leave, and held",
    "unmatched": "messages: here, and not taken", "relay": "messages: passed on in a tree",
    "sending": "messages: a task waits to change what is being sent",
    "program": "waiting for the program to submit", "datum": "waiting for the program to give back a datum",
    "barrier": "waiting for the last rank at a barrier", "resize": "the run changes its size",
    "begin": "before the first submission", "finish": "after the last task", "unknown": "not recorded",
}


def title(part):
    """The words of one kind of pieces; part: its "kind" and "name", which is that of the kernel or of the datum that was copied."""
    if part["kind"] == "kernel":
        return "kernel " + part["name"]
    return KINDS[part["kind"]] + (" for " + part["name"] if part["name"] else "")


def path_seconds(pieces, kinds, rank=None, detail=None):
    """The length of the pieces of these kinds, of a rank, with a detail; None: of any."""
    return sum(p.last - p.first for p in pieces if p.kind in kinds
               and (rank is None or p.rank == rank) and (detail is None or p.detail == detail)) * 1e-9


def lived(trace, first, last):
    """{rank: for how long of the time between two instants there was one}"""
    found = collections.Counter()
    for process in trace.processes.values():
        for rank, begin, end in trace.lives(process, first, last):
            found[rank] += max(0, end - begin)
    return found


class Task:
    """What happened to one task: (process, number) is its key; `rank`: that of the process then."""
    __slots__ = ("key", "rank", "number", "name", "submit", "ready", "start", "end", "done", "fetch", "worker", "cause", "parent", "before",
                 "priority", "model", "expected", "transfer", "over")

    def __init__(self, key, rank):
        self.key, self.rank, self.number = key, rank, key[1]
        self.name, self.worker, self.priority, self.model = "unnamed", -1, None, None
        self.submit = self.ready = self.start = self.end = self.done = self.before = None
        self.fetch, self.cause, self.parent, self.over = 0, 0, 0, 0   # over: what its end waited for
        self.expected = 0                                             # nanoseconds that the policy expected of its kernel; 0: not known
        self.transfer = -1                                            # and of the copies of its data; -1: not known


class Request:
    """What happened to one send or receive; keys as those of tasks."""
    __slots__ = ("key", "rank", "number", "era", "receive", "peer", "tag", "post", "parent", "grant", "cause", "recv", "message", "send", "sent", "route")

    def __init__(self, key, rank, era):
        self.key, self.rank, self.number, self.era = key, rank, key[1], era
        self.receive, self.peer, self.tag = False, -1, None
        self.post = self.grant = self.recv = self.message = self.send = self.sent = self.route = None
        self.parent = self.cause = 0


class Message:
    """What happened to one message: (origin, receiver, number, era) is its name; `process`: that of its origin, or None."""
    __slots__ = ("key", "process", "send", "sender", "request", "envelope", "match", "bytes", "tag", "eager", "sync")

    def __init__(self, key, process):
        self.key, self.process, self.request, self.bytes, self.tag, self.eager, self.sync = key, process, 0, 0, 0, 0, 0
        self.send = self.sender = self.envelope = self.match = None


class Run:
    """The tasks, requests and messages of a trace; the keys of tasks and requests are (process, number), since two processes may have
    had the same rank one after the other, and a process may have had several."""

    HANDLED = ("submit", "ready", "start", "end", "done", "post", "grant", "route", "send", "sent", "envelope", "match", "recv")

    def __init__(self, trace):
        self.trace = trace
        self.tasks, self.requests, self.messages = {}, {}, {}
        self.first = self.last = 0
        self.program = collections.defaultdict(list)   # process: times at which the program submitted
        self.ends = collections.defaultdict(list)      # process: (time, task) of what came to its end
        self.messages_over = collections.defaultdict(list)   # process: (time, request) of what was complete
        self.waits = collections.defaultdict(list)     # process: in which the program waited
        self.about(self, trace)
        handlers = {NUMBER[name]: getattr(self, "on_" + name) for name in self.HANDLED}
        events = trace.events()
        if events:
            self.first, self.last = events[0][0], events[-1][0]
        self.last_of = {}                              # process: its last event
        for e in events:
            self.last_of[e[9].number] = e[0]
            handler = handlers.get(e[2])
            if handler:
                handler(*e)
        for ns, _, _, _, _, a, b, c, _, process in trace.events(("waited",)):
            self.waits[process.number].append(Wait(ns, ns - b, process.strings.get(a, "unnamed"), c))
        self.order()
        self.sums, self.windows, self.part, self.completions, self.barriers = None, trace.windows, trace.part, None, None
        if trace.limited:
            self.take_sums(orrery_sums.Sums(trace))

    @staticmethod
    def about(run, trace):
        """What a run has of its processes, in whatever form its tasks are."""
        processes = trace.processes.values()
        run.processes, run.members = trace.processes, trace.members
        run.workers = {(p.number, worker): name for p in processes for worker, (name, _) in p.workers.items()}
        run.ranks = trace.ranks()
        run.changed = trace.changed
        run.lived = lambda: lived(trace, run.first, run.last)
        run.host_of = {rank: p.host or rank for p in processes for rank in p.ranks()}

    def take_sums(self, sums):
        """What a trace with a limit knows of all events."""
        self.sums = sums
        if sums.first is not None:
            self.first, self.last = min(self.first, sums.first), max(self.last, sums.last)
        self.last_of.update(sums.last_of)

    def last_before(self, ns):
        """(time, kind, key) of the last task or receive that was complete before that time, or None."""
        if self.completions is None:
            self.completions = sorted([(t.done, 0, t.key) for t in self.tasks.values() if t.done is not None]
                                      + [(r.recv, 1, r.key) for r in self.requests.values() if r.recv is not None])
        i = bisect.bisect_left(self.completions, (ns,)) - 1
        return self.completions[i] if i >= 0 else None

    def started_only(self):
        """The tasks that started and did not end."""
        return (t for t in self.tasks.values() if t.start is not None and t.end is None)

    def tasks_done(self):
        return self.sums.count("done") if self.sums else sum(t.done is not None for t in self.tasks.values())

    def messages_received(self):
        return self.sums.count("recv") if self.sums else sum(r.recv is not None for r in self.requests.values())

    def last_done(self):
        """(time, 0, key) of the task that was over last, or None."""
        return max(((t.done, 0, t.key) for t in self.tasks.values() if t.done is not None), default=None)

    def last_received(self):
        """(time, 1, key) of the receive that was complete last, or None."""
        return max(((r.recv, 1, r.key) for r in self.requests.values() if r.recv is not None), default=None)

    def executed(self):
        """{(process, worker): (starts, ends)} of its kernels; one that did not end counts until the last event."""
        found = collections.defaultdict(lambda: ([], []))
        for t in self.tasks.values():
            if t.start is not None:
                first, last = found[t.key[0], t.worker]
                first.append(t.start)
                last.append(max(t.start, self.last if t.end is None else t.end))
        return dict(found)

    def kernels(self):
        """(name, rank, worker, nanoseconds) of each task that ended."""
        return ((t.name, t.rank, t.worker, t.end - t.start) for t in self.tasks.values() if t.start is not None and t.end is not None)

    def expected(self, tasks=None):
        """{(kernel, model, kind of worker): [(nanoseconds, those that the policy expected)]} of the tasks that ended."""
        found = collections.defaultdict(list)
        for t in self.tasks.values() if tasks is None else tasks:
            if t.expected and t.start is not None and t.end is not None:
                unit = orrery_models.unit_of(self.workers.get((t.key[0], t.worker), ""))
                found[t.name, t.model or "", unit].append((t.end - t.start, t.expected))
        return found

    def memories(self):
        """{(rank, memory node): (the most bytes in use, the limit or None)}"""
        return self.sums.memory if self.sums else orrery_memories.most(orrery_memories.uses(self.trace))

    def starts(self):
        """(name, rank, instant) of each task that started."""
        return ((t.name, t.rank, t.start) for t in self.tasks.values() if t.start is not None)

    def flights(self):
        """(sender, receiver, bytes, nanoseconds) of each message that was received: how long its bytes were under way. Those of an eager
        message leave with it, so it does not count if its receive was late; those of another one wait for the receive."""
        for r in self.requests.values():
            m = r.message
            if m is None or m.send is None or m.envelope is None or r.recv is None or r.grant is None:
                continue
            if r.grant <= m.envelope:
                yield m.sender, m.key[1], m.bytes, r.recv - m.send
            elif not m.eager:
                yield m.sender, m.key[1], m.bytes, r.recv - r.grant

    def task(self, rank, process, number):
        key = (process.number, number)
        return self.tasks.get(key) or self.tasks.setdefault(key, Task(key, rank))

    def request(self, ns, rank, process, number):
        key = (process.number, number)
        return self.requests.get(key) or self.requests.setdefault(key, Request(key, rank, process.at(ns)[1]))

    def message(self, ns, process, *key):
        """The message of that origin, receiver and number, at a time when that process knows of it."""
        era = process.at(ns)[1]
        found = self.messages.get(key + (era,))
        if found is None:
            origin = self.members.get((era, key[0]))
            found = self.messages[key + (era,)] = Message(key + (era,), None if origin is None else origin.number)
        return found

    def receiver(self, message):
        """The process that gets a message, or None."""
        process = self.members.get((message.key[3], message.key[1]))
        return None if process is None else process.number

    def on_submit(self, ns, rank, _kind, _flags, _worker, a, b, c, d, process):
        task = self.task(rank, process, b)
        task.name, task.submit, task.parent, task.priority = process.strings.get(a, "unnamed"), ns, d, orrery_tracefile.signed(c)
        if cause_of(d)[0] == "program":
            self.program[process.number].append(ns)

    def on_ready(self, ns, rank, _kind, _flags, _worker, _a, b, c, _d, process):
        task = self.task(rank, process, b)
        task.ready, task.cause = ns, c

    def on_start(self, ns, rank, _kind, _flags, worker, a, b, c, d, process):
        task = self.task(rank, process, b)
        task.name, task.start, task.fetch, task.worker = process.strings.get(a, task.name), ns, c, worker
        model, task.expected = orrery_tracefile.model_of(d)
        task.model = process.strings.get(model)

    def on_end(self, ns, rank, _kind, _flags, _worker, _a, b, _c, d, process):
        task = self.task(rank, process, b)
        task.end, task.transfer = ns, orrery_tracefile.transfer_of(d)

    def on_done(self, ns, rank, _kind, _flags, _worker, _a, b, c, _d, process):
        task = self.task(rank, process, b)
        task.done, task.over = ns, c
        self.ends[process.number].append((ns, task.key))

    def on_post(self, ns, rank, _kind, flags, _worker, a, b, c, d, process):
        request = self.request(ns, rank, process, b)
        request.receive, request.peer = bool(flags & RECEIVE), orrery_tracefile.signed(a, 32)
        request.tag = orrery_tracefile.signed(c)
        request.post, request.parent = ns, d
        if cause_of(d)[0] == "program":
            self.program[process.number].append(ns)

    def on_grant(self, ns, rank, _kind, _flags, _worker, _a, b, c, _d, process):
        request = self.request(ns, rank, process, b)
        request.grant, request.cause = ns, c

    def on_route(self, ns, rank, _kind, _flags, _worker, a, b, _c, _d, process):
        self.message(ns, process, rank, a, b >> 32).request = b & 0xFFFFFFFF
        self.request(ns, rank, process, b & 0xFFFFFFFF).route = ns

    def on_send(self, ns, rank, _kind, flags, _worker, a, b, c, d, process):
        low = b & 0xFFFFFFFF
        message = self.message(ns, process, low if flags & RELAYED else rank, a, b >> 32)
        message.send, message.sender, message.tag, message.bytes = ns, rank, c, d
        message.sync |= int(bool(flags & SYNC))
        if not flags & RELAYED:
            message.request = low
            request = self.request(ns, rank, process, low)
            request.send = ns if request.send is None else request.send

    def on_sent(self, ns, rank, _kind, _flags, _worker, _a, b, _c, _d, process):
        request = self.request(ns, rank, process, b & 0xFFFFFFFF)
        request.sent = ns
        self.messages_over[process.number].append((ns, request.key))

    def on_envelope(self, ns, rank, _kind, flags, _worker, a, b, c, d, process):
        message = self.message(ns, process, a, rank, b >> 32)
        message.envelope, message.eager, message.sync = ns, int(bool(flags & EAGER)), message.sync | int(bool(flags & SYNC))
        if message.send is None:   # the rank that sent it may not have recorded it
            message.tag, message.bytes = c, d

    def on_match(self, ns, rank, _kind, _flags, _worker, a, b, _c, _d, process):
        message = self.message(ns, process, a, rank, b >> 32)
        message.match = ns
        self.request(ns, rank, process, b & 0xFFFFFFFF).message = message

    def on_recv(self, ns, rank, _kind, _flags, _worker, _a, b, _c, _d, process):
        request = self.request(ns, rank, process, b & 0xFFFFFFFF)
        request.recv = ns
        self.messages_over[process.number].append((ns, request.key))

    def order(self):
        """Each task learns which one its worker executed before."""
        last = {}
        started = [t for t in self.tasks.values() if t.start is not None]
        for task in sorted(started, key=lambda t: (t.start, t.key)):
            task.before = last.get((task.key[0], task.worker))
            last[task.key[0], task.worker] = task
        self.arrivals = collections.defaultdict(list)   # (origin, receiver, tag, era): messages that came there
        for m in self.messages.values():
            if m.envelope is not None:
                self.arrivals[m.key[0], m.key[1], m.tag, m.key[3]].append(m)
        flights = [m.envelope - m.send for m in self.messages.values()
                   if m.send is not None and m.envelope is not None and m.key[0] != m.key[1]]
        self.latency = max(0, min(flights, default=0))


def latest(some, at):
    """The last of these pairs that is not after that time, or None."""
    place = bisect.bisect_right(some, (at, (1 << 62,))) - 1
    return some[place] if place >= 0 else None


def ended_wait(run, process, wait):
    """("task" or "message", task or request, when it was over) of what a thread of the program waited for, or None."""
    kind, number = cause_of(wait.cause)
    task = request = None
    if kind == "task":
        task = run.tasks.get((process, number))
    elif kind == "message":
        request = run.requests.get((process, number))
    else:
        done, over = latest(run.ends[process], wait.end), latest(run.messages_over[process], wait.end)
        if done is not None and (over is None or done[0] >= over[0]):
            task = run.tasks.get(done[1])
        elif over is not None:
            request = run.requests.get(over[1])
    if task is not None:
        ns = task.done if task.done is not None and task.done <= wait.end else task.end
        return None if ns is None or ns <= wait.begin - SLACK_NS else ("task", task, ns)
    if request is not None:
        ns = request.recv if request.receive else request.sent
        return None if ns is None or ns <= wait.begin - SLACK_NS else ("message", request, ns)
    return None


def last_to_come(run, process, wait):
    """(process, when) of the one that came last to a barrier, which the others waited for there."""
    if run.barriers is None:
        run.barriers = collections.defaultdict(list)   # call: (when, - process) of those that came there, in order
        for other, waits in run.waits.items():
            for w in waits:
                if w.call.startswith(BARRIER):
                    run.barriers[w.call].append((w.begin, -other))
        for some in run.barriers.values():
            some.sort()
    some = run.barriers[wait.call]
    place = bisect.bisect_left(some, (wait.end + 1,)) - 1
    while place >= 0 and some[place][1] == -process:
        place -= 1
    return (-some[place][1], some[place][0]) if place >= 0 and some[place][0] > wait.begin else (process, wait.begin)


class Walk:
    """One walk back in time. Each step takes a piece off the end of what is left, and says where to go on."""

    def __init__(self, run):
        self.run, self.now, self.pieces, self.seen = run, run.last, [], set()
        part = run.part
        self.callbacks = orrery_callbacks.Index(run.trace)
        # Whether ranks or times were not recorded, so that an effect may be there without its cause.
        self.narrow = part is not None and (part.ranks is not None or part.window is not None)
        self.cut_off = run.windows or part is not None

    def piece(self, until, kind, detail="", rank=-1, worker=-1, request=None):
        """From `until` to now; an instant after now, which clocks that differ show, counts as now."""
        until = min(self.now, max(until, self.run.first))
        if until < self.now:
            self.pieces.append(Piece(until, self.now, kind, detail, rank, worker, request))
            self.now = until

    def runtime(self, until, name, process, rank, worker=-1, of=None):
        """From `until` to now, from a cause to its effect: a worker may have executed callbacks then, or there was one of the cause, which
        is ("task" or "message", process, number)."""
        until = min(self.now, max(until, self.run.first))
        for first, last, what in reversed(self.callbacks.between(until, self.now, process, worker, of)):
            self.piece(last, "runtime", name, rank, worker)
            self.piece(first, "callback", what, rank, worker)
        self.piece(until, "runtime", name, rank, worker)

    def path(self):
        begin = max((x for x in (self.run.last_done(), self.run.last_received()) if x), default=None)
        step = None
        if begin:
            known = not self.narrow and (not self.run.windows or begin[0] >= self.run.sums.last_complete)
            step = self.at(begin)
            self.piece(begin[0], "finish" if known else "unknown", "", step[1].rank)
        self.walk(step)
        while self.cut_off and self.now > self.run.first:
            # Events are missing there: the path begins again at what was complete last before.
            before = self.run.last_before(self.now)
            if before is None or before[0] < self.run.first:
                break
            self.piece(before[0], "unknown")
            self.walk(self.at(before))
        self.piece(self.run.first, "unknown")
        return self.pieces[::-1]

    def at(self, complete):
        """The step at a task or a receive that is complete: (time, 0 or 1, key)."""
        if complete[1] == 0:
            return self.over, self.run.tasks[complete[2]]
        return self.received, self.run.requests[complete[2]]

    def walk(self, step):
        while step and self.now > self.run.first:
            mark = (step[0].__name__,) + tuple(getattr(x, "key", x) for x in step[1:])
            if mark in self.seen:
                break
            self.seen.add(mark)
            step = step[0](*step[1:])

    def together(self, first, last):
        """Whether no event between these two times is missing."""
        windows = self.run.windows
        return windows is None or (first is not None and last is not None and last < first // windows[1] * windows[1] + windows[0])

    def over(self, task):
        """A task is over: it was executed, and what its end waited for is over, too."""
        if cause_of(task.over)[0] != "program" and (task.end is None or task.end < self.now):
            step = self.follow(task, task.over, task.name)
            if step is not None:
                return step
        return self.ended(task)

    def ended(self, task):
        """The end of a task: its kernel, and before it whatever held it up last."""
        if task.start is None:
            if task.end is None and task.ready is None:
                return None
            if task.ready is None and self.cut_off:
                return None
            self.runtime(task.ready if task.ready is not None else task.end, task.name, task.key[0], task.rank, of=("task",) + task.key)
            return self.became_ready, task
        rank, worker = task.rank, task.worker
        if task.end is not None:
            self.runtime(task.end, task.name, task.key[0], rank, worker, ("task",) + task.key)
        self.piece(task.start, "kernel", task.name, rank, worker)
        before, ready = task.before, task.ready
        if before is not None and not self.together(before.end, task.start):
            before = None
        # While the kernel before it ran, the data of a task kept nobody waiting.
        since = task.start - task.fetch
        self.piece(since if before is None or before.end is None else max(since, min(before.end, task.start)), "fetching", task.name, rank, worker)
        if before is not None and before.end is not None and (ready is None or before.end > ready):
            self.runtime(before.done if before.done is not None else before.end, task.name, task.key[0], rank, worker)
            return self.ended, before
        if ready is None or (before is None and not self.together(ready, task.start)):
            return None
        self.runtime(ready, task.name, task.key[0], rank, worker, ("task",) + task.key)
        return self.became_ready, task

    def became_ready(self, task):
        if cause_of(task.cause)[0] == "program":
            if task.submit is None:
                return None
            self.piece(task.submit, "datum", task.name, task.rank)
            return self.submitted, task.key[0], task.submit, task.parent, task.name
        return self.follow(task, task.cause, task.name)

    def follow(self, of, cause, name):
        """From an effect of a task or a request to the task or the request of its process that caused it."""
        return self.caused(of.key[0], of.rank, cause, name)

    def caused(self, process, rank, cause, name):
        kind, number = cause_of(cause)
        if kind == "task":
            task = self.run.tasks.get((process, number))
            if task is None:
                return None
            if cause_of(task.over)[0] != "program":
                return self.over, task
            if task.end is not None:
                self.runtime(task.end, name, process, rank, of=("task",) + task.key)
            return self.ended, task
        request = self.run.requests.get((process, number))
        if request is None:
            return None
        if not request.receive:
            return self.was_sent, request
        if request.recv is not None:
            self.runtime(request.recv, name, process, rank, of=("message",) + request.key)
        return self.received, request

    def submitted(self, process, at, parent, name):
        """Why the program submitted something at that time, and not before."""
        rank = self.rank(process, at)
        if cause_of(parent)[0] == "message":
            step = self.caused(process, rank, parent, name)
            if step is not None:
                return step
        if cause_of(parent)[0] == "task":
            task = self.run.tasks.get((process, cause_of(parent)[1]))
            if task is not None and task.start is not None:
                # After its kernel, the end of the task submitted it: what combines a reduction, or what its callback makes.
                if task.end is not None and task.end <= at:
                    self.runtime(task.end, name, process, rank, of=("task",) + task.key)
                else:
                    self.piece(task.start, "kernel", task.name, rank, task.worker)
                return self.ended, task
        times = self.run.program[process]
        place = bisect.bisect_left(times, at)
        before = times[place - 1] if place else None
        if not self.together(before if before is not None else self.run.first, at):
            return None
        since = before if before is not None else self.run.first - 1
        changed = self.run.changed(self.run.processes[process], at)
        changed = changed if changed is not None and changed > since else None
        if self.part_hides(before, changed):
            return None
        waited = self.waited(process, since if changed is None else changed, at)
        if waited is not None:
            step = self.let_go(process, waited, name)
            if step is not None or self.run.part is not None:
                return step
        if changed is not None or before is None:
            return self.joined(process, at, name)
        self.piece(before, "program", name, rank)
        return self.submitted, process, before, 0, name

    def part_hides(self, before, changed):
        """Whether what the program did before a submission may not have been recorded; before: the time of the one before, changed:
        that of a change of the run's size since then, or None."""
        part = self.run.part
        return part is not None and (not part.has("waited") or (before is None and part.window is not None)
                                     or (changed is not None and part.ranks is not None))

    def rank(self, process, at):
        """The rank of that process at that time."""
        return self.run.processes[process].at(at)[0]

    def joined(self, process, at, name):
        """A process submits its first task or message: at the begin of the run; after a change of its size, to which one of the others
        came last; or after the runtime was started again."""
        own = self.run.processes[process]
        rank, era = own.at(at)
        kind, found = "resize", [(p.begin_of(era), p.number) for p in self.run.processes.values() if era in p.eras[1:]]
        if not found:   # another one had its rank before
            kind, born = "program", own.born()
            found = [(p.end(), p.number) for p in self.run.processes.values()
                     if rank in p.ranks() and p.end() is not None and born is not None and p.end() <= born]
        found = [(self.last_step(number, since), since, number) for since, number in found]
        found = [step for step in found if step[0] is not None and step[0] < at]
        if not found:
            self.piece(self.run.first, "begin", name, rank)
            return None
        last, since, other = max(found)
        if kind == "resize":
            self.piece(max(last, self.run.changed(own, at)), "program", name, rank)
        self.piece(last, kind, name, rank)
        return self.submitted, other, since, 0, name

    def last_step(self, process, at):
        """When the program of a process submitted something or stopped waiting last, up to that time, or None."""
        times, waits = self.run.program[process], self.run.waits[process]
        some = times[max(0, bisect.bisect_left(times, at) - 1):bisect.bisect_left(times, at)]
        place = bisect.bisect_right(waits, (at, at)) - 1
        return max(some + [waits[place].end] * (place >= 0), default=None)

    def waited(self, process, before, at):
        """The last wait of the program between these two times, or None."""
        waits = self.run.waits[process]
        place = bisect.bisect_right(waits, (at, at)) - 1
        return waits[place] if place >= 0 and waits[place].end > before else None

    def let_go(self, process, wait, name):
        """From the end of a wait to what ended it; None: that is not known, and nothing was taken off."""
        rank = self.rank(process, wait.end)
        if wait.call.startswith(BARRIER):
            last = last_to_come(self.run, process, wait)
            self.piece(wait.end, "program", name, rank)
            self.piece(last[1], "barrier", name, self.rank(*last))
            return self.submitted, last[0], last[1], 0, name
        what = ended_wait(self.run, process, wait)
        if what is None:
            return None
        kind, of, ns = what
        self.piece(wait.end, "program", name, rank)
        self.runtime(ns, name, process, rank, of=(kind,) + of.key)
        return self.over if kind == "task" else self.received if of.receive else self.was_sent, of

    def received(self, request):
        """A message can be used: the receive was late, or the message was."""
        message, rank = request.message, request.rank
        if message is None or (request.grant is not None and message.envelope is not None and request.grant > message.envelope):
            if request.grant is None:
                return None
            self.piece(request.grant, "transfer", self.link(message) if message else "", rank)
            return self.granted, request
        return self.arrived, message

    def arrived(self, message):
        origin, rank = message.key[:2]
        if message.match is not None and message.envelope is not None:
            self.piece(message.match, "transfer", self.link(message), rank)
            self.piece(message.envelope, "unmatched", self.link(message), rank)
        if message.send is None:
            return None
        self.piece(min(self.now, message.send + self.run.latency), "transfer", self.link(message), rank)
        self.piece(message.send, "latency", self.link(message), rank)
        request = self.run.requests.get((message.process, message.request))
        if message.sender != origin:
            return self.passed_on(message)
        if request is None or request.grant is None:
            return None
        self.piece(request.grant, "held", self.link(message), origin, request=request.key)
        return self.granted, request

    def passed_on(self, message):
        """A rank in between sent it on: the path goes to the message that it got with that tag."""
        arrived = self.run.arrivals.get((message.key[0], message.sender, message.tag, message.key[3]), ())
        own = max((m for m in arrived if m.envelope <= message.send), key=lambda m: m.envelope, default=None)
        if own is None:
            return None
        self.piece(own.envelope, "relay", self.link(message), message.sender)
        return self.arrived, own

    def was_sent(self, request):
        """A send is over: its datum may change again."""
        rank, link = request.rank, "%d to %d" % (request.rank, request.peer)
        if request.sent is not None:
            self.runtime(request.sent, link, request.key[0], rank, of=("message",) + request.key)
        if request.send is not None:
            self.piece(request.send, "sending", link, rank)
        if request.grant is None or (request.send is None and not self.together(request.grant, request.sent)):
            return None
        # A send that others pass on in a tree has no message of its own that leaves.
        if request.send is not None:
            self.piece(request.grant, "held", link, rank, request=request.key)
        else:
            self.piece(request.grant, "sending", link, rank)
        return self.granted, request

    def granted(self, request):
        """The datum of a request can be used."""
        rank = request.rank
        name = "a receive" if request.receive else "a send"
        if cause_of(request.cause)[0] != "program":
            return self.follow(request, request.cause, name)
        if request.post is None:
            return None
        self.piece(request.post, "datum", name, rank)
        return self.submitted, request.key[0], request.post, request.parent, name

    @staticmethod
    def link(message):
        return "%d to %d" % (message.sender if message.sender is not None else message.key[0], message.key[1])


def critical_path(run):
    """The pieces of the critical path, the first one first."""
    return Walk(run).path()
