# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `make fidelity FIDELITY=--hosts`: the truth bed of the models of the network. Hosts with shaped links (run-hosts) run the
# graphs of applications whose kernels sleep (bed.c), for real and simulated with each model. doc/fidelity.md explains it.
# Invariant: a prediction is made of a network that `orrery calibrate --network` measured on the same links, of costs of the
# runtime that `orrery calibrate` measured, and of the times that kernels sleep; makespans are only compared. The check of
# every real run is that of the simulated ones.
import argparse
import csv
import os
import re
import statistics
import subprocess
import sys
import time
import xml.etree.ElementTree

import fidelity

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = ["share", "maxmin", "queue", "tcp"]
BARS = (8.0, 15.0)  # per cent: median, worst absolute error of the best model
NOISY = 5.0  # per cent from the least to the most of the real runs of a case, from which on it is run again
MOST_HOSTS = 16
OWN = (6e9, 2e-6)  # bytes/s and s of messages inside a host
FUNCTIONS = '. "$ORR_TEST_SRCDIR/tests/lib/script.sh"; . "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"; '
# A bucket lets through at once little beside the messages of the bed, but two packets. A timer that is late by more than it
# lasts costs bandwidth: with 0.26 ms, 8 hosts at 200 Mbit/s lost a fifth. Queues lose nothing.
BUCKET = (3200, 520e-6)
SHAPE = """HOSTS_BURST={bucket} HOSTS_QUEUE=2s
all=$(for k in $(seq {hosts}); do echo h$k; done)
for h in $all; do
	on $h ip link set dev eth0 gso_max_size $(({bucket} / 2))
	on $h sysctl -q -w net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_slow_start_after_idle=0
	hosts_shape $h {rate}mbit || die "links cannot be shaped"
done
[ ! -e $hosts/late.pid ] || {{ hosts_punctual $all; rm $hosts/late.pid; }}
[ {late} = 0 ] || hosts_late {late} $all || die "packets cannot be late"
"""


class Case:
    """A graph on hosts with some ranks on each. network: Mbit/s of their links, and the microseconds by which the switch is late."""

    def __init__(self, network, hosts, each, words):
        self.network, self.hosts, self.each, self.words = network, hosts, each, words
        self.real, self.simulated = [], {}
        self.recorded_floor = self.recorded_runs = None

    @property
    def ranks(self):
        return self.hosts * self.each

    @property
    def truth(self):
        return statistics.median(self.real)

    @property
    def floor(self):
        """The noise floor of the real runs, in per cent."""
        return fidelity.noise_floor(self.real) if self.recorded_floor is None else self.recorded_floor

    @property
    def runs(self):
        return len(self.real) if self.recorded_runs is None else self.recorded_runs

    @property
    def spread(self):
        return 100 * (max(self.real) / min(self.real) - 1)

    def error(self, model):
        return 100 * (self.simulated[model] / self.truth - 1)

    def size(self):
        """The words of bed.c as a reader wants them."""
        given = dict(zip(self.words[1::2], self.words[2::2]))
        parts = [given["-n"]] if "-n" in given else []
        parts += ["%s steps" % given["--steps"]] if "--steps" in given else []
        return "%s, %s KiB, %g ms" % (", ".join(parts), given["--kib"], int(given["--us"]) / 1000)

    def where(self):
        return "%d x %d, %d Mbit/s%s" % (self.hosts, self.each, self.network[0], ", %g ms" % (self.network[1] / 1000) if self.network[1] else "")

    def key(self):
        return self.network, self.hosts, self.each, self.words


