# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery sim --repeat K`: the same simulation with K seeds, and the distribution
# of its makespan.
# Invariant: the output depends on the command only, not on --jobs or on the order
# in which runs end; a run that fails is named and makes the command fail.
import concurrent.futures
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

# They name a file that each run would overwrite.
RUN_FILES = ("ORRERY_TRACE", "STARPU_FXT_TRACE", "ORRERY_MPI_STATS_FILE", "ORRERY_STATISTICS")
COLUMNS = ("makespan_s", "tasks", "messages", "bytes")
LISTED_FAILURES = 10


def quantile(ordered, q):
    """Linear between the two nearest of the ordered values."""
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def summarize(values):
    ordered = sorted(values)
    n = len(ordered)
    mean = sum(ordered) / n
    return {
        "min": ordered[0], "quartile1": quantile(ordered, 0.25), "median": quantile(ordered, 0.5), "mean": mean,
        "quartile3": quantile(ordered, 0.75), "max": ordered[-1],
        "deviation": (sum((v - mean) ** 2 for v in ordered) / (n - 1)) ** 0.5 if n > 1 else 0.0,
    }


class Runs:
    """The simulations under way; stop() ends them all."""

    def __init__(self, command, environment, folder):
        self.command, self.environment, self.folder = command, environment, folder
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def start(self, command, output):
        with self.lock:
            if self.stopped:
                return None
            process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            self.running.add(process)
            return process

    def run(self, options, seed, name):
        """One simulation: its report with "status", and "says" when that is not 0."""
        report = os.path.join(self.folder, name + ".json")
        command = self.command(options + [("--seed", str(seed)), ("--report", report)])
        with tempfile.TemporaryFile(dir=self.folder) as output:
            process = self.start(command, output)
            status = process.wait() if process else -signal.SIGTERM
            if process:
                with self.lock:
                    self.running.discard(process)
            result = {"seed": seed, "status": status if status >= 0 else 128 - status}
            if status:
                result["says"] = last_line(output)
                return result
        try:
            with open(report) as file:
                result.update((key, value) for key, value in json.load(file).items() if key != "status")
            os.unlink(report)
        except (OSError, ValueError):
            result.update(status=1, says="it wrote no report")
        return result

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                process.terminate()


def last_line(file):
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4096))
    lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("orrery") and "; took " not in line]
    return (said or lines or ["(it said nothing)"])[-1]


