# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Faults of a recorded run, from its critical path and from comparisons of its
# ranks and links, for `orrery explain`.
# Invariant: what is within the limits below is not mentioned; each finding has a bound on
# what its remedy can gain, the largest first.
import collections
import statistics

import orrery_holds
import orrery_models
import orrery_once
import orrery_slow_links
from orrery_critical import path_seconds
try:
    import orrery_gains
except ImportError:       # without numpy there is no replay either, and gains are bounds
    orrery_gains = None

# The shares of the makespan from which on something is worth a word.
SHARE = {"late-submission": 0.15, "slow-submission": 0.15, "late-rank": 0.05, "late-release": 0.15, "tiny-tasks": 0.20, "copies": 0.15,
         "memory": 0.10, "no-prefetch": 0.10, "messages": 0.30, "many-messages": 0.20, "held": 0.10, "callback": 0.10, "task-callback": 0.10, "no-tree": 0.10, "eager": 0.10,
         "unmatched": 0.10, "slow-rank": 0.05, "slow-link": 0.05, "imbalance": 0.10, "wrong-model": 0.25, "policy": 0.25, "order": 0.15}
LEAST = 0.03      # of the makespan: a change that gains less is no answer
# Gains that are bounds, because the trace does not have what else would hold up the run then.
BOUNDS = {"unmatched", "memory", "task-callback"}
EVICTIONS = 0.05               # the share of the bytes that came to devices which had to go again to make room
MODELLED = {"dm", "dmda", "dmdap", "dmdar", "dmdas", "dmdasd", "heft", "pheft"}   # policies that believe models
TINY_US = 20                   # kernels that are shorter on average
SMALL_BYTES = 16384            # a message that is smaller on average costs by its number
SLOW_UNIT = 1.5                # times as long as on the best kind of unit
SLOW_RANK, IMBALANCE = 1.5, 1.3                   # times what the others have
HELD_KNOWN = 0.1                                  # of the time in which messages are held, whose cause is known, or no cause is named
MOST_LEFT_OUT = 5                                 # times what is recorded of the path the whole may be
NAMED = 3                                         # kernels of many in one sentence
FEW = 3                                           # fewer tasks or messages say nothing


def whole(run, pieces):
    """How many times what is recorded of the path the whole is, where a limit left out events."""
    recorded = sum(p.last - p.first for p in pieces if p.kind != "unknown")
    return (run.last - run.first) / recorded if run.windows and recorded else 1


def worst_rank(pieces, kinds):
    sums = collections.Counter()
    for p in pieces:
        if p.kind in kinds:
            sums[p.rank] += p.last - p.first
    return max(sorted(sums), key=lambda r: sums[r], default=-1)


def slow_ranks(run, pieces):
    """Ranks whose kernels take longer than the same kernels of the others."""
    lengths = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, rank, _, ns in run.kernels():
        lengths[name][rank].append(ns)
    ratios = collections.defaultdict(list)
    for name in sorted(lengths):
        medians = {r: statistics.median(found) for r, found in sorted(lengths[name].items()) if len(found) >= FEW}
        if len(medians) < FEW:
            continue
        usual = statistics.median(medians.values())
        for rank, median in medians.items():
            if usual > 0 and median / usual >= SLOW_RANK:
                ratios[rank].append((name, median / usual))
    for rank, found in ratios.items():
        gain = sum(path_seconds(pieces, ("kernel",), rank, name) * (1 - 1 / ratio) for name, ratio in found)
        name, ratio = max(found, key=lambda f: f[1])
        yield ("slow-rank", "rank %d" % rank, gain,
               "rank %d is slow: %s takes %.1f times what it takes elsewhere" % (rank, name, ratio),
               "look at that node, or give it less work", lambda r, rank=rank, found=found: orrery_gains.slow_rank(r, rank, dict(found)))


