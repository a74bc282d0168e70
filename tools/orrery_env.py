# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery env` (starpu_env): the environment in which builds and programs find this
# Orrery, as commands for a shell.
# Invariant: known folders stay in each list, after ours.
import os
import shlex
import sys

from orrery_cli import UserError
from orrery_words import Word, parse, usage

OPTIONS = [Word("--sim", "", "also let builds be for the simulated world: compilers, and names to look for")]
HELP = """usage: orrery env [--sim]

Prints commands for a shell that let builds and programs find this Orrery:
PATH, LD_LIBRARY_PATH, PKG_CONFIG_PATH, CMAKE_PREFIX_PATH and MANPATH.

  eval "$(orrery env)"        in this shell
  . starpu_env                the same

%s
""" % usage(OPTIONS, 10)


def first_in(variable, folder):
    return "export %s=%s${%s:+:$%s}" % (variable, shlex.quote(folder), variable, variable)


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options, _ = parse(OPTIONS, arguments, "orrery env")
    paths = context.paths
    lines = [first_in("PATH", paths["bin"]), first_in("LD_LIBRARY_PATH", paths["lib"])]
    # Packages have the commands with names of StarPU's there.
    commands = os.path.join(paths["lib"], "orrery", "starpu")
    if paths["tree"] == "installed" and os.path.isdir(os.path.join(commands, "bin")):
        lines.append(first_in("PATH", os.path.join(commands, "bin")))
    names = os.path.join(paths["lib"], "orrery", "starpu")
    if "--sim" in options:
        if not context.has("simgrid"):
            raise UserError("this Orrery was built without SimGrid; configure it again with SimGrid 3.32 or 4.0 installed")
        names = os.path.join(paths["lib"], "orrery", "sim")
        lines += ["export CC=orrery-sim-cc", "export CXX=orrery-sim-c++"]
        if context.settings["fc"]:
            lines.append("export FC=orrery-sim-fc")
    if paths["tree"] == "installed":
        own = os.path.isdir(names)  # the names that builds look for have a folder of their own
        modules = [os.path.join(names, "lib", "pkgconfig")] if own else []
        if "--sim" not in options or not own:
            modules.append(os.path.join(paths["lib"], "pkgconfig"))  # Orrery's own names
        lines.append(first_in("PKG_CONFIG_PATH", ":".join(modules)))
        lines.append(first_in("CMAKE_PREFIX_PATH", names if own else os.path.dirname(paths["bin"])))
        # An empty place at the end of the list stands for the system's manuals.
        lines.append("export MANPATH=%s:${MANPATH:-}" % shlex.quote(os.path.join(os.path.dirname(paths["data"]), "man")))
        if os.path.isdir(os.path.join(commands, "share", "man")):
            lines.append("export MANPATH=%s:$MANPATH" % shlex.quote(os.path.join(commands, "share", "man")))
    print("\n".join(lines))
    return 0
