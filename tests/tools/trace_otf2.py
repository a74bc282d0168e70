# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares an OTF2 archive, as otf2-print shows it, with the tables of the same trace:
#     trace_otf2.py EVENTS DEFINITIONS DATABASE
# Invariant: the archive is read by otf2-print, not by code of Orrery's.
import collections
import re
import sqlite3
import sys


def locations_of(path):
    with open(path, encoding="utf-8") as text:
        return dict(re.findall(r'^LOCATION +(\d+) +Name: "(.*?)" <', text.read(), re.M))


def place_of(name, names):
    return names[name] if name in names else names[name.rpartition(" (")[0]]


def compare(events, locations, base):
    names = {"rank %d %s" % (rank, name or "worker %d" % worker): (rank, worker)
             for rank, worker, name in base.execute("SELECT rank, worker, name FROM workers")}
    kernels, opened, sends, receives, time = collections.defaultdict(lambda: [0, 0]), {}, collections.Counter(), collections.Counter(), 0
    for line in open(events, encoding="utf-8"):
        match = re.match(r"(ENTER|LEAVE|MPI_SEND|MPI_RECV) +(\d+) +(\d+)  (.*)$", line)
        if not match:
            continue
        kind, location, now, rest = match.group(1), match.group(2), int(match.group(3)), match.group(4)
        assert now >= time, line
        time = now
        name = locations[location]
        if kind == "ENTER":
            assert location not in opened, line
            opened[location] = (now, re.match(r'Region: "(.*)" <', rest).group(1))
        elif kind == "LEAVE":
            since, region = opened.pop(location)
            if region != "fetching":
                found = kernels[place_of(name, names) + (region,)]
                found[0] += 1
                found[1] += now - since
        else:
            peer, size = re.match(r'\w+: \d+ \("rank (\d+) messages".*Length: (\d+)', rest).groups()
            rank = int(re.match(r"rank (\d+) messages", name).group(1))
            if kind == "MPI_SEND":
                sends[rank, int(peer), int(size)] += 1
            else:
                receives[int(peer), rank, int(size)] += 1
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
