# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace --paje`: the trace in Paje's text format, which ViTE and pj_dump read.
# Invariant: events are sorted by time; each kernel, fetch and message is one state or
# link of its whole length.
import collections
import heapq

from orrery_lanes import (FETCHING, arrows, callbacks, changes, copies, counters, lanes, left_out, mark_name, mark_number, marks, numbered,
                          side_by_side)
from orrery_tracefile import copy_why

# (name, number, fields) of the definitions at the head of the file.
HEAD = (
    ("PajeDefineContainerType", 0, "Alias string", "Type string", "Name string"),
    ("PajeDefineStateType", 1, "Alias string", "Type string", "Name string"),
    ("PajeDefineVariableType", 2, "Alias string", "Type string", "Name string", "Color color"),
    ("PajeDefineEventType", 3, "Alias string", "Type string", "Name string", "Color color"),
    ("PajeDefineLinkType", 4, "Alias string", "Type string", "StartContainerType string", "EndContainerType string", "Name string"),
    ("PajeDefineEntityValue", 5, "Alias string", "Type string", "Name string", "Color color"),
    ("PajeCreateContainer", 6, "Time date", "Alias string", "Type string", "Container string", "Name string"),
    ("PajeDestroyContainer", 7, "Time date", "Type string", "Name string"),
    ("PajePushState", 8, "Time date", "Type string", "Container string", "Value string"),
    ("PajePopState", 9, "Time date", "Type string", "Container string"),
    ("PajeSetVariable", 10, "Time date", "Type string", "Container string", "Value double"),
    ("PajeStartLink", 11, "Time date", "Type string", "Container string", "Value string", "StartContainer string", "Key string"),
    ("PajeEndLink", 12, "Time date", "Type string", "Container string", "Value string", "EndContainer string", "Key string"),
    ("PajeNewEvent", 13, "Time date", "Type string", "Container string", "Value string"),
)
KERNEL = 14   # PajePushState with the fields of a kernel
COLOURS = ("0.12 0.47 0.71", "1.00 0.50 0.05", "0.17 0.63 0.17", "0.84 0.15 0.16", "0.58 0.40 0.74",
           "0.55 0.34 0.29", "0.89 0.47 0.76", "0.74 0.74 0.13", "0.09 0.75 0.81")
GREY = "0.75 0.75 0.75"


# Differences between the files for viewers of Paje's format, and those for tools that expect StarPU's names: nanoseconds
# of a unit of time and its decimals, what fetching is called, {counter: its name} (None: all, by their names), fields of
# kernels with the function that fills them, names of ranks, workers and memory nodes, and what of Parts is left out.
Style = collections.namedtuple("Style", "unit decimals fetching counters fields filled rank worker memory without")
PLAIN = Style(10 ** 9, 9, FETCHING, None, ("Task string",), lambda bar: str(bar.task.number),
              "rank %d".__mod__, lambda lane: "rank %d %s" % (lane.rank, lane.name), "rank %d memory %d".__mod__, ())


class Parts:
    """What of the tables becomes containers, variables and events, each worked out once."""

    def __init__(self, tables, style):
        self.tables, self.style = tables, style
        self.lanes = lanes(tables)
        self.copies = [] if "copies" in style.without else copies(tables)
        self.marks = [] if "marks" in style.without else marks(tables)
        self.counters = [] if "counters" in style.without else [
            c for c in counters(tables) if style.counters is None or c.name in style.counters]
        self.changes = sorted(side_by_side(changes(tables)).items())
        self.callbacks = callbacks(tables)


def quoted(text):
    return '"%s"' % text.replace('"', "'").replace("\n", " ")


def numbers_of(names):
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def write_head(out, parts):
    """Pairs ({kernel: its value}, {counter: its number})."""
    style = parts.style
    of_kernel = ("PajePushState", KERNEL, "Time date", "Type string", "Container string", "Value string") + style.fields
    for name, number, *fields in HEAD + (of_kernel,):
        out.write("%%EventDef %s %d\n" % (name, number))
        out.writelines("%%       %s\n" % field for field in fields)
        out.write("%EndEventDef\n")
    out.write('0 Run 0 "Run"\n0 Rank Run "Rank"\n0 Worker Rank "Worker"\n0 Memory Rank "Memory"\n0 Changes Rank "Changes"\n0 Callbacks Rank "Callbacks"\n')
    out.write('1 State Worker "Worker State"\n1 Change Changes "Change"\n1 Callback Callbacks "Callback"\n3 Mark Rank "Mark" "%s"\n' % COLOURS[3])
    out.write('4 Message Run Rank Rank "Message"\n4 Copy Rank Memory Memory "Copy"\n')
    variables = numbers_of(c.name for c in parts.counters)
    for name, i in variables.items():
        out.write('2 V%d Rank %s "%s"\n' % (i, quoted((style.counters or {}).get(name, name)), COLOURS[i % len(COLOURS)]))
    names = sorted({bar.name for lane in parts.lanes for bar in lane.bars if bar.kind == "kernel"})
    values = {FETCHING: "F"}
    out.write('5 F State %s "%s"\n' % (quoted(style.fetching), GREY))
    for i, name in enumerate(names):
        values[name] = "K%d" % i
        out.write('5 K%d State %s "%s"\n' % (i, quoted(name), COLOURS[i % len(COLOURS)]))
    return values, variables


