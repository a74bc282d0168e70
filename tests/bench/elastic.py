#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What elastic.sh has measured: for growths and shrinks, the medians of the real runs and of their predictions, and the medians
# of the real runs of odd and of even turns, which say how far real runs are from each other. Then the same for each step of a
# change, from the journals.
#     elastic.py TOOLS FOLDER
# Invariant: the first growth and shrink of each run do not count.
import glob
import os
import re
import sys
from statistics import median

sys.path.insert(0, sys.argv[1])
import orrery_elastic

GROWN, AT_FIRST = 3, 2  # ranks after a growth, and after a shrink
AIM = 0.15
NAMES = {GROWN: "growth", AT_FIRST: "shrink"}
OPERATIONS = {GROWN: 5, AT_FIRST: 6}


def durations(path):
    """For each number of ranks that a run had: milliseconds that each change to it took."""
    took, last = {GROWN: [], AT_FIRST: []}, None
    with open(path) as file:
        found = re.findall(r"^step .*: (\d+) ranks.* ([0-9.]+) s$", file.read(), re.MULTILINE)
    for ranks, at in found:
        if last is not None:
            took[int(ranks)].append((float(at) - last) * 1e3)
        last = float(at)
    return {ranks: values[1:] for ranks, values in took.items()}


def of(world, suffix, folder):
    """The files of a world, by turn."""
    paths = glob.glob(os.path.join(folder, "%s-*.%s" % (world, suffix)))
    return {int(re.search(r"-(\d+)\.", os.path.basename(path)).group(1)): path for path in paths}


def print_changes(folder):
    real = {turn: durations(path) for turn, path in of("real", "out", folder).items()}
    predicted = [durations(path) for path in of("sim", "out", folder).values()]
    for ranks, name in NAMES.items():
        values = [v for run in real.values() for v in run[ranks]]
        guess = median(v for run in predicted for v in run[ranks])
        halves = [median(v for turn, run in real.items() for v in run[ranks] if turn % 2 == odd) for odd in (1, 0)]
        ratio = guess / median(values)
        print("elastic %s real_ms=%.1f predicted_ms=%.1f predicted/real=%.3f (aim 1 +- %.2f: %s) halves_ms=%.1f,%.1f ratio=%.3f changes=%d"
              % (name, median(values), guess, ratio, AIM, "holds" if abs(ratio - 1) <= AIM else "MISSED", halves[0], halves[1],
                 halves[1] / halves[0], len(values)))


def steps(world, folder):
    """(operation, step): milliseconds."""
    took = {}
    for path in of(world, "journal", folder).values():
        for operation in OPERATIONS.values():
            made = [c for c in orrery_elastic.changes(orrery_elastic.read_journal(path)) if c["operation"] == operation]
            for change in made[1:]:
                for step in orrery_elastic.STEPS:
                    if step in change:
                        took.setdefault((operation, step), []).append(change[step] * 1e3)
    return took


def print_steps(folder):
    real, predicted = steps("real", folder), steps("sim", folder)
    for ranks, operation in OPERATIONS.items():
        for step in orrery_elastic.STEPS:
            if (operation, step) in real:
                print("elastic %s step=%s real_ms=%.1f predicted_ms=%.1f" % (NAMES[ranks], step, median(real[operation, step]),
                                                                           median(predicted.get((operation, step), [0]))))


if len(of("real", "out", sys.argv[2])) < 2:
    sys.exit("elastic.py: fewer than two real runs: there are no halves to compare")
print_changes(sys.argv[2])
print_steps(sys.argv[2])
