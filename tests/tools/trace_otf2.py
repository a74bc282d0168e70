# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares an OTF2 archive, as otf2-print shows it, with the tables of the same trace:
#     trace_otf2.py EVENTS DEFINITIONS DATABASE
# Invariant: the archive is read by otf2-print, not by code of Orrery's.
import collections
import re
import sqlite3
import sys

import trace_viewers


def locations_of(path):
    with open(path, encoding="utf-8") as text:
        return dict(re.findall(r'^LOCATION +(\d+) +Name: "(.*?)" <', text.read(), re.M))


def place_of(name, names):
    return names[name] if name in names else names[name.rpartition(" (")[0]]


ATTRIBUTE = re.compile(r"^ +ADDITIONAL ATTRIBUTES: (.*)$")


def events_of(path):
    """(kind, location, time, rest, {attribute: value}) of each event; attributes are in the line below theirs."""
    last = None
    with open(path, encoding="utf-8") as text:
        for line in text:
            more = ATTRIBUTE.match(line)
            if more and last:
                last[4].update(re.findall(r'\("(\w+)" <\d+>; \w+; (-?\d+)\)', more.group(1)))
                continue
            match = re.match(r"([A-Z_0-9]+) +(\d+) +(\d+)  (.*)$", line)
            if last:
                yield last
            last = (match.group(1), match.group(2), int(match.group(3)), match.group(4), {}) if match else None
    if last:
        yield last


class Others:
    """What there is besides kernels and messages."""

    def __init__(self):
        self.counters, self.marks = collections.defaultdict(list), collections.Counter()
        self.callbacks = collections.defaultdict(lambda: [0, 0])
        self.copies, self.changes = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(lambda: [0, 0])

    def left(self, rank, what, region, size, ns):
        if what == "copies":
            row = self.copies[trace_viewers.copy_of(rank, region)]
            row[0], row[1], row[2] = row[0] + 1, row[1] + size, row[2] + ns
        else:
            row = self.changes[rank, region]
            row[0], row[1] = row[0] + 1, row[1] + ns

    def called(self, place, region, ns):
        row = self.callbacks[place + (region,)]
        row[0], row[1] = row[0] + 1, row[1] + ns

    def compare(self, base):
        trace_viewers.same(self.callbacks, trace_viewers.callbacks(base), "callbacks")
        trace_viewers.same(self.counters, trace_viewers.counters(base), "counters")
        trace_viewers.same(self.copies, trace_viewers.copies(base), "copies")
        trace_viewers.same(self.marks, trace_viewers.marks(base), "marks")
        trace_viewers.same(self.changes, trace_viewers.changes(base), "changes")


def compare(events, locations, base):
    names = trace_viewers.workers(base)
    kernels, opened, sends, receives, time = collections.defaultdict(lambda: [0, 0]), {}, collections.Counter(), collections.Counter(), 0
    others = Others()
    for kind, location, now, rest, attributes in events_of(events):
        assert now >= time, rest
        time = now
        name = locations[location]
        rank, what = re.match(r"rank (\d+) (\w+)", name).groups()
        rank = int(rank)
        if kind == "ENTER":
            assert location not in opened, rest
            opened[location] = (now, re.match(r'Region: "(.*)" <', rest).group(1), int(attributes.get("bytes", 0)))
        elif kind == "LEAVE":
            since, region, size = opened.pop(location)
            if what in ("copies", "changes"):
                others.left(rank, what, region, size, now - since)
            elif what == "callbacks":
                others.called(trace_viewers.of_callbacks(name, names), region, now - since)
            elif region != "fetching":
                found = kernels[place_of(name, names) + (region,)]
                found[0] += 1
                found[1] += now - since
        elif kind == "METRIC":
            counter, value = re.search(r'Value: \("(.*)" <\d+>; UINT64; (\d+)\)$', rest).groups()
            others.counters[rank, counter].append((now, int(value)))
        elif kind == "PARAMETER_STRING":
            assert what == "marks" and rest.startswith('Parameter: "mark" <'), rest
            others.marks[rank, re.search(r'Value: "(.*)" <\d+>$', rest).group(1), int(attributes["number"])] += 1
        elif kind in ("MPI_SEND", "MPI_RECV"):
            peer, size = re.match(r'\w+: \d+ \("rank (\d+) messages".*Length: (\d+)', rest).groups()
            if kind == "MPI_SEND":
                sends[rank, int(peer), int(size)] += 1
            else:
                receives[int(peer), rank, int(size)] += 1
        else:
            raise AssertionError("an event of another kind: %s %s" % (kind, rest))
    others.compare(base)
    assert not opened, opened
    want = {}
    for rank, worker, name, n, ns in base.execute(
            "SELECT rank, worker, name, count(*), sum(kernel_ns) FROM tasks WHERE kernel_ns IS NOT NULL GROUP BY rank, worker, name"):
        want[rank, worker, name] = [n, ns]
    for rank, worker, name, n, ns in base.execute(
            """SELECT rank, worker, name, count(*), sum((SELECT value FROM run WHERE name = 'makespan_ns') - start_ns)
               FROM tasks WHERE start_ns IS NOT NULL AND kernel_ns IS NULL GROUP BY rank, worker, name"""):
        want[rank, worker, name + " (not ended)"] = [n, ns]
    assert dict(kernels) == want, (dict(kernels), want)
    flows = {(a, b, size): n for a, b, size, n in base.execute(
        """SELECT sender, receiver, bytes, count(*) FROM messages WHERE left_ns IS NOT NULL AND received_ns IS NOT NULL
           GROUP BY sender, receiver, bytes""")}
    assert dict(sends) == flows and dict(receives) == flows, (sends, receives, flows)


if __name__ == "__main__":
    compare(sys.argv[1], locations_of(sys.argv[2]), sqlite3.connect(sys.argv[3]))
