# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What came late once in a recorded run, for `orrery explain`: one round of a program that does the same
# again and again, on some ranks.
# Invariant: what comes late again on a rank is no such thing, and neither is what the critical path does not go through.
import collections
import statistics

from orrery_critical import title

LATE = 0.05   # of the makespan: what comes less late is not mentioned
ROUNDS = 4    # a kernel that a rank executes less often has no rounds
RANKS = 3     # nor have fewer ranks anything in common


def rounds(run):
    """{kernel: {rank: instants at which it started, in order}} of each kernel that most ranks execute equally often, with that number."""
    starts = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, rank, ns in run.starts():
        starts[name][rank].append(ns)
    for name, by_rank in starts.items():
        usual = statistics.median_low([len(found) for found in by_rank.values()])
        same = {rank: sorted(found) for rank, found in by_rank.items() if len(found) == usual}
        if usual >= ROUNDS and len(same) >= RANKS and 4 * len(same) >= 3 * len(by_rank):
            yield name, usual, same


def jumps(number, starts, limit):
    """[(round, rank, its start, by how much it is later than before)]: where a rank falls back behind the others."""
    usual = [statistics.median([found[k] for found in starts.values()]) for k in range(number)]
    found = []
    for rank, own in sorted(starts.items()):
        behind = [own[k] - usual[k] for k in range(number)]
        found += [(k, rank, own[k], behind[k] - behind[k - 1]) for k in range(1, number) if behind[k] - behind[k - 1] >= limit]
    return found


def in_words(ranks):
    """'rank 3', 'ranks 2 to 5', 'ranks 1, 4 and 3 others'."""
    if len(ranks) == 1:
        return "rank %d" % ranks[0]
    if ranks[-1] - ranks[0] + 1 == len(ranks):
        return "ranks %d %s %d" % (ranks[0], "and" if len(ranks) == 2 else "to", ranks[-1])
    return "ranks %d, %d and %d others" % (ranks[0], ranks[1], len(ranks) - 2) if len(ranks) > 2 else "ranks %d and %d" % tuple(ranks)


def late_once(run, pieces):
    """(cause, subject, seconds, text, remedy) of the first thing that came late once; nothing if there is none. The seconds are a bound."""
    limit = LATE * (run.last - run.first)
    found = []
    for name, number, starts in rounds(run):
        late = jumps(number, starts, limit)
        again = collections.Counter(rank for _, rank, _, _ in late)
        if late and max(again.values()) == 1 and len({k for k, rank, _, _ in late}) < number / 2:
            found.append(min((at, k, name, ns, late) for k, _, at, ns in late))
    if not found:
        return
    at, k, name, ns, late = min(found)
    ranks = sorted(rank for other, rank, _, _ in late if other == k)
    took = collections.Counter()   # on the path, while the others were at work already
    for p in pieces:
        length = min(p.last, at) - max(p.first, at - ns)
        if length > 0:
            took[p.kind, p.detail if p.kind == "kernel" else "", p.rank] += length
    if not took:
        return
    (kind, detail, rank), longest = max(took.items(), key=lambda some: (some[1], some[0]))
    where = " of rank %d" % rank if rank >= 0 else ""
    if 2 * longest < ns:
        where = ", among others"
    yield ("late-once", "rank %d" % ranks[0], longest * 1e-9,
           "%s %s back by %.6f s once: at %.6f s, before %s number %d. Of that: %s%s, %.6f s"
           % (in_words(ranks), "falls" if len(ranks) == 1 else "fall", ns * 1e-9, (at - run.first) * 1e-9, name, k + 1,
              title({"kind": kind, "name": detail}), where, longest * 1e-9),
           "see what was different then: orrery report, or orrery trace with a window of time")
