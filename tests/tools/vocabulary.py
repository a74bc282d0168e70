# SPDX-License-Identifier: LGPL-2.1-or-later
#
# One vocabulary: what happens in a run has one name in the runtime, in traces and their
# tables, in other formats, in `orrery explain`, `orrery report` and `orrery top`, and in
# the manual:
#     vocabulary.py SOURCE
# Invariant: each word has one place that the others are compared with: the enumerations of
# the runtime for what is recorded, the tables of the tools for what these make of it.
import os
import re
import sys

SOURCE = sys.argv[1]
sys.path.insert(0, os.path.join(SOURCE, "tools"))
sys.dont_write_bytecode = True

import orrery_changes as changes      # noqa: E402
import orrery_compare as compare      # noqa: E402
import orrery_critical as critical    # noqa: E402
import orrery_lanes as lanes          # noqa: E402
import orrery_lists as lists          # noqa: E402
import orrery_starpu as starpu        # noqa: E402
import orrery_tables as tables        # noqa: E402
import orrery_top as top              # noqa: E402
import orrery_trace as trace          # noqa: E402
import orrery_tracefile as tracefile  # noqa: E402


def text(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def words_of(enum, path, prefix):
    """The names of an enumeration in the words of the tools: without its prefix, in small letters."""
    body = re.search(r"enum %s \{(.*?)\};" % enum, text(path), re.S).group(1)
    return [name.lower().replace("_", "-") for name in re.findall(r"\b%s(\w+)" % prefix, re.sub(r"/\*.*?\*/", "", body, flags=re.S))]


def same(what, *groups):
    """Each group is (where, words); their order counts where both are sequences."""
    where, first = groups[0]
    for other, words in groups[1:]:
        a, b = (first, words) if isinstance(words, list) and isinstance(first, list) else (set(first), set(words))
        if a != b:
            sys.exit("vocabulary: %s: %s has %s, %s has %s" % (what, where, sorted(set(first) - set(words)) or list(a), other,
                                                               sorted(set(words) - set(first)) or list(b)))
    print("%s: %s" % (what, ", ".join(first)))


def inside(what, where, words, whole):
    """All of these words are in that text."""
    missing = [word for word in words if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(word), whole)]
    if missing:
        sys.exit("vocabulary: %s: %s does not have %s" % (what, where, ", ".join(missing)))


def meaning(table, column):
    return next(m for name, _, m in tables.TABLES[table] if name == column)


def columns(table):
    return [name for name, _, _ in tables.TABLES[table]]


def section(path, head):
    """From a line of a manual to the next head of the same rank."""
    rest = text(path).split("\n%s\n" % head, 1)[1]
    return re.split(r"\n%s " % head.split()[0], rest)[0]


STATISTICS, FORMAT, FORMS, MANUAL = "doc/statistics.md", "doc/trace-format.md", "doc/trace-forms.md", "doc/trace-tables.md"

# Events.
kinds = words_of("orr_trace_kind", "src/trace/format.h", "ORR_TRACE_")
kinds.remove("nkinds")
same("events", ("src/trace/format.h", kinds), ("orrery_tracefile.py", list(tracefile.KINDS)))
told = {}
for numbers, names in re.findall(r"^\| ([\d, ]+) \| ([\w, ]+) \|", section(FORMAT, "## Events"), re.M):
    told.update(zip(map(int, numbers.split(", ")), names.split(", ")))
same("events in the manual", ("orrery_tracefile.py", kinds[1:]), (FORMAT, [told.get(i, "nothing") for i in range(1, len(kinds))]))
inside("groups of events", "orrery_tracefile.py", [kind for some in trace.ALIASES.values() for kind in some], " ".join(kinds))

# Recorded details of events: causes, reasons of copies, turns of the progression, changes, marks.
causes = [name.lower() for name in re.findall(r"^#define ORR_CAUSE_(\w+)", text("src/trace/format.h"), re.M)]
same("causes", ("src/trace/format.h", causes), ("orrery_tracefile.py", list(tracefile.CAUSES.values())))
for table, column in (("tasks", "cause"), ("dependencies", "cause"), ("dependencies", "waiter"), ("follows", "cause"), ("waits", "cause"),
                      ("requests", "cause")):
    inside("causes", "the column %s of %s" % (column, table), causes, meaning(table, column))

copies = words_of("orr_copy_why", "src/data/memory.h", "ORR_COPY_")
same("reasons of copies", ("src/data/memory.h", copies), ("orrery_tracefile.py", list(tracefile.COPIES)))
same("reasons of copies in tables", ("orrery_tracefile.py", copies), ("the column why", set(re.findall(r"([\w-]+): ", meaning("copies", "why")))))
for path in STATISTICS, FORMAT, FORMS, MANUAL:
    inside("reasons of copies", path, copies, text(path))

turns = words_of("orr_trace_turn", "src/trace/format.h", "ORR_TURN_")
same("turns", ("src/trace/format.h", turns), ("orrery_tracefile.py", list(tracefile.TURNS.values())))
inside("turns", "the column what of turns", turns, meaning("turns", "what"))
of_progression = [name[:-3] for name in columns("progression") if name.endswith("_ns") and name != "others_ns"]
inside("turns", "the table progression", turns, " ".join(of_progression))
same("the progression", ("the table progression", set(of_progression)), ("orrery top", {name[:-3] for name in top.TURNS}))
inside("the progression", "`orrery top` in the manual", ["`%s`" % name for name in top.TURNS], section(STATISTICS, "## While it runs"))
sums = set(re.findall(r"\\\"(\w+)_s\\\": ", text("src/mpi/carry/mpi_tell.c")))
inside("the progression", "src/mpi/carry/mpi_tell.c", set(of_progression) - {"poll"}, " ".join(sums))

