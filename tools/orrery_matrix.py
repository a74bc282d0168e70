# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery matrix`: draws the traffic between each pair of nodes as three heatmaps
# (volume, bandwidth, number of messages), from the statistics of a run.
# Invariant: every pair is one cell, pairs without traffic have a colour of their
# own, and unreadable input ends in a message with file and line, exit status 1.
import os
import re
import sys

from orrery_cli import UserError

HELP = """usage: orrery matrix STATS.csv [-o DIR] [--prefix P] [--title TEXT]

Draws the communication matrices of a run: volume, bandwidth and number of
messages, each as PDF and PNG, and prints the paths of the files.

  STATS.csv       written by `orrery sim --stats`; the text that a run prints
                  with STARPU_MPI_STATS=1 is understood too; - is standard input
  -o DIR          where to write (default: here; created when missing)
  --prefix P      file names are P_volume.pdf, ... (default: name of STATS)
  --title TEXT    written above each matrix (default: name of STATS)
"""
COLUMNS = ["src", "dst", "bytes", "messages", "first_s", "last_s"]
TEXT_PAIR = re.compile(r"\[starpu_comm_stats\]\[(\d+):(\d+)\]\s+(\S+) B\s+\S+ MB(?:\s+(\S+) B/s)?(?:\s+\S+ MB/s)?(?:\s+(\d+) messages)?")
# Words of a transport about itself at the end of a run: its name and counts of its own.
TEXT_TRANSPORT = re.compile(r"\[starpu_comm_stats\]\[\d+\]\s+[a-z][a-z0-9_]*: ")
STDERR_HINT = "; the table that STARPU_MPI_STATS=1 prints is on standard error: keep it with `2> FILE`"
LARGEST_NODE = 1 << 20
LARGEST = 1e30  # of bytes, messages and seconds
SHORTEST_S = 1e-12  # a run that took less has no bandwidth


class Stats:
    """Traffic per pair: {(src, dst): value} for each quantity that is known."""

    def __init__(self):
        self.volume, self.bandwidth, self.messages = {}, {}, {}
        self.nodes = 0
        self.makespan = None

    def add(self, table, src, dst, value):
        self.nodes = max(self.nodes, src + 1, dst + 1)
        table[src, dst] = table.get((src, dst), 0) + value


def fail(path, line, text):
    raise UserError("%s:%d: %s" % (path, line, text), 1)


def read_number(path, number, name, text, kind=float):
    try:
        value = kind(text)
    except ValueError:
        fail(path, number, "%s is '%s', not a number" % (name, text))
    if not 0 <= value <= LARGEST:
        fail(path, number, "%s is '%s'; it must be between 0 and %g" % (name, text, LARGEST))
    return value


def read_node(path, number, name, text):
    node = read_number(path, number, name, text, int)
    if node >= LARGEST_NODE:
        fail(path, number, "%s is %d; node numbers end at %d" % (name, node, LARGEST_NODE - 1))
    return node


def read_comment(stats, path, number, line):
    for key, value in re.findall(r"(\w+)=(\S+)", line):
        if key == "nodes":
            stats.nodes = max(stats.nodes, read_node(path, number, key, value))
        elif key == "makespan_s":
            stats.makespan = read_number(path, number, key, value)


def read_csv(path, lines):
    stats, header, last = Stats(), None, 0.0
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line:
            continue
        if line.startswith("#"):
            read_comment(stats, path, number, line)
            continue
        fields = [field.strip() for field in line.split(",")]
        if header is None:
            header = fields
            missing = [name for name in COLUMNS[:4] if name not in header]
            if missing:
                text = "the header line lacks %s; it should be %s" % (", ".join(missing), ",".join(COLUMNS))
                fail(path, number, text + (STDERR_HINT if len(missing) == 4 else ""))
            continue
        if len(fields) != len(header):
            fail(path, number, "%d fields, but the header has %d" % (len(fields), len(header)))
        row = dict(zip(header, fields))
        src, dst = (read_node(path, number, name, row[name]) for name in ("src", "dst"))
        stats.add(stats.volume, src, dst, read_number(path, number, "bytes", row["bytes"]))
        stats.add(stats.messages, src, dst, read_number(path, number, "messages", row["messages"]))
        if "last_s" in row:
            last = max(last, read_number(path, number, "last_s", row["last_s"]))
    if header is None:
        fail(path, 1, "no header line; it should be %s" % ",".join(COLUMNS))
    duration = stats.makespan or last
    if duration >= SHORTEST_S:
        stats.bandwidth = {pair: value / duration for pair, value in stats.volume.items()}
    return stats


