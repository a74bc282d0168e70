# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Where and in the middle of what a trace ends that is not whole, for `orrery explain`.
# Invariant: a process that came to its end is not accused; times are since the first event.
import collections

from orrery_tracefile import FULL

RANKS = 3    # so many are told of
TASKS = 3    # of each


def executing(run):
    """{process: its tasks whose kernel had started and not ended}, in one pass over all tasks."""
    found = collections.defaultdict(list)
    for t in run.started_only():
        found[t.key[0]].append(t)
    for tasks in found.values():
        tasks.sort(key=lambda t: (t.start, t.key))
    return found


def doing(found):
    if not found:
        return "no kernel was being executed"
    names = ["kernel %s (task %d)" % (t.name, t.number) for t in found[:TASKS]]
    if len(found) > TASKS:
        names.append("%d others" % (len(found) - TASKS))
    return "%s %s being executed" % (" and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0],
                                     "were" if len(found) > 1 else "was")


def ends(trace, run):
    """Sentences on a trace that is not whole; none on one that is."""
    if trace.state() is None or not run.last_of:
        return []

    def at(ns):
        return "%.6f s" % ((ns - run.first) * 1e-9)
    said = ["the trace ends %s after its first event" % at(run.last)]
    lost = sorted((run.last_of[p.number], p.rank) for p in trace.processes.values() if p.lost and p.number in run.last_of)
    if trace.flags & FULL and lost:
        said.append("the disk had no room from %s on, on rank %d first" % (at(lost[0][0]), lost[0][1]))
    under_way = executing(run)
    cut = sorted((p for p in trace.processes.values() if not p.left and p.number in run.last_of),
                 key=lambda p: (not under_way.get(p.number), run.last_of[p.number], p.rank, p.number))
    for p in cut[:RANKS]:
        said.append("the last that rank %d recorded was after %s: %s"
                    % (p.rank, at(run.last_of[p.number]), doing(under_way.get(p.number, []))))
    if len(cut) > RANKS:
        said.append("%d other ranks did not come to their end, either" % (len(cut) - RANKS))
    if cut:
        said.append("a process that crashed, was killed or was interrupted stops so; its exit status says which")
    return said
