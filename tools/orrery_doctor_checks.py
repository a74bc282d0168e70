# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The checks of `orrery doctor` on the facts of hosts: each check looks at all of them, and says
# one line if they are fine, or accuses some of them.
# Invariant: a check accuses a host only of what that host has said, with its consequence and a
# remedy. What works, but could be better, is a note.
import os
import re

MIB = 1 << 20
LOOPBACK = re.compile(r"127\.|::1$")
CLOCK_S = 1.0  # clocks may differ by this
LOCKED, LOCKED_BY_FABRIC = 64 << 10, 1 << 30  # bytes of memory that may be locked, at least
LEAST_MAPS = 65530
CALIBRATED_ON = re.compile(r"measured by `orrery calibrate[^`']*`? on (.*), (\d{4}-\d\d-\d\d)(; uncertain.*)?$")


class Finding:
    """A defect or a note: a check, the hosts, what, its consequence, and a remedy."""

    def __init__(self, check, what, consequence, remedy):
        self.check, self.what, self.consequence, self.remedy, self.hosts = check, what, consequence, remedy, []

    def same(self, other):
        return (self.check, self.what, self.consequence, self.remedy) == (other.check, other.what, other.consequence, other.remedy)


class Findings:
    """What was found, in the order in which it was found; what several hosts have in common is there once."""

    def __init__(self):
        self.fine, self.defects, self.notes = [], [], []

    def add(self, kind, finding, host):
        known = next((old for old in kind if old.same(finding)), None)
        if not known:
            kind.append(finding)
        where = known or finding
        if host and host not in where.hosts:
            where.hosts.append(host)

    def defect(self, check, host, what, consequence, remedy):
        self.add(self.defects, Finding(check, what, consequence, remedy), host)

    def note(self, check, host, what, consequence, remedy):
        self.add(self.notes, Finding(check, what, consequence, remedy), host)

    def accused(self, check):
        return any(finding.check == check for finding in self.defects)

    def is_fine(self, check, text):
        """Says that a check is fine, unless it has accused somebody."""
        if not self.accused(check):
            self.fine.append((check, text))