def imbalance(run, accused):
    """A rank that computes longer than the others, without being slow."""
    busy, workers = collections.Counter(), collections.defaultdict(set)
    for rank, worker, ns in ((r, w, ns) for (r, w), ns in run.sums.busy().items()) if run.sums else ((r, w, ns) for _, r, w, ns in run.kernels()):
        busy[rank] += ns
        workers[rank].add(worker)
    ranks = sorted(run.ranks | set(busy))
    if len(ranks) < 2 or not busy:
        return
    # A rank that was not always there has a smaller part.
    lived = run.lived()
    whole = sum(lived.get(rank, 0) for rank in ranks)
    even = {rank: sum(busy.values()) * lived.get(rank, 0) / whole if whole else 0 for rank in ranks}
    most = max(ranks, key=lambda r: busy[r] - even[r])
    mean = even[most]
    if mean and busy[most] >= IMBALANCE * mean and "rank %d" % most not in accused:
        yield ("imbalance", "rank %d" % most, (busy[most] - mean) / max(1, len(workers[most])) * 1e-9,
               "the work is uneven: rank %d computes %.1f times what a rank computes on average" % (most, busy[most] / mean),
               "spread data and tasks more evenly", lambda r: orrery_gains.balanced(r, busy, even))


def shares_of_path(run, pieces, replay):
    """Parts of the path that a good run has little of: (cause, subject, seconds of the path, text, remedy, gain or None)."""
    lengths = [ns for _, _, _, ns in run.kernels()]
    mean = sum(lengths) / len(lengths) * 1e-3 if lengths else 0
    yield from of_programs(run, pieces, replay, mean)
    rank = worst_rank(pieces, ("datum",))
    yield ("late-release", "rank %d" % rank, path_seconds(pieces, ("datum",)),
           "the program of rank %d keeps data that tasks or messages wait for" % rank, "release acquired data earlier",
           lambda r: orrery_gains.late_release(r))
    yield from of_callbacks(pieces)
    yield from of_copies(pieces, replay)
    yield from of_messages(run, pieces, replay)
    rank = worst_rank(pieces, ("unmatched",))
    yield ("unmatched", "rank %d" % rank, path_seconds(pieces, ("unmatched",)), "messages wait at rank %d until they are taken" % rank,
           "post receives earlier", lambda r: orrery_gains.receives_early(r))


def some_of(names):
    """Some names in words, the first ones."""
    shown = names[:NAMED]
    return ", ".join(shown[:-1]) + (" and " if shown[1:] else "") + shown[-1] + (" and others" if len(names) > NAMED else "")


def of_programs(run, pieces, replay, mean):
    """Tasks that come late, or are too small for what the runtime takes for each."""
    seconds, rank = path_seconds(pieces, ("program", "begin")), worst_rank(pieces, ("program", "begin"))
    tiny = 0 < mean <= TINY_US
    runtime = path_seconds(pieces, ("runtime",)) + (seconds if tiny else 0)
    much = runtime >= SHARE["tiny-tasks"] * (run.last - run.first) / whole(run, pieces) * 1e-9
    gain, names, number = orrery_gains.larger_tasks(replay) if replay and much else (0, [], 1)
    yield ("tiny-tasks", "runtime", runtime, "the runtime takes much of the time: a task computes %.1f us on average" % mean,
           "make tasks %slarger" % (some_of(names) + " " if names else "") + (": one of %.0f" % number if replay else ""), lambda r: gain)
    if tiny and much:
        return
    late = orrery_gains.late_ranks(replay) if replay else {}
    worst = max(sorted(late), key=lambda r: late[r], default=None)
    if worst is not None and late[worst] * 1e-9 >= SHARE["late-rank"] * (run.last - run.first) * 1e-9 and late[worst] > 0:
        waited = path_seconds(pieces, ("begin",), worst)
        seconds -= min(waited, late[worst] * 1e-9)
        yield ("late-rank", "rank %d" % worst, min(waited, late[worst] * 1e-9),
               "rank %d begins %.6f s after the others" % (worst, late[worst] * 1e-9), "let that rank begin when the others do",
               lambda r: orrery_gains.late_rank(r, worst, late[worst]))
    if replay:
        some = [step for step in orrery_gains.between(replay, rank).tolist() if replay.lag[step] > 0]
        long = set(orrery_gains.gaps(replay).tolist())
        took, took_long = (int(replay.lag[steps].sum()) for steps in (some, [s for s in some if s in long]))
    if replay and some and 2 * took_long < took:
        yield ("slow-submission", "rank %d" % rank, seconds,
               "one thread submits the tasks of rank %d too slowly: it takes %.1f us between two" % (rank, took / len(some) * 1e-3),
               "submit less, or faster: no tasks that the rank has no part in, larger tasks, tasks that submit tasks",
               lambda r: orrery_gains.submitted_early(r))
    else:
        yield ("late-submission", "rank %d" % rank, seconds, "the program of rank %d submits its tasks late" % rank,
               "submit earlier: less work between submissions, no insertion of tasks that the rank has no part in, fewer waits for tasks",
               lambda r: orrery_gains.submitted_early(r))


