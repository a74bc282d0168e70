# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Reads the traces that ORRERY_TRACE writes (src/trace/format.h, doc/trace-format.md).
# Invariant: only blocks that may have what is asked for are read; a file that was cut
# short is read up to its end, and says that it was. What no recorder writes is refused
# with the file and the place in it; nothing is read for a size that the file does not have.
import bisect
import math
import os
import struct
import sys
import zlib

import orrery_part
from orrery_cli import UserError

VERSION = 4
HEAD = struct.Struct("=8sIIIIIIQQII64s")
BLOCK = struct.Struct("=IIIIqqQI3IQ")
EVENT = struct.Struct("=qBBhIQQQ")
END = struct.Struct("=8sII")
END_MAGIC = b"ORRINDEX"
FLOAT_BITS = struct.Struct("=I")
FLOAT = struct.Struct("=f")
FOREVER = 1 << 62   # nanoseconds
LONGEST_US = 1e12   # that a policy expects
BLOCK_MAGIC = 0x4B4C424F
CHECKSUM = 44   # where a block has it
LARGEST_BLOCK = 1 << 20
SIMULATED, FULL, CLOSED, LIMITED, THINNED, PARTIAL = 1, 2, 4, 8, 16, 32
FIRST_BLOCK = 4096   # bytes of the head and its text, however small blocks are

KINDS = ("none", "string", "process", "clock", "worker", "left",
         "submit", "release", "ready", "start", "end", "done",
         "post", "grant", "route", "send", "sent", "envelope", "match", "recv",
         "copy", "copied", "user", "engine", "sum", "after", "waited", "change", "memory", "held", "callback", "link", "datum", "uses")
EVENTS = tuple(name for name in KINDS[6:] if name not in ("sum", "link"))   # that something happened
NUMBER = {name: number for number, name in enumerate(KINDS)}
AT_ONCE, TWICE, SHORT = 1, 16, 64   # flags of events that stand for others, too
READY_TOO = 1
USES_SMALL = 1
ABOUT_PROCESS = sum(1 << NUMBER[name] for name in ("string", "process", "clock", "worker", "left"))

TURNS = {1: "messages", 2: "tasks", 3: "asleep"}
GUEST = 1
RECEIVE, EAGER, SYNC, RELAYED = 1, 2, 4, 8
COPIES = ("fetch", "eviction", "write-back", "prefetch")   # why copies are made
CHANGES = {1: "checkpoint", 2: "restore", 3: "use", 4: "resize"}
NO_STEPS = ("engine", "sum", "after", "waited", "change", "memory", "held", "callback", "link", "datum", "uses")   # what is recorded of other steps, or of time that passed
# Causes that hold messages back; with GOES_ON until then.
HOLDS = {1: "number", 2: "bytes", 3: "turn", 4: "others", 5: "value", 6: "announced", 7: "order", 8: "memory"}
GOES_ON = 0x80
CALLBACKS = {1: "ready", 2: "taken", 3: "executed", 4: "done", 5: "message"}   # when the program is called
CAUSES = {1: "task", 2: "message"}


def low(field):
    return field & 0xFFFFFFFF


def long_number(field):
    """A number with a sign of 32 bits, in 64 of them."""
    return ((low(field) ^ 0x80000000) - 0x80000000) & 0xFFFFFFFFFFFFFFFF


def long_cause(field):
    return (((field & 0x80000000) >> 31) + 1 << 60 | field & 0x7FFFFFFF) * (low(field) != 0)


def let_go(slot, number):
    """Of a task that the same cause lets go on: it is in that place, and is READY or RELEASEd."""
    flag = READY_TOO << slot
    return (("ready", lambda f, a, b, c, d: (number(b, d) != 0) & (f & flag != 0), lambda f, a, b, c, d: (0, 0, 0, number(b, d), c, 0)),
            ("release", lambda f, a, b, c, d: (number(b, d) != 0) & (f & flag == 0), lambda f, a, b, c, d: (0, 0, 0, number(b, d), c, 0)))


