# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery sim --estimate`: what a simulation of many nodes will take of memory and
# time, judged by a few of its ranks. Each of them is simulated alone, as a fake
# rank (STARPU_MPI_FAKE_RANK): it has all its own tasks and inserts what it inserts
# in the whole run, but nothing is sent.
# Invariant: a run that would not fit into memory is not started.
import json
import os
import resource
import subprocess
import sys
import tempfile

import orrery_repeat
from orrery_cli import UserError

SAMPLES = 8  # ranks that are looked at
COPIES = 31  # more nodes that are the same rank, at most: what they add is what a rank takes
LIMIT_S = 60  # for one of these runs
# Fake ranks send nothing. Of a message that travels, the table in doc/simulating.md says the bytes, and the runs of
# there took 10 to 30 us for each.
MESSAGE_BYTES = 464
MESSAGE_S = 20e-6
NOT_PASSED_ON = orrery_repeat.RUN_FILES + ("STARPU_MPI_FAKE_RANK", "STARPU_MPI_FAKE_SIZE")
EXCLUDES = ("--repeat", "--jobs", "--fail", "--mtbf", "--elastic", "--master-slave")
OURS = ("--estimate", "-n", "--report", "--stats", "--bound", "--quiet", "--memory")


def check(names):
    """names: of all options that were given."""
    for name in EXCLUDES:
        if name in names and "--estimate" in names:
            raise UserError("--estimate is about one plain run; leave it or %s out" % name)


def sampled_ranks(nodes):
    """Ranks from all parts, at most SAMPLES. The distance of their places in the parts is that of the golden section, so
    that the ranks of a grid do not share its rows or columns."""
    count = min(nodes, SAMPLES)
    return [int((i + (i * 0.618034 + 0.309017) % 1) * nodes / count) for i in range(count)]


def processor_time():
    """Of all commands that have ended, in seconds: other load on the computer does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def share_at_once(report, environment):
    """The part of a rank's tasks, and so of its messages, that the limit on submitted tasks lets exist at a time."""
    limit = environment.get("STARPU_LIMIT_MAX_SUBMITTED_TASKS", "")
    return min(1, int(limit) / report["tasks"]) if limit.isdigit() and report["tasks"] else 1


def fitting_copies(report):
    """As many as an eighth of the free memory surely has room for, but one at least."""
    free = orrery_repeat.free_memory()
    return max(1, min(COPIES, int(free / 8 / report["peak_rss_bytes"]))) if free else COPIES


class Estimator:
    """command: makes the launcher's command from options, which are pairs of a name and a value."""

    def __init__(self, command, options, environment, nodes):
        self.command, self.nodes = command, nodes
        self.options = [pair for pair in options if pair[0] not in OURS]
        self.environment = {key: value for key, value in environment.items() if key not in NOT_PASSED_ON}
        self.environment["STARPU_DISABLE_KERNELS"] = "1"

    def run(self, rank, copies):
        """The report of a simulation in which that many nodes are this rank."""
        with tempfile.TemporaryDirectory(prefix="orrery-estimate-") as folder:
            report = os.path.join(folder, "report.json")
            command = self.command(self.options + [("-n", str(copies)), ("--report", report), ("--quiet", None)])
            environment = dict(self.environment, STARPU_MPI_FAKE_RANK=str(rank), STARPU_MPI_FAKE_SIZE=str(self.nodes))
            with tempfile.TemporaryFile(dir=folder) as output:
                before = processor_time()
                try:
                    status = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                            timeout=LIMIT_S).returncode
                except subprocess.TimeoutExpired:
                    raise UserError("--estimate: rank %d alone did not end within %d s; leave --estimate out" % (rank, LIMIT_S), 1)
                if status:
                    raise UserError("--estimate: rank %d alone ended with status %d: %s; a program that needs the results of other "
                                    "ranks cannot be estimated, leave --estimate out"
                                    % (rank, status if status >= 0 else 128 - status, orrery_repeat.last_line(output)), 1)
            with open(report) as file:
                return dict(json.load(file), cpu_s=processor_time() - before)

    def estimate(self):
        """Bytes, seconds, tasks, messages and the least makespan of the whole run."""
        total = {"bytes": 0.0, "seconds": 0.0, "tasks": 0.0, "messages": 0.0}
        ranks, base, makespan = sampled_ranks(self.nodes), 0, 0.0
        for i, rank in enumerate(ranks):
            if sys.stderr.isatty():
                sys.stderr.write("\r\033[Kestimate: rank %d, %d of %d" % (rank, i + 1, len(ranks)))
                sys.stderr.flush()
            one = self.run(rank, 1)
            copies = fitting_copies(one)
            many = self.run(rank, 1 + copies)
            messages = one["messages"]
            total["bytes"] += max(0, many["peak_rss_bytes"] - one["peak_rss_bytes"]) / copies + messages * share_at_once(one, self.environment) * MESSAGE_BYTES
            total["seconds"] += max(0, many["cpu_s"] - one["cpu_s"]) / copies + messages * MESSAGE_S
            total["tasks"] += one["tasks"]
            total["messages"] += messages
            base, makespan = max(base, one["peak_rss_bytes"]), max(makespan, one["makespan_s"])
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
        result = {key: value / len(ranks) * self.nodes for key, value in total.items()}
        result.update(bytes=result["bytes"] + base, makespan=makespan, ranks=len(ranks))
        return result


def main(command, options, environment):
    """Prints the estimate, unless the run is to be quiet. Returns 0 if the run fits into memory, else 1 after a message."""
    values = dict(options)
    nodes = int(values.get("-n", 1))
    found = Estimator(command, options, environment, nodes).estimate()
    if "--quiet" not in values:
        sys.stderr.write("orrery sim: estimate: %d node%s, %.3g tasks and %.3g messages take about %.2g GB and %.2g s here; at least %.3g s "
                         "of virtual time (judged by %d ranks, each alone)\n"
                         % (nodes, "" if nodes == 1 else "s", found["tasks"], found["messages"], found["bytes"] / 1e9, found["seconds"],
                            found["makespan"], found["ranks"]))
    limit = float(values["--memory"]) * 1048576 if "--memory" in values else orrery_repeat.free_memory()
    if not limit or found["bytes"] <= limit:
        return 0
    sys.stderr.write("orrery sim: the simulation would not fit: it takes about %.2g GB of memory, but %s %.2g GB; have fewer tasks in flight "
                     "(STARPU_LIMIT_MAX_SUBMITTED_TASKS=100 STARPU_LIMIT_MIN_SUBMITTED_TASKS=60), simulate fewer nodes, or use a computer "
                     "with more memory\n" % (found["bytes"] / 1e9, "--memory allows" if "--memory" in values else "this computer has only",
                                             limit / 1e9))
    return 1
