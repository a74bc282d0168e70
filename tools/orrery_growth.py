# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Lists of requests that grew through most of a recorded run, for `orrery explain`: the
# program posts faster than messages come, or the other way round, and memory goes with it.
# Invariant: what is submitted ahead at the begin and drained later has not grown; nothing is
# said where single requests are missing.
import collections

import orrery_lists
try:
    import numpy
    import orrery_report_lists
except ImportError:
    numpy = None

STEPS = 20            # parts of the run, at whose ends lengths are compared
LEAST = 200           # requests: a list that was shorter is not mentioned
PEAK = 0.7            # of the run: it was longest no earlier
RISING = 0.8          # of the steps before that
HALF = 0.2, 0.8       # of the greatest length: in the middle it was neither much shorter nor much longer
LINES = 5

# Requests that nobody takes out of a list, and what helps.
WORDS = {"fetching": ("requests whose data are not there yet", "the program posts far ahead of what its tasks make: let it wait now and then"),
         "ready": ("sends that are held", "the rank makes messages faster than they leave: look at the limits on sends, or send less"),
         "posted": ("receives whose messages have not come", "receives are posted far ahead of their sends: post them later, or see what keeps the senders"),
         "flying": ("messages under way", "the network takes fewer messages than the rank makes: send less, or larger ones"),
         "early": ("messages without a receive", "post their receives earlier: the values that came wait in memory")}
Growth = collections.namedtuple("Growth", "rank list first last at")


def lengths_of(run):
    """{list: {rank: [length at the end of each step but the last]}}, without those that were always empty."""
    span = max(1, run.last - run.first)
    found = {}
    if numpy is not None and getattr(run, "columns", None) is not None:
        for name, (rank, since, until) in orrery_report_lists.stays(run.columns).items():
            some = until > since
            rank, since, until = rank[some], since[some], until[some]
            ranks = int(rank.max()) + 1 if len(rank) else 0
            table = numpy.zeros((ranks, STEPS + 1), numpy.int64)
            for at, sign in ((since, 1), (until, -1)):
                step = numpy.clip(-(-at * STEPS // span), 0, STEPS)   # the first end that has it
                table += sign * numpy.bincount(rank * (STEPS + 1) + step, minlength=table.size).reshape(table.shape)
            found[name] = {rank: row for rank, row in enumerate(numpy.cumsum(table, 1)[:, 1:STEPS].tolist()) if any(row)}
        return {name: rows for name, rows in found.items() if rows}
    sums = collections.defaultdict(lambda: [0] * (STEPS + 1))
    for stay in orrery_lists.stays(run):
        until = run.last if stay.until is None else stay.until
        if until > stay.since:
            for ns, sign in ((stay.since, 1), (until, -1)):
                sums[stay.list, stay.rank][min(STEPS, max(0, -(-(ns - run.first) * STEPS // span)))] += sign
    for (name, rank), steps in sums.items():
        length, row = 0, []
        for n in steps:
            length += n
            row.append(length)
        if any(row[1:STEPS]):
            found.setdefault(name, {})[rank] = row[1:STEPS]
    return found


def grew(row):
    """(first, last, step of the last) if these lengths grew through most of the run, or None."""
    last = max(row)
    peak = len(row) - 1 - row[::-1].index(last)
    if last < LEAST or peak + 1 < PEAK * STEPS:
        return None
    rising = sum(b > a for a, b in zip(row[:peak], row[1:peak + 1]))
    if rising < RISING * peak or not HALF[0] * last <= row[peak // 2] <= HALF[1] * last:
        return None
    return row[0], last, peak + 1


def lists(run, trace):
    """[Growth], the longest first; at: nanoseconds since the begin, when it was longest."""
    if trace.windows or (trace.part is not None and (trace.part.window is not None or not trace.part.has("post", "grant", "match"))):
        return []
    found = []
    for name, by_rank in lengths_of(run).items():
        for rank, row in by_rank.items():
            what = grew(row)
            if what is not None:
                found.append(Growth(rank, name, what[0], what[1], (run.last - run.first) * what[2] // STEPS))
    return sorted(found, key=lambda g: (-g.last, g.list, g.rank))


def as_json(found, run):
    return [{"rank": g.rank, "list": g.list, "first": g.first, "last": g.last, "first_seconds": (run.last - run.first) / STEPS * 1e-9, "last_seconds": g.at * 1e-9}
            for g in found]


def lines(rows):
    """Sentences: the longest list of each kind, with what helps."""
    told = collections.defaultdict(list)
    for row in rows:
        told[row["list"]].append(row)
    for name, some in list(told.items())[:LINES]:
        words, remedy = WORDS[name]
        row = some[0]
        yield "%s (%s), rank %d%s: %d at %.6f s, %d at %.6f s; %s" % (
            name, words, row["rank"], " (and %d others)" % (len(some) - 1) if len(some) > 1 else "", row["first"], row["first_seconds"],
            row["last"], row["last_seconds"], remedy)
