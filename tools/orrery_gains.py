# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What a change would gain: the recorded run, executed again with other times (orrery_replay.py),
# for the causes of orrery_findings.py.
# Invariant: each function returns seconds that the makespan would be shorter by, as far as the
# trace knows; it changes nothing in the replay.
import collections
import math

import numpy as np

from orrery_columns import NEVER
from orrery_steps import END, ENVELOPE, GRANT, OF_TASKS, READY, RECV, SEND, SENT, START, is_kind

SMALLER = 10       # so many tiny tasks, or messages, in one
LARGE = 1 << 20    # bytes: what is larger should not travel in an envelope
PIECE, PIECES, LARGE_PIECE = 1 << 15, 8, 1 << 20   # a value flows along a tree in pieces of so many bytes at least, up to so many, or one for each of the last
AT_ONCE_NS = 100   # submissions that follow each other so closely are charged together
WORTH = 0.01       # of the makespan: a kernel that gains less when it is made larger is not named
MOST_KERNELS = 3   # that are made larger one at a time, those with the most tasks
OUTLIER = 20       # times the usual gap between two submissions: the program did something else
FAN = 4            # receivers of one value that a rank sends by itself


def with_lag(replay, which, lag):
    """The lags, but of these steps others."""
    return np.where(which, lag, replay.lag)


def slow_rank(replay, rank, ratios):
    factor = np.array([ratios.get(name, 1) for name in replay.columns.names])
    return replay.gain(with_lag(replay, (replay.kind == END) & (replay.rank == rank), replay.lag / factor[replay.name]))


def slow_links(replay, ways, ratio):
    """Messages on these ways, (sender, receiver), are faster by a ratio."""
    m, ranks = replay.messages, replay.columns.ranks
    numbers = np.array([a * ranks + b for a, b in ways], dtype=np.int64)
    slow = np.isin(m.sender.astype(np.int64) * ranks + m.receiver, numbers)
    message = under_way(replay)
    some = (message >= 0) & (replay.lag > 0)
    some[some] = slow[message[some]]
    return replay.gain(with_lag(replay, some, replay.lag / ratio),
                       replay.flights_with(lambda rows, ns: np.where(slow[rows], ns / ratio, ns)))


def balanced(replay, busy, even):
    """Each rank computes its part of the work, {rank: nanoseconds}."""
    factor = np.ones(replay.columns.ranks)
    for rank, ns in busy.items():
        factor[rank] = even[rank] / ns if ns else 1
    return replay.gain(with_lag(replay, replay.kind == END, replay.lag * factor[replay.rank]))


def kernel(replay, name, factor):
    number = replay.columns.names.index(name)
    return replay.gain(with_lag(replay, (replay.kind == END) & (replay.name == number), replay.lag / factor))


def late_ranks(replay):
    """{rank: nanoseconds} by which a rank submits its first task later than the others do, of those that are there from the begin on."""
    begins = {rank: int(replay.at[some[0]]) - replay.run.first for rank, some in at_begin(replay).items()}
    if len(begins) < 3:
        return {}
    usual = float(np.median(list(begins.values())))
    return {rank: at - usual for rank, at in begins.items() if at > usual}


def at_begin(replay):
    """{rank: what its program submitted} of the processes with which the run began."""
    processes = replay.run.processes
    return {processes[number].places[0][1] if processes[number].places else processes[number].rank: steps
            for number, steps in replay.programs.items() if not processes[number].eras[0]}


def late_rank(replay, rank, ns):
    lag = replay.lag.astype(float)
    lag[at_begin(replay)[rank][0]] -= ns
    return replay.gain(lag)


def between(replay, rank=None):
    """The steps at which programs, or that of a rank, submitted something, but the first ones."""
    some = np.concatenate([steps[1:] for steps in replay.programs.values()] or [np.zeros(0, np.int32)])
    return some if rank is None else some[replay.rank[some] == rank]


def gaps(replay):
    """The steps before which a program took much longer than it usually takes."""
    steps = between(replay)
    lags = replay.lag[steps]
    charged = lags[lags >= AT_ONCE_NS]
    usual = float(np.median(charged)) if len(charged) else 0
    return steps[lags > OUTLIER * max(usual, 1)]


