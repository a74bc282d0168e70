# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Gaps of a recorded run: when one worker executes a kernel, or none, and all others wait, for `orrery
# explain`, the page of `orrery report` and the tables.
# Invariant: a gap is as long as no more workers execute kernels, to the nanosecond; times are those of the run.
import bisect
import collections

from orrery_critical import title
try:
    import numpy
except ImportError:       # a list takes longer, and says the same
    numpy = None

Gap = collections.namedtuple("Gap", "first last kernel_ns kind name rank path_ns")

LEAST = 0.01    # of the makespan: what is shorter is no gap
SHARE = 0.10    # of the makespan that gaps have together, from which on they are worth a word
PART = 16       # of so many workers, one may work in a gap
WORKERS = 3     # fewer have no "all others"
LONGEST = 5     # gaps that are listed
CPUS, DEVICES = 0, 1


def kinds(run, executed):
    """{(process, worker): CPUS or DEVICES}; a device that executed nothing is none."""
    return {place: CPUS if name.split()[:1] in ([], ["CPU"]) else DEVICES for place, name in run.workers.items()
            if name.split()[:1] in ([], ["CPU"]) or place in executed}


def changes(run, trace, executed, kind):
    """[(instants, column, by how much)]: columns 0 and 1 have how many CPUs and devices execute kernels, 2 and 3 how many are there."""
    for place, (first, last) in executed.items():
        yield first, kind.get(place, CPUS), 1
        yield last, kind.get(place, CPUS), -1
    numbers = collections.Counter((place[0], column) for place, column in kind.items())
    for (process, column), workers in sorted(numbers.items()):
        for _, begin, end in trace.lives(trace.processes[process], run.first, run.last):
            yield [begin], 2 + column, workers
            yield [max(begin, end)], 2 + column, -workers


def most(there, lead):
    """How many of these workers may execute kernels in a gap; of few that have the lead, none."""
    if there < WORKERS:
        return 0 if lead else 1
    return max(1, there // PART)


def turns(found):
    """[(instant, whether few execute kernels from then on, nanoseconds in kernels until then)], at least one for each change."""
    events = sorted((int(ns), column, by) for instants, column, by in found for ns in instants)
    level, work, before = [0, 0, 0, 0], 0, None
    for i, (ns, column, by) in enumerate(events):
        work += (level[CPUS] + level[DEVICES]) * (ns - before) if before is not None else 0
        level[column] += by
        before = ns
        if i + 1 == len(events) or events[i + 1][0] != ns:
            lead = DEVICES if level[2 + DEVICES] else CPUS
            yield ns, all(level[k] <= most(level[2 + k], k == lead) for k in (CPUS, DEVICES)), work


def fast_turns(found):
    """The same by numpy, only where it changes."""
    found = list(found)
    ns = numpy.concatenate([numpy.asarray(instants, numpy.int64) for instants, _, _ in found])
    sizes = [len(instants) for instants, _, _ in found]
    column, by = (numpy.repeat(numpy.array([f[k] for f in found], numpy.int64), sizes) for k in (1, 2))
    order = numpy.argsort(ns, kind="stable")
    ns, column, by = ns[order], column[order], by[order]
    last = numpy.flatnonzero(numpy.append(ns[1:] != ns[:-1], True))
    level, ns = [numpy.cumsum(numpy.where(column == k, by, 0))[last] for k in range(4)], ns[last]
    few = numpy.ones(len(ns), bool)
    for k in (CPUS, DEVICES):
        lead = (level[2 + DEVICES] > 0) == (k == DEVICES)
        few &= level[k] <= numpy.where(level[2 + k] < WORKERS, numpy.where(lead, 0, 1), numpy.maximum(1, level[2 + k] // PART))
    work = numpy.append(0, numpy.cumsum((level[CPUS] + level[DEVICES])[:-1] * numpy.diff(ns)))
    some = numpy.flatnonzero(numpy.append(True, few[1:] != few[:-1]))
    return zip(ns[some].tolist(), few[some].tolist(), work[some].tolist()), int(work[-1])


def spans(run, trace):
    """[(first, last, nanoseconds in kernels)] of the gaps, by time."""
    executed = run.executed()
    kind = kinds(run, executed)
    if trace.windows or (trace.part is not None and trace.part.ranks is not None) or not executed or len(kind) < WORKERS:
        return []
    found, begun = [], None
    if numpy:
        steps, whole = fast_turns(changes(run, trace, executed, kind))
    else:
        steps = list(turns(changes(run, trace, executed, kind)))
        whole = steps[-1][2]
    for ns, few, work in steps:
        if few and begun is None:
            begun = ns, work
        elif not few and begun is not None:
            found.append((begun[0], ns, work - begun[1]))
            begun = None
    if begun is not None:
        found.append((begun[0], run.last, whole - begun[1]))
    return [gap for gap in found if gap[1] - gap[0] >= LEAST * (run.last - run.first) and gap[1] > gap[0]]


def gaps(run, trace, pieces):
    """[Gap], by time; pieces: of the critical path, of which each gap has what takes most of it."""
    found, ends = [], [p.last for p in pieces]
    for first, last, kernel_ns in spans(run, trace):
        sums = collections.Counter()
        for p in pieces[bisect.bisect_right(ends, first):]:
            if p.first >= last:
                break
            sums[p.kind, p.detail if p.kind in ("kernel", "fetching") else "", p.rank] += min(last, p.last) - max(first, p.first)
        (kind, name, rank), ns = min(sums.items(), key=lambda s: (-s[1], s[0]), default=(("unknown", "", -1), 0))
        found.append(Gap(first, last, kernel_ns, kind, name, rank, ns))
    return found


def label(what, name, rank):
    """What takes most of a gap, in words."""
    return title({"kind": what, "name": name}) + (", rank %d" % rank if rank >= 0 else "")


def as_json(found, run):
    """What there is to say of them: the longest first."""
    rows = [{"start_seconds": (g.first - run.first) * 1e-9, "end_seconds": (g.last - run.first) * 1e-9, "kernel_seconds": g.kernel_ns * 1e-9,
             "kind": g.kind, "name": g.name, "rank": g.rank, "path_seconds": g.path_ns * 1e-9}
            for g in sorted(found, key=lambda g: (g.first - g.last, g.first))]
    return {"seconds": sum(g.last - g.first for g in found) * 1e-9, "times": len(found), "workers": len(run.workers), "longest": rows[:LONGEST]}


def lines(about, makespan):
    """(a headline, lines) of those that are worth a word, or None."""
    if not about["times"] or about["seconds"] < SHARE * makespan:
        return None
    number = max(1, about["workers"] // PART)
    head = "%s of %d workers executed a kernel and all others waited for %.1f %% of the time, %.6f s" % (
        "At most one" if number == 1 else "At most %d" % number, about["workers"], 100 * about["seconds"] / makespan, about["seconds"])
    rows = ["%.6f s to %.6f s: %s" % (g["start_seconds"], g["end_seconds"], label(g["kind"], g["name"], g["rank"])) for g in about["longest"]]
    rest = about["times"] - len(rows)
    return head, rows + ["and %d shorter one%s" % (rest, "s" * (rest > 1))] * (rest > 0)
