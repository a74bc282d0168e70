# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery compare A B`: where the reports of two runs differ, of either world. Of two
# traces it says what `orrery explain A B` says.
# Invariant: whatever one report has and the other has not, or has otherwise, is
# printed; what both have alike is not.
import json
import os
import sys

import orrery_cores
from orrery_cli import UserError

HELP = """usage: orrery compare A B [--json]

Says where two runs differ, by the reports that `orrery sim --report` and
`orrery run --report` write: what the runs were (world, platform, machine, network,
costs, command, environment, versions, seed), how long they took, what they did,
and where the time of their workers went if both were profiled (STARPU_PROFILING=1).
A and B may be of the same world or of both. Two traces are compared as by
`orrery explain A B`.

  --json          the same for other programs
"""
# Numbers of a report, with their unit; those of SELF are about the simulation or the process, not about the program.
NUMBERS = {"nodes": "", "workers": "", "cpus_per_node": "", "tasks": "", "messages": "", "bytes": "B", "logical_messages": "", "logical_bytes": "B",
           "energy_j": "J", "area_bound_s": "s", "path_bound_s": "s", "uncalibrated_fraction": "", "interrupted_at_s": "s", "status": ""}
SELF = {"wall_s": "s", "peak_rss_bytes": "B", "stacks": ""}
OWN_MEANING = ("cores",)  # of `run`: a rank's share of this computer in a real run, those of a node's workers in a simulated one; cpus_per_node is alike
TEXTS = ("kernels", "machine")
KINDS = ("kernels", "messages", "submission", "foreign", "idle", "data", "runtime")
TRACE = b"ORRTRACE"


def read(path):
    """The report in that file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise UserError("%s: %s; write a report with `orrery sim --report %s ...` or `orrery run --report %s ...`"
                        % (path, error.strerror, path, path), 1)
    try:
        report = json.loads(data.decode("utf-8"))
    except ValueError as error:
        raise UserError("%s is no report: %s; give what --report wrote, or two traces" % (path, error if data else "it is empty"), 1)
    if isinstance(report, dict) and "runs" in report:
        raise UserError("%s is about several runs (--repeat); give reports of single runs" % path, 1)
    if not isinstance(report, dict) or not isinstance(report.get("makespan_s"), (int, float)):
        raise UserError("%s is no report: it lacks makespan_s; give what --report wrote" % path, 1)
    return report


def is_trace(path):
    try:
        with open(path, "rb") as file:
            return file.read(len(TRACE)) == TRACE
    except OSError:
        return False


def world(report):
    return report.get("run", {}).get("world", "unknown")


def percent(a, b):
    """By how much b is more than a, in per cent; None if that says nothing."""
    return 100 * (b - a) / a if a else None


def shares(report):
    """Per cent of the workers' time by kind; {} if it was not measured."""
    times = report.get("worker_times_s") or {}
    whole = sum(times.values())
    return {kind: 100 * times.get(kind, 0) / whole for kind in KINDS} if whole > 0 else {}


def differing(a, b, names):
    """[(name, a's, b's)] of what differs; None where one has none."""
    return [(name, a.get(name), b.get(name)) for name in names if a.get(name) != b.get(name)]


def compare(paths, a, b):
    """What there is to say, as --json prints it."""
    about_a, about_b = a.get("run", {}), b.get("run", {})
    names = list(about_a) + [name for name in about_b if name not in about_a]
    if world(a) != world(b):
        names = [name for name in names if name not in OWN_MEANING]
    numbers = dict(NUMBERS)
    if world(a) == world(b):
        numbers.update(SELF)
    return {
        "files": list(paths), "worlds": [world(a), world(b)], "makespan_s": [a["makespan_s"], b["makespan_s"]],
        "percent": percent(a["makespan_s"], b["makespan_s"]), "waited_for_cores": [
            orrery_cores.waited(r.get("waited_for_cores_s"), r["makespan_s"] * r.get("workers", 0)) for r in (a, b)],
        "run": differing(about_a, about_b, names) + [row for row in differing(a, b, TEXTS) if row[0] not in names],
        "same": [name for name in names if about_a.get(name) == about_b.get(name)],
        "numbers": differing(a, b, numbers),
        "worker_time_percent": [[kind, shares(a).get(kind), shares(b).get(kind)] for kind in KINDS] if shares(a) or shares(b) else [],
        "uncalibrated_s": differing(a.get("uncalibrated", {}), b.get("uncalibrated", {}),
                                    sorted(set(a.get("uncalibrated", {})) | set(b.get("uncalibrated", {})))),
    }


def text_of(value):
    if value is None:
        return "-"
    return "%.6g" % value if isinstance(value, float) else str(value)


def write_number(out, name, one, other, unit):
    change = percent(one, other) if one is not None and other is not None else None
    out.write("  %-22s %16s %16s  %s%s\n" % (name, text_of(one), text_of(other), unit, "" if change is None else "  %+.1f %%" % change))


def write_page(found, out):
    a, b = found["makespan_s"]
    for letter, path, where, seconds in zip("AB", found["files"], found["worlds"], found["makespan_s"]):
        out.write("%s  %.6f s  %s: a %s run\n" % (letter, seconds, path, where))
    if a == b:
        out.write("Both take the same time\n")
    else:
        change = "" if found["percent"] is None else ", %+.1f %%" % found["percent"]
        out.write("B takes %.6f s %s than A%s\n" % (abs(b - a), "longer" if b > a else "less", change))
    for letter, some in zip("AB", found["waited_for_cores"]):
        if orrery_cores.much(some):
            out.write(orrery_cores.sentence(letter, some) + "\n")
    out.write("\nWhat they were:\n")
    for name, one, other in found["run"]:
        out.write("  %s\n    A  %s\n    B  %s\n" % (name, text_of(one), text_of(other)))
    if found["same"]:
        out.write("  the same in both: %s\n" % ", ".join(found["same"]))
    out.write("\nWhat they did:%s\n" % ("" if found["numbers"] else " the same"))
    for name, one, other in found["numbers"]:
        write_number(out, name, one, other, {**NUMBERS, **SELF}[name])
    if found["worker_time_percent"]:
        out.write("\nWhere the time of the workers went, in per cent:\n")
        for kind, one, other in found["worker_time_percent"]:
            out.write("  %-22s %16s %16s\n" % ((kind,) + tuple("not measured" if v is None else "%.1f" % v for v in (one, other))))
    if found["uncalibrated_s"]:
        out.write("\nTime in kernels without a measured model, in seconds:\n")
        for name, one, other in found["uncalibrated_s"]:
            write_number(out, name, one, other, "s")


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    files = [word for word in arguments if word != "--json"]
    for word in files:
        if word.startswith("-"):
            raise UserError("unknown option %s; see `orrery compare --help`" % word)
    if len(files) != 2:
        raise UserError("two reports, as written by --report of `orrery sim` and `orrery run`; usage: orrery compare A.json B.json")
    if all(is_trace(path) for path in files):
        import orrery_explain
        return orrery_explain.main(context, arguments)
    for path in files:
        if is_trace(path):
            raise UserError("%s is a trace and the other file is none; give two reports or two traces" % path)
    found = compare(files, *(read(path) for path in files))
    try:
        if "--json" in arguments:
            json.dump(found, sys.stdout, indent=1)
            sys.stdout.write("\n")
        else:
            write_page(found, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
