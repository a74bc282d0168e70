# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace`: shows and converts the traces that runs record.
# Invariant: the text form has one line per event, sorted by time; the same trace
# gives the same bytes.
import importlib
import os
import sys

import orrery_checksum
import orrery_data
import orrery_links
import orrery_part
import orrery_sums
import orrery_tracefile
from orrery_cli import UserError
from orrery_tracefile import CAUSES, TURNS, signed

HELP = """usage: orrery trace FILE [--info | --text] [-o OUT] [--from S] [--to S]
                    [--ranks LIST] [--kinds LIST]
       orrery trace FILE --csv|--sqlite|--paje|--perfetto|--otf2|--starpu -o OUT
                    [--from S] [--to S] [--ranks LIST]

Shows a trace that was recorded with ORRERY_TRACE=FILE, orrery run --trace FILE or
orrery sim --trace FILE, or converts it.

  --info          what was recorded: the run, its ranks, the number of events of
                  each kind, and whether the file is whole (default)
  --text          one line per event, sorted by time
  --csv           tables of tasks, dependencies, messages, workers, kernels, ranks and
                  others, each a file of the folder OUT, for pandas and R
  --sqlite        the same tables as a database OUT, for questions in SQL
  --paje          Paje's format, for ViTE and pj_dump
  --perfetto      Perfetto's protobuf format, for ui.perfetto.dev
  --otf2          an archive of OTF2, the folder OUT, for Vampir, Scalasca and others
  --starpu        the files that starpu_fxt_tool writes and StarVZ reads, in the folder OUT
  -o OUT          write to OUT; text goes to standard output otherwise
  --from S, --to S  only events between these times, in seconds since the first one;
                  of tables, the tasks and messages that have something between them
  --ranks LIST    only of these ranks: numbers and ranges, as 0,4-7
  --kinds LIST    only of these kinds, with commas between them, as start,end

The documentation says what each kind of event (doc/trace-format.md) and each column
of the tables (doc/trace-tables.md) means.
"""
SHOWN = ("info", "text")
CONVERTED = {"csv": ("orrery_tables", "write_csv"), "sqlite": ("orrery_tables", "write_sqlite"), "paje": ("orrery_paje", "write"),
             "perfetto": ("orrery_perfetto", "write"), "otf2": ("orrery_otf2", "write"),
             "starpu": ("orrery_starpu", "write")}

SHOWN_KINDS = orrery_tracefile.EVENTS + ("link",)
ALIASES = {"program": ("waited",), **orrery_part.GROUPS}


def parse_ranks(text):
    ranks = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise UserError("--ranks %s: give numbers and ranges, as 0,4-7" % text)
        ranks.update(range(int(first), int(last if dash else first) + 1))
    return ranks


def parse_kinds(text):
    kinds = []
    for word in text.split(","):
        if word in SHOWN_KINDS:
            kinds.append(word)
        elif word in ALIASES:
            kinds += ALIASES[word]
        else:
            raise UserError("--kinds %s: there is no kind %s; there are %s, and in groups %s"
                            % (text, word, ", ".join(SHOWN_KINDS), ", ".join(ALIASES)))
    return kinds


def parse(arguments):
    options = {"form": "info", "out": None, "from": None, "to": None, "ranks": None, "kinds": None}
    files, words = [], list(arguments)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word[:2] == "--" and (word[2:] in SHOWN or word[2:] in CONVERTED):
            options["form"] = word[2:]
        elif name in ("-o", "--from", "--to", "--ranks", "--kinds"):
            if not equals and not words:
                raise UserError("%s needs a value after it" % name)
            value = value if equals else words.pop(0)
            if name == "-o":
                options["out"] = value
            elif name == "--ranks":
                options["ranks"] = parse_ranks(value)
            elif name == "--kinds":
                options["kinds"] = parse_kinds(value)
            else:
                options[name[2:]] = orrery_tracefile.seconds(name, value)
        elif word.startswith("-"):
            raise UserError("unknown option %s; see `orrery trace --help`" % word)
        else:
            files.append(word)
    if len(files) != 1:
        raise UserError("which trace? Record one with ORRERY_TRACE=FILE or --trace FILE, then give FILE"
                        if not files else "one trace at a time; give only one of %s" % " ".join(files))
    if options["form"] in CONVERTED:
        if options["out"] is None:
            raise UserError("--%s needs a place to write to; give -o OUT" % options["form"])
        if options["kinds"] is not None:
            raise UserError("--kinds chooses events of --info and --text; --%s has all of them" % options["form"])
    return files[0], options


