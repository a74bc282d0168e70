# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the command lines of the README and the manual, in a folder for each page, and compares what
# they print with what the page says that they print. Usage:
#     manual.py SOURCE-DIRECTORY BUILD-DIRECTORY [PAGE]...
# Each fault is one line on standard output; exit status 1 if there is any.
#
# Invariant: each block of code of each page is run, or compared, or stands in a table below with the
# reason why not. A line of the tables that fits no block is a fault, too, so they cannot grow old.
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

# Pages without command lines that would be read as some.
NO_PAGES = {"doc/interface.md", "doc/mpi_chapter.md"}
# Pages that a test of their own runs, where there are several hosts.
PAGES_ELSEWHERE = {"doc/cluster.md": "tests/hosts/cluster_chapter.sh"}
COMMAND = re.compile(r'(?:\$ |[A-Z_]+=(?:"[^"]*"|\S*) )*(?:orrery|\./quickstart|\./autogen|make|printf|python3|mpirun|for |pj_dump|vite |otf2-print|orrery-sim-cc|examples/|\./cholesky|CC=)')

LONGEST = 60 * int(os.environ.get("ORR_TEST_FACTOR", 1))  # seconds for one block

# What a page's folder has before its first block.
COMMON = "cp $SRC/tests/tools/manual_app.c app.c; orrery cc --both app.c -o app; orrery sim -n 4 --trace A app.sim; orrery sim -n 4 --trace B app.sim -size 100000"
APP = "cp ../common/app.c ."
BUILT = "cp ../common/* ."
EXAMPLE = "for f in %s; do cp $BUILD/examples/$f/$f.sim .; if [ -e $BUILD/examples/$f/$f ]; then cp $BUILD/examples/$f/$f .; fi; done"
BEFORE = {
    "README.md": APP,
    "doc/cluster.md": EXAMPLE % "cholesky",
    "doc/devices.md": "ln -s $BUILD/examples examples",
    "doc/dynamic.md": "cp $SRC/examples/elastic_loop/elastic_loop.c $SRC/examples/stencil_lb/stencil_lb.c .; "
    "sed 's,\"\\.\\./,\"'$SRC'/examples/,' $SRC/examples/stencil_lb/stencil_lb.c > stencil_lb.c; cp stencil_lb.c program.c; printf 'at 0.2 grow 1\\n' > FILE; " + EXAMPLE % "cholesky stencil_lb",
    "doc/fidelity.md": EXAMPLE % "cholesky" + '; ln -s "${ORR_PERFMODELS_SAMPLES:-none}" DIR',
    "doc/from-starpu.md": "cp $SRC/examples/fortran/ring.f90 app.f90",
    "doc/getting-started.md": APP,
    "doc/machines.md": BUILT,
    "doc/mpi.md": "cp $SRC/examples/vector_scal/vector_scal.c .; orrery cc --both -I$SRC/examples/vector_scal vector_scal.c -o app; " + EXAMPLE % "cholesky",
    "doc/noise.md": EXAMPLE % "cholesky",
    "doc/report.md": BUILT,
    "doc/running.md": BUILT,
    "doc/simulating.md": APP + "; " + EXAMPLE % "cholesky",
    "doc/statistics.md": BUILT + "; cp app program",
    "doc/trace-forms.md": BUILT + "; cp app program; mv A FILE",
    "doc/trace-tables.md": BUILT + "; mv A FILE",
    "doc/troubleshooting.md": BUILT,
    "doc/why-slow.md": EXAMPLE % "cholesky",
}

