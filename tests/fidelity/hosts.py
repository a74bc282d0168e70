# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `make fidelity FIDELITY=--hosts`: the truth bed of the models of the network. Hosts with shaped links (run-hosts) run the
# graphs of applications whose kernels sleep (bed.c), for real and simulated with each model. doc/fidelity.md explains it.
#     python3 hosts.py --build BUILD --output FOLDER [options]
# Invariant: a prediction is made of a network that was measured on the same links by `orrery calibrate --network`, of costs
# of the runtime that `orrery calibrate` measured, and of the times that kernels sleep; makespans are only compared. The
# check of every real run is that of the simulated one.
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

MODELS = ["share", "maxmin", "queue"]
BARS = (8.0, 15.0)  # per cent: median, worst absolute error
NOISY = 5.0  # per cent between least and most of the real runs, from which on a case is repeated
NETWORKS = [(50, 50), (50, 1000), (200, 50), (200, 1000), (1000, 50), (1000, 1000)]  # Mbit/s, us
OWN = (6e9, 1e-6)  # bytes/s and s of messages inside a host


class Case:
    """A graph on some hosts of a network."""

    def __init__(self, network, hosts, each, words):
        self.network, self.hosts, self.each, self.words = network, hosts, each, words.split()
        self.real, self.simulated = [], {}

    @property
    def ranks(self):
        return self.hosts * self.each

    def key(self):
        return [" ".join(self.words), self.network[0], self.network[1], self.hosts, self.each]

    def truth(self):
        return statistics.median(self.real)

    def error(self, model):
        return 100 * (self.simulated[model] / self.truth() - 1)

    @property
    def spread(self):
        return 100 * (max(self.real) / min(self.real) - 1)

    @property
    def floor(self):
        return fidelity.noise_floor(self.real)


