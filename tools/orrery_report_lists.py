# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Requests, progression threads, ready tasks and memories over time, as the page of `orrery
# report` draws them: for each rank and stretch of time, how long each list was, what the
# thread did, how many tasks waited for a worker, how much memory was in use.
# Invariant: a value is a mean over its stretch, in hundredths of its unit, rounded once;
# the totals beside them are exact.
import numpy as np

import orrery_memories
from orrery_columns import NEVER
from orrery_lists import LISTS
from orrery_report_data import coverage, take
from orrery_tracefile import GUEST, TURNS

MOST_VALUES = 1200000
MOST_MEMORIES = 8
BINS = 8, 240     # least and most stretches of time
THREAD = {"messages": "messages", "callbacks": "callbacks of the program", "tasks": "tasks that it executed itself", "asleep": "asleep"}


def stays(columns):
    """{list: (ranks, since, until)}, as orrery_lists.stays."""
    r, m = columns.requests, columns.messages
    receive, last = r.receive != 0, columns.last
    match = take(m.match, r.message, NEVER)
    route = np.full(r.n, NEVER)
    e = columns.events["route"]
    route[r.rows(columns.key(e.process, e.b & np.uint64(0xFFFFFFFF)))] = e.ns
    left = np.where(r.send != NEVER, r.send, route)
    granted, matched = r.grant != NEVER, match != NEVER
    waits = ~matched | (match > r.grant)
    flown = np.where(receive, np.where(granted & ~waits, r.grant, np.where(granted, match, NEVER)), left)
    parts = {"fetching": (r.rank, r.post, r.grant, r.post != NEVER),
             "ready": (r.rank, r.grant, left, ~receive & granted),
             "posted": (r.rank, r.grant, match, receive & granted & waits),
             "flying": (r.rank, flown, np.where(receive, r.recv, r.sent), flown != NEVER),
             "early": (m.receiver, m.envelope, m.match, (m.envelope != NEVER) & ((m.match == NEVER) | (m.match > m.envelope)))}
    return {name: (rank[which], since[which] - columns.first, np.where(until == NEVER, last, until)[which] - columns.first)
            for name, (rank, since, until, which) in parts.items()}


def turns(columns):
    """{what: (ranks, start, end)} of progression threads; callbacks come at the end of their turn."""
    e, first, span = columns.turns, columns.first, columns.last - columns.first
    own = e.flags & GUEST == 0
    is_a = {name: own & (e.a == number) for number, name in TURNS.items()}
    rank, start, end = columns.rank_at(e.process, e.ns), e.ns - first, e.ns - first + e.b.astype(np.int64)
    called = end - np.minimum(e.d.astype(np.int64), end - start)
    parts = {"messages": (start, called, is_a["messages"]), "callbacks": (called, end, is_a["messages"]),
             "tasks": (start, end, is_a["tasks"]), "asleep": (start, end, is_a["asleep"])}
    return {name: (rank[which], np.clip(a[which], 0, span), np.clip(b[which], 0, span)) for name, (a, b, which) in parts.items()}


def ready(columns):
    """(ranks, since, until) of tasks that were ready and that no worker had started."""
    t = columns.tasks
    some = (t.ready != NEVER) & ((t.start != NEVER) | (columns.trace.windows is None))
    since, until = t.ready[some] - columns.first, np.where(t.start == NEVER, columns.last, t.start)[some] - columns.first
    return t.rank[some], since, np.maximum(since, until)


def memories(columns):
    """{node: (ranks, since, until, bytes in use but those kept for reuse)}"""
    m, span, found = columns.memory, columns.last - columns.first, {}
    rank, node, used = columns.rank_at(m.process.astype(np.int64), m.ns), m.a.astype(np.int64), (m.b - np.minimum(m.b, m.c)).astype(np.float64)
    order = np.lexsort((m.place, m.ns, node, m.process))
    at = np.clip(m.ns - columns.first, 0, span)[order]
    until = np.full(len(at), span)
    same = (m.process[order][1:] == m.process[order][:-1]) & (node[order][1:] == node[order][:-1])
    until[:-1][same] = at[1:][same]
    for number in np.unique(node)[:MOST_MEMORIES].tolist():
        some = node[order] == number
        found[number] = rank[order][some], at[some], until[some], used[order][some]
    return found


def put(columns, pack):
    """What the page says of them; the array `lists` has the values by series, rank and stretch."""
    ranks, span = columns.ranks, max(1, columns.last - columns.first)
    series = [(name, meaning, "requests", rows) for (name, meaning), rows in zip(LISTS.items(), stays(columns).values())]
    series += [(name, "progression thread: " + THREAD[name], "%", rows) for name, rows in turns(columns).items() if len(rows[0])]
    series.append(("ready tasks", "no worker has started them", "tasks", ready(columns)))
    known = orrery_memories.names(columns.trace)
    series += [(known.get(node, "main memory" if not node else "memory %d" % node), "in use", "MB", rows) for node, rows in memories(columns).items()]
    bins = int(min(BINS[1], max(BINS[0], MOST_VALUES // (len(series) * ranks))))
    width = -(-span // bins)
    values, about = [], []
    for name, meaning, unit, (rank, since, until, *weight) in series:
        table = coverage(rank, ranks, since, until, bins, width, *[used * 1e-6 for used in weight])
        values.append(np.rint(table * ((1e4 if unit == "%" else 1e2) / width)).astype(np.int64).ravel())
        about.append({"name": name, "words": meaning, "unit": unit, "stays": len(rank), "ns": int((until - since).sum())})
    pack.unsigned("lists", np.concatenate(values))
    return {"series": about, "bins": bins, "width_ns": width, "ranks": ranks}
