#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What malleability gains (doc/malleable.md): a simulated Cholesky factorisation
# and a stencil, on 64 nodes, on 512, and on as many as a scenario gives them. A
# table on standard output, and a picture where its name is given.
#     doc/malleable.py ORRERY CHOLESKY.sim STENCIL.sim [PICTURE]
#     doc/malleable.py --starts ORRERY CHOLESKY.sim STENCIL.sim [PICTURE]
# The second form says how the outcome depends on what a start of processes costs.
# Invariant: the same numbers each time; times are virtual.
import math
import os
import re
import subprocess
import sys
import tempfile

LEAST, MOST = 64, 512
COSTS = ["--cost-start-each", "1000", "--cost-join", "90000", "--cost-leave", "0", "--cost-switch", "0", "--cost-begin", "0"]
START_S = 0.3
PROGRAMS = {
    "cholesky": ["-nt", "56", "-b", "768"],
    "stencil_lb": ["--blocks", "2048", "-b", "1000000", "--cell-ns", "20", "--niter", "100"],
}
# Each: what the resource manager says and when, and from when on a run that needs all nodes could start (and until when
# it could keep them).
SCENARIOS = {
    "early": (["2 grow 448"], [(2, None)]),
    "staircase": (["4 grow 64", "9 grow 128", "14 grow 256"], [(14, None)]),
    "windows": (["3 grow 448", "9 shrink 448", "15 grow 448", "21 shrink 448"], [(3, 9), (15, 21)]),
}


# With --starts: longer runs with fewer steps, and all nodes come after LATER_S and stay.
LONG_PROGRAMS = {
    "cholesky": ["-nt", "40", "-b", "2048"],
    "stencil_lb": ["--blocks", "2048", "-b", "1000000", "--cell-ns", "400", "--niter", "50"],
}
LATER_S = 20
STARTS_S = (0.1, 1, 10, 60)


def simulate(orrery, path, options, nodes, script, folder, start_s=START_S):
    """The makespan, and the list of (seconds, nodes) from when on the program had so many."""
    command = ["nice", "-n", "19", orrery, "sim", "-n", str(nodes), "--max", str(MOST), "--elastic", "--cpus", "2", "--kernels", "skip", "--quiet"]
    if script:
        scenario = os.path.join(folder, "scenario")
        with open(scenario, "w") as file:
            file.writelines("at %s\n" % line for line in script)
        command += ["--scenario", scenario]
    command += COSTS + ["--cost-start", "%.0f" % (start_s * 1e6)]
    done = subprocess.run(command + [path, "--elastic"] + options, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, timeout=600)
    sizes = [(float(at), int(n)) for n, at in re.findall(r"_ranks step=\d+ ranks=(\d+) at_s=([0-9.]+)", done.stdout)]
    return float(re.search(r"time_s=([0-9.]+)", done.stdout).group(1)), sizes


def node_seconds(seconds, sizes):
    ends = [at for at, _ in sizes[1:]] + [seconds]
    return sum(n * (end - at) for (at, n), end in zip(sizes, ends))


def largest(seconds, windows):
    """When a run would end that starts when all nodes are there, and needs them to the end; None: never."""
    for begin, end in windows:
        if end is None or begin + seconds <= end:
            return begin + seconds
    return None


def study(orrery, paths, folder):
    """For each program and scenario: program, scenario, smallest, largest and malleable makespan, node-seconds of the smallest
    and of the malleable run, and the sizes of the latter."""
    rows = []
    for program, path in paths.items():
        few, _ = simulate(orrery, path, PROGRAMS[program], LEAST, None, folder)
        many, _ = simulate(orrery, path, PROGRAMS[program], MOST, None, folder)
        print("%s: %.2f s on %d nodes, %.2f s on %d" % (program, few, LEAST, many, MOST), flush=True)
        for name, (script, windows) in SCENARIOS.items():
            seconds, sizes = simulate(orrery, path, PROGRAMS[program], LEAST, script, folder)
            rows.append((program, name, few, largest(many, windows), seconds, LEAST * few, MOST * many, node_seconds(seconds, sizes), sizes))
    return rows


def study_starts(orrery, paths, folder):
    """Prints, for each program and cost of a start, makespans. A run that needs all nodes is started when they are there.
    Returns (program, seconds of the start, smallest, largest, malleable)."""
    rows = []
    for program, path in paths.items():
        few, _ = simulate(orrery, path, LONG_PROGRAMS[program], LEAST, None, folder)
        many, _ = simulate(orrery, path, LONG_PROGRAMS[program], MOST, None, folder)
        for start_s in STARTS_S:
            seconds, sizes = simulate(orrery, path, LONG_PROGRAMS[program], LEAST, ["%d grow %d" % (LATER_S, MOST - LEAST)], folder, start_s)
            print("%-11s start %4.1f s: smallest %.1f s, largest %.1f s, malleable %.1f s (grows after %s s), gain %.2f, %.2f" % (
                program, start_s, few, LATER_S + start_s + many, seconds, number(sizes[1][0] if len(sizes) > 1 else None), few / seconds,
                (LATER_S + start_s + many) / seconds), flush=True)
            rows.append((program, start_s, few, LATER_S + start_s + many, seconds))
    return rows


