# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The time that the runtime itself took, for the report: of the workers between tasks, of tasks between being ready and starting,
# of the progression of messages, and what the recording of the trace consists of.
# Invariant: each row is a sum or a part of sums that other chapters of the report have, too; what is not recorded has no row.
import numpy as np

import orrery_clocks
import orrery_part
from orrery_columns import NEVER
from orrery_tracefile import GUEST, TURNS

STATES = (("runtime", "workers: from a cause to its effect"), ("callback", "workers: callbacks of the program"))


def percent(part, whole):
    return "%.3g %%" % (100 * part / whole) if whole else ""


def of_workers(lanes, states):
    """Rows of what workers did beside kernels that the runtime or the program's callbacks are the cause of."""
    totals = dict(zip((state for state, _ in states["names"]), states["totals_ns"]))
    everything, tasks = sum(states["totals_ns"]), len(lanes.rows)
    for key, words in STATES:
        spent = totals.get(key, 0)
        yield (words, spent, "ns", "%s of the time of all workers%s"
               % (percent(spent, everything), ", %s a task" % orrery_clocks.duration(spent / tasks) if tasks else ""))


def of_delays(columns):
    t = columns.tasks
    some = (t.ready != NEVER) & (t.start != NEVER)
    delays = (t.start - t.ready)[some]
    if len(delays):
        yield ("tasks: from ready to started, in the median", float(np.median(delays)), "ns",
               "95 %% within %s, at most %s; most wait for a free worker" % tuple(map(orrery_clocks.duration, (np.percentile(delays, 95), delays.max()))))


def of_progression(columns):
    turns = columns.turns
    if columns.trace.windows or not turns.n:
        return
    for guest, who in ((0, "progression threads"), (GUEST, "other threads")):
        mine = (turns.flags & GUEST) == guest
        for kind, what in TURNS.items():
            if what == "asleep":
                continue
            some = mine & (turns.a == kind)
            spent = int((turns.b[some] - turns.d[some]).sum())
            if some.any():
                each = columns.messages.n and what == "messages" and not guest
                yield ("%s: %s" % (who, what), spent, "ns", "without callbacks%s"
                       % (", %s a message" % orrery_clocks.duration(spent / columns.messages.n) if each else ""))
    spent = int(turns.d.sum())
    if spent:
        yield ("progression: callbacks of the program", spent, "ns", "")


def of_recording(columns, tasks):
    events = sum(e.n for e in columns.events.values()) + columns.turns.n
    yield ("recording: events", events, "", "%d bytes of trace%s" % (columns.trace.bytes, ", %.3g events a task" % (events / tasks) if tasks else ""))


def rows(lanes, states):
    """(what, how much, "ns" if that is time, more about it)"""
    columns, found = lanes.columns, []
    if orrery_part.has_tasks(columns.trace):
        found += [*of_workers(lanes, states), *of_delays(columns)]
    return found + [*of_progression(columns), *of_recording(columns, len(lanes.rows))]
