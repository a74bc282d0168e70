# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The events of a trace as columns of numpy, and the tasks, requests and messages that
# they are about: for what has to go through millions of them (`orrery report`, and
# `orrery explain` where numpy is installed).
# Invariant: the events are those that orrery_tracefile.Trace.events() gives, and the
# run that is made of them answers every question as orrery_critical.Run does.
import collections

import numpy as np

import orrery_clocks
import orrery_critical
import orrery_memories
import orrery_models
import orrery_sums
from orrery_critical import Wait
from orrery_cli import UserError
from orrery_tracefile import BLOCK, EAGER, EVENT, JOINED, LONGEST_US, NUMBER, RECEIVE, RELAYED

LAYOUT = np.dtype([("ns", "=i8"), ("kind", "u1"), ("flags", "u1"), ("worker", "=i2"), ("a", "=u4"), ("b", "=u8"), ("c", "=u8"),
                   ("d", "=u8")])
# The fields that are kept of each kind of event, besides its time, its process and its place in the file.
FIELDS = {"submit": "abcd", "release": "bc", "ready": "bc", "start": ("worker", "a", "b", "c", "d"), "end": "bd", "done": "bc",
          "post": ("flags", "a", "b", "c", "d"), "grant": "bcd", "route": "ab", "send": ("flags", "a", "b", "c", "d"), "sent": "b",
          "envelope": ("flags", "a", "b", "c", "d"), "match": "ab", "recv": "abd", "copy": ("worker", "a", "b", "c", "d"),
          "copied": "abc", "user": ("worker", "a", "b"), "engine": ("flags", "a", "b", "d"), "waited": "abc", "after": "bc", "memory": "abcd", "callback": ("worker", "b", "c")}
MOST_PARTS = 8                      # of an event that stands for others
CHUNK = 8192                        # blocks that are read at once
NEVER = np.iinfo(np.int64).min      # the time of what has not happened
LOW = np.uint64(0xFFFFFFFF)
MOST_RANKS = 1 << 16


class Table:
    """Rows with a key each, sorted by it; columns are attributes."""

    def __init__(self, *keys):
        self.keys = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.uint64)
        self.n = len(self.keys)

    def rows(self, keys):
        """The rows of these keys, all of which are there."""
        return np.searchsorted(self.keys, keys)

    def find(self, keys):
        """The rows of these keys, -1 for those that are not there."""
        if not self.n:
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self.keys, keys), self.n - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def column(self, name, keys, values, default, dtype=np.int64):
        column = np.full(self.n, default, dtype)
        column[self.rows(keys)] = values
        setattr(self, name, column)


class Events:
    """The events of one kind: arrays `ns`, `process`, `place` and the fields of FIELDS."""

    def __init__(self, parts, names):
        self.fields = names
        for name in names:
            found = [part[name] for part in parts]
            setattr(self, name, np.concatenate(found) if found else np.zeros(0, dict(LAYOUT.fields).get(name, (np.uint32,))[0]))
        self.n = len(self.ns)

    def keep(self, which):
        for name in self.fields:
            setattr(self, name, getattr(self, name)[which])
        self.n = len(self.ns)


def before_window(events, begin):
    """{kind: which of its events before the window belong to a task, a request or a message that was not over when it began}"""
    def low(e):
        return Columns.key(e.process, e.b & LOW)

    def message(e):
        return (e.process.astype(np.uint64) << np.uint64(40) | e.a.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15) + (e.b >> np.uint64(32))
    done, match = events["done"], events["match"]
    tasks = Columns.key(done.process, done.b)[done.ns < begin]
    requests = np.concatenate([low(e)[e.ns < begin] for e in (events["sent"], events["recv"])])
    over = np.isin(low(match), requests) & (match.ns < begin)
    found = {name: ~np.isin(Columns.key(events[name].process, events[name].b), tasks) for name in ("submit", "release", "ready", "start", "end", "after")}
    found.update({name: ~np.isin(low(events[name]), requests) for name in ("post", "grant", "match", "route")})
    # Of a message that a tree passes on, b has its origin, and no request says when it was over.
    found["send"] = ~np.isin(low(events["send"]), requests) & (events["send"].flags & RELAYED == 0)
    found["envelope"] = ~np.isin(message(events["envelope"]), message(match)[over])
    found["memory"] = np.ones(events["memory"].n, bool)   # in use until the next event
    return found


