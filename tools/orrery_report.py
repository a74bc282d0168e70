# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery report`: one page of HTML that shows what recorded runs did, and says why.
# Invariant: the page needs nothing but a browser, and is not larger than was asked
# for; it says what it leaves out.
import base64
import collections
import html
import json
import os
import sys
import time
import zlib

import orrery_alone
import orrery_changes
import orrery_clocks
import orrery_explain
import orrery_growth
import orrery_links
import orrery_part
import orrery_tracefile
from orrery_cli import UserError
from orrery_critical import critical_path, title
from orrery_words import Word, parse, usage

LIBRARY = "/usr/share/javascript/d3/d3.min.js"
PARTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "report")
SCRIPTS = ("data.js", "gantt.js", "plots.js", "lists.js", "links.js", "compare.js", "page.js", "inputs.js")
TASKS, MESSAGES, PAIRS, MARKS = 600000, 400000, 400000, 4000   # that a page has at most
LEAST_SIZE = 2                                    # MB: less has no room for the program of the page
OPTIONS = (
    Word("-o", "FILE", "write the page to FILE (default: report.html)", default="report.html"),
    Word("--compare", "", "of two runs, say first where the second differs from the first, and draw it"),
    Word("--title", "TEXT", "the title of the page and of its pictures (default: the command)"),
    Word("--memo", "TEXT", "a line below the title", default=""),
    Word("--size", "MB", "how large the page may be (default 14); where there are more tasks\nor messages, tasks become blocks with their sums, and small messages\nare left out", default="14"),
    Word("--from", "S", "only what was after that time, in seconds since the first event of the run;\nwhat had begun before and was not over begins there"),
    Word("--to", "S", "only what was before that time"),
    Word("--d3", "FILE", "D3, version 3 (default: %s,\nof Debian's package libjs-d3)" % LIBRARY, default=LIBRARY),
)
HELP = """usage: orrery report RUN... [-o report.html]
       orrery report --compare A B [-o report.html]

Writes one page of HTML about runs that were recorded with ORRERY_TRACE=FILE,
orrery run --trace FILE or orrery sim --trace FILE: what `orrery explain` says, a
Gantt chart from all ranks down to single tasks and what they waited for, states
of the workers, who sent to whom, kernels. With --compare it begins with what
`orrery explain A B` says. A browser opens it without a network.

%s

The documentation (doc/report.md) shows the page and says how to use it.
""" % usage(OPTIONS, 18)
LICENCE = """Copyright (c) 2010-2016, Michael Bostock. All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met:

* Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.

* Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the documentation and/or other materials provided with the distribution.

* The name Michael Bostock may not be used to endorse or promote products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL MICHAEL BOSTOCK BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE."""


class Progress:
    """How far the preparation is, on a terminal: the phases have about these shares of the time."""
    PHASES = {"reading": 0.35, "sorting": 0.15, "explaining": 0.25, "drawing": 0.15, "packing": 0.10}

    def __init__(self, runs):
        self.shown, self.began, self.runs, self.run, self.last = sys.stderr.isatty(), time.monotonic(), runs, 0, 0.0

    def __call__(self, words, share=0.0):
        now = time.monotonic()
        if not self.shown or now - self.last < 0.1:
            return
        self.last, done = now, 0.0
        for phase, part in self.PHASES.items():
            if phase == words:
                done += part * share
                break
            done += part
        done = (self.run + done) / self.runs
        left = ", about %.0f s left" % ((now - self.began) / done * (1 - done)) if done > 0.1 else ""
        sys.stderr.write("\r\033[Korrery report: %s, %.0f %%%s" % (words, 100 * done, left))
        sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write("\r\033[K")


def read_part(name):
    with open(os.path.join(PARTS, name), encoding="utf-8") as stream:
        return stream.read()


