# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `make fidelity`: how far predictions are from this machine. Calibrates it, then runs Cholesky, LU and a stencil for real and
# simulated, on one node and on several ranks, and compares the times of the task graph. doc/fidelity.md explains the method.
# Invariant: a prediction is made of kernels, costs of the runtime and messages that were measured in other runs than those that
# it is compared with; makespans are only compared.
import argparse
import csv
import itertools
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

DISTURBED, TRIES = 0.02, 4  # share of the machine that others may use during a run before it is repeated; and how often
# Per cent: median, worst absolute error. "submission" is what no bar was set for: the runtime takes longer than the kernels.
BARS = {"node": (5.0, 15.0), "ranks": (10.0, None), "submission": (None, None)}
TITLES = {"node": "one node", "ranks": "several ranks", "submission": "bound by submission"}


class Case:
    """One line of the table: a program of one size on some workers or ranks."""

    def __init__(self, program, size, args, calibration, ranks=1, workers=1):
        self.program, self.size, self.args, self.calibration = program, size, args.split(), calibration
        self.ranks, self.workers = ranks, workers
        self.real, self.simulated = [], []

    @property
    def kind(self):
        if (self.program, self.size) in [what[:2] for what in SUBMISSION]:
            return "submission"
        return "node" if self.ranks == 1 else "ranks"

    @property
    def error(self):
        return 100 * (statistics.median(self.simulated) / statistics.median(self.real) - 1)

    def where(self):
        if self.ranks == 1:
            return "%d worker%s" % (self.workers, "s" if self.workers > 1 else "")
        return "%d ranks" % self.ranks


def cholesky(nt, b, calibrate_nt):
    return ("cholesky", "%d x %d" % (nt, b), "-nt %d -b %d" % (nt, b), ("cholesky", "-nt %d -b %d" % (calibrate_nt, b)))


def lu(nt, b, calibrate_nt):
    return ("lu", "%d x %d" % (nt, b), "-nt %d -b %d" % (nt, b), ("lu", "-nt %d -b %d" % (calibrate_nt, b)))


def stencil(n, b, niter, calibrate_niter):
    shape = "-nx %d -ny %d -b %d --niter " % (n, n, b)
    return ("stencil", "%d x %d, %d it." % (n, b, niter), shape + str(niter), ("stencil", shape + str(calibrate_niter)))


# The data of a calibration are slightly more than what is predicted from it: they fit into the same caches.
NODE = [cholesky(16, 128, 18), cholesky(8, 256, 10), cholesky(14, 256, 16), lu(12, 128, 14), lu(6, 256, 7), lu(11, 256, 12),
        stencil(8, 128, 200, 50), stencil(8, 256, 60, 20), stencil(6, 512, 40, 10)]
RANKS = [cholesky(16, 128, 18), cholesky(8, 256, 10), cholesky(14, 256, 16), lu(12, 128, 14), lu(11, 256, 12),
         stencil(8, 128, 200, 50), stencil(8, 256, 60, 20)]
SUBMISSION = [stencil(32, 8, 40, 10), stencil(16, 16, 150, 40), cholesky(40, 8, 30)]
TINY_NODE = [cholesky(4, 16, 5), lu(4, 16, 5), stencil(3, 16, 6, 4)]


def cases_of(options):
    node, ranks = (TINY_NODE, TINY_NODE) if options.tiny else (NODE + SUBMISSION, RANKS)
    cases = [Case(*what, workers=w) for what in node for w in options.workers]
    cases += [Case(*what, ranks=n) for what in ranks for n in options.ranks]
    return [c for c in cases if not options.only or re.search(options.only, "%s %s %s" % (c.program, c.size, c.where()))]


