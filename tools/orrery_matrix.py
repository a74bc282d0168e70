# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery matrix`: draws the traffic between each pair of nodes as heatmaps (volume,
# bandwidth, number of messages), from the statistics of a run.
# Invariant: unreadable input ends in a message with file and line, exit status 1.
import io
import os
import re
import sys
import zlib

import orrery_checksum
import orrery_heatmap
import orrery_options
from orrery_cli import UserError
from orrery_heatmap import QUANTITIES, SIZES, UNITS

HELP = """usage: orrery matrix STATS.csv [-o DIR] [--hops] [--logical] [--only QUANTITY]
                     [--scale linear|log] [--unit UNIT] [--limits LOW:HIGH]
                     [--size column|page|slide] [--title TEXT] [--note TEXT]
                     [--prefix P]

Draws the communication matrices of a run: volume, bandwidth and number of
messages, each as PDF and PNG, and prints the paths of the files.

  STATS.csv       written by --stats of `orrery sim` and `orrery run`; the text that
                  a run prints with STARPU_MPI_STATS=1 is understood too; - is
                  standard input
  --hops          what went over which pair, ranks that pass data on included (the
                  default, but for ranks that were played alone, of which it is not
                  known)
  --logical       who needs whose data: from the rank that sends a value to the rank
                  that uses it, whichever way it went; with --hops as well, both
  --only QUANTITY only volume, bandwidth or messages; may be given again
  --scale S       linear (default), or log
  --unit UNIT     of volume and bandwidth: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB
                  (default: the decimal one that fits)
  --limits LOW:HIGH
                  the ends of the scale, so that the pictures of a series compare;
                  each is a number with a unit, or is left out: 0:12MB, :3GB
  --size S        column (of a paper, default), page or slide
  --title TEXT    written above each matrix (default: name of STATS)
  --note TEXT     written below it (default: what the run was, from STATS)
  -o DIR          where to write (default: here; created when missing)
  --prefix P      file names are P_volume.pdf, P_logical_volume.pdf, ... (default:
                  name of STATS)
"""
COLUMNS = ["src", "dst", "bytes", "messages", "first_s", "last_s", "active_s", "logical_bytes", "logical_messages"]
TEXT_TOTAL = re.compile(r"\[starpu_comm_stats\]\[(\d+)\]\s+TOTAL:?\s+(\S+) B\s+\S+ MB(?:\s+(\S+) B/s)?")
TEXT_PAIR = re.compile(r"\[starpu_comm_stats\]\[(\d+):(\d+)\]\s+(\S+) B\s+\S+ MB(?:\s+(\S+) B/s)?(?:\s+\S+ MB/s)?(?:\s+(\d+) messages)?")
# Of the lines of a rank, in their order, but for those of transports.
TEXT_CHECKSUM = re.compile(r"\[starpu_comm_stats\]\[(\d+)\] checksum: ([0-9a-f]{8}), rank (\d+) of (\d+)$")
# Words of a transport about itself at the end of a run: its name and counts of its own.
TEXT_TRANSPORT = re.compile(r"\[starpu_comm_stats\]\[\d+\]\s+[a-z][a-z0-9_]*: ")
STDERR_HINT = "; the table that STARPU_MPI_STATS=1 prints is on standard error: keep it with `2> FILE`"
LARGEST_NODE = 1 << 20
LARGEST = 1e30  # of bytes, messages and seconds
SHORTEST_S = 1e-12  # a pair that was active for less has no bandwidth
ABOUT = ("alone", "world", "machine", "network", "seed", "version")  # of the description of a run: what is written below a matrix


class Stats:
    """Traffic per pair: {(src, dst): value} for each quantity that is known."""

    def __init__(self):
        self.volume, self.bandwidth, self.messages, self.active = {}, {}, {}, {}
        self.logical_volume, self.logical_messages = {}, {}
        self.kind, self.has_logical = "hops", False
        self.nodes = 0
        self.about = {}  # what the run was, by name
        self.doubts = []  # what does not fit together, with its place

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
    match = re.match(r"# ([a-z]+): (.*)", line)
    if match:
        stats.about[match.group(1)] = match.group(2)
        return
    for key, value in re.findall(r"\b(\w+)=(\S+)", line):
        if key == "nodes":
            stats.nodes = max(stats.nodes, read_node(path, number, key, value))
        elif key == "makespan_s":
            read_number(path, number, key, value)


