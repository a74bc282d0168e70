# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The load of links in a trace of a simulated run, against its messages.
#     trace_links.py TOOLS TRACE star    each node has one link up and one down: what the messages of the node's rank take
#     trace_links.py TOOLS TRACE wire    likewise, and links between these, whose bandwidth changes
#     trace_links.py TOOLS TRACE none    there are no links
# Invariant: what a link carries is counted here from messages; stretches add up to the whole.
import collections
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_links  # noqa: E402
from orrery_critical import Run  # noqa: E402
from orrery_tables import TABLES, Tables  # noqa: E402
from orrery_tracefile import Trace  # noqa: E402

ENVELOPE = 200   # bytes of it and of headers, at most


def check(right, *words):
    if not right:
        sys.exit("FAIL: %s" % (words,))


def main(path, kind):
    trace = Trace(path)
    tables, run = Tables(trace), Run(trace)
    links = [dict(zip([c for c, _, _ in TABLES["links"]], row)) for row in tables.rows("links")]
    loads = [dict(zip([c for c, _, _ in TABLES["loads"]], row)) for row in tables.rows("loads")]
    if kind == "none":
        check(not links and not loads, "there are links", links[:3])
        print("no links")
        return
    check(links, "no links")
    sent, n = collections.Counter(), collections.Counter()
    for m in run.messages.values():
        if m.send is not None and m.sender != m.key[1]:
            for name in ("node-%d-link_UP" % m.sender, "node-%d-link_DOWN" % m.key[1]):
                sent[name] += m.bytes
                n[name] += 1
    sums = collections.Counter()
    for load in loads:
        check(0 <= load["full_ns"] <= load["end_ns"] - load["start_ns"] + 1, "full for longer than that", load)
        check(load["busy_ns"] <= load["end_ns"] - load["start_ns"] + 1, "busy for longer than that", load)
        sums[load["name"], "busy"] += load["busy_ns"]
        sums[load["name"], "full"] += load["full_ns"]
    for link in links:
        if kind == "wire" and not link["name"].startswith("node-"):
            continue
        low = sent[link["name"]] / link["bytes_per_s"] * 1e9
        high = (sent[link["name"]] + ENVELOPE * (n[link["name"]] + 10)) / link["bytes_per_s"] * 1e9
        check(low * 0.999 - 10 <= link["busy_ns"] <= high * 1.001 + 10 + 3000, "what it carried", link, low, high)
        for what in ("busy", "full"):
            check(abs(sums[link["name"], what] - link[what + "_ns"]) <= 70, "the stretches do not add up", what, link, sums[link["name"], what])
    check([link["full_ns"] for link in links] == sorted((link["full_ns"] for link in links), reverse=True), "the order of links")
    whole = orrery_links.shares(trace, run.first, run.last)
    trace.look_at(0, 1000)
    part = orrery_links.shares(trace, run.first, run.last)
    check(all(abs(a[1] - b[1]) < 0.01 for a, b in zip(whole, part)), "a window with all of the run", whole[:2], part[:2])
    print("%d links, %d stretches" % (len(links), len(loads)))


main(*sys.argv[2:])
