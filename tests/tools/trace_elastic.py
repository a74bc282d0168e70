# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks for tests/tools/trace_elastic.sh: that a form of a trace has all that its text form has.
#     trace_elastic.py tables INFO TEXT FOLDER DATABASE PROCESSES SIZES
#     trace_elastic.py paje|starpu|perfetto|otf2|report TEXT FILE
#     trace_elastic.py explained INFO TEXT ONE BOTH
#     trace_elastic.py rank FOLDER SOME RANK
#     trace_elastic.py sizes TEXT DATABASE SIZE...
#     trace_elastic.py saved DATABASE FIRST LAST RESTORED
# Invariant: numbers are made from the text form, not by the code that makes tables of events.
import base64
import collections
import csv
import json
import os
import re
import sqlite3
import sys


def text(path):
    """How many events of each kind; of kernels, those of each name, and their nanoseconds."""
    counts, kernels, ns, since = collections.Counter(), collections.Counter(), 0, 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line[0] != "#":
                time, _, _, kind, rest = (line.rstrip("\n") + " ").split(" ", 4)
                counts[kind] += 1
                since += {"start": -1, "end": 1}.get(kind, 0) * int(time.replace(".", ""))
                if kind == "end":
                    kernels[rest.split(" ")[1]] += 1
                ns = since
    assert counts["start"] == counts["end"] == counts["done"] and counts["send"] == counts["recv"] and counts["send"], counts
    return counts, kernels, ns


def is_same(found, wanted, what):
    assert found == wanted, "%s: %s, not %s" % (what, found, wanted)
    print("%s: %s" % (what, found))