# (page, how a block begins): what makes the run shorter, or fit for any machine: (pattern, replacement)...
SHORTER = {
    ("doc/cluster.md", "orrery calibrate"): [("orrery calibrate", "orrery calibrate --rounds 3")],
    ("doc/dynamic.md", "printf 'at 0.5"): [("--niter 400", "--niter 20"), ("at 3 shrink", "at 1.5 shrink")],
    ("doc/dynamic.md", "orrery cc --elastic program.c"): [(r"\./program", "./program --elastic -b 1000 --niter 200")],
    ("doc/simulating.md", "orrery sim -n 1024"): [("1024", "64"), ("-nt 128", "-nt 32")],
    ("doc/noise.md", "for policy in"): [("eager dmda lws dmdas", "dmdas")],
    ("doc/running.md", "orrery run ./app"): [(r"--host a,b", "--host localhost,localhost")],
    ("doc/troubleshooting.md", "ORR_SIM_KEEP_COPIES"): [("gdb --args", "gdb -batch -x gdb-commands --args")],
    ("doc/statistics.md", "orrery scaling --sim"): [("orrery scaling", "orrery scaling --nodes 1,4 --ranks 1,2")],
    ("doc/getting-started.md", "orrery scaling app"): [("orrery scaling", "orrery scaling --nodes 1,4 --ranks 1,2")],
}

# (page, how a block begins): what has to be done before it.
FIRST = {
    ("doc/machines.md", "STARPU_CALIBRATE=1 STARPU_PERF_MODEL_DIR=$PWD/machines/two"): "mkdir -p machines/two/bus; "
    "for f in machines/mine/bus/*; do for r in rank0 rank1; do cp $f machines/two/bus/$r.${f##*.}; done; done",
    ("doc/troubleshooting.md", "ORR_SIM_KEEP_COPIES"): "printf 'set breakpoint pending on\\nbreak cpu_add\\nrun\\nbacktrace\\nkill\\n' > gdb-commands",
}

# (page, how a block begins): the file of a program.
PROGRAMS = {
    ("README.md", "#include <starpu.h>"): "scale.c",
    ("doc/getting-started.md", "#include <starpu.h>"): "scale.c",
    ("doc/recipes.md", "#include <starpu.h>"): "converge.c",
    ("doc/statistics.md", "#include <starpu_profiling_tool.h>"): "tool.c",
}

# (page, how a block begins): the command that prints it; None: the commands before it did. Numbers may
# differ, unless the block is in EXACT: virtual times are the same everywhere.
OUTPUTS = {
    ("doc/noise.md", "makespan of cholesky.sim"): None,
    ("doc/statistics.md", "# time_us rank"): "orrery trace A --text | head -n 1",
    ("doc/troubleshooting.md", "orrery sim: nothing can"): "orrery sim -n 512 app.sim -forget",
    ("doc/troubleshooting.md", "[orrery][0] error: nothing"): "orrery run -n 4 ./app -forget",
    ("doc/troubleshooting.md", "[orrery] error: rank 1: task"): "orrery run -n 2 ./app -crash",
}
EXACT = {("doc/noise.md", "makespan of cholesky.sim"), ("doc/statistics.md", "# time_us rank"), ("doc/troubleshooting.md", "orrery sim: nothing can")}