recorded = words_of("orr_trace_change", "src/trace/format.h", "ORR_CHANGE_")
same("changes that are recorded", ("src/trace/format.h", recorded), ("orrery_tracefile.py", list(tracefile.CHANGES.values())))
same("changes", ("orrery_changes.py", set(changes.WORDS)),
     ("the column what of changes", {name for some in re.findall(r"(?:^|; )([\w, ]+): ", meaning("changes", "what")) for name in some.split(", ")}))
inside("changes", "orrery_changes.py", recorded, " ".join(changes.WORDS))
marks = re.findall(r'trace_mark\("([\w-]+)"', text("src/core/task/task_trace.c"))
inside("marks", "src/core/task/task_trace.c", [starpu.ITERATION, starpu.ITERATION_END], " ".join(marks))

# The lists that requests are in.
where = words_of("orr_mpi_where", "src/mpi/carry/request_record.h", "ORR_MPI_")
where.remove("done")
of_runtime = set(where) | {"early"}   # that of messages
same("lists", ("src/mpi/carry/request_record.h", of_runtime), ("orrery_lists.py", set(lists.LISTS)), ("orrery top", set(top.LISTS)),
     ("viewers", set(lanes.OF_LISTS)),
     ("src/mpi/carry/mpi_tell.c", set(re.findall(r"\\\"(\w+)\\\": %u", re.search(r"\\\"lists\\\": \{(.*?)\}", text("src/mpi/carry/mpi_tell.c")).group(1)))),
     ("orrery report", set(re.findall(r'"(\w+)": \([rm]\.', re.search(r"\ndef stays\(.*?\n\n", text("tools/orrery_report_lists.py"), re.S).group()))))
for of_list, name in lanes.OF_LISTS.items():
    inside("lists", "the counter %s" % name, [of_list], name)
inside("lists", "the column list of stays", of_runtime, meaning("stays", "list"))
inside("lists", MANUAL, ["**%s**" % name for name in of_runtime], text(MANUAL))
inside("lists", "`orrery top` in the manual", ["`%s`" % name for name in of_runtime], section(STATISTICS, "## While it runs"))

# States of workers and pieces of the path.
states = dict(re.findall(r'"(\w+)": "([^"]+)"', re.search(r"^STATES = \{(.*?)\}", text("tools/orrery_report_data.py"), re.S | re.M).group(1)))
for name in sorted(set(states) & set(critical.KINDS)):
    if not critical.KINDS[name].startswith(states[name]):
        sys.exit("vocabulary: %s is '%s' in `orrery explain`, and '%s' in `orrery report`" % (name, critical.KINDS[name], states[name]))
# The data of its task come to the worker.
fetching = dict(re.findall(r'\[(ORR_WORKER_\w+)\] = "(\w+)"', text("src/core/worker/worker_life.c")))["ORR_WORKER_FETCHING"]
same("a worker whose data come", ("src/core/worker/worker_life.c", [fetching]), ("viewers", [lanes.FETCHING]),
     ("orrery explain", [name for name in critical.KINDS if name == "fetching"]), ("orrery report", [name for name in states if name == "fetching"]),
     ("the glossary", re.findall(r"^\| (fetching) \|", text("doc/architecture-glossary.md"), re.M)))
page = text("tools/report/page.js")
for theme in ("light", "dark"):
    colours = re.search(r"%s: \{(.*?)\}" % theme, re.search(r"STATE_COLOURS = \{(.*?)\n\};", page, re.S).group(1), re.S).group(1)
    same("states with a colour", ("orrery_report_data.py", set(states)), ("page.js, " + theme, set(re.findall(r"(\w+): ", colours))))
pieces = dict(re.findall(r'(\w+): "(\w+)"', re.search(r"PIECE_STATES = \{(.*?)\}", page).group(1)))
inside("pieces of the path", "orrery_critical.py", pieces, " ".join(critical.KINDS))
inside("pieces of the path", "orrery_report_data.py", pieces.values(), " ".join(states))
explained = re.sub(r"\s+", " ", section(STATISTICS, "## Where the time went").replace("**", ""))
for kind, words in critical.KINDS.items():
    last = words.split(": ")[-1] if kind not in ("kernel", "runtime") else kind
    last = {"program": "for the program to submit", "datum": "to give back a datum", "begin": "before the first submission"}.get(kind, last)
    inside("pieces of the path", "the manual of `orrery explain`", [last], explained)
named = meaning("gaps", "what").split(": ")[1].replace(" and so on", "").split(", ")
named = [name for part in named for name in part.split(" and ")]
inside("what a gap has most of", "orrery_critical.py", named, " ".join(critical.KINDS))

# Times of workers, as statistics, comparisons and studies have them.
times = re.findall(r"\\\"(\w+)\\\": %\.9f", re.search(r"worker_times_s(.*)", text("src/base/about.c")).group(1))
same("times of workers", ("src/base/about.c", times), ("orrery_compare.py", list(compare.KINDS)))
inside("times of workers", STATISTICS, ["%s_s" % name for name in times], text(STATISTICS))