LET_GO = (lambda f, a, b, c, d: (0, a, low(b), c, 0),
          let_go(0, lambda b, d: b >> 32) + let_go(1, lambda b, d: low(d)) + let_go(2, lambda b, d: d >> 32))
# Events that stand for others, too (src/trace/format.h): {name: {flag: (its own flags, a, b, c, d, of what stands there; the others: their name,
# whether they are there, and (nanoseconds later, flags, a, b, c, d)))}}. The same for a number and for a column of them.
JOINED = {
    "submit": {SHORT: (lambda f, a, b, c, d: (f & AT_ONCE, a, low(b), long_number(c), long_cause(d)),
                       (("uses", lambda f, a, b, c, d: c >> 32 != 0, lambda f, a, b, c, d: (0, USES_SMALL, 0, low(b), c >> 32 | d >> 32 << 32, b >> 32)),)),
               AT_ONCE: (lambda f, a, b, c, d: (0, a, b, c, d), (("ready", lambda f, a, b, c, d: b == b, lambda f, a, b, c, d: (0, 0, 0, b, d, 0)),))},
    "start": {SHORT: (lambda f, a, b, c, d: (0, a, low(b), low(c), d), (
        ("end", lambda f, a, b, c, d: b >> 32 != 0, lambda f, a, b, c, d: ((b >> 32) - 1, 0, 0, low(b), 0, 0)),
        ("done", lambda f, a, b, c, d: (b >> 32 != 0) & (c >> 32 != 0), lambda f, a, b, c, d: ((b >> 32) + (c >> 32) - 2, 0, 0, low(b), 0, 0))))},
    "end": {AT_ONCE: (lambda f, a, b, c, d: (0, a, b, c, d), (("done", lambda f, a, b, c, d: b == b, lambda f, a, b, c, d: (0, 0, 0, b, 0 * b, 0)),))},
    "release": {SHORT: LET_GO},
    "ready": {SHORT: LET_GO},
    "post": {TWICE: (lambda f, a, b, c, d: (f & 255 - TWICE, a, b, c, d), (
        ("grant", lambda f, a, b, c, d: b == b, lambda f, a, b, c, d: (0, f & 1, 0, b, d, 0)),))},
    "grant": {SHORT: (lambda f, a, b, c, d: (f & 1, 0, low(b), c, d), (
        ("grant", lambda f, a, b, c, d: b >> 32 != 0, lambda f, a, b, c, d: (0, f & 1, 0, b >> 32, c, d)),
        ("grant", lambda f, a, b, c, d: a != 0, lambda f, a, b, c, d: (0, f & 1, 0, a, c, d))))},
    "route": {SHORT: (lambda f, a, b, c, d: (0, a, b, 0, 0), (
        ("route", lambda f, a, b, c, d: c != 0, lambda f, a, b, c, d: (0, 0, low(d), c, 0, 0)),))},
    "sent": {SHORT: (lambda f, a, b, c, d: (0, a, b, 0, 0), (
        ("sent", lambda f, a, b, c, d: c != 0, lambda f, a, b, c, d: (0, 0, c >> 32, low(c), 0, 0)),
        ("sent", lambda f, a, b, c, d: d != 0, lambda f, a, b, c, d: (0, 0, d >> 32, low(d), 0, 0))))},
    "envelope": {TWICE: (lambda f, a, b, c, d: (f & 255 - TWICE, a, b, c, d), (
        ("match", lambda f, a, b, c, d: b == b, lambda f, a, b, c, d: (0, f & 255 - TWICE, a, b, c, d)),))},
}
JOINED = {NUMBER[name]: forms for name, forms in JOINED.items()}
JOINED_FLAGS = {kind: sum(forms) for kind, forms in JOINED.items()}


