# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Changes of a recorded run: checkpoints, changes of its size, processes that joined or left it, and runtimes that
# began again.
# Invariant: what the recorder did not write down is told by the ranks that processes had, and never made up.
import collections

from orrery_tracefile import CHANGES

Change = collections.namedtuple("Change", "first last rank what number saved sent before after process")

# Names of these kinds, in the words of `orrery explain` and of the page.
WORDS = {"checkpoint": "checkpoints", "restore": "a return to a checkpoint", "use": "moves of data to other numbers of ranks",
         "resize": "changes of the size", "join": "processes that join", "leave": "processes that leave", "restart": "another begin of the runtime"}
SHARE = 0.01   # of the makespan: less is not worth a line


def of_event(ns, rank, flags, a, b, c, d, process):
    what = CHANGES.get(flags, str(flags))
    number = a if what in ("checkpoint", "restore") else None
    saved, sent = (c, d if what == "checkpoint" else None) if number is not None else (None, None)
    before, after = (c, d) if number is None else (None, None)
    return Change(ns - b, ns, rank, what, number, saved, sent, before, after, process.number)


def of_process(trace, process):
    """When a process joined the others, left them, or began again."""
    processes, era = trace.processes.values(), process.eras[0]
    if era and process.born() is not None:
        rank, begin = process.places[0][1], process.begin_of(era)
        if any(era in p.eras[1:] for p in processes):
            yield Change(process.born(), begin, rank, "join", None, None, None, None, process.places[0][2], process.number)
        else:
            ends = [p.end() for p in processes if rank in p.ranks() and p.end() is not None and p.end() <= process.born()]
            if ends:
                yield Change(max(ends), begin, rank, "restart", None, None, None, None, process.places[0][2], process.number)
    if process.end() is not None and any(process.eras[-1] + 1 in p.eras[1:] for p in processes):
        yield Change(process.end(), process.end(), process.rank, "leave", None, None, None, process.size, None, process.number)


def changes(trace):
    """All of them, by time."""
    found = [of_event(ns, rank, flags, a, b, c, d, process) for ns, rank, _, flags, _, a, b, c, d, process in trace.events(("change",))]
    for process in trace.processes.values():
        found += of_process(trace, process)
    first, last = trace.bounds() or (None, None)
    if trace.bounds():
        found = [c for c in found if c.last >= first and c.first <= last]
    return sorted(found, key=lambda c: (c.first, c.last, c.rank, c.what, c.process))


def label(c):
    """One of them in a few words."""
    if c.number is not None:
        return "%s %d" % (c.what, c.number)
    if c.before is not None and c.after:
        return "%s %d to %d" % ("size" if c.what == "resize" else "ranks in use", c.before, c.after)
    return "leaves" if c.what in ("leave", "resize") else {"join": "joins", "restart": "begins again"}.get(c.what, c.what)


def length(parts):
    """For how long one of these intervals was under way."""
    total, until = 0, None
    for first, last in sorted(parts):
        if until is None or first > until:
            total, until = total + last - first, last
        elif last > until:
            total, until = total + last - until, last
    return total


def summed_up(found):
    """[{"what", "times", "seconds", "rank"}] of what took the longest on one rank, of each kind; times: those of that rank. What was
    before the first step of the run, as the return to a checkpoint, counts as well."""
    parts = collections.defaultdict(lambda: collections.defaultdict(list))
    for c in found:
        parts[c.what][c.rank].append((c.first, c.last))
    rows = []
    for what, by_rank in parts.items():
        rank = max(sorted(by_rank), key=lambda r: length(by_rank[r]))
        rows.append({"what": what, "times": len(by_rank[rank]), "seconds": length(by_rank[rank]) * 1e-9, "rank": rank})
    return sorted(rows, key=lambda r: (-r["seconds"], r["what"]))


def lines(rows, makespan):
    """Those that are worth a line, in words."""
    return ["%s: %.6f s, %.1f %%, on rank %d (%d times)" % (WORDS.get(r["what"], r["what"]), r["seconds"], 100 * r["seconds"] / makespan, r["rank"],
                                                         r["times"]) for r in rows if makespan and r["seconds"] >= SHARE * makespan]
