# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `make fidelity`: how far predictions are from this machine. Calibrates it, then runs Cholesky, LU and a stencil for real and
# simulated, on one node and on several ranks, and compares the times of the task graph. doc/fidelity.md explains the method.
# Invariant: a prediction is made of kernels, costs of the runtime and messages that were measured in other runs than those that
# it is compared with; makespans are only compared.
import argparse
import csv
import importlib
import itertools
import math
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

SPLITS = 500  # of the real runs of a line into halves, at most
DISTURBED, TRIES = 0.02, 4  # share of the machine that others may use during a run before it is repeated; and how often
# Per cent: median, worst absolute error. "submission" is what no bar was set for: the runtime takes longer than the kernels.
BARS = {"node": (5.0, 15.0), "ranks": (10.0, None), "device": (10.0, None), "submission": (None, None)}
TITLES = {"node": "one node", "ranks": "several ranks", "device": "OpenCL device", "submission": "bound by submission"}
# A device of PoCL's computes on CPUs; only it executes the tasks of the graph.
DEVICE = {"STARPU_OPENCL_ON_CPUS": 1, "ORRERY_OPENCL_PARTS": 1}


def halves(n):
    """Ways to split n runs into two halves of the same size (the last of an odd number stays out), as lists of numbers; the same ones every
    time."""
    size, chance = n // 2, random.Random(n)
    if math.comb(n, size) <= SPLITS:
        for one in itertools.combinations(range(n), size):
            rest = [i for i in range(n) if i not in one]
            yield list(one), rest[:size]
        return
    for _ in range(SPLITS):
        order = chance.sample(range(n), n)
        yield order[:size], order[size:2 * size]


def noise_floor(seconds):
    """By how many per cent the medians of two halves of the runs differ, on average over the ways to split them; infinite for one run. A
    prediction that meets the truth is that wrong beside them."""
    if len(seconds) < 2:
        return math.inf
    differences = []
    for one, other in halves(len(seconds)):
        a, b = (statistics.median(seconds[i] for i in half) for half in (one, other))
        differences.append(200 * abs(a - b) / (a + b))
    return statistics.mean(differences)


class Case:
    """One line of the table: a program of one size on some workers or ranks."""

    def __init__(self, program, size, args, calibration, ranks=1, workers=1, device=False):
        self.program, self.size, self.args, self.calibration = program, size, args.split(), calibration
        self.device = device
        self.ranks, self.workers = ranks, workers
        self.real, self.simulated = [], []
        self.by_model = {}  # of the network: further predictions
        self.recorded_floor = None

    @property
    def floor(self):
        """The noise floor of the real runs, in per cent."""
        return noise_floor(self.real) if self.recorded_floor is None else self.recorded_floor

    @property
    def kind(self):
        if self.device:
            return "device"
        if (self.program, self.size) in [what[:2] for what in SUBMISSION]:
            return "submission"
        return "node" if self.ranks == 1 else "ranks"

    @property
    def error(self):
        return 100 * (statistics.median(self.simulated) / statistics.median(self.real) - 1)

    @property
    def absolute_error(self):
        return abs(self.error)

    def where(self):
        if self.device:
            return "OpenCL"
        if self.ranks == 1:
            return "%d worker%s" % (self.workers, "s" if self.workers > 1 else "")
        return "%d ranks" % self.ranks


def cholesky(nt, b, calibrate_nt):
    return ("cholesky", "%d x %d" % (nt, b), "-nt %d -b %d" % (nt, b), ("cholesky", "-nt %d -b %d" % (calibrate_nt, b)))


def lu(nt, b, calibrate_nt):
    return ("lu", "%d x %d" % (nt, b), "-nt %d -b %d" % (nt, b), ("lu", "-nt %d -b %d" % (calibrate_nt, b)))


def on_device(case):
    """The same, by devices only."""
    program, size, args, (_, calibration) = case
    return program, size, args + " --devices", (program, calibration + " --devices")


def stencil(n, b, niter, calibrate_niter):
    shape = "-nx %d -ny %d -b %d --niter " % (n, n, b)
    return ("stencil", "%d x %d, %d it." % (n, b, niter), shape + str(niter), ("stencil", shape + str(calibrate_niter)))


# The data of a calibration are slightly more than what is predicted from it: they fit into the same caches.
NODE = [cholesky(16, 128, 18), cholesky(8, 256, 10), cholesky(14, 256, 16), lu(12, 128, 14), lu(6, 256, 7), lu(11, 256, 12),
        stencil(8, 128, 200, 50), stencil(8, 256, 60, 20), stencil(6, 512, 40, 10)]
