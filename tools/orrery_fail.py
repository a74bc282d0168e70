# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery sim --fail` and `--mtbf`: runs the simulation up to the next failure of a
# node, then starts the program again, as `orrery run --restart` does in the real
# world, until it comes to its end.
# Invariant: the work between the last complete checkpoint and a failure is
# simulated again, because the program itself restores the checkpoint; the same
# command with the same seed gives the same times.
import heapq
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

from orrery_cli import UserError

FAILED = 75  # the launcher's status at a failure (sim/launcher/fail.c)


def read_failure(text, nodes):
    """The time and the node of NODE@TIME."""
    match = re.fullmatch(r"([0-9]{1,9})@([0-9]*[.]?[0-9]+(?:[eE][-+]?[0-9]+)?)", text)
    if not match or not math.isfinite(float(match.group(2))):
        raise UserError("--fail %s: expected NODE@TIME, a node and a number of seconds" % text)
    if int(match.group(1)) >= nodes:
        raise UserError("--fail %s: there are only %d nodes, from 0 on" % (text, nodes))
    return float(match.group(2)), int(match.group(1))


def take(given, names_of_ours):
    """Takes our options out of the given ones, pairs of an option and a value: the rest, and the request."""
    ours = [(option.name, value) for option, value in given if option.name in names_of_ours]
    rest = [pair for pair in given if pair[0].name not in names_of_ours]
    values, names = dict(ours), {option.name for option, _ in given}
    if "--fail" not in values and "--mtbf" not in values:
        raise UserError("%s is about failures; give --fail or --mtbf as well" % ours[0][0])
    for name in ("--repeat", "--stats", "--bound", "--elastic"):
        if name in names:
            raise UserError("%s and failures of nodes exclude each other; leave one of them out" % name)
    known = {option.name: value for option, value in given}
    nodes = int(known.get("-n", 1))
    return rest, {
        "nodes": nodes, "seed": int(known.get("--seed", 0)), "report": known.get("--report"), "quiet": "--quiet" in names,
        "failures": [read_failure(value, nodes) for name, value in ours if name == "--fail"],
        "mtbf": float(values["--mtbf"]) if "--mtbf" in values else None,
        "delay": float(values.get("--restart-delay", 0)), "restarts": int(values.get("--restarts", 1000)),
    }


def failures(request):
    """Times and nodes of the failures, in the order of the times."""
    given = sorted(request["failures"])
    numbers = random.Random(request["seed"])

    def drawn():
        at = 0.0
        while request["mtbf"]:
            at -= math.log(1 - numbers.random()) * request["mtbf"] / request["nodes"]
            yield at, int(numbers.random() * request["nodes"])

    yield from heapq.merge(given, drawn())


def next_failure(coming, start, delay):
    """The first failure after the start, and the start, which failures during the delay put off."""
    for at, node in coming:
        if at >= start:
            return (at, node), start
        start = at + delay
    return None, start


def write_report(path, report, totals):
    if path:
        report.update(totals)
        with open(path, "w") as file:
            json.dump(report, file, indent=2)
            file.write("\n")


def run(command, environment, request, folder):
    """Starts the program until it ends; its status, the report of the last start, and the totals."""
    coming, start, lost, restarts = failures(request), 0.0, 0.0, 0
    report = os.path.join(folder, "report.json")
    environment.setdefault("ORRERY_CHECKPOINT_DIR", os.path.join(folder, "checkpoints"))
    failure, _ = next_failure(coming, start, 0)
    while True:
        environment.pop("ORR_SIM_FAIL", None)
        if failure:
            environment["ORR_SIM_FAIL"] = "%d@%.12g" % (failure[1], failure[0] - start)
        status = subprocess.run(command + ["--report", report] + request["program"], env=environment).returncode
        if status != FAILED or not failure:
            break
        if restarts == request["restarts"]:
            sys.stderr.write("orrery sim: giving up after %d restarts\n" % restarts)
            return 1, None, None
        restarts += 1
        again = failure[0] + request["delay"]
        lost += failure[0] - start
        failure, start = next_failure(coming, again, request["delay"])
    if status:
        return status if status > 0 else 128 - status, None, None
    with open(report) as file:
        last = json.load(file)
    return 0, last, {"makespan_s": start + last["makespan_s"], "failures": restarts, "last_start_s": start,
                     "before_failures_s": lost}


def main(command, program, environment, request):
    """command: the launcher's, without --report and the program."""
    request["program"] = program
    with tempfile.TemporaryDirectory(prefix="orrery-fail-") as folder:
        status, report, totals = run(command, environment, request, folder)
    if status:
        return status
    write_report(request["report"], report, totals)
    if not request["quiet"]:
        sys.stderr.write("orrery sim: %d restart%s; %.6f s of virtual time in all, the last start at %.6f s\n" % (
            totals["failures"], "" if totals["failures"] == 1 else "s", totals["makespan_s"], totals["last_start_s"]))
    return 0