def rows(folder, table):
    with open(os.path.join(folder, table + ".csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def tables(info, words, folder, database, processes, eras):
    (counts, kernels, ns), base = text(words), sqlite3.connect(database)
    tasks, messages, requests = counts["done"], counts["recv"], counts["post"]

    def one(select):
        return base.execute(select).fetchone()[0]
    is_same([len(rows(folder, t)) for t in ("tasks", "messages", "requests")], [tasks, messages, requests], "rows of CSV files")
    whole = "submit_ns IS NOT NULL AND ready_ns IS NOT NULL AND start_ns IS NOT NULL AND end_ns >= start_ns AND done_ns IS NOT NULL"
    is_same(one("SELECT count(*) FROM tasks WHERE " + whole), tasks, "tasks with all of their times")
    is_same(one("SELECT sum(kernel_ns) FROM tasks"), ns, "nanoseconds in kernels")
    is_same(dict(base.execute("SELECT name, tasks FROM kernels")), dict(kernels), "kernels")
    is_same(one("SELECT count(*) FROM messages WHERE left_ns IS NOT NULL AND received_ns IS NOT NULL AND arrived_ns IS NOT NULL AND matched_ns "
                "IS NOT NULL AND sender = origin"), messages, "messages with all of their times")
    # (In the real world, a receiver may note a message before its sender does.)
    is_same(one("SELECT count(*) FROM messages WHERE received_ns < left_ns AND (SELECT value FROM run WHERE name = 'simulated')"), 0, "wrong ones")
    is_same(one("SELECT count(*) FROM requests WHERE post_ns IS NOT NULL AND grant_ns IS NOT NULL AND done_ns IS NOT NULL"), requests, "complete requests")
    is_same(one("SELECT count(*) FROM (SELECT DISTINCT process, task FROM tasks)"), tasks, "names of tasks")
    is_same(one("SELECT count(*) FROM (SELECT DISTINCT era, origin, receiver, number FROM messages)"), messages, "names of messages")
    # Both ends of a message are requests of their ranks, at that time.
    for end, request, kind in (("origin", "send_request", "send"), ("receiver", "receive_request", "receive")):
        is_same(one("SELECT count(*) FROM messages m JOIN requests r ON r.process = m.%s_process AND r.request = m.%s WHERE r.rank = m.%s "
                    "AND r.kind = '%s' AND r.tag = m.tag" % (end, request, end, kind)), messages, kind + "s of messages")
    is_same(one("SELECT sum(tasks) FROM ranks"), tasks, "tasks of ranks")
    is_same([one("SELECT sum(%s) FROM ranks" % c) for c in ("sent", "received")], [messages, messages], "messages of ranks")
    is_same([one("SELECT sum(tasks) FROM workers"), one("SELECT sum(kernel_ns) FROM workers")], [tasks, ns], "tasks of workers")
    is_same(one("SELECT count(DISTINCT process) FROM workers"), int(processes), "processes")
    is_same(one("SELECT max(era) + 1 FROM messages"), int(eras), "sizes of the run")
    is_same(one("SELECT count(*) FROM dependencies"), one("SELECT count(*) FROM dependencies d JOIN tasks t ON t.process = d.process AND "
                "t.task = d.cause_number AND d.cause = 'task' AND t.rank = d.rank AND t.end_ns <= d.at_ns")
            + one("SELECT count(*) FROM dependencies d JOIN requests r ON r.process = d.process AND r.request = d.cause_number AND "
                  "d.cause = 'message' AND r.rank = d.rank"), "waits with a cause")
    with open(info, encoding="utf-8") as file:
        said = dict(line.split()[:2] for line in file if len(line.split()) > 1)
    is_same(int(said["workers"]), one("SELECT count(*) FROM (SELECT DISTINCT process, worker FROM workers)"), "workers")
    is_same(int(said["ranks"]), one("SELECT count(*) FROM ranks"), "ranks")


def paje(words, path):
    counts, kernels, _ = text(words)
    links, states, values = collections.defaultdict(list), collections.Counter(), {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.split(" ")
            if fields[0] == "5":
                values[fields[1]] = line.split('"')[1]
            elif fields[0] == "14":
                states[values[fields[4]]] += 1
            elif fields[0] in ("11", "12") and fields[2] == "Message":
                links[fields[-1].strip()].append(fields[0])
    is_same(dict(states), dict(kernels), "kernels")
    is_same(len(links), counts["recv"], "messages")
    assert all(ends == ["11", "12"] for ends in links.values()), "a link without one begin and one end"


def starpu(words, folder):
    counts, _, _ = text(words)
    with open(os.path.join(folder, "tasks.rec"), encoding="utf-8") as file:
        tasks = [dict(line.split(": ", 1) for line in record.splitlines()) for record in file.read().split("\n\n") if record]
    names = {t["JobId"] for t in tasks}
    is_same([len(tasks), len(names), sum("EndTime" in t for t in tasks)], [counts["done"]] * 3, "tasks")
    assert all(on in names for t in tasks for on in t.get("DependsOn", "").split()), "a task waits for one that is not there"
    with open(os.path.join(folder, "comms.rec"), encoding="utf-8") as file:
        records = file.read().split("\n\n")
    is_same(sum("\nSendTime: " in r and "\nRecvTime: " in r for r in records), counts["recv"], "messages")
    with open(os.path.join(folder, "dag.dot"), encoding="utf-8") as file:
        is_same(file.read().count("[label="), counts["done"], "nodes")


def perfetto(words, path):
    counts, kernels, _ = text(words)
    with open(path, encoding="utf-8") as file:
        decoded = file.read()
    is_same([len(re.findall(r"^ *%s: " % name, decoded, re.M)) for name in ("flow_ids", "terminating_flow_ids")], [counts["recv"]] * 2, "messages")
    names = dict(re.findall(r"event_names \{\s+iid: (\d+)\s+name: \"([^\"]*)\"", decoded))
    begun = collections.Counter(names[iid] for iid in re.findall(r"type: TYPE_SLICE_BEGIN(?:\n(?!\s*\}\s*$).*)*?\n\s+name_iid: (\d+)", decoded, re.M))
    is_same({name: begun[name] for name in kernels}, dict(kernels), "kernels")


def otf2(words, path):
    counts, _, _ = text(words)
    with open(path, encoding="utf-8") as file:
        found = collections.Counter(line.split(" ", 1)[0] for line in file)
    is_same([found["MPI_SEND"], found["MPI_RECV"]], [counts["recv"]] * 2, "messages")
    assert found["ENTER"] == found["LEAVE"] >= counts["done"], found


def explained(info, words, one, both):
    counts, _, ns = text(words)
    with open(info, encoding="utf-8") as file:
        workers = int(re.search(r"^workers +(\d+)$", file.read(), re.M).group(1))
    with open(one, encoding="utf-8") as file:
        found = json.load(file)
    with open(both, encoding="utf-8") as file:
        sides = json.load(file)
    for side in (found, sides["a"], sides["b"]):
        is_same([side["tasks"], side["messages"], side["workers"]], [counts["done"], counts["recv"], workers], "explained")
    assert sum(r["a_kernel_seconds"] for r in sides["ranks"]) == sum(r["b_kernel_seconds"] for r in sides["ranks"])
    assert abs(sum(r["a_kernel_seconds"] for r in sides["ranks"]) - ns * 1e-9) < 1e-6
    shares = collections.Counter()
    for part in found["path"]:
        shares[part["kind"]] += part["seconds"] / found["makespan_seconds"]
    assert shares["unknown"] < 1e-6 and shares["resize"] > 0 and abs(sum(shares.values()) - 1) < 1e-6, shares
    print("the path:", dict(shares))


def report(words, path):
    counts, kernels, _ = text(words)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    run = json.loads(re.search(r'<script type="application/json" id="meta">(.*?)</script>', page, re.S).group(1))["runs"][0]
    is_same({k["name"]: [k["started"], k["ended"]] for k in run["kernels"]}, {name: [n, n] for name, n in kernels.items()}, "kernels")
    is_same([run["matrix"]["messages"], run["explanation"]["messages"]], [counts["recv"]] * 2, "messages")
    is_same(run["explanation"]["tasks"], counts["done"], "tasks")
    assert base64.b64decode(re.search(r'id="data-0">([^<]*)<', page).group(1))


def rank(folder, some, number):
    for table in ("tasks", "requests"):
        is_same(len(rows(some, table)), sum(r["rank"] == number for r in rows(folder, table)), table + " of rank " + number)


def sizes(words, database, *all_sizes):
    """What the processes say of changes of the size: all that stay or leave do, and those that are new join."""
    with open(words, encoding="utf-8") as file:
        told = [line.split()[4:] for line in file if " change " in line]
    base, wanted, steps = sqlite3.connect(database), collections.Counter(), list(zip(map(int, all_sizes), map(int, all_sizes[1:])))

    def all_of(select):
        return base.execute(select).fetchall()
    for before, after in steps:
        wanted[before, after] += min(before, after)
        if after < before:
            wanted[before, 0] += before - after
    is_same(collections.Counter((int(t[3]), int(t[4])) for t in told if t[0] == "resize"), wanted, "changes of the size")
    is_same(collections.Counter(all_of("SELECT before, after FROM changes WHERE what = 'resize' AND end_ns > start_ns")), wanted, "changes with a length")
    is_same(all_of("SELECT count(*) FROM changes WHERE what = 'use'")[0][0], sum(t[0] == "use" for t in told), "moves of data")
    join, leave = (all_of("SELECT process, start_ns, end_ns FROM changes WHERE what = '%s'" % what) for what in ("join", "leave"))
    is_same([len(join), len(leave)], [sum(max(0, a - b) for b, a in steps), sum(max(0, b - a) for b, a in steps)], "processes that join, and leave")
    first, last = (dict(all_of("SELECT process, %s FROM tasks GROUP BY process" % what)) for what in ("min(submit_ns)", "max(done_ns)"))
    assert all(start < end <= first.get(process, end) for process, start, end in join), (join, first)
    assert all(end >= last.get(process, end) for process, _, end in leave), (leave, last)


def saved(database, first, last, restored):
    base = sqlite3.connect(database)
    found = base.execute("SELECT number, saved_bytes, sent_bytes, count(DISTINCT rank), count(*), min(end_ns > start_ns) FROM changes "
                         "WHERE what = 'checkpoint' GROUP BY number, saved_bytes, sent_bytes ORDER BY number").fetchall()
    # A vector of 1000 integers and two values of each rank, and of that whose backup it is.
    is_same(found, [(number, 8016, 4008, 3, 3, 1) for number in range(int(first), int(last) + 1)], "checkpoints")
    found = base.execute("SELECT number, saved_bytes, count(*) FROM changes WHERE what = 'restore' GROUP BY number, saved_bytes").fetchall()
    is_same(found, [(int(restored), 8016, 3)] if int(restored) else [], "ranks that go on")
    assert not base.execute("SELECT * FROM changes WHERE what NOT IN ('checkpoint', 'restore')").fetchall()


if __name__ == "__main__":
    {"tables": tables, "paje": paje, "starpu": starpu, "perfetto": perfetto, "otf2": otf2, "explained": explained, "report": report,
     "rank": rank, "sizes": sizes, "saved": saved}[sys.argv[1]](*sys.argv[2:])
