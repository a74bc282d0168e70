# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The gaps of made-up runs, when one worker executes a kernel and all others wait: their workers are counted
# at each nanosecond. What is said of a gap is known of a run that is written down here.
# Invariant: the oracle has the times of kernels, and nothing of the way in which gaps are found.
#     explain_gaps.py TOOLS [RUNS]
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_alone  # noqa: E402
import orrery_critical  # noqa: E402
import orrery_tables  # noqa: E402
import orrery_tracefile  # noqa: E402
from orrery_tracefile import NUMBER, RECEIVE  # noqa: E402


def trace_of(names, events):
    """A trace of ranks with workers of these names; events: (ns, rank, kind, b, fields by name)."""
    trace = orrery_tracefile.Trace.__new__(orrery_tracefile.Trace)
    trace.processes = {rank: orrery_tracefile.Process(rank) for rank in range(len(names))}
    for rank, some in enumerate(names):
        trace.processes[rank].workers = {i: (name, 0) for i, name in enumerate(some)}
        trace.processes[rank].strings = {0: "short", 1: "long"}
    rows = [(ns, rank, NUMBER[kind], f.get("flags", 0), f.get("worker", -1), f.get("a", 0), b, f.get("c", 0), f.get("d", 0), trace.processes[rank])
            for ns, rank, kind, b, f in events]
    rows.sort(key=lambda e: e[:2])
    trace.windows, trace.limited, trace.cut_at, trace.text, trace.simulated = None, False, None, {}, True
    trace.events = lambda names=None, **_: [e for e in rows if not names or orrery_tracefile.KINDS[e[2]] in names]
    trace.number_eras()
    return trace


def task(number, rank, worker, first, last, kernel=0, cause=0, submit=0):
    """The events of one task."""
    about = {"worker": worker, "a": kernel}
    return [(submit, rank, "submit", number, {}), (first, rank, "ready", number, {"c": cause}), (first, rank, "start", number, about),
            (last, rank, "end", number, about), (last, rank, "done", number, about)]


def both(trace):
    """The gaps, which are the same with numpy and without."""
    run = orrery_critical.Run(trace)
    pieces = orrery_critical.critical_path(run)
    found, fast = orrery_alone.gaps(run, trace, pieces), orrery_alone.numpy
    orrery_alone.numpy = None
    assert orrery_alone.gaps(run, trace, pieces) == found
    orrery_alone.numpy = fast
    return found


def known():
    """Two ranks of two workers: all work until 100, a long kernel works alone until 300, all work until 400, nobody until a message
    is there at 550, for which rank 1 goes on."""
    events = []
    for number, (rank, worker) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1)), 1):
        events += task(number, rank, worker, 0, 100) + (task(number + 20, rank, worker, 550, 700, cause=2 << 60 | 7) if rank else [])
        if (rank, worker) != (0, 1):
            events += task(number + 10, rank, worker, 300, 400, cause=0 if rank else 1 << 60 | 2)
    events += task(12, 0, 1, 100, 300, kernel=1, cause=1 << 60 | 2) + task(14, 0, 1, 300, 400, cause=1 << 60 | 12)
    # A task of rank 0 that its message comes from ended at 400.
    events += [(0, 0, "post", 7, {"a": 1}), (0, 1, "post", 7, {"a": 0, "flags": RECEIVE}), (0, 1, "grant", 7, {}),
               (400, 0, "grant", 7, {"c": 1 << 60 | 14}), (400, 0, "send", 7 << 32 | 7, {"a": 1, "d": 64}),
               (550, 1, "envelope", 7 << 32 | 7, {"a": 0}), (550, 1, "match", 7 << 32 | 7, {"a": 0}), (550, 1, "recv", 7, {"a": 0, "d": 64})]
    trace = trace_of((("CPU 0", "CPU 1"), ("CPU 0", "CPU 1")), events)
    found = both(trace)
    got = [tuple(g) for g in found]
    assert got == [(100, 300, 200, "kernel", "long", 0, 200), (400, 550, 0, "latency", "", 1, 150)], got
    rows = list(orrery_tables.Tables(trace).rows("gaps"))
    assert rows == [(100, 300, 200, "kernel", "long", 0, 200), (400, 550, 0, "latency", None, 1, 150)], rows
    run = orrery_critical.Run(trace)
    about = orrery_alone.as_json(found, run)
    head, lines = orrery_alone.lines(about, (run.last - run.first) * 1e-9)
    assert head == "At most one of 4 workers executed a kernel and all others waited for 50.0 % of the time, 0.000000 s", head
    assert len(lines) == 2 and lines[0].endswith("kernel long, rank 0"), lines
    assert orrery_alone.lines(about, 1e-5) is None


def made(rng):
    """(names of workers, [(rank, worker, first, last)]): kernels one after the other on each worker, with pauses of all."""
    ranks, cpus, devices = rng.randint(1, 4), rng.randint(1, 10), rng.choice((0, 0, 1, 3))
    names = [["CPU %d" % i for i in range(cpus)] + ["CUDA 0.%d" % i for i in range(devices)] for _ in range(ranks)]
    quiet = sorted(rng.sample(range(2000), 8))
    kernels = []
    for rank in range(ranks):
        for worker in range(cpus + devices):
            now = rng.randint(0, 60)
            while now < 2000 and rng.random() < 0.95:
                last = now + rng.randint(1, 120)
                kernels.append((rank, worker, now, last))
                now = last + rng.choice((0, 0, rng.randint(1, 150)))
                for a, b in zip(quiet[::2], quiet[1::2]):
                    if a <= now < b and rng.random() < 0.97:
                        now = b
    return names, kernels or [(0, 0, 0, 10)]


def counted(names, kernels):
    """[(first, last, nanoseconds in kernels)], nanosecond by nanosecond."""
    end = max(k[3] for k in kernels)
    is_device = {(rank, w): name.startswith("CUDA") for rank, some in enumerate(names) for w, name in enumerate(some)}
    used = {k[:2] for k in kernels}
    there = [sum(not device for device in is_device.values()), sum(device and place in used for place, device in is_device.items())]
    if sum(there) < 3:
        return []
    limit = [max(1, n // 16) if n >= 3 else 0 for n in there]
    if there[1]:
        limit[0] = max(1, there[0] // 16)
    found, busy = [], [[0, 0] for _ in range(end)]
    for rank, worker, first, last in kernels:
        for ns in range(first, last):
            busy[ns][is_device[rank, worker]] += 1
    begun = None
    for ns in range(end + 1):
        few = ns < end and busy[ns][0] <= limit[0] and busy[ns][1] <= limit[1]
        if few and begun is None:
            begun = ns
        elif not few and begun is not None:
            if 100 * (ns - begun) >= end:
                found.append((begun, ns, sum(map(sum, busy[begun:ns]))))
            begun = None
    return found


def check(seed):
    names, kernels = made(random.Random(seed))
    events = [e for number, (rank, worker, first, last) in enumerate(kernels, 1) for e in task(number, rank, worker, first, last)]
    found = both(trace_of(names, events))
    got, want = [tuple(g[:3]) for g in found], counted(names, kernels)
    assert got == want, (seed, got, want)
    assert all(0 < g.path_ns <= g.last - g.first for g in found), (seed, found)
    return len(found)


if __name__ == "__main__":
    known()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    number = sum(check(seed) for seed in range(runs))
    print("%d runs, %d gaps%s" % (runs, number, "" if orrery_alone.numpy else ", without numpy"))
    sys.exit(0 if number > runs else "too few gaps")