# (page, how a block begins): the test that runs it, or why nothing can.
ELSEWHERE = {
    ("README.md", "./quickstart"): "tests/tools/quickstart.sh",
    ("doc/getting-started.md", "./quickstart"): "tests/tools/quickstart.sh",
    ("doc/getting-started.md", "./autogen.sh"): "tests/tools/bootstrap.sh",
    ("doc/getting-started.md", "find_package(Orrery"): "tests/tools/builds.sh",
    ("doc/getting-started.md", "cmake -S . -B build"): "tests/tools/builds.sh",
    ("doc/cluster.md", "./autogen.sh"): "tests/tools/bootstrap.sh",
    ("doc/cluster.md", "ssh-keygen"): "it needs the sshd of hosts",
    ("doc/cluster.md", "DEFECT limits"): "tests/hosts/doctor.sh",
    ("doc/devices.md", "CUDA 0 (NVIDIA"): "it needs a device of NVIDIA's",
    ("doc/fidelity.md", "make fidelity "): "tests/tools/fidelity.sh",
    ("doc/fidelity.md", "program   size"): "tests/tools/fidelity.sh",
    ("doc/fidelity.md", "graph     size"): "tests/hosts/fidelity.sh",
    ("doc/fidelity.md", "program                  cases"): "tests/bench/sim_network.sh",
    ("doc/from-starpu.md", "CC=orrery-sim-cc"): "tests/tools/projects.sh",
    ("doc/machines.md", "orrery calibrate --kernels"): "tests/tools/calibrate_kernels.sh",
    ("doc/malleable.md", "orrery cc --elastic"): "it takes five minutes; tests/tools/pictures.sh runs its script",
    ("doc/malleable.md", "python3 doc/malleable.py --starts"): "it takes five minutes; tests/tools/pictures.sh runs its script",
    ("doc/packages.md", "dpkg-buildpackage"): "it takes five minutes",
    ("doc/packages.md", "dpkg --add-architecture arm64"): "it installs a cross compiler and packages of another processor",
    ("doc/packages.md", "build-aux/packages"): "it takes a quarter of an hour",
    ("doc/packages.md", "spack"): "Debian has no Spack",
    ("doc/packages.md", "podman"): "it fetches an image",
    ("doc/packages.md", "build-aux/compare-abi"): "tests/headers/abi.sh",
    ("doc/running.md", "#!/bin/sh"): "it needs a cluster",
    ("doc/dynamic.md", "#!/bin/sh"): "tests/hosts/slurm_elastic.sh",
    ("doc/running.md", "# 2 ranks on"): "tests/tools/run_jobs.sh",
    ("doc/statistics.md", "orrery top "): "tests/tools/top.sh",
    ("doc/statistics.md", "make scaling"): "tests/tools/scaling.sh",
    ("doc/statistics.md", "program   kind"): "tests/tools/scaling.sh",
    ("doc/mpi.md", "rank 3 waits for tag 42"): "tests/mpi/failures.sh",
    ("doc/troubleshooting.md", "[orrery] rank 0: signal SIGINT"): "tests/core/caught.sh",
    ("doc/troubleshooting.md", "[orrery][0] error: lost"): "tests/hosts/lost.sh",
}
# (page, how a block begins): blocks that `make check-long` runs (ORR_MANUAL=all).
LONG = {
    ("doc/noise.md", "for policy in"): "20 s",
    ("doc/noise.md", "makespan of cholesky.sim"): "what it prints",
    ("doc/machines.md", "orrery calibrate"): "22 s",
    ("doc/machines.md", "STARPU_CALIBRATE=1 STARPU_PERF_MODEL_DIR=$PWD/machines/two"): "it needs the former",
    ("doc/statistics.md", "orrery scaling --sim"): "18 s",
}
# (page, how a block begins): what must be there; otherwise the block is left out, with a word.
COMES_AND_GOES = '[ "${ORR_TEST_MPI_LIBRARY:-openmpi4}" = openmpi4 ]'  # processes do, with this MPI alone
NEEDS = {
    ("doc/devices.md", "STARPU_OPENCL"): '[ "$ORR_TEST_OPENCL" = yes ]',
    ("doc/dynamic.md", "orrery cc --elastic --both elastic_loop.c"): COMES_AND_GOES,
    ("doc/dynamic.md", "orrery cc --elastic program.c"): COMES_AND_GOES,
    ("doc/dynamic.md", "printf 'at 0.5 grow 2"): COMES_AND_GOES,
    ("doc/fidelity.md", "orrery platform"): '[ -n "$ORR_PERFMODELS_SAMPLES" ]',
    ("doc/from-starpu.md", "orrery fc"): '[ "$ORR_TEST_FORTRAN" = yes ]',
    ("doc/report.md", "orrery sim -n 64 --trace"): "${PYTHON:-python3} -c 'import numpy'",
    ("doc/report.md", "orrery report --compare"): "${PYTHON:-python3} -c 'import numpy'",
    ("doc/trace-forms.md", "orrery trace FILE --paje"): "${PYTHON:-python3} -c 'import otf2'",
    ("doc/trace-forms.md", "pj_dump"): "command -v pj_dump",
    ("doc/trace-forms.md", "QT_QPA_PLATFORM"): "command -v vite",
    ("doc/trace-forms.md", "otf2-print"): "command -v otf2-print",
    ("doc/troubleshooting.md", "ORR_SIM_KEEP_COPIES"): "command -v gdb",
}
# Blocks that show a part of a program, a formula, a format of a file, or a query (tests/tools/trace_tables.sh asks those).
PART = re.compile(r"(?:rule = |starpu_mpi_wait_for_all|int t = 0|starpu_mpi_lb_init|starpu_mpi_checkpoint_init|expected end \+|cuda0 5375|# measured by|disk_read |contention 1|tasks = pandas|SELECT )")

