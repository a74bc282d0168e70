# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery scaling`: runs a program on more and more nodes, in both worlds, and shows
# speed-up, efficiency, and where the time of the workers went.
# Invariant: runs come one after the other, each ends or is ended (--limit), and each
# has a line in the table or a message.
import ast
import csv
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile

import orrery_elf
import orrery_heatmap
import orrery_options
import orrery_run
from orrery_cli import UserError
from orrery_compare import KINDS, shares

HELP = """usage: orrery scaling [options] PROGRAM [ARGS]

Runs PROGRAM.sim on 1, 4, 16 and 64 simulated nodes and PROGRAM on 1, 2, ... real
ranks, those of the two that exist, and prints a table: time, speed-up, efficiency,
and where the time of the workers went. Writes it as CSV, and a plot as PDF and PNG.

{n} in ARGS is the number of nodes; so is any expression of n in braces, such as
{8*n} or {round(12*cbrt(n))}. With braces the scaling is weak (the work grows with
the nodes: efficiency is the time of the fewest over the time of n), without them
strong (the work stays: the same, divided by n).

  --nodes LIST    numbers of simulated nodes, 1,4,16,64 by default; none: no
                  simulated runs
  --ranks LIST    numbers of real ranks (default: 1,2,4,... up to the cores here);
                  none: no real runs. Each rank has as many workers as the largest
                  run leaves it cores, unless STARPU_NCPU is set
  --repeat N      do each real run N times, and show the one with the median time
                  (default 1), because other programs disturb them
  --strong, --weak
                  what efficiency means, if the braces mislead
  --sim OPTIONS   further options of `orrery sim`, as one argument: --sim "--kernels
                  skip --machine m/a"
  --run OPTIONS   further options of `orrery run`
  --time REGEX    take the seconds from the program's own output, where REGEX with
                  one pair of parentheses finds them last (default: the time of
                  the whole run, as --report has it). Speed-up and efficiency are
                  of these seconds, the per cents of the workers' time stay those
                  of the whole run, and the table says so
  --limit S       seconds for each run (default 600)
  -o DIR          where to write (default: here; created when missing)
  --prefix P      file names are P.csv, P.pdf, P.png (default: PROGRAM_scaling)
  --title TEXT    written above the plot
  --no-plot       table and CSV only
"""
VALUES = {"--nodes": "1,4,16,64", "--ranks": None, "--sim": "", "--run": "", "--repeat": "1", "--time": None, "--limit": "600", "-o": ".",
          "--prefix": None, "--title": None}
FLAGS = ("--strong", "--weak", "--no-plot")
FUNCTIONS = {"sqrt": math.sqrt, "cbrt": lambda x: round(x ** (1 / 3), 9), "log2": math.log2, "round": round, "ceil": math.ceil,
             "floor": math.floor, "min": min, "max": max, "int": int}
OPERATORS = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
             ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b, ast.Pow: lambda a, b: float(a) ** b}
BRACES = re.compile(r"\{([^{}]*)\}")
COLUMNS = ("world", "nodes", "arguments", "seconds", "speedup", "efficiency_percent") + tuple("%s_percent" % kind for kind in KINDS)
WORLDS = ("simulated", "real")


def value_of(node, n):
    if isinstance(node, ast.Expression):
        return value_of(node.body, n)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name) and node.id == "n":
        return n
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](value_of(node.left, n), value_of(node.right, n))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -value_of(node.operand, n)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords:
        return FUNCTIONS[node.func.id](*(value_of(a, n) for a in node.args))
    raise ValueError("it has something other than n, numbers, + - * / // %% ** and %s" % ", ".join(FUNCTIONS))


def filled(word, n):
    """The word with its braces replaced."""
    def one(match):
        try:
            value = value_of(ast.parse(match.group(1).strip(), mode="eval"), n)
            value = int(round(value)) if abs(value - round(value)) < 1e-6 else value
        except (ValueError, SyntaxError, TypeError, ArithmeticError) as error:
            raise UserError("%s: {%s} is no number for n = %d: %s" % (word, match.group(1), n, error))
        return "%d" % value if isinstance(value, int) else "%.9g" % value
    return BRACES.sub(one, word)


def numbers(option, text):
    """The numbers of a list, in order; [] for none."""
    if text == "none":
        return []
    words = text.split(",")
    if not all(word.isdigit() and int(word) for word in words):
        raise UserError("%s %s: it takes positive whole numbers with commas between them, or none" % (option, text))
    return sorted({int(word) for word in words})


