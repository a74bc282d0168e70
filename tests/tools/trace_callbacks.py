# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Callbacks of the program in a trace: as many as the program had, as long as it slept in them.
#     trace_callbacks.py TOOLS TRACE PAGE WHAT=NUMBER,MICROSECONDS...   PAGE: of `orrery report`, or ""
# Invariant: what workers did is counted here anew, from kernels and callbacks.
import collections
import json
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_callbacks  # noqa: E402
from orrery_critical import Run, critical_path  # noqa: E402
from orrery_tables import TABLES, Tables  # noqa: E402
from orrery_tracefile import Trace  # noqa: E402


def check(right, *words):
    if not right:
        sys.exit("FAIL: %s" % (words,))


def idle_ns(run, c):
    """How long the worker of a callback executed no kernel meanwhile: one thread of a simulation steps several workers, and what it owes
    for one of them may be another one's."""
    first, last = max(c.start, run.first), min(c.end, run.last)
    kernels = [t for t in run.tasks.values() if t.key[0] == c.process and t.worker == c.worker and t.start is not None and t.end is not None]
    return last - first - sum(max(0, min(t.end, last) - max(t.start, first)) for t in kernels)


def main(path, page, *wanted):
    trace = Trace(path)
    tables, run = Tables(trace), Run(trace)
    names = [column for column, _, _ in TABLES["callbacks"]]
    found = collections.defaultdict(list)
    for row in tables.rows("callbacks"):
        row = dict(zip(names, row))
        found[row["what"]].append(row["end_ns"] - row["start_ns"])
        check((row["task"] is None) == (row["what"] == "message") == (row["request"] is not None), "whose it is", row)
        check(row["what"] == "message" or row["name"], "the name of its task", row)
    want = {word.partition("=")[0]: word.partition("=")[2].split(",") for word in wanted}
    check(set(found) == set(want), "kinds of callbacks", {what: len(some) for what, some in found.items()}, want)
    for what, (number, us) in want.items():
        check(len(found[what]) == int(number), "how many", what, len(found[what]), number)
        low, high = (1, 1) if trace.simulated else (1, 1e9)
        check(all(low * float(us) * 1e3 - 2 <= ns <= high * float(us) * 1e3 + 2 for ns in found[what]), "how long", what, found[what][:5], us)
    pieces = critical_path(run)
    check(all(a.last == b.first for a, b in zip(pieces, pieces[1:])), "the pieces of the path do not touch each other")
    # On the path, a callback is one of those.
    some = [(c.rank, c.start, c.end) for c in orrery_callbacks.callbacks(trace)]
    for p in pieces:
        check(p.kind != "callback" or any(rank == p.rank and first <= p.first and p.last <= last for rank, first, last in some), "a piece", p)
    if page:
        with open(page, encoding="utf-8") as stream:
            states = json.loads(re.search(r'id="meta">(.*?)</script>', stream.read(), re.DOTALL).group(1))["runs"][0]["states"]
        drawn = dict(zip((name[0] for name in states["names"]), states["totals_ns"]))["callback"]
        of_workers = sum(idle_ns(run, c) for c in orrery_callbacks.callbacks(trace) if c.worker >= 0 and c.start < run.last)
        check(abs(drawn - of_workers) <= 0.001 * of_workers + 1000, "the page", drawn, of_workers)
    print("%s, %d ns of the path" % ({what: len(some) for what, some in found.items()}, sum(p.last - p.first for p in pieces if p.kind == "callback")))


main(*sys.argv[2:])