def alias(lane):
    return "w%d_%d_%d_%d" % lane[:4]


def callback_alias(place, number):
    return "b%d_%d_%d_%d" % (place[0], place[1], place[2] + 1, number)


def write_containers(out, parts, at):
    tables, style = parts.tables, parts.style
    out.write('6 %s run Run 0 "%s"\n' % (at, "simulated run" if tables.trace.simulated else "run"))
    ranks = sorted(set(tables.places()) | {m.key[1] for m in tables.messages}
                   | {m.sender for m in tables.messages if m.sender is not None})
    for rank in ranks:
        out.write("6 %s r%d Rank run %s\n" % (at, rank, quoted(style.rank(rank))))
    for lane in parts.lanes:
        out.write("6 %s %s Worker r%d %s\n" % (at, alias(lane), lane.rank, quoted(style.worker(lane))))
    memories = sorted({(c.rank, node) for c in parts.copies for node in (c.source, c.target)})
    for rank, node in memories:
        out.write("6 %s m%d_%d Memory r%d %s\n" % (at, rank, node, rank, quoted(style.memory((rank, node)))))
    for rank, found in parts.changes:
        for i in range(len(found)):
            out.write("6 %s c%d_%d Changes r%d %s\n" % (at, rank, i, rank, quoted(style.rank(rank) + numbered(" changes", i))))
    for place, title, found in parts.callbacks:
        for i in range(len(found)):
            out.write("6 %s %s Callbacks r%d %s\n" % (at, callback_alias(place, i), place[0], quoted("%s %s" % (style.rank(place[0]), numbered(title, i)))))


def of_lane(lane, values, style):
    """(time, line without the time) of a lane, in order."""
    name = alias(lane)
    for bar in lane.bars:
        if bar.kind == "kernel":
            yield bar.first, (KERNEL, "State %s %s %s" % (name, values[bar.name], style.filled(bar)))
        else:
            yield bar.first, (8, "State %s %s" % (name, values[bar.name]))
        yield bar.last, (9, "State %s" % name)


def of_states(kind, container, lane):
    for first, last, _, name, *_ in lane:
        yield first, (8, "%s %s %s" % (kind, container, quoted(name)))
        yield last, (9, "%s %s" % (kind, container))


def of_links(parts, found):
    for left, received, m in found:
        key = "%d_%d_%d_%d" % m.key
        value = '"%d bytes"' % m.bytes
        yield left, 0, (11, "Message run %s r%d %s" % (value, m.sender, key))
        yield received, 1, (12, "Message run %s r%d %s" % (value, m.key[1], key))
    for i, c in enumerate(parts.copies):
        value = '"%s: %d bytes"' % (copy_why(c.why), c.bytes)
        yield c.start, 0, (11, "Copy r%d %s m%d_%d c%d" % (c.rank, value, c.rank, c.source, i))
        yield c.end, 1, (12, "Copy r%d %s m%d_%d c%d" % (c.rank, value, c.rank, c.target, i))


def of_rank(parts, variables):
    """Counters and marks."""
    for counter in parts.counters:
        for time, value in counter.steps:
            yield time, 2, (10, "V%d r%d %d" % (variables[counter.name], counter.rank, value))
    for m in parts.marks:
        yield m.at, 2, (13, "Mark r%d %s" % (m.rank, quoted("%s %d" % (mark_name(m), mark_number(m)))))


def write(tables, path, style=PLAIN):
    parts = Parts(tables, style)
    found, unknown = arrows(tables)

    def at(ns):
        return "%d.%0*d" % ((ns - tables.run.first) // style.unit, style.decimals, (ns - tables.run.first) % style.unit)
    with open(path, "w", encoding="utf-8") as out:
        values, variables = write_head(out, parts)
        write_containers(out, parts, at(tables.run.first))
        others = ((time, event) for time, _, event in sorted(list(of_links(parts, found)) + list(of_rank(parts, variables)), key=lambda e: e[:2]))
        streams = [of_lane(lane, values, style) for lane in parts.lanes] + [
            of_states("Change", "c%d_%d" % (rank, i), lane) for rank, lanes_of in parts.changes for i, lane in enumerate(lanes_of)] + [
            of_states("Callback", callback_alias(place, i), lane) for place, _, lanes_of in parts.callbacks for i, lane in enumerate(lanes_of)]
        last = tables.run.first
        for time, (number, rest) in heapq.merge(*streams, others, key=lambda e: e[0]):
            out.write("%d %s %s\n" % (number, at(time), rest))
            last = time
        out.write("7 %s Run run\n" % at(max(last, tables.run.last)))
    return left_out(unknown)
