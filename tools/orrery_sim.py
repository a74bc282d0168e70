# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery sim`: checks what can be checked before a simulation starts, then
# becomes the launcher, which understands the same options.
# Invariant: options are passed on as they were given; the exit status is the
# program's.
import os
import shlex
import sys

import orrery_elf
from orrery_cli import UserError, exec_program

HELP = """usage: orrery sim -n N [options] PROGRAM.sim [ARGS]

Runs PROGRAM.sim, built by `orrery cc --sim`, on N simulated nodes.

  -n N, -np N          number of nodes, one rank on each (default 1)
  --platform FILE.xml  SimGrid platform; its hosts, in order, are the nodes
                       (default: a cluster of N nodes; see `orrery platform`)
  --machine NAME       what is inside a node, by the name of its measurements;
                       DIR/NAME takes them from DIR (DIR/bus/NAME.config, ...)
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
  --cost-submit US, --cost-foreign US, --cost-complete US, --cost-sched US,
  --cost-message US    virtual costs of the runtime itself, in microseconds
                       (default: what `orrery calibrate` measured on the machine)
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
          "--cuda-from-model": "yes or no"}
KERNELS = ("run", "skip", "inject")


def split_option(word, words):
    name, equals, value = word.partition("=")
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
            options.append(word)
            continue
        name, value = split_option(word, words)
        check_option(name, value)
        options += ["--cfg=" + value] if name == "--cfg" else ["-n" if name == "-np" else name, value]
    if not words:
        raise UserError("no program given; usage: orrery sim -n N PROGRAM.sim [ARGS]")
    return options, words, show


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
    options, words, show = parse(arguments)
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
    command = shlex.split(environment.get("ORRERY_SIM_WRAPPER", "")) + [launcher] + options + [program] + words[1:]
    if show:
        print(" ".join(shlex.quote(word) for word in command))
        return 0
    exec_program(command, environment)
