# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery run`: starts a program of the real world on N ranks with mpirun.
# Invariant: the exit status is the program's, signals reach mpirun (we become
# it), and no option of ours contradicts those of --mpirun.
import os
import shlex
import shutil
import sys

import orrery_elf
from orrery_cli import UserError, exec_program

HELP = """usage: orrery run [-n N] [--mpirun "extra options"] [--show] PROGRAM [ARGS]

Runs PROGRAM, built by `orrery cc`, on N ranks (default 1) of the machine at
hand, or of the machines that the options or the job's allocation name.

  -n N, -np N         number of ranks
  --mpirun OPTIONS    further options for mpirun (one argument, split as a shell
                      does): hosts, mapping, binding, environment
  --show              print the command instead of running it

Without --mpirun and outside a batch job, the cores of this machine are shared
out evenly: each rank is bound to cores of its own, and when there are more
ranks than cores nothing is bound. $ORRERY_MPIRUN names another mpirun.
"""
BATCH_VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "OAR_JOB_ID", "LOADL_STEP_ID")


def parse(arguments):
    ranks, extra, show = 1, None, False
    words = list(arguments)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        if word in ("-n", "-np", "--mpirun") and not words:
            raise UserError("%s needs a value after it" % word)
        if word in ("-n", "-np"):
            value = words.pop(0)
            if not value.isdigit() or int(value) < 1:
                raise UserError("-n %s: the number of ranks must be a positive integer" % value)
            ranks = int(value)
        elif word == "--mpirun":
            extra = shlex.split(words.pop(0))
        elif word.startswith("--mpirun="):
            extra = shlex.split(word.split("=", 1)[1])
        elif word == "--show":
            show = True
        else:
            raise UserError("unknown option %s; see `orrery run --help` (options of mpirun go into --mpirun \"...\")" % word)
    if not words:
        raise UserError("no program given; usage: orrery run -n N PROGRAM [ARGS]")
    return ranks, extra, show, words


def check_program(program):
    path = program if os.path.exists(program) else shutil.which(program)
    if not path:
        raise UserError("%s: there is no such program; compile it with `orrery cc`" % program)
    if os.path.isdir(path):
        raise UserError("%s is a directory, not a program" % program)
    if orrery_elf.world_of(path) == "simulated":
        raise UserError("%s was built for the simulated world; run it with `orrery sim -n N %s`, "
                        "or build it for this one with `orrery cc`" % (program, program))
    if not os.access(path, os.X_OK):
        raise UserError("%s is not executable; chmod +x it, or give the program that `orrery cc` made" % program)
    return path if os.sep in path else os.path.join(".", path)


def usable_cores():
    """Cores this process may use, without counting hardware threads twice."""
    cores = set()
    cpus = os.sched_getaffinity(0)
    for cpu in cpus:
        folder = "/sys/devices/system/cpu/cpu%d/topology/" % cpu
        try:
            with open(folder + "physical_package_id") as package, open(folder + "core_id") as core:
                cores.add((package.read(), core.read()))
        except OSError:
            return len(cpus)
    return len(cores)


def default_mapping(ranks):
    cores = usable_cores()
    if ranks > cores:
        return ["--oversubscribe", "--bind-to", "none"]
    return ["--map-by", "slot:PE=%d" % (cores // ranks), "--bind-to", "core"]


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    ranks, extra, show, words = parse(arguments)
    if not context.has("mpi"):
        raise UserError("this Orrery was built without MPI; configure it again with Open MPI installed (libopenmpi-dev)")
    mpiexec = os.environ.get("ORRERY_MPIRUN") or context.settings["mpiexec"] or "mpirun"
    if not shutil.which(mpiexec):
        raise UserError("%s is not there; install Open MPI (openmpi-bin) or set ORRERY_MPIRUN" % mpiexec)
    program = check_program(words[0])
    environment = dict(os.environ)
    if os.geteuid() == 0:
        environment["OMPI_ALLOW_RUN_AS_ROOT"] = environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    options = extra
    if extra is None:
        batch = any(name in environment for name in BATCH_VARIABLES)
        options = [] if batch else default_mapping(ranks)
    command = [mpiexec, "-n", str(ranks)] + options + [program] + words[1:]
    if show:
        print(shlex.join(command) if hasattr(shlex, "join") else " ".join(command))
        return 0
    exec_program(command, environment)
