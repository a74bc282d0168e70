# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery sim`: finds mistakes before a simulation starts, then becomes the
# launcher, which has the same options.
# Invariant: options are passed on as they were given; the exit status is the
# program's.
import importlib
import os
import shlex
import sys

import orrery_elf
import orrery_machines
import orrery_options
from orrery_cli import UserError, exec_program

FAILURES = ("--fail", "--mtbf", "--restart-delay", "--restarts")
HELP = """usage: orrery sim -n N [options] PROGRAM.sim [ARGS]

Runs PROGRAM.sim, built by `orrery cc --sim`, on N simulated nodes.

%s
The exit status is the program's. $ORRERY_SIM_WRAPPER is put before the
launcher's command (for instance "valgrind -q").
"""


def module(name):
    """A module that few runs need. To import all of them takes longer than a small simulation."""
    return importlib.import_module("orrery_" + name)


def split_option(table, word, words):
    """The option that a word names, and its value, which may be the next of the words; None for a flag."""
    name, equals, value = word.partition("=")
    option = table.get(name)
    if not option:
        raise UserError("unknown option %s; see `orrery sim --help`" % name)
    if option.kind == "FLAG":
        if equals:
            raise UserError("%s: %s takes no value" % (word, name))
        return option, None
    if equals:
        return option, value
    if option.kind == "FACTOR":  # its value is never the next word
        if words and orrery_options.is_number(words[0]) and not os.path.exists(words[0]):
            raise UserError("%s %s: write its %s as %s=%s" % (name, words[0], option.value.lower(), name, words[0]))
        return option, "1"
    if not words:
        raise UserError("%s needs %s after it" % (name, option.what))
    return option, words.pop(0)


def check_platform(path):
    if not os.path.exists(path):
        raise UserError("--platform %s: there is no such file; write one with `orrery platform -o %s`, "
                        "or leave the option out" % (path, path))
    if os.path.isdir(path):
        raise UserError("--platform %s is a directory; give a SimGrid platform file (.xml)" % path)


def take_repeat(given, table, show):
    """Takes the options of --repeat out of the given ones: the rest of them, and the request for orrery_repeat, None
    without --repeat."""
    values = {option.name: value for option, value in given}
    if "--repeat" not in values:
        if "--jobs" in values:
            raise UserError("--jobs is about several runs; give --repeat K as well")
        return given, None
    for name in ("--stats", "--bound"):
        if name in values:
            raise UserError("%s is about one run; leave it or --repeat out (--seed S repeats one run of several)" % name)
    report = values.get("--report")
    if report and not report.endswith((".csv", ".json")):
        raise UserError("--report %s: with --repeat, its name ends in .csv or .json to choose the format" % report)
    request = {"repeat": int(values["--repeat"]), "jobs": int(values["--jobs"]) if "--jobs" in values else None, "seed": int(values.get("--seed", 0)),
               "report": report, "show": show,
               "varying": {option.name for option in table.values() if option.group == "Variability"}}
    ours = ("--repeat", "--jobs", "--seed", "--report")
    return [pair for pair in given if pair[0].name not in ours], request


def take_master_slave(given):
    """Takes --master-slave out of the given options: the rest."""
    rest = [pair for pair in given if pair[0].name != "--master-slave"]
    if len(rest) == len(given):
        return given
    values = {option.name: value for option, value in rest}
    nodes = int(values.get("-n", 1))
    if nodes < 2 or "--elastic" in values:
        raise UserError("--master-slave needs at least 2 nodes (-n), and excludes --elastic")
    os.environ.setdefault("STARPU_NMPI_MS", str(nodes - 1))
    return rest


def take_fake(given):
    """Takes --fake-rank, --fake-size and --fake-peers out of the given options: the rest."""
    values = {option.name: value for option, value in given}
    rank, size = values.get("--fake-rank"), values.get("--fake-size")
    peers = values.get("--fake-peers")
    if rank is None and size is None and peers is None:
        return given
    if rank is None or size is None:
        raise UserError("--fake-rank R and --fake-size N go together: rank R of N, alone")
    if int(rank) >= int(size):
        raise UserError("--fake-rank %s: there are only the ranks 0 to %d of --fake-size %s" % (rank, int(size) - 1, size))
    if int(values.get("-n", 1)) != 1 or "--estimate" in values or "--elastic" in values:
        raise UserError("--fake-rank is about one rank alone; leave -n, --estimate and --elastic out")
    os.environ.update(STARPU_MPI_FAKE_RANK=rank, STARPU_MPI_FAKE_SIZE=size, STARPU_DISABLE_KERNELS="1")
    if peers is not None:
        os.environ["ORRERY_MPI_FAKE_PEERS"] = peers
    return [pair for pair in given if pair[0].name not in ("--fake-rank", "--fake-size", "--fake-peers")]


# Options that set a variable to the path of a file.
FILES = {"--trace": "ORRERY_TRACE", "--statistics": "ORRERY_STATISTICS"}
LIMIT = "--trace-limit"


def take_files(given):
    """Takes --trace, the options about it, and --statistics out of the given options: the rest."""
    for option, value in given:
        if option.name == LIMIT:
            os.environ["ORRERY_TRACE_LIMIT"] = orrery_options.trace_limit(value)
        if option.name in orrery_options.PARTS:
            orrery_options.take_trace_part(option.name, value)
        if option.name in FILES:
            os.environ[FILES[option.name]] = os.path.abspath(value)
    values = {option.name: value for option, value in given}
    orrery_options.check_trace_options(None if "--elastic" in values or os.environ.get("STARPU_MPI_FAKE_SIZE") else int(values.get("-n", 1)))
    return [pair for pair in given if pair[0].name not in FILES and pair[0].name != LIMIT and pair[0].name not in orrery_options.PARTS]


