# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery calibrate --kernels`: runs a program with 1, 2, 4, ... workers and writes
# how its kernels slow each other down, bus/NAME.contention of a machine.
# Invariant: a task is compared with itself alone, so that tasks of other sizes do
# not matter; curves of kernels that the program does not have stay in the file.
import bisect
import collections
import math
import os
import re
import statistics
import subprocess
import tempfile

import orrery_checksum
import orrery_critical
import orrery_machines as machines
import orrery_options
import orrery_run
import orrery_tracefile
from orrery_cli import UserError

VERSION = "contention 1"
MOST_COMPANY, MOST_SLOWDOWN, MOST_CURVES, MOST_POINTS = 65536, 1e4, 256, 64  # as the library takes them
NUMBER = re.compile(r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
SHORT = 0.25  # a kernel had company n if on average at least n - SHORT kernels ran meanwhile
LEAST = 5     # of them, or nothing is said of that company
OWN = 0.75    # of the company that has to be of the kernel's own kind, to be called its own
NOISE = 0.97  # a kernel that is faster than that beside others was not measured well

Execution = collections.namedtuple("Execution", "name place us company own")
Slowdown = collections.namedtuple("Slowdown", "value low high number")


# ---- one run ----

def integral(intervals):
    """Function (first, last) -> mean number of intervals that are there between the two."""
    steps = collections.Counter()
    for first, last in intervals:
        steps[first] += 1
        steps[last] -= 1
    times, counts, sums = sorted(steps), [], [0.0]
    for time in times:
        counts.append((counts[-1] if counts else 0) + steps[time])
    for i in range(1, len(times)):
        sums.append(sums[-1] + counts[i - 1] * (times[i] - times[i - 1]))

    def until(time):
        i = bisect.bisect_right(times, time) - 1
        return sums[i] + counts[i] * (time - times[i])

    return lambda first, last: (until(last) - until(first)) / (last - first)


def executions(run):
    """The kernels of a recorded run, each by the name of its model, else of its codelet, as the library finds its curve. place: the
    number of the task among those of its name, in the order of submission; company: how many kernels ran at once, itself included, on average; own: the share of its own kind among those beside it."""
    tasks = [t for t in run.tasks.values() if t.start is not None and t.end is not None and t.end > t.start]
    tasks.sort(key=lambda t: (t.rank, t.submit if t.submit is not None else 0, t.key))
    every = integral((t.start, t.end) for t in tasks) if tasks else None
    by_name = collections.defaultdict(list)
    for t in tasks:
        by_name[t.model or t.name].append(t)
    found = []
    for name, members in by_name.items():
        of_name = integral((t.start, t.end) for t in members)
        for place, t in enumerate(members):
            beside, own = every(t.start, t.end) - 1, of_name(t.start, t.end) - 1
            found.append(Execution(name, place, (t.end - t.start) * 1e-3, 1 + beside, own / beside if beside > 1e-9 else 1.0))
    return found


# ---- all of them ----

def by_kernel(runs):
    """{name: [[executions of the kernel in a run] of each run]}"""
    names = {e.name for run in runs for e in run}
    return {name: [[e for e in run if e.name == name] for run in runs] for name in names}


def slowdown(alone, beside, company):
    """(Slowdown in that company or None, remarks) of one kernel; alone, beside: its executions in each run, with one worker and with
    as many as the company."""
    remarks = []
    same = len({len(run) for run in alone + beside}) == 1
    if same:
        base = [statistics.median(us) for us in zip(*([e.us for e in sorted(run, key=lambda e: e.place)] for run in alone))]
    else:
        remarks.append("its tasks are not the same in each run, so that their median is compared")
        base = [statistics.median(e.us for run in alone for e in run)] if any(alone) else []
    chosen = [[e for e in run if e.company >= company - SHORT] for run in beside]
    own = [[e for e in run if e.own >= OWN] for run in chosen]
    number, everything = sum(map(len, chosen)), sum(map(len, beside))
    if number < LEAST or not base:
        return None, ["%d of its %d executions had %d kernels at once, which is too few" % (number, everything, company)]
    if sum(map(len, own)) >= LEAST:
        chosen = own
    else:
        share = statistics.mean(e.own for run in chosen for e in run)
        remarks.append("%.0f %% of those beside it were of its own kind; the others are counted as if they were" % (100 * share))
    rounds = [statistics.median(e.us / base[e.place if same else 0] for e in run) for run in chosen if run]
    return Slowdown(statistics.median(rounds), min(rounds), max(rounds), sum(map(len, chosen))), remarks


def curves(measured):
    """{name: [(company, Slowdown)]}, remarks; measured: {workers: [executions of each round]}, that of one worker included."""
    found, said = {}, []
    companies = sorted(n for n in measured if n > 1)
    kernels = {n: by_kernel(runs) for n, runs in measured.items()}
    for name in sorted(set().union(*kernels.values())):
        points, worst = [], 1.0
        for company in companies:
            alone = kernels[1].get(name, [])
            value, remarks = slowdown(alone, kernels[company].get(name, []), company)
            said += ["%s with %d workers: %s" % (name, company, remark) for remark in remarks]
            if value is None:
                continue
            if value.value < worst * NOISE:
                said.append("%s with %d workers: %.3g times the time of fewer, taken as 1" % (name, company, value.value / worst))
            worst = max(worst, value.value)
            points.append((company, value._replace(value=worst)))
        if points:
            found[name] = points
    return found, said


# ---- the file ----

def wrong(path, number, expected):
    return machines.wrong(path, number, expected)


def read_curve(path, number, line, known):
    name, colon, pairs = line.rpartition(":")
    name, words = name.strip(), pairs.split()
    if not colon or not name or not words or len(words) % 2:
        raise wrong(path, number, "a name, a colon and pairs of a company and a slowdown, such as `gemm: 2 1.05`")
    if name in known:
        raise wrong(path, number, "each name only once")
    points, last = [], (1, 1.0)
    for company, value in zip(words[::2], words[1::2]):
        if not NUMBER.fullmatch(company) or not NUMBER.fullmatch(value):
            raise wrong(path, number, "pairs of a company and a slowdown, such as `gemm: 2 1.05`")
        point = float(company), float(value)
        if not last[0] < point[0] <= MOST_COMPANY or not point[0].is_integer() or not last[1] <= point[1] <= MOST_SLOWDOWN:
            raise wrong(path, number, "companies that rise, whole numbers from 2 on, and slowdowns that do not fall, from 1 on")
        points.append((int(point[0]), point[1]))
        last = point
    return name, points


def read(folder, name):
    """{kernel: (comments before its line, [(company, slowdown)])}; empty without the file."""
    path = os.path.join(folder, "bus", name + ".contention")
    found, comments, version = {}, [], False
    if not os.path.exists(path):
        return found
    orrery_checksum.check(path)
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(map(str.strip, file), 1):
            if not line or line.startswith("#"):
                comments += [line] if line and version else []
            elif not version:
                if line != VERSION:
                    raise wrong(path, number, "`%s`, the version of the format that this Orrery reads" % VERSION)
                version, comments = True, []
            else:
                kernel, points = read_curve(path, number, line, found)
                found[kernel], comments = (comments, points), []
    if not version:
        raise wrong(path, 1, "`%s`, the version of the format that this Orrery reads" % VERSION)
    return found


def text_of(table):
    lines = ["# SPDX-License-Identifier: LGPL-2.1-or-later",
             "# How kernels slow each other down: kernels at once, itself included, and the time of one against that alone.", VERSION]
    for name in sorted(table):
        comments, points = table[name]
        lines += comments + ["%s: %s" % (name, " ".join("%d %.4g" % point for point in points))]
    return "\n".join(lines) + "\n"


def fits(name):
    """Whether the file can hold a kernel of that name."""
    return bool(name.strip()) and name == name.strip() and not name.startswith("#") and not re.search(r"[\x00-\x1f]", name)


def write(folder, name, found, note):
    """Adds curves, and replaces those of the same kernels. Returns the path."""
    table = read(folder, name)
    for kernel, points in found.items():
        comments = ["# %s: %s" % (kernel, note)]
        comments += ["#   %d workers: %d executions, %.3g to %.3g in the runs" % (n, s.number, s.low, s.high) for n, s in points]
        table[kernel] = (comments, [(n, s.value) for n, s in points][:MOST_POINTS])
    if len(table) > MOST_CURVES:
        raise UserError("bus/%s.contention would have %d kernels, and can have %d; remove those that are not needed"
                        % (name, len(table), MOST_CURVES), 1)
    os.makedirs(os.path.join(folder, "bus"), exist_ok=True)
    path = os.path.join(folder, "bus", name + ".contention")
    machines.write_checked(path, text_of(table))
    return path


# ---- the command ----

def numbers_of_workers(text, cores):
    """1, 2, 4, ... and all cores, or those that were asked for."""
    if text is None:
        numbers = {2 ** i for i in range(int(math.log2(cores)) + 1)} | {cores}
    else:
        words = text.split(",")
        if not all(word.isascii() and word.isdigit() and 1 <= int(word) <= MOST_COMPANY for word in words):
            raise UserError("--workers %s: expected whole numbers with commas in between, such as 2,4,8" % text)
        numbers = {1} | set(map(int, words))
        if max(numbers) > cores:
            raise UserError("--workers %s: only %d core%s can be used here, so that more workers would take turns"
                            % (text, cores, "" if cores == 1 else "s"))
    if numbers == {1}:
        raise UserError("kernels beside each other need two cores, and two workers; %s"
                        % ("only one can be used here" if cores == 1 else "--workers asks for one"), 1)
    return sorted(numbers)


def environment(context, place, workers, trace):
    """Of a run. What it takes alone also goes to the performance models of the machine."""
    folder, name = place
    env = machines.environment(context)
    part = [variable for variable, _, _ in orrery_options.PARTS.values()]
    for variable in [v for v in env if v.startswith("STARPU_MPI_FAKE") or v in part]:
        del env[variable]
    env.update(STARPU_NCPU=str(workers), STARPU_NCUDA="0", STARPU_NOPENCL="0", STARPU_CALIBRATE=str(int(workers == 1)),
               STARPU_PERF_MODEL_DIR=os.path.abspath(folder), STARPU_HOSTNAME=name, ORRERY_TRACE=trace)
    return env


def record(context, place, program, workers, scratch):
    """The executions of one run of the program."""
    trace = os.path.join(scratch, "trace")
    result = subprocess.run(program, env=environment(context, place, workers, trace), stdout=subprocess.DEVNULL, check=False)
    if result.returncode:
        raise UserError("%s failed with exit status %d; its message is above" % (" ".join(program), result.returncode), 1)
    if not os.path.exists(trace):
        raise UserError("%s recorded nothing; it has to be a program of Orrery that starts the runtime" % program[0], 1)
    found = orrery_tracefile.Trace(trace)
    if found.state():
        raise UserError("the recording of %s with %d workers is not whole (%s); give it less to do" % (program[0], workers, found.state()), 1)
    run = orrery_critical.Run(found)
    os.unlink(trace)
    return executions(run)


def measure(context, place, program, options, say):
    """{workers: [executions of each round]}"""
    program = [orrery_run.check_program(program[0])] + program[1:]
    workers = numbers_of_workers(options.get("--workers"), orrery_run.usable_cores())
    measured = {n: [] for n in workers}
    os.makedirs(place[0], exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        # In turn, so that a change of what else the machine does meets all of them.
        for i in range(int(options.get("--rounds", "3"))):
            for n in workers:
                say("run %d with %d worker%s" % (i + 1, n, "" if n == 1 else "s"))
                measured[n].append(record(context, place, program, n, scratch))
    return measured


def calibrate(context, place, program, options, note, say):
    """Returns the path of the file that was written."""
    read(*place)  # refused before anything is measured
    found, said = curves(measure(context, place, program, options, say))
    for kernel in [k for k in found if not fits(k)]:
        said.append("%r: not a name that bus/NAME.contention can hold; give its codelet another one" % kernel)
        del found[kernel]
    for remark in said:
        say(remark)
    if not found:
        raise UserError("no kernel ran beside others often enough; give %s more and longer tasks, or fewer --workers" % program[0], 1)
    for kernel, points in sorted(found.items()):
        say("%s: %s" % (kernel, ", ".join("%.3g times the time alone with %d workers" % (s.value, n) for n, s in points)))
    return write(place[0], place[1], found, note)
