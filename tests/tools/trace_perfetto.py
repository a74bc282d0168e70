# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares a Perfetto file, as protoc prints it, with the tables of the same trace:
#     trace_perfetto.py DECODED DATABASE
# Invariant: the file is read by protoc, not by code of Orrery's.
import collections
import re
import sqlite3
import sys

import trace_viewers


def packets(path):
    """Each packet as {name: [values]}, where a value is a text or such a dictionary."""
    stack = [collections.defaultdict(list)]
    with open(path, encoding="utf-8") as text:
        for line in text:
            line = line.strip()
            if line.endswith("{"):
                name = line[:-1].strip()
                assert not name.isdigit(), "a field that the schema does not have: " + line
                inner = collections.defaultdict(list)
                stack[-1][name].append(inner)
                stack.append(inner)
            elif line == "}":
                done = stack.pop()
                if len(stack) == 1:
                    yield done
            else:
                name, value = line.split(": ", 1)
                assert not name.isdigit(), "a field that the schema does not have: " + line
                stack[-1][name].append(re.sub(r'^"(.*)"$', r"\1", value))


def read(path):
    tracks, names, time, bars, opened = {}, {}, 0, [], collections.defaultdict(list)
    flows, ends, counters, marks = {}, {}, collections.defaultdict(list), collections.Counter()
    copies, changes = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(lambda: [0, 0])
    called = []
    for packet in packets(path):
        assert packet["trusted_packet_sequence_id"] == ["1"], packet
        for interned in packet["interned_data"]:
            for kind, found in interned.items():
                for item in found:
                    assert (kind, item["iid"][0]) not in names
                    names[kind, item["iid"][0]] = item["name"][0]
        for track in packet["track_descriptor"]:
            tracks[track["uuid"][0]] = track
        for event in packet["track_event"]:
            now = int((packet["timestamp"] or ["0"])[0])
            assert now >= time, "packets are not sorted by time"
            time = now
            track, kind = tracks[event["track_uuid"][0]], event["type"][0]
            notes = {names["debug_annotation_names", n["name_iid"][0]]: (n["int_value"] or n["string_value"])[0]
                     for n in event["debug_annotations"]}
            place = (tracks[track["parent_uuid"][0]]["name"][0], track["name"][0])
            name = names["event_names", event["name_iid"][0]] if event["name_iid"] else None
            if kind == "TYPE_SLICE_BEGIN":
                opened[event["track_uuid"][0]].append((now, name, notes.get("task")))
            elif kind == "TYPE_SLICE_END":
                since, begun, task = opened[event["track_uuid"][0]].pop()
                if place[1].split()[0] == "changes":
                    row = changes[rank_of(place[0]), begun]
                    row[0], row[1] = row[0] + 1, row[1] + now - since
                elif place[1].split()[0] == "callbacks":
                    called.append((rank_of(place[0]), place[1], begun, now - since))
                else:
                    bars.append((place, begun, task, since, now))
            elif kind == "TYPE_COUNTER":
                counters[rank_of(place[0]), place[1]].append((now, int(event["counter_value"][0])))
            elif event["flow_ids"]:
                flows[event["flow_ids"][0]] = (place[0], now, int(notes["bytes"]))
            elif event["terminating_flow_ids"]:
                ends[event["terminating_flow_ids"][0]] = (place[0], now)
            elif place[1] == "marks":
                marks[rank_of(place[0]), name.replace('\\"', '"'), int(notes["number"])] += 1
            elif place[1] == "copies":
                row = copies[trace_viewers.copy_of(rank_of(place[0]), name)]
                row[0], row[1], row[2] = row[0] + 1, row[1] + int(notes["bytes"]), row[2] + int(notes["ns"])
    assert not any(opened.values()), "a begin without its end"
    assert set(flows) == set(ends), "flows without an end"
    return bars, [(a[0], ends[f][0], a[1], ends[f][1], a[2]) for f, a in flows.items()], counters, copies, marks, changes, called


def rank_of(name):
    return int(re.match(r"rank (\d+)", name).group(1))


def compare(bars, flows, counters, copies, marks, changes, called, base):
    got = sorted((rank_of(place[0]), int(task), first, last) for place, name, task, first, last in bars if name != "fetching")
    want = sorted(base.execute("""SELECT rank, task, start_ns, coalesce(end_ns, (SELECT CAST(value AS INTEGER) FROM run WHERE name = 'makespan_ns'))
        FROM tasks WHERE start_ns IS NOT NULL"""))
    assert got == [tuple(w) for w in want], "kernels differ"
    names = {(rank, task): name for rank, task, name in base.execute("SELECT rank, task, name FROM tasks")}
    for place, name, task, _, _ in bars:
        assert name == "fetching" or name.replace(" (not ended)", "") == names[rank_of(place[0]), int(task)], (name, task)
    got = sorted((rank_of(a), rank_of(b), left, received, size) for a, b, left, received, size in flows)
    want = sorted(base.execute("""SELECT sender, receiver, left_ns, max(left_ns, received_ns), bytes FROM messages
        WHERE left_ns IS NOT NULL AND received_ns IS NOT NULL"""))
    assert got == [tuple(w) for w in want], "messages differ"
    trace_viewers.same(counters, trace_viewers.counters(base), "counters")
    trace_viewers.same(copies, trace_viewers.copies(base), "copies")
    trace_viewers.same(marks, trace_viewers.marks(base), "marks")
    trace_viewers.same(changes, trace_viewers.changes(base), "changes")
    found, names = collections.defaultdict(lambda: [0, 0]), trace_viewers.workers(base)
    for rank, title, name, ns in called:
        row = found[trace_viewers.of_callbacks("rank %d %s" % (rank, title), names) + (name,)]
        row[0], row[1] = row[0] + 1, row[1] + ns
    trace_viewers.same(found, trace_viewers.callbacks(base), "callbacks")


if __name__ == "__main__":
    compare(*read(sys.argv[1]), sqlite3.connect(sys.argv[2]))
