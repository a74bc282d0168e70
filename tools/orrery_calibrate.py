# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery calibrate`: measures this machine and writes its machine directory, or
# measures the network between two ranks and writes a platform file, or how the
# kernels of a program slow each other down (orrery_contention.py).
# Invariant: files are replaced only after everything was measured.
import os
import re
import shlex
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import orrery_calibrate_hosts as several
import orrery_checksum
import orrery_contention
import orrery_elastic
import orrery_machines as machines
import orrery_launchers
import orrery_run
import orrery_switches
from orrery_cli import UserError
from orrery_words import Word, parse as read_words, usage

OPTIONS = [
    Word("-o", "DIR", "directory to write DIR/bus/NAME.config, .bandwidth, .latency, .affinity,\n"
         ".costs and, with devices, .memory to (default: the one that programs of the real world read,\nsee `starpu_perfmodel_display --directory`)"),
    Word("--name", "NAME", "name of the machine (default: that of this host)"),
    Word("--cpus", "K", "number of CPUs to write instead of that of this machine"),
    Word("--network", "", "measure messages between two ranks instead and write the platform\nfile DIR/NAME.xml (default DIR: here), for `orrery sim --platform`"),
    Word("--elastic", "", "measure processes that join and leave instead, and write DIR/bus/NAME.elastic"),
    Word("--kernels", "", "measure how kernels of PROGRAM slow each other down on the cores of this\nmachine instead, and write DIR/bus/NAME.contention"),
    Word("--workers", "N,N", "with --kernels: numbers of workers (default: 2, 4, ... and all cores)"),
    Word("--rounds", "N", "how often everything is measured (1 to 20, default 15): fewer are quicker, and their\nnumbers less certain; with --elastic: how often processes come and go; with --kernels:\nhow often PROGRAM runs with each number of workers (default of both: 3)"),
    Word("-n", "N", "hosts in that file (default 2)"),
    Word("--mpirun", "OPT", "further options for mpirun, as of `orrery run`: which two hosts"),
    Word("--host", "A,B", "with --network: these hosts, each pair alone and all at once (default: those of the\njob of Slurm, PBS, LSF or OAR, else two ranks where --mpirun puts them)"),
    Word("--hostfile", "FILE", "the same for those of a host file"),
    Word("--switches", "FILE", "with --network over several hosts: the platform file has the switches of Slurm's\ntopology.conf, or of a file like it; slurm: those of the Slurm of this computer"),
    Word("--shared", "", "the hosts are not nodes but ranks on this computer, placed as\n`orrery run` places them: the file says which cores they share"),
]
HELP = """usage: orrery calibrate [-o DIR] [--name NAME] [--cpus K] [--rounds N]
       orrery calibrate --kernels [-o DIR] [--name NAME] [--workers N,N] [--rounds N] -- PROGRAM [ARGUMENTS]
       orrery calibrate --elastic [-o DIR] [--name NAME] [--rounds N]
       orrery calibrate --network [-o DIR] [--name NAME] [-n N] [--mpirun "OPTIONS"] [--shared]
                        [--host A,B | --hostfile FILE] [--switches FILE] [--rounds N]

Measures everything that does not depend on a program's kernels: copies between the
memories of this machine, allocations on devices, and the time that the runtime itself takes to submit,
schedule and complete a task, to insert a task of other ranks, and to handle a message.

%s

Then `orrery sim --machine DIR/NAME` simulates nodes of this kind. Kernels are
measured by running programs with STARPU_CALIBRATE=1, STARPU_PERF_MODEL_DIR=DIR and
STARPU_HOSTNAME=NAME, or with --kernels: that runs PROGRAM with one worker, which also
calibrates its models, and with several, and writes how its kernels slow each other down
when they share caches and memory; simulations of the machine do the same. An otherwise idle machine gives the best numbers: a warning,
and a comment in the files, say when they are uncertain, and why (the load average
before the measurement, or messages that took very different times).
""" % usage(OPTIONS, 16)
DEVICES = {"memory": "%s %s MiB", "alloc_us": "alloc %s us", "pin_us": "pin %s us",
           "first_us": "# the first use of 4 MiB of a device takes %s us longer than the next one",
           "launch_us": "# an empty kernel takes %s us; durations that were measured contain that, a line `launch X us' adds X"}  # lines of .memory