def read_library(path):
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except OSError as error:
        raise UserError("%s: %s; the page draws with D3: install it with `apt-get install libjs-d3`, or give its version 3 with --d3 FILE"
                        % (path, error.strerror), 1)
    if 'version:"3.' not in text and 'version: "3.' not in text:
        raise UserError("%s is not D3 in version 3; install it with `apt-get install libjs-d3`" % path, 1)
    return text.replace("</script", "<\\/script")


def explanation(trace, run, pieces):
    found = orrery_explain.answer(trace, run, pieces)
    found["changes"] = [{"text": "%s: %s" % (text, orrery_explain.gains(s, sure, found["makespan_seconds"]))}
                        for text, s, sure in orrery_explain.changes(found)]
    found["unusual"] = orrery_explain.unusual(found) + ["a list of requests grew: " + line for line in orrery_growth.lines(found["grown"])]
    found["unusual"] += ["link " + line for line in orrery_links.lines(found["links"])]
    for part in found["path"]:
        part["title"] = title(part)
    found["alone"] = orrery_alone.lines(found["gaps"], found["makespan_seconds"])
    found["changed"] = orrery_changes.lines(found["changes_of_run"], found["makespan_seconds"])
    return found


def left_out(lanes, count, rows, matrix, columns):
    """Sentences on what the page does not have one by one."""
    said, tasks = [], len(lanes.rows)
    if columns.trace.part is not None:
        said.append(columns.trace.part.sentence().capitalize() + ".")
    if columns.trace.cut_at:
        said.append(orrery_tracefile.words_of_window(columns.trace, columns).capitalize() + ".")
    if columns.trace.missing():
        said.append("Of %d tasks and %d messages, what is drawn is in the windows: %s. Kernels' times and numbers, the matrix, and kernels "
                    "and copies by rank are of all; what else is said of kernels is of those in the windows."
                    % (columns.sums.count("done"), columns.sums.count("send"), columns.trace.missing()))
    merged = int(count[count > 1].sum())
    said.append("All %d tasks are here one by one." % tasks if not merged else
                "%d of %d tasks are in blocks of several tasks (%d blocks); the sums of each block, and all other sums, are exact."
                % (merged, tasks, int((count > 1).sum())))
    sent = columns.events["send"].n
    said.append("All %d messages are here one by one." % sent if len(rows) >= sent else
                "%d of %d messages are here one by one: first those that a task waited for last, then the largest ones; "
                "the matrix has all of them." % (len(rows), sent))
    if matrix["group"] > 1:
        said.append("The matrix has groups of %d ranks, with exact sums." % matrix["group"])
    never = columns.tasks.n - tasks
    if never:
        said.append("%d tasks were submitted and not started by a worker." % never)
    return said


def environment(trace, columns, lanes):
    hosts = collections.Counter(p.host for p in trace.processes.values())
    found = [(name, value) for name, value in trace.text.items()]
    found += [("ranks", len(trace.ranks())), ("processes", len(trace.processes)),
              ("workers", trace.workers()), ("computers", ", ".join("%s (%d)" % item for item in hosts.most_common(8) if item[0])
                                              + (", and others" if len(hosts) > 8 else "")),
              ("trace", "%s, %d bytes, %d events" % (os.path.abspath(trace.path), trace.bytes, sum(e.n for e in columns.events.values()))),
              ("clocks", "" if trace.simulated else orrery_clocks.sentence(trace)),
              ("first event", "%.9f s by the clock of the trace" % (columns.first * 1e-9))]
    return [item for item in found if item[1] != ""]


