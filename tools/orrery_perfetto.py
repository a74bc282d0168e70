# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace --perfetto`: the trace in Perfetto's protobuf format. Debian has no package
# with the schema, so the few messages that are needed are written here field by field.
# Invariant: packets are sorted by time; on each track, each begin has its end, and they
# nest; names are written once and referred to by number.
import heapq

from orrery_lanes import (arrows, callbacks, changes, copies, copy_name, counters, lanes, left_out, mark_name, mark_number, marks, numbered,
                          side_by_side)
from orrery_tracefile import signed

SEQUENCE = 1
CLEARED, NEEDED = 1, 2                    # flags of a sequence: its names begin anew; the packet uses them
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
EXPLICIT = 3                              # order of the children of a track
AFTER_WORKERS = 1 << 20                   # place of the tracks below those of workers
COUNTERS = 1 << 21                        # and of the counters below these


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def fixed64(field, value):
    return varint(field << 3 | 1) + (value & (1 << 64) - 1).to_bytes(8, "little")


def block(field, content):
    """Bytes, a text or a message."""
    if isinstance(content, str):
        content = content.encode("utf-8", "replace")
    return varint(field << 3 | 2) + varint(len(content)) + content


def packet(content):
    return block(1, content + number(10, SEQUENCE))


class Names:
    """Numbers of names: of events, categories and annotations."""

    def __init__(self):
        self.numbers, self.content = {1: {}, 2: {}, 3: {}}, b""

    def of(self, kind, name):
        known = self.numbers[kind]
        if name not in known:
            known[name] = len(known) + 1
            self.content += block(kind, number(1, known[name]) + block(2, name))
        return known[name]

    def category(self, name):
        return number(3, self.of(1, name))

    def event(self, name):
        return number(10, self.of(2, name))

    def note(self, name, value):
        """An annotation of an event."""
        if isinstance(value, str):
            return block(4, number(1, self.of(3, name)) + block(6, value))
        return block(4, number(1, self.of(3, name)) + number(4, value))

    def packet(self, flags, rest=b""):
        """A packet with the names that are new."""
        content, self.content = self.content, b""
        return packet((block(12, content) if content else b"") + number(13, flags) + rest)


class Tracks:
    """The tracks: one for each rank, and below it workers, messages, counters and marks."""

    def __init__(self, tables):
        self.tables, self.last, self.ranks, self.known, self.content = tables, 0, {}, {}, []

    def describe(self, content):
        self.last += 1
        self.content.append(packet(block(60, number(1, self.last) + content)))
        return self.last

    def rank(self, rank):
        if rank not in self.ranks:
            hosts = sorted({p.host for p in self.tables.trace.processes.values() if rank in p.ranks() and p.host})
            name = "rank %d" % rank + (" on %s" % ", ".join(hosts) if hosts else "")
            self.ranks[rank] = self.describe(block(2, name) + block(3, number(1, rank + 1) + block(6, name)) + number(11, EXPLICIT))
        return self.ranks[rank]

    def below(self, rank, name, order, counter=False, key=None):
        key = (rank, key or name)
        if key not in self.known:
            parent = self.rank(rank)
            self.known[key] = self.describe(block(2, name) + number(5, parent) + (block(8, b"") if counter else b"") + number(12, order))
        return self.known[key]


def event(time, track, kind, content=b""):
    return number(8, time) + block(11, number(9, kind) + number(11, track) + content)


def of_lane(tables, lane, track, names):
    start, kernel, fetch = tables.run.first, names.category("kernel"), names.category("fetching")
    for bar in lane.bars:
        content = (kernel if bar.kind == "kernel" else fetch) + names.event(bar.name)
        content += names.note("task", bar.task.number)
        if bar.kind == "kernel" and bar.task.priority:
            content += names.note("priority", bar.task.priority)
        if bar.kind == "kernel" and bar.task.expected:
            content += names.note("expected ns", bar.task.expected)
        yield bar.first, event(bar.first - start, track, BEGIN, content)
        yield bar.last, event(bar.last - start, track, END)