def convert(trace, options):
    """Writes another form of the trace, and says on standard error if the trace is not whole."""
    module, name = CONVERTED[options["form"]]
    tables = importlib.import_module("orrery_tables").Tables(trace, options["from"], options["to"], options["ranks"])
    left_out = getattr(importlib.import_module(module), name)(tables, options["out"])
    if left_out:
        sys.stderr.write("orrery trace: %s\n" % left_out)
    if trace.part is not None:
        sys.stderr.write("orrery trace: %s: %s\n" % (trace.path, trace.part.sentence()))
    if trace.state():
        sys.stderr.write("orrery trace: %s: %s; what is written is true up to there\n" % (trace.path, trace.state()))


def window(trace, options):
    """The events that the options ask for."""
    first = last = None
    if options["from"] is not None or options["to"] is not None:
        start = min((trace.processes[b[1][1]].run_ns(b[1][4]) for b in trace.blocks if b[1][3]), default=0)
        if options["from"] is not None:
            first = start + round(options["from"] * 1e9)
        if options["to"] is not None:
            last = start + round(options["to"] * 1e9)
    return trace.events(options["kinds"] or SHOWN_KINDS, first, last, options["ranks"])


def names_of_tasks(trace, ranks):
    """{(process, task): name}"""
    wanted = None if ranks is None else {number for number, p in trace.processes.items() if p.ranks() & set(ranks)}
    mask = 1 << orrery_tracefile.NUMBER["submit"] | 1 << orrery_tracefile.NUMBER["start"]
    return {(process, e[5]): trace.processes[process].strings.get(e[4], "unnamed")
            for process, e in trace.raw(mask, processes=wanted)}


def cause_text(value):
    return "%s %d" % (CAUSES[value >> 60], value & (1 << 60) - 1) if value >> 60 in CAUSES else "program 0"


def fields_of(kind, e, names):
    """What stands behind the kind in a line of the text form."""
    flags, a, b, c, d, process = e[3], e[5], e[6], e[7], e[8], e[9]
    if kind in ("submit", "start", "end", "done"):
        return "%d %s" % (b, names.get((process.number, b), "unnamed"))
    if kind in ("release", "ready", "after"):
        return "%d %s" % (b, cause_text(c))
    if kind in ("send", "recv"):
        return "%d %d %d" % (signed(a, 32), signed(c), d)
    if kind == "post":
        return "%d %d %d %s" % (signed(a, 32), signed(c), b, "receive" if flags & orrery_tracefile.RECEIVE else "send")
    if kind == "grant":
        return "%d %s%s" % (b, cause_text(c), " after " + cause_text(d) if d else "")
    if kind == "waited":
        return "%d %s %s" % (b, cause_text(c) if c else "-", process.strings.get(a, ""))
    if kind == "change":
        return "%s %d %d %d %d" % (orrery_tracefile.CHANGES.get(flags, flags), a, b, c, d)
    if kind == "memory":
        return "%d %d %d %d" % (a, b, c, d)
    if kind in ("route", "sent", "envelope", "match"):
        return "%d %d %d" % (signed(a, 32), b >> 32, b & 0xFFFFFFFF)
    if kind in ("copy", "copied"):
        return "%d %d %d %s" % (a, b, c, orrery_tracefile.copy_why(d))
    if kind == "held":
        cause = orrery_tracefile.HOLDS.get(flags & ~orrery_tracefile.GOES_ON, flags)
        return "%s %d %d %d %s" % (cause, signed(a, 32), b >> 32, b & 0xFFFFFFFF, "ends" if flags & orrery_tracefile.GOES_ON else "begins")
    if kind == "callback":
        return "%d %d %s" % (b, c, orrery_tracefile.CALLBACKS.get(flags, flags))
    if kind == "datum":
        return "%d %d %s %s, %s" % (-1 if flags & orrery_data.UNTAGGED else signed(b), c, "unregistered" if flags & orrery_data.ENDS else "known", process.strings.get(a, ""), process.strings.get(d, ""))
    if kind == "uses":
        return "%d %s" % (b, " ".join("%s:%s" % (mode, "-" if tag is None else tag) for mode, tag, _ in orrery_data.used(flags, c, d)))
    if kind == "link":
        return "%d %d %d %s %s" % (b, c, d, "sum" if flags & orrery_links.SUM else "part", process.strings.get(a, ""))
    if kind == "engine":
        return "%s %d %d %d %s" % (TURNS.get(a, a), b, c, d, "guest" if flags & orrery_tracefile.GUEST else "own")
    return "%d %s" % (b, process.strings.get(a, ""))


