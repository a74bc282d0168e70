# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery sim`: checks what can be checked before a simulation starts, then
# becomes the launcher, which understands the same options.
# Invariant: options are passed on as they were given; the exit status is the
# program's.
import math
import os
import shlex
import sys

import orrery_elf
import orrery_repeat
from orrery_cli import UserError, exec_program

HELP = """usage: orrery sim -n N [options] PROGRAM.sim [ARGS]

Runs PROGRAM.sim, built by `orrery cc --sim`, on N simulated nodes.

  -n N, -np N          number of nodes, one rank on each (default 1)
  --platform FILE.xml  SimGrid platform; its hosts, in order, are the nodes
                       (default: a cluster of N nodes; see `orrery platform`)
  --machine NAME       what is inside a node, by the name of its measurements;
                       DIR/NAME takes them from DIR (DIR/bus/NAME.config, ...);
                       NAME,NAME,...: of the nodes in turn
  --machine-path D:D   further directories of measurements, searched first
  --cpus K             cores of a node, instead of the machine's number; each GPU
                       takes one, and so do messages on machines with GPUs
  --cuda-from-model yes|no
                       codelets without function for CUDA run on simulated GPUs
                       that their performance model knows; their function for
                       the CPU computes the results (default: yes)
  --kernels MODE       run: execute kernels, charge their modelled time (default)
                       skip: execute none and store no data, for scale
                       inject: execute kernels and charge their measured time
  --bound              print lower bounds on the time that the tasks take (area
                       of the busiest node, critical path) next to the time
  --stats FILE.csv     write messages and bytes per pair (for `orrery matrix`)
  --report FILE.json   write nodes, makespan_s, tasks, messages, bytes, wall_s,
                       peak_rss_bytes
  --cost-submit US, --cost-access US, --cost-foreign US, --cost-complete US, --cost-datum US,
  --cost-sched US, --cost-message US, --cost-interrupt US, --cost-wake US,
  --cost-look US
                       virtual costs of the runtime itself, in microseconds
                       (default: what `orrery calibrate` measured on the machine)
  --noise[=FACTOR]     durations of kernels vary as much as was measured, times
                       FACTOR (default: they do not)
  --noise-default PERCENT
                       deviation of kernels of which none was measured
                       (default 0; implies --noise)
  --speed-spread PERCENT, --worker-spread PERCENT
                       nodes, and workers, are slower or faster than the machine
                       says, by constant factors of mean 1 and this deviation
  --background-load PERCENT, --background-period US
                       bandwidth that others take on each link on average (0 to
                       90); how long a link keeps the share that was drawn for it
                       (default 10000)
  --seed S             of the random numbers of all these, and of the runtime
                       unless STARPU_RAND_SEED is set (default 0); the same
                       command with the same seed gives the same run
  --repeat K           run with the seeds S, S+1, ... S+K-1, and once without
                       variability; print the distribution of the makespan.
                       --report FILE.csv or FILE.json gets all runs
  --jobs J             as many of these at a time (default 1)
  --quantum US         smallest charge of such costs that is slept (default 1)
  --stack KIB          stack of the program's main
  --cfg=KEY:VALUE      setting of SimGrid
  --show               print the launcher's command instead of running it

The exit status is the program's. $ORRERY_SIM_WRAPPER is put before the
launcher's command (for instance "valgrind -q").
"""
VALUED = {"-n": "a number", "-np": "a number", "--platform": "a file", "--machine": "a name",
          "--machine-path": "directories", "--cpus": "a number", "--kernels": "run, skip or inject", "--stats": "a file", "--report": "a file", "--cfg": "a SimGrid setting",
          "--stack": "a size", "--quantum": "a time",
          "--cuda-from-model": "yes or no", "--noise-default": "a percentage", "--speed-spread": "a percentage",
          "--worker-spread": "a percentage", "--background-load": "a percentage", "--background-period": "a time",
          "--seed": "a number", "--repeat": "a number", "--jobs": "a number"}
# name: what, least and greatest value
NUMBERS = {"--noise": ("a factor", 0, 1000), "--noise-default": ("a percentage", 0, 1000), "--speed-spread": ("a percentage", 0, 1000),
           "--worker-spread": ("a percentage", 0, 1000), "--background-load": ("a percentage", 0, 90),
           "--background-period": ("a number of microseconds", 1e-3, 1e12)}
WHOLE = {"--seed": (0, 2 ** 32 - 1), "--repeat": (1, 10 ** 6), "--jobs": (1, 4096)}
# Ours, not the launcher's.
REQUESTS = ("--repeat", "--jobs")
KERNELS = ("run", "skip", "inject")


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def split_option(word, words):
    name, equals, value = word.partition("=")
    if name == "--noise":  # its value is optional, so that it is never the next word
        if not equals and words and is_number(words[0]) and not os.path.exists(words[0]):
            raise UserError("--noise %s: write its factor as --noise=%s" % (words[0], words[0]))
        return name, value if equals else "1"
    if name not in VALUED and not name.startswith("--cost-"):
        raise UserError("unknown option %s; see `orrery sim --help`" % name)
    if equals:
        return name, value
    if not words:
        raise UserError("%s needs %s after it" % (name, VALUED.get(name, "a value")))
    return name, words.pop(0)