class Bed:
    """The hosts, the programs of a build tree, and the folder of measurements."""

    def __init__(self, options):
        self.build, self.options = os.path.abspath(options.build), options
        self.source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self.orrery = os.path.join(self.build, "orrery")
        self.program = os.path.join(self.build, "tests", "fidelity", "bed")
        self.network = None
        # Workers sleep, so there is a core for messages; and a core is lent to others while a rank waits.
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("STARPU_", "ORRERY_"))}
        self.environment.update(STARPU_NCPU="1", ORRERY_MPI_WORKERS_LOOK="0", OMPI_MCA_mpi_yield_when_idle="1",
                                STARPU_HOME=os.getcwd(), ORR_TEST_SRCDIR=self.source, ORR_TEST_BUILDDIR=self.build)

    def run(self, command, **more):
        try:
            done = subprocess.run(command, env=dict(self.environment, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  check=False, timeout=self.options.limit)
        except subprocess.TimeoutExpired:
            raise SystemExit("hosts.py: more than %g s: %s" % (self.options.limit, " ".join(command))) from None
        if done.returncode:
            sys.stderr.write(done.stdout + done.stderr)
            raise SystemExit("hosts.py: exit status %d of: %s" % (done.returncode, " ".join(command)))
        return done

    def shell(self, text):
        """Runs text with the functions of hosts.sh."""
        return self.run(["sh", "-c", '. "$ORR_TEST_SRCDIR/tests/lib/script.sh"; . "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"; ' + text])

    def first(self, command, **more):
        """Runs a command on h1, with precedence over what else this computer does."""
        calm = ["nice", "-n", "-10"] if os.getuid() == 0 else []
        return self.run(["sh", "-c", '. "$ORR_TEST_SRCDIR/tests/lib/script.sh"; . "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"; on h1 "$@"', "sh"] +
                        calm + command, **more)

    def shape(self, network):
        if network == self.network:
            return
        rate, delay = network
        self.shell("HOSTS_BURST=16kb HOSTS_QUEUE=2s; for k in $(seq %d); do on h$k ip link set dev eth0 gso_max_size 14000; hosts_shape h$k %dmbit || exit 1; done" % (self.options.most_hosts, rate))
        self.network = network
        if os.environ.get("BED_CC", "reno"):
            self.shell("for k in $(seq %d); do on h$k sysctl -q -w net.ipv4.tcp_congestion_control=%s; done" % (self.options.most_hosts, os.environ.get("BED_CC", "reno")))

    def calibrated(self, network):
        """The platform file of that network's links, measured once."""
        name = "net-%d-%d" % network
        path = os.path.join(os.getcwd(), name + ".xml")
        if not os.path.exists(path):
            self.shape(network)
            hosts = ",".join("h%d" % k for k in range(1, min(4, self.options.most_hosts) + 1))
            done = self.first([self.orrery, "calibrate", "--network", "--host", hosts, "-o", os.getcwd(), "--name", name])
            with open(name + ".log", "w") as file:
                file.write(done.stderr)
        return path

    def platform(self, case):
        """The same for the hosts and ranks of a case."""
        path = os.path.join(os.getcwd(), "net-%d-%d-%dx%d.xml" % (case.network + (case.hosts, case.each)))
        measured = xml.etree.ElementTree.parse(self.calibrated(case.network)).getroot()
        cluster = measured.find("cluster")
        if cluster is None:
            raise SystemExit("hosts.py: hosts differ in %s; the links were disturbed while they were measured" % self.calibrated(case.network))
        config = xml.etree.ElementTree.tostring(measured.find("config"), encoding="unicode")
        with open(path, "w") as file:
            file.write(platform_text(config, cluster.get("bw"), cluster.get("lat"), case.hosts, case.each))
        return path

    def hosts_of(self, case):
        return "--host %s --map-by ppr:%d:node --bind-to none" % (",".join("h%d:%d" % (k, case.each) for k in range(1, case.hosts + 1)), case.each)

    def real(self, case):
        self.shape(case.network)
        done = self.first([self.orrery, "run", "-n", str(case.ranks), "--mpirun", self.hosts_of(case), self.program] + case.words)
        return result(done.stdout)

    def simulate(self, case, model, platform):
        return result(self.run([self.orrery, "sim", "-n", str(case.ranks), "--machine", os.path.join(os.getcwd(), "node"), "--platform", platform,
                                "--network", model, "--quiet", self.program + ".sim"] + case.words).stdout)


def result(text):
    """(seconds, check) that bed prints."""
    found = re.search(r"time_s=([0-9.]+) check=([0-9a-f]+)", text)
    if not found:
        raise SystemExit("hosts.py: no result in: %s" % text)
    return float(found.group(1)), found.group(2)


def platform_text(config, bandwidth, latency, hosts, each):
    """Ranks of a host share its link. latency: that of one of the two links of a route."""
    ranks = [(k, i) for k in range(hosts) for i in range(each)]
    lines = ["  <host id=\"r%d-%d\" speed=\"1Gf\"><prop id=\"cores\" value=\"2\" /></host>" % rank for rank in ranks]
    for k in range(hosts):
        lines.append('  <link id="link%d" bandwidth="%s" latency="%s" sharing_policy="SPLITDUPLEX" />' % (k, bandwidth, latency))
        lines.append('  <link id="own%d" bandwidth="%gBps" latency="%gs" sharing_policy="FATPIPE" />' % ((k,) + OWN))
    for n, a in enumerate(ranks):
        for b in ranks[n:]:
            way = ('<link_ctn id="own%d" />' % a[0] if a[0] == b[0] else
                   '<link_ctn id="link%d" direction="UP" /><link_ctn id="link%d" direction="DOWN" />' % (a[0], b[0]))
            lines.append('  <route src="r%d-%d" dst="r%d-%d">%s</route>' % (a + b + (way,)))
    return """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
%s<zone id="bed" routing="Full">
%s
</zone>
</platform>
""" % (config, "\n".join(lines))


def measure(bed, cases, out):
    """Real runs of a network together, because its links have to be shaped; each prediction beside them."""
    if not os.path.exists(os.path.join("node", "bus")) and not os.path.exists("bus/node.config"):
        bed.run([bed.orrery, "calibrate", "-o", os.getcwd(), "--name", "node"])
    for case in cases:
        platform, checks = bed.platform(case), set()
        for model in bed.options.models:
            case.simulated[model], check = bed.simulate(case, model, platform)
            checks.add(check)
        while len(case.real) < bed.options.runs or (case.spread > NOISY and len(case.real) < bed.options.most_runs):
            seconds, check = bed.real(case)
            case.real.append(seconds)
            checks.add(check)
        if len(checks) > 1:
            raise SystemExit("hosts.py: a wrong result of %s: checks %s" % (case.key(), ", ".join(sorted(checks))))
        out.write(row_text(case, bed.options.models))
        out.flush()


FORM = "%-9s %-38s %4d Mbit/s %4d us %2d x %d "


def row_text(case, models):
    graph, rest = case.words[0], " ".join(case.words[1:])
    return FORM % ((graph, rest) + case.network + (case.hosts, case.each)) + \
        "%8.3f (%.3f .. %.3f) %6.1f" % (case.truth(), min(case.real), max(case.real), case.floor) + \
        "".join(" %+8.1f" % case.error(m) for m in models) + "\n"


def main(arguments):
    parser = argparse.ArgumentParser(prog="fidelity.py --hosts")
    parser.add_argument("--build", default=".")
    parser.add_argument("--output", default="fidelity")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--most-runs", type=int, default=7)
    parser.add_argument("--most-hosts", type=int, default=16)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--models", type=lambda text: text.split(","), default=MODELS)
    parser.add_argument("--cases")
    parser.add_argument("--in-world", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not options.in_world:
        os.makedirs(options.output, exist_ok=True)
        here = os.path.dirname(os.path.abspath(__file__))
        source = os.path.dirname(os.path.dirname(here))
        env = dict(os.environ, ORR_TEST_SRCDIR=source, ORR_TEST_BUILDDIR=os.path.abspath(options.build), ORRERY=os.path.abspath(options.build) + "/orrery", PYTHON=sys.executable)
        words = ["--build", os.path.abspath(options.build)] + [w for w in arguments if w != "--in-world"]
        return subprocess.run(["sh", os.path.join(here, "run-hosts"), str(options.most_hosts), sys.executable, "-B", os.path.abspath(__file__)]
                              + arguments + ["--build", os.path.abspath(options.build), "--in-world"], env=env, cwd=options.output, check=False).returncode
    cases = []
    for line in open(options.cases):
        w = line.split(None, 4)
        if len(w) == 5 and not line.startswith("#"):
            cases.append(Case((int(w[0]), int(w[1])), int(w[2]), int(w[3]), w[4]))
    measure(Bed(options), cases, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