faults = []


def fault(page, line, text):
    faults.append("%s:%d: %s" % (page, line, text))


def blocks(text):
    """(number of the first line, lines) of each block of code."""
    current, fenced, before = None, False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
            if not fenced:
                yield current
            current = (number + 1, []) if fenced else None
        elif fenced:
            current[1].append(line)
        elif line.startswith("    ") and (current or not before.strip()):
            current = current or (number, [])
            current[1].append(line[4:])
        elif not line.strip() and current:
            current[1].append("")
        elif current:
            yield current
            current = None
        before = line
    if current:
        yield current


def looks_up(table, page, text):
    for key in table:
        if key[0] == page and text.startswith(key[1]):
            used.add((id(table), key))
            return True, table[key]
    return False, None


used = set()
done = set()  # (what the folder had, command lines) that ran


def masked(text, exact):
    """The lines of an output, without what differs from place to place."""
    for line in text.splitlines():
        line = re.sub(r"\S*/app(\.sim)?\b", "app", line)
        line = line if exact else re.sub(r"[-+]?[0-9][0-9.,e]*(?:\+[0-9]+)?", "#", line)
        line = line.replace("# to #", "#")  # of several values, which may be equal
        if line.strip():
            yield " ".join(line.split())


class Page:
    def __init__(self, source, build, page):
        self.page, self.source, self.build, self.last = page, source, build, ""
        self.folder = os.path.abspath(re.sub(r"^doc_|_md$", "", re.sub(r"\W", "_", page)))
        self.env = dict(os.environ, SRC=source, BUILD=build, PATH=build + os.pathsep + os.environ["PATH"])
        # Four ranks on any number of cores.
        self.env.update(OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)

    def shell(self, line, text, may_fail=False):
        began = time.time()
        run = subprocess.Popen(["bash", "-e", "-o", "pipefail", "-c", text], cwd=self.folder, env=self.env, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        try:
            printed, status = run.communicate(timeout=LONGEST)[0], run.returncode
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            printed, status = run.communicate()[0], "none after %d s" % LONGEST
        print("%5.1f s  %s:%d  %s" % (time.time() - began, self.page, line, text.splitlines()[0]), flush=True)
        if status and not may_fail:
            print(printed)
            fault(self.page, line, "status %s of: %s" % (status, text))
        return printed

    def compare(self, line, text, printed, exact):
        there = set(masked(printed, exact))
        for row in masked(text, exact):
            if row not in there:
                print(printed)
                fault(self.page, line, "nothing printed: %s" % row)
                return

    def leave_out(self, text):
        """Marks the entries of a block that is not run here as used."""
        for table in (SHORTER, FIRST, OUTPUTS):
            looks_up(table, self.page, text)

    def block(self, line, text):
        found, why = looks_up(ELSEWHERE, self.page, text)
        if found:
            path = why.split(" runs ")[0].split("; ")[-1]
            if path.startswith("tests/") and not os.path.exists(os.path.join(self.source, path)):
                fault(self.page, line, "there is no %s" % path)
            return
        if looks_up(LONG, self.page, text)[0] and os.environ.get("ORR_MANUAL") != "all":
            self.leave_out(text)
            return
        found, test = looks_up(NEEDS, self.page, text)
        if found and subprocess.run(["sh", "-c", test], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            print("not here: %s:%d  %s" % (self.page, line, text.splitlines()[0]))
            self.leave_out(text)
            return
        found, file = looks_up(PROGRAMS, self.page, text)
        if found:
            with open(os.path.join(self.folder, file), "w", encoding="utf-8") as f:
                f.write(text)
            return
        found, command = looks_up(OUTPUTS, self.page, text)
        if found:
            printed = self.last if command is None else self.shell(line, command, may_fail=True)
            self.compare(line, text, printed, any(k[0] == self.page and text.startswith(k[1]) for k in EXACT))
            return
        if PART.match(text):
            if re.search(r"^orrery ", text, re.M):
                fault(self.page, line, "a part of a program, and a command: write a sentence between them")
            return
        if not COMMAND.match(text):
            fault(self.page, line, "tests/tools/manual.py does not know what this block is: %s" % text.splitlines()[0])
            return
        self.commands(line, text)

    def commands(self, line, text):
        shown = ""
        if text.startswith("$ "):
            rows = text.splitlines()
            shown = "\n".join(r for r in rows if not r.startswith("$ "))
            text = "\n".join(r[2:] for r in rows if r.startswith("$ "))
        text = "\n".join(r for r in text.splitlines() if not r.startswith("(gdb) "))
        _found, first = looks_up(FIRST, self.page, text)
        if first:
            self.shell(line, first)
        _found, shorter = looks_up(SHORTER, self.page, text)
        for pattern, replacement in shorter or ():
            if not re.search(pattern, text):
                fault(self.page, line, "tests/tools/manual.py replaces %s, which is not there" % pattern)
            text = re.sub(pattern, replacement, text)
        same = (BEFORE.get(self.page), text)
        if same in done:
            print("as before  %s:%d  %s" % (self.page, line, text.splitlines()[0]))
            return
        done.add(same)
        self.last = self.shell(line, text.replace(" ... ", " "))
        if shown:
            self.compare(line, shown, self.last, False)


def main():
    source, build = (os.path.abspath(p) for p in sys.argv[1:3])
    pages = ["README.md"] + sorted(os.path.relpath(p, source) for p in glob.glob(os.path.join(source, "doc/*.md")))
    pages = [p for p in pages if p not in NO_PAGES]
    Page(source, build, "common").shell(1, COMMON)
    for page in pages:
        if page not in sys.argv[3:] if sys.argv[3:] else page in PAGES_ELSEWHERE:
            continue
        with open(os.path.join(source, page), encoding="utf-8") as file:
            found = [(n, "\n".join(lines).rstrip() + "\n") for n, lines in blocks(file.read())]
        if not found:
            continue
        one = Page(source, build, page)
        if page in BEFORE:
            one.shell(1, BEFORE[page])
        for line, text in found:
            one.block(line, text)
    here = [p for p in sys.argv[3:] if p in PAGES_ELSEWHERE] if sys.argv[3:] else [p for p in pages if p not in PAGES_ELSEWHERE]
    if here:
        for table in (SHORTER, FIRST, PROGRAMS, OUTPUTS, ELSEWHERE, LONG, NEEDS):
            for key in table:
                if (id(table), key) not in used and (key[0] in here or key[0] not in pages):
                    fault(key[0], 1, "tests/tools/manual.py names a block that is not there: %s" % key[1])
    for page, test in PAGES_ELSEWHERE.items():
        if not sys.argv[3:] and not os.path.exists(os.path.join(source, test)):
            fault(page, 1, "there is no %s" % test)
    for text in faults:
        print("fault: " + text)
    sys.exit(1 if faults else 0)


main()
