# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery cc`: a compiler for either world, on top of the one that Orrery was
# built with. It can take the compiler's place in any build system (CC="orrery cc
# --sim", or its other names orrery-sim-cc, orrery-sim-c++ and orrery-sim-fc). A
# program for the real world is an executable; one for the simulated world is a
# shared object that the launcher loads once per rank.
# Invariant: the user's arguments are passed on in their order; ours come before
# them (include paths) and after them (libraries). A call that compiles and links
# nothing is passed on as it is.
import os
import re
import shlex
import subprocess
import sys

from orrery_cli import UserError, exec_program

HELP = """usage: orrery cc [--sim | --both] [--cxx | --fc] [--elastic] [--show] [compiler arguments]

Compiles and links a program with Orrery for the real world (default), the
simulated one (--sim), or both (--both).

  orrery cc app.c -o app               app for `orrery run`
  orrery cc --sim app.c -o app.sim     app.sim for `orrery sim`
  orrery cc --both app.c -o app        app and app.sim
  orrery cc --both -c part.c           part.o and part.sim.o; link them with
  orrery cc --both part.o -o app       (--both takes part.sim.o for app.sim)
  orrery fc --both app.f90 -o app      the same for Fortran: orrery cc --fc

  --cxx, --fc   the compiler for C++ or Fortran, whatever the sources are
  --elastic     for programs with process sets that grow and shrink, which may
                include only mpi.h
  --show        print the commands instead of running them

All other arguments go to the compiler, which is $ORRERY_CC ($ORRERY_CXX for
C++ sources, $ORRERY_FC for Fortran) or else the one that Orrery was built with.

For a build system, orrery-sim-cc, orrery-sim-c++ and orrery-sim-fc are the same
as orrery cc --sim, orrery cc --sim --cxx and orrery cc --sim --fc:
  CC=orrery-sim-cc ./configure         CC=orrery-sim-cc cmake ..
"""
SUFFIXES = {
    "cxx": (".cc", ".cpp", ".cxx", ".C", ".c++", ".cp", ".CPP", ".hpp", ".hh", ".ii"),
    "fc": (".f", ".F", ".for", ".FOR", ".f90", ".F90", ".f95", ".F95", ".f03", ".F03", ".f08", ".F08"),
}
LANGUAGES = {"c++": "cxx", "c++-header": "cxx", "c++-cpp-output": "cxx", "f77": "fc", "f95": "fc",
             "f77-cpp-input": "fc", "f95-cpp-input": "fc"}
VARIABLES = {"cc": "ORRERY_CC", "cxx": "ORRERY_CXX", "fc": "ORRERY_FC"}
NO_LINK = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"}
# Options whose value is the next word.
WITH_VALUE = {"-o", "-I", "-D", "-U", "-L", "-l", "-x", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix",
              "-iwithprefix", "-iwithprefixbefore", "-isysroot", "-imultilib", "-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler",
              "-Xpreprocessor", "-Xclang", "-T", "-u", "-z", "-e", "-h", "-A", "-J", "-B", "--param", "-aux-info", "-dumpdir",
              "-dumpbase", "-dumpbase-ext", "-wrapper", "-target", "--sysroot"}
QUERIES = ("-print-", "--print-", "-dumpm", "-dumpv", "-dumpf", "-dumps", "--version", "--help", "--target-help", "-qversion")
# A program for the simulated world is position-independent, whatever a build system asks of executables.
NOT_SIMULATED = {"-pie", "-no-pie", "-static-pie", "-fpie", "-fPIE", "-fno-pie", "-fno-PIE", "-fno-pic", "-fno-PIC", "-nopie"}
# Libraries of either world, also by the names that builds look for: each link takes those of its own world. Others
# than Orrery's own are dropped from simulated programs only.
OURS = ("orrery", "orrery-mpi", "orrery-sim", "orrery-dyn") + tuple(
    "starpu%s-1.%d" % (mpi, minor) for mpi in ("", "mpi") for minor in range(5))
RELOCATION = re.compile(r"\bR_[A-Z0-9]+_[A-Z0-9_]+\b")
REAL_MPI = ("mpi", "mpi_cxx", "mpi_mpifh", "mpi_usempif08", "mpi_usempi_ignore_tkr", "mpich", "mpicxx", "mpifort", "open-rte",
            "open-pal")


# By this word orrery-dyn.pc names the library, whatever the linker thinks that a program needs.
DYN_WORD = "-Wl,--push-state,--no-as-needed,-lorrery-dyn,--pop-state"


def expanded(arguments):
    """The arguments with those that stand in response files (@FILE)."""
    for word in arguments:
        if word.startswith("@") and os.path.isfile(word[1:]):
            with open(word[1:], encoding="utf-8", errors="surrogateescape") as stream:
                yield from expanded(shlex.split(stream.read()))
        else:
            yield word


