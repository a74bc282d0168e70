# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A recorded run as a graph of its steps, in columns of numpy: what each step came after, and how long after it.
# Invariant: a step has a higher number than those that it came after, and comes `lag` after the last of them, each with
# the wait of its edge, exactly when it was recorded.
import collections

import numpy as np

from orrery_columns import NEVER
from orrery_critical import BARRIER, Walk, ended_wait, last_to_come, latest

# The kinds of steps; those of one instant come in this order, unless they came of each other.
KINDS = ("submit", "post", "ready", "grant", "start", "send", "end", "envelope", "recv", "sent", "done")
SUBMIT, POST, READY, GRANT, START, SEND, END, ENVELOPE, RECV, SENT, DONE = range(len(KINDS))
OF_TASKS = (SUBMIT, READY, START, END, DONE)
OF_MESSAGES = (SEND, ENVELOPE)
HELD_NS = 2000  # a send that leaves so late after its datum was there waited for something else


def is_kind(kinds, *wanted):
    """Which of these steps are of one of the wanted kinds."""
    table = np.zeros(len(KINDS), bool)
    table[list(wanted)] = True
    return table[kinds]


def last_before(groups, times, asked, at):
    """For each asked group, the place of its last time that is not after `at`, of equal times the last one; -1: there is none."""
    n = len(groups)
    group, time = np.concatenate((groups, asked)), np.concatenate((times, at))
    order = np.lexsort((np.arange(len(group)) >= n, time, group))
    last = np.maximum.accumulate(np.where(order < n, np.arange(len(order)), -1))
    found = np.full(len(order), -1)
    found[order] = np.where(last >= 0, order[last], -1)
    found = found[n:]
    return np.where((found >= 0) & (group[found] == asked), found, -1) if n else found


