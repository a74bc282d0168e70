#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The pictures of doc/why-slow.md: each case before and after the change, from traces of
# the runs whose commands stand on the page.
#     doc/why_slow.py --build BUILD            writes them, and what the page prints of the runs
#     doc/why_slow.py --build BUILD --check    writes nothing; fails, with a message, if a run
#                                              does not take what picture and page say
#     ... --only why-slow-device.svg           only that case
# Sentences of the page with numbers stay as they are: read them after a change.
# Invariant: the same runs give the same pictures; times are virtual.
import argparse
import csv
import html
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

DOC = pathlib.Path(__file__).resolve().parent
PAGE = DOC / "why-slow.md"
# Picture, heading of its part of the page, and the runs that it shows, each by its number there and with what is said
# above it.
CASES = [
    ("why-slow-network.svg", "The network is full", [(0, "One row of 16 processes, 10-gigabit Ethernet"), (1, "4 × 4 processes"),
                                                     (2, "4 × 4 processes, 100-gigabit Ethernet")]),
    ("why-slow-submission.svg", "One thread submits too slowly", [(0, "Each rank inserts all tasks"), (1, "Each rank leaves out tasks in which it has no part")]),
    ("why-slow-device.svg", "A device thrashes", [(0, "GPU with 200 MiB"), (1, "GPU with 4,000 MiB")]),
]
TOLERANCE = 0.05  # of a makespan: versions of SimGrid differ a little
LARGEST = 100000  # bytes of a picture
LEFT, WIDTH, HEIGHT, STEP, STRIP = 54, 640, 90, 174, 20
COLUMNS = 320  # of an area
KERNELS, FETCH, IDLE = "#3b75af", "#e0a030", "#e6e6e6"
# What the critical path consists of: the kinds of `orrery explain --json`, the colour, and the name.
CAUSES = [(("kernel",), KERNELS, "kernels"), (("latency", "transfer", "held", "unmatched", "relay", "sending"), "#c0504d", "messages"),
          (("fetching",), FETCH, "data fetched"), (("program",), "#7f5fa8", "program submits"), ((), "#999999", "other")]


class Failed(Exception):
    pass


def blocks(text, heading):
    """The commands of a part of the page: [(words of the command, [line of its output, ...])]."""
    part = text.split("\n## %s\n" % heading, 1)[1].split("\n## ", 1)[0]
    found = []
    for line in part.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
        elif line.startswith("    ") and found:
            found[-1][1].append(line[4:])
    return found


