# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery perfmodel`: lists, shows, exports and plots performance models. The
# library's own reader (starpu_perfmodel_display) reads the files.
# Invariant: a plot shows exactly the measurements and fits of the file.
import math
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import orrery_machines as machines
from orrery_cli import UserError, exec_program
from orrery_words import Word, parse as read_words, usage

OPTIONS = [
    Word("-l, --list", "", "names of the models"),
    Word("-s, --symbol", "SYMBOL", "show one: per unit, a line for each footprint"),
    Word("-m, --machine", "MACHINE", "a described machine, by name or DIR/NAME (default: this one)"),
    Word("--machine-path", "D:D", "further directories of descriptions, searched first"),
    Word("-d, --directory", "", "the directory that models of this machine are written to"),
    Word("-a, --arch", "ARCH", "only one unit, such as cpu0_impl0, cuda1, or cpu:4 (four cores)"),
    Word("-x, --xml", "", "as XML"),
    Word("-p, --parameter", "P", "one number: a, b, c, alpha, beta, mean, stddev; or path-file-debug;\nplot is the same as --plot"),
    Word("-lc, --combinations", "", "the combinations of devices of a model, with their numbers"),
    Word("--plot", "", "draw time over size (or over flops, where they are known)"),
    Word("-c, --combination", "N", "draw only that combination"),
    Word("-f, --gflops", "", "draw the speed in GFlop/s; the model must know flops"),
    Word("-e, --energy", "", "the numbers are energies (the model of an energy_model)"),
    Word("-o, --output", "FILE", "file of the plot: .pdf, .png or .svg (default SYMBOL.pdf)"),
]
HELP = """usage: orrery perfmodel -l [-m MACHINE]
       orrery perfmodel -s SYMBOL [-m MACHINE] [-a ARCH] [-x | -p P | --plot [-e] [-f] [-c N] [-o FILE]]
       orrery perfmodel -d | -lc -s SYMBOL

Shows the durations of kernels that calibration measured.

%s
""" % usage(OPTIONS, 25)


def parse(arguments, command="orrery perfmodel"):
    options, _ = read_words(OPTIONS, arguments, command)
    if options.get("--parameter") == "plot":
        del options["--parameter"]
        options["--plot"] = True
    if not any(o in options for o in ("--list", "--symbol", "--directory")):
        raise UserError("give -l to list the models, or -s SYMBOL for one")
    if "--output" in options and "--plot" not in options:
        raise UserError("-o goes with --plot; redirect the output of the other forms")
    for option in ("--gflops", "--energy", "--combination"):
        if option in options and "--plot" not in options:
            raise UserError("%s goes with --plot" % option)
    if "--combination" in options and not options["--combination"].isdigit():
        raise UserError("--combination %s: it takes a number, see -lc" % options["--combination"])
    return options


def reader(context, options):
    """Command and environment of starpu_perfmodel_display for the machine that was asked for."""
    env = machines.environment(context)
    if "--machine" in options:
        name, folder = machines.locate(context, options["--machine"], options.get("--machine-path"))
        env.update({"STARPU_HOSTNAME": name, "STARPU_PERF_MODEL_DIR": folder, "STARPU_PERF_MODEL_PATH": ""})
    return [machines.program(context, "starpu_perfmodel_display")], env