def parted(event):
    """The events that one stands for, in their order, the first of them what is there of itself."""
    kind, worker = event[1], event[3]
    found = []
    for flag, (own, others) in JOINED[kind].items():
        if event[2] & flag:
            fields = event[2], *event[4:]
            for name, there, other in others:
                if there(*fields):
                    later, flags, *rest = other(*fields)
                    found.append((event[0] + later, NUMBER[name], flags, worker, *rest))
            flags, *rest = own(*fields)
            event = (event[0], kind, flags, worker, *rest)
    return [event] + found


class Process:
    """What the trace says of one process: its rank, its clock, its workers, whether it came to its end. A run that changes its size
    goes on with another communicator each time, in which a process may have another rank: `rank` is the last one, at() says which
    one it had at a time. What was between two such changes is an era of the run: its communicators are numbered from 0 on."""

    def __init__(self, number):
        self.number = number
        self.rank, self.size, self.host = number, 1, ""
        self.said, self.places = [], []   # (since when by its own clock, rank, size); what was before the first place belongs to it
        self.since, self.eras = [], [0]   # of the places: when they began but for the first one, and of which eras they are
        # The lack of its clock against that of the run: so much at that time of its own, and so much more for each nanosecond from then on,
        # as the two comparisons say if their difference is more than they may be wrong by.
        self.clock_ns, self.clock_at, self.drift, self.error_ns = 0, 0, 0.0, 0
        self.strings, self.workers = {}, {}
        self.left, self.lost = False, 0
        self.began_ns, self.lived_ns, self.waited_ns = None, 0, 0   # the runtime; until it left; of that, threads for cores
        self.born_ns = self.left_ns = None   # its first event and its end, by its own clock

    def run_ns(self, own_ns):
        """The time of the run at that time by its own clock."""
        return own_ns + self.clock_ns + (round(self.drift * (own_ns - self.clock_at)) if self.drift else 0)

    def compared(self, own_ns, clock_ns, error_ns, at_end):
        """Its clock was compared with that of the run, at the begin or the end."""
        if not at_end:
            self.clock_ns, self.clock_at, self.drift, self.error_ns = clock_ns, own_ns, 0.0, error_ns
            return
        if abs(clock_ns - self.clock_ns) > self.error_ns + error_ns and own_ns > self.clock_at:
            self.drift = (clock_ns - self.clock_ns) / (own_ns - self.clock_at)
        self.error_ns = max(self.error_ns, error_ns)

    def at(self, ns):
        """(rank, era) at that time of the run."""
        if not self.since:
            return self.rank, self.eras[0]
        i = bisect.bisect_right([self.run_ns(own) for own in self.since], ns)
        return self.places[i][1], self.eras[i]

    def begin_of(self, era):
        """When it began with that era, by the clock of the run."""
        return self.run_ns(self.places[self.eras.index(era)][0]) if self.places else 0

    def born(self):
        """When it began, by the clock of the run, or None."""
        return None if self.born_ns is None else self.run_ns(self.born_ns)

    def end(self):
        """When it left, by the clock of the run, or None."""
        return None if self.left_ns is None else self.run_ns(self.left_ns)

    def ranks(self):
        """All ranks that it had."""
        return {place[1] for place in self.places} or {self.rank}


