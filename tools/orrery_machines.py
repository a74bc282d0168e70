# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Machine directories: where they are, reading and writing their files.
#     DIR/bus/NAME.{config,bandwidth,latency,affinity,costs,elastic,contention}, DIR/codelets/45/SYMBOL.NAME
# Invariant: the library's own reader accepts the files that write_machine writes;
# an error names the file and line that cannot be read.
import math
import os
import re

import orrery_checksum
from orrery_cli import UserError

MATRIX = 32  # rows and columns of a matrix in the files, at least
MOST = {"CPU": 65536, "CUDA": 64, "OpenCL": 64, "NUMA": 64}  # of units, as the library takes them
COST_MEANING = {
    "submit_us": "submitting a task", "access_us": "each datum of a submitted task",
    "foreign_us": "inserting a task of other ranks",
    "sched_us": "one decision of the scheduler", "complete_us": "executing and completing a task, without its kernel",
    "datum_us": "each datum of an executed task",
    "reload_us": "what completing a task takes longer after a kernel that uses 64 KiB",
    "reload_large_us": "the same after one that uses 1 MiB", "message_us": "one message in the progression engine",
    "interrupt_us": "a message, for the worker whose core handles it",
    "wake_us": "a thread that wakes to poll for messages, for the worker on its core",
    "look_us": "a worker that polls for messages between two tasks",
    "profile_submit_us": "what profiling adds to submitting a task", "profile_us": "what profiling adds to executing a task",
    "shared_us": "what completing a task takes longer where workers share the runtime",
    "shared_datum_us": "what a datum takes longer that another worker used last", "shared_profile_us": "what profiling takes longer where workers share the runtime",
    "turn_us": "the time that a thread keeps a core from another one",
    "buffer_us": "a copy of 1 MiB of messages into a buffer of MPI, or out of it",
}
COSTS = tuple(COST_MEANING)  # in the order of the files


def gallery(context):
    return os.path.join(os.environ.get("ORRERY_DATADIR") or context.paths["data"], "platforms", "machines")


def has_machine(folder, name):
    return os.path.isfile(os.path.join(folder, "bus", name + ".config"))


def places(context, path=None):
    return [p for p in (path or "").split(":") if p] + [gallery(context)]


def known(context, path=None):
    """All machines that have a name: {name: folder}, first found first."""
    found = {}
    for place in places(context, path):
        for name in sorted(os.listdir(place)) if os.path.isdir(place) else []:
            if has_machine(os.path.join(place, name), name):
                found.setdefault(name, os.path.join(place, name))
        bus = os.path.join(place, "bus")
        for file in sorted(os.listdir(bus)) if os.path.isdir(bus) else []:
            if file.endswith(".config"):
                found.setdefault(file[:-len(".config")], place)
    return found


def locate(context, given, path=None):
    """(name, folder) of a machine given by name or by path, as `orrery sim --machine` finds it."""
    if "/" in given:
        folder, name = given.rstrip("/"), os.path.basename(given.rstrip("/"))
        for candidate in (folder, os.path.dirname(folder)):
            if has_machine(candidate, name):
                return name, candidate
    else:
        found = known(context, path)
        if given in found:
            return given, found[given]
    raise UserError("there is no machine %s; there are: %s; measure one with `orrery calibrate`, or give the path of its folder"
                    % (given, ", ".join(known(context, path)) or "none"))


