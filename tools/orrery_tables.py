# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The tables of a trace: what `orrery trace --csv` and `--sqlite` write, and what the
# other converters read.
# Invariant: all times are whole nanoseconds since the first event of the run; what the
# trace does not say is None; each sum is one over the rows of another table.
import collections
import csv
import os

import orrery_alone
import orrery_callbacks
import orrery_changes
import orrery_data
import orrery_holds
import orrery_links
import orrery_lists
import orrery_memories
import orrery_models
from orrery_cli import UserError
from orrery_critical import Run, critical_path
from orrery_tracefile import cause_of, copy_why, signed

Copy = collections.namedtuple("Copy", "rank source target bytes start end why process")
Mark = collections.namedtuple("Mark", "rank worker at text number process")
Edge = collections.namedtuple("Edge", "rank waiter number cause by at last process")

PROCESS = ("process", "INTEGER", "its process: several had the same rank, one after the other, where the run changed its size or began again")
# (column, type, meaning): the manual (doc/trace-tables.md) has the same words.
TABLES = {
    "run": (("name", "TEXT", "what is said"), ("value", "TEXT", "what the trace says of it")),
    "ranks": (
        ("rank", "INTEGER", "number of the rank"), ("host", "TEXT", "the computer, or the simulated node"),
        ("workers", "INTEGER", "number of workers"), ("tasks", "INTEGER", "tasks whose kernel came to its end there"),
        ("kernel_ns", "INTEGER", "time in kernels, over all workers"),
        ("sent", "INTEGER", "messages that left"), ("sent_bytes", "INTEGER", "their bytes"),
        ("received", "INTEGER", "messages that could be used"), ("received_bytes", "INTEGER", "their bytes"),
        ("complete", "INTEGER", "1: the rank came to its end; 0: it was cut short"),
        ("lost", "INTEGER", "events that could not be recorded")),
    "workers": (
        ("rank", "INTEGER", "its rank"), ("worker", "INTEGER", "number of the worker in its rank"),
        ("name", "TEXT", "its name"), ("node", "INTEGER", "its memory node"),
        ("tasks", "INTEGER", "tasks whose kernel came to its end there"), ("kernel_ns", "INTEGER", "time in kernels"),
        ("fetch_ns", "INTEGER", "time from taking a task to the start of its kernel, if its data came meanwhile"),
        ("first_ns", "INTEGER", "start of its first kernel"), ("last_ns", "INTEGER", "end of its last kernel"), PROCESS),
    "kernels": (
        ("name", "TEXT", "name of the kernel"), ("tasks", "INTEGER", "tasks whose kernel came to its end"),
        ("total_ns", "INTEGER", "sum of their times"), ("mean_ns", "REAL", "mean"), ("deviation_ns", "REAL", "standard deviation"),
        ("min_ns", "INTEGER", "shortest"), ("max_ns", "INTEGER", "longest")),
    "models": (
        ("name", "TEXT", "name of the kernel"), ("model", "TEXT", "name of its performance model"), ("unit", "TEXT", "the kind of worker"),
        ("tasks", "INTEGER", "tasks whose kernel came to its end, and of which the policy expected a time"),
        ("mean_ns", "REAL", "mean of their times"), ("expected_ns", "REAL", "mean of what was expected"),
        ("median_error", "REAL", "how far half of them were from that, at most, as a share of what was expected"),
        ("p90_error", "REAL", "how far 90 % of them were, at most")),
    "tasks": (
        ("rank", "INTEGER", "where the task was submitted and executed"), ("task", "INTEGER", "its number in its process"),
        ("name", "TEXT", "name of its kernel"), ("priority", "INTEGER", "its priority"),
        ("worker", "INTEGER", "the worker that executed it"),
        ("submit_ns", "INTEGER", "it was submitted"), ("ready_ns", "INTEGER", "it had all that it waited for"),
        ("start_ns", "INTEGER", "its kernel started"), ("end_ns", "INTEGER", "its kernel ended"),
        ("done_ns", "INTEGER", "it was over, and so was its callback"),
        ("fetch_ns", "INTEGER", "time before the start in which its worker waited for its data"),
        ("kernel_ns", "INTEGER", "time in its kernel"),
        ("expected_ns", "INTEGER", "time that the scheduling policy expected its kernel to take"),
        ("expected_transfer_ns", "INTEGER", "time that the policy expected the copies of its data to take, when it chose the worker"),
        ("model", "TEXT", "name of its performance model"),
        ("cause", "TEXT", "the last thing that it waited for: task, message or program"),
        ("cause_number", "INTEGER", "number of that task or request in the process"),
        ("parent", "INTEGER", "the task in which it was submitted"), PROCESS),
    "dependencies": (
        ("rank", "INTEGER", "the rank in which one waited for the other"), ("waiter", "TEXT", "who waited: task or message"),
        ("waiter_number", "INTEGER", "number of that task or request"), ("cause", "TEXT", "for what: task or message"),
        ("cause_number", "INTEGER", "number of that task or request"), ("at_ns", "INTEGER", "the wait was over"),
        ("last", "INTEGER", "1: nothing else was missing then"), PROCESS),
    "callbacks": (
        ("rank", "INTEGER", "its rank"),
        ("what", "TEXT", "when the program was called: ready, before a policy gets a task; taken, before its kernel; executed, after it; done, the task is over; "
                         "message, a request is complete"),
        ("task", "INTEGER", "number of the task"), ("request", "INTEGER", "number of the request"), ("name", "TEXT", "name of the task's kernel"),
        ("worker", "INTEGER", "the worker whose thread was in the callback; -1: another thread"),
        ("start_ns", "INTEGER", "the call began"), ("end_ns", "INTEGER", "it was over"), PROCESS),
    "follows": (
        ("rank", "INTEGER", "the rank of both"), ("waiter", "TEXT", "who comes after the other: task or message"),
        ("waiter_number", "INTEGER", "number of that task or request"), ("cause", "TEXT", "after what: task or message"),
        ("cause_number", "INTEGER", "number of that task or request, which was over when the waiter was submitted"), PROCESS),
    "waits": (
        ("rank", "INTEGER", "its rank"), ("call", "TEXT", "in which a thread of the program waited"),
        ("start_ns", "INTEGER", "it began to wait"), ("end_ns", "INTEGER", "it went on"),
        ("cause", "TEXT", "what it waited for, where the call says that: task or message"),
        ("cause_number", "INTEGER", "number of that task or request"), PROCESS),
    "requests": (
        ("rank", "INTEGER", "the rank that posted it"), ("request", "INTEGER", "its number in its process"),
        ("kind", "TEXT", "send or receive"), ("peer", "INTEGER", "the other rank; -1: any"), ("tag", "INTEGER", "its tag"),
        ("post_ns", "INTEGER", "it was posted"), ("grant_ns", "INTEGER", "its datum could be used"),
        ("done_ns", "INTEGER", "it was complete"), ("cause", "TEXT", "what its datum waited for: task, message or program"),
        ("cause_number", "INTEGER", "number of that task or request"), ("parent", "INTEGER", "the task in which it was posted"), PROCESS,
        ("held_ns", "INTEGER", "of a send: time in which something held it after its datum could be used"),
        ("held_by", "TEXT", "what held it longest: a cause of table holds")),
    "holds": (
        ("rank", "INTEGER", "its rank"),
        ("cause", "TEXT", "number, bytes: the limit on sends under way; turn: the limit on those that start in one turn; others: others of the same value "
                          "may come; value: its value is leaving already; announced: others of its datum are announced; order: the message overtook "
                          "others; memory: it stays at its sender, for main memory is full"),
        ("request", "INTEGER", "the send that was held; NULL: all that were ready, or a message that came"),
        ("peer", "INTEGER", "where it goes; of a message that came, its origin"), ("message", "INTEGER", "number of the message that came"),
        ("since_ns", "INTEGER", "it was held"), ("until_ns", "INTEGER", "it went on"), PROCESS),
    "stays": (
        ("rank", "INTEGER", "its rank"), ("list", "TEXT", "where the request was: fetching, ready, posted or flying; early: a message without a receive"),
        ("request", "INTEGER", "its number in its process; of an early message, the receive that it went to"),
        ("since_ns", "INTEGER", "it came into the list"), ("until_ns", "INTEGER", "it left the list"), PROCESS),
    "lists": (
        ("rank", "INTEGER", "its rank"), ("list", "TEXT", "the list"), ("requests", "INTEGER", "how many came into it"),
        ("total_ns", "INTEGER", "sum of their stays; one that has no end counts until the end of the trace"),
        ("mean", "REAL", "its length, on average over the run"), ("most", "INTEGER", "its greatest length"),
        ("most_ns", "INTEGER", "since when it first was that long"), ("longest_ns", "INTEGER", "the longest stay")),
    "turns": (
        ("rank", "INTEGER", "its rank"), ("what", "TEXT", "messages, tasks, or asleep"), ("start_ns", "INTEGER", "the turn, or the first of them, began"),
        ("length_ns", "INTEGER", "how long it was, or they were together"), ("things", "INTEGER", "of messages: requests taken in, envelopes and completions"),
        ("callbacks_ns", "INTEGER", "of messages: time in callbacks of the program"),
        ("own", "INTEGER", "1: by the progression thread; 0: by another thread, which waited or looked between two tasks"), PROCESS),
    "progression": (
        ("rank", "INTEGER", "its rank"), ("things", "INTEGER", "what they did, in sum"),
        ("messages_ns", "INTEGER", "time of the progression thread with messages, without callbacks"),
        ("callbacks_ns", "INTEGER", "its time in callbacks of the program"), ("tasks_ns", "INTEGER", "its time with tasks that it executed itself"),
        ("asleep_ns", "INTEGER", "its time asleep; in a simulation, all the rest of the run"),
        ("poll_ns", "INTEGER", "the rest of the run, in which it looked and found nothing"),
        ("others_ns", "INTEGER", "time of other threads with messages")),
    "messages": (
        ("origin", "INTEGER", "the rank whose datum it carries"), ("receiver", "INTEGER", "the rank that gets it"),
        ("number", "INTEGER", "with origin, receiver and era, its name"),
        ("sender", "INTEGER", "the rank that it came from; not the origin if a tree passed it on"),
        ("tag", "INTEGER", "its tag"), ("bytes", "INTEGER", "bytes of the payload"),
        ("send_request", "INTEGER", "request of the origin"), ("receive_request", "INTEGER", "request of the receiver"),
        ("left_ns", "INTEGER", "it left its sender"), ("arrived_ns", "INTEGER", "the receiver knew of it"),
        ("matched_ns", "INTEGER", "it went to its receive"), ("received_ns", "INTEGER", "its payload could be used"),
        ("eager", "INTEGER", "1: the payload came with the envelope"), ("synchronous", "INTEGER", "1: a synchronous send"),
        ("relayed", "INTEGER", "1: passed on by a rank that is not its origin"),
        ("era", "INTEGER", "how often the run had changed its size, or begun again"), ("origin_process", "INTEGER", "the process of the origin"),
        ("receiver_process", "INTEGER", "the process of the receiver")),
    "changes": (
        ("rank", "INTEGER", "its rank, after a change of it"),
        ("what", "TEXT", "checkpoint: the rank saves its part of one; restore: it goes on from one; resize: the run goes on with another communicator; "
                         "use: data move because more or fewer ranks are in use; join, leave: its process; restart: the runtime began again"),
        ("start_ns", "INTEGER", "it began"), ("end_ns", "INTEGER", "it was over"), ("number", "INTEGER", "of the checkpoint"),
        ("saved_bytes", "INTEGER", "bytes of values that the rank saved in its file, or that its file has"),
        ("sent_bytes", "INTEGER", "bytes of values that it sent to other ranks"),
        ("before", "INTEGER", "ranks of the communicator, or in use, before"), ("after", "INTEGER", "and afterwards; 0: this one had left"), PROCESS),
    "gaps": (
        ("start_ns", "INTEGER", "from then on one worker executed a kernel, or none"), ("end_ns", "INTEGER", "until then"),
        ("kernel_ns", "INTEGER", "time in kernels meanwhile"),
        ("what", "TEXT", "what the critical path had most of meanwhile: kernel, latency, transfer, program, runtime and so on"),
        ("name", "TEXT", "name of that kernel, or of what data were copied for"), ("rank", "INTEGER", "on which rank; -1: on none"),
        ("path_ns", "INTEGER", "how much it had of that")),
    "copies": (
        ("rank", "INTEGER", "its rank"), ("source", "INTEGER", "memory node"), ("target", "INTEGER", "memory node"),
        ("bytes", "INTEGER", "bytes"), ("start_ns", "INTEGER", "the runtime started it"), ("end_ns", "INTEGER", "the runtime knew of its end"),
        ("why", "TEXT", "fetch: the value is wanted there; prefetch: it will be; eviction: the memory that it comes from is full; write-back: it may soon be"),
        PROCESS),
    "memory": (
        ("rank", "INTEGER", "its rank"), ("node", "INTEGER", "memory node"), ("at_ns", "INTEGER", "since when, until the next row of this memory"),
        ("used_bytes", "INTEGER", "bytes in use by data and by what the program allocated there"),
        ("reusable_bytes", "INTEGER", "bytes of these without a value, which are kept for reuse"),
        ("limit_bytes", "INTEGER", "the limit, if there is one"), PROCESS),
    "links": (
        ("name", "TEXT", "name of the link in the platform"), ("bytes_per_s", "INTEGER", "its bandwidth"),
        ("busy_ns", "INTEGER", "time that its bytes took at all of its bandwidth"),
        ("full_ns", "INTEGER", "time in which it gave 95 % of its bandwidth or more")),
    "loads": (
        ("name", "TEXT", "name of the link"), ("start_ns", "INTEGER", "from then on"), ("end_ns", "INTEGER", "until then"),
        ("busy_ns", "INTEGER", "of that, the time that its bytes took at all of its bandwidth"),
        ("full_ns", "INTEGER", "of that, the time in which it gave 95 % of it or more")),
    "data": (
        ("rank", "INTEGER", "its owner, or the rank that registered it alone"), ("tag", "INTEGER", "its tag; NULL: MPI does not know it"),
        ("name", "TEXT", "its name, if the program gave it one"), ("coordinates", "TEXT", "its coordinates, with blanks in between"),
        ("bytes", "INTEGER", "its size"), ("node", "INTEGER", "its home, a memory node; -1: none"),
        ("known_ns", "INTEGER", "it got its tag; NULL: it has none"), ("unregistered_ns", "INTEGER", "it was unregistered; NULL: that is not in the trace"), PROCESS),
    "marks": (
        ("rank", "INTEGER", "its rank"), ("worker", "INTEGER", "the worker that set it; -1: the program"), ("at_ns", "INTEGER", "when"),
        ("text", "TEXT", "what the program said"), ("number", "INTEGER", "its number"), PROCESS),
}


