# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain A B`: where two recorded runs drift apart, and how far a simulated one
# predicts a real one.
# Invariant: the differences of the parts of the two critical paths add up to the
# difference of the makespans, exactly; the largest comes first everywhere.
import collections
import statistics

import orrery_cores
import orrery_part
from orrery_critical import Run, critical_path, title

# The limits of the verdict on a prediction, as shares of the real makespan: the error, and the errors that
# cancel each other out. Beyond the second pair nothing should be concluded.
GOOD, FAIR = 0.10, 0.30
SAME = 0.02      # a kernel, rank or way that differs by less is not mentioned,
NAMED = 0.01     # errors that cancel each other out are not, if they are less,
LITTLE = 0.001   # nor what differs by less than this share of the makespan
MOSTLY = 0.75    # of a difference: the rank that has so much of it is named
SHOWN = 5        # of each list on the page
STEPS = 10       # of the progress


class Side:
    """What is compared of one run."""

    def __init__(self, trace):
        orrery_part.need_tasks(trace, "a comparison")
        self.trace, self.run = trace, Run(trace)
        self.pieces = critical_path(self.run)
        self.makespan = self.run.last - self.run.first
        self.path, self.times, self.by_rank = collections.Counter(), collections.Counter(), collections.Counter()
        for p in self.pieces:
            key = (p.kind, p.detail if p.kind in ("kernel", "fetching") else "")
            self.path[key] += p.last - p.first
            self.times[key] += 1
            self.by_rank[key, p.rank] += p.last - p.first
        self.kernels = collections.defaultdict(list)    # name: lengths
        self.busy, self.over = collections.Counter(), collections.Counter()   # rank: in kernels; its last event of a task
        self.done = {}
        places = collections.Counter()
        tasks = sorted(self.run.tasks.values(), key=lambda t: (t.rank, t.submit if t.submit is not None else 0, t.key))
        for t in tasks:
            place = (t.rank, t.name, places[t.rank, t.name])
            places[t.rank, t.name] += 1
            if t.start is not None and t.end is not None:
                self.kernels[t.name].append(t.end - t.start)
                self.busy[t.rank] += t.end - t.start
                self.over[t.rank] = max(self.over[t.rank], t.end - self.run.first)
                self.done[place] = t.end - self.run.first
        self.ways = collections.defaultdict(list)       # (from, to): times under way
        for r in self.run.requests.values():
            m = r.message
            if m is not None and m.send is not None and r.recv is not None and m.sender != m.key[1]:
                if r.grant is None or m.envelope is None or r.grant <= m.envelope:   # else the receive was late
                    self.ways[m.sender, m.key[1]].append(max(0, r.recv - m.send))
        self.ranks = sorted(self.run.ranks)

    def about(self):
        return {"file": self.trace.path, "world": "simulated" if self.trace.simulated else "real",
                "complete": self.trace.state() is None, "makespan_seconds": self.makespan * 1e-9, "ranks": len(self.ranks),
                "workers": len(self.run.workers), "tasks": sum(map(len, self.kernels.values())), "messages": self.run.messages_received(),
                "waited_for_cores": orrery_cores.waited(*self.trace.waited() or (None, 0))}


def program_ns(run, rank):
    """Time that the program of a rank took between its first and its last submission, without waits."""
    found = 0
    for number, process in run.processes.items():
        times = run.program[number]
        if process.rank == rank and times:
            found += times[-1] - times[0] - sum(min(w.end, times[-1]) - max(w.begin, times[0]) for w in run.waits[number]
                                                if w.begin < times[-1] and w.end > times[0])
    return found


