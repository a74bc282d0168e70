# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks for tests/tools/trace_tables.sh:
#     trace_tables.py SOURCE same DATABASE FOLDER         the manual, the database and the CSV files agree
#     trace_tables.py SOURCE sums DATABASE TEXT [TASKS [MESSAGES [EDGES]]]   with the events of the text form
#     trace_tables.py SOURCE answers DATABASE N           the manual has N questions, each has an answer
#     trace_tables.py SOURCE rows DATABASE SELECT ROW     the SELECT gives that one row
# Invariant: sums are made from the text form, not by the code that fills the tables.
import collections
import csv
import os
import re
import sqlite3
import sys

MANUAL = "doc/trace-tables.md"


def described(manual):
    """{table: [(column, type, meaning)]} of the manual."""
    found, table = {}, None
    for line in manual.splitlines():
        if line.startswith("### "):
            table = line[4:]
            found[table] = []
        elif line.startswith("## "):
            table = None
        match = re.match(r"\| `(\w+)` \| (\w+) \| (.*) \|$", line)
        if table and match:
            found[table].append(match.groups())
    return found


def same(manual, base, folder):
    told = described(manual)
    names = {row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} - {"columns"}
    assert names == set(told) == {name[:-4] for name in os.listdir(folder)}, (names, set(told), os.listdir(folder))
    for table, columns in told.items():
        have = [(row[1], row[2]) for row in base.execute("PRAGMA table_info(%s)" % table)]
        assert have == [c[:2] for c in columns], (table, have, columns)
        meanings = base.execute('SELECT "column", meaning FROM columns WHERE "table" = ?', (table,)).fetchall()
        assert meanings == [(c[0], c[2]) for c in columns], (table, meanings)
        with open(os.path.join(folder, table + ".csv"), newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
        assert lines[0] == [c[0] for c in columns], (table, lines[0])
        rows = [["" if v is None else str(v) for v in row] for row in base.execute("SELECT * FROM %s ORDER BY rowid" % table)]
        assert lines[1:] == rows, "the rows of %s differ" % table


def one(base, select):
    return base.execute(select).fetchone()


def events_of(text):
    """(ns, rank, worker, kind, rest) of each line."""
    with open(text, encoding="utf-8") as file:
        for line in file:
            if line[0] == "#":
                continue
            time, rank, worker, kind, rest = (line.rstrip("\n") + " ").split(" ", 4)
            yield int(time.replace(".", "")), int(rank), int(worker), kind, rest.split()


def sums(_manual, base, text, tasks=None, messages=None, edges=None):
    counts, started, kernels, by_rank = collections.Counter(), {}, collections.Counter(), collections.Counter()
    sent, received, steps, first, last = collections.Counter(), collections.Counter(), set(), None, None
    for ns, rank, worker, kind, rest in events_of(text):
        counts[kind] += 1
        if kind not in ("engine", "after", "waited", "change", "memory", "held", "callback", "link", "datum", "uses"):    # no steps of the run
            first, last = ns if first is None else first, ns
        if kind == "start":
            started[rank, rest[0]] = (ns, " ".join(rest[1:]), worker)
        elif kind == "end" and (rank, rest[0]) in started:
            since, name, worker = started[rank, rest[0]]
            kernels[name] += ns - since
            by_rank[rank] += ns - since
        elif kind == "send":
            sent[rank, int(rest[0])] += int(rest[2])
        elif kind == "recv":
            received[rank] += int(rest[2])
        if kind in ("submit", "ready", "start", "end", "done"):
            steps.add((rank, rest[0]))
    assert one(base, "SELECT count(*) FROM tasks")[0] == len(steps), len(steps)
    for column, kind in (("submit_ns", "submit"), ("ready_ns", "ready"), ("start_ns", "start"), ("end_ns", "end"), ("done_ns", "done")):
        assert one(base, "SELECT count(%s) FROM tasks" % column)[0] == counts[kind], (column, counts[kind])
    assert dict(base.execute("SELECT name, total_ns FROM kernels")) == dict(kernels), kernels
    assert dict(base.execute("SELECT rank, kernel_ns FROM ranks WHERE kernel_ns > 0")) == dict(by_rank), by_rank
    assert one(base, "SELECT coalesce(sum(kernel_ns), 0) FROM workers")[0] == sum(by_rank.values())
    flows = {(a, b): n for a, b, n in base.execute(
        "SELECT sender, receiver, sum(bytes) FROM messages WHERE left_ns IS NOT NULL GROUP BY sender, receiver")}
    assert flows == dict(sent), (flows, sent)
    assert one(base, "SELECT count(left_ns) FROM messages")[0] == counts["send"], counts["send"]
    assert one(base, "SELECT coalesce(sum(received), 0) FROM ranks")[0] == one(base, "SELECT count(received_ns) FROM messages")[0]
    done = one(base, "SELECT count(done_ns) FROM requests WHERE kind = 'receive'")[0]
    assert done == counts["recv"], (done, counts["recv"])
    if first is not None:
        assert one(base, "SELECT value FROM run WHERE name = 'makespan_ns'")[0] == str(last - first), last - first
    for n, kind in ((tasks, "start"), (messages, "send")):
        assert n is None or int(n) == counts[kind], (kind, counts)
    if edges is not None:
        chain = one(base, "SELECT count(*) FROM dependencies WHERE waiter = 'task' AND cause = 'task'")[0]
        assert chain + one(base, "SELECT count(*) FROM dependencies WHERE waiter = 'task' AND cause = 'message'")[0] >= int(edges), chain
    wrong = one(base, """SELECT count(*) FROM dependencies d JOIN tasks t ON t.rank = d.rank AND t.task = d.cause_number
        WHERE d.cause = 'task' AND t.end_ns > d.at_ns""")[0]
    assert not wrong, "%d waits were over before their causes" % wrong


def answers(manual, base, number):
    questions = re.findall(r"```sql\n(.*?)```", manual, re.S)
    assert len(questions) == int(number), len(questions)
    for question in questions:
        assert question.count(";") == 1, question
        try:
            rows = base.execute(question).fetchall()
        except sqlite3.Error as error:
            sys.exit("%s\n%s" % (error, question))
        # Few policies ask models, not every program has memory that is counted, and workers need not wait.
        may_be_empty = any(words in question for words in ("matched_ns > arrived_ns", "FROM models", "FROM memory", "FROM gaps"))
        assert rows or may_be_empty, "no answer to: %s" % question
        assert not rows or any(v is not None for row in rows for v in row), question


def rows_are(_manual, base, select, row):
    got = [" ".join(map(str, r)) for r in base.execute(select)]
    assert got == [row], got


if __name__ == "__main__":
    source, what, database = sys.argv[1:4]
    with open(os.path.join(source, MANUAL), encoding="utf-8") as file:
        manual_text = file.read()
    {"same": same, "sums": sums, "answers": answers, "rows": rows_are}[what](manual_text, sqlite3.connect(database), *sys.argv[4:])
