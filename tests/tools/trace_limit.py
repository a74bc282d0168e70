# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks the sums of a trace with a limit, and what is left of its single events.
#     trace_limit.py TOOLS same FULL LIMITED   the sums are those over the events of FULL, which is the same run without
#                                              a limit; the windows have all events that FULL has in them
#     trace_limit.py TOOLS cut FILE            a run that was killed: the sums have at least the events that are there
# Invariant: sums are computed anew here, from single events.
import collections
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

import orrery_lists  # noqa: E402
import orrery_sums  # noqa: E402
from orrery_critical import Run, critical_path  # noqa: E402
from orrery_tracefile import EVENTS, GUEST, KINDS, RECEIVE, RELAYED, Trace  # noqa: E402


def check(right, *words):
    if not right:
        sys.exit("FAIL: %s" % (words,))


def nonzero(counts):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in counts.items() if any(value if isinstance(value, list) else [value])}


def recount(trace):
    """What the sums of the trace should be, from its single events."""
    kernels, started = collections.defaultdict(lambda: [0, 0, 0]), {}
    sent, received, copied = (collections.defaultdict(lambda: [0, 0]) for _ in range(3))
    turns, moments = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(lambda: [0, 0])
    memory = {}
    events = trace.events(EVENTS)
    for ns, rank, kind, flags, worker, a, b, c, d, process in events:
        name = KINDS[kind]
        flag = int(name in ("post", "grant") and bool(flags & RECEIVE) or name == "send" and bool(flags & RELAYED))
        moments[rank, kind, flag][0] += 1
        moments[rank, kind, flag][1] = (moments[rank, kind, flag][1] + ns) % (1 << 64)
        if name == "start":
            started[rank, b] = ns, process.strings.get(a, "unnamed"), c
        elif name == "end":
            begin, kernel, fetch = started[rank, b]
            for i, value in enumerate((1, ns - begin, fetch)):
                kernels[rank, worker, kernel][i] += value
        elif name in ("send", "recv"):
            found = (sent if name == "send" else received)[rank, a]
            found[0] += 1
            found[1] += d
        elif name == "copy":
            copied[rank, a, b][0] += 1
            copied[rank, a, b][1] += c
        elif name == "memory":
            memory[rank, a] = max(memory.get((rank, a), (0, None)), (b - c, d or None), key=lambda some: some[0])
        elif name == "engine":
            for i, value in enumerate((1, b, d)):
                turns[rank, a, GUEST if flags & GUEST else 0][i] += value
    return {"kernels": kernels, "sent": sent, "received": received, "copied": copied, "turns": turns, "moments": moments}, memory


def same(full_path, limited_path):
    full, limited = Trace(full_path), Trace(limited_path)
    check(limited.limited and limited.state() is None, "state", limited.state())
    sums, (right, memory) = orrery_sums.Sums(limited), recount(full)
    for name, counts in right.items():
        check(nonzero(counts) == nonzero(getattr(sums, name)), "sums of", name, "differ")
    check(memory == sums.memory, "memory", memory, sums.memory)
    run = Run(full)
    check((sums.first, sums.last) == (run.first, run.last), "first and last event", (sums.first, sums.last), (run.first, run.last))
    stays = collections.Counter()
    for row in orrery_lists.sums(orrery_lists.stays(run), run.first, run.last):
        stays[row[1]] += row[3]
    check(not sums.knows_lists or dict(stays) == {name: ns for name, (_, ns) in sums.lists().items() if ns or name in stays}, "lists", stays, sums.lists())

    def inside(trace):
        return sorted(e[:9] for e in trace.events(EVENTS) if limited.keeps(e[0]))

    def named(trace):
        """With names for their numbers, which differ if strings came in another order."""
        return [e[:5] for e in inside(trace)]
    check(named(full) == named(limited), "the windows do not have the same events")
    short = Run(limited)
    pieces = critical_path(short)
    check(pieces[0].first == run.first and pieces[-1].last == run.last, "the path does not cover the run")
    check(all(a.last == b.first for a, b in zip(pieces, pieces[1:])), "the pieces of the path do not touch each other")
    check((short.tasks_done(), short.messages_received()) == (run.tasks_done(), run.messages_received()), "numbers of tasks and messages")
    print("%d events, %d of them in windows of %s" % (sums.events(), len(inside(limited)), limited.windows))


def cut(path):
    trace = Trace(path)
    check(trace.limited, "no limit")
    sums = orrery_sums.Sums(trace)
    there = collections.Counter((e[1], e[2]) for e in trace.events(EVENTS))
    known = collections.Counter()
    for (rank, kind, _), (n, _) in sums.moments.items():
        known[rank, kind] += n
    check(all(n <= known[key] for key, n in there.items()), "events that no sum has")
    check(sum(known.values()) > 0, "no sums")
    print("%d events, %d of them there, %s" % (sums.events(), sum(there.values()), trace.state()))


{"same": same, "cut": cut}[sys.argv[2]](*sys.argv[3:])