def pack_run(data, lanes, edges, pieces, gaps, limits):
    """(what the page has in words, its arrays), with no more tasks, messages and pairs than the limits."""
    import numpy as np
    import orrery_report_links
    import orrery_report_lists
    import orrery_overhead
    import orrery_report_matrix
    columns, pack = lanes.columns, data.Pack()
    names = {name: i for i, name in enumerate(sorted(set(lanes.names)))}
    pack.unsigned("lane_rank", lanes.rank)
    pack.signed("lane_worker", [lane[2] for lane in lanes.lanes])
    pack.unsigned("lane_begin", lanes.lives[0][0] if lanes.lives else [0] * len(lanes.lanes))
    pack.unsigned("lane_name", [names[name] for name in lanes.names])
    on_path = {(p.rank, p.worker, p.first - columns.first) for p in pieces if p.kind == "kernel"}
    single = np.zeros(len(lanes.rows), bool)
    if len(lanes.rows) > limits["tasks"]:
        starts = np.isin(lanes.start, [first for _, _, first in on_path])
        for i in np.flatnonzero(starts):
            lane = lanes.lanes[lanes.lane[i]]
            single[i] = (lane[0], lane[2], int(lanes.start[i])) in on_path
    block = data.block_of(lanes, limits["tasks"], single)
    count = data.put_blocks(lanes, block, pack)
    rows, shown = data.choose_messages(lanes, edges, limits["messages"])
    source = data.put_edges(lanes, edges, block, shown, pack)
    data.put_messages(lanes, edges, rows, source, pack)
    matrix = orrery_report_matrix.put(columns, pack, limits["pairs"])
    states, (marks, nmarks) = data.states_over_time(lanes, pack), data.marks_of(lanes, MARKS)
    found = {"worker_names": list(names), "states": states, "overhead": orrery_overhead.rows(lanes, states), "kernels": data.kernel_table(lanes),
             "matrix": matrix, "lists": orrery_report_lists.put(columns, pack),
             "links": orrery_report_links.put(columns, pack), "path": data.put_path(pieces, columns.first, pack), "changes": data.changes_of(lanes), "marks": marks, "gaps": [[g.first - columns.first, g.last - columns.first, orrery_alone.label(g.kind, g.name, g.rank)] for g in gaps], "span_ns": columns.last - columns.first,
             "left_out": left_out(lanes, count, rows, matrix, columns) + (["%d of %d marks and iterations are drawn, the first ones." % (len(marks), nmarks)] if nmarks > len(marks) else []), "parts": pack.parts}
    return found, zlib.compress(pack.data(), 6)


def make_run(path, size, progress, window):
    """(what the page says of a run, its packed data in base64)"""
    import orrery_columns
    import orrery_report_data as data
    trace = orrery_tracefile.Trace(path)
    if window != (None, None):
        trace.look_at(*window)
    columns = orrery_columns.Columns(trace, progress)
    lanes = data.Lanes(columns)
    if not len(lanes.rows) and not columns.events["send"].n:
        raise UserError("%s has no task that a worker started, and no message%s: there is nothing to draw"
                        % (path, " between these times" if trace.cut_at else ""), 1)
    progress("explaining", 0)
    run = orrery_columns.Run(columns)
    pieces = critical_path(run) if orrery_part.has_tasks(trace) else []
    gaps = orrery_alone.gaps(run, trace, pieces)
    progress("explaining", 0.5)
    explained = explanation(trace, run, pieces)
    progress("drawing", 0)
    edges = data.Edges(columns)
    limits = {"tasks": TASKS, "messages": MESSAGES, "pairs": PAIRS}
    while True:
        progress("drawing", 0.5)
        found, packed = pack_run(data, lanes, edges, pieces, gaps, limits)
        progress("packing", 0.5)
        text = base64.b64encode(packed)
        if len(text) <= size or max(limits.values()) < 1000:
            break
        limits = {name: int(most * min(0.9, 0.95 * size / len(text))) for name, most in
                  (("tasks", min(limits["tasks"], len(lanes.rows))), ("messages", min(limits["messages"], columns.events["send"].n)),
                   ("pairs", limits["pairs"]))}
    found.update(name=os.path.basename(path), state=trace.state(), missing=trace.missing() or (trace.part and trace.part.sentence()), explanation=explained, environment=environment(trace, columns, lanes),
                 machine_line=", ".join(["a %s run" % explained["world"]] + (["machine " + trace.text["machine"]] if trace.text.get("machine") else [])
                                        + ["%d ranks" % explained["ranks"], "%d workers" % explained["workers"], "Orrery " + trace.text.get("version", "?")]))
    return found, text.decode()


