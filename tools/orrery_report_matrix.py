# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Who sent to whom in a recorded run, as the page of `orrery report` draws it: bytes, messages, and the time in which
# at least one message was under way, by ranks and by computers, of the whole run and of its phases.
# Invariant: the phases of a set have the bytes and messages of the whole, exactly, and so have the computers.
import collections

import numpy as np

from orrery_columns import LOW, NEVER
from orrery_report_data import take
from orrery_tracefile import RELAYED

MOST_PHASES = 12     # of iterations; those that follow each other are one where there are more
FEWER_PHASES = 4     # where the page has no room for so many
PARTS = {2: ("first half", "second half"), 4: ("first quarter", "second quarter", "third quarter", "last quarter")}


class Traffic:
    """The messages that left, each with its pair of ranks, bytes, and from when to when its payload was under way."""

    def __init__(self, columns):
        e, m, r = columns.events["send"], columns.messages, columns.requests
        self.columns, rows = columns, columns.messages.of_send
        self.source, self.to = columns.rank_at(e.process, e.ns), e.a.astype(np.int64)
        self.size, self.count = e.d.astype(np.int64), np.ones(e.n, np.int64)
        self.relayed = int(((e.flags & RELAYED != 0) & ((e.b & LOW).astype(np.int64) != self.source)).sum())
        grant, recv = take(r.grant, m.received_by[rows], NEVER), take(r.recv, m.received_by[rows], NEVER)
        came, eager = m.envelope[rows], m.eager[rows] != 0
        # A payload that does not come with its envelope waits for the receive.
        self.first = np.where(~eager & (grant != NEVER) & (came != NEVER) & (grant > came), grant, e.ns)
        last = np.where(eager, came, recv)
        self.last = np.where(last == NEVER, self.first, np.maximum(self.first, last))
        self.sent = e.ns
        self.request = m.sent_by[rows]
        self.timed = True
        if columns.trace.windows:
            self.of_sums(columns.sums)

    def of_sums(self, sums):
        """Of a trace with a limit, the sums of all messages, which have no times."""
        pairs = np.array(list(sums.sent), np.int64).reshape(-1, 2)
        self.source, self.to = pairs[:, 0], pairs[:, 1]
        self.count, self.size = np.array(list(sums.sent.values()), np.int64).reshape(-1, 2).T
        self.relayed, self.timed = sums.relayed, False


def under_way(group, first, last):
    """(groups, nanoseconds in which at least one of the intervals of a group is under way)"""
    order = np.lexsort((last, first, group))
    group, first, last = group[order], first[order], last[order]
    times, place = np.unique(np.concatenate((first, last)), return_inverse=True)
    # The latest end before each interval: groups follow each other, so one maximum over all of them does.
    code = place[len(first):] + group * len(times)
    before = np.concatenate((np.full(min(1, len(code)), -1), np.maximum.accumulate(code)[:-1])) - group * len(times)
    since = np.where(before >= 0, times[np.maximum(before, 0)] if len(times) else 0, first)
    found, at = np.unique(group, return_inverse=True)
    length = np.zeros(len(found), np.int64)
    np.add.at(length, at, np.maximum(0, last - np.maximum(first, since)))
    return found, length


def iterations(columns):
    """The outermost iteration in which each request was posted, -1: none; None of programs that do not say where theirs begin and end."""
    post, user, stacks = columns.events["post"], columns.events["user"], collections.defaultdict(list)
    wanted = [columns.names.index(name) if name in columns.names else -1 for name in ("iteration", "iteration-end")]
    names = columns.name_of(user.process, user.a)
    some = np.flatnonzero(np.isin(names, wanted))
    if not (names[some] == wanted[0]).any():
        return None
    some = some[np.lexsort((user.place[some], user.ns[some], user.process[some]))]
    number = np.full(len(some), -1)     # from each mark on
    for i, (name, process, iteration) in enumerate(zip(names[some].tolist(), user.process[some].tolist(), user.b[some].tolist())):
        if name == wanted[0]:
            stacks[process].append(iteration)
        elif stacks[process]:
            stacks[process].pop()
        number[i] = stacks[process][0] if stacks[process] else -1
    # The last mark before each post, in the order in which they were recorded.
    ns, process, place = (np.concatenate((getattr(user, name)[some], getattr(post, name))) for name in ("ns", "process", "place"))
    order = np.lexsort((place, ns, process))
    mark = np.maximum.accumulate(np.where(order < len(some), order, -1))     # marks are in order
    mine = (mark >= 0) & (process[mark] == process[order])
    of = np.full(len(order), -1)
    of[order] = np.where(mine, number[mark], -1)
    r = columns.requests
    found = np.full(r.n, -1)
    found[r.rows(columns.key(post.process, post.b))] = of[len(some):]
    return found