def of_callbacks(pieces):
    """Callbacks of tasks, in which workers execute nothing, or which others wait for."""
    some = [p for p in pieces if p.kind == "callback" and p.detail == "task"]
    seconds, rank = path_seconds(some, ("callback",)), worst_rank(some, ("callback",))
    yield ("task-callback", "rank %d" % rank, seconds, "callbacks of tasks hold up others, most of all on rank %d" % rank,
           "do less in callbacks of tasks: submit a task that does it", lambda r: seconds)


def of_copies(pieces, replay):
    """Data that come late, or again and again."""
    seconds = path_seconds(pieces, ("fetching",))
    if not seconds:
        return
    # (Data go to memory node 0 when a device is full; what comes to a device may come for the second time.)
    copies = replay.copies if replay else None
    evicted = int(copies.bytes[copies.evicts].sum()) if replay else 0
    loaded = int(copies.bytes[copies.to != 0].sum()) if replay else 0
    if evicted and loaded and evicted >= EVICTIONS * loaded:
        yield ("memory", "copies", seconds, "the memory of a device is too small: %.0f MB were written back to make room, of %.0f MB that came"
               % (evicted * 1e-6, loaded * 1e-6), "use more memory (STARPU_LIMIT_CUDA_MEM, another device), or less data at a time",
               lambda r: seconds)
    elif replay and orrery_gains.prefetched(replay) >= SHARE["copies"] / 2 * replay.makespan * 1e-9:
        yield ("no-prefetch", "copies", seconds, "tasks wait for data that could have come earlier",
               "prefetch: STARPU_PREFETCH=1 with a policy that knows early where a task goes, STARPU_CUDA_PIPELINE=2", lambda r: orrery_gains.prefetched(r))
    else:
        yield ("copies", "copies", seconds, "tasks wait for data from another memory node",
               "prefetch, or a scheduler that minds where data are", lambda r: orrery_gains.copied_less(r, 1))


