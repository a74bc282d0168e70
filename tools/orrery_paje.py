# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace --paje`: the trace in Paje's text format, which ViTE and pj_dump read.
# Invariant: events are sorted by time; each kernel, fetch and message is one state or
# link of its whole length.
import heapq

from orrery_lanes import COUNTERS, FETCHING, arrows, lanes, left_out, steps

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
    ("PajePushState", 8, "Time date", "Type string", "Container string", "Value string", "Task string"),
    ("PajePopState", 9, "Time date", "Type string", "Container string"),
    ("PajeSetVariable", 10, "Time date", "Type string", "Container string", "Value double"),
    ("PajeStartLink", 11, "Time date", "Type string", "Container string", "Value string", "StartContainer string", "Key string"),
    ("PajeEndLink", 12, "Time date", "Type string", "Container string", "Value string", "EndContainer string", "Key string"),
    ("PajeNewEvent", 13, "Time date", "Type string", "Container string", "Value string"),
)
COLOURS = ("0.12 0.47 0.71", "1.00 0.50 0.05", "0.17 0.63 0.17", "0.84 0.15 0.16", "0.58 0.40 0.74",
           "0.55 0.34 0.29", "0.89 0.47 0.76", "0.74 0.74 0.13", "0.09 0.75 0.81")
GREY = "0.75 0.75 0.75"


def quoted(text):
    return '"%s"' % text.replace('"', "'").replace("\n", " ")


def write_head(out, all_lanes):
    for name, number, *fields in HEAD:
        out.write("%%EventDef %s %d\n" % (name, number))
        out.writelines("%%       %s\n" % field for field in fields)
        out.write("%EndEventDef\n")
    out.write('0 Run 0 "Run"\n0 Rank Run "Rank"\n0 Worker Rank "Worker"\n0 Memory Rank "Memory"\n')
    out.write('1 State Worker "Worker State"\n3 Mark Rank "Mark" "%s"\n' % COLOURS[3])
    out.write('4 Message Run Rank Rank "Message"\n4 Copy Rank Memory Memory "Copy"\n')
    for i, (name, _, _) in enumerate(COUNTERS):
        out.write('2 V%d Rank %s "%s"\n' % (i, quoted(name), COLOURS[i]))
    names = sorted({bar.name for lane in all_lanes for bar in lane.bars if bar.kind == "kernel"})
    values = {FETCHING: "F"}
    out.write('5 F State %s "%s"\n' % (quoted(FETCHING), GREY))
    for i, name in enumerate(names):
        values[name] = "K%d" % i
        out.write('5 K%d State %s "%s"\n' % (i, quoted(name), COLOURS[i % len(COLOURS)]))
    return values


def alias(lane):
    return "w%d_%d_%d" % (lane.rank, lane.worker, lane.number)


def write_containers(out, tables, all_lanes, at):
    out.write('6 %s run Run 0 "%s"\n' % (at, "simulated run" if tables.trace.simulated else "run"))
    ranks = sorted(set(tables.places()) | {m.key[1] for m in tables.messages}
                   | {m.sender for m in tables.messages if m.sender is not None})
    for rank in ranks:
        out.write('6 %s r%d Rank run "rank %d"\n' % (at, rank, rank))
    for lane in all_lanes:
        out.write("6 %s %s Worker r%d %s\n" % (at, alias(lane), lane.rank, quoted("rank %d %s" % (lane.rank, lane.name))))
    memories = sorted({(c.rank, node) for c in tables.run.copies for node in (c.source, c.target)})
    for rank, node in memories:
        out.write('6 %s m%d_%d Memory r%d "rank %d memory %d"\n' % (at, rank, node, rank, rank, node))


def of_lane(lane, values):
    """(time, line without the time) of a lane, in order."""
    name = alias(lane)
    for bar in lane.bars:
        yield bar.first, (8, "State %s %s %d" % (name, values[bar.name], bar.task.key[1]))
        yield bar.last, (9, "State %s" % name)


def of_links(tables, found):
    for left, received, m in found:
        key = "%d_%d_%d" % m.key
        value = '"%d bytes"' % m.bytes
        yield left, 0, (11, "Message run %s r%d %s" % (value, m.sender, key))
        yield received, 1, (12, "Message run %s r%d %s" % (value, m.key[1], key))
    for i, c in enumerate(tables.run.copies):
        if c.end is not None and tables.inside(c.rank, c.start, c.end):
            value = '"%d bytes"' % c.bytes
            yield c.start, 0, (11, "Copy r%d %s m%d_%d c%d" % (c.rank, value, c.rank, c.source, i))
            yield c.end, 1, (12, "Copy r%d %s m%d_%d c%d" % (c.rank, value, c.rank, c.target, i))


def of_rank(tables):
    """Counters and marks."""
    for i, (_, since, until) in enumerate(COUNTERS):
        for rank, found in steps(tables, since, until).items():
            for time, number in found:
                yield time, 2, (10, "V%d r%d %d" % (i, rank, number))
    for m in tables.run.marks:
        if tables.inside(m.rank, m.at):
            yield m.at, 2, (13, "Mark r%d %s" % (m.rank, quoted("%s %d" % (m.text, m.number))))


def write(tables, path):
    all_lanes = lanes(tables)
    found, unknown = arrows(tables)

    def seconds(ns):
        return "%d.%09d" % divmod(ns - tables.run.first, 10 ** 9)
    with open(path, "w", encoding="utf-8") as out:
        values = write_head(out, all_lanes)
        write_containers(out, tables, all_lanes, seconds(tables.run.first))
        others = ((time, event) for time, _, event in sorted(list(of_links(tables, found)) + list(of_rank(tables)), key=lambda e: e[:2]))
        last = tables.run.first
        for time, (number, rest) in heapq.merge(*[of_lane(lane, values) for lane in all_lanes], others, key=lambda e: e[0]):
            out.write("%d %s %s\n" % (number, seconds(time), rest))
            last = time
        out.write("7 %s Run run\n" % seconds(max(last, tables.run.last)))
    return left_out(unknown)