def number(value, form="%.1f"):
    return "never" if value is None else form % value


def print_table(rows):
    print("program     scenario   smallest   largest malleable   gain over smallest, largest   node-seconds: smallest largest malleable")
    for program, name, few, many, seconds, few_ns, many_ns, ns, _ in rows:
        print("%-11s %-10s %8.1f %9s %9.1f   %19.2f %8s   %21.0f %7.0f %9.0f" % (
            program, name, few, number(many), seconds, few / seconds, number(many and many / seconds, "%.2f"), few_ns, many_ns, ns))


def curve(sizes, seconds, x, y):
    points = []
    for i, (at, n) in enumerate(sizes):
        end = sizes[i + 1][0] if i + 1 < len(sizes) else seconds
        points += ["%.1f,%.1f" % (x(at), y(n)), "%.1f,%.1f" % (x(end), y(n))]
    return " ".join(points)


def panel(rows, left, top, width, height):
    """Nodes over time of one program, a line for each scenario; the end of the smallest run in grey."""
    program, few = rows[0][0], rows[0][2]

    def x(seconds):
        return left + width * seconds / (few * 1.05)

    def y(nodes):
        return top + height - height * nodes / (MOST * 1.08)

    lines = ['<text x="%d" y="%d" font-weight="bold">%s</text>' % (left, top - 6, program)]
    for nodes in (0, 64, 128, 256, 512):
        lines.append('<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%d</text>'
                     % (left, y(nodes), left + width, left - 6, y(nodes) + 4, nodes))
    for seconds in range(0, int(few) + 1, 5):
        lines.append('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (x(seconds), top + height + 16, seconds))
    lines.append('<polyline points="%s" fill="none" stroke="#888" stroke-width="2"/>' % curve([(0, LEAST), (few, 0)], few, x, y))
    for place, (row, colour) in enumerate(zip(rows, ("#06c", "#c60", "#080"))):
        lines.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (curve(row[8] + [(row[4], 0)], row[4], x, y), colour))
        lines.append('<text x="%d" y="%d" fill="%s">%s: %.1f s</text>' % (left + width - 120, top + 14 * place + 14, colour, row[1], row[4]))
    lines.append('<text x="%d" y="%d" fill="#888">%d nodes: %.1f s</text>' % (left + width - 120, top + 56, LEAST, few))
    return lines


def starts_panel(rows, left, top, width, height):
    """Makespans of one program by the cost of a start: smallest, largest and malleable."""
    most = max(max(row[2:]) for row in rows) * 1.08
    first, last = (math.log10(STARTS_S[place]) for place in (0, -1))

    def x(seconds):
        return left + width * (math.log10(seconds) - first) / (last - first)

    def y(seconds):
        return top + height - height * seconds / most

    lines = ['<text x="%d" y="%d" font-weight="bold">%s</text>' % (left, top - 6, rows[0][0])]
    for seconds in range(0, int(most), 100):
        lines.append('<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%d</text>'
                     % (left, y(seconds), left + width, left - 6, y(seconds) + 4, seconds))
    for start_s in STARTS_S:
        lines.append('<text x="%.1f" y="%d" text-anchor="middle">%g s</text>' % (x(start_s), top + height + 16, start_s))
    for place, (name, column, colour) in enumerate((("smallest", 2, "#888"), ("largest", 3, "#c60"), ("malleable", 4, "#06c"))):
        points = [(x(row[1]), y(row[column])) for row in rows]
        lines.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (" ".join("%.1f,%.1f" % p for p in points), colour))
        lines += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (p[0], p[1], colour) for p in points]
        lines.append('<text x="%d" y="%d" fill="%s">%s</text>' % (left + width + 8, top + 14 * place + 14, colour, name))
    return lines


def picture(rows, draw, width, caption):
    """A panel for each program, one below the other."""
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 520" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for place, program in enumerate(PROGRAMS):
        lines += draw([row for row in rows if row[0] == program], 50, 30 + 240 * place, width, 190)
    lines.append('<text x="325" y="505" text-anchor="middle">%s</text></svg>' % caption)
    return "\n".join(lines) + "\n"


def main():
    starts = sys.argv[1:2] == ["--starts"]
    if starts:
        del sys.argv[1]
    if len(sys.argv) < 4:
        sys.exit("usage: malleable.py [--starts] ORRERY CHOLESKY.sim STENCIL_LB.sim [PICTURE]")
    with tempfile.TemporaryDirectory() as folder:
        rows = (study_starts if starts else study)(sys.argv[1], dict(zip(PROGRAMS, sys.argv[2:4])), folder)
    if starts:
        drawn = picture(rows, starts_panel, 480, "seconds that a start of processes takes; seconds of virtual time until the end upwards")
    else:
        print_table(rows)
        drawn = picture(rows, panel, 550, "seconds of virtual time; nodes in use upwards")
    if len(sys.argv) > 4:
        with open(sys.argv[4], "w") as file:
            file.write(drawn)


main()