def compare(files):
    """What the page says of two runs against each other."""
    import orrery_report_compare
    return orrery_report_compare.page_of(*(orrery_tracefile.Trace(path) for path in files))


def write_page(options, runs, compared, data, library, version):
    """The page, in a file that takes its place when it is complete."""
    first = runs[0]
    command = dict(first["environment"]).get("command", first["name"])
    title = options.get("--title") or (os.path.basename(command.split(" ")[0]) + command[len(command.split(" ")[0]):])
    meta = {"title": title, "memo": options["--memo"], "runs": runs, "compare": compared,
            "made": "By `orrery report` of Orrery %s, on %s. Orrery is free software under the LGPL, version 2.1 or later." % (version, time.strftime("%Y-%m-%d")),
            "library": {"words": "The Gantt chart is Orrery's own. The other plots are drawn by D3 (d3js.org), which is in this page, "
                                 "under the BSD licence with three clauses:", "licence": LICENCE}}
    blocks = ['<script type="application/json" id="meta">%s</script>' % json.dumps(meta, separators=(",", ":")).replace("<", "\\u003c")]
    blocks += ['<script type="text/plain" id="data-%d">%s</script>' % item for item in enumerate(data)]
    parts = {"@TITLE@": html.escape(title), "@STYLE@": read_part("page.css"), "@LIBRARY@": library, "@DATA@": "\n".join(blocks),
             "@SCRIPT@": "\n".join(read_part(name) for name in SCRIPTS)}
    page = read_part("page.html")
    out = options["-o"]
    with open(out + ".tmp", "w", encoding="utf-8") as stream:
        for line in page.split("\n"):
            stream.write(parts.get(line.strip(), line if "@TITLE@" not in line else line.replace("@TITLE@", parts["@TITLE@"])) + "\n")
    os.replace(out + ".tmp", out)
    return os.path.getsize(out)


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options, files = parse(OPTIONS, arguments, "orrery report", True)
    if not files:
        raise UserError("which run? Record one with ORRERY_TRACE=FILE or --trace FILE, then give FILE")
    if options.get("--compare") and len(files) != 2:
        raise UserError("--compare needs two runs, and there %s" % ("is one" if len(files) == 1 else "are %d" % len(files)))
    window = tuple(orrery_tracefile.seconds(name, options[name]) if name in options else None for name in ("--from", "--to"))
    if options.get("--compare") and window != (None, None):
        raise UserError("--from and --to are not for --compare, which compares whole runs")
    try:
        size = float(options["--size"])
    except ValueError:
        size = 0
    if not size >= LEAST_SIZE:
        raise UserError("--size %s: give a number of megabytes, %d or more" % (options["--size"], LEAST_SIZE))
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise UserError("numpy is not installed for %s; install it with `apt-get install python3-numpy`" % sys.executable, 1)
    library = read_library(options["--d3"])
    folder = os.path.dirname(options["-o"]) or "."
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise UserError("-o %s: %s is not a folder that can be written" % (options["-o"], folder))
    rest = size * 1e6 - len(library) - sum(len(read_part(name)) for name in SCRIPTS) - 100000
    progress, runs, data, compared = Progress(len(files)), [], [], None
    try:
        for progress.run, path in enumerate(files):
            found, packed = make_run(path, rest / len(files), progress, window)
            runs.append(found)
            data.append(packed)
        if options.get("--compare"):
            compared = compare(files)
    finally:
        progress.end()
    written = write_page(options, runs, compared, data, library, context.settings["version"])
    for run in runs:
        if run["state"]:
            sys.stderr.write("orrery report: %s: %s; the page says so\n" % (run["name"], run["state"]))
    sys.stdout.write("%s (%.1f MB)\n" % (options["-o"], written * 1e-6))
    return 0
