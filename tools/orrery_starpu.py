# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The files that StarPU's tools for traces write, and the commands by the names that
# people have in their scripts: starpu_fxt_tool and others, for traces of Orrery's.
# Invariant: a task has the same name, RANK_NUMBER, in all files, or RANK_PROCESS_NUMBER where another
# process had the rank before; times are milliseconds;
# what the trace does not have is left out and told, never made up.
import collections
import importlib
import os
import sys

import orrery_data
import orrery_paje
import orrery_tracefile
from orrery_cli import UserError
from orrery_lanes import COUNTERS
from orrery_tables import Tables
from orrery_tracefile import signed

FETCHING = "FetchingInput"
ITERATION, ITERATION_END = "iteration", "iteration-end"   # marks (src/core/task/task_trace.c)
# Files that StarPU's tool writes and this one does not, and what has the same.
NO_LAYOUT = "no public documentation gives its layout; "
NOT_WRITTEN = (("trace.rec", NO_LAYOUT + "`orrery trace FILE --text` has all events"),
               ("activity.data", NO_LAYOUT + "`starpu_workers_activity FILE` shows what workers did over time"),
               ("distrib.data", NO_LAYOUT + "`starpu_codelet_histo_profile FILE` shows how long kernels took"),
               ("sched_tasks.rec", NO_LAYOUT + "the table tasks of `orrery trace FILE --csv` has ready_ns, start_ns and priority"),
               ("papi.rec", "counters of PAPI are not recorded; `perf stat` counts for a whole run"))
NOT_RECORDED = "\n".join("there is no %s: %s" % row for row in NOT_WRITTEN)


def jobs(tables):
    """{task: its name}"""
    first = {}
    for (_, rank), process in sorted(tables.trace.members.items(), key=lambda m: m[0]):
        first.setdefault(rank, process.number)
    return {t.key: "%d_%d" % (t.rank, t.number) if first.get(t.rank, t.key[0]) == t.key[0] else "%d_%d_%d" % (t.rank, *t.key)
            for t in tables.run.tasks.values()}


def milliseconds(tables, ns):
    return "%d.%06d" % divmod(ns - tables.run.first, 10 ** 6)


def orders(tables):
    """{task: its place among the submissions of its rank}"""
    found, last = {}, collections.Counter()
    submitted = (t for t in tables.run.tasks.values() if t.submit is not None)
    for t in sorted(submitted, key=lambda t: (t.submit, t.key)):
        last[t.rank] += 1
        found[t.key] = last[t.rank]
    return found


def iterations(tables):
    """{task: the numbers of the iterations in which its process submitted it, the outermost first}; those of starpu_iteration_push()."""
    found, opened = {}, collections.defaultdict(list)
    for _, _, kind, _, _, a, b, _, _, process in tables.trace.events(("submit", "user")):
        inside = opened[process.number]
        if kind == orrery_tracefile.NUMBER["submit"]:
            if inside:
                found[process.number, b] = tuple(inside)
        elif process.strings.get(a) == ITERATION:
            inside.append(b)
        elif process.strings.get(a) == ITERATION_END and inside:
            inside.pop()
    return found


def causes(tables):
    """{task: the tasks that it waited for}; a wait for a message is one for the task that made its datum."""
    found, grants = collections.defaultdict(set), {}
    for e in tables.run.edges:
        if e.waiter == "message" and e.cause == "task":
            grants[e.process, e.number] = (e.process, e.by)
    for e in tables.run.edges:
        if e.waiter != "task":
            continue
        if e.cause == "task":
            found[e.process, e.number].add((e.process, e.by))
            continue
        request = tables.run.requests.get((e.process, e.by))
        message = request.message if request is not None and request.receive else None
        sent = (e.process, e.by) if request is not None and not request.receive else (
            (message.process, message.request) if message is not None else None)
        if sent in grants:
            found[e.process, e.number].add(grants[sent])
    return found


def handles(rows):
    """The names of data: the rank, or the rank and its process, and a number there."""
    last, first, found = collections.Counter(), {}, []
    for datum in rows:
        last[datum.process] += 1
        own = first.setdefault(datum.rank, datum.process) == datum.process
        found.append("%d_d%d" % (datum.rank, last[datum.process]) if own else "%d_%d_d%d" % (datum.rank, datum.process, last[datum.process]))
    return found


def record(out, fields):
    """One record of recutils; a field without a value is left out."""
    out.writelines("%s: %s\n" % (name, str(value).replace("\n", "\n+ ")) for name, value in fields if value is not None)
    out.write("\n")


