# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery machine NAME --add cuda:2`: a described machine with devices that it does
# not have. Kernels take 1/S of the time that they take on a core.
# Invariant: the machine that it was made from stays as it is, and what the files of
# the new one say about CPUs is the same.
import math
import os
import re
import shutil

import orrery_machines as machines
from orrery_cli import UserError

KINDS = {"cuda": ("CUDA", 1), "opencl": ("OpenCL", 2)}  # name in .config, number in the models


def number(options, name, default, least, most):
    text = options.get(name, default)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise UserError("%s %s: expected a number from %g to %g" % (name, text, least, most))
    return value


def what_to_add(text):
    kind, _, count = text.partition(":")
    if kind.lower() not in KINDS or not re.fullmatch(r"[1-9][0-9]?", count or "1"):
        raise UserError("--add %s: expected cuda:N or opencl:N, with N devices from 1 to 99" % text)
    return kind.lower(), int(count or 1)


# ---- models of kernels ----

def scaled(line, speedup):
    """A line of numbers of a model, for a unit that is faster."""
    words = line.split()
    if len(words) == 9:  # of a power law: sums of logarithms, a factor and an exponent
        sumlnx, sumlnx2, sumlny, both, alpha, beta = map(float, words[:6])
        n, log = float(words[6]), math.log(speedup)
        return "%.9e\t%.9e\t%.9e\t%.9e\t%-15.9e\t%-15.9e\t%s\t%s\t%s" % (
            sumlnx, sumlnx2, sumlny - n * log, both - sumlnx * log, alpha / speedup, beta, *words[6:])
    if len(words) == 3:  # of a power law with an offset
        return "%-15.9e\t%-15.9e\t%-15.9e" % (float(words[0]) / speedup, float(words[1]), float(words[2]) / speedup)
    mean, deviation, total, squares = (float(word) for word in words[3:7])
    return "%s\t%-15s\t%s\t%.9e\t%.9e\t%.9e\t%.9e\t%s" % (*words[:3], mean / speedup, deviation / speedup,
                                                        total / speedup, squares / speedup ** 2, words[7])


def device_section(path, section, arch, device, place, speedup):
    """The section of a core, as that of a device."""
    lines, after = [], None
    for line in section.splitlines():
        if after and line.strip() and not line.startswith("#"):
            if "device type" in after:
                line = str(arch)
            elif "device id" in after:
                line = str(device)
            elif "multiple-regression" in after and line.strip() != "0":
                raise UserError("%s: models by several variables cannot be scaled; leave that file out" % path, 1)
            elif re.match(r"# (sumlnx|a\t|hash)", after):
                line = scaled(line, speedup)
        if line.startswith("# ") and not line.startswith(("# COMB_", "# DEV_")):
            after = line
        lines.append(re.sub(r"# Model for \w+_impl(\d+) \(Comb\d+\)", r"# Model for device%d_impl\1 (Comb%d)" % (device, place),
                            re.sub(r"^# COMB_\d+$", "# COMB_%d" % place, line)))
    return "\n".join(lines) + "\n\n"


def add_to_model(path, target, arch, devices, speedup):
    """Copies a model and adds the devices; without measurements of a core nothing is added. Whether it was."""
    with open(path) as file:
        head, *sections = re.split(r"(?m)^(?=#{20}\n# COMB_\d+$)", file.read())
    core = next((s for s in sections if re.search(r"# device type[^\n]*\n0\n", s)), None)
    sections = [s.rstrip("\n") + "\n\n" for s in sections]
    for device in devices if core else ():
        sections.append(device_section(path, core, arch, device, len(sections), speedup))
    head = re.sub(r"(# number of combinations\n)\d+", r"\g<1>%d" % len(sections), head)
    machines.write(target, head + "".join(sections))
    return core is not None


# ---- the machine ----

def new_matrix(old, places, link, n):
    """{(source, destination): value}; link is the value from and to the devices that are new."""
    values = {(i, j): link for i in range(n) for j in range(n) if i != j}
    for i, row in enumerate(old or ()):
        for j, value in enumerate(row):
            values[places[i], places[j]] = value
    return values


def add(context, name, options):
    kind, count = what_to_add(options["--add"])
    speedup, memory = number(options, "--speedup", "10", 1e-3, 1e6), number(options, "--device-memory", "16384", 1, 1e9)
    link, latency = number(options, "--link", "12000", 1, 1e9), number(options, "--latency", "10", 0, 1e6)
    name, folder = machines.locate(context, name, options.get("--machine-path"))
    output = (options.get("--output") or "%s-%s%d" % (name, kind, count)).rstrip("/")
    new_name = os.path.basename(output)
    if os.path.exists(output):
        raise UserError("%s exists; name another folder with --output DIR" % output)
    units = machines.read_config(folder, name)
    unit, arch = KINDS[kind]
    first, before = units[unit], sum(units[u] for u in ("NUMA", "CUDA", "OpenCL"))
    if first + count > machines.MOST[unit]:
        raise UserError("--add %s: the machine has %d already, and %d is the limit" % (options["--add"], first, machines.MOST[unit]))
    end = units["NUMA"] + (units["CUDA"] if kind == "cuda" else units["CUDA"] + units["OpenCL"])
    places = [i if i < end else i + count for i in range(before)]
    tables = [new_matrix(machines.read_matrix(folder, name, suffix, before), places, value, before + count)
              for suffix, value in (("bandwidth", link), ("latency", latency))]
    units[unit] += count
    devices = range(first, first + count)
    lines = machines.read_devices(folder, name) + ["%s%d %.0f MiB" % (kind, d, memory) for d in devices]
    note = "made from %s by `orrery machine --add`, not measured" % name
    machines.write_machine(output, new_name, units, *tables, machines.read_costs(folder, name), note, lines)
    for suffix in (".elastic", ".power", ".contention"):
        if os.path.exists(os.path.join(folder, "bus", name + suffix)):
            shutil.copy(os.path.join(folder, "bus", name + suffix), os.path.join(output, "bus", new_name + suffix))
    symbols = machines.models(folder, name)
    target = os.path.join(output, "codelets", "45")
    os.makedirs(target)
    added = [symbol for symbol in symbols
             if add_to_model(os.path.join(folder, "codelets", "45", "%s.%s" % (symbol, name)),
                             os.path.join(target, "%s.%s" % (symbol, new_name)), arch, devices, speedup)]
    print("%s: %s with %d more %s device%s of %.0f MiB; assumed: %d of %d kernels take 1/%g of their time on a core, "
          "and copies go at %g MB/s after %g us" % (output, name, count, unit, "" if count == 1 else "s", memory, len(added),
                                                    len(symbols), speedup, link, latency))
    print("orrery sim --machine %s PROGRAM simulates it; orrery machine %s shows it" % ((
        output if "/" in output else "./" + output,) * 2))
    return 0