def write_text(trace, options, out):
    names = names_of_tasks(trace, options["ranks"])
    out.write("# time_us rank worker event job name | peer tag bytes | from to bytes why\n")
    for e in window(trace, options):
        kind = orrery_tracefile.KINDS[e[2]]
        ns = e[0]
        sign, ns = ("-", -ns) if ns < 0 else ("", ns)
        out.write("%s%d.%03d %d %d %s %s\n" % (sign, ns // 1000, ns % 1000, e[1], e[4], kind, fields_of(kind, e, names)))


def write_sums(sums, out):
    """What a trace with a limit counted, whether its events are still there or not."""
    out.write("%-10s %d in the sums\n" % ("events", sums.events()))
    for name, (n, ns, _) in sorted(sums.kernels_by_name().items()):
        out.write("  kernel   %s: %d, %.9f s\n" % (name, n, ns * 1e-9))
    for name, total in (("sent", sums.sent), ("received", sums.received), ("copied", sums.copied)):
        if total:
            out.write("  %-8s %d, %d bytes\n" % (name, sum(n for n, _ in total.values()), sum(b for _, b in total.values())))
    for name, (n, ns) in sums.lists().items():
        if n:
            out.write("  list     %s: %d, %.9f s\n" % (name, n, ns * 1e-9))


def write_info(trace, options, out):
    events = window(trace, options)
    for name, value in trace.text.items():
        out.write("%-10s %s\n" % (name, value))
    out.write("%-10s %d\n" % ("ranks", len(trace.ranks())))
    out.write("%-10s %d\n" % ("workers", trace.workers()))
    out.write("%-10s %d bytes, %d blocks of %d, %s\n" % ("file", trace.bytes, len(trace.blocks), trace.block, trace.state() or "whole"))
    if trace.part is not None:
        out.write("%-10s %s\n" % ("part", trace.part.sentence()))
    if trace.missing():
        out.write("%-10s %s\n" % ("limit", trace.missing()))
    # A thread may have slept before the first step.
    steps = [e[0] for e in events if orrery_tracefile.KINDS[e[2]] not in orrery_tracefile.NO_STEPS]
    if steps:
        out.write("%-10s %.9f s\n" % ("time", (steps[-1] - steps[0]) * 1e-9))
    counts = {}
    for e in events:
        counts[e[2]] = counts.get(e[2], 0) + 1
    out.write("%-10s %d\n" % ("events", len(events)))
    for kind in sorted(counts):
        out.write("  %-8s %d\n" % (orrery_tracefile.KINDS[kind], counts[kind]))
    if trace.limited:
        write_sums(orrery_sums.Sums(trace), out)


def write(trace, options, out):
    if options["form"] != "text":
        write_info(trace, options, out)
        return
    out = orrery_checksum.Sealing(out)   # other commands read it
    write_text(trace, options, out)
    out.end()


def main(_context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    if arguments[:1] == ["--like"]:   # under a name of StarPU's (orrery_cli.ALIASES)
        return importlib.import_module("orrery_starpu").command(arguments[1], arguments[2:])
    path, options = parse(arguments)
    trace = orrery_tracefile.Trace(path)
    if options["form"] in CONVERTED:
        convert(trace, options)
        return 0
    if options["out"] is None:
        try:
            write(trace, options, sys.stdout)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    with open(options["out"], "w", encoding="utf-8") as out:
        write(trace, options, out)
    return 0
