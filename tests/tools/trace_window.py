# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A part of a run, as `orrery explain` and `orrery report` look at it, against the events of the whole.
#     trace_window.py TOOLS TRACE FROM TO    in seconds since the first event
# Invariant: what must be in the window is found here event by event, with the plain reader.
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_columns  # noqa: E402
import orrery_explain  # noqa: E402
from orrery_critical import Run, critical_path  # noqa: E402
from orrery_tracefile import Trace  # noqa: E402


def equal(what, got, want):
    if got != want:
        sys.exit("%s: %r in the window, %r by its events" % (what, got, want))


def main(path, first_s, last_s):
    whole, trace = Run(Trace(path)), Trace(path)
    first, last = whole.first + round(first_s * 1e9), whole.first + round(last_s * 1e9)
    trace.look_at(first_s, last_s)
    run = orrery_columns.Run(orrery_columns.Columns(trace))
    if not first <= run.first <= run.last <= last:
        sys.exit("the window is %r, its events are from %r to %r" % ((first, last), run.first, run.last))
    pieces = critical_path(run)
    equal("path", [pieces[0].first, pieces[-1].last] + [b.first - a.last for a, b in zip(pieces, pieces[1:])],
          [run.first, run.last] + [0] * (len(pieces) - 1))
    done = [t for t in whole.tasks.values() if t.done is not None and first <= t.done <= last]
    equal("tasks", run.tasks_done(), len(done))
    received = [r for r in whole.requests.values() if r.recv is not None and first <= r.recv <= last]
    equal("messages", run.messages_received(), len(received))
    # Of a kernel that had begun before, the part that is in the window.
    kernels = sorted((t.name, t.rank, t.worker, t.end - max(t.start, first)) for t in whole.tasks.values()
                     if t.start is not None and t.end is not None and t.end <= last and (t.end >= first or t.done is None or t.done >= first)
                     and t.end > first)
    equal("kernels", sorted(k for k in run.kernels() if k[3]), [k for k in kernels if k[3]])
    running = {(t.key, max(t.start, first)) for t in whole.tasks.values() if t.start is not None and t.start <= last and (t.end is None or t.end > last)}
    equal("kernels that go on", {(t.key, t.start) for t in run.started_only()}, running)
    if first <= whole.first and last >= whole.last:
        got, want = (orrery_explain.answer(Trace(path), r) for r in (run, whole))
        equal("what is explained", got, want)
    print("%d tasks, %d messages, %d pieces" % (len(done), len(received), len(pieces)))


main(sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