def mostly(a, b, key):
    """The rank on which most of the difference of a part of the paths is, or None: then the others have it, too."""
    differences = {rank: b.by_rank[key, rank] - a.by_rank[key, rank]
                   for k, rank in set(a.by_rank) | set(b.by_rank) if k == key and rank >= 0}
    total = sum(map(abs, differences.values()))
    if len(a.ranks) < 2 or not total:
        return None
    rank = max(sorted(differences), key=lambda r: abs(differences[r]))
    if key[0] == "program" and len(b.ranks) > 1:   # the path is on one of them, though all may be late
        others = [program_ns(b.run, r) - program_ns(a.run, r) for r in b.ranks if r != rank]
        if 2 * abs(statistics.median(others)) > abs(program_ns(b.run, rank) - program_ns(a.run, rank)):
            return None
    same_sign = (differences[rank] > 0) == (b.path[key] > a.path[key])
    return rank if same_sign and abs(differences[rank]) >= MOSTLY * total else None


def of_paths(a, b):
    """What explains the difference: the parts of the critical paths."""
    found = []
    for kind, name in set(a.path) | set(b.path):
        key = (kind, name)
        found.append({"kind": kind, "name": name, "a_seconds": a.path[key] * 1e-9, "b_seconds": b.path[key] * 1e-9,
                      "seconds": (b.path[key] - a.path[key]) * 1e-9,
                      "a_pieces": a.times[key], "b_pieces": b.times[key], "rank": mostly(a, b, key)})
    return sorted(found, key=lambda f: (-abs(f["seconds"]), f["kind"], f["name"]))


def mean(values):
    return sum(values) / len(values) if values else 0


def of_lists(a, b, names):
    """[{names…, numbers and means of both, seconds}] of what both have lists of, by what they differ in all."""
    found = []
    for key in set(a) | set(b):
        one, other = a.get(key, ()), b.get(key, ())
        row = dict(zip(names, key if isinstance(key, tuple) else (key,)))
        row.update({"a_number": len(one), "b_number": len(other), "a_mean_seconds": mean(one) * 1e-9, "b_mean_seconds": mean(other) * 1e-9,
                    "seconds": (sum(other) - sum(one)) * 1e-9})
        found.append(row)
    return sorted(found, key=lambda f: (-abs(f["seconds"]),) + tuple(f[n] for n in names))


def of_ranks(a, b):
    found = [{"rank": rank, "a_kernel_seconds": a.busy[rank] * 1e-9, "b_kernel_seconds": b.busy[rank] * 1e-9,
              "a_over_seconds": a.over[rank] * 1e-9, "b_over_seconds": b.over[rank] * 1e-9,
              "seconds": (b.busy[rank] - a.busy[rank]) * 1e-9} for rank in sorted(set(a.busy) | set(b.busy))]
    return sorted(found, key=lambda f: (-abs(f["seconds"]), f["rank"]))


def progress(a, b):
    """When each tenth of the tasks that both have was done; and in which of these steps they drift apart most."""
    common = set(a.done) & set(b.done)
    if len(common) < STEPS:
        return [], None
    one, other = (sorted(side.done[place] for place in common) for side in (a, b))
    found = []
    for i in range(1, STEPS + 1):
        at = len(common) * i // STEPS - 1
        found.append({"tasks": i / STEPS, "a_seconds": one[at] * 1e-9, "b_seconds": other[at] * 1e-9,
                      "seconds": (other[at] - one[at]) * 1e-9})
    drift = [0] + [f["seconds"] for f in found]
    most = max(range(STEPS), key=lambda i: abs(drift[i + 1] - drift[i]))
    return found, {"from": most / STEPS, "to": (most + 1) / STEPS, "seconds": drift[most + 1] - drift[most]}


def work(a, b):
    """How the two runs differ in what they had to do; empty if they had the same tasks."""
    said = []
    if a.ranks != b.ranks:
        said.append("A has %d ranks, B has %d" % (len(a.ranks), len(b.ranks)))
    for name in sorted(set(a.kernels) | set(b.kernels)):
        one, other = len(a.kernels.get(name, ())), len(b.kernels.get(name, ()))
        if one != other:
            said.append("A has %d tasks of kernel %s, B has %d" % (one, name, other))
    return said


