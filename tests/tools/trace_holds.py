# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Causes that held messages back, as a trace says it, against the steps of the messages themselves.
#     trace_holds.py TOOLS TRACE LIMIT CAUSE...   these causes are there, and no other ones; LIMIT: on sends under way, 0: none
# Invariant: sends under way are counted here anew.
import collections
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_holds  # noqa: E402
from orrery_critical import Run  # noqa: E402
from orrery_tables import TABLES, Tables  # noqa: E402
from orrery_tracefile import Trace  # noqa: E402

SHARE = 0.9     # of a wait that a limit must explain in a simulation, where little else takes time
LONG_NS = 50000


def check(right, *words):
    if not right:
        sys.exit("FAIL: %s" % (words,))


def rows(tables, name):
    names = [column for column, _, _ in TABLES[name]]
    return [dict(zip(names, row)) for row in tables.rows(name)]


def under_way(requests, limit, holds):
    """While the limit holds sends, so many are under way."""
    for h in holds:
        if h["cause"] != "number":
            continue
        at = sorted({min(max(ns, h["since_ns"]), h["until_ns"]) for r in requests for ns in (r.send, r.sent) if ns is not None}
                    | {h["since_ns"], h["until_ns"]})
        good = total = 0
        for a, b in zip(at, at[1:]):
            n = sum(1 for r in requests if r.rank == h["rank"] and not r.receive and r.send is not None
                    and r.send <= a and (r.sent is None or r.sent >= b))
            total += b - a
            good += b - a if n >= limit else 0
        check(good >= SHARE * total, "held, and fewer are under way", h, good, total)


def main(path, limit, *causes):
    trace = Trace(path)
    tables, run = Tables(trace), Run(trace)
    holds, first = rows(tables, "holds"), run.first
    check({h["cause"] for h in holds} == set(causes), "causes", collections.Counter(h["cause"] for h in holds), causes)
    check(all(h["until_ns"] is not None and h["since_ns"] <= h["until_ns"] for h in holds), "a hold that did not end")
    sends = {r.key: r for r in run.requests.values() if not r.receive}
    messages = {(m["origin"], m["receiver_process"], m["number"]): m for m in rows(tables, "messages")}
    for h in holds:
        if h["cause"] in ("others", "value", "announced"):
            r = sends[h["process"], h["request"]]
            left = r.send if r.send is not None else r.route
            check(r.peer == h["peer"] and r.grant - first <= h["since_ns"] and h["until_ns"] <= left - first, "a send", h, r.grant, left)
        elif h["cause"] in orrery_holds.OF_MESSAGES:
            m = messages[h["peer"], h["process"], h["message"]]
            check(h["until_ns"] == m["arrived_ns"] if h["cause"] == "order" else m["arrived_ns"] <= h["since_ns"] and not m["eager"], "a message", h, m)
        else:
            check(h["request"] is None and h["message"] is None and h["peer"] is None, "of all", h)
    explained = 0
    for row in rows(tables, "requests"):
        r = run.requests[row["process"], row["request"]]
        left = r.send if r.send is not None else r.route
        if r.receive or left is None:
            check(row["held_by"] is None, "a receive is held", row)
            continue
        check(0 <= row["held_ns"] <= left - r.grant and (row["held_by"] in causes if row["held_ns"] else row["held_by"] is None), "held", row)
        if trace.simulated and int(limit) and left - r.grant > LONG_NS:
            check(row["held_ns"] >= SHARE * (left - r.grant), "a wait that nothing explains", row, left - r.grant)
            explained += 1
    if trace.simulated and int(limit):
        under_way([run.requests[key] for key in sends], int(limit), [dict(h, since_ns=h["since_ns"] + first, until_ns=h["until_ns"] + first) for h in holds])
        check(explained, "no send waited")
    print("%d holds, %d waits explained" % (len(holds), explained))


main(*sys.argv[2:])