class Records(Run):
    """A run with all that was recorded of it: its edges, copies and marks, too."""

    HANDLED = Run.HANDLED + ("release", "copy", "copied", "user")

    def __init__(self, trace):
        self.trace = trace
        self.edges, self.follows, self.copies, self.marks = [], [], [], []
        self.under_way = collections.defaultdict(collections.deque)
        super().__init__(trace)
        for ns, rank, _, _, _, _, b, c, _, process in trace.events(("after",)):
            self.follows.append((ns, rank, "task", b, c, process.number))
        self.follows.sort(key=lambda f: f[0])
        for queue in self.under_way.values():
            self.copies.extend(queue)
        self.copies.sort(key=lambda c: (c.start, c[:4]))

    def edge(self, ns, rank, waiter, number, value, last, process):
        kind, by = cause_of(value)
        if kind != "program":
            self.edges.append(Edge(rank, waiter, number, kind, by, ns, last, process.number))

    def on_ready(self, ns, rank, kind, flags, worker, a, b, c, d, process):
        super().on_ready(ns, rank, kind, flags, worker, a, b, c, d, process)
        self.edge(ns, rank, "task", b, c, 1, process)

    def on_release(self, ns, rank, _kind, _flags, _worker, _a, b, c, _d, process):
        self.edge(ns, rank, "task", b, c, 0, process)

    def on_grant(self, ns, rank, kind, flags, worker, a, b, c, d, process):
        super().on_grant(ns, rank, kind, flags, worker, a, b, c, d, process)
        self.edge(ns, rank, "message", b, c, 1, process)
        if d:
            self.follows.append((ns, rank, "message", b, d, process.number))

    def on_copy(self, ns, rank, _kind, _flags, _worker, a, b, c, d, process):
        self.under_way[process.number, a, b, c, d].append(Copy(rank, a, b, c, ns, None, d, process.number))

    def on_copied(self, ns, rank, _kind, _flags, _worker, a, b, c, d, process):
        queue = self.under_way[process.number, a, b, c, d]
        self.copies.append(queue.popleft()._replace(end=ns) if queue else Copy(rank, a, b, c, ns, ns, d, process.number))

    def on_user(self, ns, rank, _kind, _flags, worker, a, b, _c, _d, process):
        self.marks.append(Mark(rank, worker, ns, process.strings.get(a, ""), b, process.number))


