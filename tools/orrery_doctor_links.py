# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The links between hosts for `orrery doctor`: connections of TCP between each pair, then
# MPI, the runtime over each transport, and what was calibrated.
# Invariant: a host is in one pair at a time; a pair that seems slow is measured again, alone,
# before it is accused. What is started ends in a limited time.
import math
import os
import re
import shlex
import subprocess
import tempfile
import xml.etree.ElementTree

import orrery_checksum
import orrery_hosts
import orrery_launchers
import orrery_machines as machines
from orrery_cli import UserError
from orrery_doctor_checks import span
from orrery_doctor_reach import Failed, end, in_parallel

MOST_ROUNDS = 32  # of pairs; as in doctor_mpi.c
BYTES = 32 << 20  # of a measurement of TCP, at most
CONNECT_MS = 4000
SAMPLE = [1500 + 2000 * i for i in range(32)]  # ports that are tried where one does not answer
AGAIN = 3  # measurements of a pair that seems slow
SLOW, FAR = 0.6, 2.0  # of the bandwidth and the latency that were calibrated
SLOW_BESIDE, FAR_BESIDE = 0.3, 5.0  # of the best of the other pairs
FAR_US = 300.0  # more, for what else uses the cores; where these are busy, latency says nothing


def rounds(names):
    """Rounds of pairs, so that each name meets each other one once, or MOST_ROUNDS of them."""
    found = list(all_rounds(names))
    return found[::-(-len(found) // MOST_ROUNDS) or 1]


def all_rounds(names):
    ring = list(names) + ([None] if len(names) % 2 else [])
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        yield [(a, b) for a, b in zip(ring[:half], reversed(ring[half:])) if a is not None and b is not None]
        ring.insert(1, ring.pop())


class Links:
    """What is known of pairs of hosts: {(a, b): (latency in us, bytes/s)} of each layer."""

    def __init__(self):
        self.tcp, self.mpi, self.broken = {}, {}, {}


def listen(session, first, last, limit):
    answer = session.ask("listen %d %d" % (first, last), limit)[0]
    return int(answer.split()[1]) if answer.startswith("port ") else None


def connect(session, host, port, limit, ms=CONNECT_MS, count=BYTES):
    words = session.ask("connect %s %d %d %d" % (host, port, ms, count), limit + ms / 1000)[0].split(" ", 2)
    if words[0] == "connected":
        address, rest = words[1], words[2].split()
        return address, (float(rest[0]), float(rest[1])), None
    return None, None, (words[1], words[2])


def reachable(session, host, other, limit):
    """Ports of a sample that go through from a host to another one."""
    through = []
    for port in SAMPLE:
        if listen(other, port, port, limit) and connect(session, host, port, limit, 300, 0)[2] is None:
            through.append(port)
    return through


def explain_closed(found, a, b, why, ports, limit):
    """Accuses the way from a to b: a name that a does not know, a firewall, or no way at all."""
    if why[0] == "name":
        found.defect("TCP", a.name, "the name %s does not resolve there: %s" % (b.name, why[1]), "its ranks cannot reach those of %s" % b.name,
                     "add the name to DNS or to /etc/hosts on all hosts")
        return
    if ports != (0, 0):
        found.defect("TCP", a.name, "no way to %s at ports %d to %d: %s" % (b.name, ports[0], ports[1], why[1]), "ranks of the two wait for each other for ever",
                     "open these ports in the firewall between the hosts (nft list ruleset)")
        return
    through = reachable(a, b.name, b, limit)
    if through:
        found.defect("TCP", a.name, "a firewall lets only some ports through to %s: %d of %d that were tried, within %d to %d"
                     % (b.name, len(through), len(SAMPLE), through[0], through[-1]), "MPI takes any port, and ranks wait for ever",
                     "open all ports between the hosts, or keep MPI to a range: `orrery doctor --ports FIRST-LAST' tests one and shows the options")
    else:
        found.defect("TCP", a.name, "no way to %s: %s" % (b.name, why[1]), "ranks of the two wait for each other for ever",
                     "look at routes and firewalls of both (ip route get, nft list ruleset)")


def tcp(found, links, sessions, ports, limit, say):
    """Each pair in both directions. ports: the range that listens, (0, 0): any."""
    listening = {}
    for session in sessions:
        listening[session.name] = listen(session, ports[0], ports[1], limit)
        if not listening[session.name]:
            found.defect("TCP", session.name, "no port of %d to %d is free there" % ports, "MPI cannot use this range", "choose another range")
    by_name = {session.name: session for session in sessions}
    addresses = []

    def measure(pair):
        a, b = (by_name[name] for name in pair)
        if not listening[b.name]:
            return
        try:
            address, value, why = connect(a, b.name, listening[b.name], limit)
        except Failed as failed:
            found.defect("TCP", a.name, "it does not answer any more: %s" % failed, "nothing more is known of it", failed.remedy)
            return
        if value:
            links.tcp[pair] = value
            addresses.append(address)
        else:
            links.broken[pair] = why
    meetings = rounds([session.name for session in sessions])
    for number, pairs in enumerate(meetings, 1):
        say("TCP between pairs, round %d of %d" % (number, len(meetings)))
        in_parallel(measure, pairs)
        in_parallel(measure, [(b, a) for a, b in pairs])
    for (a, b), why in sorted(links.broken.items()):
        say("why %s does not reach %s" % (a, b))
        try:
            explain_closed(found, by_name[a], by_name[b], why, ports, limit)
        except Failed as failed:
            found.defect("TCP", a, "no way to %s: %s" % (b, failed), "ranks of the two wait for each other for ever", failed.remedy)
    if links.tcp:
        found.is_fine("TCP", "%s%s: %s" % (pairs_of(len(links.tcp) // 2), "" if ports == (0, 0) else " at ports %d-%d" % ports, in_words(links.tcp)))


def pairs_of(n):
    return "%d pair%s" % (n, "" if n == 1 else "s")


def in_words(values):
    """60 to 70 us, 100 to 120 MB/s"""
    return "%s us, %s MB/s" % (span([round(v[0], 1) for v in values.values()], "%.4g"), span([round(v[1] / 1e6, 1) for v in values.values()], "%.4g"))


# ---- MPI ----

class Mpi:
    """Starts orrery-doctor-mpi on the hosts."""

    def __init__(self, context, names, extra, ports, limit):
        self.context, self.names, self.limit, self.version, self.level = context, names, limit, None, None
        self.mpiexec, self.launcher = orrery_launchers.find(context)
        options, self.variables = orrery_launchers.port_range(self.launcher, ports) if ports != (0, 0) else ([], {})
        self.ports, self.extra = options, extra

    def command(self, each, words):
        launcher = self.launcher
        where = [launcher.hosts[0], ",".join("%s:%d" % (name, each) for name in self.names)] if len(self.names) > 1 else []
        crowd = [] if "--map-by" in self.extra else launcher.crowd
        return [self.mpiexec, "-n", str(each * len(self.names))] + where + crowd + launcher.unbound + self.ports + self.extra + \
            [machines.program(self.context, "orrery-doctor-mpi")] + words

    def run(self, each, words, variables=None, more_s=0.0):
        """(lines, why it failed or None, what was said)"""
        environment = machines.environment(self.context)
        orrery_launchers.prepare(self.launcher, environment)
        environment.update(self.variables, STARPU_SILENT="0", STARPU_NCPU="1", **(variables or {}))
        environment.pop("STARPU_NMPI_MS", None)
        command = self.command(each, words)
        if self.launcher.exports and len(self.names) > 1:
            command[1:1] = orrery_hosts.passed_on(self.launcher, environment, self.extra)
        limit = 3 * self.limit + more_s
        # Files, because a daemon that stays behind keeps pipes open.
        with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
            child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
            status = None
            try:
                status = child.wait(limit)
            except subprocess.TimeoutExpired:
                pass
            finally:
                if status is None:
                    child.terminate()  # mpirun ends what it has started elsewhere
                    try:
                        child.wait(5)
                    except subprocess.TimeoutExpired:
                        pass
                end(child)
            out.seek(0)
            err.seek(0)
            lines, said = out.read().splitlines(), err.read()
        if status is None:
            return lines, "it did not end within %g s" % limit, said
        return lines, None if status == 0 else first_words(said) or "exit status %d" % status, said


def first_words(text):
    """What a launcher says first, in one line."""
    if "attempt to run as root" in text:
        return "it refuses to run as root"
    lines = [line.strip() for line in text.splitlines() if line.strip(" -=\t")]
    return " ".join(lines[:3])[:300]


def remedy_of(why, several):
    if "root" in why:
        return "set ORRERY_ALLOW_RUN_AS_ROOT=1, or work as another user"
    if several and "did not end" in why:
        return "look whether two networks or a firewall mislead MPI: --mpirun \"--mca btl_tcp_if_include NETWORK\", --ports FIRST-LAST"
    return "try `orrery run --show' and its command by hand"


def read_pairs(lines, names):
    """({(a, b): (us, bytes/s)}, thread level, [host of each rank])"""
    pairs, level, ranks = {}, None, {}
    for words in map(str.split, lines):
        if words[:1] == ["pair"] and len(words) == 5:
            pairs[names[int(words[1])], names[int(words[2])]] = (float(words[3]), float(words[4]))
        elif words[:1] == ["thread"]:
            level = words[1]
        elif words[:1] == ["rank"] and len(words) == 3:
            ranks[int(words[1])] = words[2]
    return pairs, level, ranks


def better(old, new):
    return min(old[0], new[0]), max(old[1], new[1])


def measure_mpi(found, links, mpi, say):
    """Whether MPI works, its level of threads, and what each pair gets. True if it works."""
    names = mpi.names
    say("MPI between pairs")
    lines, why, _ = mpi.run(1, ["pairs"], more_s=2.0 * len(names))
    links.mpi, level, ranks = read_pairs(lines, names)
    if why:
        found.defect("MPI", None, "%s fails on %s: %s" % (os.path.basename(mpi.mpiexec), "these hosts" if len(names) > 1 else "this host", why),
                     "so does `orrery run'", remedy_of(why, len(names) > 1))
        return False
    if len(ranks) != len(names):
        found.defect("MPI", None, "%d of %d ranks were started together" % (len(ranks), len(names)), "each rank believes that it is alone",
                     "use the mpirun of the MPI that Orrery was built with")
        return False
    if level != "MULTIPLE":
        found.note("MPI", None, "its level of threads is MPI_THREAD_%s" % level, "programs whose own threads call MPI are refused",
                   "use an MPI that was built with MPI_THREAD_MULTIPLE")
    mpi.level = level
    return True


def show_mpi(found, links, mpi):
    """What MPI gives, after slow pairs were measured again."""
    pairs = "; %s: %s" % (pairs_of(len(links.mpi)), in_words(links.mpi)) if links.mpi else ""
    found.is_fine("MPI", "%s, threads: MPI_THREAD_%s%s" % (mpi.version, mpi.level, pairs))


def suspects(values, calibrated, slack_us):
    """Pairs that are slower than they should be: {pair: (what, than what)}."""
    accused = {}
    for pair, (us, speed) in values.items():
        others = [value for other, value in values.items() if other != pair]
        if calibrated:
            us_then, speed_then = calibrated.of(pair)
            if speed < SLOW * speed_then:
                accused[pair] = "%.4g MB/s, calibrated are %.4g" % (speed / 1e6, speed_then / 1e6)
            elif us > FAR * us_then + slack_us:
                accused[pair] = "%.4g us away, calibrated are %.4g" % (us, us_then)
        elif len(others) > 1:
            best_us, best = min(value[0] for value in others), max(value[1] for value in others)
            if speed < SLOW_BESIDE * best:
                accused[pair] = "%.4g MB/s, other pairs have up to %.4g" % (speed / 1e6, best / 1e6)
            elif us > FAR_BESIDE * best_us + slack_us:
                accused[pair] = "%.4g us away, other pairs are %.4g" % (us, best_us)
    return accused


def compare(found, links, mpi, calibrated, path, say):
    """Accuses pairs that stay slow when they are alone."""
    slack_us = math.inf if any(note.check == "cores" and "busy" in note.what for note in found.notes) else FAR_US
    for _ in range(AGAIN):
        again = suspects(links.mpi, calibrated, slack_us)
        if not again:
            break
        say("%s that seem slow again, one after another" % pairs_of(len(again)))
        numbers = ["%d-%d" % tuple(sorted(map(mpi.names.index, pair))) for pair in again]
        lines, _, _ = mpi.run(1, ["pairs", ",".join(numbers)], more_s=2.0 * len(again))
        for pair, value in read_pairs(lines, mpi.names)[0].items():
            links.mpi[pair] = better(links.mpi[pair], value)
    guilty = suspects(links.mpi, calibrated, slack_us)
    # Where all pairs of a host are slow, its own link is.
    for pair, what in sorted(guilty.items()):
        common = [name for name in pair if len(mpi.names) > 2 and all(name not in other or other in guilty for other in links.mpi)]
        found.defect("links", common[0] if len(common) == 1 else None, "between %s and %s: %s" % (pair + (what,)),
                     "messages between them take longer than simulations say" if calibrated else "the slowest link holds the others up",
                     "see the speed that the link has agreed on (ethtool), its cable, and who else uses it"
                     + ("; or measure the network again" if calibrated else ""))
    if calibrated:
        found.is_fine("links", "as calibrated in %s: %s" % (path, calibrated))
    elif len(links.mpi) > 2:
        found.is_fine("links", "no pair is much slower than the others")


def measure_runtime(found, mpi, say):
    """The runtime over its transports: two ranks on each host, whose vectors go around."""
    for transport in ("shm", "ucx"):
        say("the runtime over %s" % transport)
        lines, why, said = mpi.run(2, ["engine"], {"ORRERY_TRANSPORT": transport})
        if transport == "ucx" and why and re.search(r"built without|no UCX|not built", said, re.I):
            continue
        if why or "ring right" not in lines:
            # UCX is used only where the user names it.
            wanted = transport == "shm" or "ucx" in os.environ.get("ORRERY_TRANSPORT", "")
            (found.defect if wanted else found.note)(
                "transports", None, "messages of the runtime do not arrive over %s: %s" % (transport, why or "they are wrong"),
                "programs with ORRERY_TRANSPORT=%s%s fail" % (transport, ", and the default," * (transport == "shm")),
                "ucx_info -d shows the devices; UCX_TLS and UCX_NET_DEVICES choose" if transport == "ucx" else "see the message of `orrery run' there")
        elif transport == "shm" and "may not reach" in said:
            found.note("transports", None, "shm is refused inside of a host", "payloads inside a host go through MPI", "see memory above")
        else:
            found.fine.append(("transports", "%s: vectors go around %d ranks%s" % (transport, 2 * len(mpi.names), ", two on each host" * (len(mpi.names) > 1))))


# ---- what was calibrated ----

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
RATES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2.0 ** 10, "Mi": 2.0 ** 20, "Gi": 2.0 ** 30}


def quantity(text, form, units):
    number, unit = re.fullmatch(form, text).groups()
    return float(number) * units[unit]


def rate(text):
    return quantity(text, r"([0-9.e+-]+)([KMGTki]*)[Bb]ps", RATES) / (8 if text.endswith("bps") else 1)


def seconds(text):
    return quantity(text, r"([0-9.e+-]+)(ns|us|ms|s)", SECONDS)


class Calibrated:
    """The latency in us and the bytes/s of a large message, from the platform file that `orrery calibrate --network' wrote."""

    def __init__(self, path):
        try:
            orrery_checksum.check(path, form=orrery_checksum.XML)
            root = xml.etree.ElementTree.parse(path).getroot()
            factors = [p.get("value") for p in root.iter("prop") if p.get("id") == "smpi/bw-factor"]
            factor = float(factors[0].split(";")[-1].split(":")[1]) if factors else 1.0
            # One description for all, or a link for each host.
            clusters = {None: (seconds(c.get("lat")), rate(c.get("bw")) * factor) for c in root.iter("cluster")}
            links = {link.get("id")[5:]: (seconds(link.get("latency")), rate(link.get("bandwidth")) * factor)
                     for link in root.iter("link") if link.get("id").startswith("link-")}
            self.links = clusters or links
            self.best = min(link[0] for link in self.links.values()), max(link[1] for link in self.links.values())
        except OSError as error:
            raise UserError("--platform %s: %s" % (path, error.strerror)) from None
        except (xml.etree.ElementTree.ParseError, AttributeError, TypeError, KeyError, ValueError, IndexError):
            raise UserError("--platform %s: there are neither a <cluster> with lat and bw nor links of hosts in it, as "
                            "`orrery calibrate --network' writes them" % path) from None

    def of(self, pair):
        ends = [self.links.get(name, self.best) for name in pair]
        return (ends[0][0] + ends[1][0]) * 1e6, min(end[1] for end in ends)

    def __str__(self):
        values = [self.of((name, name)) for name in self.links]
        return in_words(dict(enumerate(values)))


def read_platform(path):
    return Calibrated(path)


def options_for(mpi):
    """What `orrery run' needs to start on these hosts."""
    words = [mpi.launcher.hosts[0], ",".join(mpi.names)] + mpi.ports + mpi.extra
    variables = "".join("%s=%s " % item for item in mpi.variables.items())
    return "%sorrery run -n %d --mpirun %s ./app" % (variables, len(mpi.names), shlex.quote(" ".join(words)))
