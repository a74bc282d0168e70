# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The subcommands of `orrery` and what they share. Each subcommand is one module
# with main(context, arguments) -> exit status, imported when it is called.
# Invariant: a user's mistake ends in one line "orrery NAME: what; remedy" on
# standard error and exit status 2 (1 when a file's content is at fault).
import importlib
import os
import shlex
import sys

SUBCOMMANDS = {
    "cc": "compile and link a program for the real world, the simulated one, or both",
    "fc": "the same for Fortran programs: orrery cc --fc",
    "run": "run a program on the machine at hand, with MPI",
    "doctor": "check the hosts of a cluster before the first run on them",
    "sim": "run a program in the simulated world, on as many nodes as you like",
    "platform": "write a SimGrid platform file: a cluster with a given network",
    "matrix": "draw communication matrices from the statistics of a run",
    "calibrate": "measure this machine, or the network, for simulations of it",
    "machine": "show this machine, or one that is described by its measurements",
    "perfmodel": "list, show, export and plot how long kernels take",
    "profile": "show how long the tasks of a traced run took",
    "top": "show what a run that is under way does just now, rank by rank",
    "trace": "show what a recorded run did, event by event",
    "explain": "say where the time of a recorded run went, along its critical path",
    "scaling": "run a program on more and more nodes: speed-up, efficiency, where the time went",
    "compare": "say where two runs differ, of either world, by their reports",
    "report": "write a page of HTML that shows what recorded runs did, and why",
    "config": "show what this Orrery was configured with",
    "env": "print the environment that lets builds and programs find this Orrery",
}


class UserError(Exception):
    """A mistake of the user's; the text names the culprit and the remedy."""

    def __init__(self, text, status=2):
        super().__init__(text)
        self.status = status


class Context:
    """Where things are (paths) and what configure found (settings)."""

    def __init__(self, settings, paths):
        self.settings = settings
        self.paths = paths

    def words(self, name):
        """The setting NAME, split as a shell would."""
        return shlex.split(self.settings[name])

    def has(self, world):
        return self.settings["mpi" if world == "mpi" else "simgrid"] == "yes"


def usage():
    lines = ["usage: orrery SUBCOMMAND [arguments]", "",
             "One program, two worlds: compile it once for this machine and once for a simulated cluster.", ""]
    lines += ["  %-10s %s" % item for item in SUBCOMMANDS.items()]
    lines += ["", "`orrery SUBCOMMAND --help` explains a subcommand; `man orrery` gives an overview.", ""]
    return "\n".join(lines)


def exec_program(argv, environment=None):
    """Becomes another program: its exit status and signals are ours."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(argv[0], argv, environment or os.environ)


# Other names of this command: compilers in one word, and tools that users of StarPU know.
ALIASES = {
    "orrery-sim-cc": ["cc", "--sim"], "orrery-sim-c++": ["cc", "--sim", "--cxx"], "orrery-sim-fc": ["cc", "--sim", "--fc"],
    "starpu_config": ["config"], "starpu_codelet_profile": ["profile"], "starpu_calibrate_bus": ["calibrate"],
}
# Commands that read traces (orrery_starpu.py, orrery_starpu_tools.py).
ALIASES.update({name: ["trace", "--like", name] for name in (
    "starpu_fxt_tool", "starpu_fxt_stats", "starpu_fxt_data_trace", "starpu_trace_state_stats.py", "starpu_codelet_histo_profile",
    "starpu_workers_activity", "starpu_paje_state_stats", "starpu_paje_summary", "starpu_paje_draw_histogram",
    "starpu_send_recv_data_use.py", "starpu_fxt_number_events_to_names.py", "starpu_tasks_rec_complete", "starpu_perfmodel_recdump",
    "starpu_lp2paje")})


def run_alias(settings, paths, name, arguments):
    """The command under another of its names."""
    # Commands on files of Paje's give -v another meaning.
    if name.startswith("starpu_") and (arguments[:1] == ["--version"] or (arguments[:1] == ["-v"] and not name.startswith("starpu_paje_"))):
        print("%s (Orrery) %s" % (name, settings["version"]))
        return 0
    if name == "starpu_calibrate_bus":
        # Measuring is never skipped, so there is nothing to force.
        arguments = [word for word in arguments if word not in ("-f", "--force")]
    return main(settings, paths, ALIASES[name] + arguments)


def main(settings, paths, arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(usage())
        return 0 if arguments else 2
    name, rest = arguments[0], arguments[1:]
    if name in ("--version", "-V"):
        print("orrery %s (%s)" % (settings["version"], paths["tree"]))
        return 0
    if name == "help":
        name, rest = (rest[0], ["--help"]) if rest else (None, None)
        if name is None:
            sys.stdout.write(usage())
            return 0
    if name not in SUBCOMMANDS:
        sys.stderr.write("orrery: there is no subcommand '%s'; there are: %s\n" % (name, ", ".join(SUBCOMMANDS)))
        return 2
    try:
        if name == "fc":
            name, rest = "cc", ["--fc"] + rest
        return importlib.import_module("orrery_" + name).main(Context(settings, paths), rest)
    except UserError as error:
        sys.stderr.write("orrery %s: %s\n" % (name, error))
        return error.status
    except OSError as error:
        sys.stderr.write("orrery %s: %s: %s\n" % (name, error.filename or "system error", error.strerror))
        return 1
    except KeyboardInterrupt:
        return 130