class Trace:
    """An open trace: `text` (what its head says), `processes`, and events(...)."""
    part = None   # of the run, that was recorded; None: all of it

    def __init__(self, path):
        self.path = path
        try:
            self.stream = open(path, "rb", buffering=0)
        except OSError as error:
            raise UserError("%s: %s" % (path, error.strerror), 1)
        self.bytes = os.fstat(self.stream.fileno()).st_size
        self.read_head()
        self.blocks = self.read_index()
        self.processes = {}  # by number
        for _, head in self.blocks:
            self.processes.setdefault(head[1], Process(head[1]))
        self.cut_at = None   # (first, last) times of the run that are looked at, None: all
        for number, event in self.raw(ABOUT_PROCESS):
            self.learn(self.processes[number], event)
        for process in self.processes.values():
            if self.part is not None and not any(map(self.part.has_rank, process.ranks() | {place[1] for place in process.said[1:]})):
                process.workers = {}   # what they did is not there
        self.number_eras()
        self.complete = bool(self.flags & CLOSED) and not self.cut and all(p.left for p in self.processes.values())

    def read_head(self):
        data = self.stream.read(HEAD.size)
        if len(data) < HEAD.size or data[:8] != b"ORRTRACE":
            raise UserError("%s is not a trace; record one with ORRERY_TRACE=FILE, or orrery run --trace FILE" % self.path, 1)
        (_, version, self.block, event, self.flags, self.nprocesses, self.nopen, self.end, self.nindex, text_bytes, windows,
         _) = HEAD.unpack(data)
        if version != VERSION or event != EVENT.size:
            raise UserError("%s is a trace of version %d; this Orrery reads version %d" % (self.path, version, VERSION), 1)
        if self.block < BLOCK.size + EVENT.size or self.block > LARGEST_BLOCK or max(self.block, FIRST_BLOCK) < HEAD.size + text_bytes:
            raise UserError("%s: byte 12: blocks of %d bytes with a text of %d bytes; the trace is damaged" % (self.path, self.block, text_bytes), 1)
        lines = self.stream.read(text_bytes).decode("utf-8", "replace").splitlines()
        self.text = dict(line.partition(" ")[::2] for line in lines)
        if self.flags & PARTIAL:
            self.part = orrery_part.Part(self.path, self.text)
        self.simulated = bool(self.flags & SIMULATED)
        self.limited, self.thinning = bool(self.flags & LIMITED), windows >> 16
        # (length, distance) of the windows in nanoseconds, in which all events are there; None: they are there everywhere.
        self.windows = (1 << (windows & 0xFF), 1 << (windows >> 8 & 0xFF)) if self.flags & THINNED and windows >> 8 & 0xFF else None
        whole = self.end + (self.nindex * BLOCK.size + END.size if self.flags & CLOSED else 0)
        # A copy that ended early has lost its index, which is made anew.
        self.cut = "only %d of its %d bytes are there" % (self.bytes, whole) if self.bytes < whole else None
        self.check_end(whole)
        self.end = min(self.end, self.bytes)

    def damaged(self, at, what):
        raise UserError("%s: byte %d: %s; the trace is damaged" % (self.path, at, what), 1)

    def check_end(self, whole):
        """A closed file has the checksums of its head and its index at its end; one that was cut short has lost them."""
        at = self.bytes - END.size
        magic, index, head = END.unpack(os.pread(self.stream.fileno(), END.size, at) if at >= FIRST_BLOCK else bytes(END.size))
        if magic != END_MAGIC:
            if self.flags & CLOSED and not self.cut:
                self.damaged(max(at, 0), "the end of the index is missing")
            return
        if not self.flags & CLOSED or whole != self.bytes or zlib.crc32(os.pread(self.stream.fileno(), FIRST_BLOCK, 0)) != head:
            self.damaged(0, "the head does not fit to its checksum")
        if self.nindex != self.end // self.block - 1 or zlib.crc32(os.pread(self.stream.fileno(), at - self.end, self.end)) != index:
            self.damaged(self.end, "the index does not fit to its checksum")

    def check_block(self, place, data):
        """Blocks of a closed file have checksums; of one that is being written, or whose processes were killed, they have not."""
        if self.flags & CLOSED and len(data) == self.block:
            has = zlib.crc32(data[CHECKSUM + 4:], zlib.crc32(data[:CHECKSUM]))
            if has != int.from_bytes(data[CHECKSUM:CHECKSUM + 4], sys.byteorder):
                self.damaged(place, "the block does not fit to its checksum")

    def number_eras(self):
        """Which communicator of the run each place belongs to: no process begins with the next one before all have begun with the
        last one, so their begins follow each other, and a rank, a process or a size that does not fit begins an era."""
        for process in self.processes.values():
            process.places = process.said[len(process.said) > 1:]   # at first the communicator was not known
            process.since, process.eras = [place[0] for place in process.places[1:]], []
        self.members = {}               # (era, rank): its process
        self.begun = {}                 # era: when all of its processes had begun with it
        era, size, ranks, there = -1, None, set(), set()
        for ns, number, rank, n in sorted((p.run_ns(ns), p.number, rank, n) for p in self.processes.values() for ns, rank, n in p.places):
            if era < 0 or n != size or rank in ranks or number in there:
                era, size, ranks, there = era + 1, n, set(), set()
            ranks.add(rank)
            there.add(number)
            self.processes[number].eras.append(era)
            self.members[era, rank] = self.processes[number]
            self.begun[era] = ns
        self.eras = max(1, era + 1)
        for process in self.processes.values():
            if not process.eras:
                process.eras = [0]
                self.members.setdefault((0, process.rank), process)

    def changed(self, process, ns):
        """When the run had changed its size for the last time that the process knew of before that time of the run, or None."""
        era = process.at(ns - 1)[1]
        if not era:
            return None
        return self.begun[era] if self.begun[era] < ns else process.begin_of(era)

    def lives(self, process, first, last):
        """(rank, begin, end) of each rank that a process had, in a run between these two times: what was there in the first or the last
        era was there all the time before or after it."""
        times = [first if process.eras[0] == 0 or process.born() is None else process.born()]
        times += [process.run_ns(ns) for ns in process.since]
        times.append(last if process.eras[-1] == self.eras - 1 or process.end() is None else process.end())
        for i, (begin, end) in enumerate(zip(times, times[1:])):
            yield process.places[i][1] if process.places else process.rank, max(first, begin), min(last, end)

    def ranks(self):
        """All ranks that processes had, and that were recorded."""
        found = set().union(*(p.ranks() for p in self.processes.values())) if self.processes else set()
        return found if self.part is None else set(filter(self.part.has_rank, found))

    def workers(self):
        """How many workers there were, of all processes."""
        return sum(len(p.workers) for p in self.processes.values())

    def read_index(self):
        """(place, head) of all blocks in use, in the order in which each thread filled them."""
        found = []
        if self.flags & CLOSED and not self.cut:
            data = os.pread(self.stream.fileno(), self.nindex * BLOCK.size, self.end)  # no more than the file has
            heads = BLOCK.iter_unpack(data[:len(data) // BLOCK.size * BLOCK.size])
        else:
            heads = (BLOCK.unpack(head) for head in (os.pread(self.stream.fileno(), BLOCK.size, at)
                                                     for at in range(self.block, self.end, self.block)) if len(head) == BLOCK.size)
        for i, head in enumerate(heads, 1):
            if head[0] == BLOCK_MAGIC:
                found.append((i * self.block, head))
        # A thread fills its first blocks again and again, and copies them to the end when they are full. One that was killed then has left
        # both; the copy is complete.
        found.sort(key=lambda block: (block[1][1], block[1][2], block[1][7], block[0]))
        if not self.flags & (CLOSED | LIMITED):
            found = list({(head[1], head[2], head[7]): (place, head) for place, head in found}.values())
        return found

    def raw(self, kinds, first_ns=None, last_ns=None, processes=None):
        """(process, event) of those kinds, in the order of each thread; times by the process's own clock."""
        for place, head in self.blocks:
            _, process, _, nevents, first, last, mask = head[:7]
            if processes is not None and process not in processes:
                continue
            if nevents and not mask & kinds:
                continue
            if nevents and first_ns is not None and self.processes[process].run_ns(last) < first_ns:
                continue
            if nevents and last_ns is not None and self.processes[process].run_ns(first) > last_ns:
                continue
            yield from self.in_block(place, process, nevents, kinds)

    def first_step(self):
        """The time of the first step of the run, or None."""
        best, steps = None, ~ABOUT_PROCESS & ~sum(1 << NUMBER[name] for name in NO_STEPS)
        # (A block that is not complete does not say when its events were.)
        for place, head in sorted(self.blocks, key=lambda block: (block[1][3] > 0, self.processes[block[1][1]].run_ns(block[1][4]))):
            if head[3] and best is not None and self.processes[head[1]].run_ns(head[4]) >= best:
                break
            if not head[3] or head[6] & steps:
                for number, e in self.in_block(place, head[1], head[3], steps):
                    ns = self.processes[number].run_ns(e[0])
                    best = ns if best is None else min(best, ns)
        return best

    def look_at(self, first_s, last_s):
        """Only what is between these times, in seconds since the first step of the run, None: no bound. A kernel that began before and
        was not over then counts from the begin of the window."""
        if self.windows:
            raise UserError("--from and --to need a trace that has all its events; %s reached its limit, and has its own windows" % self.path)
        start = self.first_step() or 0
        self.start_ns = start
        self.cut_at = (-FOREVER if first_s is None else start + round(first_s * 1e9), FOREVER if last_s is None else start + round(last_s * 1e9))

    def bounds(self):
        """(first, last) times of the run that are looked at, or None: what is asked for, and what was recorded of it."""
        window = self.part.window if self.part is not None and not self.limited else None
        if self.cut_at and window:
            return max(self.cut_at[0], window[0]), min(self.cut_at[1], window[1])
        return self.cut_at or window

    def in_block(self, place, process, nevents, kinds):
        data = os.pread(self.stream.fileno(), self.block, place)
        self.check_block(place, data)
        data = data[BLOCK.size:]
        most = nevents or len(data) // EVENT.size
        i = 0
        while i < most and (i + 1) * EVENT.size <= len(data):
            event = EVENT.unpack_from(data, i * EVENT.size)
            kind = event[1]
            if not kind:
                return
            if kind >= len(KINDS):
                raise UserError("%s: byte %d: an event of kind %d, which does not exist; the trace is damaged"
                                % (self.path, place + BLOCK.size + i * EVENT.size, kind), 1)
            i += 1
            if kind == NUMBER["string"]:
                text = data[i * EVENT.size:i * EVENT.size + event[5]]
                i += (event[5] + EVENT.size - 1) // EVENT.size
                event = event[:6] + (text,)
            if event[2] & JOINED_FLAGS.get(kind, 0):
                for part in parted(event):
                    if kinds >> part[1] & 1:
                        yield process, part
            elif kinds >> kind & 1:
                yield process, event

    @staticmethod
    def learn(process, event):
        name = KINDS[event[1]]
        worker, a, b, c = event[3], event[4], event[5], event[6]
        if name == "string":
            process.strings[a] = c.decode("utf-8", "replace")
        elif name == "process":
            process.rank, process.size, process.host = a, b, process.strings.get(c, "")
            process.said.append((event[0], a, b))
            process.born_ns = event[0] if process.born_ns is None else process.born_ns
            process.began_ns = event[0] if process.began_ns is None else process.began_ns
        elif name == "clock":
            process.compared(event[0], signed(b), c, a)
        elif name == "worker":
            process.workers[worker] = (process.strings.get(a, ""), b)
        elif name == "left":
            process.left, process.lost, process.left_ns = True, c, event[0]
            process.waited_ns += event[7]
            process.lived_ns += event[0] - (event[0] if process.began_ns is None else process.began_ns)
            process.began_ns = None

    def events(self, names=None, first_ns=None, last_ns=None, ranks=None):
        """(ns, rank, kind, flags, worker, a, b, c, d, process), sorted by time, of a window: of the kinds of these names, between
        two instants, of these ranks. Without names: all that are steps of the run."""
        kinds = sum(1 << NUMBER[name] for name in names) if names else ~ABOUT_PROCESS & ~sum(1 << NUMBER[name] for name in NO_STEPS)
        wanted = None if ranks is None else {number for number, p in self.processes.items() if p.ranks() & set(ranks)}
        found = []
        for number, e in self.raw(kinds, first_ns, last_ns, wanted):
            process = self.processes[number]
            ns = process.run_ns(e[0])
            rank = process.at(ns)[0] if process.since else process.rank
            if (first_ns is None or ns >= first_ns) and (last_ns is None or ns <= last_ns) and (ranks is None or rank in ranks):
                found.append((ns, rank) + e[1:] + (process,))
        found.sort(key=lambda e: e[:2])
        return found

    def state(self):
        """Why the trace is not whole, or None."""
        if self.flags & FULL and self.limited:
            return "the limit had no room even for fewer events: events are missing from some moment on"
        if self.flags & FULL:
            return "the disk was full: events are missing from some moment on"
        if self.cut:
            return "the file was cut short: %s" % self.cut
        missing = [p for p in self.processes.values() if not p.left]
        if missing and self.thinning:
            return ("the run was cut short while its trace was thinned out: %d of %d processes did not come to their end, and some "
                    "events of its windows may be missing" % (len(missing), len(self.processes)))
        if missing:
            return "the run was cut short: %d of %d processes did not come to their end" % (len(missing), len(self.processes))
        lost = sum(p.lost for p in self.processes.values())
        if lost:
            return "%d events were lost because memory was exhausted" % lost
        if not self.flags & CLOSED:
            return "the file was not closed, so it has no checksums, and damage would not show"
        return None

    def waited(self):
        """For how long threads of a real run could run and got no core, and the time of its workers meanwhile, in seconds; None: nobody
        knows."""
        waited = sum(p.waited_ns for p in self.processes.values())
        worked = sum(p.lived_ns * len(p.workers) for p in self.processes.values())
        return (waited * 1e-9, worked * 1e-9) if waited and not self.simulated else None

    def missing(self):
        """Which single events a trace with a limit does not have, or None."""
        if not self.windows:
            return None
        return ("the trace reached its limit: single events are there for %s of every %s; sums are of all events%s, and exact"
                % (*("%.6g s" % (ns * 1e-9) for ns in self.windows), "" if self.part is None else " that were to be recorded"))

    def keeps(self, ns):
        """Whether all events of that time of the run are there."""
        return not self.windows or ns % self.windows[1] < self.windows[0]


def signed(value, bits=64):
    """A field that has a sign."""
    return value - (1 << bits) if value >> bits - 1 else value


def window_of(arguments):
    """((first, last), the other words) of a command line with --from S and --to S; None: no bound."""
    window, words, rest = {"--from": None, "--to": None}, list(arguments), []
    while words:
        name, equals, value = words.pop(0).partition("=")
        if name not in window:
            rest.append(name + equals + value)
            continue
        if not equals and not words:
            raise UserError("%s needs a value after it" % name)
        window[name] = seconds(name, value if equals else words.pop(0))
    return (window["--from"], window["--to"]), rest


def seconds(name, text):
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) < FOREVER * 1e-9:
        raise UserError("%s %s: give a number of seconds" % (name, text))
    return value


def words_of_window(trace, run):
    """A sentence on what of the run is looked at."""
    return "only what was between %.6f s and %.6f s of the run is here; what had begun before begins there" % (
        (run.first - trace.start_ns) * 1e-9, (run.last - trace.start_ns) * 1e-9)


def model_of(d):
    """(string: the model, nanoseconds that the policy expected of the kernel; 0: not known) of the field d of a start."""
    us = FLOAT.unpack(FLOAT_BITS.pack(d >> 32))[0]
    return d & 0xFFFFFFFF, round(us * 1e3) if 0 < us < LONGEST_US else 0


def transfer_of(d):
    """Nanoseconds that the policy expected of the copies of a task's data, -1: not known, of the field d of an end."""
    us = FLOAT.unpack(FLOAT_BITS.pack(d & 0xFFFFFFFF))[0]
    return round(us * 1e3) if d >> 32 and 0 <= us < LONGEST_US else -1


def copy_why(number):
    return COPIES[number] if number < len(COPIES) else str(number)


def cause_of(value):
    """("task" | "message" | "program", number)"""
    return CAUSES.get(value >> 60, "program"), value & (1 << 60) - 1
