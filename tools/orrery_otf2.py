# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace --otf2`: the trace as an OTF2 archive, written by OTF2's own library
# through its bindings, for Vampir, Scalasca, Cube, TAU and others.
# Invariant: each kernel, fetch, callback, copy and change is one ENTER and one LEAVE of its region,
# each message one MPI_SEND and one MPI_RECV, each value of a counter one METRIC, each mark
# one PARAMETER_STRING; the events of a location are sorted by time.
import collections
import os
import shutil

from orrery_cli import UserError
from orrery_lanes import (arrows, callbacks, changes, copies, copy_name, counters, lanes, left_out, mark_name, mark_number, marks, numbered,
                          side_by_side)

ARCHIVE = "traces"
FILES = {ARCHIVE, ARCHIVE + ".otf2", ARCHIVE + ".def"}
TAGS = 0xFFFFFFFF   # OTF2's tags have 32 bits


def library():
    try:
        import otf2
        import otf2.enums
    except ImportError as error:
        raise UserError("--otf2 needs the Python bindings of OTF2 (Debian: python3-otf2), which this Python does not have: %s" % error, 1)
    return otf2


def prepare(folder):
    """The library writes into a folder that has no archive yet; one of ours is replaced."""
    try:
        there = set(os.listdir(folder))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise UserError("%s is there and is no folder; give another name after -o" % folder, 1)
    if there - FILES:
        raise UserError("%s has other files than an OTF2 archive; give another name after -o" % folder, 1)
    shutil.rmtree(folder)


class Places:
    """The locations: for each rank its workers, and one for its messages."""

    def __init__(self, otf2, writer, tables):
        self.enums, self.definitions = otf2.enums, writer.definitions
        self.hosts = {rank: " ".join(sorted({p.host for p in found if p.host})) or "unknown"
                      for rank, found in tables.places().items()}
        self.root = self.definitions.system_tree_node("run", class_name="machine")
        self.nodes, self.groups = {}, {}

    def group(self, rank):
        if rank not in self.groups:
            host = self.hosts.get(rank, "unknown")
            if host not in self.nodes:
                self.nodes[host] = self.definitions.system_tree_node(host, class_name="node", parent=self.root)
            self.groups[rank] = self.definitions.location_group(
                "rank %d" % rank, location_group_type=self.enums.LocationGroupType.PROCESS, system_tree_parent=self.nodes[host])
        return self.groups[rank]

    def location(self, rank, name, kind="CPU_THREAD"):
        return self.definitions.location(name, type=getattr(self.enums.LocationType, kind), group=self.group(rank))

    def attribute(self, name, kind):
        return self.definitions.attribute(name, description="", type=kind)


class Regions:
    """The regions, each defined once."""

    def __init__(self, otf2, writer):
        self.definitions, self.roles, self.known = writer.definitions, otf2.enums.RegionRole, {}

    def of(self, name, role):
        if (name, role) not in self.known:
            self.known[name, role] = self.definitions.region(name, source_file="", region_role=getattr(self.roles, role))
        return self.known[name, role]


def write_lanes(writer, places, regions, tables):
    for lane in lanes(tables):
        events = writer.event_writer_from_location(places.location(lane.rank, "rank %d %s" % (lane.rank, lane.name)))
        for bar in lane.bars:
            region = regions.of(bar.name, "CODE" if bar.kind == "kernel" else "DATA_TRANSFER")
            events.enter(bar.first - tables.run.first, region)
            events.leave(bar.last - tables.run.first, region)


def write_side_by_side(writer, places, tables, title, intervals, region_of, attributes_of):
    """Intervals of ranks, some of which are under way at once: as many locations as that needs."""
    for rank, found in sorted(side_by_side(intervals).items()):
        for i, lane in enumerate(found):
            events = writer.event_writer_from_location(places.location(rank, "rank %d %s" % (rank, numbered(title, i))))
            for interval in lane:
                region = region_of(interval[3])
                events.enter(interval[0] - tables.run.first, region, attributes=attributes_of(interval[3]))
                events.leave(interval[1] - tables.run.first, region)


def write_copies(otf2, writer, places, regions, tables):
    size = places.attribute("bytes", otf2.enums.Type.UINT64)
    write_side_by_side(writer, places, tables, "copies", [(c.start, c.end, c.rank, c) for c in copies(tables)],
                       lambda c: regions.of(copy_name(c), "DATA_TRANSFER"), lambda c: {size: c.bytes})


def write_changes(writer, places, regions, tables):
    write_side_by_side(writer, places, tables, "changes", changes(tables), lambda name: regions.of(name, "ARTIFICIAL"), lambda _: None)


