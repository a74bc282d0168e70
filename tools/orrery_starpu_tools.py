# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Further commands by the names that people have in their scripts, besides those of
# orrery_starpu.py: what they say of a run comes from a trace of Orrery's, or from any file
# in Paje's text format.
# Invariant: output is text or CSV on standard output, times are those of the file, in
# milliseconds for traces; a command that has nothing to read says what to use instead.
import collections
import contextlib
import csv
import math
import os
import re
import sys

import orrery_changes
import orrery_lanes
import orrery_tracefile
from orrery_cli import UserError
from orrery_tables import Tables
from orrery_tracefile import cause_of, signed

FETCHING = "FetchingInput"
INTERVALS = 100   # of starpu_workers_activity
BINS, WIDTH = 16, 40
WORD = re.compile(r'"([^"]*)"|([^\s"]+)')   # of a line in Paje's format
LATEST = 1e15      # of the times there
SAME = 1e-9        # differences of this share come from how numbers are written

State = collections.namedtuple("State", "name begin length")


def is_trace(path):
    try:
        with open(path, "rb") as stream:
            return stream.read(8) == b"ORRTRACE"
    except OSError as error:
        raise UserError("%s: %s" % (path, error.strerror), 1)


def trace_of(name, words):
    """The one trace that these words name; data files of StarPU's tool are none."""
    if len(words) != 1:
        raise UserError("%s: give one trace of Orrery's (ORRERY_TRACE=FILE, or --trace FILE); it has all ranks of the run" % name)
    if os.path.splitext(words[0])[1] == ".data":
        raise UserError("%s: it reads traces; give the trace that %s was to be made from" % (name, os.path.basename(words[0])), 1)
    return orrery_tracefile.Trace(words[0])


class Paje:
    """The states of a file in Paje's text format, by its own head."""

    def __init__(self, path):
        self.path, self.number, self.kinds, self.names, self.open = path, 0, {}, {}, {}
        self.states = []
        with open(path, encoding="utf-8", errors="replace") as stream:
            lines = enumerate(stream, 1)
            for self.number, line in lines:
                word = line.split()
                if word[:1] == ["%EventDef"] and len(word) == 3:
                    self.kinds[word[2]] = (word[1], self.fields(lines))
                elif word and word[0][0] not in "%#":
                    self.event(line)
        if not self.kinds:
            raise UserError("%s:1: neither a trace of Orrery's nor a file in Paje's format" % path, 1)

    def fields(self, lines):
        names = []
        for self.number, line in lines:
            word = line.lstrip("%").split()
            if word[:1] == ["EndEventDef"]:
                break
            names += word[:1]
        return names

    def event(self, line):
        try:
            if line.count('"') % 2:
                raise ValueError
            word = [quoted or plain for quoted, plain in WORD.findall(line)]
            kind, fields = self.kinds[word[0]]
            values = dict(zip(fields, word[1:]))
            if kind == "PajeDefineEntityValue":
                self.names[values["Type"], values["Alias"]] = values["Name"]
            elif kind in ("PajePushState", "PajePopState", "PajeSetState", "PajeResetState"):
                self.state(kind, values)
        except (KeyError, ValueError, IndexError):
            raise UserError("%s:%d: not an event of Paje's format, or not by its head, or before the one before" % (self.path, self.number), 1)

    def state(self, kind, values):
        time, place = float(values["Time"]), (values["Container"], values["Type"])
        stack = self.open.setdefault(place, [])
        if not abs(time) <= LATEST or (stack and time < stack[-1][1]):
            raise ValueError
        for name, begin in stack if kind in ("PajeSetState", "PajeResetState") else [stack[-1]] if kind == "PajePopState" else []:
            self.states.append(State(name, begin, time - begin))
        if kind == "PajePopState":
            stack.pop()
        elif kind != "PajePushState":
            stack.clear()
        if kind in ("PajePushState", "PajeSetState"):
            stack.append((self.names.get((values["Type"], values["Value"]), values["Value"]), time))


def states_of(path):
    """The states of workers: of a trace in milliseconds since its first event, of a Paje file in its own time."""
    if not is_trace(path):
        return Paje(path).states
    tables, found = Tables(orrery_tracefile.Trace(path)), []
    for lane in orrery_lanes.lanes(tables):
        for bar in lane.bars:
            if bar.ended:
                name = bar.name if bar.kind == "kernel" else FETCHING
                found.append(State(name, (bar.first - tables.run.first) * 1e-6, (bar.last - bar.first) * 1e-6))
    return found


