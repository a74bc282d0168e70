# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Faults of a recorded run, from its critical path and from comparisons of its
# ranks and links, for `orrery explain`.
# Invariant: what is within the limits below is not mentioned; each finding has a bound on
# what its remedy can gain, the largest first.
import collections
import statistics

# The shares of the makespan from which on something is worth a word.
SHARE = {"late-submission": 0.15, "late-release": 0.15, "tiny-tasks": 0.20, "copies": 0.15, "messages": 0.30, "held": 0.10,
         "unmatched": 0.10, "slow-rank": 0.05, "slow-link": 0.05, "imbalance": 0.10}
SLOW_RANK, SLOW_LINK, IMBALANCE = 1.5, 2.0, 1.3   # times what the others have
FEW = 3                                           # fewer tasks or messages say nothing


def path_seconds(pieces, kinds, rank=None, detail=None):
    return sum(p.last - p.first for p in pieces if p.kind in kinds
               and (rank is None or p.rank == rank) and (detail is None or p.detail == detail)) * 1e-9


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
               "look at that node, or give it less work")


def slow_links(run, pieces):
    """Pairs of ranks whose messages take longer than others of about the same size."""
    flights = collections.defaultdict(lambda: collections.defaultdict(list))
    for sender, receiver, size, ns in run.flights():
        if sender != receiver:
            flights[size.bit_length()]["%d to %d" % (sender, receiver)].append(ns)
    worst = {}
    for links in flights.values():
        medians = {link: statistics.median(found) for link, found in links.items() if len(found) >= FEW}
        if len(medians) < FEW:
            continue
        usual = statistics.median(medians.values())
        for link, median in medians.items():
            if usual > 0 and median / usual >= SLOW_LINK:
                worst[link] = max(worst.get(link, 0), median / usual)
    for link, ratio in sorted(worst.items()):
        gain = path_seconds(pieces, ("latency", "transfer", "sending"), None, link) * (1 - 1 / ratio)
        yield ("slow-link", link, gain, "the way from rank %s is slow: messages take %.1f times what others of their size take"
               % (link, ratio), "look at that link, or place these ranks elsewhere")


def imbalance(run, accused):
    """A rank that computes longer than the others, without being slow."""
    busy, workers = collections.Counter(), collections.defaultdict(set)
    for _, rank, worker, ns in run.kernels():
        busy[rank] += ns
        workers[rank].add(worker)
    ranks = sorted({r for r, _ in run.workers} | set(busy))
    if len(ranks) < 2 or not busy:
        return
    mean = sum(busy.values()) / len(ranks)
    most = max(ranks, key=lambda r: busy[r])
    if busy[most] >= IMBALANCE * mean and "rank %d" % most not in accused:
        yield ("imbalance", "rank %d" % most, (busy[most] - mean) / len(workers[most]) * 1e-9,
               "the work is uneven: rank %d computes %.1f times what a rank computes on average" % (most, busy[most] / mean),
               "spread data and tasks more evenly")


def shares_of_path(run, pieces):
    """Parts of the path that a good run has little of."""
    lengths = [ns for _, _, _, ns in run.kernels()]
    mean = sum(lengths) / len(lengths) * 1e-3 if lengths else 0
    rank = worst_rank(pieces, ("program", "begin"))
    yield ("late-submission", "rank %d" % rank, path_seconds(pieces, ("program", "begin")),
           "the program of rank %d submits its tasks late" % rank,
           "submit earlier: less work between submissions, fewer waits for tasks")
    rank = worst_rank(pieces, ("datum",))
    yield ("late-release", "rank %d" % rank, path_seconds(pieces, ("datum",)),
           "the program of rank %d keeps data that tasks or messages wait for" % rank, "release acquired data earlier")
    yield ("tiny-tasks", "runtime", path_seconds(pieces, ("runtime",)),
           "the runtime takes much of the time: a task computes %.1f us on average" % mean, "make tasks larger")
    yield ("copies", "copies", path_seconds(pieces, ("copy",)), "tasks wait for data from another memory node",
           "prefetch, or a scheduler that minds where data are")
    yield ("messages", "network", path_seconds(pieces, ("latency", "transfer", "relay", "sending")),
           "tasks wait for messages under way",
           "send earlier or less, or use a faster network")
    rank = worst_rank(pieces, ("held",))
    yield ("held", "rank %d" % rank, path_seconds(pieces, ("held",)), "messages of rank %d are ready to leave, and are held" % rank,
           "raise the limits on sends under way (STARPU_MPI_NDETACHED_SEND, ORRERY_MPI_SEND_MIB), or send larger pieces")
    rank = worst_rank(pieces, ("unmatched",))
    yield ("unmatched", "rank %d" % rank, path_seconds(pieces, ("unmatched",)), "messages wait at rank %d until they are taken" % rank,
           "post receives earlier")


def findings(run, pieces):
    """[{"cause", "subject", "seconds", "text", "remedy"}], the largest bound on the gain first."""
    makespan = (run.last - run.first) * 1e-9
    single = [f for f in list(slow_ranks(run, pieces)) + list(slow_links(run, pieces)) if f[2] >= SHARE[f[0]] * makespan]
    accused = {f[1] for f in single}
    # The messages of one slow link are not an accusation of the network.
    links = sum(f[2] for f in single if f[0] == "slow-link")
    found = single
    for f in list(shares_of_path(run, pieces)) + list(imbalance(run, accused)):
        seconds = f[2] - links if f[0] == "messages" else f[2]
        if makespan and seconds >= SHARE[f[0]] * makespan:
            found.append(f[:2] + (seconds,) + f[3:])
    found.sort(key=lambda f: (-f[2], f[:2]))
    return [dict(zip(("cause", "subject", "seconds", "text", "remedy"), f)) for f in found]