BREAKS = (0, 1024, 4096, 32768, 262144, 1 << 20)  # sizes in bytes at which a piece of the network's model may start


def parse(arguments):
    """(options, PROGRAM and its arguments)"""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    arguments, program = arguments[:at], arguments[at + 1:]
    options, _ = read_words(OPTIONS, arguments, "orrery calibrate")
    for name, value in options.items():
        if name == "--rounds" and not (value.isdigit() and 1 <= int(value) <= 20):
            raise UserError("--rounds %s: expected a whole number, from 1 to 20" % value)
        if name in ("-n", "--cpus") and (not value.isdigit() or int(value) < 1):
            raise UserError("%s %s: expected a whole number, 1 or more" % (name, value))
        if name == "--name" and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", value):
            raise UserError("--name %s: letters, digits, `_', and after the first character `-' and `.' only" % (value or "''"))
    kinds = [name for name in ("--elastic", "--kernels", "--network") if name in options]
    if len(kinds) > 1:
        raise UserError("%s and %s measure different things; call `orrery calibrate` twice" % tuple(kinds[:2]))
    check_kernels(options, program)
    for name in ("-n", "--mpirun", "--shared", "--host", "--hostfile", "--switches") if "--network" not in options else ("--cpus",):
        if name in options:
            raise UserError("%s %s --network; see `orrery calibrate --help`"
                            % (name, "only goes with" if name != "--cpus" else "does not go with"))
    if "--shared" in options and ("--host" in options or "--hostfile" in options):
        raise UserError("--shared is about ranks on this computer, --host and --hostfile about several; give one of them")
    return options, program


def check_kernels(options, program):
    if "--kernels" in options:
        if not program:
            raise UserError("--kernels measures those of a program; give it behind `--', as `orrery calibrate --kernels -- ./app 1000`")
        if "--cpus" in options:
            raise UserError("--cpus does not go with --kernels; see `orrery calibrate --help`")
    elif program:
        raise UserError("%s: a program only goes with --kernels; see `orrery calibrate --help`" % program[0])
    elif "--workers" in options:
        raise UserError("--workers only goes with --kernels; see `orrery calibrate --help`")


def run(context, command, extra=None, launcher=None):
    env = machines.environment(context)
    if launcher:
        orrery_launchers.prepare(launcher, env)
    for variable in [v for v in env if v.startswith("STARPU_MPI_FAKE")]:
        del env[variable]
    env.update(extra or {})
    result = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise UserError("%s failed with exit status %d; its message is above" % (" ".join(command), result.returncode), 1)
    return [line.split() for line in result.stdout.splitlines() if line.split()]


ROUNDS = 15  # of a measurement in one process, unless --rounds says otherwise
REPEATS = 3  # processes that measure messages, where other programs on the cores do most harm
PLACES = 5  # processes that measure what the places of memory matter for


def rounds_of(options):
    return int(options.get("--rounds", ROUNDS))