def write_tasks(tables, known, path):
    def at(ns):
        return None if ns is None else milliseconds(tables, ns)
    nodes = {(p.number, worker): about[1] for p in tables.trace.processes.values() for worker, about in p.workers.items()}
    with open(path, "w", encoding="utf-8") as out:
        for t in tables.tasks:
            on = sorted(known.waited.get(t.key, ()))
            place = (t.key[0], t.worker) if t.start is not None else None
            uses = known.uses(t)
            record(out, (("Name", t.name), ("Model", t.model or t.name), ("JobId", known.job[t.key]), ("SubmitOrder", known.order.get(t.key)),
                         ("DependsOn", " ".join(known.job[o] for o in on if o in known.job) or None), ("Priority", t.priority),
                         ("Iteration", known.iteration.get(t.key, (None,))[0]), ("WorkerId", place and place[1]), ("MemoryNode", place and nodes.get(place)),
                         ("Handles", uses[0]), ("Modes", uses[1]), ("Sizes", uses[2]), ("SubmitTime", at(t.submit)), ("StartTime", at(t.start)), ("EndTime", at(t.end)), ("MPIRank", t.rank)))


def write_comms(tables, path):
    with open(path, "w", encoding="utf-8") as out:
        for m in tables.messages:
            received = tables.received(m)
            record(out, (("Src", m.sender), ("Dst", m.key[1]), ("Tag", signed(m.tag)), ("Size", m.bytes),
                         ("SendTime", None if m.send is None else milliseconds(tables, m.send)),
                         ("RecvTime", None if received is None else milliseconds(tables, received)), ("Number", m.key[2])))


def write_data(tables, known, path):
    """The fields that StarVZ reads."""
    with open(path, "w", encoding="utf-8") as out:
        for handle, (rank, tag, name, coordinates, size, home, _, _, _) in zip(known.handles, tables.rows("data")):
            record(out, (("Handle", handle), ("HomeNode", home), ("MPIRank", rank), ("Size", size), ("Description", name),
                         ("Coordinates", coordinates), ("MPIOwner", rank if tag is not None else None), ("MPITag", tag)))


def write_dag(tables, known, path):
    job = known.job
    with open(path, "w", encoding="utf-8") as out:
        out.write("digraph G {\n")
        for t in tables.tasks:
            out.write('\t"task_%s" [label="%s"]\n' % (job[t.key], t.name.replace('"', "'")))
            for on in sorted(known.waited.get(t.key, ())):
                if on in job:
                    out.write('\t"task_%s"->"task_%s"\n' % (job[on], job[t.key]))
        out.write("}\n")


def write_numbers(trace, path):
    """How many events of each kind."""
    counts = collections.Counter(e[1] for _, e in trace.raw(~orrery_tracefile.ABOUT_PROCESS))
    with open(path, "w", encoding="utf-8") as out:
        out.writelines("%d\t%s\n" % (counts[kind], orrery_tracefile.KINDS[kind]) for kind in sorted(counts))


def worker_name(lane):
    name = lane.name.replace(" ", "")
    return "%d_%s" % (lane.rank, name)


class Known:
    """What the files have of tasks: their names, their order, what they waited for, and their iterations."""

    def __init__(self, tables):
        self.order, self.waited, self.job, self.iteration = orders(tables), causes(tables), jobs(tables), iterations(tables)
        rows = list(tables.data())
        self.handles, self.data, self.used = handles(rows), orrery_data.Names(rows), orrery_data.uses(tables.trace)

    def uses(self, task):
        """(handles, modes, sizes) of the task's data, in the order of its buffers, with blanks in between. A datum that is not in data.rec
        is known by its tag or its number, and then there are no sizes."""
        when, data = self.used.get(task.key, (0, ()))
        found, sizes = [], []
        for _, tag, number in data:
            row = self.data.row(task.key[0], when, tag, number)
            found.append(self.handles[row[0]] if row else "%d_t%d" % (task.rank, tag) if tag is not None else "%d_n%d" % (task.rank, number))
            sizes.append(str(row[1].bytes) if row else None)
        known = None not in sizes
        return (" ".join(found) or None, " ".join(mode for mode, _, _ in data) or None, " ".join(sizes) or None if known else None)


FIELDS = ("Size", "Params", "Footprint", "Tag", "JobId", "SubmitOrder", "GFlop", "X", "Y", "Iteration", "Subiteration")


def style(known, without):
    def filled(bar):
        inside = known.iteration.get(bar.task.key, ())
        values = {"JobId": known.job[bar.task.key], "SubmitOrder": known.order.get(bar.task.key),
                  "Iteration": inside[0] if inside else None, "Subiteration": inside[1] if len(inside) > 1 else None}
        # pj_dump reads no empty fields; StarVZ puts an x into them, too.
        return " ".join('"%s"' % ("x" if values.get(field) is None else values[field]) for field in FIELDS)
    names = dict(zip((name for name, _, _ in COUNTERS), ("Number of Submitted Uncompleted Tasks", "Number of Ready Tasks")))
    return orrery_paje.Style(10 ** 6, 6, FETCHING, names, tuple(field + " string" for field in FIELDS),
                             filled, "%d_rank".__mod__, worker_name, "%d_MEMMANAGER%d".__mod__,
                             {WITHOUT[option] for option in without})