def write_callbacks(otf2, writer, places, regions, tables):
    found = callbacks(tables)
    if not found:
        return
    numbers = {what: places.attribute(what, otf2.enums.Type.UINT64) for what in ("task", "request")}
    for place, title, lanes_of in found:
        for i, lane in enumerate(lanes_of):
            events = writer.event_writer_from_location(places.location(place[0], "rank %d %s" % (place[0], numbered(title, i))))
            for first, last, _, name, number in lane:
                region = regions.of(name, "FUNCTION")
                events.enter(first - tables.run.first, region, attributes={numbers["request" if name == "message" else "task"]: number})
                events.leave(last - tables.run.first, region)


def write_marks(otf2, writer, places, tables):
    found = collections.defaultdict(list)
    for m in marks(tables):
        found[m.rank].append(m)
    if not found:
        return
    mark = writer.definitions.parameter("mark", parameter_type=otf2.enums.ParameterType.STRING)
    number = places.attribute("number", otf2.enums.Type.INT64)
    for rank, of_rank in sorted(found.items()):
        events = writer.event_writer_from_location(places.location(rank, "rank %d marks" % rank))
        for m in sorted(of_rank, key=lambda m: m.at):
            events.parameter_string(m.at - tables.run.first, mark, mark_name(m), attributes={number: mark_number(m)})


def write_counters(otf2, writer, places, tables):
    classes, values, enums = {}, collections.defaultdict(list), otf2.enums
    for counter in counters(tables):
        if counter.name not in classes:
            member = writer.definitions.metric_member(
                counter.name, metric_type=enums.MetricType.OTHER, metric_mode=enums.MetricMode.ABSOLUTE_POINT,
                value_type=enums.Type.UINT64, unit=counter.unit)
            classes[counter.name] = writer.definitions.metric_class(
                members=(member,), occurrence=enums.MetricOccurrence.ASYNCHRONOUS, recorder_kind=enums.RecorderKind.ABSTRACT)
        values[counter.rank] += [(time, counter.name, value) for time, value in counter.steps]
    for rank, of_rank in sorted(values.items()):
        events = writer.event_writer_from_location(places.location(rank, "rank %d counters" % rank, "METRIC"))
        for time, name, value in sorted(of_rank, key=lambda v: v[0]):
            events.metric(time - tables.run.first, classes[name], value)


def write_messages(otf2, writer, places, tables):
    found, unknown = arrows(tables)
    ranks = sorted(set(tables.places()) | {m.key[1] for _, _, m in found} | {m.sender for _, _, m in found})
    if not ranks:
        return unknown
    locations = {rank: places.location(rank, "rank %d messages" % rank) for rank in ranks}
    enums, definitions = otf2.enums, writer.definitions
    members = definitions.group("ranks", group_type=enums.GroupType.COMM_LOCATIONS, paradigm=enums.Paradigm.MPI,
                                members=[locations[rank] for rank in ranks])
    of_world = definitions.group("world", group_type=enums.GroupType.COMM_GROUP, paradigm=enums.Paradigm.MPI,
                                 members=list(range(len(ranks))))
    assert members is not of_world
    world, number = definitions.comm("MPI_COMM_WORLD", group=of_world), {rank: i for i, rank in enumerate(ranks)}
    events = collections.defaultdict(list)
    for left, received, m in found:
        about = (world, m.tag & TAGS, m.bytes)
        events[m.sender].append((left, 0, (number[m.key[1]],) + about))
        events[m.key[1]].append((received, 1, (number[m.sender],) + about))
    for rank, of_rank in events.items():
        out = writer.event_writer_from_location(locations[rank])
        of_rank.sort(key=lambda e: e[:2])
        for time, receives, about in of_rank:
            (out.mpi_recv if receives else out.mpi_send)(time - tables.run.first, *about)
    return unknown


def write(tables, folder):
    otf2 = library()
    prepare(folder)
    try:
        with otf2.writer.open(folder, archive_name=ARCHIVE, timer_resolution=10 ** 9) as writer:
            writer.creator = "orrery trace"
            places = Places(otf2, writer, tables)
            regions = Regions(otf2, writer)
            # Locations of messages have the numbers of their ranks: ViTE takes one for the other.
            unknown = write_messages(otf2, writer, places, tables)
            write_lanes(writer, places, regions, tables)
            write_callbacks(otf2, writer, places, regions, tables)
            write_copies(otf2, writer, places, regions, tables)
            write_changes(writer, places, regions, tables)
            write_marks(otf2, writer, places, tables)
            write_counters(otf2, writer, places, tables)
    except otf2.error.TraceWriterError as error:
        raise UserError("%s: %s" % (folder, error), 1)
    return left_out(unknown)
