# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares what commands with names of StarPU's print with the tables of the same trace:
#     starpu_commands.py states DATABASE CSV     of starpu_paje_state_stats
#     starpu_commands.py activity DATABASE CSV   of starpu_workers_activity
#     starpu_commands.py use DATABASE CSV        of starpu_send_recv_data_use.py
#     starpu_commands.py histogram DATABASE TEXT  of starpu_codelet_histo_profile, starpu_paje_draw_histogram
# Invariant: expectations are questions in SQL, not code of the commands.
import collections
import csv
import re
import sqlite3
import sys


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def near(milliseconds, ns, n=1):
    return abs(float(milliseconds or 0) - (ns or 0) * 1e-6) <= 1.1e-6 * n


def states(base, path):
    want = {name: row for name, *row in base.execute("SELECT name, tasks, total_ns, mean_ns, deviation_ns, min_ns, max_ns FROM kernels")}
    files = collections.defaultdict(dict)
    for r in rows_of(path):
        if r["Name"] != "FetchingInput":
            files[r["File"]][r["Name"]] = r
    assert files
    for file, got in files.items():
        assert set(got) == set(want), (file, set(got), set(want))
        for name, (n, *times) in want.items():
            assert int(got[name]["Count"]) == n, (file, name)
            for column, ns in zip(("Duration", "Mean", "Deviation", "Least", "Most"), times):
                assert near(got[name][column], ns, 2 * n), (file, name, column, got[name], ns)


def activity(base, path):
    run = int(dict(base.execute("SELECT name, value FROM run"))["makespan_ns"])
    executing, fetching, whole = (collections.Counter() for _ in range(3))
    for r in rows_of(path):
        place = int(r["Rank"]), int(r["Worker"])
        parts = [float(r[column]) for column in ("Executing", "FetchingInput", "Idle")]
        assert all(part >= 0 for part in parts) and abs(sum(parts) - float(r["Duration"])) < 4e-6, r
        executing[place] += parts[0]
        fetching[place] += parts[1]
        whole[place] += float(r["Duration"])
    want = {row[:2]: row[2:] for row in base.execute("SELECT rank, worker, kernel_ns, fetch_ns FROM workers")}
    assert set(whole) == set(want), (set(whole), set(want))
    for place, (kernel, fetch) in want.items():
        assert near(whole[place], run, 100) and near(executing[place], kernel, 100), (place, executing[place], kernel)
        assert fetching[place] <= fetch * 1e-6 + 1e-4, (place, fetching[place], fetch)


def use(base, path):
    got = sorted((int(r["Src"]), int(r["Dst"]), int(r["Tag"]), int(r["Size"]), r["MadeToSend"], r["RecvToUse"]) for r in rows_of(path))
    waits = """(SELECT process, waiter, waiter_number, cause, cause_number FROM dependencies
        UNION SELECT process, waiter, waiter_number, cause, cause_number FROM follows)"""
    want = sorted(base.execute("""SELECT m.origin, m.receiver, m.tag, m.bytes,
        (SELECT m.left_ns - max(t.end_ns) FROM {0} d JOIN tasks t ON t.process = d.process AND t.task = d.cause_number
            WHERE d.waiter = 'message' AND d.cause = 'task' AND d.process = m.origin_process AND d.waiter_number = m.send_request),
        (SELECT min(t.start_ns) - m.received_ns FROM {0} d JOIN tasks t ON t.process = d.process AND t.task = d.waiter_number
            WHERE d.waiter = 'task' AND d.cause = 'message' AND d.process = m.receiver_process AND d.cause_number = m.receive_request)
        FROM messages m""".format(waits)), key=lambda row: tuple(map(str, row)))
    got.sort(key=lambda row: tuple(map(str, row[:4])) + tuple(float(x or -1) for x in row[4:]))
    want.sort(key=lambda row: tuple(map(str, row[:4])) + tuple(-1 if x is None else x for x in row[4:]))
    assert len(got) == len(want) > 0
    for a, b in zip(got, want):
        assert a[:4] == tuple(b[:4]), (a, b)
        assert all((x == "") == (y is None) and near(x, y) for x, y in zip(a[4:], b[4:])), (a, b)
    assert any(row[4] for row in got) and any(row[5] for row in got), "no message has a task on both sides"


def histogram(base, path):
    """The numbers of the bins of each kernel are its tasks, in as many bins as its times need."""
    want = dict(base.execute("SELECT name, tasks FROM kernels"))
    got, inside, name = collections.Counter(), collections.Counter(), None
    with open(path, encoding="utf-8") as file:
        for line in file:
            head = re.match(r"(?:.*: )?(\S+)(?: on \w+, microseconds)?: (\d+), mean ", line)
            if head:
                name = head.group(1)
                got[name] += int(head.group(2))
            else:
                low, high, n = re.match(r" +([0-9.]+) +([0-9.]+) +(\d+) #*$", line).groups()
                assert float(low) <= float(high), line
                inside[name] += int(n)
    assert got == inside, (got, inside)
    assert {key: n for key, n in got.items() if key != "FetchingInput"} == want, (got, want)


if __name__ == "__main__":
    {"states": states, "activity": activity, "use": use, "histogram": histogram}[sys.argv[1]](sqlite3.connect(sys.argv[2]), *sys.argv[3:])