def of_messages(tables, tracks, names, found):
    start, category = tables.run.first, names.category("message")
    for flow, (left, received, m) in enumerate(found, 1):
        about = category + names.note("bytes", m.bytes) + names.note("tag", signed(m.tag))
        yield left, event(left - start, tracks.below(m.sender, "messages sent", AFTER_WORKERS), INSTANT,
                          about + names.event("to rank %d" % m.key[1]) + fixed64(47, flow))
        yield received, event(received - start, tracks.below(m.key[1], "messages received", AFTER_WORKERS + 1), INSTANT,
                              about + names.event("from rank %d" % m.sender) + names.note("ns under way", received - left) + fixed64(48, flow))


def of_counters(tables, tracks):
    start = tables.run.first
    order = {}
    for counter in counters(tables):
        track = tracks.below(counter.rank, counter.name, COUNTERS + order.setdefault(counter.name, len(order)), True)
        for time, value in counter.steps:
            yield time, event(time - start, track, COUNTER, number(30, value))


def of_rank(tables, tracks, names):
    """Copies and marks."""
    start, category = tables.run.first, names.category("copy")
    for c in copies(tables):
        yield c.start, event(c.start - start, tracks.below(c.rank, "copies", AFTER_WORKERS + 2), INSTANT, category
                             + names.event(copy_name(c)) + names.note("bytes", c.bytes) + names.note("ns", c.end - c.start))
    category = names.category("mark")
    for m in marks(tables):
        yield m.at, event(m.at - start, tracks.below(m.rank, "marks", AFTER_WORKERS + 3), INSTANT,
                          category + names.event(mark_name(m)) + names.note("number", mark_number(m)))


def of_callbacks(tables, tracks, names, order):
    """The events of each track, in order; `order` of a worker's last lane."""
    start, category = tables.run.first, names.category("callback")
    for place, title, found in callbacks(tables):
        for i, lane in enumerate(found):
            track, events = tracks.below(place[0], numbered(title, i), order.get(place, AFTER_WORKERS - 1), key=place + ("callbacks", i)), []
            for first, last, _, name, number_of in lane:
                of = names.note("request" if name == "message" else "task", number_of)
                events += [(first, event(first - start, track, BEGIN, category + names.event(name) + of)), (last, event(last - start, track, END))]
            yield events


def of_changes(tables, tracks, names):
    """The events of each track, in order."""
    start, category = tables.run.first, names.category("change")
    for rank, found in sorted(side_by_side(changes(tables)).items()):
        for i, lane in enumerate(found):
            track, events = tracks.below(rank, numbered("changes", i), AFTER_WORKERS + 4 + i), []
            for first, last, _, name in lane:
                events += [(first, event(first - start, track, BEGIN, category + names.event(name))), (last, event(last - start, track, END))]
            yield events


def write(tables, path):
    names, tracks = Names(), Tracks(tables)
    all_lanes = lanes(tables)
    of_lanes = [of_lane(tables, lane, tracks.below(lane.rank, lane.name, 2 * i, key=(lane.process, lane.worker, lane.number)), names)
                for i, lane in enumerate(all_lanes)]
    found, unknown = arrows(tables)
    others = sorted(list(of_messages(tables, tracks, names, found)) + list(of_rank(tables, tracks, names))
                    + list(of_counters(tables, tracks)), key=lambda e: e[0])
    of_lanes += list(of_callbacks(tables, tracks, names, {lane[:3]: 2 * i + 1 for i, lane in enumerate(all_lanes)}))
    of_lanes += list(of_changes(tables, tracks, names))
    with open(path, "wb") as out:
        out.write(names.packet(CLEARED | NEEDED))
        out.writelines(tracks.content)
        for _, content in heapq.merge(*of_lanes, others, key=lambda e: e[0]):
            out.write(names.packet(NEEDED, content))
    return left_out(unknown)