class Tables:
    """rows(name): the rows of a table, in the order of its columns, within a window of time and ranks."""

    def __init__(self, trace, first_s=None, last_s=None, ranks=None):
        self.run, self.trace, self.ranks = Records(trace), trace, ranks
        start = self.run.first
        self.first = start + round(first_s * 1e9) if first_s is not None else start
        self.last = start + round(last_s * 1e9) if last_s is not None else self.run.last
        self.tasks = sorted((t for t in self.run.tasks.values() if self.inside(t.rank, t.submit, t.ready, t.start, t.end, t.done)),
                            key=lambda t: (t.rank, t.key))
        self.requests = sorted((r for r in self.run.requests.values() if self.inside(r.rank, r.post, r.grant, r.send, r.sent, r.recv)),
                               key=lambda r: (r.rank, r.key))
        self.by_message = {r.message.key: r for r in self.run.requests.values() if r.message is not None}
        self.messages = sorted((m for m in self.run.messages.values() if self.seen(m)), key=lambda m: m.key)

    def within(self, first, last):
        return first <= self.last and last >= self.first

    def inside(self, rank, *times):
        """Whether something of these times and of that rank is in the window."""
        known = [t for t in times if t is not None]
        return bool(known) and (self.ranks is None or rank in self.ranks) and self.within(min(known), max(known))

    def received(self, message):
        request = self.by_message.get(message.key)
        return request.recv if request is not None else None

    def seen(self, m):
        times = (m.send, m.envelope, m.match, self.received(m))
        return any(self.inside(rank, *times) for rank in (m.key[0], m.key[1], m.sender))

    def ns(self, time):
        return None if time is None else time - self.run.first

    def rows(self, name):
        return getattr(self, "rows_of_" + name)()

    def rows_of_run(self):
        trace = self.trace
        yield from sorted(trace.text.items())
        yield "makespan_ns", str(self.run.last - self.run.first)
        yield "first_ns", str(self.run.first)
        yield "simulated", "1" if trace.simulated else "0"
        yield "ranks", str(len(trace.ranks()))
        yield "state", trace.state() or "whole"
        yield "part", "all" if trace.part is None else trace.part.sentence()

    def places(self):
        """{rank: its processes}, in the window."""
        found = collections.defaultdict(list)
        for process in self.trace.processes.values():
            for rank in process.ranks():
                if self.ranks is None or rank in self.ranks:
                    found[rank].append(process)
        return found

    def workers(self):
        """{(rank, process, worker): (name, memory node)}: those that their ranks have in the window, and those that executed tasks.
        A worker whose process had several ranks is one of the last of them only, unless it did something there."""
        known = {(p.rank, p.number, worker): about for p in self.trace.processes.values() for worker, about in p.workers.items()
                 if self.ranks is None or p.rank in self.ranks}
        for t in self.tasks:
            if t.start is not None and (t.rank, t.key[0], t.worker) not in known:
                known[t.rank, t.key[0], t.worker] = self.trace.processes[t.key[0]].workers.get(t.worker, ("", None))
        return known

    def finished(self):
        return (t for t in self.tasks if t.start is not None and t.end is not None)

    def rows_of_ranks(self):
        kernel, tasks = collections.Counter(), collections.Counter()
        sent, sent_bytes, received, received_bytes = (collections.Counter() for _ in range(4))
        for t in self.finished():
            tasks[t.rank] += 1
            kernel[t.rank] += t.end - t.start
        for m in self.messages:
            if m.send is not None:
                sent[m.sender] += 1
                sent_bytes[m.sender] += m.bytes
            if self.received(m) is not None:
                received[m.key[1]] += 1
                received_bytes[m.key[1]] += m.bytes
        for rank, processes in sorted(self.places().items()):
            yield (rank, " ".join(sorted({p.host for p in processes})), len({w for p in processes for w in p.workers}),
                   tasks[rank], kernel[rank], sent[rank], sent_bytes[rank], received[rank], received_bytes[rank],
                   int(all(p.left for p in processes)), sum(p.lost for p in processes))

    def rows_of_workers(self):
        found = collections.defaultdict(list)
        for t in self.finished():
            found[t.rank, t.key[0], t.worker].append(t)
        for (rank, process, worker), (name, node) in sorted(self.workers().items()):
            done = found[rank, process, worker]
            yield (rank, worker, name, node, len(done), sum(t.end - t.start for t in done), sum(t.fetch for t in done),
                           self.ns(min((t.start for t in done), default=None)), self.ns(max((t.end for t in done), default=None)), process)

    def rows_of_kernels(self):
        lengths = collections.defaultdict(list)
        for t in self.finished():
            lengths[t.name].append(t.end - t.start)
        for name in sorted(lengths):
            found = lengths[name]
            total, n = sum(found), len(found)
            mean = total / n
            yield name, n, total, mean, (sum((x - mean) ** 2 for x in found) / n) ** 0.5, min(found), max(found)

    def rows_of_models(self):
        for row in orrery_models.rows(self.run.expected(self.tasks)):
            yield row[:4] + (row.ns / row.tasks, row.expected_ns / row.tasks, row.median_error, row.p90_error)

    @staticmethod
    def parent(value):
        kind, number = cause_of(value)
        return number if kind == "task" else None

    @staticmethod
    def cause(known, value):
        """The columns cause and cause_number."""
        kind, number = cause_of(value)
        return (kind, number if kind != "program" else None) if known is not None else (None, None)

    def rows_of_tasks(self):
        for t in self.tasks:
            ran = t.start is not None
            yield ((t.rank, t.number, t.name, t.priority, t.worker if ran else None)
                   + tuple(map(self.ns, (t.submit, t.ready, t.start, t.end, t.done)))
                   + (t.fetch if ran else None, t.end - t.start if ran and t.end is not None else None, t.expected or None,
                      t.transfer if t.transfer >= 0 else None, t.model)
                   + self.cause(t.ready, t.cause) + (self.parent(t.parent), t.key[0]))

    def rows_of_dependencies(self):
        for e in self.run.edges:
            if self.inside(e.rank, e.at):
                yield e.rank, e.waiter, e.number, e.cause, e.by, self.ns(e.at), e.last, e.process

    def rows_of_callbacks(self):
        for c in orrery_callbacks.callbacks(self.trace):
            if self.inside(c.rank, c.start, c.end):
                of_message = c.what == "message"
                task = None if of_message else self.run.tasks.get((c.process, c.number))
                yield (c.rank, c.what, None if of_message else c.number, c.number if of_message else None, task.name if task else None, c.worker,
                       self.ns(c.start), self.ns(c.end), c.process)

    def rows_of_follows(self):
        for ns, rank, waiter, number, cause, process in self.run.follows:
            if self.inside(rank, ns):
                yield (rank, waiter, number) + cause_of(cause) + (process,)

    def rows_of_waits(self):
        found = sorted((self.trace.processes[number].at(w.end)[0], number, w) for number, waits in self.run.waits.items() for w in waits)
        for rank, process, w in found:
            if self.inside(rank, w.begin, w.end):
                kind, number = cause_of(w.cause)
                yield (rank, w.call, self.ns(w.begin), self.ns(w.end)) + ((None, None) if kind == "program" else (kind, number)) + (process,)

    def rows_of_requests(self):
        index = orrery_holds.Index(orrery_holds.holds(self.trace), self.run.last) if self.requests else None
        for r in self.requests:
            yield ((r.rank, r.number, "receive" if r.receive else "send", r.peer, r.tag) + tuple(map(self.ns, (r.post, r.grant)))
                   + (self.ns(r.recv if r.receive else r.sent),) + self.cause(r.grant, r.cause) + (self.parent(r.parent), r.key[0])
                   + self.held(r, index))

    def held(self, r, index):
        """The columns held_ns and held_by of a request."""
        left = r.send if r.send is not None else r.route
        if r.receive or r.grant is None or not index:
            return None, None
        return orrery_holds.most(index.of(*r.key, r.grant, self.run.last if left is None else left))

    def rows_of_holds(self):
        for h in orrery_holds.holds(self.trace):
            if self.inside(h.rank, h.since, self.run.last if h.until is None else h.until):
                of_message = h.cause in orrery_holds.OF_MESSAGES
                yield (h.rank, h.cause, None if of_message or h.request == orrery_holds.ALL else h.request, h.peer,
                       h.request if of_message else None, self.ns(h.since), self.ns(h.until), h.process)

    def chosen_stays(self):
        return [s for s in orrery_lists.stays(self.run) if self.inside(s.rank, s.since, self.run.last if s.until is None else s.until)]

    def rows_of_stays(self):
        for s in self.chosen_stays():
            yield s.rank, s.list, s.request, self.ns(s.since), self.ns(s.until), s.process

    def rows_of_lists(self):
        for row in orrery_lists.sums(self.chosen_stays(), self.run.first, self.run.last):
            yield row[:6] + (self.ns(row[6]), row[7])

    def chosen_turns(self):
        return [t for t in orrery_lists.turns(self.trace) if self.inside(t.rank, t.start, t.start + t.ns)]

    def rows_of_turns(self):
        for t in self.chosen_turns():
            yield t.rank, t.what, self.ns(t.start), t.ns, t.things, t.callbacks, t.own, t.process

    def rows_of_progression(self):
        by_rank, lived = collections.defaultdict(list), self.run.lived()
        for t in self.chosen_turns():
            by_rank[t.rank].append(t)
        for rank, found in sorted(by_rank.items()):
            own, others = collections.Counter(), 0
            for t in found:
                # Threads of the real world sleep before the first step of the run, too.
                ns = max(0, min(t.start + t.ns, self.run.last) - max(t.start, self.run.first))
                if t.own:
                    own[t.what] += ns
                    own["callbacks"] += min(ns, t.callbacks)
                else:
                    others += ns
            rest = max(0, lived[rank] - own["messages"] - own["tasks"] - own["asleep"])
            asleep, poll = (rest, 0) if self.trace.simulated else (own["asleep"], rest)
            yield (rank, sum(t.things for t in found), own["messages"] - own["callbacks"],
                   own["callbacks"], own["tasks"], asleep, poll, others)

    def rows_of_messages(self):
        for m in self.messages:
            request = self.by_message.get(m.key)
            yield (m.key[0], m.key[1], m.key[2], m.sender, signed(m.tag), m.bytes, m.request or None,
                   request.number if request else None) + tuple(map(self.ns, (m.send, m.envelope, m.match, self.received(m)))) + (
                       m.eager, m.sync, int(m.sender is not None and m.sender != m.key[0]), m.key[3], m.process, self.run.receiver(m))

    def rows_of_changes(self):
        for c in orrery_changes.changes(self.trace):
            # A run goes on from a checkpoint before its first step.
            if self.inside(c.rank, max(c.first, self.run.first), max(c.last, self.run.first)):
                yield c.rank, c.what, self.ns(c.first), self.ns(c.last), c.number, c.saved, c.sent, c.before, c.after, c.process

    def rows_of_gaps(self):
        for g in orrery_alone.gaps(self.run, self.trace, critical_path(self.run)):
            if self.within(g.first, g.last):
                yield self.ns(g.first), self.ns(g.last), g.kernel_ns, g.kind, g.name or None, g.rank, g.path_ns

    def rows_of_copies(self):
        for c in self.run.copies:
            if self.inside(c.rank, c.start, c.end):
                yield c[:4] + (self.ns(c.start), self.ns(c.end), copy_why(c.why), c.process)

    def rows_of_memory(self):
        for use in self.memories():
            yield use.rank, use.node, self.ns(use.at), use.used, use.reusable, use.limit, use.process

    def memories(self):
        """Their uses in the window; memory may be in use before the first step of the run."""
        return [use for use in (use._replace(at=max(use.at, self.run.first)) for use in orrery_memories.uses(self.trace)) if self.inside(use.rank, use.at)]

    def rows_of_links(self):
        yield from orrery_links.read(self.trace)[0]

    def rows_of_loads(self):
        for load in orrery_links.read(self.trace)[1]:
            if self.within(load.start, load.end):
                yield (load.name, self.ns(load.start), self.ns(load.end)) + load[3:]

    def data(self):
        """The parts of which the rows of the table data are made."""
        run = self.run   # data may be known before the first step, and after the last one
        for d in orrery_data.read(self.trace):
            if self.inside(d.rank, run.first if d.since is None else min(d.since, run.last), run.last if d.end is None else max(d.end, run.first)):
                yield d

    def rows_of_data(self):
        for d in self.data():
            yield (d.rank, d.tag, d.name or None, d.coordinates or None, d.bytes, d.home, self.ns(d.since) if d.since is not None else None,
                   self.ns(d.end) if d.end is not None else None, d.process)

    def rows_of_marks(self):
        for m in self.run.marks:
            if self.inside(m.rank, m.at):
                yield m.rank, m.worker, self.ns(m.at), m.text, m.number, m.process