class Progress:
    """A line that is updated on a terminal; silent elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.begin, self.shown = total, 0, time.monotonic(), 0
        self.low, self.high = None, None

    def count(self, result):
        self.done += 1
        if result["status"] == 0:
            value = result["makespan_s"]
            self.low = value if self.low is None else min(self.low, value)
            self.high = value if self.high is None else max(self.high, value)
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - self.shown < 0.25 and self.done < self.total):
            return
        self.shown = now
        so_far = "" if self.low is None else ", makespans from %.6f to %.6f s" % (self.low, self.high)
        sys.stderr.write("\r\033[K%d of %d runs done, %.2g runs/s%s" % (self.done, self.total, self.done / (now - self.begin + 1e-9), so_far))
        sys.stderr.flush()

    def clear(self):
        if self.shown:
            sys.stderr.write("\r\033[K")


def free_memory():
    """In bytes; None where the system does not say."""
    try:
        with open("/proc/meminfo") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None


def fitting_jobs(first):
    """How many runs like that one the cores and the memory of this computer can have at a time."""
    cores, free, needed = len(os.sched_getaffinity(0)), free_memory(), first.get("peak_rss_bytes")
    return max(1, min(cores, int(0.9 * free / needed))) if free and needed else cores


def tell_plan(first, count, jobs):
    """On a terminal: what the runs will take, judged by the first one."""
    if sys.stderr.isatty() and first["status"] == 0:
        sys.stderr.write("\r\033[K%d runs of about %.2g s and %.0f MB, %d at a time: about %.0f s\n" % (
            count, first["wall_s"], first["peak_rss_bytes"] / 1e6, jobs, -(-count // jobs) * first["wall_s"]))


def run_all(runs, options, varying, seeds, jobs):
    """The run without the options in varying, by which the number of jobs is chosen if it is None, then one run per
    seed, in this order."""
    progress = Progress(len(seeds) + 1)
    plain = [pair for pair in options if pair[0] not in varying]
    try:
        nominal = runs.run(plain, seeds[0], "none")
    except BaseException:
        runs.stop()
        raise
    jobs = jobs or fitting_jobs(nominal)
    tell_plan(nominal, len(seeds), jobs)
    progress.count(nominal)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            futures = [pool.submit(runs.run, options, seed, str(seed)) for seed in seeds]
            for future in concurrent.futures.as_completed(futures):
                progress.count(future.result())
        except BaseException:
            runs.stop()
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            progress.clear()
    return [nominal] + [future.result() for future in futures]


def print_summary(program, options, nominal, good, summary):
    nodes = dict(options).get("-n", "1")
    print("makespan of %s on %s node%s, %d runs, in seconds:" % (os.path.basename(program), nodes, "" if nodes == "1" else "s", len(good)))
    digits = 6 if summary["max"] >= 0.01 else 9
    if nominal["status"] == 0:
        print("  %-20s %.*f" % ("without variability", digits, nominal["makespan_s"]))
    for key, words in (("min", "minimum"), ("quartile1", "first quartile"), ("median", "median"), ("mean", "mean"),
                       ("quartile3", "third quartile"), ("max", "maximum")):
        print("  %-20s %.*f" % (words, digits, summary[key]))
    percent = 100 * summary["deviation"] / summary["mean"] if summary["mean"] > 0 else 0
    print("  %-20s %.*f (%.2f %% of the mean)" % ("standard deviation", digits, summary["deviation"], percent))


def write_report(path, program, options, nominal, results, summary):
    if path.endswith(".csv"):
        lines = ["seed,status," + ",".join(COLUMNS)]
        for r in results:
            numbers = ["%.9f" % r[c] if c == "makespan_s" else str(r[c]) for c in COLUMNS] if r["status"] == 0 else [""] * len(COLUMNS)
            lines.append(",".join([str(r["seed"]), str(r["status"])] + numbers))
        text = "\n".join(lines) + "\n"
    else:
        text = json.dumps({
            "program": os.path.basename(program[0]), "arguments": program[1:], "options": dict(options),
            "without_variability_s": nominal.get("makespan_s"), "makespan_s": summary,
            "runs": [{key: r[key] for key in ("seed", "status") + COLUMNS if key in r} for r in results],
        }, indent=2) + "\n"
    with open(path, "w") as file:
        file.write(text)


def print_failures(results):
    failed = [r for r in results if r["status"]]
    for r in failed[:LISTED_FAILURES]:
        sys.stderr.write("orrery sim: %s ended with status %d: %s\n" % (r.get("name", "seed %d" % r["seed"]), r["status"], r["says"]))
    if len(failed) > LISTED_FAILURES:
        sys.stderr.write("orrery sim: ... and %d more runs failed\n" % (len(failed) - LISTED_FAILURES))
    return failed


def interrupted(_signal, _frame):
    raise KeyboardInterrupt


def main(command, options, program, environment, request):
    """command: makes the launcher's command from options, which are pairs of a name and a value. request: repeat, jobs,
    seed, report, show, and varying, the names of the options that make runs vary."""
    seeds = range(request["seed"], request["seed"] + request["repeat"])
    if request["show"]:
        for seed in seeds:
            print(" ".join(shlex.quote(word) for word in command(options + [("--seed", str(seed))])))
        return 0
    for name in RUN_FILES:
        if environment.pop(name, None):
            sys.stderr.write("orrery sim: %s is ignored with --repeat: each run would overwrite the file\n" % name)
    signal.signal(signal.SIGTERM, interrupted)
    with tempfile.TemporaryDirectory(prefix="orrery-repeat-") as folder:
        nominal, *results = run_all(Runs(command, environment, folder), options, request["varying"], seeds, request["jobs"])
    good = [r for r in results if r["status"] == 0]
    summary = summarize([r["makespan_s"] for r in good]) if good else None
    nominal["name"] = "the run without variability"
    if request["report"]:
        write_report(request["report"], program, options, nominal, results, summary)
    if good:
        print_summary(program[0], options, nominal, good, summary)
        if summary["max"] == summary["min"] and len(good) > 1:
            sys.stderr.write("orrery sim: all runs are the same; --noise, --speed-spread and --background-load make them vary\n")
    failed = print_failures([nominal] + results)
    return failed[0]["status"] if failed else 0