def write(tables, folder, paje=None, without=()):
    """All files, into that folder; paje: another place for paje.trace; without: options of starpu_fxt_tool."""
    os.makedirs(folder, exist_ok=True)
    known = Known(tables)
    unknown = orrery_paje.write(tables, paje or os.path.join(folder, "paje.trace"), style(known, without))
    write_tasks(tables, known, os.path.join(folder, "tasks.rec"))
    write_comms(tables, os.path.join(folder, "comms.rec"))
    write_dag(tables, known, os.path.join(folder, "dag.dot"))
    write_data(tables, known, os.path.join(folder, "data.rec"))
    return "\n".join(text for text in (unknown, NOT_RECORDED) if text)


USAGE = {
    "starpu_fxt_tool": """usage: starpu_fxt_tool -i TRACE [-o PAJE] [-d FOLDER] [-number-events]
                       [-no-counter] [-no-events] [-no-bus]

Writes the files that tools for StarPU's traces read, from a trace of Orrery's:
paje.trace (-o: another name), tasks.rec, comms.rec, dag.dot, data.rec, in FOLDER (-d)
or here; -number-events: number_events.data, too. Without counters, marks of the program
or copies between memory nodes, paje.trace is smaller. Other options of StarPU's tool are
accepted, and told to have no effect.
""",
    "starpu_fxt_stats": """usage: starpu_fxt_stats -i TRACE

Shows what a trace of Orrery's has: the run, and the number of events of each kind.
""",
    "starpu_fxt_data_trace": """usage: starpu_fxt_data_trace [-d FOLDER] TRACE [CODELET...]

Refuses: no public documentation says what its files have in them. tasks.rec has the sizes of
each task's data and its times, starpu_codelet_profile shows how long tasks took.
""",
    "starpu_trace_state_stats.py": """usage: starpu_trace_state_stats.py TRACE

Prints how often and how long workers were in each state, in milliseconds, as CSV.
""",
}
NO_EFFECT = ("-c", "-no-flops", "-no-smooth", "-no-acquire", "-label-deps", "-memory-states", "-internal", "-use-task-color")
WITHOUT = {"-no-counter": "counters", "-no-events": "marks", "-no-bus": "copies"}   # what of orrery_paje.Parts they leave out


def one_trace(name, files):
    if len(files) != 1:
        raise UserError("%s: give one trace of Orrery's (ORRERY_TRACE=FILE, or --trace FILE); it has all ranks of the run" % name)
    return orrery_tracefile.Trace(files[0])


def fxt_tool(name, words):
    files, paje, folder, number, without = [], None, ".", False, []
    while words:
        word = words.pop(0)
        if word in ("-i", "-o", "-d"):
            if not words:
                raise UserError("%s: %s needs a value after it" % (name, word))
            value = words.pop(0)
            files, paje, folder = (files + [value], paje, folder) if word == "-i" else (
                (files, value, folder) if word == "-o" else (files, paje, value))
        elif word in NO_EFFECT:
            sys.stderr.write("%s: %s has no effect on traces of Orrery's\n" % (name, word))
        elif word in WITHOUT:
            without.append(word)
        elif word == "-number-events":
            number = True
        else:
            raise UserError("%s: unknown option %s; see `%s --help`" % (name, word, name))
    trace = one_trace(name, files)
    sys.stderr.write("%s: %s\n" % (name, write(Tables(trace), folder, paje, without)))
    if number:
        write_numbers(trace, os.path.join(folder, "number_events.data"))
    if trace.state():
        sys.stderr.write("%s: %s: %s; what is written is true up to there\n" % (name, trace.path, trace.state()))
    return 0


def state_stats(name, words):
    trace = one_trace(name, words)
    sums = collections.defaultdict(lambda: [0, 0])
    for t in Tables(trace).finished():
        for key, ns in ((("Task", t.name), t.end - t.start), (("Runtime", FETCHING), t.fetch)):
            if ns or key[0] == "Task":
                sums[key][0] += 1
                sums[key][1] += ns
    print('"Name","Count","Type","Duration"')
    for (kind, state), (count, ns) in sorted(sums.items(), key=lambda s: (s[0][0] != "Runtime", -s[1][1], s[0])):
        print('"%s",%d,"%s",%d.%06d' % ((state.replace('"', "'"), count, kind) + divmod(ns, 10 ** 6)))
    return 0


def command(name, words):
    """The command of that name."""
    if name not in USAGE:
        return importlib.import_module("orrery_starpu_tools").command(name, words)
    if words[:1] in (["-h"], ["--help"]) or not words:
        sys.stdout.write(USAGE[name])
        return 0 if words else 2
    if name == "starpu_fxt_tool":
        return fxt_tool(name, words)
    if name == "starpu_trace_state_stats.py":
        return state_stats(name, words)
    if name == "starpu_fxt_stats":
        orrery_trace = importlib.import_module("orrery_trace")
        trace = one_trace(name, [w for w in words if w != "-i"])
        orrery_trace.write_info(trace, {"from": None, "to": None, "kinds": None, "ranks": None}, sys.stdout)
        return 0
    raise UserError("starpu_fxt_data_trace: no public documentation says what its files have in them; "
                    "starpu_fxt_tool -i TRACE writes tasks.rec, with Sizes, StartTime and EndTime of each task", 1)