def check_output(name, path):
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UserError("%s %s: the directory %s does not exist; create it first" % (name, path, folder))
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UserError("%s %s: no permission to write there; choose another place" % (name, path))


def check_option(name, value):
    if name in ("-n", "-np", "--cpus") and (not value.isdigit() or int(value) < 1):
        raise UserError("%s %s: the number of %s must be a positive integer"
                        % (name, value, "CPUs" if name == "--cpus" else "nodes"))
    if name in NUMBERS:
        what, least, most = NUMBERS[name]
        if not is_number(value) or not least <= float(value) <= most:
            raise UserError("%s %s: expected %s between %g and %g" % (name, value, what, least, most))
    if name in WHOLE:
        least, most = WHOLE[name]
        if not (value.isascii() and value.isdigit()) or not least <= int(value) <= most:
            raise UserError("%s %s: expected a whole number between %d and %d" % (name, value, least, most))
    if name == "--kernels" and value not in KERNELS:
        raise UserError("--kernels %s: there are run, skip and inject" % value)
    if name == "--cuda-from-model" and value not in ("yes", "no"):
        raise UserError("--cuda-from-model %s: it takes yes or no" % value)
    if name == "--platform":
        if not os.path.exists(value):
            raise UserError("--platform %s: there is no such file; write one with `orrery platform -o %s`, "
                            "or leave the option out" % (value, value))
        if os.path.isdir(value):
            raise UserError("--platform %s is a directory; give a SimGrid platform file (.xml)" % value)
    if name in ("--stats", "--report"):
        check_output(name, value)


def take_request(options, show):
    """Takes what --repeat is about out of the options: what is left, and the request, which is None without it."""
    given = dict(options)
    if "--repeat" not in given:
        if "--jobs" in given:
            raise UserError("--jobs is about several runs; give --repeat K as well")
        return options, None
    for name in ("--stats", "--bound"):
        if name in given:
            raise UserError("%s is about one run; leave it or --repeat out (--seed S repeats one run of several)" % name)
    report = given.get("--report")
    if report and not report.endswith((".csv", ".json")):
        raise UserError("--report %s: with --repeat its name ends in .csv or .json, which tells the format" % report)
    ours = REQUESTS + ("--seed", "--report")
    request = {"repeat": int(given["--repeat"]), "jobs": int(given.get("--jobs", 1)), "seed": int(given.get("--seed", 0)),
               "report": report, "show": show}
    return [pair for pair in options if pair[0] not in ours], request


def parse(arguments):
    options, words, show = [], list(arguments), False
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        if word == "--show":
            show = True
            continue
        if word == "--bound":
            options.append((word, None))
            continue
        name, value = split_option(word, words)
        check_option(name, value)
        options.append(("-n" if name == "-np" else name, value))
    if not words:
        raise UserError("no program given; usage: orrery sim -n N PROGRAM.sim [ARGS]")
    options, request = take_request(options, show)
    return options, words, show, request


def launcher_words(options):
    """The launcher's words for pairs of name and value; the value of --noise is optional there too."""
    words = []
    for name, value in options:
        if value is None:
            words.append(name)
        elif name in ("--cfg", "--noise"):
            words.append(name + "=" + value)
        else:
            words += [name, value]
    return words


def check_program(program):
    if not os.path.exists(program):
        if os.path.exists(program + ".sim"):
            raise UserError("%s: there is no such file, but there is %s.sim; run that one" % (program, program))
        raise UserError("%s: there is no such program; compile it with `orrery cc --sim`" % program)
    if os.path.isdir(program):
        raise UserError("%s is a directory, not a program" % program)
    world = orrery_elf.world_of(program)
    if world in ("simulated", "unknown"):  # the launcher tells whether it can enter an unknown one
        return os.path.abspath(program)
    base = program[:-4] if program.endswith(".sim") else program
    if program != base + ".sim" and os.path.exists(base + ".sim"):
        remedy = "run %s.sim, which is there" % base
    else:
        remedy = "build it for the simulated one with `orrery cc --sim -o %s.sim`" % base
    if world == "real":
        raise UserError("%s was built for the real world; %s" % (program, remedy))
    raise UserError("%s is not a compiled program; %s" % (program, remedy))


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options, words, show, request = parse(arguments)
    if not context.has("simgrid"):
        raise UserError("this Orrery was built without SimGrid; configure it again with SimGrid 3.32 installed")
    launcher = context.paths["launcher"]
    if not os.path.exists(launcher):
        raise UserError("%s is not there; %s" % (launcher, "run make" if context.paths["tree"] == "build" else "install Orrery again"))
    program = check_program(words[0])
    environment = dict(os.environ)
    environment.setdefault("ORRERY_DATADIR", context.paths["data"])
    if context.paths.get("moved"):
        # where it looks by itself is where configure was told to install the library
        known = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = context.paths["lib"] + (":" + known if known else "")
    launcher = shlex.split(environment.get("ORRERY_SIM_WRAPPER", "")) + [launcher]
    program = [program] + words[1:]
    if request:
        return orrery_repeat.main(lambda pairs: launcher + launcher_words(pairs) + program, options, program, environment, request)
    command = launcher + launcher_words(options) + program
    if show:
        print(" ".join(shlex.quote(word) for word in command))
        return 0
    exec_program(command, environment)
