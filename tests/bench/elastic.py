#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What elastic.sh has measured, from the journals of the runs: for growths and shrinks, the medians of the real runs and of their
# predictions, and the medians of the real runs of odd and of even turns, which say how far real runs are from each other. Then
# the same for each step of a change. A change begins when it is asked for, and ends when the run goes on with the other set.
#     elastic.py TOOLS FOLDER
# Invariant: the first growth and shrink of each run do not count.
import glob
import os
import re
import sys
from statistics import median

sys.path.insert(0, sys.argv[1])
import orrery_elastic
from orrery_cli import UserError

AIM = 0.15
NAMES = {5: "growth", 6: "shrink"}  # by operation, as in orrery_dyn.h


def of(world, suffix, folder):
    """The files of a world, by turn."""
    paths = glob.glob(os.path.join(folder, "%s-*.%s" % (world, suffix)))
    return {int(re.search(r"-(\d+)\.", os.path.basename(path)).group(1)): path for path in paths}


def changes(path):
    """For each operation: its changes in a run, each a dictionary of seconds by step."""
    made = orrery_elastic.changes(orrery_elastic.read_journal(path))
    return {operation: [c for c in made if c["operation"] == operation][1:] for operation in NAMES}


def whole(change):
    return sum(change.get(step, 0) for step in orrery_elastic.STEPS) * 1e3


def print_changes(real, predicted):
    for operation, name in NAMES.items():
        values = [whole(c) for run in real.values() for c in run[operation]]
        guess = median(whole(c) for run in predicted.values() for c in run[operation])
        halves = [median(whole(c) for turn, run in real.items() for c in run[operation] if turn % 2 == odd) for odd in (1, 0)]
        ratio = guess / median(values)
        print("elastic %s real_ms=%.1f predicted_ms=%.1f predicted/real=%.3f (aim 1 +- %.2f: %s) halves_ms=%.1f,%.1f ratio=%.3f changes=%d"
              % (name, median(values), guess, ratio, AIM, "holds" if abs(ratio - 1) <= AIM else "MISSED", halves[0], halves[1],
                 halves[1] / halves[0], len(values)))


def print_steps(real, predicted):
    for operation, name in NAMES.items():
        for step in orrery_elastic.STEPS:
            both = [[c[step] * 1e3 for run in runs.values() for c in run[operation] if step in c] for runs in (real, predicted)]
            if all(both) and median(both[0]) > 0:
                print("elastic %s step=%s real_ms=%.1f predicted_ms=%.1f" % (name, step, median(both[0]), median(both[1])))


def main():
    real, predicted = ({turn: changes(path) for turn, path in of(world, "journal", sys.argv[2]).items()} for world in ("real", "sim"))
    if len(real) < 2:
        sys.exit("elastic.py: fewer than two real runs: there are no halves to compare")
    print_changes(real, predicted)
    print_steps(real, predicted)


try:
    main()
except UserError as error:
    sys.exit("elastic.py: %s" % error)