class Runs:
    """Executes the commands of the page, once each, in a folder of their own."""

    def __init__(self, build, folder):
        self.orrery, self.folder = build / "orrery", pathlib.Path(folder)
        (self.folder / "cholesky.sim").symlink_to(build / "examples" / "cholesky" / "cholesky.sim")

    def execute(self, command):
        """Standard output, and standard error behind it."""
        words = [str(self.orrery) if word == "orrery" else word for word in shlex.split(command)]
        settings = {}
        while "=" in words[0]:
            name, _, settings[name] = words.pop(0).partition("=")
        done = subprocess.run(words, cwd=self.folder, env=dict(os.environ, **settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failed("%s: status %d\n%s" % (command, done.returncode, done.stderr[-2000:]))
        return done.stdout + done.stderr

    def simulate(self, command):
        """The trace, and what was printed."""
        name = re.search(r" --trace (\S+)", command)
        if not name:
            command = command.replace(" cholesky.sim", " --trace untold cholesky.sim")
        return name.group(1) if name else "untold", self.execute(command)


def same_but_for_numbers(line):
    return re.sub(r"[0-9.]+", "0", " ".join(line.split()))


def printed_now(lines, output):
    """The lines of the page with the numbers of now; those that are not printed any more stay. Lines that the page leaves
    out may be in between, and the order of causes may have changed."""
    now = {same_but_for_numbers(line): line for line in reversed(output.splitlines())}
    return [now.get(same_but_for_numbers(line), line) for line in lines]


class Run:
    """What a panel shows."""

    def __init__(self, runs, trace, label):
        self.label = label
        explained = json.loads(runs.execute("orrery explain %s --json" % trace))
        self.makespan, self.workers = explained["makespan_seconds"], explained["workers"]
        self.path = {}
        for piece in explained["path"]:
            cause = next(entry for entry in CAUSES if piece["kind"] in entry[0] or not entry[0])
            self.path[cause] = self.path.get(cause, 0) + piece["seconds"]
        self.tasks = []

    def look(self, runs, trace):
        """What its workers do, from the tables of the trace."""
        runs.execute("orrery trace %s --csv -o tables" % trace)
        with open(runs.folder / "tables" / "tasks.csv", encoding="utf-8", newline="") as stream:
            self.tasks = [(int(r["start_ns"]) / 1e9, int(r["end_ns"]) / 1e9, int(r["fetch_ns"] or 0) / 1e9) for r in csv.DictReader(stream)
                          if r["start_ns"] and r["end_ns"]]

    def shares(self, last):
        """Of each column of the picture up to the time `last`: the shares of workers that compute, and that wait for data."""
        compute, fetch = [0.0] * COLUMNS, [0.0] * COLUMNS
        for start, end, waited in self.tasks:
            spread(compute, start, end, last)
            spread(fetch, start - waited, start, last)
        whole = self.workers * last / COLUMNS
        return [(c / whole, f / whole) for c, f in zip(compute, fetch)]


def spread(columns, start, end, last):
    """Adds the time from start to end to the columns that it lies in."""
    step = last / COLUMNS
    at = max(0, int(start / step))
    while at < COLUMNS and at * step < end:
        columns[at] += max(0.0, min(end, (at + 1) * step) - max(start, at * step))
        at += 1


def text(x, y, words, **style):
    return '<text x="%g" y="%g"%s>%s</text>' % (x, y, "".join(' %s="%s"' % (k.replace("_", "-"), v) for k, v in style.items()), html.escape(words))


def area(points, base, colour):
    """Under the points, down to the others."""
    return '<path d="M%sZ" fill="%s"/>' % ("L".join("%.1f %.1f" % p for p in points + base[::-1]), colour)


def panel(run, top, last):
    end = LEFT + WIDTH * run.makespan / last
    lines = [text(LEFT, top - 8, "%s: %.3g s" % (run.label, run.makespan), font_weight="bold"),
             '<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (LEFT, top, end - LEFT, HEIGHT, IDLE)]
    shares = [(LEFT + WIDTH * (i + 0.5) / COLUMNS, c, f) for i, (c, f) in enumerate(run.shares(last)) if LEFT + WIDTH * i / COLUMNS < end]
    floor = [(x, top + HEIGHT) for x, _, _ in shares]
    middle = [(x, top + HEIGHT * (1 - min(1, c))) for x, c, _ in shares]
    if any(f > 0.01 for _, _, f in shares):
        lines.append(area([(x, top + HEIGHT * (1 - min(1, c + f))) for x, c, f in shares], middle, FETCH))
    lines.append(area(middle, floor, KERNELS))
    for share in (0, 50, 100):
        lines.append(text(LEFT - 6, top + HEIGHT * (1 - share / 100) + 4, "%d %%" % share, text_anchor="end", font_size=10))
    at, scale = float(LEFT), (end - LEFT) / sum(run.path.values())
    for (_, colour, name), seconds in sorted(run.path.items(), key=lambda item: -item[1]):
        wide = seconds * scale
        lines.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" stroke="#fff" stroke-width="0.5"/>'
                     % (at, top + HEIGHT + 8, wide, STRIP, colour))
        words = "%s %.0f %%" % (name, 100 * seconds / run.makespan)
        if wide > 6.5 * len(words):
            lines.append(text(at + wide / 2, top + HEIGHT + 22, words, text_anchor="middle", fill="#fff", font_size=11))
        at += wide
    return lines


def ticks(last):
    step = 10 ** len("%d" % last) / 10 if last >= 1 else 1.0
    while last / step < 4:
        step /= 2 if last / step >= 2 else 5
    return [i * step for i in range(int(last / step) + 1)]


def named(x, y, colours):
    """A legend."""
    lines = []
    for colour, words in colours:
        lines += ['<rect x="%d" y="%d" width="12" height="12" fill="%s"/>' % (x, y - 10, colour), text(x + 17, y, words, font_size=11)]
        x += 40 + 6 * len(words)
    return lines


def picture(heading, runs):
    last = max(run.makespan for run in runs) * 1.01
    height = 50 + STEP * len(runs) + 56
    lines = ["<!-- SPDX-License-Identifier: LGPL-2.1-or-later; made by doc/why_slow.py, do not edit. -->",
             '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" font-size="12">'
             % (LEFT + WIDTH + 20, height), "<title>%s</title>" % html.escape(heading),
             "<desc>seconds: %s</desc>" % " ".join("%.9f" % run.makespan for run in runs),
             '<rect width="100%" height="100%" fill="#fff"/>']
    legend = [(KERNELS, "workers compute"), (IDLE, "workers have no task")]
    if any(f > 0.01 for run in runs for _, f in run.shares(last)):
        legend.insert(1, (FETCH, "workers wait for data of their task"))
    lines += named(LEFT, 20, legend)
    for place, run in enumerate(runs):
        lines += panel(run, 56 + STEP * place, last)
    base = 56 + STEP * (len(runs) - 1) + HEIGHT + 8 + STRIP
    for at in ticks(last):
        x = LEFT + WIDTH * at / last
        lines += ['<path d="M%.1f %dv6" stroke="#445"/>' % (x, base + 2), text(x, base + 20, "%g" % at, text_anchor="middle", font_size=10)]
    lines.append(text(LEFT + WIDTH / 2, base + 38, "seconds of virtual time", text_anchor="middle", font_size=11))
    causes = [(colour, name) for cause in CAUSES for _, colour, name in [cause] if any(run.path.get(cause, 0) > 0.005 * run.makespan for run in runs)]
    lines += [text(LEFT, base + 62, "critical path:", font_size=11)] + named(LEFT + 86, base + 62, causes) + ["</svg>", ""]
    return "\n".join(lines)


def far(a, b):
    return abs(a - b) > TOLERANCE * max(a, b)


def time_of(lines):
    """What the program says of its time, in seconds."""
    return float(re.search(r"time_s=([0-9.]+)", "\n".join(lines)).group(1))


def indented(lines):
    return "".join("    %s\n" % line for line in lines)


def simulate(runs, page, heading, shown, looks):
    """The runs of a case, what the programs printed on the page and now, [(seconds, seconds)], and the page with the numbers
    of now. looks: also what the workers did, and what all commands print."""
    panels, times, number = [], [], 0
    for command, lines in blocks(page, heading):
        if " sim " in command:
            trace, output = runs.simulate(command)
            times.append((time_of(lines), time_of([output])))
            if number in shown:
                panels.append(Run(runs, trace, shown[number]))
                if looks:
                    panels[-1].look(runs, trace)
            number += 1
        elif looks or " machine " in command:
            output = runs.execute(command)
        else:
            continue
        page = page.replace("    $ %s\n%s" % (command, indented(lines)), "    $ %s\n%s" % (command, indented(printed_now(lines, output))), 1)
    return panels, times, page


def seconds_in(drawn):
    return [float(word) for word in re.search("<desc>seconds: (.*)</desc>", drawn).group(1).split()]


def check(path, panels, times):
    """What is wrong with the picture that is there, and with the page: texts."""
    wrong, new = [], [run.makespan for run in panels]
    old = seconds_in(path.read_text(encoding="utf-8")) if path.exists() else None
    if old is None:
        wrong.append("%s is not there" % path.name)
    elif len(old) != len(new) or any(map(far, old, new)):
        wrong.append("%s shows runs of %s s, and they take %s s" % (path.name, old, new))
    if any(far(page, now) for page, now in times):
        wrong.append("why-slow.md says that runs take %s s, and they take %s s" % tuple(map(list, zip(*times))))
    return wrong


def make(path, heading, panels, page):
    drawn = picture(heading, panels)
    if len(drawn) > LARGEST:
        raise Failed("%s has %d bytes" % (path.name, len(drawn)))
    path.write_text(drawn, encoding="utf-8")
    PAGE.write_text(page, encoding="utf-8")
    print("%s: %s s" % (path.name, ", ".join("%.4g" % run.makespan for run in panels)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, help="the build tree")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--only", choices=[name for name, _, _ in CASES], help="this picture")
    given = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(pathlib.Path(given.build).resolve(), folder)
        for name, heading, shown in CASES:
            if given.only not in (None, name):
                continue
            panels, times, page = simulate(runs, PAGE.read_text(encoding="utf-8"), heading, dict(shown), not given.check)
            if given.check:
                wrong += check(DOC / name, panels, times)
            else:
                make(DOC / name, heading, panels, page)
    for words in wrong:
        sys.stderr.write("doc/why_slow.py: %s; `doc/why_slow.py --build BUILD` makes it anew\n" % words)
    return 1 if wrong else 0


try:
    sys.exit(main())
except Failed as failed:
    sys.exit("doc/why_slow.py: %s" % failed)