class Steps:
    """Columns `kind`, `row` (of the task, the request or the message), `rank`, `at` and `lag` of the steps, by their numbers; edges
    `source`, `target` and `wait`, sorted by target; `number`[kind]: the number of the step of that kind of a row, -1: there is none;
    `programs`: {process: numbers of the steps at which its program submitted something}."""

    def __init__(self, run):
        self.run, self.columns = run, run.columns
        self.tasks, self.requests, self.messages = run.columns.tasks, run.columns.requests, run.columns.messages
        m = self.messages
        # A real receiver may note a message before its sender does, which writes it down when MPI has it.
        self.send = np.where((m.send != NEVER) & (m.envelope != NEVER), np.minimum(m.send, m.envelope), m.send)
        self.edges = []
        self.make_steps()
        self.end_others()
        self.connect_tasks()
        self.connect_messages()
        self.connect_programs()
        # It waited for nobody there, and would have if it had been submitted earlier.
        for kind, table, events, causes in ((READY, self.tasks, self.columns.afters, self.columns.afters.c),
                                            (GRANT, self.requests, self.columns.events["grant"], self.columns.events["grant"].d)):
            self.after(self.number[kind][table.find(self.columns.key(events.process, events.b))], self.cause(events.process, causes))
        self.put_in_order()

    # ---- the steps ----

    def make_steps(self):
        t, r, m = self.tasks, self.requests, self.messages
        times = {SUBMIT: t.submit, POST: r.post, READY: t.ready, GRANT: r.grant, START: t.start, SEND: self.send, END: t.end,
                 ENVELOPE: m.envelope, RECV: r.recv, SENT: r.sent, DONE: t.done}
        self.number, at, kinds, rows, ranks, n = [], [], [], [], [], 0
        for kind in range(len(KINDS)):
            there = np.flatnonzero(times[kind] != NEVER)
            number = np.full(len(times[kind]) + 1, -1, np.int32)     # the last one is that of row -1
            number[there] = np.arange(n, n + len(there))
            n += len(there)
            self.number.append(number)
            at.append(times[kind][there])
            kinds.append(np.full(len(there), kind, np.int8))
            rows.append(there.astype(np.int32))
            rank = t.rank if kind in OF_TASKS else m.sender if kind == SEND else m.receiver if kind == ENVELOPE else r.rank
            ranks.append(rank[there].astype(np.int32))
        self.n = n
        self.at, self.kind, self.row, self.rank = (np.concatenate(some) for some in (at, kinds, rows, ranks))
        self.at = np.append(self.at, 0)    # of step -1, while the graph is made

    def cause(self, process, causes):
        """The steps that causes in these processes are; -1: none."""
        tasks, requests = self.columns.cause_rows(process, causes)
        found = np.full(len(causes), -1, np.int32)
        which = np.flatnonzero(tasks >= 0)
        rows = tasks[which]
        found[which] = np.where(self.tasks.over[rows] != 0, self.number[DONE][rows], self.number[END][rows])
        which = np.flatnonzero(requests >= 0)
        found[which] = self.complete(requests[which])
        return found

    def complete(self, requests):
        """The steps at which these requests were complete."""
        return np.where(self.number[RECV][requests] >= 0, self.number[RECV][requests], self.number[SENT][requests])

    def end_others(self):
        """A task whose end waited for another one is over when that one is. (Its event comes when others have gone on already.)"""
        t = self.tasks
        rows = np.flatnonzero((t.over != 0) & (t.done != NEVER))
        rows = rows[np.argsort(-t.done[rows], kind="stable")]
        steps, ends = self.number[DONE][rows], np.where(t.end[rows] != NEVER, t.end[rows], 0)
        for step, cause, end in zip(steps.tolist(), self.cause(t.process[rows], t.over[rows]).tolist(), ends.tolist()):
            if cause >= 0:
                self.at[step] = min(self.at[step], max(self.at[cause], end))

    # ---- what they came after ----

    def after(self, steps, others, waits=0):
        """These steps come after those others, of which -1 is none, with these waits."""
        good = np.flatnonzero((steps >= 0) & (others >= 0))
        self.edges.append((others[good].astype(np.int32), steps[good].astype(np.int32),
                           np.broadcast_to(np.asarray(waits, np.int64), steps.shape)[good]))

    def connect_tasks(self):
        t, number, events = self.tasks, self.number, self.columns.events
        self.after(number[READY], number[SUBMIT])
        for name in ("release", "ready"):
            e = events[name]
            causes = self.cause(e.process, e.c)
            self.after(number[READY][t.find(self.columns.key(e.process, e.b))], causes, np.maximum(0, e.ns - self.at[causes]))
        self.after(number[START], number[READY])
        done = np.where(t.over[t.before] != 0, -1, number[DONE][t.before])
        self.after(number[START][:-1], np.where(done >= 0, done, number[END][t.before]))
        self.after(number[END], number[START])
        self.after(number[DONE], number[END])
        self.after(number[DONE][:-1], self.cause(t.process, t.over))

    def connect_messages(self):
        r, m, number = self.requests, self.messages, self.number
        causes = self.cause(r.process, r.cause)
        self.after(number[GRANT], number[POST])
        self.after(number[GRANT][:-1], causes, np.maximum(0, r.grant - self.at[causes]))
        self.after(number[SENT], number[GRANT])
        rows = np.flatnonzero(r.message >= 0)
        message = r.message[rows]
        self.after(number[RECV][rows], number[ENVELOPE][message])
        self.after(number[RECV][rows], number[SEND][message], self.flight(message, rows))
        self.after(number[RECV][rows], number[GRANT][rows])
        self.after(number[ENVELOPE][:-1], number[SEND][:-1], m.envelope - self.send)
        self.connect_relayed(np.flatnonzero((self.send != NEVER) & (m.sender != m.origin)))
        self.connect_own(np.flatnonzero((self.send != NEVER) & (m.sender == m.origin) & (m.sent_by >= 0)))

    def flight(self, messages, requests):
        """The time that a message is under way; one that waited for its receive, up to its envelope."""
        r, send, envelope = self.requests, self.send[messages], self.messages.envelope[messages]
        recv, grant = r.recv[requests], r.grant[requests]
        late = (grant != NEVER) & (envelope != NEVER) & (grant > envelope)
        return np.where((send == NEVER) | (recv == NEVER), 0, np.where(late, envelope, recv) - send)

    def connect_relayed(self, rows):
        """A rank sends on what came to it from the same origin with that tag."""
        r, m, number = self.requests, self.messages, self.number
        came = np.flatnonzero(m.envelope != NEVER)
        _, tags = np.unique(m.tag, return_inverse=True)
        most = int(tags.max(initial=0)) + 1
        own = last_before(m.pair[came] * most + tags[came], m.envelope[came],
                          self.columns.pair(m.era[rows], m.origin[rows], m.sender[rows]) * most + tags[rows], self.send[rows])
        rows, own = rows[own >= 0], came[own[own >= 0]]
        request = m.received_by[own]
        done = (request >= 0) & (self.when(r.recv, request) != NEVER) & (self.when(r.recv, request) <= self.send[rows])
        self.after(number[SEND][rows], np.where(done, number[RECV][request], number[ENVELOPE][own]))

    @staticmethod
    def when(times, rows):
        """The times of these rows, of which -1 is none."""
        return np.append(times, NEVER)[rows]

    def connect_own(self, rows):
        """A message leaves when its datum is there; the datum can be changed when the message left, or came."""
        r, m, number = self.requests, self.messages, self.number
        request, send = m.sent_by[rows], self.send[rows]
        grant = r.grant[request]
        self.after(number[SEND][rows], number[GRANT][request])
        sent = np.flatnonzero((r.sent != NEVER) & (r.receive == 0))
        sent = sent[np.lexsort((r.number[sent], r.sent[sent]))]
        held = np.flatnonzero((grant != NEVER) & (send - grant > HELD_NS))
        place = last_before(r.process[sent], r.sent[sent], m.process[rows[held]], send[held])
        held, place = held[place >= 0], sent[place[place >= 0]]
        some = (r.sent[place] > grant[held]) & (place != request[held])
        self.after(number[SEND][rows[held[some]]], number[SENT][place[some]])
        received = m.received_by[rows]
        recv = self.when(r.recv, received)
        flies = (received >= 0) & (recv != NEVER) & (recv <= r.sent[request])
        self.after(number[SENT][request], np.where(flies, number[RECV][received], number[SEND][rows]))

    # ---- what the programs did ----

    def connect_programs(self):
        """Each submission follows the one before, and what the program waited for since."""
        t, r, n = self.tasks, self.requests, self.number
        tasks, requests = np.flatnonzero(n[SUBMIT][:-1] >= 0), np.flatnonzero(n[POST][:-1] >= 0)
        steps = np.concatenate((n[SUBMIT][tasks], n[POST][requests]))
        parent = np.concatenate((t.parent[tasks], r.parent[requests]))
        process = np.concatenate((t.process[tasks], r.process[requests]))
        names = np.concatenate((t.number[tasks], r.number[requests]))
        programs = ~np.isin(parent >> np.uint64(60), (1, 2))
        some = np.flatnonzero(~programs)
        self.submitted_by(steps[some], process[some], parent[some])
        some = np.flatnonzero(programs)
        some = some[np.lexsort((names[some], self.at[steps[some]], process[some]))]
        steps, process = steps[some], process[some].astype(np.int64)
        at = self.at[steps]
        first = np.ones(len(steps), bool)
        first[1:] = process[1:] != process[:-1]
        before = np.where(first, self.run.first - 1, np.roll(at, 1))
        self.program_steps, self.program_begins, self.program_of = steps, np.flatnonzero(first), process
        walk = Walk(self.run)
        ends = [(waiter, w.end) for waiter, some in self.run.waits.items() for w in some]
        ends = np.array(ends, np.int64).reshape(-1, 2)
        place = last_before(ends[:, 0], ends[:, 1], process, at)
        # Those before which a wait ended: few, as a rule.
        found, after = [], []
        for i in np.flatnonzero((place >= 0) & (self.when(ends[:, 1], place) > before)).tolist():
            waited = walk.waited(int(process[i]), int(before[i]), int(at[i]))
            for step in self.waits_for(int(process[i]), waited) if waited is not None else ():
                found.append(step)
                after.append(int(steps[i]))
        self.after(np.array(after, np.int32), np.array(found, np.int32))
        self.after(steps[~first], np.roll(steps, 1)[~first])
        self.connect_joined(steps, at, process)

    def connect_joined(self, steps, at, process):
        """What a process submits first, after the run has changed its size, follows what the others had submitted before."""
        eras = self.run.columns.trace.eras if self.run.columns.trace.eras > 1 else 0
        last = collections.defaultdict(list)      # era: the last step of each process before it
        for p in self.run.processes.values() if eras else ():
            begin, end = np.searchsorted(process, (p.number, p.number + 1))
            for era in p.eras[1:]:
                i = begin + int(np.searchsorted(at[begin:end], p.begin_of(era)))
                last[era] += [int(steps[i - 1])] * (i > begin)
        for p in self.run.processes.values() if eras else ():
            begin, end = np.searchsorted(process, (p.number, p.number + 1))
            for era in p.eras:
                i = begin + int(np.searchsorted(at[begin:end], p.begin_of(era)))
                if i < end and last[era] and (era == p.eras[-1] or at[i] < p.begin_of(p.eras[p.eras.index(era) + 1])):
                    others = np.array([step for step in last[era] if step != int(steps[i])], np.int32)
                    self.after(np.full(len(others), steps[i], np.int32), others)

    def submitted_by(self, steps, process, parents):
        """Submissions that are not the program's follow a kernel, in which they were made, or the end of a task or of a message. (The end
        of the last task that contributes to a reduction submits those that combine, and a callback follows the end of its task.)"""
        tasks, requests = self.columns.cause_rows(process, parents)
        end = self.number[END][tasks]
        of_task = np.where((end >= 0) & (self.at[end] <= self.at[steps]), end, self.number[START][tasks])
        of = np.where(tasks >= 0, of_task, self.complete(requests))
        self.after(steps, of, self.at[steps] - self.at[of])

    def waits_for(self, process, wait):
        """The steps that ended a wait of the program."""
        run = self.run
        if wait.call.startswith(BARRIER):
            # (No process left before the last one came, which had waited for something itself, or submitted something.)
            other, begin = last_to_come(run, process, wait)
            if other == process:
                return []
            done, over = latest(run.ends[other], begin), latest(run.messages_over[other], begin)
            some = [self.over(run.tasks, done[1], done[0], (DONE, END)) if done else None,
                    self.over(run.requests, over[1], over[0], (RECV, SENT)) if over else None]
        else:
            what = ended_wait(run, process, wait)
            some = [] if what is None else [self.over(run.tasks, what[1].key, what[2], (DONE, END)) if what[0] == "task"
                                            else self.over(run.requests, what[1].key, what[2], (RECV, SENT))]
        return [step for step in some if step is not None]

    def over(self, table, key, ns, kinds):
        """The step at which a task or a request was over at that time, or None."""
        found = table.get(key)
        for kind in kinds if found is not None else ():
            step = int(self.number[kind][found.row])
            if step >= 0 and self.at[step] <= ns:
                return step
        return None

    # ---- their order ----

    def put_in_order(self):
        """The steps by their times, and those of one instant after what they came of."""
        source, target, wait = (np.concatenate(some) for some in zip(*self.edges))
        del self.edges
        self.at = self.at[:-1]
        order = np.lexsort((self.rank, self.kind, self.at))
        new = np.empty(self.n, np.int32)
        new[order] = np.arange(self.n)
        odd = np.flatnonzero((self.at[source] == self.at[target]) & (new[source] > new[target]))
        if len(odd):
            among = np.isin(self.at[order], np.unique(self.at[target[odd]]))
            order[among] = self.of_instants(order[among], source, target)
            new[order] = np.arange(self.n)
        new = np.append(new, -1)
        self.number = [new[number] for number in self.number]
        self.at, self.kind, self.row, self.rank = (column[order] for column in (self.at, self.kind, self.row, self.rank))
        source, target = new[source], new[target]
        good = np.flatnonzero(source < target)
        good = good[np.argsort(target[good], kind="stable")]
        self.source, self.target, self.wait = source[good], target[good], wait[good]
        since = np.full(self.n, self.run.first)
        if len(good):
            begins = self.first_edges(self.target)
            since[self.target[begins]] = np.maximum.reduceat(self.at[self.source] + self.wait, begins)
        self.lag = self.at - since
        steps = new[self.program_steps]
        self.programs = {int(self.program_of[begin]): some for begin, some in zip(self.program_begins, np.split(steps, self.program_begins[1:]))}

    @staticmethod
    def first_edges(target):
        """The places of the first edge of each step among edges that are sorted by them."""
        return np.flatnonzero(np.diff(target, prepend=-1))

    def of_instants(self, steps, source, target):
        """These steps, all of some instants, in an order in which each comes after those of its instant that it came of."""
        before, inside = collections.defaultdict(list), np.zeros(self.n, bool)
        inside[steps] = True
        some = np.flatnonzero(inside[source] & inside[target])
        some = some[self.at[source[some]] == self.at[target[some]]]
        for step, other in zip(target[some].tolist(), source[some].tolist()):
            before[step].append(other)
        found, begun, over = [], set(), set()
        for first in steps.tolist():
            stack = [] if first in begun else [first]
            while stack:
                s = stack[-1]
                if s not in begun:
                    begun.add(s)
                    stack += [other for other in before.get(s, ()) if other not in begun]
                else:
                    stack.pop()
                    if s not in over:
                        over.add(s)
                        found.append(s)
        return found