def read_row(stats, path, number, row):
    src, dst = (read_node(path, number, name, row[name]) for name in ("src", "dst"))
    for name, table in (("bytes", stats.volume), ("messages", stats.messages), ("active_s", stats.active),
                        ("logical_bytes", stats.logical_volume), ("logical_messages", stats.logical_messages)):
        if name in row:
            stats.add(table, src, dst, read_number(path, number, name, row[name]))


def read_csv(path, lines):
    stats, header = Stats(), None
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
        read_row(stats, path, number, dict(zip(header, fields)))
    if header is None:
        fail(path, 1, "no header line; it should be %s" % ",".join(COLUMNS))
    stats.has_logical = "logical_bytes" in header and "logical_messages" in header
    stats.bandwidth = {pair: stats.volume[pair] / seconds for pair, seconds in stats.active.items() if seconds >= SHORTEST_S}
    return stats


def doubt_printed(stats, path, totals, pairs):
    """Texts say the same twice: the pairs of a node sum up to its total, and are as fast as their share of it.
    totals: {node: (line, bytes, bytes/s)}, pairs: {node: [(line, bytes, bytes/s)]}."""
    if len(totals) < stats.nodes:
        stats.doubts.append("%s:1: %d of %d nodes have no line `TOTAL'" % (path, stats.nodes - len(totals), stats.nodes))
    for node, (line, total, rate) in sorted(totals.items()):
        sent = sum(n for _, n, _ in pairs.get(node, ()))
        if abs(sent - total) > 1e-12 * total:   # whole numbers of bytes
            stats.doubts.append("%s:%d: node %d sent %.6f B in all, but the lines of its pairs sum up to %.6f B" % (path, line, node, total, sent))
        for number, n, own in pairs.get(node, ()):
            if (own is None) != (rate is None):
                stats.doubts.append("%s:%d: a bandwidth is missing, here or in the total of node %d" % (path, number, node))
            elif own is not None and total and abs(own - rate * n / total) > 2e-6 + 1e-6 * own:
                stats.doubts.append("%s:%d: %.6f B/s do not fit to the total of node %d" % (path, number, own, node))


class Printed:
    """The checksums that the ranks print behind their lines. Texts of StarPU, and of older versions, have none."""

    def __init__(self, path):
        self.path, self.sums, self.open, self.ranks, self.there = path, {}, {}, {}, 0

    def line(self, number, line):
        """Another line of a rank."""
        rank = re.match(r"\[starpu_comm_stats\]\[(\d+)", line)
        if rank:
            self.sums[rank[1]] = zlib.crc32((line.rstrip("\r\n") + "\n").encode(), self.sums.get(rank[1], 0))
            self.open[rank[1]] = number

    def checksum(self, number, line):
        """Is it the checksum of a rank? Refuses it if the lines do not fit."""
        match = TEXT_CHECKSUM.match(line.rstrip("\r\n"))
        if not match:
            if "] checksum:" in line:
                fail(self.path, number, "not a checksum as STARPU_MPI_STATS=1 prints it: '%s'; the file was damaged" % line.strip()[:80])
            return False
        rank, size = (read_node(self.path, number, "node", match[i]) for i in (3, 4))
        has = self.sums.pop(match[1], 0)
        self.open.pop(match[1], None)
        if int(match[2], 16) != has or match[1] != match[3] or rank >= size:
            fail(self.path, number, "the checksum of node %s is %s, and that of its lines %08x: the file was damaged or changed; "
                 "run the program anew, or, if you changed it, remove all lines with `checksum:'" % (match[1], match[2], has))
        self.ranks[rank] = number
        self.there = max(self.there, size)
        return True

    def doubts(self):
        """What is missing where some have a checksum."""
        if self.ranks and len(self.ranks) < self.there:
            missing = next(rank for rank in range(self.there) if rank not in self.ranks)
            yield "%s:1: there are lines of %d of %d nodes, and none of node %d" % (self.path, len(self.ranks), self.there, missing)
        if self.ranks:
            for rank, number in sorted(self.open.items()):
                yield "%s:%d: no checksum follows the lines of node %s" % (self.path, number, rank)


