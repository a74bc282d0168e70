# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What a change would gain: the recorded run, executed again with other times (orrery_replay.py),
# for the causes of orrery_findings.py.
# Invariant: each function returns seconds that the makespan would be shorter by, as far as the
# trace knows; it changes nothing in the replay.
import collections
import math
import statistics

SMALLER = 10       # so many tiny tasks, or messages, in one
LARGE = 1 << 20    # bytes: what is larger should not travel in an envelope
PIECE, PIECES, LARGE_PIECE = 1 << 15, 8, 1 << 20   # a value flows along a tree in pieces of so many bytes at least, up to so many, or one for each of the last
AT_ONCE_NS = 100   # submissions that follow each other so closely are charged together
OF_TASKS = ("submit", "ready", "start", "end", "done")
WORTH = 0.01       # of the makespan: a kernel that gains less when it is made larger is not named
MOST_KERNELS = 3   # that are made larger one at a time, those with the most tasks
OUTLIER = 20       # times the usual gap between two submissions: the program did something else


def slow_rank(replay, rank, ratios):
    return replay.gain(lambda s: s.lag / ratios[s.of.name] if s.kind == "end" and s.rank == rank and s.of.name in ratios else s.lag)


def slow_link(replay, link, ratio):
    return replay.gain(edges=replay.flights_with(
        lambda m, ns: ns / ratio if "%d to %d" % (m.sender, m.key[1]) == link else ns))


def balanced(replay, busy, mean):
    """Each rank computes as much as the average."""
    return replay.gain(lambda s: s.lag * mean / busy[s.rank] if s.kind == "end" and busy[s.rank] else s.lag)


def kernel(replay, name, factor):
    return replay.gain(lambda s: s.lag / factor if s.kind == "end" and s.of.name == name else s.lag)


def late_ranks(replay):
    """{rank: nanoseconds} by which a rank submits its first task later than the others do."""
    begins = {rank: some[0].at - replay.first for rank, some in replay.programs.items() if some}
    if len(begins) < 3:
        return {}
    usual = statistics.median(begins.values())
    return {rank: at - usual for rank, at in begins.items() if at > usual}


def late_rank(replay, rank, ns):
    first = replay.programs[rank][0]
    return replay.gain(lambda s: s.lag - ns if s is first else s.lag)


def submissions(replay):
    """The numbers of all steps at which programs submitted something."""
    return {s.number for some in replay.programs.values() for s in some}


def gaps(replay):
    """{number of a step: nanoseconds that the program took before it, beyond what it usually takes}"""
    lags = [s.lag for some in replay.programs.values() for s in some[1:] if s.lag >= AT_ONCE_NS]
    usual = statistics.median(lags) if lags else 0
    return {s.number: s.lag - usual for some in replay.programs.values() for s in some[1:] if s.lag > OUTLIER * max(usual, 1)}


def submitted_early(replay, steps):
    """The program takes no time before these submissions. It waits as it did, and tasks for those before them."""
    def lag(s):
        return min(s.lag, 0) if s.number in steps else s.lag
    return max(replay.gain(lag), (replay.makespan - replay.scheduled(lag)) * 1e-9)


def late_release(replay):
    return replay.gain(lambda s: 0 if s.kind in ("ready", "grant") and not s.of.cause else s.lag)


def phases(replay):
    """{(kernel, rank, phase): [tasks]}: tasks of one kernel are of one phase if none comes after another of them by way of another kernel."""
    found, seen = collections.defaultdict(list), [{} for _ in replay.steps]   # of a step, {kernel: phase that it comes after, and 0.5 if it is over}
    for s in replay.steps:
        for other, _ in s.before:
            if s.kind != "start" or other.kind == "ready":   # not after what its worker did then
                for name, at in seen[other.number].items():
                    if at > seen[s.number].get(name, -1):
                        seen[s.number][name] = at
        if s.kind == "end":
            own = math.ceil(seen[s.number].get(s.of.name, 0))
            seen[s.number] = {name: math.floor(at) + 0.5 for name, at in seen[s.number].items()}
            seen[s.number][s.of.name] = own
            found[s.of.name, s.rank, own].append(s.of)
    return found


def together(tasks):
    """How many of these tasks ran at one time, at most."""
    now = most = 0
    for _, change in sorted(x for t in tasks if t.start is not None for x in ((t.start, 1), (t.end, -1))):
        now += change
        most = max(most, now)
    return max(1, most)


