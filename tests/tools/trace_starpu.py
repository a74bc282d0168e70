# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares the files that orrery trace --starpu writes with the tables of the same trace:
#     trace_starpu.py DATABASE FOLDER STATS
#     trace_starpu.py iterations TASKS PAJE      of tests/mpi/trace_marks.c
#     trace_starpu.py handles FOLDER...          of examples/cholesky, the same run in several worlds
# tasks.csv, comms.csv and paje.csv of the current folder are what rec2csv and pj_dump made of
# them; those that are not there are not compared.
# Invariant: the names of columns are those that StarVZ reads.
import csv
import os
import re
import sqlite3
import sys

TASKS = {"Control", "JobId", "SubmitOrder", "SubmitTime", "Handles", "MPIRank", "DependsOn", "Tag", "Footprint", "Iteration", "Name",
         "Model", "Priority", "WorkerId", "MemoryNode", "StartTime", "EndTime", "Parameters", "Modes", "Sizes"}
DATA = {"Handle", "HomeNode", "MPIRank", "Size", "Description", "Coordinates", "MPIOwner", "MPITag"}
# Of a state of a worker with all its fields, and of one with none.
STATE = ("Nature", "ResourceId", "Type", "Start", "End", "Duration", "Depth", "Value", "Size", "Params", "Footprint", "Tag", "JobId",
         "SubmitOrder", "GFlop", "X", "Y", "Iteration", "Subiteration")


def ns(text):
    """Nanoseconds of milliseconds, exactly."""
    whole, _, rest = text.partition(".")
    return int(whole) * 10 ** 6 + int(rest.ljust(6, "0"))