def by_iteration(traffic, number, most):
    """(labels, the phase of each message): by the iteration in which its send was posted, of several in one where there are more."""
    mine = take(number, traffic.request, -1)
    known = np.unique(number[number >= 0])
    each = max(1, -(-len(known) // most))
    some = [known[i:i + each] for i in range(0, len(known), each)]
    phase = np.where(mine >= 0, np.searchsorted(known, mine) // each, len(some))
    labels = ["iteration %d" % s[0] if len(s) == 1 else "iterations %d to %d" % (s[0], s[-1]) for s in some]
    return labels + ["outside of iterations"], phase


def phases(columns, traffic, most):
    """[(labels, the phase of each message)]: sets of phases, each of which has all messages."""
    if not traffic.timed or not most:
        return []
    number = iterations(columns)
    if number is not None:
        return [by_iteration(traffic, number, most)]
    span = max(1, columns.last - columns.first)
    return [(list(PARTS[n]), np.clip((traffic.sent - columns.first) * n // span, 0, n - 1)) for n in (2, 4) if n <= most]


def put_level(pack, name, cell, traffic, sets):
    """The arrays of the pairs of ranks, or of computers: of the whole run, then of the phases; returns how many entries these have."""
    cells, at = np.unique(cell, return_inverse=True)
    keys = [("", at, len(cells))]
    entries = np.zeros(0, np.int64)
    if sets:
        first, parts = 0, []
        for labels, phase in sets:
            parts.append((first + phase) * len(cells) + at)
            first += len(labels)
        entries = np.unique(np.concatenate(parts))
        which = np.concatenate([np.searchsorted(entries, part) for part in parts])
        keys.append(("_in", which, len(entries)))
        pack.unsigned(name + "_phase", np.bincount(entries // max(1, len(cells)), minlength=first))
        index = entries % max(1, len(cells))
        pack.signed(name + "_in", np.diff(index, prepend=0))
    pack.unsigned(name, np.diff(cells, prepend=0))
    for part, rows, n in keys:
        times = len(rows) // max(1, len(at))
        for what, values in (("_bytes", traffic.size), ("_messages", traffic.count)):
            sums = np.zeros(n, np.int64)
            np.add.at(sums, rows, np.tile(values, times))
            pack.unsigned(name + part + what, sums)
        active = np.zeros(n, np.int64)
        if traffic.timed:
            found, length = under_way(rows, np.tile(traffic.first, times), np.tile(traffic.last, times))
            active[found] = length
        pack.unsigned(name + part + "_active", active)
    return len(entries)


def computers(columns):
    """(names, the number of each rank's) where several ranks share a computer, else None. Each simulated rank has a node of its own."""
    if columns.trace.simulated:
        return None
    host_of = {rank: p.host for _, p in sorted(columns.trace.processes.items()) for rank in p.ranks()}
    names = list(dict.fromkeys(host_of.get(rank, "") for rank in range(columns.ranks)))
    if len(names) >= columns.ranks:
        return None
    number = {host: i for i, host in enumerate(names)}
    return [host or "unknown" for host in names], np.array([number[host_of.get(rank, "")] for rank in range(columns.ranks)], np.int64)


def put(columns, pack, most):
    """What the page says of the matrix, with no more than so many pairs; groups of ranks where there are more."""
    traffic, group = Traffic(columns), 1
    while len(np.unique(traffic.source // group * columns.ranks + traffic.to // group)) > most:
        group *= 2
    cell = traffic.source // group * columns.ranks + traffic.to // group
    for number in (MOST_PHASES, FEWER_PHASES, 2, 0):
        sets = phases(columns, traffic, number)
        if sum(len(np.unique(phase * columns.ranks ** 2 + cell)) for _, phase in sets) <= 2 * most:
            break
    put_level(pack, "pair", cell, traffic, sets)
    found = computers(columns)
    if found:
        names, number = found
        put_level(pack, "host", number[traffic.source] * len(names) + number[traffic.to], traffic, sets)
    return {"group": group, "ranks": columns.ranks, "bytes": int(traffic.size.sum()), "messages": int(traffic.count.sum()), "relayed": traffic.relayed,
            "hosts": found[0] if found else [], "phases": [labels for labels, _ in sets], "timed": traffic.timed}