def processes(most, rounds):
    """The number of processes that measure something, of those that do so in ROUNDS rounds."""
    return max(1, min(most, most * rounds // ROUNDS))


def on_two_ranks(context, what, rounds, extra=(), extra_env=None, core_each=False):
    """The lines that the measurement prints; extra: options for mpirun, which may place the ranks themselves."""
    mpiexec, launcher = orrery_launchers.find(context)
    placing = [] if launcher.places(extra) else launcher.core_each if core_each else launcher.crowd
    return run(context, [mpiexec, "-n", "2"] + placing + list(extra) + [machines.program(context, "orrery-calibrate-mpi"), what, str(rounds)], extra_env, launcher)


def on_two_cores(context, what, rounds, extra=()):
    """Numbers by name, measured with one core and one worker for each rank, if there are enough cores. Medians of several processes,
    because speed depends on where the memory of a process lies, and only the first use of memory in each process finds it unused."""
    core_each = orrery_run.usable_cores() > 1
    runs = [{w[0]: float(w[1]) for w in on_two_ranks(context, what, rounds, extra, {"STARPU_NCPU": "1"}, core_each)}
            for _ in range(processes(PLACES, rounds))]
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def say(text):
    sys.stderr.write("orrery calibrate: %s\n" % text)


# ---- how far the numbers can be trusted ----

def load_now():
    """(load average of the last minute, cores), before we add to it."""
    try:
        return os.getloadavg()[0], os.cpu_count() or 1
    except OSError:
        return 0.0, os.cpu_count() or 1


def doubts(load, samples):
    """Why the measurements are uncertain, "" if they are not: the load before them as of load_now(), and samples, {name of a
    cost: its values in several processes, microseconds}."""
    average, cores = load
    why = []
    if average > cores / 2:
        why.append("the load average was %.1f on %d core%s" % (average, cores, "s" if cores > 1 else ""))
    for name, values in samples.items():
        least, middle = min(values), statistics.median(values)
        if middle > 2 * least and middle > least + 0.2:
            why.append("%s was %s us in %d measurements" % (name, ", ".join("%.3g" % v for v in sorted(values)), len(values)))
    return "; ".join(why)


def say_doubts(why):
    if why:
        say("warning: the result is uncertain: %s. Other programs probably used the cores; calibrate again when the machine is idle" % why)


def note_of(option, why, what="measured by `orrery calibrate%s`"):
    """The comment of a file."""
    return (what % option) + " on %s, %s" % (processor(), time.strftime("%Y-%m-%d")) + ("; uncertain: " + why if why else "")


def rounds_note(options):
    """The option for the comment of a file: fewer rounds than usual are worth knowing."""
    return " --rounds " + options["--rounds"] if "--rounds" in options else ""


def default_place(context):
    """(folder, name) that programs of the real world use."""
    lines = run(context, [machines.program(context, "starpu_machine_display"), "--count", "--info", "--notopology"])
    for words in lines:
        match = re.fullmatch(r"<(.*)/bus/([^/]+)\.bandwidth>", words[-1])
        if match:
            return match.group(1), match.group(2)
    raise UserError("starpu_machine_display does not say where measurements are; give -o DIR and --name NAME", 1)


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return os.uname().machine


def chosen_place(context, options):
    folder, name = options.get("-o"), options.get("--name")
    if not folder or not name:
        place = default_place(context)
        folder, name = folder or place[0], name or place[1]
    return folder, name


def calibrate_elastic(context, options):
    if not context.has("mpi"):
        raise UserError("this Orrery was built without MPI; configure it again with an MPI installed (Debian: libopenmpi-dev or libmpich-dev)")
    folder, name = chosen_place(context, options)
    load = load_now()
    # Connections of more processes than cores measure how these share cores: with two cores, one joins one.
    first = 2 if len(os.sched_getaffinity(0)) > 2 else 1
    say("processes that join and leave, 1 and 3 at a time")
    with tempfile.TemporaryDirectory() as scratch:
        journal = os.path.join(scratch, "journal")
        lines = run(context, [sys.argv[0], "run", "-n", str(first), "--elastic", "--max", str(first + 4),
                              machines.program(context, "orrery-calibrate-dyn"),
                              options.get("--rounds", "3")], {"ORRERY_DYN_LOG": journal})
        costs = orrery_elastic.costs(orrery_elastic.read_journal(journal))
    costs.update((words[0], float(words[1])) for words in lines)
    why = doubts(load, {})
    print(machines.write_elastic(folder, name, costs, note_of(" --elastic", why)))
    say_doubts(why)


def calibrate_kernels(context, options, program):
    folder, name = place = chosen_place(context, options)
    why = doubts(load_now(), {})
    note = note_of(" --kernels -- " + shlex.join(program), why).replace("\n", " ")
    print(orrery_contention.calibrate(context, place, program, options, note, say))
    say_doubts(why)
    if not machines.has_machine(folder, name):
        say("a machine needs %s, too; `orrery calibrate` writes it" % os.path.join(folder, "bus", name + ".config"))


def calibrate_node(context, options):
    folder, name = chosen_place(context, options)
    os.makedirs(folder, exist_ok=True)
    units, costs, tables, devices = {}, {}, {"bandwidth": {}, "latency": {}, "pageable": {}}, []
    load, messages, rounds = load_now(), [], rounds_of(options)
    say("buses and tasks")
    for words in run(context, [machines.program(context, "orrery-calibrate-node"), str(rounds)]):
        if words[0] in tables:
            tables[words[0]][int(words[1]), int(words[2])] = float(words[3])
        elif words[0] in DEVICES:
            devices.append(DEVICES[words[0]] % tuple(words[1:]))
        elif words[0] in machines.COSTS:
            costs[words[0]] = float(words[1])
        else:
            units[{"ncpus": "CPU", "nnuma": "NUMA", "ncuda": "CUDA", "nopencl": "OpenCL"}[words[0]]] = int(words[1])
    if context.has("mpi"):
        say("insertion of foreign tasks, messages")
        # The account of a rank that plays alone is not about this measurement.
        fake = {"STARPU_MPI_FAKE_RANK": "5", "STARPU_MPI_FAKE_SIZE": "16", "STARPU_SILENT": "1"}
        lines = run(context, [machines.program(context, "orrery-calibrate-mpi"), "foreign", str(rounds)], fake)
        costs.update((words[0], float(words[1])) for words in lines if words[0] in machines.COSTS)
        messages = [float(words[1]) for _ in range(processes(REPEATS, rounds)) for words in on_two_ranks(context, "message", rounds) if words[0] == "message_us"]
        costs["message_us"] = min(messages)
        costs.update(on_two_cores(context, "interrupt", rounds))
    else:
        say("no MPI here: foreign_us and message_us are left out, and simulations use their defaults for them")
    if "--cpus" in options:
        units["CPU"] = int(options["--cpus"])
    why = doubts(load, {"message_us": messages} if messages else {})
    note = note_of(rounds_note(options), why)
    devices += ["# pageable memory, node %d to %d: %.0f MB/s" % (pair + (mbs,)) for pair, mbs in sorted(tables["pageable"].items())]
    for path in machines.write_machine(folder, name, units, tables["bandwidth"], tables["latency"], costs, note, devices):
        print(path)
    say_doubts(why)


# ---- the network ----

def fit_piece(points):
    """Latency (s) and bandwidth (bytes/s) of t = latency + size / bandwidth, least squares of the relative error."""
    sw = swx = swy = swxx = swxy = 0.0
    for size, t in points:
        w = 1 / t ** 2
        sw, swx, swy, swxx, swxy = sw + w, swx + w * size, swy + w * t, swxx + w * size * size, swxy + w * size * t
    det = sw * swxx - swx * swx
    slope = (sw * swxy - swx * swy) / det if det > 0 else 0
    latency = (swy - slope * swx) / sw
    if latency <= 0:  # all of it is bandwidth
        latency, slope = min(t for _, t in points) * 1e-3, swxy / swxx
    if slope <= 0:  # flat
        latency, slope = swy / sw, 1e-13
    return latency, 1 / slope


def fit_network(points):
    """[(first size, latency, bandwidth)]: one piece between two of BREAKS that has enough points."""
    pieces = []
    for i, first in enumerate(BREAKS):
        last = BREAKS[i + 1] if i + 1 < len(BREAKS) else float("inf")
        part = [(s, t) for s, t in points if first <= s < last]
        if len(part) >= 3:
            pieces.append((first,) + fit_piece(part))
    if not pieces:
        raise UserError("only %d sizes could be measured; the messages above say why" % len(points), 1)
    return [(0,) + pieces[0][1:]] + pieces[1:]


def prop(name, value):
    return '    <prop id="%s" value="%s" />\n' % (name, value)


def over_tcp():
    """Whether MPI talks over TCP between hosts like this one, which has none of the networks that need no TCP."""
    folders = "/sys/class/infiniband", "/sys/class/cxi"   # InfiniBand, RoCE and Omni-Path; Slingshot
    return not any(os.path.isdir(folder) and os.listdir(folder) for folder in folders)


def shared_text(ranks, per_mib):
    """Properties of hosts that are ranks on this computer: cores of their own, or one computer for all, and the processors' part of the
    time of their messages."""
    cores = orrery_run.usable_cores()
    text = "".join(prop(name + "_us", "%.4g" % per_mib[name]) for name in ("copy", "touch"))
    if ranks <= cores:
        return prop("cores", cores // ranks) + text
    return prop("computer", socket.gethostname().partition(".")[0]) + prop("cores", cores) + text


def platform_text(pieces, nodes, prefix, note, properties, eager=None, measured=None, tree=None):
    """The platform file; measured: what pairs of several hosts get, and eager: bytes of the largest message that waits for nobody, if known."""
    latency, bandwidth = pieces[0][1], max(p[2] for p in pieces[1:] or pieces)
    model = prop("network", "tcp") if measured and over_tcp() else ""
    lat_factor = ";".join("%d:%.6g" % (p[0], p[1] / latency) for p in pieces)
    bw_factor = ";".join("%d:%.6g" % (p[0], p[2] / bandwidth) for p in pieces)
    if tree:
        network, hop, uplinks = orrery_switches.measured_zone(tree, measured, several.rounds(measured.names), pieces[-1][2])
        say("a link between two switches takes %.3g us; above %s" % (hop, ", ".join(
            "%s: %.4g MB/s" % (name, up[0] / 1e6) for name, up in list(uplinks.items())[:8])))
    elif measured and not measured.alike():
        network = several.zone_text(measured, pieces)
    else:
        shared, part = (measured.backbone(), measured.both_ways(bandwidth)) if measured else (None, None)
        if part:
            say("a host that sends and receives at once has %.0f %% of its link's speed in each direction" % (100 * part))
        properties += model
        limits = (' bb_bw="%.6gBps" bb_lat="0s"' % shared if shared else "") + (' limiter_link="%.6gBps"' % (2 * part * bandwidth) if part else "")
        network = """  <cluster id="cluster" prefix="%s" suffix="" radical="0-%d" speed="1Gf" bw="%.6gBps" lat="%.6gs"
           loopback_bw="%.6gBps" loopback_lat="%.6gs" sharing_policy="SPLITDUPLEX"%s%s
""" % (prefix, nodes - 1, bandwidth, latency / 2, bandwidth, latency, limits,
       ">\n" + properties + "  </cluster>" if properties else " />")
    if model and "<host " in network:
        network = re.sub(r'(<host id="[^"]*" speed="1Gf") ?/>', lambda host: host[1] + ">" + model.strip() + "</host>", network, count=1)
    return """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->
<!-- %s -->
<!-- A message of `size' bytes takes latency * lat-factor(size) + size / (bandwidth * bw-factor(size)); two links make the latency. -->
<platform version="4.1">
  <config>
    <prop id="smpi/lat-factor" value="%s" />
    <prop id="smpi/bw-factor" value="%s" />
%s  </config>
%s</platform>
""" % (note.replace("--", "- -"), lat_factor, bw_factor, prop("smpi/send-is-detached-thresh", eager + 1) if eager else "", network)


def switches_of(options, names):
    """The switches of --switches, or None."""
    path = options.get("--switches")
    if path is None:
        return None
    if not names:
        raise UserError("--switches is about several hosts; name them by --host or --hostfile, or start this in a job that has several")
    if "-n" in options:
        raise UserError("--switches excludes -n: the file has the hosts that were measured")
    tree = orrery_switches.Tree(orrery_switches.default_path() if path == "slurm" else path)
    tree.check(names)
    return tree


def calibrate_network(context, options):
    if not context.has("mpi"):
        raise UserError("this Orrery was built without MPI; configure it again with an MPI installed (Debian: libopenmpi-dev or libmpich-dev)")
    folder, name = options.get("-o", "."), options.get("--name") or socket.gethostname().partition(".")[0]
    launcher = orrery_launchers.find(context)[1]
    given = extra = shlex.split(options.get("--mpirun", ""))
    names = several.chosen_hosts(options, launcher)
    tree = switches_of(options, names)
    os.makedirs(folder, exist_ok=True)
    load, rounds = load_now(), rounds_of(options)
    measured = several.measure(context, names, extra, say) if names else None
    if measured:
        extra = several.options_of_pair(names, measured.best_pair(), launcher, extra)
    say("messages between two ranks, 1 byte to 16 MiB")
    best = {}
    # Between hosts again, because others use cores and links for seconds.
    for _ in range(processes(REPEATS, rounds) if measured else 1):
        lines = on_two_ranks(context, "network", rounds, extra)
        for words in lines:
            if words[0] == "net":
                best[int(words[1])] = min(float(words[2]) * 1e-6, best.get(int(words[1]), 1e30))
    points = sorted(best.items())
    pieces = several.one_bandwidth(fit_network(points), points) if measured else fit_network(points)
    eager = several.eager_of(lines)
    nodes = int(options.get("-n", str(len(names)) if names else "2"))
    properties = ""
    if "--shared" in options:
        say("time that messages take from the workers on their cores")
        properties = shared_text(nodes, on_two_cores(context, "receive", rounds, given))
    why = doubts(load, {})
    what = "Written by `orrery calibrate%s` (network) from ping-pongs between two ranks"
    note = note_of(rounds_note(options), why, what + (", and between all of " + ", ".join(names[:8]) if measured else ""))
    path = os.path.join(folder, name + ".xml")
    machines.write(path, orrery_checksum.sealed(platform_text(
        pieces, nodes, name + "-", note, properties, eager if measured else None, measured, tree), orrery_checksum.XML))
    for first, latency, bandwidth in pieces:
        say("from %d bytes: latency %.3f us, bandwidth %.0f MB/s" % (first, latency * 1e6, bandwidth * 1e-6))
    if eager is not None:
        say("messages of up to %d bytes leave before their receives are posted" % eager)
    say("for the trees of real runs, set in their environment: ORRERY_MPI_LATENCY=%d ORRERY_MPI_BANDWIDTH=%d" %
        (max(1, round(pieces[0][1] * 1e9)), round(max(p[2] for p in pieces) * 1e-6)))
    if measured and over_tcp():
        say("MPI talks over TCP between these hosts: simulations with this file take `--network tcp' unless you choose another")
    if "--shared" in options:
        say("%s is for `orrery sim -n %d' only: the cores of a rank depend on how many there are; write one file per number of ranks" % (path, nodes))
    print(path)
    say_doubts(why)


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options, program = parse(arguments)
    if "--kernels" in options:
        calibrate_kernels(context, options, program)
    elif "--network" in options:
        calibrate_network(context, options)
    elif "--elastic" in options:
        calibrate_elastic(context, options)
    else:
        calibrate_node(context, options)
    return 0