def of_messages(run, pieces, replay):
    """Messages under way, and what keeps them."""
    kinds = ("latency", "transfer", "relay", "sending")
    seconds, makespan = path_seconds(pieces, kinds), (run.last - run.first) / whole(run, pieces) * 1e-9
    held, rank = path_seconds(pieces, ("held",)), worst_rank(pieces, ("held",))
    if replay:   # no limit holds a message while the progression thread is at work on those before it
        carried = sum(replay.turns.carried(p.rank, p.first, p.last) for p in pieces if p.kind == "held") * 1e-9
        held -= carried
        m, (rows, _) = replay.messages, replay.flights()
        sizes = m.bytes[rows[(m.sender[rows] == rank) & (m.origin[rows] == rank)]]
        mean = float(sizes.mean()) if len(sizes) else SMALL_BYTES
        if mean < SMALL_BYTES:
            yield ("many-messages", "rank %d" % rank, carried,
                   "the progression of rank %d is at work on %d messages of %.0f bytes on average" % (rank, len(sizes), mean),
                   "send fewer, larger messages: larger blocks of data, or several in one: one of %d" % orrery_gains.SMALLER,
                   lambda r: orrery_gains.fewer_messages(r, rank))
        else:   # it copies them
            seconds += carried
    fans = orrery_gains.fans(replay) if replay else []
    busy = collections.Counter()
    steps, less = orrery_gains.in_callbacks(replay) if replay else ((), ())
    for step, ns in zip(steps, less):
        busy[int(replay.rank[step])] += ns
    gains = [("callback", "rank %d" % max(sorted(busy), key=lambda r: busy[r], default=-1),
              "callbacks keep the progression thread from messages", "do less in callbacks: submit a task that does it",
              lambda r: orrery_gains.without_callbacks(r, steps, less), sum(less) * 1e-9 >= SHARE["callback"] * makespan),
             ("no-tree", "rank %d" % (replay.messages.sender[fans[0][0]] if fans else -1),
              "rank %d sends the same value to %d others by itself" % (replay.messages.sender[fans[0][0]], max(map(len, fans))) if fans else "",
              "send along a tree: STARPU_MPI_COOP_SENDS=1", lambda r: orrery_gains.along_trees(r, fans),
              bool(fans) and orrery_gains.along_trees(replay, fans) - orrery_gains.not_held(replay) >= SHARE["no-tree"] * makespan),
             ("eager", "messages", "small messages wait for their receivers: they do not travel in their envelopes",
              "raise the eager threshold (STARPU_MPI_EAGER_LIMIT)", lambda r: orrery_gains.eager(r),
              bool(replay) and seconds >= SHARE["eager"] * makespan and bool(orrery_gains.not_eager(replay, replay.flights()[0]).any()))]
    for cause, subject, text, remedy, gain, there in gains:
        saved = gain(replay) if there else 0
        if there and saved >= SHARE[cause] * makespan:
            yield (cause, subject, saved, text, remedy, lambda r, saved=saved: saved)
            if cause != "no-tree":
                return
            held, seconds = held - saved, seconds - saved
    by, remedy = what_holds(run, pieces, rank) if held >= SHARE["held"] * makespan else ("", "")
    yield ("held", "rank %d" % rank, held, "messages of rank %d are ready to leave, and are held%s" % (rank, by), remedy, lambda r: orrery_gains.not_held(r))
    if seconds < SHARE["messages"] * makespan:
        return
    faster = replay and orrery_gains.latency(replay, 2) > orrery_gains.bandwidth(replay, 2)
    yield ("messages", "network", seconds, "tasks wait for messages under way",
           "send earlier or less, or use a faster network" + ("" if not replay else ": half the latency" if faster else ": twice the bandwidth"),
           (lambda r: orrery_gains.latency(r, 2)) if faster else (lambda r: orrery_gains.bandwidth(r, 2)))


def what_holds(run, pieces, rank):
    """(what holds the messages of a rank, in words; what helps)"""
    sums = orrery_holds.of_path(run, run.trace, pieces)[rank]
    total, cause = orrery_holds.most(sums)
    path = sum(p.last - p.first for p in pieces if p.kind == "held" and p.rank == rank)
    if not path or total < HELD_KNOWN * path or cause not in orrery_holds.WORDS:
        return "", "raise the limits on sends under way (STARPU_MPI_NDETACHED_SEND, ORRERY_MPI_SEND_MIB), or send larger pieces"
    words, remedy = orrery_holds.WORDS[cause]
    return ": %.0f %% of that by %s" % (100 * sums[cause] / path, words), remedy


def order_of(gain):
    return ("order", "scheduler", gain, "tasks that much depends on wait behind others", "priorities, and a policy that minds them (STARPU_SCHED=prio, dmdas)",
            orrery_gains.scheduled)