def graphs(rate, hosts, each, names, eager=False, late=0):
    """Cases whose messages take about 20 ms each (eager: leave at once, and more of them), beside kernels of as long."""
    kib, ranks = (32 if eager else rate * 64 // 25), hosts * each
    us = 1000 * kib * 1024 * 8 // (rate * 1000) // 500 * 500 or 500
    side = {2: 6, 4: 8, 8: 10, 16: 12}[ranks] + (4 if eager else 0)
    more = 3 if eager else 1
    words = {
        "cholesky": "-n %d --kib %d --us %d" % (side + 2, kib, us),
        "lu": "-n %d --kib %d --us %d" % (side, kib, us),
        "stencil": "-n %d --steps %d --kib %d --us %d" % (4 if ranks <= 4 else 8, 12 * more, kib // 4, us if ranks < 16 else 2 * us),
        "cg": "-n 2 --steps %d --kib %d --us %d" % (15 * more, kib, us),
        "broadcast": "-n 1 --steps %d --kib %d --us %d" % (10 * more, 2 * kib if not eager else kib, us),
        "alltoall": "--steps %d --kib %d --us %d" % (max(2, 24 * more // ranks), kib, 2 * us),
        "random": "-n %d --steps 4 --kib %d --us %d" % (10 * ranks // 2 * more, kib // 2, us),
    }
    return [Case((rate, late), hosts, each, [name] + words[name].split()) for name in names.split()]


ALL = "cholesky lu stencil cg broadcast alltoall random"
FACTORISE = "cholesky lu stencil broadcast"


def all_cases():
    return [case for some in (
        graphs(50, 2, 1, ALL), graphs(50, 4, 1, ALL), graphs(50, 8, 1, ALL), graphs(50, 16, 1, "cholesky stencil broadcast"),
        graphs(50, 4, 2, FACTORISE), graphs(50, 4, 1, "cholesky stencil alltoall", eager=True),
        graphs(200, 2, 1, ALL), graphs(200, 4, 1, ALL), graphs(200, 8, 1, ALL), graphs(200, 2, 2, FACTORISE),
        graphs(1000, 2, 1, ALL), graphs(1000, 4, 1, ALL),
        graphs(50, 4, 1, FACTORISE, late=1000), graphs(200, 4, 1, ALL, late=1000)) for case in some]


class Bed:
    """The hosts, the programs of a build tree, and the folder of measurements, which is the current one."""

    def __init__(self, options):
        self.build, self.options, self.folder = os.path.abspath(options.build), options, os.getcwd()
        self.orrery = os.path.join(self.build, "orrery")
        self.program = os.path.join(self.build, "tests", "fidelity", "bed")
        self.network = None
        # Kernels sleep: there is a core for messages, whose thread lends it while it has none.
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("STARPU_", "ORRERY_"))}
        self.environment.update(STARPU_NCPU="1", ORRERY_MPI_WORKERS_LOOK="0", OMPI_MCA_mpi_yield_when_idle="1", STARPU_HOME=self.folder)

    def run(self, command, limit=None, **more):
        try:
            done = subprocess.run(command, env=dict(self.environment, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  check=False, timeout=limit or self.options.limit)
        except subprocess.TimeoutExpired:
            raise SystemExit("fidelity: more than %g s: %s" % (limit or self.options.limit, " ".join(command))) from None
        if done.returncode:
            sys.stderr.write(done.stdout + done.stderr)
            raise SystemExit("fidelity: exit status %d of: %s" % (done.returncode, " ".join(command)))
        return done

    def first(self, command, **more):
        """Runs a command on h1, with precedence over what else this computer does."""
        return self.run(["sh", "-c", FUNCTIONS + 'on h1 nice -n -20 "$@"', "sh"] + command, **more)

    def shape(self, network):
        if network != self.network:
            rate, late = network
            # A process that runs on behind it keeps no pipe open.
            shape = FUNCTIONS + SHAPE.format(hosts=self.options.most_hosts, rate=rate, late=late, bucket=int(max(BUCKET[0], rate * 1e6 / 8 * BUCKET[1])))
            self.run(["sh", "-c", "(%s) > shape.log 2>&1 || { cat shape.log >&2; exit 1; }" % shape])
        self.network = network

    def file(self, name):
        return os.path.join(self.folder, name)

    def calibrate(self, network):
        """Measures the links, once for each network, and the runtime."""
        name = "net-%d-%d" % network
        rounds = ["--rounds", "1"] if self.options.tiny else []
        if not os.path.exists(self.file("bus/node.config")):
            self.run(["nice", "-n", "-20", self.orrery, "calibrate", "-o", self.folder, "--name", "node"] + rounds)
        if os.path.exists(self.file(name + ".log")):
            return
        self.shape(network)
        hosts = ",".join("h%d" % k for k in range(1, min(4, self.options.most_hosts) + 1))
        said = self.first([self.orrery, "calibrate", "--network", "--host", hosts, "-o", self.folder, "--name", name] + rounds,
                          limit=5 * self.options.limit).stderr
        with open(self.file(name + ".log"), "w") as file:
            file.write(said)

    def trees(self, network):
        """The words of `orrery calibrate --network` about trees, for real runs; a simulated one knows its platform."""
        with open(self.file("net-%d-%d.log" % network)) as file:
            return dict(re.findall(r"(ORRERY_MPI_\w+)=(\d+)", file.read()))

    def platform(self, case):
        """The measured links, for the hosts and ranks of a case."""
        measured = self.file("net-%d-%d.xml" % case.network)
        path = self.file("net-%d-%d-%dx%d.xml" % (case.network + (case.hosts, case.each)))
        root = xml.etree.ElementTree.parse(measured).getroot()
        if root.find("cluster") is None:
            raise SystemExit("fidelity: hosts differ in %s: the links were disturbed while they were measured; remove it and its .log" % measured)
        with open(path, "w") as file:
            file.write(platform_text(root, case.hosts, case.each))
        return path

    def real(self, case):
        self.shape(case.network)
        hosts = ",".join("h%d:%d" % (k, case.each) for k in range(1, case.hosts + 1))
        where = "--host %s --map-by ppr:%d:node --bind-to none" % (hosts, case.each)
        return result(self.first([self.orrery, "run", "-n", str(case.ranks), "--mpirun", where, self.program] + case.words, **self.trees(case.network)))

    def simulate(self, case, model, platform):
        return result(self.run([self.orrery, "sim", "-n", str(case.ranks), "--machine", self.file("node"), "--platform", platform,
                                "--network", model, "--quiet", self.program + ".sim"] + case.words))


def result(done):
    """(seconds, check) that bed prints."""
    found = re.search(r"time_s=([0-9.]+) check=([0-9a-f]+)", done.stdout)
    if not found:
        raise SystemExit("fidelity: no result in: %s" % done.stdout)
    return float(found.group(1)), found.group(2)


def platform_text(measured, hosts, each):
    """The platform of so many hosts that are alike; the ranks of one share its link."""
    cluster = measured.find("cluster")
    config = xml.etree.ElementTree.tostring(measured.find("config"), encoding="unicode")
    ranks, lines = [(k, i) for k in range(hosts) for i in range(each)], []
    for k, i in ranks:
        lines.append('<host id="r%d-%d" speed="1Gf"><prop id="cores" value="2" /></host>' % (k, i))
    both = cluster.get("limiter_link")
    for k in range(hosts):
        lines.append('<link id="link%d" bandwidth="%s" latency="%s" sharing_policy="SPLITDUPLEX" />' % (k, cluster.get("bw"), cluster.get("lat")))
        lines.append('<link id="own%d" bandwidth="%gBps" latency="%gs" sharing_policy="FATPIPE" />' % ((k,) + OWN))
        lines += ['<link id="link%d_limiter" bandwidth="%s" latency="0s" />' % (k, both)] if both else []
    for n, a in enumerate(ranks):
        for b in ranks[n:]:
            way = '<link_ctn id="link%d" direction="UP" /><link_ctn id="link%d" direction="DOWN" />' % (a[0], b[0])
            way += '<link_ctn id="link%d_limiter" /><link_ctn id="link%d_limiter" />' % (a[0], b[0]) if both else ""
            if a[0] == b[0]:
                way = '<link_ctn id="own%d" />' % a[0]
            lines.append('<route src="r%d-%d" dst="r%d-%d">%s</route>' % (a + b + (way,)))
    return """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
%s<zone id="bed" routing="Full">
%s
</zone>
</platform>
""" % (config, "\n".join(lines))


def one_case(bed, case):
    """Predictions, then real runs, more of them if they differ."""
    bed.calibrate(case.network)
    platform, checks, models = bed.platform(case), set(), bed.options.models
    for model in models:
        case.simulated[model], check = bed.simulate(case, model, platform)
        checks.add(check)
    while case.recorded_floor is None and (len(case.real) < bed.options.runs or (len(case.real) < bed.options.most_runs and case.spread > NOISY)):
        seconds, check = bed.real(case)
        case.real.append(seconds)
        checks.add(check)
    if len(checks) > 1:
        raise SystemExit("fidelity: a wrong result of %s, %s: checks %s" % (" ".join(case.words), case.where(), ", ".join(sorted(checks))))


# ---- tables ----

LINE = "%-9s %-33s %-24s %8s %18s %7s"


def head_text(models):
    return LINE % ("graph", "size", "hosts x ranks", "real ms", "(least .. most)", "floor %") + "".join(" %8s" % m for m in models) + "\n"


def row_text(case):
    return LINE % (case.words[0], case.size(), case.where(), "%.0f" % (1e3 * case.truth), "(%.0f .. %.0f)" % (1e3 * min(case.real), 1e3 * max(case.real)),
                   fidelity.floor_text(case.floor)) + "".join(" %+8.1f" % case.error(m) for m in case.simulated) + "\n"


COLUMNS = "graph words rate_mbit late_us hosts ranks_per_host runs real_median_s real_min_s real_max_s floor_percent".split()


def write_csv(cases, models, path):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS + [model + "_s" for model in models])
        for c in cases:
            rows.writerow([c.words[0], " ".join(c.words[1:]), c.network[0], c.network[1], c.hosts, c.each, c.runs] + ["%.6f" % x for x in (c.truth, min(c.real), max(c.real))]
                          + ["%.2f" % c.floor] + ["%.6f" % c.simulated[m] for m in models])


def read_csv(path):
    """(cases, models) of an earlier table, each case with the three numbers that are kept of its runs."""
    cases = []
    with open(path, newline="") as file:
        table = csv.DictReader(file)
        models = [name[:-2] for name in table.fieldnames or [] if name.endswith("_s") and name not in COLUMNS]
        for row in table:
            case = Case((int(row["rate_mbit"]), int(row["late_us"])), int(row["hosts"]), int(row["ranks_per_host"]), [row["graph"]] + row["words"].split())
            case.real = [float(row["real_%s_s" % k]) for k in ("min", "median", "max")]
            case.recorded_floor, case.recorded_runs = float(row["floor_percent"]), int(row["runs"])
            case.simulated = {model: float(row[model + "_s"]) for model in models}
            cases.append(case)
    return cases, models


def judge(cases, models, bars, out):
    """Errors of each model; True if the best one keeps the bars, or noise hides that."""
    errors = {m: [abs(c.error(m)) for c in cases] for m in models}
    floors = [c.floor for c in cases]
    for m in models:
        beyond = sum(e > bars[1] for e in errors[m])
        out.write("%-8s median absolute error %.1f %%, worst %.1f %%, beyond %g %%: %d of %d cases\n"
                  % (m, statistics.median(errors[m]), max(errors[m]), bars[1], beyond, len(cases)))
    best = min(models, key=lambda m: statistics.median(errors[m]))
    good = True
    for what, choose, bar in (("median", statistics.median, bars[0]), ("worst", max, bars[1])):
        # A case that its own noise hides says nothing of the worst error.
        among = [c for c in cases if what == "median" or c.floor < bar / 2] or cases
        kept, words = fidelity.verdict(choose([abs(c.error(best)) for c in among]), choose([c.floor for c in among]), bar)
        good &= kept is not False
        out.write("best: %s, %s absolute error %.1f %%%s\n" % (best, what, choose([abs(c.error(best)) for c in among]), words))
    out.write("noise floor: median %s %%, worst %s %%\n" % tuple(map(fidelity.floor_text, (statistics.median(floors), max(floors)))))
    return good


def report(cases, models, bars):
    sys.stdout.write(head_text(models) + "".join(map(row_text, cases)))
    return 0 if judge(cases, models, bars, sys.stdout) else 1


# ---- the command ----

def in_world(options, cases):
    """Inside of the world of run-hosts."""
    bed, start = Bed(options), time.time()
    kept, models = read_csv(bed.file("hosts.csv")) if (options.keep or options.predict) and os.path.exists(bed.file("hosts.csv")) else ([], [])
    kept = [c for c in kept if models == options.models]
    for number, case in enumerate(cases, 1):
        known = [c for c in kept if c.key() == case.key()]
        if known:
            case = cases[number - 1] = known[0]
            if not options.predict:
                continue
        one_case(bed, case)
        sys.stderr.write("%3d of %d, %4.0f s: %s" % (number, len(cases), time.time() - start, row_text(case)))
        write_csv(cases[:number] + [c for c in kept if c not in cases[:number]], options.models, bed.file("hosts.csv"))
    status = report(cases, options.models, options.bars)
    print("%d real runs per case or more, %.0f s in all" % (min(c.runs for c in cases), time.time() - start))
    return status


def numbers(text):
    return tuple(float(word) for word in text.split(","))


def main(arguments):
    parser = argparse.ArgumentParser(prog="fidelity.py --hosts", description="Compares models of the network with real runs on hosts with shaped links.")
    parser.add_argument("--build", default=".", help="the build tree, after make (default: here)")
    parser.add_argument("--output", default="fidelity", help="folder for measurements and hosts.csv (default: fidelity); not in /tmp, of which each host has one")
    parser.add_argument("--runs", type=int, default=3, help="real runs per case (default 3)")
    parser.add_argument("--most-runs", type=int, default=7, help="of a case whose runs differ by more than %g %% (default 7)" % NOISY)
    parser.add_argument("--tiny", action="store_true", help="calibrations that only show that everything works")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a command may take (default 120)")
    parser.add_argument("--models", type=lambda text: text.split(","), default=MODELS, metavar="MODEL,MODEL", help="models of the network (default %s)" % ",".join(MODELS))
    parser.add_argument("--only", help="only cases that match this expression, as `cholesky.* 4 x 1, 200'")
    parser.add_argument("--case", metavar="RATE,LATE,HOSTS,RANKS,WORDS", action="append", default=[], help="these cases instead: Mbit/s, microseconds by which the switch is late, hosts, ranks on each, words of tests/fidelity/bed")
    parser.add_argument("--keep", action="store_true", help="do not measure cases again that hosts.csv of the output has")
    parser.add_argument("--predict", action="store_true", help="nor run them again, but predict them again")
    parser.add_argument("--bars", type=numbers, default=BARS, metavar="MEDIAN,WORST", help="other bars in per cent")
    parser.add_argument("--judge", metavar="CSV", help="measure nothing, show and judge an earlier table")
    parser.add_argument("--in-world", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.judge:
        return report(*read_csv(options.judge), options.bars)
    cases = all_cases()
    if options.case:
        cases = [Case((int(c[0]), int(c[1])), int(c[2]), int(c[3]), c[4].split()) for c in (text.split(",", 4) for text in options.case)]
    cases = [c for c in cases if not options.only or re.search(options.only, "%s %s %s" % (c.words[0], c.size(), c.where()))]
    if not cases:
        parser.error("no case of the table matches what is asked for")
    options.most_hosts = max(c.hosts for c in cases)
    if options.in_world:
        return in_world(options, cases)
    os.makedirs(options.output, exist_ok=True)
    build = os.path.abspath(options.build)
    env = dict(os.environ, ORR_TEST_SRCDIR=SOURCE, ORR_TEST_BUILDDIR=build, PYTHON=sys.executable)
    return subprocess.run(["sh", os.path.join(SOURCE, "tests", "fidelity", "run-hosts"), str(options.most_hosts), sys.executable, "-B",
                           os.path.abspath(__file__)] + arguments + ["--build", build, "--in-world"], env=env, cwd=options.output, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