def library_of(word):
    """The library that an argument of the linker names, without lib and suffix, or None."""
    if word.startswith("-l"):
        return word[2:]
    if word == DYN_WORD:
        return "orrery-dyn"
    base = os.path.basename(word)
    if base.startswith("lib") and not word.startswith("-"):
        for suffix in (".so", ".a", ".dylib"):
            if suffix in base:
                return base[3:base.index(suffix, 3)]
    return None


class Request:
    """The compiler arguments, and what we conclude from them."""

    def __init__(self, arguments):
        self.worlds = ["real"]
        self.show = self.elastic = False
        self.language = None
        self.arguments = []
        self.output = None
        words = iter(arguments)
        for word in words:
            if word in ("--sim", "--real"):
                self.worlds = [word[2:]]
            elif word == "--both":
                self.worlds = ["real", "sim"]
            elif word in ("--cxx", "--fc"):
                self.language = word[2:]
            elif word == "--show":
                self.show = True
            elif word == "--elastic":
                self.elastic = True
            elif word == "-o":
                self.output = next(words, None)
                if self.output is None:
                    raise UserError("-o needs a file name after it")
            elif word.startswith("-o") and len(word) > 2 and not word.startswith("-openmp"):
                self.output = word[2:]
            else:
                self.arguments.append(word)
        if not self.arguments:
            raise UserError("nothing to compile; give source files, for instance: orrery cc --both app.c -o app")
        self.study(list(expanded(self.arguments)))

    def study(self, words):
        self.mode = next((word for word in words if word in NO_LINK), None)
        self.shared = "-shared" in words
        self.renamed = any(word.startswith("-x") for word in words)  # -x LANGUAGE: the language of all files that follow
        self.inputs = []
        query = any(word.startswith(QUERIES) for word in words)
        language = None
        iterator = iter(words)
        for word in iterator:
            if word == "-x":
                language = LANGUAGES.get(next(iterator, ""), language)
            elif word in WITH_VALUE:
                next(iterator, None)
            elif word.startswith("-x") and word[2:] in LANGUAGES:
                language = LANGUAGES[word[2:]]
            elif word == "-" or not word.startswith("-"):
                self.inputs.append(word)
        self.compiles = bool(self.inputs) and not query and "-###" not in words
        self.links = self.compiles and not self.mode
        if not self.language:
            self.language = language or next(
                (name for name in SUFFIXES if any(word.endswith(SUFFIXES[name]) for word in self.inputs)), "cc")

    def output_for(self, world):
        """Name of the result, or None for the compiler's own choice."""
        if world == "real" or len(self.worlds) == 1:
            return self.output
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
        unwanted = OURS + REAL_MPI if world == "sim" else OURS
        words = [word for word in self.arguments if library_of(word) not in unwanted]
        if world == "real":
            return words
        words = [word for word in words if word not in NOT_SIMULATED]
        if len(self.worlds) == 1:
            return words
        return [sim_object(word) if word.endswith(".o") and os.path.exists(sim_object(word)) else word for word in words]


def sim_object(name):
    base, suffix = os.path.splitext(name)
    return base + ".sim" + (suffix or ".o")


def compiler(context, request):
    override = os.environ.get(VARIABLES[request.language])
    words = shlex.split(override) if override else context.words(request.language)
    if not words:
        raise UserError("no Fortran compiler was found when Orrery was configured; set ORRERY_FC")
    return words


def common_flags(context, request):
    flags = ["-I" + path for path in context.paths["include"]] + context.words("hwloc_cflags") + ["-pthread"]
    if request.elastic and request.language != "fc":
        flags += ["-include", "orrery_dyn.h"]
    return flags


def fortran_flags(context, request):
    """Where the modules fstarpu_mod and fstarpu_mpi_mod are."""
    return ["-I" + context.paths["modules"]] if request.language == "fc" and context.settings["fortran"] == "yes" else []


def elastic_modules(context, request, world):
    """Where the module mpi with process sets is; it takes the place of the MPI's."""
    if not request.elastic or request.language != "fc":
        return []
    if context.settings["fortran"] != "yes":
        raise UserError("--elastic needs a module for Fortran, which this Orrery was built without; configure it again with FC set")
    return ["-I" + context.paths["elastic"][world]]


def fortran_libs(context, request):
    return [context.paths["fstarpu"]] if request.language == "fc" and context.settings["fortran"] == "yes" else []