def powers_of_two(most):
    return [2 ** i for i in range(most.bit_length()) if 2 ** i <= most]


class Request:
    """What the command asks for."""

    def __init__(self, arguments):
        self.values = dict(VALUES)
        self.kind, self.plot = None, True
        words = list(arguments)
        while words and words[0].startswith("-"):
            word = words.pop(0)
            name, equals, value = word.partition("=")
            if word == "--":
                break
            if word in ("--strong", "--weak"):
                self.kind = word[2:]
            elif word == "--no-plot":
                self.plot = False
            elif name in self.values:
                if not equals and not words:
                    raise UserError("%s needs a value after it" % name)
                self.values[name] = value if equals else words.pop(0)
            else:
                raise UserError("unknown option %s; see `orrery scaling --help` (options of `orrery sim` go into --sim \"...\")" % word)
        if not words:
            raise UserError("no program given; usage: orrery scaling [options] PROGRAM [ARGS]")
        self.program, self.arguments = words[0], words[1:]
        self.kind = self.kind or ("weak" if any(BRACES.search(word) for word in self.arguments) else "strong")
        self.check()

    def check(self):
        if not self.values["--limit"].isdigit() or not int(self.values["--limit"]):
            raise UserError("--limit %s: it takes a positive number of seconds" % self.values["--limit"])
        self.limit = int(self.values["--limit"])
        if not self.values["--repeat"].isdigit() or not int(self.values["--repeat"]):
            raise UserError("--repeat %s: it takes a positive number of runs" % self.values["--repeat"])
        self.repeat = int(self.values["--repeat"])
        try:
            self.time = re.compile(self.values["--time"], re.M) if self.values["--time"] else None
        except re.error as error:
            raise UserError("--time %s: %s" % (self.values["--time"], error))
        if self.time and self.time.groups != 1:
            raise UserError("--time %s: it needs one pair of parentheses, around the seconds" % self.values["--time"])

    def name(self):
        name = os.path.basename(self.program)
        return name[:-4] if name.endswith(".sim") else name

    def programs(self, context):
        """{world: (path, numbers of nodes)}, in the order of WORLDS."""
        base = self.program[:-4] if self.program.endswith(".sim") else self.program
        found = {}
        if os.path.exists(base + ".sim") and context.has("simgrid"):
            found["simulated"] = base + ".sim", numbers("--nodes", self.values["--nodes"])
        if os.path.isfile(base) and orrery_elf.world_of(base) == "real" and context.has("mpi"):
            ranks = self.values["--ranks"]
            found["real"] = base, powers_of_two(orrery_run.usable_cores()) if ranks is None else numbers("--ranks", ranks)
        if not found:
            raise UserError("there is neither %s for the real world nor %s.sim for the simulated one; build both with `orrery cc --both -o %s`"
                            % (base, base, base))
        found = {world: (path, counts) for world, (path, counts) in found.items() if counts}
        if not found:
            raise UserError("--nodes and --ranks leave no run")
        return found


OURS = re.compile(r"orrery (sim|run): |\[orrery\]")
ERROR = re.compile(r"\[orrery\](\[\d+\])? error: ")
FRAME = re.compile(r"-{20,}$")  # of notices of mpirun


class Output:
    """What a run printed, line by line: the program's own, and that of Orrery and mpirun."""

    def __init__(self, out, err):
        self.own, self.errors, self.told, self.framed = [], [], [], []
        self.summary = []
        for text in (out, err):  # the last ones are those of stderr
            self.sort(text.decode(errors="replace").splitlines())

    def sort(self, lines):
        framed = False
        for line in lines:
            if FRAME.match(line):
                framed = not framed
            elif framed:
                self.framed.append(line)
            elif ERROR.match(line):
                self.errors.append(line)
            elif not OURS.match(line):
                self.own.append(line)
            elif self.summary or "; took " in line:
                self.summary.append(line)
            elif line.startswith("orrery") and ": warning: " not in line:
                self.told.append(line)

    def why(self):
        """The lines that say why the run failed, a few at most."""
        own = [line for line in self.own if line.strip()]
        lines = self.errors[:4] or self.told[:2] + own[-3:] or [line for line in self.framed if line.strip()][:3]
        return lines or ["(it said nothing)"]