def of_schedule(replay, models):
    """The places and the order of tasks, against a simple schedule of the same tasks; models: rows of orrery_models, of what the policy
    expected, none where the trace does not say that."""
    gain = orrery_gains.scheduled(replay)
    lengths, names = replay.durations(), replay.columns.names
    units = {unit for _, unit in lengths}
    best = {}                  # name: (nanoseconds, unit)
    for (number, unit), (ns, _) in lengths.items():
        name = names[number]
        best[name] = min(best.get(name, (ns, replay.units[unit])), (ns, replay.units[unit]))
    slow, total = collections.Counter(), collections.Counter()
    for (number, _), (ns, tasks) in lengths.items():
        name = names[number]
        total[name] += tasks
        slow[name] += tasks if ns >= SLOW_UNIT * best[name][0] else 0
    name = max(sorted(slow), key=lambda n: slow[n], default=None)
    if len(units) > 1 and name is not None and slow[name]:
        unit = best[name][1]
        policy = replay.policy
        believes = policy in MODELLED or policy.startswith("modular-heft")
        wrong = max((row for row in models if orrery_models.is_wrong(row)), key=lambda row: abs(row.ns - row.expected_ns), default=None)
        if wrong:
            yield ("wrong-model", wrong.name, gain, orrery_models.sentence(wrong), orrery_models.remedy(wrong), orrery_gains.scheduled)
        elif believes and models:   # which are right
            yield order_of(gain)
        elif believes:
            yield ("wrong-model", name, gain, "%d of %d tasks %s ran where they take much longer than on %s: %s expects otherwise"
                   % (slow[name], total[name], name, unit, policy), "correct the performance model of %s (orrery perfmodel)" % name, orrery_gains.scheduled)
        else:
            yield ("policy", name, gain, "%d of %d tasks %s ran where they take much longer than on %s" % (slow[name], total[name], name, unit),
                   "a policy that uses performance models (STARPU_SCHED=dmdas)", orrery_gains.scheduled)
    else:
        yield order_of(gain)


def findings(run, pieces, replay=None, models=()):
    """[{"cause", "subject", "seconds", "text", "remedy", "sure"}], the largest gain first. With a replay, gains are those of
    the run executed again; without, bounds from the path. models: rows of orrery_models."""
    makespan = (run.last - run.first) * 1e-9
    if not makespan:
        return []
    more = whole(run, pieces)
    if more > MOST_LEFT_OUT:   # so little says nothing of the rest
        pieces = []

    def scaled(some):
        return [f[:2] + (f[2] * more,) + f[3:] for f in some]
    single = [f for f in scaled(slow_ranks(run, pieces)) + scaled(orrery_slow_links.slow_links(run, pieces)) if f[2] >= SHARE[f[0]] * makespan]
    accused = {f[1] for f in single if f[0] == "slow-rank"}
    # The messages of one slow link are not an accusation of the network.
    links = sum(f[2] for f in single if f[0] == "slow-link")
    found = list(single)
    some = scaled(shares_of_path(run, pieces, replay)) + list(imbalance(run, accused))
    for f in some:
        seconds = f[2] - links if f[0] == "messages" else f[2]
        if seconds >= SHARE[f[0]] * makespan:
            found.append(f[:2] + (seconds,) + f[3:])
    answers = []
    for cause, subject, seconds, text, remedy, gain in found:
        sure = replay is not None and cause not in BOUNDS
        if replay is not None:
            seconds = gain(replay)
        if seconds >= LEAST * makespan:
            answers.append((cause, subject, seconds, text, remedy, sure))
    if replay is not None and not answers:
        answers += [f[:5] + (True,) for f in of_schedule(replay, models) if f[2] >= SHARE[f[0]] * makespan]
    if not answers and not run.windows and run.part is None:
        answers += [f + (False,) for f in orrery_once.late_once(run, pieces) if f[2] >= LEAST * makespan]
    answers.sort(key=lambda f: (-f[2], f[:2]))
    return [dict(zip(("cause", "subject", "seconds", "text", "remedy", "sure"), f)) for f in answers]