def real_command(context, request):
    if request.elastic and not context.has("mpi"):
        raise UserError("--elastic needs MPI, which this Orrery was built without; install an MPI and configure it again")
    command = compiler(context, request) + elastic_modules(context, request, "real")
    command += fortran_flags(context, request) + common_flags(context, request)
    if context.has("mpi") and request.language == "fc":
        command += context.words("mpi_fcflags") or context.words("mpi_cppflags")
    elif context.has("mpi"):
        # C++ programs use MPI's C interface; the C++ one would need a library of its own
        command += context.words("mpi_cppflags") + ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    command += context.words("sanitize") + request.arguments_for("real")
    if request.links:
        lib = context.paths["lib"]
        command += fortran_libs(context, request) + ["-L" + lib, "-Wl,-rpath," + lib, "-Wl,--no-as-needed"]
        if context.has("mpi"):
            words = context.words("mpi_fclibs") if request.language == "fc" else []
            command += ["-lorrery-dyn"] if request.elastic else []
            command += ["-lorrery-mpi", "-lorrery"] + (words or context.words("mpi_libs"))
        else:
            command += ["-lorrery"]
        command += ["-lm"]
    return command


def sim_link_flags(context, request):
    lib = context.paths["lib"]
    flags = ["@" + os.path.join(context.paths["data"], "sim", "launcher", "wrapped.flags")]
    if not request.shared:
        # -Bsymbolic keeps each copy's globals its own.
        flags += ["-x", "none"] if request.renamed else []
        flags += ["-shared", context.paths["start"], "-Wl,-Bsymbolic"]
        # Each copy has its own variables, and nothing of it is protected: they lie close together.
        flags += ["-Wl,-z,norelro", "-Wl,-z,noseparate-code"]
        if not context.settings["sanitize"]:
            flags += ["-Wl,-z,defs"]
    flags += fortran_libs(context, request) + ["-L" + lib, "-Wl,-rpath," + lib, "-Wl,--no-as-needed", "-lorrery-sim"]
    return flags + context.words("simgrid_libs") + ["-lm"]


def sim_command(context, request):
    if not context.has("simgrid"):
        raise UserError("this Orrery was built without SimGrid; configure it again with SimGrid 3.32 or 4.0 installed")
    command = compiler(context, request) + elastic_modules(context, request, "sim") + fortran_flags(context, request)
    command += ["-fPIC", "-I" + context.paths["sim_include"], "-I" + context.settings["smpi_include"]]
    command += context.words("simgrid_cppflags") + common_flags(context, request)
    command += context.words("sanitize") + request.arguments_for("sim")
    return command + sim_link_flags(context, request) if request.links else command


def command_for(context, request, world):
    if not request.compiles:
        command = compiler(context, request) + request.arguments
    else:
        command = real_command(context, request) if world == "real" else sim_command(context, request)
    output = request.output_for(world)
    return command + ["-o", output] if output else command


def not_independent(text):
    """The objects of which a linker says that they hold code for executables only, "library(member)" as it names them."""
    lines = (line for line in text.splitlines() if RELOCATION.search(line) and "-fPIC" in line)
    return sorted({name for line in lines for name in re.findall(r"[^\s:]+\.(?:o|a\([^)]*\)|lo|obj)(?=:)", line)})


def link_simulated(command):
    """Links a program for the simulated world. Its status; a message if an object cannot be part of a shared object."""
    if sys.stderr.isatty() and not any("-diagnostics-color" in word for word in command):
        command = command + ["-fdiagnostics-color=always"]
    said = []
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        for line in process.stderr:
            sys.stderr.buffer.write(line)
            sys.stderr.flush()
            said.append(line.decode(errors="replace"))
    names = not_independent("".join(said)) if process.returncode else []
    if names:
        raise UserError("%s was compiled without -fPIC, and a program for the simulated world is a shared object; "
                        "compile it again with -fPIC (CFLAGS=-fPIC, or CC=\"orrery cc --sim\"), or link the shared library "
                        "instead of the static one" % ", ".join(names))
    return process.returncode if process.returncode >= 0 else 1


def call(request, world, command):
    if world == "sim" and request.links:
        return link_simulated(command)
    return subprocess.call(command)


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    request = Request(arguments)
    worlds = request.worlds if request.compiles else request.worlds[-1:]
    commands = [command_for(context, request, world) for world in worlds]
    if request.show:
        print("\n".join(" ".join(command) for command in commands))
        return 0
    try:
        for world, command in zip(worlds[:-1], commands):
            status = call(request, world, command)
            if status:
                return status if status > 0 else 1
        if worlds[-1] == "sim" and request.links:
            return call(request, "sim", commands[-1])
        exec_program(commands[-1])
    except FileNotFoundError as error:
        raise UserError("the compiler %s is not there; install it or set %s" % (error.filename, VARIABLES[request.language]))
