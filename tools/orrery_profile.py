# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery profile` (starpu_codelet_profile): how long the codelets of a traced run
# took, from the files that ORRERY_TRACE writes.
# Invariant: a task counts once, from its first start to its last end on a rank,
# and only if the trace has both; no duration is negative or infinite.
import math
import sys

import orrery_checksum
import orrery_tracefile
from orrery_cli import UserError

HELP = """usage: orrery profile TRACE... [CODELET]

Shows how long the tasks of each codelet took in a traced run (ORRERY_TRACE=TRACE,
or orrery run --trace TRACE): number of tasks, total, mean, standard deviation, least
and most. With a codelet, it has a line for each worker.

A word that is the name of a file is a trace; the last one that is not is the codelet.
"""


class Durations:
    """What is shown of a set of tasks, in microseconds."""

    def __init__(self):
        self.values = []

    def line(self, title):
        v = self.values
        total = math.fsum(v)
        mean = total / len(v)
        deviation = math.sqrt(max(0.0, math.fsum((x - mean) ** 2 for x in v) / len(v)))
        return "%-28s %8d %14.3f %12.3f %12.3f %12.3f %12.3f" % (title, len(v), total / 1000, mean, deviation, min(v), max(v))


LARGEST_US = 1e15  # 31 years


HEAD = "%-28s %8s %14s %12s %12s %12s %12s" % ("", "tasks", "total ms", "mean us", "deviation", "least us", "most us")


def read_instant(path, number, text):
    when = float(text)
    if not abs(when) <= LARGEST_US:
        raise UserError("%s:%d: the time is '%s'; it must be between %g and %g us" % (path, number, text, -LARGEST_US, LARGEST_US), 1)
    return when


def read_text(path):
    """The same of the text form (orrery trace --text)."""
    started = {}
    orrery_checksum.require(path, orrery_checksum.check(path))
    with open(path, encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream, 1):
            fields = line.rstrip("\n").split(" ", 5)
            if len(fields) < 5 or fields[3] not in ("start", "end"):
                continue
            try:
                key, when = (int(fields[1]), int(fields[2]), int(fields[4])), read_instant(path, number, fields[0])
            except ValueError:
                raise UserError("%s:%d: not a line of a trace" % (path, number), 1)
            if fields[3] == "start":
                started.setdefault(key, when)
            elif key in started:
                if when < started[key]:
                    raise UserError("%s:%d: task %d ends before it starts; lines of a trace are sorted by time" % (path, number, key[2]), 1)
                yield (fields[5] if len(fields) > 5 else "") or "unnamed", key[0], key[1], when - started.pop(key)


def read(path):
    """Tuples (codelet, rank, worker, duration in us) of the tasks in a trace."""
    started = {}
    with open(path, "rb") as stream:
        if stream.read(14) == b"# time_us rank":
            yield from read_text(path)
            return
    trace = orrery_tracefile.Trace(path)
    for ns, rank, kind, _, worker, a, job, _, _, process in trace.events(("start", "end")):
        key = rank, worker, job
        if orrery_tracefile.KINDS[kind] == "start":
            started.setdefault(key, (ns, process.strings.get(a, "unnamed")))
        elif key in started:
            begin, name = started.pop(key)
            yield name, rank, worker, (ns - begin) * 1e-3


def main(_context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    if any(word.startswith("-") for word in arguments):
        raise UserError("unknown option %s; see `orrery profile --help`" % next(w for w in arguments if w.startswith("-")))
    if not arguments:
        raise UserError("which trace? Record one with ORRERY_TRACE=FILE, then give FILE")
    traces, codelet = list(arguments), None
    if len(traces) > 1:
        try:
            open(traces[-1], encoding="utf-8").close()
        except OSError:
            codelet = traces.pop()
    for path in traces:
        if path.endswith(".data"):
            raise UserError("it reads traces; give the trace that %s was to be made from" % path, 1)
    groups = {}
    for path in traces:
        for name, rank, worker, duration in read(path):
            if codelet in (None, name):
                key = (name,) if codelet is None else ("all", -1, -1)
                groups.setdefault(key, Durations()).values.append(duration)
                if codelet is not None:
                    groups.setdefault(("rank %d worker %d" % (rank, worker), rank, worker), Durations()).values.append(duration)
    if not groups:
        raise UserError("no task%s was recorded in %s" % (" of codelet " + codelet if codelet else "", " ".join(traces)), 1)
    print((codelet or "").ljust(28) + HEAD[28:])
    order = sorted(groups, key=lambda k: k[1:] if codelet else -sum(groups[k].values))
    for key in order:
        print(groups[key].line(key[0]))
    return 0
