# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery config` (starpu_config): shows what this Orrery was configured with.
# Invariant: the parameters are those of the starpu_config.h that programs include.
import os
import re
import shlex
import sys

from orrery_cli import UserError
from orrery_words import Word, parse, usage

OPTIONS = [
    Word("-d, --defined", "", "only parameters that are defined"),
    Word("-u, --undefined", "", "only parameters that are not defined"),
]
HELP = """usage: orrery config [-d | -u] [PARAMETER...]

Shows the versions, compilers and folders of this Orrery, and the parameters of its
starpu_config.h. With options or names of parameters, only parameters are shown.

%s
""" % usage(OPTIONS, 20)
PARAMETER = re.compile(r"\s*(?:/\*\s*)?#\s*(define|undef)\s+(\w+)\s*(.*)")


def parameters(context):
    """Triples (name, defined, value) in the order of the header."""
    for folder in context.paths["include"]:
        path = os.path.join(folder, "starpu_config.h")
        if os.path.exists(path):
            break
    else:
        raise UserError("there is no starpu_config.h in %s; install Orrery again" % " or ".join(context.paths["include"]), 1)
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            match = PARAMETER.match(line)
            if match and not match.group(2).endswith("_CONFIG_H") and "(" not in match.group(3):
                value = re.sub(r"/\*.*", "", match.group(3)).strip()
                yield match.group(2), match.group(1) == "define", value


def settings(context):
    """Pairs of a title and a text."""
    s, paths = context.settings, context.paths
    known = {name: value for name, _, value in parameters(context)}
    interface = ".".join(known.get("STARPU_%s_VERSION" % part, "?") for part in ("MAJOR", "MINOR", "RELEASE"))
    yield "version", "Orrery %s (%s)" % (s["version"], "build tree" if paths["tree"] == "build" else "installed")
    yield "interface", "StarPU " + interface
    yield "compilers", ", ".join(s[name] for name in ("cc", "cxx", "fc") if s[name])
    yield "real world", "with MPI, started by " + (s["mpiexec"] or "mpirun") if context.has("mpi") else "without MPI"
    yield "simulated world", "yes" if context.has("simgrid") else "no"
    yield "Fortran modules", paths["modules"] if s["fortran"] == "yes" else "no"
    yield "flags", " ".join(["-I" + shlex.quote(folder) for folder in paths["include"]] + context.words("hwloc_cflags"))
    yield "libraries", paths["lib"]
    yield "commands", paths["bin"]
    yield "data", paths["data"]


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options, names = parse(OPTIONS, arguments, "orrery config", others=True)
    if len(options) > 1:
        raise UserError("-d and -u leave nothing; give one of them")
    shown = [p for p in parameters(context) if (not names or p[0] in names)
             and (p[1] or "--defined" not in options) and (not p[1] or "--undefined" not in options)]
    unknown = [name for name in names if name not in [p[0] for p in parameters(context)]]
    if unknown:
        raise UserError("%s: starpu_config.h has no such parameter; without names, all are shown" % unknown[0], 1)
    if not options and not names:
        for title, text in settings(context):
            print("%-16s %s" % (title, text))
        print()
    for name, defined, value in shown:
        print(("#define %s %s" % (name, value)).rstrip() if defined else "#undef %s" % name)
    return 0