def read_text(path, lines):
    """The lines of STARPU_MPI_STATS; other lines of the program's output are skipped."""
    stats, found = Stats(), False
    for number, line in enumerate(lines, 1):
        if "[starpu_comm_stats]" not in line or TEXT_TRANSPORT.search(line):
            continue
        found = True
        if re.search(r"\[starpu_comm_stats\]\[\d+\]\s+TOTAL", line):
            stats.nodes = max(stats.nodes, read_node(path, number, "node", re.search(r"\]\[(\d+)\]", line).group(1)) + 1)
            continue
        match = TEXT_PAIR.search(line)
        if not match:
            fail(path, number, "not a line of communication statistics: '%s'; it should be like "
                 "'[starpu_comm_stats][3:0] 248.0 B 0.000237 MB 0.000051 B/s 0.0 MB/s'" % line.strip()[:80])
        src, dst = (read_node(path, number, "node", match.group(i)) for i in (1, 2))
        stats.add(stats.volume, src, dst, read_number(path, number, "volume", match.group(3)))
        if match.group(4):
            stats.add(stats.bandwidth, src, dst, read_number(path, number, "bandwidth", match.group(4)))
        if match.group(5):
            stats.add(stats.messages, src, dst, read_number(path, number, "messages", match.group(5), int))
    if not found:
        fail(path, 1, "lines of transports, but none of the traffic between ranks; is the file complete?")
    return stats


def read_stats(path):
    try:
        stream = sys.stdin if path == "-" else open(path, encoding="utf-8")
        with stream:
            lines = stream.readlines()
    except FileNotFoundError:
        raise UserError("%s: there is no such file; write one with `orrery sim --stats %s ...`" % (path, path), 1)
    except UnicodeDecodeError:
        raise UserError("%s:1: not a text file; give the file that --stats wrote" % path, 1)
    if any("[starpu_comm_stats]" in line for line in lines):
        return read_text(path, lines)
    return read_csv(path, lines)


def load_matplotlib():
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot
        import numpy
    except ImportError as error:
        raise UserError("%s for %s; install python3-matplotlib (Debian) or pip install matplotlib"
                        % (error, sys.executable), 1)
    return matplotlib, numpy


UNITS = {
    "volume": [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes")],
    "bandwidth": [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1, "B/s")],
    "messages": [(1, "messages")],
}
TITLES = {"volume": "volume sent", "bandwidth": "bandwidth, mean over the run", "messages": "number of messages"}
SILENT = "#d9d9d9"


def unit_for(quantity, largest):
    return next(((factor, name) for factor, name in UNITS[quantity] if largest >= factor), UNITS[quantity][-1])


def text_of(value):
    if value == 0:
        return "0"
    return "%d" % value if value == int(value) and value < 1e5 else "%.3g" % value