def read_text(path, lines):
    """The lines of STARPU_MPI_STATS; other lines of the program's output are skipped."""
    stats, found, totals, pairs, printed = Stats(), False, {}, {}, Printed(path)
    stats.kind = "text"
    for number, line in enumerate(lines, 1):
        own = line[line.find("[starpu_comm_stats]"):]
        if "[starpu_comm_stats]" not in line or printed.checksum(number, own) or TEXT_TRANSPORT.search(line):
            continue
        printed.line(number, own)
        found = True
        if re.search(r"\[starpu_comm_stats\]\[\d+\]\s+TOTAL", line):
            node = read_node(path, number, "node", re.search(r"\]\[(\d+)\]", line).group(1))
            stats.nodes = max(stats.nodes, node + 1)
            match = TEXT_TOTAL.search(line)
            if match:
                totals[node] = (number, read_number(path, number, "volume", match.group(2)),
                                read_number(path, number, "bandwidth", match.group(3)) if match.group(3) else None)
            continue
        match = TEXT_PAIR.search(line)
        if not match:
            fail(path, number, "not a line of communication statistics: '%s'; it should be like "
                 "'[starpu_comm_stats][3:0] 248.0 B 0.000237 MB 0.000051 B/s 0.0 MB/s'" % line.strip()[:80])
        src, dst = (read_node(path, number, "node", match.group(i)) for i in (1, 2))
        volume, rate = read_number(path, number, "volume", match.group(3)), None
        if (src, dst) in stats.volume:
            stats.doubts.append("%s:%d: the pair [%d:%d] is there twice" % (path, number, src, dst))
        stats.add(stats.volume, src, dst, volume)
        if match.group(4):
            rate = read_number(path, number, "bandwidth", match.group(4))
            stats.add(stats.bandwidth, src, dst, rate)
        if match.group(5):
            stats.add(stats.messages, src, dst, read_number(path, number, "messages", match.group(5), int))
        pairs.setdefault(src, []).append((number, volume, rate))
    if not found:
        fail(path, 1, "lines of transports, but none of the traffic between ranks; is the file complete?")
    stats.doubts.extend(printed.doubts())
    doubt_printed(stats, path, totals, pairs)
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
    data = "".join(lines).encode()
    says = orrery_checksum.check_stream(path, io.BytesIO(data), len(data))
    if any("[starpu_comm_stats]" in line for line in lines):
        return read_text(path, lines)
    stats = read_csv(path, lines)
    orrery_checksum.require(path, says)
    return stats


def read_limit(text):
    """A limit in bytes, bytes per second or messages; None if it is left out."""
    match = re.fullmatch(r"([0-9]+(?:[.][0-9]*)?(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z]*)(?:/s)?", text)
    if not text:
        return None
    if not match or (match.group(2) and match.group(2) not in UNITS):
        raise UserError("--limits: '%s' is no limit; write LOW:HIGH, each a number with one of the units %s, or nothing" % (text, ", ".join(UNITS)))
    return float(match.group(1)) * UNITS.get(match.group(2), 1)


def read_limits(text, settings):
    low, colon, high = text.partition(":")
    if not colon:
        raise UserError("--limits %s: write LOW:HIGH, one of which may be left out, for instance 0:12MB or :3GB" % text)
    low, high = read_limit(low), read_limit(high)
    if low is not None and high is not None and low >= high:
        raise UserError("--limits %s: the lower end is not below the upper one" % text)
    if settings.scale == "log" and low == 0:
        raise UserError("--limits %s: a logarithmic scale does not begin at 0; leave the lower end out, or give --scale linear" % text)
    settings.limits = low, high


def choice(option, value, words):
    if value not in words:
        raise UserError("%s %s: it takes one of %s" % (option, value, ", ".join(words)))
    return value