def parse(options, arguments):
    """The launcher's options as pairs of a name and a value, the program's words, --show, and the request of --repeat or of failures."""
    table = {name: option for option in options for name in option.names}
    given, words, show = [], list(arguments), False
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        option, value = split_option(table, word, words)
        if option.name == "--show":
            show = True
            continue
        if value is not None:
            option.check(value)
        if option.name == "--platform":
            check_platform(value)
        given.append((option, value))
    if not words:
        raise UserError("no program given; usage: orrery sim -n N PROGRAM.sim [ARGS]")
    names = {option.name for option, _ in given}
    if "--estimate" in names:
        module("estimate").check(names)
    given, failing = take_files(take_fake(take_master_slave(given))), None
    if names.intersection(FAILURES):
        given, failing = module("fail").take(given, FAILURES)
    given, request = take_repeat(given, table, show)
    return [(option.name, value) for option, value in given], words, show, request or failing


def launcher_words(options):
    """The launcher's words for pairs of a name and a value; the value of --noise is optional there, too."""
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
    if world in ("simulated", "unknown"):  # the launcher decides about an unknown one
        return os.path.abspath(program)
    base = program[:-4] if program.endswith(".sim") else program
    if program != base + ".sim" and os.path.exists(base + ".sim"):
        remedy = "run %s.sim, which is there" % base
    else:
        remedy = "build it for the simulated one with `orrery cc --sim -o %s.sim`" % base
    if world == "real":
        raise UserError("%s was built for the real world; %s" % (program, remedy))
    raise UserError("%s is not a compiled program; %s" % (program, remedy))


def with_elastic_costs(context, options):
    """The options, and the costs of joining that were measured of the first machine, unless they are given."""
    values = dict(options)
    machine = (values.get("--machine") or "").partition(",")[0]
    if "--elastic" not in values or not machine:
        return options
    measured = orrery_machines.elastic_options(context, machine, os.environ.get("STARPU_PERF_MODEL_PATH"))
    return options + [(name, value) for name, value in measured if name not in values]


def say_uncertain(context, options):
    """Names the machines whose costs are those of a measurement that was disturbed."""
    values = dict(options)
    path = ":".join(filter(None, (values.get("--machine-path"), os.environ.get("STARPU_PERF_MODEL_PATH"))))
    for given in dict.fromkeys(filter(None, (values.get("--machine") or "").split(","))):
        try:
            name, folder = orrery_machines.locate(context, given, path)
        except UserError:
            continue  # the launcher says that
        why = orrery_machines.doubts_about(folder, name)
        if why:
            sys.stderr.write("orrery sim: the costs of the runtime of machine %s are uncertain (%s); calibrate again on a quiet machine: "
                             "orrery calibrate -o %s --name %s\n" % (given, why, shlex.quote(folder), name))


def run_and_wait(command, environment):
    """The exit status of the launcher; it gets the signals that we get."""
    sys.stdout.flush()
    child = module("child").Child(command, environment)
    try:
        while child.process.poll() is None:
            child.turn()
    finally:
        child.finish()
    status = child.process.returncode
    return status if status >= 0 else 128 - status


def with_large_pages(environment):
    """Sets the C library's switch for large pages, unless it is set: a simulation goes from rank to rank at every
    event, and what it touches is rarely near what it touched before (tests/bench/large_pages.sh)."""
    known = environment.get("GLIBC_TUNABLES", "")
    if "glibc.malloc.hugetlb" not in known:
        environment["GLIBC_TUNABLES"] = ":".join(filter(None, ("glibc.malloc.hugetlb=1", known)))


def main(context, arguments):
    table = orrery_options.read(os.path.join(context.paths["data"], orrery_options.TABLE))
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP % orrery_options.usage(table))
        return 0
    options, words, show, request = parse(table, arguments)
    if not context.has("simgrid"):
        raise UserError("this Orrery was built without SimGrid; configure it again with SimGrid 3.32, 4.0 or 4.1 installed")
    options = with_elastic_costs(context, options)
    launcher = context.paths["launcher"]
    if not os.path.exists(launcher):
        raise UserError("%s is not there; %s" % (launcher, "run make" if context.paths["tree"] == "build" else "install Orrery again"))
    program = check_program(words[0])
    if ("--quiet", None) not in options and not show:
        say_uncertain(context, options)
    environment = dict(os.environ)
    environment.setdefault("ORRERY_DATADIR", context.paths["data"])
    if context.paths.get("moved"):
        # by itself it searches only where configure was told to install the library
        known = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = context.paths["lib"] + (":" + known if known else "")
    with_large_pages(environment)
    launcher = shlex.split(environment.get("ORRERY_SIM_WRAPPER", "")) + [launcher]
    program = [program] + words[1:]
    if request and "failures" in request and not show:
        plain = launcher + launcher_words([pair for pair in options if pair[0] != "--report"])
        return module("fail").main(plain, program, environment, request)
    if request and "failures" not in request:
        return module("repeat").main(lambda pairs: launcher + launcher_words(pairs) + program, options, program, environment, request)
    if ("--estimate", None) in options:
        options.remove(("--estimate", None))
        if not show and module("estimate").main(lambda pairs: launcher + launcher_words(pairs) + program, options, environment):
            return 1
    command = launcher + launcher_words(options) + program
    if show:
        print(" ".join(shlex.quote(word) for word in command))
        for path in orrery_elf.private_libraries(program[0], environment):
            print("# own variables for each rank: %s" % path)
        return 0
    names = [name for option in table for name in option.names]
    if orrery_options.misplaced(names, words[1:]):
        status = run_and_wait(command, environment)
        if 0 < status < 128:
            orrery_options.hint_of("sim", names, words[1:])
        return status
    exec_program(command, environment)