def size(n):
    """Bytes in words."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (MIB, "MiB"), (1 << 10, "KiB")):
        if n >= unit:
            return "%.3g %s" % (n / unit, name)
    return "%d bytes" % n


def one(facts, name, default=""):
    return facts.get(name, [default])[0]


def usual(values):
    """The value that most have."""
    return max(values, key=values.count)


def span(values, form="%s"):
    """The least and the largest of some values."""
    values = [form % value for value in sorted(values)]
    return values[0] if values[0] == values[-1] else values[0] + " to " + values[-1]


# ---- what is installed ----

def libraries(facts):
    """{file name without version: (path, checksum)}"""
    found = {}
    for line in facts.get("library", []):
        path, _, checksum = line.rpartition(" ")
        found[os.path.basename(path).partition(".so")[0]] = (path, checksum)
    return found


def check_build(found, here, hosts, version):
    """here: the facts of this computer, which starts the runs; hosts: {name: facts}."""
    own = libraries(here)
    for name, facts in hosts.items():
        theirs = libraries(facts)
        for library in ("liborrery", "liborrery-mpi"):
            if library in own and theirs.get(library, own[library])[1] != own[library][1]:
                found.defect("build", name, "%s is another build of Orrery than here" % theirs[library][0],
                             "ranks of two builds do not understand each other, and the run ends at its start",
                             "install the same build on all hosts, or see what LD_LIBRARY_PATH names there")
                break
        if "nofolder" in facts:
            found.defect("folder", name, "the folder %s is not there" % os.getcwd(), "mpirun starts no rank there, or starts it elsewhere",
                         "start from a folder that all hosts share, or make it there")
    own_path, checksum = own.get("liborrery", ("?", "?"))
    found.is_fine("build", "Orrery %s, %s in %s%s" % (version, checksum[:8], os.path.dirname(own_path), "" if len(hosts) < 2 else ", on all"))
    if len(hosts) > 1:
        found.is_fine("folder", os.getcwd() + " is there on all")


def mpi_name(text):
    """Open MPI v4.1.4 of the text that an MPI says of itself."""
    match = re.match(r"(Open MPI|MPICH|MVAPICH\S*|Intel\(R\) MPI)\D*v?(\d[\d.a-z]*)", text)
    return "%s %s" % match.groups() if match else text[:40] or "none"


def check_mpi(found, here, hosts, launcher, mpiexec):
    own = mpi_name(one(here, "mpi"))
    for name, facts in hosts.items():
        status = one(facts, "status", "0")
        theirs = mpi_name(one(facts, "mpi"))
        if "mpi" not in facts:
            found.defect("MPI", name, "no program with MPI starts there (status %s)" % status, "no rank starts there",
                         "install the MPI of this computer there, %s; `ldd' of a program there says which library is missing" % own)
        elif theirs != own:
            found.defect("MPI", name, "its MPI is %s, here it is %s" % (theirs, own), "ranks of two MPIs cannot meet: mpirun hangs or fails",
                         "install the same MPI on all hosts, or see what PATH and LD_LIBRARY_PATH name there")
        elif libraries(facts).get("libmpi", ("", ""))[1] != libraries(here).get("libmpi", ("", ""))[1]:
            found.note("MPI", name, "%s, but another build of it than here" % theirs, "builds with other options may lack a transport",
                       "install the same package everywhere")
    if launcher.name == "MPICH" and own.startswith("Open MPI") or launcher.name != "MPICH" and own.startswith("MPICH"):
        found.defect("MPI", None, "%s is of %s, the library is %s" % (mpiexec, launcher.name, own), "each rank believes that it is alone",
                     "set ORRERY_MPIRUN to the mpirun of %s" % own)
    return own


# ---- the host ----

def check_names(found, hosts):
    several = len(hosts) > 1
    for name, facts in hosts.items():
        own, addresses = one(facts, "host"), facts.get("address", [])
        if not addresses:
            found.defect("names", name, "it calls itself %s, and that name has no address there" % own,
                         "programs that announce themselves by their name fail or wait", "add the name to /etc/hosts or DNS")
        elif several and all(LOOPBACK.match(address) for address in addresses):
            found.defect("names", name, "its own name %s is the loopback address %s there" % (own, addresses[0]),
                         "a rank there may give others an address that leads nowhere, and they wait for it",
                         "give the name the address of the network in its /etc/hosts")
    found.is_fine("names", "each host knows its address" if several else one(next(iter(hosts.values())), "host"))


def check_twice(found, hosts):
    """Hosts that stand in the list under two names."""
    seen = {}
    for name, facts in hosts.items():
        first = seen.setdefault(one(facts, "self"), name)
        if first != name:
            found.defect("hosts", name, "is the same host as %s" % first, "mpirun takes it for two, and starts twice as many ranks there as there are cores",
                         "name it once")


def limits_of(facts):
    return {words[0]: (int(words[1]), int(words[2])) for words in map(str.split, facts.get("limit", []))}


def raise_limit(item, need, hard):
    if hard < 0 or hard >= need:
        return "`ulimit -%s %d' in the profile of the shell there" % (item, need)
    names = {"n": "nofile", "l": "memlock", "u": "nproc", "s": "stack", "v": "as", "f": "fsize"}
    return "the administrator raises %s in /etc/security/limits.conf, or Limit%s= of the service" % (names[item], names[item].upper())


def check_limits(found, hosts):
    for name, facts in hosts.items():
        limit, cores = limits_of(facts), int(one(facts, "cores", "1").split()[0])
        need = {"nofile": max(1024, 256 + 8 * len(hosts)), "nproc": max(256, 16 * cores), "stack": MIB,
                "memlock": LOCKED_BY_FABRIC if "fabric" in facts else LOCKED, "as": int(one(facts, "memory", "0")), "fsize": 1 << 40}
        for key, letter, what, consequence in (
                ("nofile", "n", "only %d files may be open at once", "a rank has a connection to each other, and ends with \"Too many open files\""),
                ("nproc", "u", "only %d processes and threads are allowed", "workers cannot be started: \"Resource temporarily unavailable\""),
                ("stack", "s", "the stack of a thread has %s at most", "kernels with arrays on the stack crash"),
                ("memlock", "l", "only %s may be locked in memory", "UCX, InfiniBand and devices cannot register their buffers: slow, or refused"),
                ("as", "v", "a process has %s of addresses at most", "data, threads and shared memory do not fit: \"Cannot allocate memory\""),
                ("fsize", "f", "a file has %s at most", "traces and checkpoints break off")):
            soft, hard = limit.get(key, (-1, -1))
            if 0 <= soft < need[key]:
                found.defect("limits", name, what % (soft if key in ("nofile", "nproc") else size(soft)) + " (ulimit -%s)" % letter, consequence,
                             raise_limit(letter, need[key], hard))
        if int(one(facts, "maps", LEAST_MAPS)) < LEAST_MAPS:
            found.defect("limits", name, "a process may map only %s pieces of memory (vm.max_map_count)" % one(facts, "maps"),
                         "programs with much data, or many threads, end with \"Cannot allocate memory\"", "sysctl -w vm.max_map_count=%d there" % LEAST_MAPS)
    files = [limits_of(facts).get("nofile", (-1, -1))[0] for facts in hosts.values()]
    found.is_fine("limits", "%s open files, locked memory, threads, stack, maps" % ("any number of" if min(files) < 0 else span(files)))


def check_memory(found, hosts):
    for name, facts in hosts.items():
        total, free = map(int, one(facts, "shm", "0 0").split())
        need = max(64 * MIB, 8 * MIB * int(one(facts, "cores", "1").split()[0]))
        if free < need:
            found.defect("memory", name, "/dev/shm has %s, %s of them free" % (size(total), size(free)) if total else "there is no /dev/shm",
                         "ranks of one host have no shared memory: MPI fails or crashes with \"Bus error\"",
                         "mount -o remount,size=%s /dev/shm; in a container --shm-size; or remove old files there" % ("%dM" % (2 * need // MIB)))
        if one(facts, "reach") == "no":
            found.defect("memory", name, "ranks may not read each other's memory (process_vm_readv)", "messages inside the host are copied twice, by MPI",
                         "sysctl -w kernel.yama.ptrace_scope=0; in a container --cap-add=SYS_PTRACE")
        free, _, folder = one(facts, "tmp", "-1 /tmp").partition(" ")
        if int(free) < 32 * MIB:
            found.defect("memory", name, "%s %s" % (folder, "cannot be written" if int(free) < 0 else "has only %s left" % size(int(free))),
                         "mpirun has no place for its files, and starts nothing there", "make room there, or let TMPDIR name another folder")
    found.is_fine("memory", "/dev/shm %s free, ranks reach each other's memory" % size(min(int(one(f, "shm", "0 0").split()[1]) for f in hosts.values())))


def check_cores(found, hosts, job):
    for name, facts in hosts.items():
        usable, online = map(int, one(facts, "cores", "1 1").split())
        quota = float(one(facts, "quota", "0"))
        if usable < online and not job:
            found.defect("cores", name, "only %d of its %d cores may be used" % (usable, online), "workers share them, or there are fewer of them",
                         "look for taskset, cpuset or CPUAffinity= in what starts the shell there (ssh, container)")
        if 0 < quota < 0.99 * usable:
            found.defect("cores", name, "its control group may use %.3g cores, and it has %d" % (quota, usable),
                         "workers are stopped for a part of each tenth of a second, and with them all that wait for them",
                         "raise cpu.max (--cpus of a container), or set STARPU_NCPU=%d" % max(1, int(quota)))
        load = float(one(facts, "load", "0"))
        if load > 1.5 * online:
            found.note("cores", name, "it is busy: more than %d threads want its %d cores" % (online, online), "what is measured here is too slow",
                       "look with `top' there, and repeat this when it is idle")
    counts = [int(one(facts, "cores", "1 1").split()[0]) for facts in hosts.values()]
    models = sorted({one(facts, "processor", "?") for facts in hosts.values()})
    found.is_fine("cores", "%s on each host, %s" % (span(counts), " and ".join(models[:2])))
    if len(set(counts)) > 1 or len(models) > 1:
        found.note("cores", None, "hosts are not alike: %s cores, %s" % (span(counts), ", ".join(models)), "equal shares of work end at different times",
                   "calibrate each kind of host, or choose hosts of one kind")


def check_clocks(found, offsets):
    """offsets: {name: seconds ahead of this computer}; "" is this computer."""
    if len(offsets) < 2:
        return
    values = sorted(offsets.values())
    middle = min(values[(len(values) - 1) // 2], values[len(values) // 2], key=abs)
    for name, offset in offsets.items():
        off = offset - middle
        if abs(off) > CLOCK_S:
            found.defect("clocks", name or "this computer", "its clock is %.3g s %s the others" % (abs(off), "ahead of" if off > 0 else "behind"),
                         "times in logs mislead, make and checkpoints take old files for new ones, munge and Kerberos refuse",
                         "start chrony or systemd-timesyncd there")
    found.is_fine("clocks", "within %.2g s of each other" % max(0.001, values[-1] - values[0]))


def check_home(found, hosts, seen):
    """seen: {host: "kept PATH" or "refused PATH WHY", and whether it sees the file of the first one}."""
    shared = [name for name, (_, there) in seen.items() if there]
    for name, (answer, _) in seen.items():
        if answer.startswith("refused"):
            _, path, why = answer.split(" ", 2)
            found.defect("home", name, "%s cannot be written: %s" % (path, why), "performance models and calibrations are not kept",
                         "let STARPU_HOME name a folder that can be written there, or mend the mount")
    paths = {one(facts, "home") for facts in hosts.values()}
    if len(hosts) > 1 and not found.accused("home") and len(shared) < len(seen):
        found.note("home", None, "hosts do not share it", "each keeps models and calibrations of its own", "calibrate on each host, or let STARPU_HOME name a shared folder")
    found.is_fine("home", "%s can be written%s" % (" and ".join(sorted(paths)), "" if len(hosts) < 2 else ", shared" if len(shared) == len(seen) else ", not shared"))


# ---- calibration ----

def check_calibration(found, hosts):
    without = []
    for name, facts in hosts.items():
        lines = dict(line.partition(" ")[::2] for line in facts.get("bus", []))
        folder, _, called = one(facts, "models").rpartition(" ")
        if "config" not in lines:
            without.append(name)
            continue
        usable, online = map(int, one(facts, "cores", "1 1").split())
        count = lines["config"].split("#")[0].strip()
        match = CALIBRATED_ON.search(lines.get("costs", ""))
        processor = one(facts, "processor", "")
        again = "run `orrery calibrate' there"
        if match and processor and match.group(1) != processor:
            found.defect("calibration", name, "%s/bus/%s.costs was measured on %s, and this is %s" % (folder, called, match.group(1), processor),
                         "schedulers and simulations believe in another machine", again)
        elif count.isdigit() and int(count) not in (usable, online):
            found.defect("calibration", name, "%s/bus/%s.config is of a machine with %s cores, and this has %d" % (folder, called, count, online),
                         "schedulers and simulations believe in another machine", again)
        elif match and match.group(3):
            found.note("calibration", name, "it is uncertain" + match.group(3).replace("; uncertain", ""), "predictions err", again + " when it is idle")
    if len(without) == len(hosts):
        found.note("calibration", None, "none yet", "simulations of these hosts use costs of another machine", "run `orrery calibrate' on each kind of host")
        found.fine.append(("calibration", "none yet"))
        return
    for name in without:
        facts = hosts[name]
        found.defect("calibration", name, "it has none in %s/bus, though other hosts have" % one(facts, "models").rpartition(" ")[0],
                     "its scheduler decides by guesses", "run `orrery calibrate' there, or share the folder and set STARPU_HOSTNAME")
    found.is_fine("calibration", "there for each host, of machines like these")