def merged(tasks, alone):
    """(so many of these tasks of a phase can be one, a worker that executes some of them works so many times as long then). Tasks that ran
    side by side leave workers without work if they are one. Those that follow each other can be one with tasks of later phases, unless
    their kernel is changed alone."""
    number, width = len(tasks), together(tasks)
    if width == 1:
        return min(number, SMALLER) if alone else SMALLER, 1
    large = math.ceil(number / SMALLER)
    return number / large, max(1, math.ceil(large / width) * number / large / math.ceil(number / width))


def with_larger(replay, changed, others):
    """The gain if some tasks, {key: merged(...)}, are larger, and the other steps are fewer by a factor."""
    latency_ns = replay.run.latency

    def of(s):
        return changed.get(s.of.key, (others, 1)) if s.kind in OF_TASKS else (others, 1)

    def edges(s):
        by = of(s)[0]
        return [(o, wait - min(wait, latency_ns) * (1 - 1 / by) if o.kind == "send" else wait / by) for o, wait in s.before]
    return replay.gain(lambda s: s.lag * of(s)[1] if s.kind == "end" else s.lag / of(s)[0], edges)


def larger_tasks(replay):
    """(gain, [kernels], how many in one) of as much work in fewer tasks: of all kernels, with fewer messages of as many bytes in all, or of
    some kernels, with the messages that there were."""
    groups, counts = phases(replay), collections.Counter()
    for (name, _, _), tasks in groups.items():
        counts[name] += len(tasks)
    every = sorted(counts, key=lambda name: (-counts[name], name))

    def larger(names, alone):
        changed = {t.key: of for (name, _, _), tasks in groups.items() if name in names for of in (merged(tasks, alone),) for t in tasks}
        number = len(changed) / sum(1 / of[0] for of in changed.values()) if changed else 1
        return with_larger(replay, changed, 1 if alone else number), names, number
    some = [name for name in every[:MOST_KERNELS] if larger([name], True)[0] >= WORTH * replay.makespan * 1e-9]
    return max(larger(every, False), larger(some, True), key=lambda answer: answer[0])


def fewer_messages(replay, rank):
    """As many bytes of one rank in fewer messages. One comes after the other while its progression thread is at work on them."""
    sent = [s for s in replay.steps if s.kind == "sent" and s.rank == rank]
    pairs = [(s, t) for s, t in zip(sent, sent[1:]) if t.at > s.at and 2 * replay.run.carried(rank, s.at, t.at) >= t.at - s.at]
    after = {t.number: (s, (t.at - s.at) / SMALLER) for s, t in pairs}

    def edges(s):
        return [(o, w) for o, w in s.before if o.kind in ("grant", "send")] + [after[s.number]] if s.number in after else s.before
    return replay.gain(lambda s: min(s.lag, 0) if s.number in after else s.lag, edges)


def prefetched(replay):
    """Data come while a task waits for its worker, one copy after the other into each memory."""
    run, free, fetched = replay.run, collections.Counter(), collections.Counter()
    fetches = {s.number: replay.fetch(s.of) for s in replay.steps if s.kind == "start"}
    for s in replay.steps:
        if s.kind == "start":
            fetched[s.rank, run.nodes.get((s.rank, s.of.worker))] += fetches[s.number]

    def edges(s):
        ns = fetches.get(s.number, 0)
        place = (s.rank, run.nodes.get((s.rank, s.of.worker))) if ns else None
        ready = replay.of.get(("ready", s.of.key)) if ns else None
        if ready is None:
            return s.before
        # A copy that was hidden by a kernel is in no fetch, and took its time all the same.
        begin = max(ready.now, free[place])
        free[place] = begin + ns * max(1, run.copying[place] / fetched[place])
        return s.before + [(ready, free[place] - ready.now)]
    return replay.gain(lambda s: s.lag - fetches.get(s.number, 0), edges)


def copied_less(replay, share):
    return replay.gain(lambda s: s.lag - replay.fetch(s.of) * share if s.kind == "start" else s.lag)


def bandwidth(replay, factor):
    """Messages under way take less, and so do those that are held until others are complete, those whose receive was late, and
    changes of what is being sent."""
    latency_ns = replay.run.latency

    def lag(s):
        under_way = s.kind in ("send", "recv") or s.kind == "sent" and any(o.kind == "send" for o, _ in s.before)
        return s.lag / factor if under_way and s.lag > 0 else s.lag
    return replay.gain(lag,
                       replay.flights_with(lambda m, ns: min(ns, latency_ns) + max(0, ns - latency_ns) / factor))