class Runner:
    """Runs the program; the runs of a world have the same environment."""

    def __init__(self, context, request, programs):
        self.orrery = [sys.executable, os.path.join(context.paths["bin"], "orrery")]
        self.request, self.programs = request, programs
        self.environment = dict(os.environ, STARPU_PROFILING="1")
        if "real" in programs and "STARPU_NCPU" not in os.environ:
            self.real_workers = str(max(1, orrery_run.usable_cores() // max(programs["real"][1])))
        else:
            self.real_workers = None

    def words(self, world, n, *more):
        """The words behind `orrery`."""
        name, options = ("sim", "--sim") if world == "simulated" else ("run", "--run")
        return [name, "-n", str(n)] + list(more) + shlex.split(self.request.values[options]) \
            + [self.programs[world][0]] + [filled(word, n) for word in self.request.arguments]

    def by_hand(self, world, n):
        """The command that repeats a run."""
        workers = ["STARPU_NCPU=" + self.real_workers] if world == "real" and self.real_workers else []
        return " ".join(workers + ["orrery"] + [shlex.quote(word) for word in self.words(world, n)])

    def fail(self, world, n, text, lines=()):
        sys.stderr.write("orrery scaling: %d %s: %s\n" % (n, "nodes" if world == "simulated" else "ranks", text))
        for line in list(lines) + ["to repeat it: " + self.by_hand(world, n)]:
            sys.stderr.write("    %s\n" % line)

    def seconds(self, world, n, report, output):
        """None after a message."""
        if not self.request.time:
            return report["makespan_s"]
        found = self.request.time.findall("\n".join(output.own))
        try:
            return float(found[-1])
        except IndexError:
            more = "" if not self.request.time.search("\n".join(output.summary)) else \
                "; it matches Orrery's summary of the run, which does not count: leave --time out to have the time of the whole run"
            self.fail(world, n, "--time finds no number in the program's own output" + more)
        except ValueError:
            self.fail(world, n, "--time finds '%s' in the program's own output, which is not a number" % found[-1])
        return None

    def run(self, world, n, folder):
        """(seconds, shares), or None after a message."""
        path = os.path.join(folder, "report.json")
        environment = dict(self.environment)
        if world == "real" and self.real_workers:
            environment["STARPU_NCPU"] = self.real_workers
        try:
            done = subprocess.run(self.orrery + self.words(world, n, "--report", path), env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=self.request.limit)
        except subprocess.TimeoutExpired:
            self.fail(world, n, "no end within %d s, so the run was ended; --limit S gives more" % self.request.limit)
            return None
        output = Output(done.stdout, done.stderr)
        if done.returncode:
            first, *rest = output.why()
            self.fail(world, n, "exit status %d: %s" % (done.returncode, first), rest)
            return None
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        seconds = self.seconds(world, n, report, output)
        return None if seconds is None else (seconds, shares(report))

    def median(self, world, n, folder):
        """The same of the run with the median time. One that fails ends the repetition."""
        found = []
        for _ in range(self.request.repeat if world == "real" else 1):
            done = self.run(world, n, folder)
            if done is None:
                return None
            found.append(done)
        return sorted(found, key=lambda done: done[0])[(len(found) - 1) // 2]


def rows_of(world, request, results):
    """Rows of the table from [(n, seconds, shares)], the fewest nodes first."""
    rows = []
    first, base = (results[0][0], results[0][1]) if results else (1, 0)
    for n, seconds, parts in results:
        ratio = base / seconds if seconds > 0 else math.nan
        speedup = ratio if request.kind == "strong" else ratio * n / first
        rows.append({"world": world, "nodes": n, "arguments": " ".join(filled(word, n) for word in request.arguments), "seconds": seconds,
                     "speedup": speedup, "efficiency_percent": 100 * speedup * first / n,
                     **{"%s_percent" % kind: parts.get(kind, math.nan) for kind in KINDS}})
    return rows


def print_head(request, out):
    out.write("%s scaling of %s\n" % (request.kind, request.name()))
    if request.time:
        out.write("seconds, speed-up, eff. %%: of the time that --time %s finds; kernels to runtime: %% of the workers' time in the whole run\n"
                  % shlex.quote(request.values["--time"]))
    out.write("%-9s %6s  %12s %8s %7s  %s  arguments\n" % ("world", "nodes", "seconds", "speed-up", "eff. %", " ".join("%10s" % kind for kind in KINDS)))
    out.flush()


def print_row(row, out):
    parts = ["-" if math.isnan(row[kind + "_percent"]) else "%.1f" % row[kind + "_percent"] for kind in KINDS]
    out.write("%-9s %6d  %12.6f %8.2f %7.1f  %s  %s\n" % (row["world"], row["nodes"], row["seconds"], row["speedup"], row["efficiency_percent"],
                                                          " ".join("%10s" % part for part in parts), row["arguments"]))
    out.flush()


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow(["%.9g" % row[c] if isinstance(row[c], float) else row[c] for c in COLUMNS])


COLORS = {"kernels": "#2a7f4f", "messages": "#c44e52", "submission": "#8172b2", "foreign": "#ccb974", "idle": "#bbbbbb", "data": "#4c72b0",
          "runtime": "#dd8452"}


def draw_lines(axes, rows, key, ideal, label):
    for world, style in zip(WORLDS, ("o-", "s--")):
        mine = [row for row in rows if row["world"] == world]
        if mine:
            axes.plot([row["nodes"] for row in mine], [row[key] for row in mine], style, label=world, markersize=4, linewidth=1.2)
    nodes = sorted({row["nodes"] for row in rows})
    axes.plot(nodes, [ideal(n / nodes[0]) for n in nodes], color="#888888", linewidth=0.8, linestyle=":", label="ideal")
    axes.set_xscale("log", base=2)
    axes.set_xticks(nodes)
    axes.set_xticklabels([str(n) for n in nodes])
    axes.set_xlabel("nodes", fontsize=8)
    axes.set_ylabel(label, fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(color="#e5e5e5", linewidth=0.6)


def draw_shares(axes, rows, of_whole_run):
    rows = [row for row in rows if not math.isnan(row["kernels_percent"])]
    names = ["%s\n%d" % ("sim." if row["world"] == "simulated" else "real", row["nodes"]) for row in rows]
    below = [0.0] * len(rows)
    for kind in KINDS:
        heights = [row[kind + "_percent"] for row in rows]
        axes.bar(range(len(rows)), heights, bottom=below, color=COLORS[kind], label=kind, width=0.8)
        below = [a + b for a, b in zip(below, heights)]
    axes.set_xticks(range(len(rows)))
    axes.set_xticklabels(names, fontsize=6)
    axes.set_ylim(0, 100)
    axes.set_ylabel("time of the workers, %s%%" % ("whole run, " if of_whole_run else ""), fontsize=8)
    axes.tick_params(axis="y", labelsize=7)
    axes.legend(fontsize=6, ncol=1, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def draw(matplotlib, rows, request, path, title):
    """Speed-up, efficiency, and where the time went, side by side; the paths of the files."""
    pyplot = matplotlib.pyplot
    figure, (one, two, three) = pyplot.subplots(1, 3, figsize=(10, 3.2))
    draw_lines(one, rows, "speedup", lambda n: n, "speed-up")
    one.set_yscale("log", base=2)
    one.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: "%g" % v))
    one.legend(fontsize=7, frameon=False)
    draw_lines(two, rows, "efficiency_percent", lambda _n: 100, "efficiency, %")
    two.set_ylim(bottom=0)
    draw_shares(three, rows, bool(request.time))
    figure.suptitle(title, fontsize=9)
    figure.tight_layout()
    written = []
    for suffix, metadata in (("pdf", {"CreationDate": None}), ("png", {})):
        figure.savefig("%s.%s" % (path, suffix), dpi=200, metadata=metadata)
        written.append("%s.%s" % (path, suffix))
    pyplot.close(figure)
    return written


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    request = Request(arguments)
    programs = request.programs(context)
    for world, (_path, counts) in programs.items():
        for n in counts:
            for word in request.arguments:
                filled(word, n)
    orrery_options.make_folder("-o", request.values["-o"])
    matplotlib = orrery_heatmap.load_matplotlib()[0] if request.plot else None
    runner, rows, failed = Runner(context, request, programs), [], 0
    print_head(request, sys.stdout)
    with tempfile.TemporaryDirectory(prefix="orrery-scaling-") as folder:
        for world, (_path, counts) in programs.items():
            results = []
            for n in counts:
                done = runner.median(world, n, folder)
                failed += done is None
                if done:
                    results.append((n,) + done)
                    print_row(rows_of(world, request, results)[-1], sys.stdout)
            rows += rows_of(world, request, results)
    if failed:
        orrery_options.hint_of("scaling", [*VALUES, *FLAGS], request.arguments)
    if not rows:
        return 1
    name = request.name()
    path = os.path.join(request.values["-o"], request.values["--prefix"] or name + "_scaling")
    write_csv(path + ".csv", rows)
    print(path + ".csv")
    if matplotlib:
        title = request.values["--title"] or "%s scaling: %s" % (request.kind, " ".join([name] + request.arguments))
        for written in draw(matplotlib, rows, request, path, title):
            print(written)
    return 1 if failed else 0
