#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The makespan of a simulated stencil whose nodes fail, over the period of its
# checkpoints, beside Daly's formula: a table on standard output, and a picture
# where its name is given (doc/checkpoint-period.svg).
#     doc/checkpoint_period.py ORRERY STENCIL.sim [SEEDS [PICTURE]]
# Invariant: the same numbers each time; times are virtual.
import json
import math
import os
import subprocess
import sys
import tempfile

NODES, ITERATIONS, NODE_MTBF, DELAY = 4, 400, 0.016, 0.0005
PERIODS = (5, 10, 20, 40, 80, 130, 200)
MTBF = NODE_MTBF / NODES


def makespan(orrery, program, options, period, folder):
    report = os.path.join(folder, "report.json")
    command = [orrery, "sim", "-n", str(NODES), "--cpus", "2", "--kernels", "skip", "--quiet", "--report", report] + options
    command += [program, "-nx", "6", "-ny", "6", "-b", "32", "--niter", str(ITERATIONS)]
    command += ["--checkpoint", str(period)] if period else []
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(report) as file:
        return json.load(file)["makespan_s"]


def daly(work, segments, whole):
    """The expected makespan of `work` in so many segments, which take `whole` with their checkpoints."""
    return MTBF * math.exp(DELAY / MTBF) * (math.exp(whole / segments / MTBF) - 1) * segments if work else 0


def measure(orrery, program, seeds, folder):
    """Rows of period, makespan without failures, Daly's, the mean with failures, and its standard error; in ms."""
    os.environ["ORRERY_CHECKPOINT_DIR"] = os.path.join(folder, "saved")
    work = makespan(orrery, program, [], 0, folder)
    rows = []
    for period in PERIODS:
        whole = makespan(orrery, program, [], period, folder)
        failing = []
        for seed in range(1, seeds + 1):
            options = ["--mtbf", str(NODE_MTBF), "--seed", str(seed), "--restart-delay", str(DELAY)]
            failing.append(makespan(orrery, program, options, period, folder))
        mean = sum(failing) / seeds
        error = math.sqrt(sum((t - mean) ** 2 for t in failing) / (seeds - 1) / seeds) if seeds > 1 else 0
        rows.append([period] + [1e3 * t for t in (whole, daly(work, ITERATIONS / period, whole), mean, error)])
    return 1e3 * work, rows


def picture(work, rows):
    width, height, left, bottom = 560, 340, 60, 290
    top = max(max(row[1:4]) + row[4] for row in rows) * 1.05

    def x(period):
        return left + (width - left - 20) * math.log(period / PERIODS[0]) / math.log(PERIODS[-1] / PERIODS[0])

    def y(ms):
        return bottom - (bottom - 20) * ms / top

    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (width, height),
             '<rect width="100%" height="100%" fill="white"/>']
    for i in range(6):
        ms = top * i / 5
        lines.append('<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.0f</text>'
                     % (left, y(ms), width - 20, left - 6, y(ms) + 4, ms))
    for row in rows:
        lines.append('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (x(row[0]), bottom + 16, row[0]))
    for column, colour, words in ((1, "#888", "without failures"), (2, "#c60", "Daly's formula"), (3, "#06c", "simulated, mean")):
        points = " ".join("%.1f,%.1f" % (x(row[0]), y(row[column])) for row in rows)
        lines.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (points, colour))
        lines.append('<text x="%d" y="%d" fill="%s">%s</text>' % (left + 130, 16 * column + 20, colour, words))
    for row in rows:
        lines.append('<path d="M%.1f %.1fV%.1f" stroke="#06c"/>' % (x(row[0]), y(row[3] - row[4]), y(row[3] + row[4])))
    lines.append('<text x="%d" y="%d" text-anchor="middle">iterations between two checkpoints</text>' % ((left + width) / 2, bottom + 36))
    lines.append('<text x="14" y="%d" transform="rotate(-90 14 %d)" text-anchor="middle">makespan, ms</text></svg>' % (bottom / 2, bottom / 2))
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: checkpoint_period.py ORRERY STENCIL.sim [SEEDS [PICTURE]]")
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    with tempfile.TemporaryDirectory() as folder:
        work, rows = measure(sys.argv[1], sys.argv[2], seeds, folder)
    print("%d iterations alone: %.3f ms; %d seeds" % (ITERATIONS, work, seeds))
    print("period  without failures  Daly  simulated  standard error")
    for row in rows:
        print("%6d  %16.3f  %.3f  %.3f  %.3f" % tuple(row))
    if len(sys.argv) > 4:
        with open(sys.argv[4], "w") as file:
            file.write(picture(work, rows))


main()