class Drawing:
    """The common parts of the matrices of a run: size, ticks, libraries."""

    def __init__(self, nodes, title):
        self.matplotlib, self.numpy = load_matplotlib()
        self.nodes = nodes
        self.title = title
        # a cell of a large matrix covers at least two pixels
        self.side = 6.0 if nodes <= 64 else 9.0 if nodes <= 256 else 12.0
        self.dpi = max(150, int(2.2 * nodes / (self.side * 0.75)) + 1) if nodes <= 4096 else 600

    def array(self, table, factor):
        cells = self.numpy.zeros((self.nodes, self.nodes))
        for (src, dst), value in table.items():
            cells[src, dst] = value / factor
        return self.numpy.ma.masked_equal(cells, 0)

    def norm(self, cells):
        colors = self.matplotlib.colors
        if cells.count() == 0:
            return colors.Normalize(0, 1), False
        low, high = float(cells.min()), float(cells.max())
        if high / low > 100:
            return colors.LogNorm(low, high), True
        return colors.Normalize(0, high), False

    def ticks(self, axes):
        locator = self.matplotlib.ticker.MaxNLocator(nbins=16, integer=True, steps=[1, 2, 4, 5, 8, 10], min_n_ticks=1)
        if self.nodes > 16 and self.nodes & (self.nodes - 1) == 0:
            marks = list(range(0, self.nodes, self.nodes // 8)) + [self.nodes - 1]
        elif self.nodes <= 16:
            marks = list(range(self.nodes))
        else:
            marks = [int(m) for m in locator.tick_values(0, self.nodes - 1) if 0 <= m < self.nodes]
        axes.set_xticks(marks)
        axes.set_yticks(marks)
        axes.tick_params(axis="x", labelrotation=90 if self.nodes > 100 else 0)

    def label_cells(self, axes, cells, norm):
        """Numbers in the cells, where they are large enough to be read."""
        if self.nodes > 12:
            return
        for src in range(self.nodes):
            for dst in range(self.nodes):
                value = cells[src, dst]
                if value is self.numpy.ma.masked:
                    continue
                shade = "white" if norm(value) < 0.55 else "black"
                axes.text(dst, src, text_of(float(value)), ha="center", va="center", color=shade,
                          fontsize=10 if self.nodes <= 6 else 7)

    def draw(self, quantity, table, path):
        factor, unit = unit_for(quantity, max(table.values(), default=0))
        cells = self.array(table, factor)
        norm, logarithmic = self.norm(cells)
        pyplot = self.matplotlib.pyplot
        colormap = pyplot.get_cmap("viridis").copy()
        colormap.set_bad(SILENT)
        figure, axes = pyplot.subplots(figsize=(self.side * 1.2, self.side))
        image = axes.imshow(cells, norm=norm, cmap=colormap, interpolation="nearest", origin="upper")
        bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
        bar.set_label("%s (%s%s)" % (TITLES[quantity], unit, ", logarithmic" if logarithmic else ""))
        axes.set_xlabel("receiver (node)")
        axes.set_ylabel("sender (node)")
        axes.set_title("%s\n%s, %d nodes" % (self.title, TITLES[quantity], self.nodes))
        self.ticks(axes)
        self.label_cells(axes, cells, norm)
        patch = self.matplotlib.patches.Patch(facecolor=SILENT, edgecolor="black", linewidth=0.5)
        axes.legend([patch], ["no traffic (0)"], loc="upper left", bbox_to_anchor=(0, -0.1), frameon=False)
        figure.tight_layout()
        written = []
        for suffix in ("pdf", "png"):
            # no date, so that the same statistics give the same file
            metadata = {"CreationDate": None} if suffix == "pdf" else {}
            figure.savefig("%s.%s" % (path, suffix), dpi=self.dpi, metadata=metadata)
            written.append("%s.%s" % (path, suffix))
        pyplot.close(figure)
        return written


def draw_all(stats, folder, prefix, title, quantities=("volume", "bandwidth", "messages")):
    """Draws the given quantities of the run; returns the paths of the files."""
    if stats.nodes == 0:
        raise UserError("the statistics name no node at all; there is nothing to draw", 1)
    drawing = Drawing(stats.nodes, title)
    os.makedirs(folder, exist_ok=True)
    written = []
    for quantity in quantities:
        written += drawing.draw(quantity, getattr(stats, quantity), os.path.join(folder, "%s_%s" % (prefix, quantity)))
    return written


def parse(arguments):
    options, source = {"-o": ".", "--prefix": None, "--title": None}, None
    words = list(arguments)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name in options:
            if not equals and not words:
                raise UserError("%s needs a value after it" % name)
            options[name] = value if equals else words.pop(0)
        elif word.startswith("-") and word != "-":
            raise UserError("unknown option %s; see `orrery matrix --help`" % word)
        elif source is not None:
            raise UserError("one file at a time, but there are %s and %s" % (source, word))
        else:
            source = word
    if source is None:
        raise UserError("no statistics given; usage: orrery matrix STATS.csv -o DIR")
    return source, options


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    source, options = parse(arguments)
    name = "stdin" if source == "-" else os.path.splitext(os.path.basename(source))[0]
    stats = read_stats(source)
    quantities = ["volume"] + (["bandwidth"] if stats.bandwidth or not stats.volume else [])
    if stats.messages or not stats.volume:
        quantities.append("messages")
    for path in draw_all(stats, options["-o"], options["--prefix"] or name, options["--title"] or name, quantities):
        print(path)
    for quantity in TITLES:
        if quantity not in quantities:
            sys.stderr.write("orrery matrix: %s has no %s; that matrix is left out\n" % (source, quantity))
    return 0