def busy_seconds():
    """CPU time that the whole machine has used, what a hypervisor took away included."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _iowait, irq, softirq, steal = (int(w) for w in file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))


class Bench:
    """The commands of a build tree, and the folder that all measurements go to."""

    def __init__(self, options):
        self.build, self.folder, self.options = os.path.abspath(options.build), os.path.abspath(options.output), options
        self.orrery = os.path.join(self.build, "orrery")
        self.cores = len(os.sched_getaffinity(0))
        self.runs = self.disturbed = 0

    def run(self, command, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("STARPU_", "ORRERY_"))}
        env.update(OPENBLAS_NUM_THREADS="1", STARPU_HOME=self.folder, **{k: str(v) for k, v in variables.items()})
        result = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode:
            sys.stderr.write(result.stdout + result.stderr)
            raise SystemExit("fidelity: exit status %d of: %s" % (result.returncode, " ".join(command)))
        return result.stdout

    def undisturbed(self, action):
        """Does the action again while other programs use the machine too much; returns what it did when they did least."""
        best, least = None, None
        for _ in range(TRIES):
            start, busy, own = time.time(), busy_seconds(), own_seconds()
            result = action()
            others = busy_seconds() - busy - (own_seconds() - own)
            share = max(others, 0) / (os.cpu_count() * (time.time() - start))
            if least is None or share < least:
                best, least = result, share
            if least < DISTURBED:
                break
        self.runs += 1
        self.disturbed += least >= DISTURBED
        return best

    def program(self, name):
        return os.path.join(self.build, "examples", name, name)

    def seconds(self, command, **variables):
        text = self.run(command, **variables)
        found = re.search(r"\btime_s=([0-9.]+)", text)
        if not found:
            raise SystemExit("fidelity: no time_s= in the output of: %s" % " ".join(command))
        return float(found.group(1))

    def real(self, ranks, workers, program, args, **variables):
        return self.seconds([self.orrery, "run", "-n", str(ranks), self.program(program)] + args, STARPU_NCPU=workers, **variables)

    def calibrate_runtime(self):
        self.run([self.orrery, "calibrate", "-o", os.path.join(self.folder, "runtime"), "--name", "w"])

    def calibrate_network(self):
        for n in self.options.ranks:
            self.run([self.orrery, "calibrate", "--network", "-o", self.folder, "--name", "net%d" % n, "-n", str(n), "--shared"])

    def new_machines(self, place, names):
        """A machine directory with what was measured of the runtime, and no kernels yet, for machines of these names."""
        bus = os.path.join(place, "bus")
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(bus)
        for name, suffix in itertools.product(names, ("config", "bandwidth", "latency", "affinity", "costs")):
            shutil.copy(os.path.join(self.folder, "runtime", "bus", "w." + suffix), os.path.join(bus, "%s.%s" % (name, suffix)))

    def calibrate_kernels(self, round_number, ranks, workers, program, args):
        """The machines whose kernels are those of one run, one for each rank: kernels take longer when other cores are busy, and again when
        tiles come from other ranks instead of a shared cache, and cores of one computer are not equally fast at any moment."""
        tries = itertools.count()

        def one():
            place = "round%d/%s/r%dw%d/try%d" % (round_number, re.sub("[^a-z0-9]+", "-", program + args), ranks, workers, next(tries))
            place, names = os.path.join(self.folder, place), ["rank%d" % i for i in range(ranks)]
            self.new_machines(place, names)
            self.real(ranks, workers, program, args.split(), STARPU_CALIBRATE=1, STARPU_MPI_HOSTNAMES=" ".join(names),
                      STARPU_PERF_MODEL_DIR=place, STARPU_HISTORY_MAX_ERROR=1000000)
            return ",".join(os.path.join(place, name) for name in names)

        return self.undisturbed(one)

    def calibration_of(self, case):
        """Ranks, workers, program and arguments of the run that measures its kernels."""
        return (case.ranks, case.workers) + case.calibration

    def simulate(self, machine, case):
        command = [self.orrery, "sim", "-n", str(case.ranks), "--kernels", "skip", "--machine", machine]
        if case.ranks > 1:
            command += ["--platform", os.path.join(self.folder, "net%d.xml" % case.ranks)]
        return self.seconds(command + [self.program(case.program) + ".sim"] + case.args, STARPU_NCPU=case.workers,
                            STARPU_CALIBRATE_MINIMUM=1)


def measure(bench, cases, rounds, deadline):
    """Real and simulated runs in turn, so that a machine whose speed drifts does so for both."""
    bench.calibrate_runtime()
    for number in range(rounds):
        if number >= 3 and deadline and time.time() > deadline:
            sys.stderr.write("fidelity: the time is used up after %d rounds\n" % number)
            break
        machines = {}
        bench.calibrate_network()
        for case in cases:
            key = bench.calibration_of(case)
            if key not in machines:
                machines[key] = bench.calibrate_kernels(number, *key)
            case.real.append(bench.undisturbed(lambda c=case: bench.real(c.ranks, c.workers, c.program, c.args)))
            case.simulated.append(bench.simulate(machines[key], case))
        sys.stderr.write("fidelity: round %d of %d\n" % (number + 1, rounds))


def print_table(cases, out):
    line = "%-9s %-17s %-10s %10s %21s %10s %21s %8s\n"
    out.write(line % ("program", "size", "on", "real ms", "(least .. most)", "simul. ms", "(least .. most)", "error %"))
    for c in cases:
        spread = ["(%.2f .. %.2f)" % (min(x) * 1e3, max(x) * 1e3) for x in (c.real, c.simulated)]
        out.write(line % (c.program, c.size, c.where(), "%.2f" % (statistics.median(c.real) * 1e3), spread[0],
                          "%.2f" % (statistics.median(c.simulated) * 1e3), spread[1], "%+.1f" % c.error))


def write_csv(cases, path):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow("program size ranks workers runs real_median_s real_min_s real_max_s simulated_median_s simulated_min_s "
                      "simulated_max_s error_percent".split())
        for c in cases:
            numbers = [statistics.median(c.real), min(c.real), max(c.real), statistics.median(c.simulated), min(c.simulated),
                       max(c.simulated)]
            rows.writerow([c.program, c.size, c.ranks, c.workers, len(c.real)] + ["%.6f" % x for x in numbers] + ["%.2f" % c.error])


def judge(cases, bars, out):
    """True when every bar is kept."""
    good = True
    for kind, title in TITLES.items():
        errors = [abs(c.error) for c in cases if c.kind == kind]
        if not errors:
            continue
        found = (statistics.median(errors), max(errors))
        for what, value, bar in zip(("median", "worst"), found, bars[kind]):
            kept = math.isfinite(value) and (bar is None or value <= bar)
            good &= kept
            out.write("%s: %s absolute error %.1f %%%s\n" % (title, what, value, "" if bar is None else
                                                            " (bar: %g %%)%s" % (bar, "" if kept else " MISSED")))
    return good


def read_csv(path):
    """The lines of an earlier table, each with the three numbers that are shown of its runs."""
    cases = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            case = Case(row["program"], row["size"], "", None, int(row["ranks"]), int(row["workers"]))
            case.real = [float(row["real_%s_s" % k]) for k in ("min", "median", "max")]
            case.simulated = [float(row["simulated_%s_s" % k]) for k in ("min", "median", "max")]
            cases.append(case)
    return cases


def report(cases, bars):
    print_table(cases, sys.stdout)
    return 0 if judge(cases, bars, sys.stdout) else 1


def numbers(text):
    return [int(word) for word in text.split(",") if word]


def main():
    parser = argparse.ArgumentParser(description="Compares predictions with real runs on this machine.")
    parser.add_argument("--build", default=".", help="the build tree, after make (default: here)")
    parser.add_argument("--output", default="fidelity", help="folder for measurements and fidelity.csv (default: fidelity)")
    parser.add_argument("--rounds", type=int, default=7, help="real runs per line (default 7)")
    parser.add_argument("--minutes", type=float, default=8, help="begin no further round after that long, but do 3 (default 8)")
    parser.add_argument("--workers", type=numbers, default=[1, 2], help="numbers of workers on one node (default 1,2)")
    parser.add_argument("--ranks", type=numbers, default=[2, 4], help="numbers of ranks (default 2,4)")
    parser.add_argument("--only", help="only lines that match this expression")
    parser.add_argument("--tiny", action="store_true", help="sizes that only show that everything works")
    parser.add_argument("--bar", action="append", default=[], metavar="KIND=MEDIAN,WORST",
                        help="other bars in per cent, KIND being node or ranks")
    parser.add_argument("--judge", metavar="CSV", help="measure nothing, show and judge an earlier table")
    options = parser.parse_args()
    start, bars = time.time(), dict(BARS)
    for bar in options.bar:
        kind, _, values = bar.partition("=")
        bars[kind] = tuple(float(v) for v in values.split(","))
    if options.judge:
        return report(read_csv(options.judge), bars)
    bench = Bench(options)
    options.workers = [w for w in options.workers if w <= bench.cores]
    os.makedirs(options.output, exist_ok=True)
    cases = cases_of(options)
    if not cases:
        parser.error("no line of the table matches what is asked for")
    measure(bench, cases, options.rounds, start + 60 * options.minutes)
    write_csv(cases, os.path.join(options.output, "fidelity.csv"))
    status = report(cases, bars)
    print("%d real runs per line, %.0f s in all; others used more than %.0f %% of the machine during %d of %d runs"
          % (len(cases[0].real), time.time() - start, 100 * DISTURBED, bench.disturbed, bench.runs))
    return status


if __name__ == "__main__":
    sys.exit(main())