def read_lines(path):
    """(number, text) of the lines that are no comments."""
    orrery_checksum.check(path)
    with open(path, errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                yield number, line.strip()


def wrong(path, number, expected):
    return UserError("%s:%d: expected %s; measure the machine again with `orrery calibrate`" % (path, number, expected), 1)


def read_config(folder, name):
    path = os.path.join(folder, "bus", name + ".config")
    units, number = {"CUDA": 0, "OpenCL": 0, "NUMA": 1}, 1
    for number, line in read_lines(path):
        count, mark, comment = line.partition("#")
        count = count.strip()
        if not mark or not count.isascii() or not count.isdigit():
            raise wrong(path, number, "a number and what it counts, such as `12 # Number of CPUs`")
        for unit in MOST:
            if unit.lower() in comment.lower():
                if len(count) > 6 or int(count) > MOST[unit]:
                    raise wrong(path, number, "a believable number of units (64 devices, 65536 processors at most)")
                units[unit] = int(count)
    if "CPU" not in units:
        raise wrong(path, number, "a line with the number of CPUs, such as `12 # Number of CPUs`")
    units["NUMA"] = max(units["NUMA"], 1)
    return {unit: units[unit] for unit in MOST}


def read_matrix(folder, name, suffix, n):
    path = os.path.join(folder, "bus", "%s.%s" % (name, suffix))
    if not os.path.exists(path):
        return None
    rows = []
    for number, line in read_lines(path):
        try:
            rows.append([float(word) for word in line.split()[:n]])
        except ValueError:
            raise wrong(path, number, "numbers, or nan") from None
        if any(v < 0 or math.isinf(v) for v in rows[-1]):
            raise wrong(path, number, "numbers that are neither negative nor infinite")
        if len(rows[-1]) < n:
            raise wrong(path, number, "as many columns as there are memory nodes, %d" % n)
        if len(rows) == n:
            return rows
    raise wrong(path, 1, "as many lines as there are memory nodes, %d" % n)


def read_costs(folder, name):
    path = os.path.join(folder, "bus", name + ".costs")
    costs = {}
    for number, line in read_lines(path) if os.path.exists(path) else []:
        words = line.split()
        try:
            if len(words) != 2 or words[0] not in COSTS or words[0] in costs or not 0 <= float(words[1]) <= 1e6:
                raise ValueError
        except ValueError:
            raise wrong(path, number, "one of %s, each once, and a number of microseconds" % ", ".join(COSTS)) from None
        costs[words[0]] = float(words[1])
    return costs


def doubts_about(folder, name):
    """Why `orrery calibrate` called the costs of a machine uncertain, None: it did not."""
    try:
        with open(os.path.join(folder, "bus", name + ".costs"), errors="replace") as file:
            found = re.search(r"^#.*; uncertain: (.*)", file.read(), re.M)
    except OSError:
        return None
    return found and found[1]


def models(folder, name):
    """Symbols of the models of a machine."""
    place = os.path.join(folder, "codelets", "45")
    files = os.listdir(place) if os.path.isdir(place) else []
    return sorted(f[:-len(name) - 1] for f in files if f.endswith("." + name) and not f.startswith("."))


def write(path, text):
    """Replaces a file; nobody ever reads half of it."""
    temporary = "%s.%d.tmp" % (path, os.getpid())
    with open(temporary, "w") as file:
        file.write(text)
    os.replace(temporary, path)


def write_checked(path, text):
    write(path, orrery_checksum.sealed(text))


def matrix_text(values, n):
    size = max(n, MATRIX)
    lines = ["# " + "".join("to %d\t\t" % j for j in range(size)).rstrip()]
    for i in range(size):
        lines.append("\t".join("%f" % (0.0 if i == j else values.get((i, j), math.nan)) if i < n and j < n else "nan"
                               for j in range(size)))
    return "\n".join(lines) + "\n"


def write_machine(folder, name, units, bandwidth, latency, costs, note, devices=()):
    """Writes the files of bus/ and returns their paths. units: {"CPU": n, ...}; bandwidth, latency: {(source, destination): value};
    devices: the lines of .memory, which is left alone if there are none."""
    place = os.path.join(folder, "bus")
    os.makedirs(place, exist_ok=True)
    base = os.path.join(place, name)
    numa = units.get("NUMA", 1)
    n = numa + units["CUDA"] + units["OpenCL"]
    cpus = range(units["CPU"])
    write_checked(base + ".bandwidth", matrix_text(bandwidth, n))
    write_checked(base + ".latency", matrix_text(latency, n))
    write_checked(base + ".affinity", "# GPU\t" + "".join("CPU%d\t" % c for c in cpus) + "\n"
          + "".join("%d\t%s\n" % (d, "".join("%d\t" % c for c in cpus)) for d in range(n - numa)))
    write_checked(base + ".costs", "# SPDX-License-Identifier: LGPL-2.1-or-later\n# Microseconds that the runtime itself takes: %s\n" % note
          + "".join("%s %.4f\n" % (key, costs[key]) for key in COSTS if key in costs))
    write_checked(base + ".config", "# Current configuration\n%d # Number of CPUs\n%s%d # Number of CUDA devices\n%d # Number of OpenCL devices\n"
          % (units["CPU"], "%d # Number of NUMA nodes\n" % numa if numa > 1 else "", units["CUDA"], units["OpenCL"]))
    if devices:
        write_checked(base + ".memory", "# SPDX-License-Identifier: LGPL-2.1-or-later\n# Devices: %s\n%s\n" % (note, "\n".join(devices)))
    suffixes = (".config", ".bandwidth", ".latency", ".affinity", ".costs") + ((".memory",) if devices else ())
    return [base + suffix for suffix in suffixes]


def read_devices(folder, name):
    """The lines of .memory, comments included; none without the file."""
    try:
        with open(os.path.join(folder, "bus", name + ".memory")) as file:
            return [line.rstrip("\n") for line in file if line.strip() and "SPDX" not in line]
    except FileNotFoundError:
        return []


ELASTIC = {  # costs of processes that join and leave, and the options of `orrery sim` that set them
    "request_us": "--cost-request",
    "start_us": "--cost-start",
    "start_each_us": "--cost-start-each",
    "join_us": "--cost-join",
    "leave_us": "--cost-leave",
    "switch_us": "--cost-switch",
    "begin_us": "--cost-begin",
}


def write_elastic(folder, name, costs, note):
    if set(costs) != set(ELASTIC):
        raise UserError("the measurement of processes that join and leave did not end; the messages above say why", 1)
    os.makedirs(os.path.join(folder, "bus"), exist_ok=True)
    path = os.path.join(folder, "bus", name + ".elastic")
    write_checked(path, "# SPDX-License-Identifier: LGPL-2.1-or-later\n# Microseconds of processes that join and leave: %s\n" % note
          + "".join("%s %.1f\n" % (key, costs[key]) for key in ELASTIC))
    return path


def elastic_options(context, machine, path):
    """Pairs of an option of `orrery sim` and its value: what was measured of a machine given by name or by path; none
    without the file."""
    name, folder = locate(context, machine, path)
    file_name = os.path.join(folder, "bus", name + ".elastic")
    if not os.path.exists(file_name):
        return []
    pairs = []
    with open(file_name) as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 2 or words[0] not in ELASTIC or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", words[1]):
                raise wrong(file_name, number, "one of %s and a number of microseconds" % ", ".join(ELASTIC))
            pairs.append((ELASTIC[words[0]], words[1]))
    return pairs


def program(context, name):
    """Path of one of our programs; those that only `orrery calibrate` starts are in the launcher's directory."""
    if context.paths["tree"] == "build":
        path = os.path.join(os.path.dirname(context.paths["lib"]), name)
    elif name.startswith("starpu_"):
        path = os.path.join(context.paths["bin"], name)
    else:
        path = os.path.join(os.path.dirname(context.paths["launcher"]), name)
    if not os.path.exists(path):
        raise UserError("%s is not there; %s" % (path, "run make" if context.paths["tree"] == "build" else "install Orrery again"))
    return path


def environment(context):
    env = dict(os.environ)
    if context.paths.get("moved"):
        old = env.get("LD_LIBRARY_PATH")
        env["LD_LIBRARY_PATH"] = context.paths["lib"] + (":" + old if old else "")
    return env