class Request:
    """What the command asks for."""

    def __init__(self, arguments):
        self.source, self.kinds, self.only = None, [], []
        self.values = {"-o": ".", "--prefix": None, "--title": None, "--note": None, "--scale": "linear", "--unit": None,
                       "--limits": None, "--size": "column"}
        words = list(arguments)
        while words:
            self.take(words.pop(0), words)
        if self.source is None:
            raise UserError("no statistics given; usage: orrery matrix STATS.csv -o DIR")
        choice("--scale", self.values["--scale"], ("linear", "log"))
        choice("--size", self.values["--size"], tuple(SIZES))
        if self.values["--unit"]:
            choice("--unit", self.values["--unit"], tuple(UNITS))
        if self.values["--limits"] and len(self.only) != 1:
            raise UserError("--limits is about one quantity; choose it with --only %s" % "|".join(QUANTITIES))

    def take(self, word, words):
        name, equals, value = word.partition("=")
        if word in ("--hops", "--logical"):
            self.kinds.append(word[2:])
        elif name in self.values or name == "--only":
            if not equals and not words:
                raise UserError("%s needs a value after it" % name)
            value = value if equals else words.pop(0)
            if name == "--only":
                self.only.append(choice(name, value, QUANTITIES))
            else:
                self.values[name] = value
        elif word.startswith("-") and word != "-":
            raise UserError("unknown option %s; see `orrery matrix --help`" % word)
        elif self.source is not None:
            raise UserError("one file at a time, but there are %s and %s" % (self.source, word))
        else:
            self.source = word

    def settings(self, stats, name):
        settings = orrery_heatmap.Settings()
        settings.title = self.values["--title"] if self.values["--title"] is not None else name
        settings.scale, settings.unit, settings.size = (self.values[n] for n in ("--scale", "--unit", "--size"))
        if self.values["--limits"]:
            read_limits(self.values["--limits"], settings)
        if self.values["--note"] is not None:
            settings.note = self.values["--note"]
        elif stats.about:
            settings.note = note(stats.about, settings.size)
        return settings


def note(about, size):
    """What the run was, in a line or two."""
    short = {"alone": lambda text: text + ", alone", "network": lambda text: "network " + text.partition(" between")[0], "version": lambda text: "Orrery " + text,
             "seed": lambda text: "seed " + text, "machine": lambda text: "machine " + text}
    parts = [short.get(name, str)(about[name]) for name in ABOUT if name in about]
    lines = [""]
    for part in parts:
        if len(lines[-1]) + len(part) > {"column": 60, "page": 100, "slide": 100}[size]:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + part
    return "\n".join(lines)


def choose(stats, request):
    """{(quantity, kind): table} to draw; says on standard error what the statistics do not have."""
    tables, hidden, alone = {}, [], stats.about.get("alone")
    if alone and "hops" in request.kinds:
        raise UserError("%s is of %s, alone (STARPU_MPI_FAKE_RANK), which does not know what way data go between the others; "
                        "--logical draws its row and its column of who needs whose data" % (request.source, alone), 1)
    for kind in request.kinds or ["logical" if alone else "hops"]:
        if kind == "logical" and not stats.has_logical:
            raise UserError("%s does not say who needs whose data; write statistics with --stats of `orrery sim` or `orrery run`" % request.source, 1)
        for quantity in request.only or QUANTITIES:
            if kind == "logical" and quantity == "bandwidth":
                continue  # data that are needed have no way of their own
            table = getattr(stats, ("logical_" if kind == "logical" else "") + quantity)
            if not table and stats.volume and (quantity != "volume"):
                sys.stderr.write("orrery matrix: %s has no %s; that matrix is left out\n" % (request.source, quantity))
                continue
            tables[quantity, kind if kind == "logical" else stats.kind] = table
            if request.values["--scale"] == "linear" and quantity != "bandwidth" and orrery_heatmap.hidden(table):
                hidden.append("%s (%s)" % (quantity, kind) if stats.has_logical else quantity)
    if hidden:
        sys.stderr.write("orrery matrix: %s: pairs differ by more than a factor of %d, so small values look like none; --scale log shows them\n"
                         % (", ".join(hidden), 10 ** orrery_heatmap.DECADES))
    return tables


def main(_context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    request = Request(arguments)
    name = "stdin" if request.source == "-" else os.path.splitext(os.path.basename(request.source))[0]
    stats = read_stats(request.source)
    if stats.doubts:
        sys.stderr.write("orrery matrix: %s; lines are missing or were changed%s\n"
                         % (stats.doubts[0], "" if len(stats.doubts) == 1 else " (and %d more)" % (len(stats.doubts) - 1)))
    if stats.nodes == 0:
        raise UserError("the statistics name no node at all; there is nothing to draw", 1)
    orrery_options.make_folder("-o", request.values["-o"])
    about = "; ".join("%s: %s" % item for item in stats.about.items())
    tables = choose(stats, request)
    for path in orrery_heatmap.draw_all(stats.nodes, tables, request.values["-o"], request.values["--prefix"] or name,
                                        request.settings(stats, name), about):
        print(path)
    return 0