def tasks(base):
    with open("tasks.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) <= TASKS, set(rows[0]) - TASKS
    got = sorted((int(r["MPIRank"]), int(r["JobId"].split("_")[1]), r["Name"], int(r["WorkerId"]), ns(r["SubmitTime"]),
                  ns(r["StartTime"]), ns(r["EndTime"])) for r in rows if r["EndTime"])
    want = sorted(base.execute("""SELECT rank, task, name, worker, submit_ns, start_ns, end_ns FROM tasks
        WHERE start_ns IS NOT NULL AND end_ns IS NOT NULL"""))
    assert got == want, "tasks.rec differs"
    by_id = {r["JobId"]: r for r in rows}
    for r in rows:
        assert r["JobId"].startswith(r["MPIRank"] + "_"), r
        for on in r["DependsOn"].split():
            assert ns(by_id[on]["EndTime"]) <= ns(r["StartTime"]), (on, r)
    orders = {}
    for r in rows:
        orders.setdefault(r["MPIRank"], []).append(int(r["SubmitOrder"]))
    assert all(sorted(found) == list(range(1, len(found) + 1)) for found in orders.values()), "SubmitOrder"
    return by_id


def comms(base):
    with open("comms.csv", newline="", encoding="utf-8") as file:
        got = sorted((int(r["Src"]), int(r["Dst"]), int(r["Tag"]), int(r["Size"]), ns(r["SendTime"]), ns(r["RecvTime"]))
                     for r in csv.DictReader(file))
    want = sorted(base.execute("SELECT sender, receiver, tag, bytes, left_ns, received_ns FROM messages"))
    assert got == want, "comms.rec differs"


def data(base):
    with open("data.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) <= DATA, set(rows[0]) - DATA
    assert len({r["Handle"] for r in rows}) == len(rows), "handles are not unique"
    got = sorted(tuple(int(r.get(c) or -1) for c in ("MPIRank", "MPITag", "Size", "HomeNode")) + tuple(r.get(c) or "" for c in ("Description", "Coordinates"))
                 for r in rows)
    want = sorted(base.execute("SELECT rank, coalesce(tag, -1), bytes, node, coalesce(name, ''), coalesce(coordinates, '') FROM data"))
    assert got == want, "data.rec differs"


def states(base):
    found = []
    with open("paje.csv", encoding="utf-8") as file:
        for line in file:
            word = [w.strip() for w in line.split(",")]
            if word[0] == "State" and len(word) == len(STATE):
                row = dict(zip(STATE, word))
                assert row["Type"] == "Worker State" and row["ResourceId"].startswith(row["JobId"].split("_")[0] + "_"), row
                found.append((tuple(map(int, row["JobId"].split("_"))), row["Value"], float(row["Duration"]) * 1e6))
            elif word[0] == "State":
                assert len(word) == 8 and word[7] == "FetchingInput", line
    found.sort()
    want = sorted(((rank, task), name, length) for rank, task, name, length in
                  base.execute("SELECT rank, task, name, kernel_ns FROM tasks WHERE kernel_ns IS NOT NULL"))
    assert [f[:2] for f in found] == [w[:2] for w in want], "kernels of paje.trace differ"
    assert all(abs(f[2] - w[2]) < 2 for f, w in zip(found, want)), "times of paje.trace differ"


def dag(base, path, by_id):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    nodes = set(re.findall(r'^\t"task_(\w+)" \[', text, re.M))
    edges = re.findall(r'^\t"task_(\w+)"->"task_(\w+)"$', text, re.M)
    assert nodes == {"%d_%d" % row for row in base.execute("SELECT rank, task FROM tasks")}
    assert all(a in nodes and b in nodes for a, b in edges)
    local = base.execute("""SELECT count(DISTINCT rank || ' ' || waiter_number || ' ' || cause_number) FROM dependencies
        WHERE waiter = 'task' AND cause = 'task'""").fetchone()[0]
    assert sum(a.split("_")[0] == b.split("_")[0] for a, b in edges) >= local > 0, local
    waits = base.execute("SELECT count(*) FROM tasks WHERE cause = 'message'").fetchone()[0]
    if waits:
        assert any(a.split("_")[0] != b.split("_")[0] for a, b in edges), "no edge between ranks"
    if by_id:
        assert sorted(edges) == sorted((on, r["JobId"]) for r in by_id.values() for on in r["DependsOn"].split())


def stats(base, path):
    with open(path, newline="", encoding="utf-8") as file:
        got = {r["Name"]: (int(r["Count"]), ns(r["Duration"])) for r in csv.DictReader(file) if r["Type"] == "Task"}
    assert got == {name: (n, total) for name, n, total in base.execute("SELECT name, tasks, total_ns FROM kernels")}, got


def iterations(path, paje):
    """The priority of a task is the number of its iteration; every other one has another iteration, 10 more, within it."""
    with open(path, encoding="utf-8") as file:
        records = [dict(line.split(": ", 1) for line in text.splitlines()) for text in file.read().split("\n\n") if text]
    marked = [r for r in records if r["Name"] == "marked"]
    assert len(marked) == 12 and all(r["Iteration"] == r["Priority"] for r in marked), marked
    assert all("Iteration" not in r for r in records if r["Name"] == "outside") and len(records) == 14, records
    with open(paje, encoding="utf-8") as file:
        fields = {m.group(1): m.group(2, 3) for m in re.finditer(
            r'^14 .*"(\d+_\d+)" "\d+" "x" "x" "x" "(\w+)" "(\w+)"$', file.read(), re.M)}
    for r in records:
        inner = str(10 + int(r["Priority"])) if r["Name"] == "marked" and int(r["SubmitOrder"]) % 2 == 0 else "x"
        assert fields[r["JobId"]] == (r.get("Iteration", "x"), inner), (r, fields[r["JobId"]])


# The data of the tasks of examples/cholesky, by mode.
CHOLESKY = {"init": ["W"], "potrf": ["RW"], "trsm": ["R", "RW"], "syrk": ["R", "RW"], "gemm": ["R", "R", "RW"]}


def records(path):
    with open(path, encoding="utf-8") as file:
        return [dict(line.split(": ", 1) for line in text.splitlines()) for text in file.read().split("\n\n") if text]


def handles(folder):
    """{(rank, order of submission): (name, what it uses: the coordinates or the tag of the data)}"""
    known, found = {r["Handle"]: r for r in records(os.path.join(folder, "data.rec"))}, {}
    writers = {}
    for r in records(os.path.join(folder, "tasks.rec")):
        names, modes, sizes = (r[field].split() for field in ("Handles", "Modes", "Sizes"))
        assert modes == CHOLESKY[r["Name"]], r
        assert all(known[name]["Size"] == size for name, size in zip(names, sizes)) and len(names) == len(sizes) == len(modes), r
        assert known[names[-1]]["MPIRank"] == r["MPIRank"], "a task writes the datum of another rank: %s" % r
        writers.setdefault(names[-1], []).append(r)
        found[r["MPIRank"], r["SubmitOrder"]] = (r["Name"], modes, [known[name]["MPITag"] for name in names])
    # Each tile is written last by the task that makes its part of the result, which all before it have ended for.
    for rows in writers.values():
        rows.sort(key=lambda r: int(r["SubmitOrder"]))
        assert rows[-1]["Name"] in ("potrf", "trsm") and all(r["Name"] in ("init", "gemm", "syrk") for r in rows[:-1]), rows
        assert all(ns(a["EndTime"]) <= ns(b["StartTime"]) for a, b in zip(rows, rows[1:])), rows
    assert len(writers) == len(known), (len(writers), len(known))
    return found


def same_handles(folders):
    worlds = [handles(folder) for folder in folders]
    assert all(world == worlds[0] for world in worlds), "the worlds differ"
    print("%d tasks, the same in %d worlds" % (len(worlds[0]), len(worlds)))


if __name__ == "__main__":
    if sys.argv[1] == "handles":
        same_handles(sys.argv[2:])
        sys.exit()
    if sys.argv[1] == "iterations":
        iterations(*sys.argv[2:])
        sys.exit()
    database, known = sqlite3.connect(sys.argv[1]), None
    if os.path.exists("tasks.csv"):
        known = tasks(database)
        comms(database)
        data(database)
    if os.path.exists("paje.csv"):
        states(database)
    dag(database, os.path.join(sys.argv[2], "dag.dot"), known)
    stats(database, sys.argv[3])
