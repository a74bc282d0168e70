# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares what pj_dump prints of a Paje file with the tables of the same trace:
#     trace_paje.py DUMP DATABASE
# Invariant: both sides are read from what the tools wrote; times agree to a nanosecond each.
import collections
import re
import sqlite3
import sys

import trace_viewers


def read_dump(path):
    states, links, variables, events = collections.defaultdict(list), collections.defaultdict(list), [], []
    with open(path, encoding="utf-8") as dump:
        for line in dump:
            word = [w.strip() for w in line.split(",")]
            if word[0] == "State":      # container, type, start, end, duration, imbrication, value
                assert float(word[6]) == 0, line
                states[word[2], word[1], ",".join(word[7:])].append((float(word[3]), float(word[4])))
            elif word[0] == "Link":     # container, type, start, end, duration, value, from, to
                links[word[2], word[7], word[8]].append((float(word[3]), float(word[4]), word[6]))
            elif word[0] == "Variable":
                variables.append((word[1], word[2], float(word[6]), float(word[3])))
            elif word[0] == "Event":
                events.append((word[1], ", ".join(word[4:])))
    return states, links, variables, events


def near(a, b, n):
    return abs(a - b) <= 1e-9 * (2 * n + 2)


def compare(states, links, variables, events, base):
    """Workers of the dump: "rank R NAME", with a number in brackets where a worker has several lanes."""
    names = trace_viewers.workers(base)
    sums = collections.defaultdict(lambda: [0, 0.0])
    for (kind, container, value), found in states.items():
        if kind != "Worker State":
            continue
        place = names[container] if container in names else names[container.rpartition(" (")[0]]
        value = value.replace(" (not ended)", "\n") if value.endswith(" (not ended)") else value
        sums[place + (value,)][0] += len(found)
        sums[place + (value,)][1] += sum(last - first for first, last in found)
    want = {}
    for rank, worker, name, n, ns in base.execute(
            "SELECT rank, worker, name, count(*), sum(kernel_ns) FROM tasks WHERE kernel_ns IS NOT NULL GROUP BY rank, worker, name"):
        want[rank, worker, name] = (n, ns * 1e-9)
    for rank, worker, name, n, ns in base.execute(
            """SELECT rank, worker, name, count(*), sum((SELECT value FROM run WHERE name = 'makespan_ns') - start_ns)
               FROM tasks WHERE start_ns IS NOT NULL AND kernel_ns IS NULL GROUP BY rank, worker, name"""):
        want[rank, worker, name + "\n"] = (n, ns * 1e-9)
    got = {key: value for key, value in sums.items() if key[2] != "fetching"}
    assert set(got) == set(want), set(got) ^ set(want)
    for key, (n, seconds) in want.items():
        assert got[key][0] == n and near(got[key][1], seconds, n), (key, got[key], n, seconds)
    fetched = sum(value[1] for key, value in sums.items() if key[2] == "fetching")
    fetch_ns, started = base.execute("SELECT coalesce(sum(fetch_ns), 0), count(*) FROM tasks WHERE start_ns IS NOT NULL").fetchone()
    assert fetched <= fetch_ns * 1e-9 + 1e-9 * (2 * started + 2), (fetched, fetch_ns)

    flows = {}
    for sender, receiver, n, ns, most in base.execute(
            """SELECT sender, receiver, count(*), sum(max(0, received_ns - left_ns)), max(bytes) FROM messages
               WHERE left_ns IS NOT NULL AND received_ns IS NOT NULL GROUP BY sender, receiver"""):
        flows["Message", "rank %d" % sender, "rank %d" % receiver] = (n, ns * 1e-9, most)
    got = {key: (len(found), sum(f[1] - f[0] for f in found), max(int(f[2].split()[0]) for f in found))
           for key, found in links.items() if key[0] == "Message"}
    assert set(got) == set(flows), set(got) ^ set(flows)
    for key, (n, seconds, most) in flows.items():
        assert got[key][0] == n and near(got[key][1], seconds, n) and got[key][2] == most, (key, got[key], flows[key])
    others(states, links, variables, events, base)


def others(states, links, variables, events, base):
    copies = collections.defaultdict(lambda: [0, 0, 0])
    for (kind, source, target), found in links.items():
        if kind == "Copy":
            rank, a = map(int, re.match(r"rank (\d+) memory (\d+)$", source).groups())
            b = int(target.rpartition(" ")[2])
            for first, last, value in found:
                why, size = re.match(r"([a-z-]+): (\d+) bytes$", value).groups()
                row = copies[rank, why, a, b]
                row[0], row[1], row[2] = row[0] + 1, row[1] + int(size), row[2] + last - first
    want = trace_viewers.copies(base)
    assert set(copies) == set(want), (dict(copies), want)
    for key, (n, size, ns) in want.items():
        assert copies[key][:2] == [n, size] and near(copies[key][2], ns * 1e-9, n), (key, copies[key], want[key])
    told = collections.Counter((int(where.split()[1]),) + tuple(text.rpartition(" ")[::2]) for where, text in events)
    want = collections.Counter()
    for (rank, text, number), n in trace_viewers.marks(base).items():
        want[rank, text.replace('"', "'"), str(number)] += n
    trace_viewers.same(told, want, "marks")

    changes = collections.defaultdict(lambda: [0, 0.0])
    for (kind, container, value), found in states.items():
        if kind == "Change":
            row = changes[int(re.match(r"rank (\d+) changes( \(\d+\))?$", container).group(1)), value]
            row[0], row[1] = row[0] + len(found), row[1] + sum(last - first for first, last in found)
    want = trace_viewers.changes(base)
    assert set(changes) == set(want), (dict(changes), want)
    for key, (n, ns) in want.items():
        assert changes[key][0] == n and near(changes[key][1], ns * 1e-9, n), (key, changes[key], want[key])

    called, names = collections.defaultdict(lambda: [0, 0.0]), trace_viewers.workers(base)
    for (kind, container, value), found in states.items():
        if kind == "Callback":
            row = called[trace_viewers.of_callbacks(container, names) + (value,)]
            row[0], row[1] = row[0] + len(found), row[1] + sum(last - first for first, last in found)
    want = trace_viewers.callbacks(base)
    assert set(called) == set(want), (dict(called), want)
    for key, (n, ns) in want.items():
        assert called[key][0] == n and near(called[key][1], ns * 1e-9, n), (key, called[key], want[key])

    # pj_dump has the last value of several at once.
    got = collections.defaultdict(list)
    for container, name, value, since in variables:
        got[int(container.split()[1]), name].append((since, value))
    want = {key: list(dict(series).items()) for key, series in trace_viewers.counters(base).items()}
    assert set(got) == set(want), set(got) ^ set(want)
    for key, series in want.items():
        assert [value for _, value in got[key]] == [value for _, value in series], (key, got[key], series)
        assert all(near(a[0], b[0] * 1e-9, 1) for a, b in zip(got[key], series)), (key, got[key], series)


if __name__ == "__main__":
    compare(*read_dump(sys.argv[1]), sqlite3.connect(sys.argv[2]))
