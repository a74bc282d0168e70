# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery machine`: shows this machine as programs see it, or another one as its
# files describe it, or writes a variant of one. Invariant: nothing is measured, and
# no file of a machine is changed.
import math
import shlex
import sys

import orrery_contention
import orrery_machine_add
import orrery_machines as machines
from orrery_cli import UserError, exec_program
from orrery_words import Word, parse as read_words, usage

OPTIONS = [
    Word("--real", "", "this machine (default without NAME)"),
    Word("--list", "", "names and folders of all described machines"),
    Word("--machine-path", "D", "further directories of descriptions, searched first"),
    Word("-w, --worker", "TYPE", "only workers of a type: CPU, CUDA, OpenCL"),
    Word("-c, --count", "", "only the number of workers"),
    Word("-n, --notopology", "", "leave memories, buses, costs and kernels out"),
    Word("--add", "KIND:N", "write a machine that is NAME with N more devices, cuda or opencl"),
    Word("--speedup", "S", "of their kernels, against a core of NAME (default 10)"),
    Word("--device-memory", "MIB", "of each of them (default 16384)"),
    Word("--link", "MBS", "bandwidth of copies from and to them (default 12000)"),
    Word("--latency", "US", "of these copies (default 10)"),
    Word("-o, --output", "DIR", "where it goes; its name is that of the folder (default ./NAME-KINDN)"),
]
HELP = """usage: orrery machine [--real] [--worker TYPE] [--count] [--notopology]
       orrery machine NAME [--machine-path D:D] [--worker TYPE] [--count] [--notopology]
       orrery machine --list [--machine-path D:D]
       orrery machine NAME --add cuda:2 [--speedup S] [--device-memory MIB] [--link MBS]
                      [--latency US] [--output DIR]

Shows the workers, memories and buses that a program gets on this machine (the same
as starpu_machine_display), or those of the described machine NAME or DIR/NAME.

%s
""" % usage(OPTIONS, 22)
TYPES = {"cpu": "CPU", "cuda": "CUDA", "opencl": "OpenCL"}


def parse(arguments):
    options, names = read_words(OPTIONS, arguments, "orrery machine", others=True)
    if len(names) > 1:
        raise UserError("%s and %s: one machine at a time" % tuple(names[:2]))
    name = names[0] if names else None
    if name and "--real" in options:
        raise UserError("--real is this machine, %s another: give one of the two" % name)
    if name and "--list" in options:
        raise UserError("--list names all described machines, and %s is one: leave one of the two out; --machine-path D lists those in D, too" % name)
    if name and options.get("--worker", "CPU").lower() not in TYPES:
        raise UserError("--worker %s: there are CPU, CUDA and OpenCL" % options["--worker"])
    for option in ("--speedup", "--device-memory", "--link", "--latency", "--output"):
        if option in options and "--add" not in options:
            raise UserError("%s is about devices that --add adds: give --add KIND:N, too" % option)
    return options, name


def show_real(context, options):
    command = [machines.program(context, "starpu_machine_display")]
    for option in ("--worker", "--count", "--notopology"):
        if option in options:
            command += [option] if options[option] is True else [option, options[option]]
    exec_program(command, machines.environment(context))


def memory_names(units):
    main = ["RAM"] if units["NUMA"] == 1 else ["NUMA %d" % i for i in range(units["NUMA"])]
    return main + ["CUDA %d" % i for i in range(units["CUDA"])] + ["OpenCL %d" % i for i in range(units["OpenCL"])]


def show_table(title, names, rows):
    print("\n" + title)
    if rows is None:
        print("\tnot measured")
        return
    print("\tfrom/to\t" + "\t".join(names))
    for i, (name, row) in enumerate(zip(names, rows)):
        print("\t" + name + "\t" + "\t".join("-" if i == j or math.isnan(v) else "%.0f" % v if v >= 100 else "%.3g" % v for j, v in enumerate(row)))


def show(context, given, options):
    name, folder = machines.locate(context, given, options.get("--machine-path"))
    units = machines.read_config(folder, name)
    asked = options.get("--worker")
    for unit in TYPES.values():
        if asked.lower() == unit.lower() if asked else units[unit] > 0:
            print("%d %s worker%s" % (units[unit], unit, "" if units[unit] == 1 else "s"))
    if "--count" in options or "--notopology" in options:
        return
    names = memory_names(units)
    print("\nmemory nodes\n" + "\n".join("\t%d %s" % item for item in enumerate(names)))
    for suffix, title in (("bandwidth", "bandwidth (MB/s)"), ("latency", "latency (us)")):
        show_table(title, names, machines.read_matrix(folder, name, suffix, len(names)))
    devices = machines.read_devices(folder, name)
    if devices:
        print("\ndevices\n\t" + "\n\t".join(devices))
    costs = machines.read_costs(folder, name)
    print("\ncosts of the runtime (us)" + ("" if costs else "\n\tnot measured: a simulation uses its defaults"))
    for key in costs:
        print("\t%-12s %8.3f  %s" % (key, costs[key], machines.COST_MEANING[key]))
    table = orrery_contention.read(folder, name)
    if table:
        print("\nkernels beside each other: how many at once, and the time of one against that alone")
    for kernel, (_, points) in sorted(table.items()):
        print("\t%s\t%s" % (kernel, ", ".join("%d: %.4g" % point for point in points)))
    symbols = machines.models(folder, name)
    where = shlex.quote(given) + (" --machine-path " + shlex.quote(options["--machine-path"]) if "--machine-path" in options else "")
    print("\nkernels (%d), see `orrery perfmodel -m %s -s NAME`\n\t%s" % (len(symbols), where, "\n\t".join(symbols) or "none"))
    print("\nfiles in %s" % folder)


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options, name = parse(arguments)
    if "--list" in options:
        for known, folder in machines.known(context, options.get("--machine-path")).items():
            print("%s\t%s" % (known, folder))
        return 0
    if "--add" in options:
        if not name:
            raise UserError("--add %s: to which machine? `orrery machine --list` names those that are described" % options["--add"])
        return orrery_machine_add.add(context, name, options)
    if name:
        show(context, name, options)
    else:
        show_real(context, options)
    return 0
