# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The comparison on the page of `orrery report --compare`: what `orrery explain A B` finds,
# in the form that the page draws (report/compare.js).
# Invariant: the parts, the last of which sums up the others, add up to the difference
# of the makespans.
import os

import orrery_drift
from orrery_critical import title

PARTS = 12   # of the critical paths that are drawn one by one


def parts_of(found):
    rows = [dict(p, title=title(p)) for p in found["path"] if p["seconds"]]
    if len(rows) > PARTS:
        rest = rows[PARTS - 1:]
        rows[PARTS - 1:] = [{"title": "%d others" % len(rest), "rank": None, **{
            name: sum(p[name] for p in rest) for name in ("seconds", "a_seconds", "b_seconds")}}]
    return [{name: p[name] for name in ("title", "seconds", "a_seconds", "b_seconds", "rank")} for p in rows]


def signed(value):
    return "%+.6f s" % value


def of_lists(rows):
    return [[signed(r["seconds"]), "%d" % r["a_number"], "%.6f s" % r["a_mean_seconds"], "%d" % r["b_number"], "%.6f s" % r["b_mean_seconds"]]
            for r in rows]


def tables_of(found):
    kernels, ranks, ways = orrery_drift.chosen(found)
    numbers = ["difference", "A: number", "mean", "B: number", "mean"]
    return [
        {"title": "Kernels, by what they differ in all tasks", "head": ["kernel"] + numbers,
         "rows": [[k["name"]] + row for k, row in zip(kernels, of_lists(kernels))]},
        {"title": "Ranks, by their time in kernels", "head": ["rank", "difference", "A: last task ended", "B: last task ended"],
         "rows": [["rank %d" % r["rank"], signed(r["seconds"]), "%.6f s" % r["a_over_seconds"], "%.6f s" % r["b_over_seconds"]] for r in ranks]},
        {"title": "Messages, by the time that they were under way", "head": ["from, to"] + numbers,
         "rows": [["rank %d to %d" % (w["from"], w["to"])] + row for w, row in zip(ways, of_lists(ways))]},
    ]


def page_of(trace_a, trace_b):
    """What the page has of the comparison, for JSON."""
    found = orrery_drift.compare(trace_a, trace_b)
    for side in (found["a"], found["b"]):
        side["name"] = os.path.basename(side["file"])
    drift, v = found["drift"], found["verdict"]
    return {
        "a": found["a"], "b": found["b"], "difference_seconds": found["difference_seconds"], "work": found["work"],
        "machine": found["machine"], "parts": parts_of(found), "tables": tables_of(found), "progress": found["progress"],
        "drift": "" if not drift or not drift["seconds"] else "They drift apart most between %d %% and %d %% of the tasks: %+.6f s."
                 % (round(100 * drift["from"]), round(100 * drift["to"]), drift["seconds"]),
        "verdict": orrery_drift.verdict_words(v) if v else [],
        "incomplete": ["%s; what is said is true up to there." % s for s in found["incomplete"]] + ["%s; what is said is true of that part." % s for s in found["parts"]],
    }