def write_csv(tables, folder):
    """One file for each table."""
    os.makedirs(folder, exist_ok=True)
    for name, columns in TABLES.items():
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow([column for column, _, _ in columns])
            writer.writerows(tables.rows(name))


APPLICATION = 0x4F727279   # in the head of our databases, by which we know which file may be replaced
KEYS = {"ranks": ("rank",), "workers": ("rank, worker",), "tasks": ("rank, task", "process, task", "name"),
        "dependencies": ("rank, waiter, waiter_number", "rank, cause, cause_number", "process, waiter, waiter_number", "process, cause, cause_number"),
        "requests": ("rank, request", "process, request"), "stays": ("rank, request", "process, request", "list"),
        "messages": ("origin, receiver, number", "receiver, receive_request", "origin, send_request", "receiver_process, receive_request",
                     "origin_process, send_request")}


def may_replace(path):
    """Whether that file is none, is empty, or is a database that we wrote."""
    try:
        with open(path, "rb") as file:
            head = file.read(72)
    except FileNotFoundError:
        return True
    return not head or (head[:16] == b"SQLite format 3\0" and int.from_bytes(head[68:72], "big") == APPLICATION)


def write_sqlite(tables, path):
    """A database with the tables, and the table `columns` that says what their columns mean."""
    try:
        import sqlite3
    except ImportError:
        raise UserError("--sqlite needs the module sqlite3 of Python (Debian: libpython3-stdlib), which this Python does not have", 1)
    if not may_replace(path):
        raise UserError("%s is there and is no database of orrery trace; remove it, or give another name after -o" % path, 1)
    partial = path + ".partial"
    if os.path.exists(partial):
        os.unlink(partial)
    try:
        base = sqlite3.connect(partial, isolation_level=None)
        base.execute("PRAGMA journal_mode = OFF")
        base.execute("PRAGMA synchronous = OFF")
        base.execute("PRAGMA application_id = %d" % APPLICATION)
        base.execute("BEGIN")
        for name, columns in TABLES.items():
            base.execute("CREATE TABLE %s (%s)" % (name, ", ".join('"%s" %s' % c[:2] for c in columns)))
            base.executemany("INSERT INTO %s VALUES (%s)" % (name, ", ".join("?" * len(columns))), map(fits, tables.rows(name)))
            for i, key in enumerate(KEYS.get(name, ())):
                base.execute("CREATE INDEX %s_%d ON %s (%s)" % (name, i, name, key))
        base.execute('CREATE TABLE columns ("table" TEXT, "column" TEXT, meaning TEXT)')
        base.executemany("INSERT INTO columns VALUES (?, ?, ?)", ((n, c, m) for n, columns in TABLES.items() for c, _, m in columns))
        base.execute("COMMIT")
        base.close()
        os.replace(partial, path)
    except sqlite3.Error as error:
        raise UserError("%s: %s; is there enough room?" % (partial, error), 1)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)


def fits(row):
    """SQLite's integers have 64 bits and a sign."""
    return tuple(signed(v) if isinstance(v, int) and v >> 63 == 1 else v for v in row)