def machine(a, b):
    """How the machines differ; a prediction may be wrong for that."""
    if len(a.run.workers) == len(b.run.workers):
        return []
    return ["A has %d workers, B has %d" % (len(a.run.workers), len(b.run.workers))]


def judge(error, cancelled):
    """The verdict on a prediction, by shares of the real makespan."""
    if abs(error) <= GOOD and cancelled <= GOOD:
        return "good"
    return "fair" if abs(error) <= FAIR and cancelled <= FAIR else "poor"


WORDS = {
    "good": "The prediction can be trusted for this program: for its makespan, and for what makes it up.",
    "fair": "The prediction can be trusted for orders and trends, as which policy or network is better by far, not for exact times.",
    "poor": "The prediction should not be trusted for this program before what is first above has been corrected.",
    "none": "No verdict: the runs had not the same to do, or were cut short.",
}


def verdict(a, b, paths, differs):
    """On simulated against real, else None."""
    if a.trace.simulated == b.trace.simulated:
        return None
    simulated, real = (a, b) if a.trace.simulated else (b, a)
    if differs or a.trace.state() or b.trace.state() or not real.makespan:
        return {"verdict": "none", "text": WORDS["none"]}
    error = (simulated.makespan - real.makespan) / real.makespan
    parts = [f["seconds"] for f in paths]
    # What is too much here and too little there does not show in the sum.
    cancelled = min(sum(s for s in parts if s > 0), -sum(s for s in parts if s < 0)) * 1e9 / real.makespan
    word = judge(error, cancelled)
    busy = orrery_cores.much(real.about()["waited_for_cores"])
    return {"verdict": word, "error": error, "cancelled": cancelled, "busy": busy, "text": WORDS[word]}


def compare(trace_a, trace_b):
    """What there is to say of two runs, as --json prints it."""
    a, b = Side(trace_a), Side(trace_b)
    paths, differs = of_paths(a, b), work(a, b)
    steps, most = progress(a, b)
    return {"a": a.about(), "b": b.about(), "difference_seconds": (b.makespan - a.makespan) * 1e-9, "work": differs,
            "machine": machine(a, b), "path": paths,
            "kernels": of_lists(a.kernels, b.kernels, ("name",)), "ranks": of_ranks(a, b),
            "ways": of_lists(a.ways, b.ways, ("from", "to")), "progress": steps, "drift": most,
            "verdict": verdict(a, b, paths, differs),
            "incomplete": ["%s: %s" % (t.path, t.state()) for t in (trace_a, trace_b) if t.state()],
            "parts": ["%s: %s" % (t.path, t.part.sentence()) for t in (trace_a, trace_b) if t.part is not None]}


def percent(part, whole):
    return 100 * part / whole if whole else 0


def unlike(one, other):
    return abs(other - one) > SAME * max(abs(one), abs(other))


def other_lists(found, row):
    """Whether a row of of_lists() is worth a line."""
    if abs(row["seconds"]) <= LITTLE * max(found["a"]["makespan_seconds"], found["b"]["makespan_seconds"]):
        return False
    return unlike(row["a_mean_seconds"], row["b_mean_seconds"]) or row["a_number"] != row["b_number"]


def chosen(found):
    """The kernels, ranks and ways that are worth a line, at most SHOWN of each."""
    kernels = [k for k in found["kernels"] if other_lists(found, k)]
    ranks = [r for r in found["ranks"] if unlike(r["a_kernel_seconds"], r["b_kernel_seconds"])
             or unlike(r["a_over_seconds"], r["b_over_seconds"])]
    ways = [w for w in found["ways"] if other_lists(found, w)]
    return kernels[:SHOWN], ranks[:SHOWN], ways[:SHOWN]


