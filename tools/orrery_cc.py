# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery cc`: compiles and links for either world with the compiler that Orrery
# was built with. A program for the real world is an executable; one for the
# simulated world is a shared object that the launcher loads once per rank.
# Invariant: the user's arguments are passed on in their order; ours come before
# them (include paths) and after them (libraries).
import os
import subprocess
import sys

from orrery_cli import UserError

HELP = """usage: orrery cc [--sim | --both] [--show] [compiler arguments]

Compiles and links a program with Orrery for the real world (default), the
simulated one (--sim), or both (--both).

  orrery cc app.c -o app               app for `orrery run`
  orrery cc --sim app.c -o app.sim     app.sim for `orrery sim`
  orrery cc --both app.c -o app        app and app.sim
  orrery cc --both -c part.c           part.o and part.sim.o; link them with
  orrery cc --both part.o -o app       (--both takes part.sim.o for app.sim)

  --show    print the commands instead of running them

All other arguments go to the compiler, which is $ORRERY_CC ($ORRERY_CXX for
C++ sources) or else the one that Orrery was built with.
"""
CXX_SUFFIXES = (".cc", ".cpp", ".cxx", ".C", ".c++")
NO_LINK = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"}


class Request:
    """The compiler arguments, and what we conclude from them."""

    def __init__(self, arguments):
        self.worlds = ["real"]
        self.show = False
        self.arguments = []
        self.output = None
        self.inputs = []
        words = iter(arguments)
        for word in words:
            if word == "--sim":
                self.worlds = ["sim"]
            elif word == "--both":
                self.worlds = ["real", "sim"]
            elif word == "--real":
                self.worlds = ["real"]
            elif word in ("--show", "-###"):
                self.show = True
            elif word == "-o":
                self.output = next(words, None)
                if self.output is None:
                    raise UserError("-o needs a file name after it")
            elif word.startswith("-o") and len(word) > 2:
                self.output = word[2:]
            else:
                self.arguments.append(word)
                if not word.startswith("-") and os.path.splitext(word)[1]:
                    self.inputs.append(word)
        self.links = not NO_LINK.intersection(self.arguments)
        self.mode = next((word for word in self.arguments if word in NO_LINK), None)
        if not self.arguments:
            raise UserError("nothing to compile; give source files, for instance: orrery cc --both app.c -o app")

    def output_for(self, world):
        """Name of the result, or None for the compiler's own choice."""
        if world == "real" or len(self.worlds) == 1:
            if self.output or world == "real" or not self.links:
                return self.output
            return "a.out.sim"
        if self.links:
            return (self.output or "a.out") + ".sim"
        if self.mode != "-c":
            return self.output
        if self.output:
            return sim_object(self.output)
        if len(self.inputs) != 1:
            raise UserError("--both -c without -o takes one source file at a time")
        return sim_object(os.path.splitext(os.path.basename(self.inputs[0]))[0] + ".o")

    def arguments_for(self, world):
        """With --both, the simulated program is linked from the .sim.o files."""
        if world == "real" or len(self.worlds) == 1:
            return self.arguments
        return [sim_object(word) if word.endswith(".o") and os.path.exists(sim_object(word)) else word
                for word in self.arguments]


def sim_object(name):
    base, suffix = os.path.splitext(name)
    return base + ".sim" + (suffix or ".o")


def compiler(context, request):
    cxx = any(word.endswith(CXX_SUFFIXES) for word in request.inputs)
    override = os.environ.get("ORRERY_CXX" if cxx else "ORRERY_CC")
    return override.split() if override else context.words("cxx" if cxx else "cc")


def common_flags(context):
    return ["-I" + path for path in context.paths["include"]] + context.words("hwloc_cflags") + ["-pthread"]


def real_command(context, request):
    command = compiler(context, request) + common_flags(context)
    if context.has("mpi"):
        # C++ programs use MPI's C interface; the C++ one would need a library of its own
        command += context.words("mpi_cppflags") + ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    command += context.words("sanitize") + request.arguments_for("real")
    if request.links:
        lib = context.paths["lib"]
        command += ["-L" + lib, "-Wl,-rpath," + lib, "-Wl,--no-as-needed"]
        if context.has("mpi"):
            command += ["-lorrery-mpi", "-lorrery"] + context.words("mpi_libs")
        else:
            command += ["-lorrery"]
        command += ["-lm"]
    return command


def sim_command(context, request):
    if not context.has("simgrid"):
        raise UserError("this Orrery was built without SimGrid; configure it again with SimGrid 3.32 installed")
    command = compiler(context, request) + ["-fPIC", "-DSMPI_NO_OVERRIDE_MALLOC", "-include", "smpi/smpi_helpers.h"]
    command += ["-I" + context.settings["smpi_include"]] + context.words("simgrid_cppflags")
    command += common_flags(context) + context.words("sanitize") + request.arguments_for("sim")
    if request.links:
        lib = context.paths["lib"]
        # The launcher enters by smpi_simulated_main_; -Bsymbolic keeps each copy's globals its own.
        command += ["-shared", "-Wl,--defsym=smpi_simulated_main_=main", "-Wl,-Bsymbolic"]
        if not any("clang" in word for word in command[:1]) or not context.settings["sanitize"]:
            command += ["-Wl,-z,defs"]
        command += ["-L" + lib, "-Wl,-rpath," + lib, "-Wl,--no-as-needed", "-lorrery-sim"] + context.words("simgrid_libs") + ["-lm"]
    return command


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    request = Request(arguments)
    for world in request.worlds:
        command = real_command(context, request) if world == "real" else sim_command(context, request)
        output = request.output_for(world)
        if output:
            command += ["-o", output]
        if request.show:
            print(" ".join(command))
            continue
        try:
            status = subprocess.call(command)
        except FileNotFoundError:
            raise UserError("the compiler %s is not there; install it or set ORRERY_CC" % command[0])
        if status:
            return status if status > 0 else 1
    return 0