def histogram(title, values):
    """Lines: how many values are in each of some equal intervals."""
    low, high = min(values), max(values)
    step = (high - low) / BINS if high - low > SAME * abs(high) else 0
    counts = [0] * (BINS if step else 1)
    for value in values:
        counts[min(len(counts) - 1, int((value - low) / step)) if step else 0] += 1
    yield "%s: %d, mean %.6g" % (title, len(values), math.fsum(values) / len(values))
    for i, n in enumerate(counts):
        yield "  %14.6f %14.6f %8d %s" % (low + i * step, low + (i + 1) * step if step else high, n, "#" * math.ceil(WIDTH * n / max(counts)))


def paje_options(name, words):
    """(files, {chosen states}, (from, to)) of the options that commands on Paje files share."""
    files, chosen, low, high, words = [], set(), -math.inf, math.inf, list(words)
    while words:
        word = words.pop(0)
        if word in ("-n", "-r"):
            if not words:
                raise UserError("%s: %s needs a value after it" % (name, word))
            value = words.pop(0)
            if word == "-n":
                chosen |= set(value.split(","))
                continue
            try:
                low, high = (float(end) for end in value.split(":"))
            except ValueError:
                raise UserError("%s: -r %s: give two times with a colon between them, as 100:300; -1 for the begin or the end" % (name, value))
            low, high = -math.inf if low == -1 else low, math.inf if high == -1 else high
        elif word.startswith("-") and word != "-v":   # -v: print to the terminal, which is what happens anyway
            raise UserError("%s: unknown option %s; see `%s --help`" % (name, word, name))
        elif word != "-v":
            files.append(word)
    if not files:
        raise UserError("%s: give a trace of Orrery's, or a file in Paje's format (starpu_fxt_tool -i TRACE)" % name)
    return files, chosen, (low, high)


def chosen_states(name, words):
    """(file, state, lengths) of those that the options choose, the longest sums first."""
    files, chosen, (low, high) = paje_options(name, words)
    for path in files:
        lengths = collections.defaultdict(list)
        for state in states_of(path):
            if (not chosen or state.name in chosen) and low <= state.begin <= high:
                lengths[state.name].append(state.length)
        if not lengths:
            raise UserError("%s: %s has no such state" % (name, path), 1)
        for state, found in sorted(lengths.items(), key=lambda s: (-math.fsum(s[1]), s[0])):
            yield path, state, found


def state_stats(name, words):
    rows = list(chosen_states(name, words))
    out = csv.writer(sys.stdout, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    out.writerow(("File", "Name", "Count", "Duration", "Mean", "Deviation", "Least", "Most"))
    for path, state, found in rows:
        total = math.fsum(found)
        mean = total / len(found)
        deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in found) / len(found))
        out.writerow((path, state, len(found)) + tuple(round(x, 6) for x in (total, mean, deviation, min(found), max(found))))


def draw_histogram(name, words):
    for path, state, found in chosen_states(name, words):
        print("\n".join(histogram("%s: %s" % (path, state), found)))


def histo_profile(name, words):
    tables, found = Tables(trace_of(name, words)), collections.defaultdict(list)
    workers = tables.workers()
    for t in tables.finished():
        kind = (workers[t.rank, t.key[0], t.worker][0] or "worker").split()[0]
        found[t.name, kind].append((t.end - t.start) * 1e-3)
    if not found:
        raise UserError("%s: %s has no task that came to its end" % (name, words[0]), 1)
    for (codelet, kind), values in sorted(found.items()):
        print("\n".join(histogram("%s on %s, microseconds" % (codelet, kind), values)))


def clipped(parts, first, last):
    return orrery_changes.length([(max(a, first), min(b, last)) for a, b in parts if a < last and b > first])