def write_lists(found, out):
    kernels, ranks, ways = chosen(found)
    out.write("\nKernels, by what they differ in all tasks:\n")
    for k in kernels:
        out.write("  %+12.6f s  %s: %d of %.6f s, then %d of %.6f s\n"
                  % (k["seconds"], k["name"], k["a_number"], k["a_mean_seconds"], k["b_number"], k["b_mean_seconds"]))
    if not kernels:
        out.write("  none differs by more than %d %%\n" % (100 * SAME))
    out.write("\nRanks, by their time in kernels:\n")
    for r in ranks:
        out.write("  %+12.6f s  rank %d: its last task ended after %.6f s, then after %.6f s\n"
                  % (r["seconds"], r["rank"], r["a_over_seconds"], r["b_over_seconds"]))
    if not ranks:
        out.write("  none differs by more than %d %%\n" % (100 * SAME))
    if ways:
        out.write("\nMessages, by the time that they were under way:\n")
    for w in ways:
        out.write("  %+12.6f s  rank %d to %d: %d of %.6f s, then %d of %.6f s\n"
                  % (w["seconds"], w["from"], w["to"], w["a_number"], w["a_mean_seconds"], w["b_number"], w["b_mean_seconds"]))


def verdict_words(v):
    """The sentences of a verdict."""
    if "error" not in v:
        return [v["text"]]
    said = "the simulated makespan is %+.1f %% off" % (100 * v["error"])
    if v["cancelled"] >= NAMED:
        said += "; errors of %.1f %% cancel each other out" % (100 * v["cancelled"])
    if v["busy"]:
        said += "; the real run had to wait for cores, which no simulation knows of: record one when the machine is quiet"
    return [said, v["text"]]


def write_end(found, out):
    if found["progress"]:
        out.write("\nIn time, B against A when so much of the tasks was done:\n ")
        for step in found["progress"][1::2]:
            out.write(" %d %%: %+.6f s%s" % (round(100 * step["tasks"]), step["seconds"], "\n" if step["tasks"] == 1 else " "))
        drift = found["drift"]
        if drift["seconds"]:
            out.write("  they drift apart most between %d %% and %d %%: %+.6f s\n"
                      % (round(100 * drift["from"]), round(100 * drift["to"]), drift["seconds"]))
    if found["verdict"]:
        out.write("\nSimulated against real:\n")
        for sentence in verdict_words(found["verdict"]):
            out.write("  %s\n" % sentence)
    for sentence in found["incomplete"]:
        out.write("\n%s; what is said is true up to there\n" % sentence)
    for sentence in found["parts"]:
        out.write("\n%s; what is said is true of that part\n" % sentence)


def write_page(found, out):
    a, b, d = found["a"], found["b"], found["difference_seconds"]
    for letter, side in (("A", a), ("B", b)):
        out.write("%s  %.6f s  %s: %s, %d ranks, %d workers, %d tasks\n"
                  % (letter, side["makespan_seconds"], side["file"], side["world"], side["ranks"], side["workers"], side["tasks"]))
    out.write("B takes %.6f s %s than A, %+.1f %%\n" % (abs(d), "longer" if d >= 0 else "less", percent(d, a["makespan_seconds"])))
    for letter, side in (("A", a), ("B", b)):
        if orrery_cores.much(side["waited_for_cores"]):
            out.write("  %s\n" % orrery_cores.sentence(letter, side["waited_for_cores"]))
    for sentence in found["work"][:SHOWN]:
        out.write("  not the same work: %s\n" % sentence)
    for sentence in found["machine"]:
        out.write("  not the same machine: %s\n" % sentence)
    out.write("\nWhat explains the difference, along the critical paths:\n")
    rows = [p for p in found["path"] if p["seconds"]]
    for p in rows[:2 * SHOWN]:
        out.write("  %+12.6f s  %s: %.6f s, then %.6f s%s\n" % (
            p["seconds"], title(p), p["a_seconds"], p["b_seconds"], "" if p["rank"] is None else ", most of it on rank %d" % p["rank"]))
    if len(rows) > 2 * SHOWN:
        out.write("  %+12.6f s  %d others\n" % (sum(p["seconds"] for p in rows[2 * SHOWN:]), len(rows) - 2 * SHOWN))
    if not rows:
        out.write("  nothing\n")
    write_lists(found, out)
    write_end(found, out)