def cut(trace, events):
    """Leaves what is in the window of the trace (Trace.look_at). What had begun before and was not over begins with it."""
    begin, end = trace.bounds()
    open_before = before_window(events, begin)
    for name, e in events.items():
        e.keep((e.ns <= end) & ((e.ns >= begin) | open_before.get(name, False)))
        e.ns = np.maximum(e.ns, begin)


def earliest(*times):
    """The first of these times that are known, row by row."""
    most = np.iinfo(np.int64).max
    return np.minimum.reduce([np.where(some == NEVER, most, some) for some in times])


def read_events(trace, progress):
    """{name: Events}; times are those of the run."""
    names = {number: ("ns", "process", "place") + tuple(FIELDS[name]) for name, number in NUMBER.items() if name in FIELDS}
    parts = collections.defaultdict(list)
    clocks, starts, drifts = (np.zeros(max(trace.processes, default=0) + 1, kind) for kind in (np.int64, np.int64, np.float64))
    for number, process in trace.processes.items():
        clocks[number], starts[number], drifts[number] = process.clock_ns, process.clock_at, process.drift
    drifts = drifts if drifts.any() else None
    wanted = sum(1 << number for number in names)
    some = [(place, head, order) for order, (place, head) in enumerate(trace.blocks) if not head[3] or head[6] & wanted]
    plain = [block for block in some if block[1][3] and not block[1][6] >> NUMBER["string"] & 1]
    odd = [block for block in some if not (block[1][3] and not block[1][6] >> NUMBER["string"] & 1)]
    # Of a whole trace without some of its events, those that windows have, of which none is missing.
    windows = trace.windows if trace.complete else None

    def part(events, process, place):
        """Sets what stands for others too, as orrery_tracefile.parted has it, and keeps the others."""
        for kind, forms in JOINED.items():
            of = np.flatnonzero(events["kind"] == kind)
            for flag, (own, others) in forms.items():
                which = of[events["flags"][of] & flag != 0]
                if not len(which):
                    continue
                fields = [events[name][which].astype(np.uint64) for name in ("flags", "a", "b", "c", "d")]
                for number, (name, there, other) in enumerate(others, 1):
                    some = np.flatnonzero(there(*fields))
                    more = events[which[some]]
                    later, *values = other(*(field[some] for field in fields))
                    more["ns"] += np.asarray(later).astype(np.int64)
                    more["kind"] = NUMBER[name]
                    for name, value in zip(("flags", "a", "b", "c", "d"), values):
                        more[name] = value
                    keep(more, process[which[some]], place[which[some]] + number)
                for name, value in zip(("flags", "a", "b", "c", "d"), own(*fields)):
                    events[name][which] = value

    def keep(events, process, place):
        if len(events):
            for kind in np.flatnonzero(np.bincount(events["kind"], minlength=max(names) + 1)):
                if kind in names:
                    which = np.flatnonzero(events["kind"] == kind)
                    ns = events["ns"][which] + clocks[process[which]]
                    if drifts is not None:
                        ns += np.rint(drifts[process[which]] * (events["ns"][which] - starts[process[which]])).astype(np.int64)
                    if windows:
                        inside = ns % windows[1] < windows[0]
                        which, ns = which[inside], ns[inside]
                    part = {field: events[field][which] for field in names[kind][3:]}
                    part.update(ns=ns, process=process[which], place=place[which])
                    parts[kind].append(part)

    per_block = (trace.block - BLOCK.size) // EVENT.size
    whole = np.memmap(trace.path, np.uint8, "r") if trace.bytes else None
    for i in range(0, len(plain), CHUNK):
        progress("reading", i / len(plain))
        some = plain[i:i + CHUNK]
        odd += [b for b in some if b[0] + trace.block > trace.bytes]   # of a file that was copied in part
        some = [b for b in some if b[0] + trace.block <= trace.bytes]
        at = np.array([place for place, _, _ in some], np.int64)
        if not len(some):
            continue
        for place in at:
            trace.check_block(int(place), whole[place:place + trace.block].data)
        blocks = np.lib.stride_tricks.as_strided(whole, (trace.bytes // trace.block, trace.block), (trace.block, 1))
        raw = np.ascontiguousarray(blocks[at // trace.block, BLOCK.size:BLOCK.size + per_block * EVENT.size])
        events = raw.view(LAYOUT)
        used = np.arange(per_block) < np.array([head[3] for _, head, _ in some])[:, None]
        process = np.broadcast_to(np.array([head[1] for _, head, _ in some], np.uint32)[:, None], used.shape)
        place = (np.array([order for _, _, order in some], np.int64)[:, None] * per_block + np.arange(per_block)) * MOST_PARTS
        events = events[used]
        part(events, process[used], place[used])
        keep(events, process[used], place[used])
    for place, head, order in odd:
        found = [event for _, event in trace.in_block(place, head[1], head[3], ~0) if event[1] != NUMBER["string"]]
        events = np.array(found, LAYOUT)
        keep(events, np.full(len(found), head[1], np.uint32), order * per_block * MOST_PARTS + np.arange(len(found)))
    found = {name: Events(parts.pop(NUMBER[name], []), names[NUMBER[name]]) for name in FIELDS}
    if trace.bounds():
        cut(trace, found)
    return found


def expected_of(d):
    """Nanoseconds that the policy expected of kernels, as orrery_tracefile.model_of."""
    us = (d >> np.uint64(32)).astype(np.uint32).view(np.float32).astype(np.float64)
    with np.errstate(invalid="ignore"):
        return np.rint(np.where((us > 0) & (us < LONGEST_US), us, 0) * 1e3).astype(np.int64)


def transfer_of(d):
    """Nanoseconds that the policy expected of copies, -1: not known, as orrery_tracefile.transfer_of."""
    us = (d & LOW).astype(np.uint32).view(np.float32).astype(np.float64)
    with np.errstate(invalid="ignore"):
        good = (d >> np.uint64(32) != 0) & (us >= 0) & (us < LONGEST_US)
        return np.where(good, np.rint(np.where(good, us, 0) * 1e3), -1).astype(np.int64)


class Columns:
    """A trace as tables: `tasks`, `requests`, `messages`, the raw `events` by kind, `first` and `last` in nanoseconds."""

    def __init__(self, trace, progress=lambda words, share: None):
        self.trace = trace
        self.events = read_events(trace, progress)
        self.turns, self.waits, self.afters, self.memory, self.callbacks = (
            self.events.pop(name) for name in ("engine", "waited", "after", "memory", "callback"))   # no steps
        progress("sorting", 0)
        self.number_names()
        self.number_ranks()
        self.make_messages()
        progress("sorting", 0.4)
        self.set_clocks()
        self.make_tasks()
        progress("sorting", 1)
        times = [e.ns for e in self.events.values() if e.n]
        self.first = int(min((t.min() for t in times), default=0))
        self.last = int(max((t.max() for t in times), default=0))
        self.sums = orrery_sums.Sums(trace) if trace.limited and not trace.cut_at else None
        if self.sums and self.sums.first is not None:
            self.first, self.last = min(self.first, self.sums.first), max(self.last, self.sums.last)

    def number_ranks(self):
        trace = self.trace
        self.ranks = int(max([rank for p in trace.processes.values() for rank in p.ranks()]
                             + [p.size - 1 for p in trace.processes.values() if p.size < MOST_RANKS], default=0)) + 1
        if self.ranks ** 2 * trace.eras > MOST_RANKS ** 2:
            raise UserError("%s has more than %d ranks%s" % (trace.path, MOST_RANKS / trace.eras ** 0.5, "" if trace.eras == 1 else
                                                             " and changes its size %d times" % (trace.eras - 1)), 1)
        self.set_places()

    def set_places(self):
        """Which rank each process had since when, and in which era of the run: one row for each."""
        processes, n = self.trace.processes, max(self.trace.processes, default=0) + 1
        self.first_place, self.nplaces = np.zeros(n, np.int64), np.ones(n, np.int64)
        since, rank, era = [], [], []
        for number, p in sorted(processes.items()):
            self.first_place[number], self.nplaces[number] = len(rank), len(p.eras)
            since += [NEVER] + [p.run_ns(ns) for ns in p.since]
            rank += [place[1] for place in p.places] or [p.rank]
            era += p.eras
        self.place_since, self.place_rank, self.place_era = (np.array(some or [0], np.int64) for some in (since, rank, era))
        self.member = np.full(self.trace.eras * self.ranks, -1)   # of an era and a rank: the process
        for (number, rank), process in self.trace.members.items():
            self.member[number * self.ranks + rank] = process.number

    def place_of(self, process, ns):
        """The rows of places that these processes had at these times."""
        at = self.first_place[process]
        for k in range(1, int(self.nplaces.max(initial=1))):
            some = np.flatnonzero(self.nplaces[process] > k)
            place = self.first_place[process[some]] + k
            later = ns[some] >= self.place_since[place]
            at[some[later]] = place[later]
        return at

    def rank_at(self, process, ns):
        return self.place_rank[self.place_of(process, ns)]

    def process_of(self, era, rank):
        """The processes that these ranks were in these eras; -1: none that recorded something."""
        return np.where((rank >= 0) & (rank < self.ranks), self.member[era * self.ranks + np.clip(rank, 0, self.ranks - 1)], -1)

    def set_clocks(self):
        """Sets the clocks of computers right if messages arrive before they were sent."""
        processes = self.trace.processes
        hosts = {host: number for number, host in enumerate(sorted({p.host for p in processes.values()}))}
        if self.trace.simulated or len(hosts) < 2:
            return
        host_of = np.zeros(self.ranks, np.int64)
        for process in processes.values():
            host_of[list(process.ranks())] = hosts[process.host]
        m = self.messages
        some = (m.send != NEVER) & (m.envelope != NEVER) & (host_of[m.sender] != host_of[m.receiver])
        late_ns = orrery_clocks.late(host_of[m.sender[some]], host_of[m.receiver[some]], (m.envelope - m.send)[some], len(hosts))
        if not late_ns.any():
            return
        shift = np.zeros(len(self.nplaces), np.int64)
        for number, process in processes.items():
            shift[number] = late_ns[hosts[process.host]]
            process.clock_ns += int(shift[number])
        for some in [*self.events.values(), self.turns, self.waits, self.afters, self.memory, self.callbacks]:
            some.ns = some.ns + shift[some.process]
        self.trace.number_eras()
        self.set_places()
        self.make_messages()

    def number_names(self):
        """`names`, and name_of(process, string) as numbers of them."""
        known = {"unnamed": 0}
        base, table = {}, []
        for number, process in sorted(self.trace.processes.items()):
            base[number] = len(table)
            size = max(process.strings, default=-1) + 1
            table += [known.setdefault(process.strings.get(i, "unnamed"), len(known)) for i in range(size)] + [0]
        self.names = list(known)
        self.string_base = np.zeros(max(base, default=0) + 2, np.int64)
        for number in base:
            self.string_base[number] = base[number]
        self.string_end = np.zeros(len(self.string_base), np.int64)
        for number, process in self.trace.processes.items():
            self.string_end[number] = base[number] + max(process.strings, default=-1) + 1
        self.string_table = np.array(table or [0], np.int64)

    def name_of(self, process, string):
        at = self.string_base[process] + string.astype(np.int64)
        return self.string_table[np.minimum(at, self.string_end[process])]

    @staticmethod
    def key(process, number):
        return process.astype(np.uint64) << np.uint64(40) | number & np.uint64((1 << 40) - 1)

    def pair(self, era, origin, receiver):
        """A number for the way from one rank to another one in an era."""
        return (era * self.ranks + origin) * self.ranks + receiver

    def pair_key(self, era, origin, receiver, number):
        return self.pair(era, origin.astype(np.int64), receiver.astype(np.int64)).astype(np.uint64) << np.uint64(32) | number

    def make_tasks(self):
        e = self.events
        keys = {name: self.key(e[name].process, e[name].b) for name in ("submit", "ready", "start", "end", "done")}
        self.tasks = t = Table(*keys.values())
        for name in keys:
            t.column(name, keys[name], e[name].ns, NEVER)
        t.column("name", keys["submit"], self.name_of(e["submit"].process, e["submit"].a), 0)
        t.name[t.rows(keys["start"])] = self.name_of(e["start"].process, e["start"].a)
        t.column("worker", keys["start"], e["start"].worker, -1, np.int32)
        t.column("fetch", keys["start"], e["start"].c.astype(np.int64), 0)
        t.column("model", keys["start"], self.name_of(e["start"].process, e["start"].d & LOW), 0, np.int32)
        t.column("expected", keys["start"], expected_of(e["start"].d), 0)
        t.column("transfer", keys["end"], transfer_of(e["end"].d), -1)
        if self.trace.bounds():   # of a kernel that began before, only a part is there
            t.expected[t.start <= self.trace.bounds()[0]] = 0
        t.column("over", keys["done"], e["done"].c, 0, np.uint64)
        t.column("cause", keys["ready"], e["ready"].c, 0, np.uint64)
        t.column("parent", keys["submit"], e["submit"].d, 0, np.uint64)
        t.column("priority", keys["submit"], e["submit"].c.astype(np.int64), 0)
        t.process = (t.keys >> np.uint64(40)).astype(np.int64)
        t.number = (t.keys & np.uint64((1 << 40) - 1)).astype(np.int64)
        t.rank = self.rank_at(t.process, earliest(t.submit, t.ready, t.start, t.end, t.done))
        # The task that its worker executed before.
        started = np.flatnonzero(t.start != NEVER)
        order = started[np.lexsort((t.keys[started], t.start[started], t.worker[started], t.process[started]))]
        t.before = np.full(t.n, -1)
        same = (t.process[order[1:]] == t.process[order[:-1]]) & (t.worker[order[1:]] == t.worker[order[:-1]])
        t.before[order[1:][same]] = order[:-1][same]
        t.order = order

    def make_messages(self):
        e = self.events
        own = e["send"].flags & RELAYED == 0
        low = {name: e[name].b & LOW for name in ("send", "sent", "match", "recv", "route")}
        keys = {name: self.key(e[name].process, low.get(name, e[name].b)) for name in ("post", "grant", "sent", "match", "recv", "route")}
        keys["send"] = self.key(e["send"].process[own], low["send"][own])
        self.requests = r = Table(*keys.values())
        for name in ("post", "grant", "sent", "recv"):
            r.column(name, keys[name], e[name].ns, NEVER)
        first = np.lexsort((-e["send"].ns[own],))     # the first one is written last
        r.column("send", keys["send"][first], e["send"].ns[own][first], NEVER)
        r.column("receive", keys["post"], e["post"].flags & RECEIVE, 0, np.uint8)
        r.column("peer", keys["post"], e["post"].a.astype(np.int32), -1, np.int32)
        r.column("cause", keys["grant"], e["grant"].c, 0, np.uint64)
        r.column("parent", keys["post"], e["post"].d, 0, np.uint64)
        r.process = (r.keys >> np.uint64(40)).astype(np.int64)
        place = self.place_of(r.process, earliest(r.post, r.grant, r.sent, r.recv, r.send))
        r.rank, r.era = self.place_rank[place], self.place_era[place]
        r.number = (r.keys & np.uint64((1 << 40) - 1)).astype(np.int64)
        place = {name: self.place_of(e[name].process, e[name].ns) for name in ("route", "send", "envelope", "match")}
        rank, era = {name: self.place_rank[some] for name, some in place.items()}, {name: self.place_era[some] for name, some in place.items()}
        high = {name: e[name].b >> np.uint64(32) for name in ("route", "send", "envelope", "match")}
        origin = np.where(own, rank["send"], low["send"].astype(np.int64))
        names = {"route": self.pair_key(era["route"], rank["route"], e["route"].a, high["route"]),
                 "send": self.pair_key(era["send"], origin, e["send"].a, high["send"]),
                 "envelope": self.pair_key(era["envelope"], e["envelope"].a, rank["envelope"], high["envelope"]),
                 "match": self.pair_key(era["match"], e["match"].a, rank["match"], high["match"])}
        self.messages = m = Table(*names.values())
        m.pair = (m.keys >> np.uint64(32)).astype(np.int64)
        m.origin, m.receiver, m.number = m.pair // self.ranks % self.ranks, m.pair % self.ranks, (m.keys & LOW).astype(np.int64)
        m.era = m.pair // self.ranks ** 2
        m.of_send = m.rows(names["send"])     # the message of each event of that kind
        m.process = self.process_of(m.era, m.origin)
        m.column("send", names["send"], e["send"].ns, NEVER)
        m.column("sender", names["send"], rank["send"], -1)
        m.column("tag", names["send"], e["send"].c.astype(np.int64), 0)
        m.column("bytes", names["send"], e["send"].d.astype(np.int64), 0)
        m.column("envelope", names["envelope"], e["envelope"].ns, NEVER)
        m.column("match", names["match"], e["match"].ns, NEVER)
        m.column("eager", names["envelope"], e["envelope"].flags & EAGER, 0, np.uint8)
        # The rows of the requests of the sender and of the receiver.
        m.column("sent_by", names["route"], r.rows(keys["route"]), -1)
        m.sent_by[m.rows(names["send"][own])] = r.rows(keys["send"])
        m.column("received_by", names["match"], r.rows(keys["match"]), -1)
        r.column("message", keys["match"], m.rows(names["match"]), -1)

    # Causes.
    def cause_rows(self, process, cause):
        """(rows of tasks, rows of requests) that these causes in these processes are; -1: none."""
        kind = cause >> np.uint64(60)
        key = self.key(process, cause)
        return (np.where(kind == 1, self.tasks.find(key), -1), np.where(kind == 2, self.requests.find(key), -1))


class Task:
    """A row of the tasks, with the fields of orrery_critical.Task."""
    __slots__ = ("columns", "row", "key", "rank", "number", "name", "submit", "ready", "start", "end", "done", "fetch", "worker", "cause", "parent", "over")

    def __init__(self, columns, row):
        t = columns.tasks
        self.columns, self.row = columns, row
        self.key = (int(t.process[row]), int(t.number[row]))
        self.rank, self.number = int(t.rank[row]), self.key[1]
        self.name, self.fetch, self.worker = columns.names[t.name[row]], int(t.fetch[row]), int(t.worker[row])
        self.submit, self.ready, self.start, self.end, self.done = (
            None if at == NEVER else int(at) for at in (t.submit[row], t.ready[row], t.start[row], t.end[row], t.done[row]))
        self.cause, self.parent, self.over = int(t.cause[row]), int(t.parent[row]), int(t.over[row])

    @property
    def before(self):
        row = self.columns.tasks.before[self.row]
        return None if row < 0 else Task(self.columns, int(row))


class Message:
    """A row of the messages, with the fields of orrery_critical.Message."""
    __slots__ = ("row", "key", "process", "send", "sender", "request", "envelope", "match", "bytes", "tag")

    def __init__(self, columns, row):
        m = columns.messages
        self.row, self.key = row, (int(m.origin[row]), int(m.receiver[row]), int(m.number[row]), int(m.era[row]))
        self.process = int(m.process[row])
        self.request = int(columns.requests.number[m.sent_by[row]]) if m.sent_by[row] >= 0 else 0
        self.send, self.envelope, self.match = (None if at == NEVER else int(at) for at in (m.send[row], m.envelope[row], m.match[row]))
        self.sender = int(m.sender[row]) if self.send is not None else None
        self.bytes, self.tag = int(m.bytes[row]), int(m.tag[row])


class Request:
    """A row of the requests, with the fields of orrery_critical.Request."""
    __slots__ = ("columns", "row", "key", "rank", "number", "receive", "peer", "post", "parent", "grant", "cause", "recv", "send", "sent")

    def __init__(self, columns, row):
        r = columns.requests
        self.columns, self.row, self.key = columns, row, (int(r.process[row]), int(r.number[row]))
        self.rank, self.number = int(r.rank[row]), self.key[1]
        self.receive, self.peer = bool(r.receive[row]), int(r.peer[row])
        self.parent, self.cause = int(r.parent[row]), int(r.cause[row])
        self.post, self.grant, self.recv, self.send, self.sent = (
            None if at == NEVER else int(at) for at in (r.post[row], r.grant[row], r.recv[row], r.send[row], r.sent[row]))

    @property
    def message(self):
        row = self.columns.requests.message[self.row]
        return None if row < 0 else Message(self.columns, int(row))


class Rows:
    """A table as a mapping: (process, number) to the object of the row."""

    def __init__(self, columns, table, kind):
        self.columns, self.table, self.kind = columns, table, kind

    def get(self, key, default=None):
        if key[0] is None or key[0] < 0:
            return default
        wanted = np.uint64(key[0] << 40 | key[1])
        row = int(np.searchsorted(self.table.keys, wanted))
        if row < self.table.n and self.table.keys[row] == wanted:
            return self.kind(self.columns, row)
        return default

    def __getitem__(self, key):
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __len__(self):
        return self.table.n

    def values(self):
        return (self.kind(self.columns, row) for row in range(self.table.n))


class PerProcess(dict):
    """process: list, made when somebody asks."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, process):
        self[process] = found = self.make(process)
        return found


class Arrivals:
    """(origin, receiver, tag, era): the messages that came there, as orrery_critical.Run.arrivals."""

    def __init__(self, columns):
        self.columns, m = columns, columns.messages
        self.order = np.flatnonzero(m.envelope != NEVER)
        self.order = self.order[np.argsort(m.pair[self.order], kind="stable")]
        self.pairs = m.pair[self.order]

    def get(self, key, default=()):
        m, pair = self.columns.messages, self.columns.pair(key[3], key[0], key[1])
        some = self.order[np.searchsorted(self.pairs, pair):np.searchsorted(self.pairs, pair, "right")]
        return [Message(self.columns, int(row)) for row in some[m.tag[some] == key[2]]] or default


class Run:
    """What orrery_critical.Walk and the findings ask of a run; its objects are made when they are asked for."""

    def __init__(self, columns):
        self.columns, self.first, self.last, self.trace = columns, columns.first, columns.last, columns.trace
        self.sums, self.windows, self.part = columns.sums, columns.trace.windows, columns.trace.part
        self.tasks, self.requests = Rows(columns, columns.tasks, Task), Rows(columns, columns.requests, Request)
        orrery_critical.Run.about(self, columns.trace)
        self.program = PerProcess(self.submissions)
        self.ends = PerProcess(self.ends_of)
        self.messages_over = PerProcess(self.messages_of)
        self.waits = collections.defaultdict(list)
        names, w = columns.names, columns.waits
        for ns, process, name, b, c in zip(w.ns.tolist(), w.process.tolist(), columns.name_of(w.process, w.a).tolist(), w.b.tolist(), w.c.tolist()):
            self.waits[process].append(Wait(ns, ns - b, names[name], c))
        for some in self.waits.values():
            some.sort()
        self.arrivals = Arrivals(columns)
        m = columns.messages
        flights = (m.envelope - m.send)[(m.envelope != NEVER) & (m.send != NEVER) & (m.origin != m.receiver)]
        self.latency = max(0, int(flights.min())) if len(flights) else 0
        e = columns.events
        latest = np.full(max(columns.trace.processes, default=0) + 1, NEVER)
        for events in e.values():
            np.maximum.at(latest, events.process, events.ns)
        self.last_of = {number: int(ns) for number, ns in enumerate(latest.tolist()) if ns != NEVER}   # process: its last event
        self.last_of.update(columns.sums.last_of if columns.sums else {})
        self.by_process, self.completions, self.barriers = {}, None, None
        for name in ("submit", "post", "done"):
            order = np.lexsort((e[name].place, e[name].ns, e[name].process))
            self.by_process[name] = order, e[name].process[order]

    def started_only(self):
        """The tasks that started and did not end."""
        t = self.columns.tasks
        return (Task(self.columns, int(row)) for row in np.flatnonzero((t.start != NEVER) & (t.end == NEVER)))

    def tasks_done(self):
        return self.sums.count("done") if self.sums else int((self.columns.tasks.done != NEVER).sum())

    def messages_received(self):
        return self.sums.count("recv") if self.sums else int((self.columns.requests.recv != NEVER).sum())

    @staticmethod
    def latest(table, times, kind):
        """(time, kind, key) of the row with the latest of these times, or None."""
        if not table.n or times.max() == NEVER:
            return None
        rows = np.flatnonzero(times == times.max())
        row = rows[np.lexsort((table.number[rows], table.process[rows]))[-1]]
        return int(times[row]), kind, (int(table.process[row]), int(table.number[row]))

    def last_before(self, ns):
        """(time, kind, key) of the last task or receive that was complete before that time, or None."""
        if self.completions is None:
            t, r = self.columns.tasks, self.columns.requests
            tasks, requests = np.flatnonzero(t.done != NEVER), np.flatnonzero(r.recv != NEVER)
            times = np.concatenate((t.done[tasks], r.recv[requests]))
            order = np.argsort(times, kind="stable")
            self.completions = times[order], np.concatenate((tasks, requests))[order], order < len(tasks)
        times, rows, is_task = self.completions
        i = int(np.searchsorted(times, ns)) - 1
        if i < 0:
            return None
        table = self.columns.tasks if is_task[i] else self.columns.requests
        return int(times[i]), 0 if is_task[i] else 1, (int(table.process[rows[i]]), int(table.number[rows[i]]))

    def last_done(self):
        return self.latest(self.columns.tasks, self.columns.tasks.done, 0)

    def last_received(self):
        return self.latest(self.columns.requests, self.columns.requests.recv, 1)

    def executed(self):
        t = self.columns.tasks
        rows = np.flatnonzero(t.start != NEVER)
        rows = rows[np.lexsort((t.worker[rows], t.process[rows]))]
        first, places = t.start[rows], list(zip(t.process[rows].tolist(), t.worker[rows].tolist()))
        last = np.maximum(first, np.where(t.end[rows] == NEVER, self.last, t.end[rows]))
        at = [i for i, place in enumerate(places) if not i or place != places[i - 1]]
        return {places[i]: (first[i:j], last[i:j]) for i, j in zip(at, at[1:] + [len(places)])}

    def kernels(self):
        t, names = self.columns.tasks, self.columns.names
        rows = np.flatnonzero((t.start != NEVER) & (t.end != NEVER))
        return zip([names[i] for i in t.name[rows].tolist()], t.rank[rows].tolist(), t.worker[rows].tolist(), (t.end - t.start)[rows].tolist())

    def expected(self):
        t, names, found = self.columns.tasks, self.columns.names, collections.defaultdict(list)
        rows = np.flatnonzero((t.expected > 0) & (t.start != NEVER) & (t.end != NEVER))
        units = {place: orrery_models.unit_of(name) for place, name in self.workers.items()}
        for name, model, process, worker, ns, expected in zip(*(column.tolist() for column in (
                t.name[rows], t.model[rows], t.process[rows], t.worker[rows], (t.end - t.start)[rows], t.expected[rows]))):
            found[names[name], names[model] if model else "", units.get((process, worker), "")].append((ns, expected))
        return found

    def memories(self):
        if self.sums:
            return self.sums.memory
        m = self.columns.memory
        return orrery_memories.most(orrery_memories.use_of(*row) for row in zip(*(column.tolist() for column in (
            self.columns.rank_at(m.process.astype(np.int64), m.ns), m.ns, m.a, m.b, m.c, m.d, m.process))))

    def starts(self):
        t, names = self.columns.tasks, self.columns.names
        rows = np.flatnonzero(t.start != NEVER)
        return zip([names[i] for i in t.name[rows].tolist()], t.rank[rows].tolist(), t.start[rows].tolist())

    def flights(self):
        r, m = self.columns.requests, self.columns.messages
        rows = np.flatnonzero((r.message >= 0) & (r.recv != NEVER) & (r.grant != NEVER))
        message = r.message[rows]
        grant, envelope = r.grant[rows], m.envelope[message]
        good = (m.send[message] != NEVER) & (envelope != NEVER) & ((grant <= envelope) | (m.eager[message] == 0))
        rows, message, grant, envelope = rows[good], message[good], grant[good], envelope[good]
        return zip(m.sender[message].tolist(), m.receiver[message].tolist(), m.bytes[message].tolist(),
                   (r.recv[rows] - np.where(grant <= envelope, m.send[message], grant)).tolist())

    def of_process(self, name, process):
        order, processes = self.by_process[name]
        return order[np.searchsorted(processes, process):np.searchsorted(processes, process, "right")]

    def submissions(self, process):
        times = []
        for name in ("submit", "post"):
            e = self.columns.events[name]
            which = self.of_process(name, process)
            which = which[~np.isin(e.d[which] >> np.uint64(60), (1, 2))]
            times.append(e.ns[which])
        return np.sort(np.concatenate(times)).tolist()

    def ends_of(self, process):
        e, which = self.columns.events["done"], self.of_process("done", process)
        return [(ns, (process, number)) for ns, number in zip(e.ns[which].tolist(), e.b[which].tolist())]

    def messages_of(self, process):
        """(time, key) of each request that was complete, in order."""
        r, found = self.columns.requests, []
        rows = np.flatnonzero(r.process == process)
        over = np.where(r.receive[rows] != 0, r.recv[rows], r.sent[rows])
        rows, over = rows[over != NEVER], over[over != NEVER]
        order = np.lexsort((r.number[rows], over))
        for ns, number in zip(over[order].tolist(), r.number[rows[order]].tolist()):
            found.append((ns, (process, number)))
        return found