RANKS = [cholesky(16, 128, 18), cholesky(8, 256, 10), cholesky(14, 256, 16), lu(12, 128, 14), lu(11, 256, 12),
         stencil(8, 128, 200, 50), stencil(8, 256, 60, 20)]
SUBMISSION = [stencil(32, 8, 40, 10), stencil(16, 16, 150, 40), cholesky(40, 8, 30)]
DEVICES = [on_device(c) for c in (cholesky(12, 64, 14), cholesky(20, 64, 22), cholesky(12, 96, 14), stencil(6, 128, 60, 20),
                                   stencil(4, 256, 40, 20))]
TINY_DEVICES = [on_device(c) for c in (cholesky(4, 16, 5), stencil(3, 16, 6, 4))]
TINY_NODE = [cholesky(4, 16, 5), lu(4, 16, 5), stencil(3, 16, 6, 4)]


def has_device(options):
    """Is there an OpenCL device that computes on CPUs, and are there kernels for it?"""
    program = os.path.join(os.path.abspath(options.build), "examples", "stencil", "stencil")
    env = dict(os.environ, STARPU_NCPU="1", **{k: str(v) for k, v in DEVICE.items()})
    return not subprocess.run([program, "--devices", "-nx", "1", "-ny", "1"], env=env, check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode


def cases_of(options):
    node, ranks = (TINY_NODE, TINY_NODE) if options.tiny else (NODE + SUBMISSION, RANKS)
    cases = [Case(*what, workers=w) for what in node for w in options.workers]
    cases += [Case(*what, ranks=n) for what in ranks for n in options.ranks]
    if has_device(options):
        cases += [Case(*what, device=True) for what in (TINY_DEVICES if options.tiny else DEVICES)]
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

    def calibrate(self, *words, **variables):
        # One round is as good if accuracy does not matter.
        self.run([self.orrery, "calibrate"] + list(words) + (["--rounds", "1"] if self.options.tiny else []), **variables)

    def calibrate_runtime(self):
        device = os.path.join(self.folder, "device")
        if self.options.tiny and os.path.isdir(device):  # which says nothing about accuracy, and saves time
            shutil.copytree(device, os.path.join(self.folder, "runtime"), dirs_exist_ok=True)
            return
        self.calibrate("-o", os.path.join(self.folder, "runtime"), "--name", "w")

    def calibrate_device(self):
        self.calibrate("-o", os.path.join(self.folder, "device"), "--name", "w", **DEVICE)

    def calibrate_network(self):
        for n in self.options.ranks:
            self.calibrate("--network", "-o", self.folder, "--name", "net%d" % n, "-n", str(n), "--shared")

    def new_machines(self, place, names, device):
        """A machine directory with what was measured of the runtime, and no kernels yet, for machines of these names."""
        bus = os.path.join(place, "bus")
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(bus)
        suffixes = ("config", "bandwidth", "latency", "affinity", "costs") + (("memory",) if device else ())
        for name, suffix in itertools.product(names, suffixes):
            shutil.copy(os.path.join(self.folder, "device" if device else "runtime", "bus", "w." + suffix),
                        os.path.join(bus, "%s.%s" % (name, suffix)))

    def calibrate_kernels(self, round_number, device, ranks, workers, program, args):
        """The machines whose kernels are those of one run, one for each rank: kernels take longer when other cores are busy, and again when
        tiles come from other ranks instead of a shared cache, and cores of one computer are not equally fast at any moment."""
        tries = itertools.count()
        if device:  # OpenCL compiles a kernel when it is first used; later runs find it
            self.real(ranks, workers, program, args.split(), **DEVICE)

        def one():
            place = "round%d/%s/r%dw%d/try%d" % (round_number, re.sub("[^a-z0-9]+", "-", program + args), ranks, workers, next(tries))
            place, names = os.path.join(self.folder, place), ["rank%d" % i for i in range(ranks)]
            self.new_machines(place, names, device)
            self.real(ranks, workers, program, args.split(), STARPU_CALIBRATE=1, STARPU_MPI_HOSTNAMES=" ".join(names),
                      STARPU_PERF_MODEL_DIR=place, STARPU_HISTORY_MAX_ERROR=1000000, **(DEVICE if device else {}))
            return ",".join(os.path.join(place, name) for name in names)

        return self.undisturbed(one)

    def calibration_of(self, case):
        """Device, ranks, workers, program and arguments of the run that measures its kernels."""
        return (case.device, case.ranks, case.workers) + case.calibration

    def simulate(self, machine, case, model="share", **variables):
        command = [self.orrery, "sim", "-n", str(case.ranks), "--kernels", "skip", "--machine", machine]
        if case.ranks > 1:
            command += ["--network", model, "--platform", os.path.join(self.folder, "net%d.xml" % case.ranks)]
        return self.seconds(command + [self.program(case.program) + ".sim"] + case.args, STARPU_NCPU=case.workers,
                            STARPU_NOPENCL=int(case.device), STARPU_CALIBRATE_MINIMUM=1, **variables)


def one_round(bench, cases, number, **variables):
    """Calibrates, runs and simulates each case once, with these variables."""
    machines = {}
    if any(c.ranks > 1 for c in cases):
        bench.calibrate_network()
    for case in cases:
        key = bench.calibration_of(case)
        if key not in machines:
            machines[key] = bench.calibrate_kernels(number, *key)
        case.real.append(bench.undisturbed(lambda c=case: bench.real(c.ranks, c.workers, c.program, c.args,
                                                                      **(DEVICE if c.device else {}), **variables)))
        case.simulated.append(bench.simulate(machines[key], case, **variables))
        for model in bench.options.models if case.ranks > 1 else ():
            case.by_model.setdefault(model, []).append(bench.simulate(machines[key], case, model))


def too_noisy(cases, bars):
    """The lines whose noise keeps a bar from being judged: their floors are not below half of it."""
    noisy = []
    for kind, (median, worst) in bars.items():
        lines = [c for c in cases if c.kind == kind]
        if not lines:
            continue
        floor = statistics.median(c.floor for c in lines)
        limit = min(median / 2 if median is not None and floor >= median / 2 else math.inf, math.inf if worst is None else worst / 2)
        noisy += [c for c in lines if c.floor >= limit]
    return noisy


def measure(bench, cases, bars, deadline):
    """Real and simulated runs in turn, so that a machine whose speed drifts does so for both. Lines that are too noisy for their bars get
    further rounds."""
    if any(c.device for c in cases):
        bench.calibrate_device()
    if any(not c.device for c in cases):
        bench.calibrate_runtime()
    rounds, most = bench.options.rounds, max(bench.options.rounds, bench.options.most_rounds)
    for number in range(most):
        chosen = cases if number < rounds else too_noisy(cases, bars)
        if not chosen:
            break
        if number >= 3 and deadline and time.time() > deadline:
            sys.stderr.write("fidelity: the time is used up after %d rounds\n" % number)
            break
        one_round(bench, chosen, number)
        sys.stderr.write("fidelity: round %d of %d%s\n" % (number + 1, rounds, "" if number < rounds else
                                                           ", %d lines that are too noisy" % len(chosen)))


def floor_text(floor):
    return "%.1f" % floor if math.isfinite(floor) else "?"


def print_table(cases, out):
    line = "%-9s %-17s %-10s %10s %21s %10s %21s %8s %8s\n"
    out.write(line % ("program", "size", "on", "real ms", "(least .. most)", "simul. ms", "(least .. most)", "error %", "floor %"))
    for c in cases:
        spread = ["(%.2f .. %.2f)" % (min(x) * 1e3, max(x) * 1e3) for x in (c.real, c.simulated)]
        out.write(line % (c.program, c.size, c.where(), "%.2f" % (statistics.median(c.real) * 1e3), spread[0],
                          "%.2f" % (statistics.median(c.simulated) * 1e3), spread[1], "%+.1f" % c.error, floor_text(c.floor)))


def print_models(cases, models, out):
    """The errors of the models of the network, in per cent of the real runs."""
    lines = [c for c in cases if c.by_model]
    if not lines:
        return
    errors = {m: [100 * (statistics.median(c.by_model[m]) / statistics.median(c.real) - 1) for c in lines] for m in models}
    out.write("%-9s %-17s %-10s %10s %8s" % ("program", "size", "on", "real ms", "floor %") + "".join(" %9s" % m for m in models) + "\n")
    for i, c in enumerate(lines):
        out.write("%-9s %-17s %-10s %10.2f %8s" % (c.program, c.size, c.where(), statistics.median(c.real) * 1e3, floor_text(c.floor)) +
                  "".join(" %+9.1f" % errors[m][i] for m in models) + "\n")
    out.write("%-58s" % "median absolute error" + "".join(" %9.1f" % statistics.median(map(abs, errors[m])) for m in models) + "\n")


def write_csv(cases, path):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow("program size ranks workers runs real_median_s real_min_s real_max_s simulated_median_s simulated_min_s "
                      "simulated_max_s error_percent floor_percent device".split())
        for c in cases:
            numbers = [statistics.median(c.real), min(c.real), max(c.real), statistics.median(c.simulated), min(c.simulated),
                       max(c.simulated)]
            rows.writerow([c.program, c.size, c.ranks, c.workers, len(c.real)] + ["%.6f" % x for x in numbers] +
                          ["%.2f" % c.error, "%.2f" % c.floor, int(c.device)])


def verdict(value, floor, bar):
    """Whether a bar is kept, None if noise hides that; and the words for the table."""
    if bar is None:
        return math.isfinite(value), ""
    if floor >= bar / 2:
        return None, " (bar: %g %%) NOT JUDGED: the noise floor, %s %%, is not below half of it" % (bar, floor_text(floor))
    kept = math.isfinite(value) and value <= bar + 1e-9     # of what is rounded in a table
    return kept, " (bar: %g %%)%s" % (bar, "" if kept else " MISSED")


def judge(cases, bars, out):
    """True unless a bar is missed. The worst error is judged among the lines whose noise permits that; the others are named."""
    good = True
    for kind, title in TITLES.items():
        lines = [c for c in cases if c.kind == kind]
        if not lines:
            continue
        median_bar, worst_bar = bars[kind]
        calm = [c for c in lines if worst_bar is None or c.floor < worst_bar / 2]
        judged = calm or lines
        for what, choose, bar, among in (("median", statistics.median, median_bar, lines), ("worst", max, worst_bar, judged)):
            value, floor = (choose([getattr(c, of) for c in among]) for of in ("absolute_error", "floor"))
            kept, words = verdict(value, floor, bar)
            good &= kept is not False
            out.write("%s: %s absolute error %.1f %%%s\n" % (title, what, value, words))
        for c in lines if calm else ():
            if c not in calm:
                out.write("%s: not judged by the worst error, its noise floor is %s %%: %s %s, %s\n"
                          % (title, floor_text(c.floor), c.program, c.size, c.where()))
    return good


def read_csv(path):
    """The lines of an earlier table, each with the three numbers that are shown of its runs."""
    cases = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            case = Case(row["program"], row["size"], "", None, int(row["ranks"]), int(row["workers"]), row["device"] == "1")
            case.real = [float(row["real_%s_s" % k]) for k in ("min", "median", "max")]
            case.simulated = [float(row["simulated_%s_s" % k]) for k in ("min", "median", "max")]
            case.recorded_floor = float(row["floor_percent"])
            cases.append(case)
    return cases


def report(cases, bars):
    print_table(cases, sys.stdout)
    return 0 if judge(cases, bars, sys.stdout) else 1


def numbers(text):
    return [int(word) for word in text.split(",") if word]


def main():
    for bed in ("hosts", "books"):
        if "--" + bed in sys.argv[1:]:  # a file that needs this one
            return importlib.import_module(bed).main([word for word in sys.argv[1:] if word != "--" + bed])
    parser = argparse.ArgumentParser(description="Compares predictions with real runs on this machine.")
    parser.add_argument("--build", default=".", help="the build tree, after make (default: here)")
    parser.add_argument("--output", default="fidelity", help="folder for measurements and fidelity.csv (default: fidelity)")
    parser.add_argument("--rounds", type=int, default=7, help="real runs per line (default 7)")
    parser.add_argument("--most-rounds", type=int, default=21,
                        help="rounds of lines that are too noisy for their bars (default 21)")
    parser.add_argument("--minutes", type=float, default=8, help="begin no further round after that long, but do 3 (default 8)")
    parser.add_argument("--workers", type=numbers, default=[1, 2], help="numbers of workers on one node (default 1,2)")
    parser.add_argument("--ranks", type=numbers, default=[2, 4], help="numbers of ranks (default 2,4)")
    parser.add_argument("--only", help="only lines that match this expression")
    parser.add_argument("--tiny", action="store_true", help="sizes that only show that everything works")
    parser.add_argument("--bar", action="append", default=[], metavar="KIND=MEDIAN,WORST",
                        help="other bars in per cent, KIND being node, ranks or device")
    parser.add_argument("--models", type=lambda text: text.split(","), default=[], metavar="MODEL,MODEL",
                        help="also predict the lines of several ranks with these models of the network (orrery sim --network)")
    parser.add_argument("--judge", metavar="CSV", help="measure nothing, show and judge an earlier table")
    parser.add_argument("--hosts", action="store_true", help="the truth bed of the models of the network, on hosts with shaped links; it "
                        "has options of its own (--hosts --help)")
    parser.add_argument("--books", action="store_true", help="what workers did with their time, real and simulated; it has options of "
                        "its own (--books --help)")
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
    measure(bench, cases, bars, start + 60 * options.minutes)
    write_csv(cases, os.path.join(options.output, "fidelity.csv"))
    status = report(cases, bars)
    print_models(cases, options.models, sys.stdout)
    print("%d real runs per line or more, %.0f s in all; others used more than %.0f %% of the machine during %d of %d runs"
          % (min(len(c.real) for c in cases), time.time() - start, 100 * DISTURBED, bench.disturbed, bench.runs))
    return status


if __name__ == "__main__":
    sys.exit(main())