def activity(name, words):
    folder, words = None, list(words)
    if "-d" in words:
        at = words.index("-d")
        if at + 1 == len(words):
            raise UserError("%s: -d needs a value after it" % name)
        folder = words[at + 1]
        del words[at:at + 2]
    tables = Tables(trace_of(name, words))
    bars = collections.defaultdict(lambda: ([], []))   # {(rank, worker): (kernels, kernels and fetches)}
    for lane in orrery_lanes.lanes(tables):
        kernels, busy = bars[lane.rank, lane.worker]
        kernels += [bar[:2] for bar in lane.bars if bar.kind == "kernel"]
        busy += [bar[:2] for bar in lane.bars]
    first, length = tables.run.first, tables.run.last - tables.run.first
    if not length:
        raise UserError("%s: %s has no event" % (name, words[0]), 1)
    edges = [first + length * i // INTERVALS for i in range(INTERVALS + 1)]
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
    with contextlib.nullcontext(sys.stdout) if folder is None else open(os.path.join(folder, "activity.csv"), "w", encoding="utf-8") as file:
        out = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        out.writerow(("Rank", "Worker", "Start", "Duration", "Executing", FETCHING, "Idle"))
        for (rank, worker), parts in sorted(bars.items()):
            for begin, end in zip(edges, edges[1:]):
                executing, busy = (clipped(part, begin, end) for part in parts)
                out.writerow((rank, worker) + tuple(round(ns * 1e-6, 6) for ns in (begin - first, end - begin, executing, busy - executing,
                                                                                   end - begin - busy)))


def data_use(name, words):
    tables = Tables(trace_of(name, words))
    made, used = {}, collections.defaultdict(list)   # {send: task}, {receive: its users}
    for e in tables.run.edges:
        if e.waiter == "message" and e.cause == "task":
            made[e.process, e.number] = (e.process, e.by)
        elif e.waiter == "task" and e.cause == "message":
            used[e.process, e.by].append((e.process, e.number))
    for _, _, waiter, number, cause, process in tables.run.follows:
        kind, by = cause_of(cause)
        if waiter == "message" and kind == "task":
            made.setdefault((process, number), (process, by))
        elif waiter == "task" and kind == "message":
            used[process, by].append((process, number))
    tasks = tables.run.tasks

    def between(begin, end):
        return "" if begin is None or end is None else round((end - begin) * 1e-6, 6)
    out = csv.writer(sys.stdout, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    out.writerow(("Src", "Dst", "Tag", "Size", "MadeToSend", "RecvToUse"))
    for m in tables.messages:
        request = tables.by_message.get(m.key)
        maker = tasks.get(made.get((m.process, m.request)))
        starts = [tasks[user].start for user in used.get(request.key, ()) if user in tasks and tasks[user].start is not None] if request else []
        out.writerow((m.key[0], m.key[1], signed(m.tag), m.bytes, between(maker and maker.end, m.send),
                      between(tables.received(m), min(starts, default=None))))


def names_of_events(name, words):
    if len(words) != 1:
        raise UserError("%s: give the file number_events.data of starpu_fxt_tool -number-events" % name)
    with open(words[0], encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            word = line.split()
            if len(word) != 2 or word[1] not in orrery_tracefile.KINDS:
                raise UserError("%s:%d: not a line of a file that Orrery's starpu_fxt_tool wrote" % (words[0], number), 1)
            print("%s %s" % (word[1], word[0]))


def refuses(reason):
    def refuse(name, _words):
        raise UserError("%s: %s" % (name, reason), 1)
    return refuse


ON_PAJE = """[-r FROM:TO] [-n STATE,...] [-v] FILE...

%s.
Each FILE is a trace of Orrery's, or a file in Paje's format. -r: of those that begin
between these times, -1 for no bound; -n: of these states. Times are milliseconds, or
those of the Paje file. -v changes nothing.
"""
# {name: (its words and its help, what it does)}
COMMANDS = {
    "starpu_paje_state_stats": (ON_PAJE % "Prints how often and how long workers were in each state, as CSV", state_stats),
    "starpu_paje_summary": (ON_PAJE % "Prints how often and how long workers were in each state, as CSV", state_stats),
    "starpu_paje_draw_histogram": (ON_PAJE % "Prints a histogram of the lengths of each state", draw_histogram),
    "starpu_codelet_histo_profile": ("""TRACE

Prints a histogram of the times of each codelet on each kind of worker.
""", histo_profile),
    "starpu_workers_activity": ("""[-d FOLDER] TRACE

Prints how much of each hundredth of the run each worker executed kernels, waited for the
data of a task and was idle, in milliseconds, as CSV; -d: into FOLDER/activity.csv.
`orrery report TRACE` draws it.
""", activity),
    "starpu_send_recv_data_use.py": ("""TRACE

Prints for each message how long its value was there before it left, since the task that
made it ended, and how long it lay at its receiver until the first task that needs it
started, in milliseconds, as CSV. A field is empty where there is no such task.
""", data_use),
    "starpu_fxt_number_events_to_names.py": ("""FILE

Prints the names and numbers of a file number_events.data, which has names anyway.
""", names_of_events),
    "starpu_tasks_rec_complete": ("""[INPUT [OUTPUT]]

Refuses: tasks.rec has no footprints, by which times are found in performance models.
""", refuses("tasks.rec has no footprints, by which times are found in performance models; `orrery trace TRACE --csv -o FOLDER` has what "
             "the policy expected of each task (expected_ns)")),
    "starpu_perfmodel_recdump": ("""TASKS [-o OUTPUT]

Refuses: `orrery perfmodel` shows performance models.
""", refuses("`orrery perfmodel` shows performance models, and starpu_perfmodel_display their values")),
    "starpu_lp2paje": ("""< FILE

Refuses: starpu_bound_compute() gives the bound, and no schedule is made of it.
""", refuses("no schedule is made of what lp_solve prints; starpu_bound_compute() gives the bound")),
}


def command(name, words):
    usage, run = COMMANDS[name]
    if words[:1] in (["-h"], ["--help"]):
        sys.stdout.write("usage: %s %s" % (name, usage))
        return 0
    try:
        run(name, words)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
