# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A part of a run that was recorded, against what was asked for.
#     trace_part.py TOOLS same FULL PART    two traces of the same simulated run: PART has exactly the events of FULL that it says
#     trace_part.py TOOLS only PART         a real run: nothing else is there, and kernels are whole
# Invariant: what must be there is found here from the single events of the whole.
import collections
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_options  # noqa: E402
import orrery_part  # noqa: E402
from orrery_critical import Run, critical_path  # noqa: E402
from orrery_tracefile import EVENTS, KINDS, Trace  # noqa: E402


def check(right, *words):
    if not right:
        sys.exit("FAIL: %s" % (words,))


def named(e):
    """An event with names for their numbers, which differ if strings came in another order."""
    ns, rank, kind, flags, worker, a, b, c, d, process = e
    if KINDS[kind] in ("submit", "start", "user", "waited"):
        a = process.strings[a]
    if KINDS[kind] == "start":
        d = d >> 32, process.strings.get(d & 0xFFFFFFFF)
    return ns, rank, kind, flags, worker, a, b, c, d


def chosen(events, part):
    """Those of the events that the part has."""
    first, last = part.window or (-1 << 62, 1 << 62)
    starts, found = {}, []
    for e in events:
        ns, rank, name = e[0], e[1], KINDS[e[2]]
        if not part.has_rank(rank) or not part.has(name):
            continue
        kernel = (rank, e[4], e[6])
        if name == "start" and ns < last:
            starts[kernel] = e
        if name == "end" and kernel in starts:
            start = starts.pop(kernel)
            if ns >= first:
                found += ([start] if start[0] < first else []) + [e]
        elif first <= ns < last:
            found.append(e)
    return collections.Counter(map(named, found))


def walk(trace):
    """The path covers what there is, and its pieces touch each other."""
    run = Run(trace)
    if not run.tasks_done() and not run.messages_received():
        return
    pieces = critical_path(run)
    check([pieces[0].first, pieces[-1].last] == [run.first, run.last], "path", pieces[0].first, run.first, pieces[-1].last, run.last)
    check(all(a.last == b.first for a, b in zip(pieces, pieces[1:])), "the pieces of the path do not touch each other")
    check(all(trace.part.has_rank(p.rank) for p in pieces if p.rank >= 0 and p.kind == "kernel"), "a kernel of another rank is on the path")


def same(full_path, part_path):
    full, part = Trace(full_path), Trace(part_path)
    check(full.part is None and part.part is not None and part.state() is None, "state", part.state())
    want, got = chosen(full.events(EVENTS), part.part), collections.Counter(map(named, part.events(EVENTS)))
    check(want == got, "events", sorted(want - got)[:5], sorted(got - want)[:5])
    check(part.ranks() == {r for r in full.ranks() if part.part.has_rank(r)}, "ranks", part.ranks())
    walk(part)
    print("%d of %d events" % (sum(got.values()), len(full.events(EVENTS))))


def only(path):
    trace = Trace(path)
    part, events = trace.part, trace.events(EVENTS)
    check(trace.state() is None and events, "state", trace.state(), len(events))
    check(chosen(events, part) == collections.Counter(map(named, events)), "more than was chosen")
    walk(trace)
    print("%d events" % len(events))


check(set(orrery_part.GROUPS) == set(orrery_options.KINDS), "kinds of the command", orrery_options.KINDS)
{"same": same, "only": only}[sys.argv[2]](*sys.argv[3:])