def latency(replay, factor):
    less = replay.run.latency * (1 - 1 / factor)
    return replay.gain(edges=replay.flights_with(lambda m, ns: max(0, ns - less)))


def not_held(replay):
    """Sends leave as soon as their data can be used; messages of and to a rank share its link."""
    leave, come = collections.Counter(), collections.Counter()   # rank: when its link is free
    rate, latency_ns = replay.rate or 1e9, replay.run.latency

    def lag(s):
        if s.kind != "send" or s.of.sender != s.of.key[0]:
            return s.lag
        return min(s.lag, replay.run.carried(s.rank, s.at - s.lag, s.at) if s.lag > 0 else 0)

    def edges(s):
        if s.kind == "send" and s.of.sender == s.of.key[0]:
            return [(o, w) for o, w in s.before if o.kind == "grant"] or s.before
        if s.kind not in ("recv", "envelope"):
            return s.before
        found = []
        for o, wait in s.before:
            if o.kind == "send" and s.kind == "recv":
                begin = max(o.now, leave[o.of.sender], come[s.rank])
                leave[o.of.sender] = come[s.rank] = begin + o.of.bytes / rate
                wait = begin + o.of.bytes / rate + latency_ns - o.now
            found.append((o, wait))
        return found
    return replay.gain(lag, edges)


def receives_early(replay):
    return replay.gain(lambda s: 0 if s.kind == "grant" and s.of.receive else s.lag,
                       lambda s: [(o, w) for o, w in s.before if o.kind != "grant"] if s.kind == "recv" else s.before)


def fans(replay):
    """[messages] of one value that a rank sends to four or more others by itself, in a run that has no trees."""
    groups = collections.defaultdict(list)
    if any(r.route is not None for r in replay.run.requests.values()):
        return []
    for m, _ in replay.flights():
        request = replay.run.requests.get((m.key[0], m.request))
        if m.sender == m.key[0] and request is not None and request.grant is not None:
            groups[m.key[0], m.tag, m.bytes, request.grant].append(m)
    return [sorted(some, key=lambda m: (m.send, m.key)) for some in groups.values() if len(some) >= 4]


def along_trees(replay, groups):
    """The same in a tree: receiver i is at depth log2(i + 1). Each level takes a message, or a piece of a large one."""
    rate, latency_ns = replay.rate or 1e9, replay.run.latency
    depth = {m.key: math.ceil(math.log2(i + 2)) for some in groups for i, m in enumerate(some)}

    def change(m, ns):
        if m.key not in depth:
            return ns
        levels = depth[m.key]
        return levels * latency_ns + min(levels * m.bytes, m.bytes + levels * max(PIECE, m.bytes / max(PIECES, m.bytes // LARGE_PIECE))) / rate
    return replay.gain(lambda s: 0 if s.kind == "send" and s.of.key in depth else s.lag,
                       lambda s: [(o, w) for o, w in s.before if o.kind == "grant"] if s.kind == "send" and s.of.key in depth
                       else replay.flights_with(change)(s))


def not_eager(m):
    return not m.eager and 0 < m.bytes < LARGE


def eager(replay):
    """Small messages travel in their envelopes."""
    rate, latency_ns = replay.rate or 1e9, replay.run.latency
    return replay.gain(edges=replay.flights_with(
        lambda m, ns: min(ns, latency_ns + m.bytes / rate) if not_eager(m) else ns))


def in_callbacks(replay, rank):
    """{number of a step: nanoseconds} that the progression thread of a rank spent in callbacks right before it."""
    turns, found = replay.run.callbacks[rank], {}
    for s in replay.steps:
        if s.rank == rank and s.kind in ("send", "recv", "sent", "envelope") and s.before:
            since = max(o.at for o, _ in s.before)
            if s.kind == "recv" and not s.lag:
                since = min(o.at for o, _ in s.before if o.kind in ("send", "envelope")) if any(o.kind == "send" for o, _ in s.before) else since
            some = sum(share * (min(s.at, end) - max(since, begin)) for begin, end, share in turns if begin < s.at and end > since)
            if some > 0:
                found[s.number] = some
    return found


def without_callbacks(replay, less):
    def edges(s):
        return [(o, max(0, w - less[s.number])) for o, w in s.before] if s.number in less else s.before
    return replay.gain(lambda s: max(min(s.lag, 0), s.lag - less.get(s.number, 0)), edges)


def scheduled(replay):
    return (replay.makespan - replay.scheduled()) * 1e-9
