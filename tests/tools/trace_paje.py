# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares what pj_dump prints of a Paje file with the tables of the same trace:
#     trace_paje.py DUMP DATABASE
# Invariant: both sides are read from what the tools wrote; times agree to a nanosecond each.
import collections
import sqlite3
import sys


def read_dump(path):
    states, links, variables, events = collections.defaultdict(list), collections.defaultdict(list), [], 0
    with open(path, encoding="utf-8") as dump:
        for line in dump:
            word = [w.strip() for w in line.split(",")]
            if word[0] == "State":      # container, type, start, end, duration, imbrication, value
                assert float(word[6]) == 0, line
                states[word[1], ",".join(word[7:])].append((float(word[3]), float(word[4])))
            elif word[0] == "Link":     # container, type, start, end, duration, value, from, to
                links[word[2], word[7], word[8]].append((float(word[3]), float(word[4]), word[6]))
            elif word[0] == "Variable":
                variables.append((word[1], word[2], float(word[6])))
            elif word[0] == "Event":
                events += 1
    return states, links, variables, events


def near(a, b, n):
    return abs(a - b) <= 1e-9 * (2 * n + 2)


def compare(states, links, variables, events, base):
    """Workers of the dump: "rank R NAME", with a number in brackets where a worker has several lanes."""
    names = {}
    for rank, worker, name in base.execute("SELECT rank, worker, name FROM workers"):
        names["rank %d %s" % (rank, name or "worker %d" % worker)] = (rank, worker)
    sums = collections.defaultdict(lambda: [0, 0.0])
    for (container, value), found in states.items():
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
    copies = base.execute("SELECT count(end_ns) FROM copies").fetchone()[0]
    assert sum(len(found) for key, found in links.items() if key[0] == "Copy") == copies, copies
    assert events == base.execute("SELECT count(*) FROM marks").fetchone()[0], events

    # The largest value of each counter, by a sweep in SQL.
    for name, since, until in (("tasks submitted and not over", "submit_ns", "done_ns"), ("tasks ready and not started", "ready_ns", "start_ns")):
        want = dict(base.execute("""SELECT 'rank ' || rank, max(now) FROM (SELECT rank, sum(step) OVER (PARTITION BY rank ORDER BY at) AS now
            FROM (SELECT rank, {0} AS at, 1 AS step FROM tasks WHERE {0} IS NOT NULL UNION ALL
                  SELECT rank, max({0}, {1}), -1 FROM tasks WHERE {0} IS NOT NULL AND {1} IS NOT NULL)) GROUP BY rank""".format(since, until)))
        most = collections.defaultdict(float)
        for container, which, value in variables:
            if which == name:
                most[container] = max(most[container], value)
        assert dict(most) == want, (name, dict(most), want)


if __name__ == "__main__":
    compare(*read_dump(sys.argv[1]), sqlite3.connect(sys.argv[2]))