def read_xml(command, env, symbol):
    result = subprocess.run(command + ["-s", symbol, "-x"], env=env, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise UserError("the model %s cannot be read; the message is above" % symbol, 1)
    return ElementTree.fromstring(result.stdout)


def unit_name(combination, implementation):
    parts = []
    for device in combination.findall("device"):
        cores = device.get("ncores", "1")
        parts.append("%s %s%s" % (device.get("type"), device.get("id"), " (%s cores)" % cores if cores != "1" else ""))
    number = implementation.get("id")
    return " + ".join(parts) + (", implementation %s" % number if number != "0" else "")


def matches(arch, name, device):
    """True if --arch means this device, as in starpu_perfmodel_display: a prefix with the whole number, or KIND:CORES."""
    kind, colon, cores = arch.lower().partition(":")
    if colon:
        return name.startswith(kind) and device.get("ncores", "1") == cores
    return name.startswith(kind) and not (kind[-1:].isdigit() and name[len(kind):len(kind) + 1].isdigit())


def combinations(tree):
    """The devices of each combination, a line each."""
    for number, combination in enumerate(tree.findall("combination")):
        devices = ["%s%s%s" % (d.get("type").lower(), d.get("id"), "" if d.get("ncores", "1") == "1" else ":" + d.get("ncores"))
                   for d in combination.findall("device")]
        print("%d\t%s" % (number, " ".join(devices)))


def series(tree, arch, only=None):
    """[(unit, [(size, flops, mean, deviation)], [(label, function of size)])]"""
    result = []
    for number, combination in enumerate(tree.findall("combination")):
        if only is not None and number != only:
            continue
        for implementation in combination.findall("implementation"):
            device = combination.find("device")
            name = "%s%s_impl%s" % (device.get("type").lower(), device.get("id"), implementation.get("id"))
            if arch and not matches(arch, name, device):
                continue
            points = [tuple(float(e.get(k)) for k in ("size", "flops", "mean", "deviation")) for e in implementation.findall("entry")]
            fits = []
            for fit in implementation.findall("l_regression"):
                alpha, beta = float(fit.get("alpha")), float(fit.get("beta"))
                fits.append(("power law", lambda x, a=alpha, b=beta: a * x ** b))
            for fit in implementation.findall("nl_regression"):
                a, b, c = (float(fit.get(k)) for k in "abc")
                fits.append(("power law and constant", lambda x, a=a, b=b, c=c: a * x ** b + c))
            points = sorted(p for p in points if p[2] > 0)
            if points:
                result.append((unit_name(combination, implementation), points, fits))
    return result


def speeds(data, symbol):
    """The same in GFlop/s: (size, flops, speed, deviation) of the points with flops, without the fits, which are for times."""
    result = []
    for name, points, _ in data:
        points = [(s, f, f / t * 1e-3, f / t * 1e-3 * d / t) for s, f, t, d in points if f > 0]
        if points:
            result.append((name, points, []))
    if not result:
        raise UserError("%s does not say how many flops its kernels do; set task->flops and calibrate, or draw the time" % symbol, 1)
    return result


def plot(tree, symbol, options, path):
    arch, only = options.get("--arch"), options.get("--combination")
    data = series(tree, arch, None if only is None else int(only))
    if not data:
        raise UserError("%s has no measurements%s to draw" % (symbol, " for " + (arch or "combination " + only) if arch or only else ""), 1)
    label = "energy (J)" if "--energy" in options else "time (µs)"
    if "--gflops" in options:
        data, label = speeds(data, symbol), "speed (GFlop/s)"
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise UserError("drawing needs matplotlib; install python3-matplotlib", 1) from None
    by_flops = all(p[1] > 0 for _, points, _ in data for p in points) and not any(fits for _, _, fits in data)
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for name, points, fits in data:
        x = [p[1] if by_flops else p[0] for p in points]
        low = [min(p[3], 0.99 * p[2]) for p in points]
        line = axes.errorbar(x, [p[2] for p in points], yerr=[low, [p[3] for p in points]], fmt="o-" if not fits else "o",
                             markersize=4, linewidth=1, capsize=2, label=name)
        for law, function in fits:
            if min(x) > 0:
                grid = [min(x) * (max(x) / min(x)) ** (i / 60) for i in range(61)]
                curve = [function(g) for g in grid]
                if all(math.isfinite(c) and c > 0 for c in curve):
                    axes.plot(grid, curve, "--", linewidth=1, color=line[0].get_color(), label="%s: %s" % (name, law))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("work (flop)" if by_flops else "size of the data (bytes)")
    axes.set_ylabel(label)
    axes.set_title(symbol)
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    try:
        figure.savefig(path)
    except ValueError as error:
        raise UserError("-o %s: %s" % (path, error)) from None
    print(path)


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options = parse(arguments)
    command, env = reader(context, options)
    if "--plot" in options:
        if "--symbol" not in options:
            raise UserError("--plot draws one model; name it with -s SYMBOL")
        path = options.get("--output", options["--symbol"] + ".pdf")
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise UserError("-o %s: the directory does not exist; create it first" % path)
        plot(read_xml(command, env, options["--symbol"]), options["--symbol"], options, path)
        return 0
    if "--combinations" in options:
        if "--symbol" not in options:
            raise UserError("-lc lists the combinations of one model; name it with -s SYMBOL")
        combinations(read_xml(command, env, options["--symbol"]))
        return 0
    for option in ("--list", "--xml", "--directory"):
        command += [option] if option in options else []
    for option in ("--symbol", "--arch", "--parameter"):
        command += [option, options[option]] if option in options else []
    exec_program(command, env)
    return 0
