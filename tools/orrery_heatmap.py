# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Heatmaps of the traffic between pairs of nodes, for `orrery matrix`.
# Invariant: every pair is in one cell, pairs without traffic have a colour of their
# own, and the same statistics and settings give the same files, byte for byte.
import os
import sys

from orrery_cli import UserError

QUANTITIES = ("volume", "bandwidth", "messages")
DECIMAL = [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")]
BINARY = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
UNITS = {name: factor for factor, name in DECIMAL + BINARY}
SIZES = {"column": 3.4, "page": 7.0, "slide": 10.0}  # width in inches
CELL = 0.008        # the least side of a cell in inches, below which several pairs share one
GRID = 32           # nodes up to which cells have lines between them
NUMBERS = {"column": 5, "page": 10, "slide": 12}  # nodes up to which cells have numbers in them
DECADES = 2         # orders of magnitude beyond which small values cannot be told apart on a linear scale
SILENT = "#d9d9d9"


class Settings:
    """How matrices are drawn."""

    def __init__(self):
        self.title, self.note, self.size = "", "", "column"
        self.scale, self.unit, self.limits = "linear", None, None   # limits: (low or None, high or None) in the unit of the values


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


def unit_for(quantity, largest, wanted):
    """(factor, name): what values are divided by."""
    if quantity == "messages":
        return 1, "messages"
    per = "/s" if quantity == "bandwidth" else ""
    if wanted:
        return UNITS[wanted], wanted + per
    factor, name = next(((factor, name) for factor, name in DECIMAL if largest >= factor), DECIMAL[-1])
    return factor, name + per


def text_of(value):
    if value == 0:
        return "0"
    return "%d" % value if value == int(value) and value < 1e5 else "%.3g" % value


def words(quantity, kind):
    """(title, what a cell has) of a matrix; kind: hops, logical, or text for what a run printed."""
    if quantity == "bandwidth":
        return ("bandwidth, mean over the run", "") if kind == "text" else ("bandwidth while the pair was active", "")
    if kind == "logical":
        return ("data needed" if quantity == "volume" else "messages needed", "owner (node)")
    return ("data sent" if quantity == "volume" else "messages sent", "sender (node)")


class Heatmap:
    """The common parts of the matrices of a run: size, ticks, libraries."""

    def __init__(self, nodes, settings):
        self.matplotlib, self.numpy = load_matplotlib()
        self.nodes, self.settings = nodes, settings
        self.width = SIZES[settings.size]
        self.font = {"column": 7, "page": 9, "slide": 14}[settings.size]
        side = 0.68 * self.width  # of the square of cells
        self.group = max(1, -(-nodes // int(side / CELL)))
        self.cells = -(-nodes // self.group)
        # a cell covers at least two pixels
        self.dpi = min(1200, max(300 if settings.size != "slide" else 150, int(2.2 * self.cells / side) + 1))

    def array(self, table, factor):
        """The cells; of pairs that share one, the largest value."""
        cells = self.numpy.zeros((self.cells, self.cells))
        for (src, dst), value in table.items():
            at = src // self.group, dst // self.group
            cells[at] = max(cells[at], value / factor)
        return self.numpy.ma.masked_equal(cells, 0)

    def norm(self, cells, factor):
        colors, (low, high) = self.matplotlib.colors, self.settings.limits or (None, None)
        least, most = (float(cells.min()), float(cells.max())) if cells.count() else (0.0, 1.0)
        if self.settings.scale == "log":
            low = least or 0.1 if low is None else low / factor
            high = most if high is None else high / factor
            if low >= high:
                low = high / 10
            return colors.LogNorm(low, high)
        return colors.Normalize(0 if low is None else low / factor, most if high is None else high / factor)

    def ticks(self, axes):
        last = self.nodes - 1
        few = 16 if self.settings.size != "column" else 9
        if self.nodes <= few:
            marks = list(range(self.nodes))
        elif self.nodes & last == 0:
            marks = list(range(0, self.nodes, self.nodes // (8 if few == 16 else 4))) + [last]
        else:
            locator = self.matplotlib.ticker.MaxNLocator(nbins=few // 2 + 1, integer=True, steps=[1, 2, 4, 5, 8, 10], min_n_ticks=1)
            marks = [int(m) for m in locator.tick_values(0, last) if 0 <= m <= last]
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks([(m + 0.5) / self.group - 0.5 for m in marks])
            axis.set_ticklabels([str(m) for m in marks])
        axes.tick_params(labelsize=self.font - 1, length=2)
        if self.nodes > 9999:
            axes.tick_params(axis="x", labelrotation=90)

    def grid(self, axes):
        """Lines between the cells, where they are few."""
        if self.nodes > GRID:
            return
        lines = [i - 0.5 for i in range(self.nodes + 1)]
        axes.set_xticks(lines, minor=True)
        axes.set_yticks(lines, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.2 if self.nodes <= 8 else 0.4)
        axes.tick_params(which="minor", length=0)

    def numbers(self, axes, cells, norm):
        """Numbers in the cells, where they are large enough to be read."""
        if self.nodes > NUMBERS[self.settings.size]:
            return
        for src in range(self.nodes):
            for dst in range(self.nodes):
                value = cells[src, dst]
                if value is not self.numpy.ma.masked:
                    axes.text(dst, src, text_of(float(value)), ha="center", va="center", fontsize=self.font - 1,
                              color="white" if norm(value) < 0.55 else "black")

    def ends(self, bar, norm):
        """A logarithmic bar has its ends and the powers of ten between them, as plain numbers."""
        low, high = float(norm.vmin), float(norm.vmax)
        powers = [10.0 ** p for p in range(-30, 31) if low * 1.6 < 10.0 ** p < high / 1.6]
        powers = powers[::max(1, -(-len(powers) // 5))]
        bar.ax.yaxis.set_major_locator(self.matplotlib.ticker.FixedLocator([low] + powers + [high]))
        bar.ax.yaxis.set_major_formatter(self.matplotlib.ticker.FuncFormatter(lambda v, _: text_of(float("%.3g" % v))))
        bar.ax.yaxis.set_minor_locator(self.matplotlib.ticker.NullLocator())

    def bar(self, figure, axes, image, label, norm):
        bar = figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
        bar.set_label(label, fontsize=self.font)
        bar.ax.tick_params(labelsize=self.font - 1, length=2)
        if self.settings.scale == "log":
            self.ends(bar, norm)

    def below(self, axes):
        """The notes below the matrix: the grey cells, cells of several pairs, and what the run was."""
        lines = ["grey: no traffic"]
        if self.group > 1:
            lines[0] += "; a cell: the largest of %d x %d pairs" % (self.group, self.group)
        if self.settings.note:
            lines.append(self.settings.note)
        axes.text(0, -0.17 if self.nodes <= 9999 else -0.27, "\n".join(lines), transform=axes.transAxes, fontsize=self.font - 2, va="top", color="#444444")

    def draw(self, quantity, kind, table, path, about):
        settings = self.settings
        factor, unit = unit_for(quantity, max(table.values(), default=0), settings.unit)
        cells = self.array(table, factor)
        norm = self.norm(cells, factor)
        title, side = words(quantity, kind)
        pyplot = self.matplotlib.pyplot
        colormap = pyplot.get_cmap("viridis").copy()
        colormap.set_bad(SILENT)
        figure, axes = pyplot.subplots(figsize=(self.width, self.width))
        image = axes.imshow(cells, norm=norm, cmap=colormap, interpolation="none", origin="upper")
        self.bar(figure, axes, image, "%s%s" % (unit, ", logarithmic" if settings.scale == "log" else ""), norm)
        axes.set_xlabel("user (node)" if kind == "logical" else "receiver (node)", fontsize=self.font)
        axes.set_ylabel(side or "sender (node)", fontsize=self.font)
        axes.set_title("%s\n%s, %d nodes" % (settings.title, title, self.nodes), fontsize=self.font)
        self.ticks(axes)
        self.grid(axes)
        self.numbers(axes, cells, norm)
        self.below(axes)
        written = ["%s.%s" % (path, suffix) for suffix in ("pdf", "png")]
        for name in written:
            # no date, so that the same statistics give the same file
            metadata = {"CreationDate": None, "Subject": about} if name.endswith(".pdf") else {"Description": about}
            figure.savefig(name, dpi=self.dpi, metadata=metadata, bbox_inches="tight", pad_inches=0.04)
        pyplot.close(figure)
        return written


def hidden(table):
    """Whether a linear scale hides the smaller values."""
    values = [value for value in table.values() if value > 0]
    return bool(values) and max(values) > 10 ** DECADES * min(values)


def draw_all(nodes, tables, folder, prefix, settings, about):
    """Draws {(quantity, kind): table}; returns the paths of the files."""
    heatmap = Heatmap(nodes, settings)
    os.makedirs(folder, exist_ok=True)
    written = []
    for (quantity, kind), table in tables.items():
        name = "%s_%s%s" % (prefix, "logical_" if kind == "logical" else "", quantity)
        written += heatmap.draw(quantity, kind, table, os.path.join(folder, name), about)
    return written