def submitted_early(replay):
    """The programs take no time before what they submit. They wait as they did, and tasks for those before them."""
    lag = replay.lag.copy()
    for steps in replay.programs.values():
        lag[steps] = np.minimum(lag[steps], 0)
    return max(replay.gain(lag), (replay.makespan - replay.scheduled(lag)) * 1e-9)


def late_release(replay):
    """Data are given back at once where neither a task nor a message was the last cause."""
    lag = replay.lag.copy()
    for kind, table in ((READY, replay.tasks), (GRANT, replay.requests)):
        steps = np.flatnonzero(replay.kind == kind)
        lag[steps[table.cause[replay.row[steps]] == 0]] = 0
    return replay.gain(lag)


def phases(replay):
    """(steps at which tasks ended, phase of each): tasks of one kernel are of one phase if none comes after another of them by way of
    another kernel."""
    ends = np.flatnonzero(replay.kind == END)
    # Not after what its worker did then.
    good = np.flatnonzero((replay.kind[replay.target] != START) | (replay.kind[replay.source] == READY))
    source, target = replay.source[good], replay.target[good]
    found = np.zeros(replay.n, np.int64)
    for name in np.unique(replay.name[ends]).tolist():
        # What a step comes after: twice the phase, and 1 if it is over; -1: no such kernel. The end of a task begins a phase or ends it.
        seen, begins = [-1] * replay.n, np.zeros(replay.n, np.int8)
        begins[ends] = np.where(replay.name[ends] == name, 2, 1)
        own = np.flatnonzero(begins == 2)
        for s, t, how in zip(source.tolist(), target.tolist(), begins[source].tolist()):
            at = seen[s]
            if how == 2:
                at = (at + 1) // 2 * 2
            elif how and at >= 0:
                at |= 1
            if at > seen[t]:
                seen[t] = at
        found[own] = [(seen[s] + 1) // 2 for s in own.tolist()]
    return ends, found[ends]


def together(tasks, groups, begin, end):
    """How many of the tasks of each of so many groups ran at one time, at most."""
    group = np.concatenate((tasks, tasks))
    change = np.repeat((1, -1), len(tasks))
    order = np.lexsort((change, np.concatenate((begin, end)), group))
    now, group = np.cumsum(change[order]), group[order]
    most = np.ones(groups, np.int64)
    if len(group):
        first = np.flatnonzero(np.diff(group, prepend=-1))
        most[group[first]] = np.maximum(1, np.maximum.reduceat(now, first))
    return most


def merged(number, width, alone):
    """(so many of these tasks of a phase can be one, a worker that executes some of them works so many times as long then). Tasks that ran
    side by side leave workers without work if they are one. Those that follow each other can be one with tasks of later phases, unless
    their kernel is changed alone."""
    if width == 1:
        return min(number, SMALLER) if alone else SMALLER, 1
    large = math.ceil(number / SMALLER)
    return number / large, max(1, math.ceil(large / width) * number / large / math.ceil(number / width))


def with_larger(replay, tasks, by, longer, others):
    """The gain if these tasks are larger, fewer by factors and longer by factors, and the other steps are fewer by a factor."""
    fewer, times = np.full(replay.n, float(others)), np.ones(replay.n)
    of_task = np.full(replay.tasks.n, float(others)), np.ones(replay.tasks.n)
    of_task[0][tasks], of_task[1][tasks] = by, longer
    steps = np.flatnonzero(is_kind(replay.kind, *OF_TASKS))
    fewer[steps], times[steps] = of_task[0][replay.row[steps]], of_task[1][replay.row[steps]]
    by = fewer[replay.target]
    wait = np.where(replay.kind[replay.source] == SEND, replay.wait - np.minimum(replay.wait, replay.run.latency) * (1 - 1 / by), replay.wait / by)
    return replay.gain(np.where(replay.kind == END, replay.lag * times, replay.lag / fewer), wait)


def larger_tasks(replay):
    """(gain, [kernels], how many in one) of as much work in fewer tasks: of all kernels, with fewer messages of as many bytes in all, or of
    some kernels, with the messages that there were."""
    ends, phase = phases(replay)
    t, names = replay.tasks, replay.columns.names
    rows = replay.row[ends]
    groups, group = np.unique(np.stack((t.name[rows], t.rank[rows], phase)), axis=1, return_inverse=True)
    group = group.reshape(-1)
    ran = t.start[rows] != NEVER
    number, width = np.bincount(group, minlength=groups.shape[1]), together(group[ran], groups.shape[1], t.start[rows[ran]], t.end[rows[ran]])
    counts = collections.Counter([names[i] for i in t.name[rows].tolist()])
    every = sorted(counts, key=lambda name: (-counts[name], name))

    def larger(some, alone):
        of = np.array([merged(n, w, alone) for n, w in zip(number.tolist(), width.tolist())], float).reshape(-1, 2)[group]
        which = np.isin(t.name[rows], [names.index(name) for name in some])
        by, longer = of[which, 0], of[which, 1]
        many = len(by) / float((1 / by).sum()) if len(by) else 1
        return with_larger(replay, rows[which], by, longer, 1 if alone else many), some, many
    some = [name for name in every[:MOST_KERNELS] if larger([name], True)[0] >= WORTH * replay.makespan * 1e-9]
    return max(larger(every, False), larger(some, True), key=lambda answer: answer[0])


def other_edges(replay, keep, wait=None):
    """Of the edges those that are kept, and what else again() can have."""
    wait = replay.wait if wait is None else wait
    return {"edges": (replay.source[keep], replay.target[keep]), "wait": wait[keep]}


def fewer_messages(replay, rank):
    """As many bytes of one rank in fewer messages. One comes after the other while its progression thread is at work on them."""
    sent = np.flatnonzero((replay.kind == SENT) & (replay.rank == rank))
    at, carried = replay.at[sent].tolist(), replay.turns.carried
    after = [i for i in range(1, len(at)) if at[i] > at[i - 1] and 2 * carried(rank, at[i - 1], at[i]) >= at[i] - at[i - 1]]
    steps, gap = sent[after], np.diff(replay.at[sent], prepend=0)[after] / SMALLER
    changed = np.zeros(replay.n, bool)
    changed[steps] = True
    keep = ~changed[replay.target] | is_kind(replay.kind[replay.source], GRANT, SEND)
    target = np.concatenate((replay.target[keep], steps))
    order = np.argsort(target, kind="stable")
    source = np.concatenate((replay.source[keep], sent[np.array(after, np.int64) - 1]))[order]
    return replay.gain(with_lag(replay, changed, np.minimum(replay.lag, 0)), np.concatenate((replay.wait[keep], gap))[order], (source, target[order]))


def prefetched(replay):
    """Data come while a task waits for its worker, one copy after the other into each memory."""
    t = replay.tasks
    nodes = {(process.number, number): node for process in replay.columns.trace.processes.values() for number, (_, node) in process.workers.items()}
    starts = np.flatnonzero(replay.kind == START)
    fetch = replay.fetch[replay.row[starts]]
    places, fetched, numbers = np.zeros(replay.tasks.n, np.int64), collections.Counter(), {}
    some = np.flatnonzero(replay.fetch > 0)
    for row, process, worker, ns in zip(some.tolist(), t.process[some].tolist(), t.worker[some].tolist(), replay.fetch[some].tolist()):
        place = process, nodes.get((process, worker))
        places[row] = numbers.setdefault(place, len(numbers))
        fetched[place] += ns
    # A copy that was hidden by a kernel is in no fetch, and took its time all the same.
    more = np.array([max(1, replay.copies.copying[place] / fetched[place]) for place in numbers] or [1])
    which = np.flatnonzero((replay.kind[replay.target] == START) & (replay.kind[replay.source] == READY))
    row = replay.row[replay.target[which]]
    which, row = which[replay.fetch[row] > 0], row[replay.fetch[row] > 0]
    lag = replay.lag.copy()
    lag[starts] -= fetch
    return replay.gain(lag, queues=(which, places[row], places[row], replay.fetch[row] * more[places[row]]))


def copied_less(replay, share):
    lag, starts = replay.lag.astype(float), np.flatnonzero(replay.kind == START)
    lag[starts] -= replay.fetch[replay.row[starts]] * share
    return replay.gain(lag)


def under_way(replay):
    """The row of the message that each step waits for while it is under way, -1: none. A message may be held until others are complete,
    its receive may be late, and a task may wait to change what is being sent."""
    message = np.full(len(replay.kind), -1, np.int64)
    sends, receives = np.flatnonzero(replay.kind == SEND), np.flatnonzero(replay.kind == RECV)
    message[sends], message[receives] = replay.row[sends], replay.requests.message[replay.row[receives]]
    sent = (replay.kind[replay.target] == SENT) & (replay.kind[replay.source] == SEND)
    message[replay.target[sent]] = replay.row[replay.source[sent]]
    return message


def bandwidth(replay, factor):
    """Messages under way take less."""
    latency_ns = replay.run.latency
    return replay.gain(with_lag(replay, (under_way(replay) >= 0) & (replay.lag > 0), replay.lag / factor), replay.flights_with(
        lambda _, ns: np.minimum(ns, latency_ns) + np.maximum(0, ns - latency_ns) / factor))


def latency(replay, factor):
    less = replay.run.latency * (1 - 1 / factor)
    return replay.gain(wait=replay.flights_with(lambda _, ns: np.maximum(0, ns - less)))


def not_held(replay):
    """Sends leave as soon as their data can be used; messages of and to a rank share its link."""
    m, ranks = replay.messages, replay.columns.ranks
    rate, latency_ns = replay.rate or 1e9, replay.run.latency
    own = replay.kind == SEND
    own[own] = m.sender[replay.row[own]] == m.origin[replay.row[own]]
    lag = with_lag(replay, own, np.minimum(replay.lag, 0))
    some = np.flatnonzero(own & (replay.lag > 0) & np.isin(replay.rank, list(replay.turns.carrying)))
    lag[some] = [min(ns, replay.turns.carried(rank, at - ns, at))
                 for ns, rank, at in zip(replay.lag[some].tolist(), replay.rank[some].tolist(), replay.at[some].tolist())]
    # All that it came after but its datum, if that is there.
    granted = np.zeros(replay.n, bool)
    granted[replay.target[replay.kind[replay.source] == GRANT]] = True
    keep = ~(own & granted)[replay.target] | (replay.kind[replay.source] == GRANT)
    source, target, wait = replay.source[keep], replay.target[keep], replay.wait[keep]
    which = np.flatnonzero((replay.kind[source] == SEND) & (replay.kind[target] == RECV))
    rows = replay.row[source[which]]
    wait[which] = latency_ns
    return replay.gain(lag, wait, (source, target), (which, m.sender[rows], ranks + replay.rank[target[which]], m.bytes[rows] / rate))


def receives_early(replay):
    lag = replay.lag.copy()
    steps = np.flatnonzero(replay.kind == GRANT)
    lag[steps[replay.requests.receive[replay.row[steps]] != 0]] = 0
    return replay.gain(lag, **other_edges(replay, (replay.kind[replay.target] != RECV) | (replay.kind[replay.source] != GRANT)))


def fans(replay):
    """[rows of messages] of one value that a rank sends to four or more others by itself, in a run that has no trees."""
    r, m = replay.requests, replay.messages
    if replay.columns.events["route"].n:
        return []
    rows, _ = replay.flights()
    rows = rows[(m.sender[rows] == m.origin[rows]) & (m.sent_by[rows] >= 0)]
    rows = rows[r.grant[m.sent_by[rows]] != NEVER]
    of = m.origin[rows], m.tag[rows], m.bytes[rows], r.grant[m.sent_by[rows]]
    order = np.lexsort((m.number[rows], m.receiver[rows], replay.send[rows]) + of)
    rows, of = rows[order], np.stack(of)[:, order]
    some = np.split(rows, np.flatnonzero((of[:, 1:] != of[:, :-1]).any(axis=0)) + 1)
    return sorted((group for group in some if len(group) >= FAN), key=lambda group: (replay.send[group[0]], m.origin[group[0]]))


def along_trees(replay, groups):
    """The same in a tree: receiver i is at depth log2(i + 1). Each level takes a message, or a piece of a large one."""
    rate, latency_ns, m = replay.rate or 1e9, replay.run.latency, replay.messages
    depth = np.zeros(m.n, np.int64)
    for some in groups:
        depth[some] = [math.ceil(math.log2(i + 2)) for i in range(len(some))]

    def change(rows, ns):
        levels, size = depth[rows], m.bytes[rows]
        pieces = np.maximum(PIECE, size / np.maximum(PIECES, size // LARGE_PIECE))
        return np.where(levels > 0, levels * latency_ns + np.minimum(levels * size, size + levels * pieces) / rate, ns)
    sends = replay.kind == SEND
    sends[sends] = depth[replay.row[sends]] > 0
    return replay.gain(with_lag(replay, sends, 0), **other_edges(replay, ~sends[replay.target] | (replay.kind[replay.source] == GRANT),
                                                                 replay.flights_with(change)))


def not_eager(replay, rows):
    """Which of these messages are small and do not travel in their envelopes."""
    m = replay.messages
    return (m.eager[rows] == 0) & (m.bytes[rows] > 0) & (m.bytes[rows] < LARGE)


def eager(replay):
    """Small messages travel in their envelopes."""
    rate, latency_ns = replay.rate or 1e9, replay.run.latency
    return replay.gain(wait=replay.flights_with(
        lambda rows, ns: np.where(not_eager(replay, rows), np.minimum(ns, latency_ns + replay.messages.bytes[rows] / rate), ns)))


def in_callbacks(replay):
    """(steps, nanoseconds) that the progression thread of their rank spent in callbacks right before them."""
    callbacks = replay.turns.callbacks
    steps = np.unique(replay.target[is_kind(replay.kind[replay.target], SEND, RECV, SENT, ENVELOPE)])
    steps = steps[np.isin(replay.rank[steps], list(callbacks))]
    if not len(steps):
        return steps, np.zeros(0)
    at = replay.at[replay.source]
    since, sent, earliest = np.full(replay.n, NEVER), np.zeros(replay.n, bool), np.full(replay.n, np.iinfo(np.int64).max)
    np.maximum.at(since, replay.target, at)
    sent[replay.target[replay.kind[replay.source] == SEND]] = True
    some = is_kind(replay.kind[replay.source], SEND, ENVELOPE)
    np.minimum.at(earliest, replay.target[some], at[some])
    since = np.where((replay.kind == RECV) & (replay.lag == 0) & sent, earliest, since)[steps]
    at = replay.at[steps]
    ns, at, since = np.zeros(len(steps)), at - replay.run.first, np.minimum(since, at) - replay.run.first
    for rank, turns in callbacks.items():
        which = np.flatnonzero(replay.rank[steps] == rank)
        begin, end, share = (np.array(x) for x in zip(*turns))
        # Of a turn, the time since its begin, but not that since its end.
        until, before = (spent(begin - replay.run.first, share, x[which]) - spent(end - replay.run.first, share, x[which]) for x in (at, since))
        ns[which] = until - before
    some = ns > 0.5
    return steps[some], ns[some]


def spent(begins, shares, at):
    """The sum of shares of the time from each begin to `at`."""
    order = np.argsort(begins)
    begins, shares = begins[order], shares[order]
    place = np.searchsorted(begins, at, "right")
    return at * np.append(0, np.cumsum(shares))[place] - np.append(0, np.cumsum(shares * begins))[place]


def without_callbacks(replay, steps, ns):
    less = np.zeros(replay.n)
    less[steps] = ns
    by = less[replay.target]
    lag = np.where(less > 0, np.maximum(np.minimum(replay.lag, 0), replay.lag - less), replay.lag)
    return replay.gain(lag, np.where(by > 0, np.maximum(0, replay.wait - by), replay.wait))


def scheduled(replay):
    return (replay.makespan - replay.scheduled()) * 1e-9
