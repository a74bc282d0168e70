# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Where mpirun puts ranks, and which variables it has to take there: for `orrery run`
# on several hosts, and its --show.
# Invariant: no host is reached and no program started. What mpirun would do is what
# mpirun says; where it cannot be asked, nothing is guessed.
import os
import re
import subprocess

import orrery_jobs
import orrery_launchers

# Of a run, not of the shell: a rank has its own, or the launcher says them.
OURS = ("STARPU_", "ORRERY_")
# What is this host's own, of `orrery run` itself, or of the registry of process sets, which tells its processes.
NOT_PASSED = ("ORRERY_MPIRUN", "ORRERY_ALLOW_RUN_AS_ROOT", "ORRERY_DYN_SERVER", "ORRERY_DYN_HOST", "STARPU_HOSTNAME")
# With this parameter, Open MPI refuses the options.
LIST = "mca_base_env_list"
ASK_S = 30


def passed_on(launcher, environment, extra):
    """Options that let mpirun take our variables to other hosts, as they are taken to this one; those that its own
    options name are left to these."""
    if LIST in extra or "OMPI_MCA_" + LIST in environment:
        return []
    given = {extra[i + 1].partition("=")[0] for i, word in enumerate(extra[:-1]) if word == launcher.exports}
    names = [name for name in sorted(environment) if name.startswith(OURS) and not name.startswith(NOT_PASSED) and name not in given]
    return [word for name in names for word in (launcher.exports, name)]


class Place:
    """Ranks on a host, by their numbers."""

    def __init__(self, host, ranks=()):
        self.host, self.ranks = host, list(ranks)

    def __str__(self):
        return "%-16s %s" % (self.host, ("rank " if len(self.ranks) == 1 else "ranks ") + spans(self.ranks))


def spans(numbers):
    """1,2,3,7 as 1-3,7."""
    parts = []
    for n in sorted(numbers):
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join("%d-%d" % (a, b) if b > a else str(a) for a, b in parts)


def read_map(text):
    """The places of mpirun's --display-map."""
    places = []
    for line in text.splitlines():
        node = re.match(r"\s*Data for node: (\S+)", line)
        rank = re.match(r"\s*Process OMPI jobid: .* Process rank: (\d+)", line)
        if node:
            places.append(Place(node[1]))
        elif rank and places:
            places[-1].ranks.append(int(rank[1]))
    return [place for place in places if place.ranks]


def without_binding(options):
    """Options without those about cores, which mpirun knows only when it has been on the hosts. None if ranks are
    placed by cores."""
    kept, words = [], list(options)
    while words:
        word = words.pop(0)
        name, equals, value = word.lstrip("-").partition("=")
        if name == "bind-to":
            if not equals and words:
                words.pop(0)
        elif name in ("map-by", "rank-by") and re.search(r"PE=|core|socket|numa|cache|hwthread|seq|dist|^ppr:(?!.*:node)", value if equals else words[0] if words else ""):
            return None
        else:
            kept.append(word)
    return kept + ["--bind-to", "none"]


def placement(launcher, mpiexec, ranks, options, environment):
    """(places, why there are none) of ranks on several hosts (0 ranks: mpirun knows how many)."""
    if launcher is not orrery_launchers.OPEN_MPI_4:
        return [], "%s decides where ranks run, and cannot be asked: it is not Open MPI 4" % mpiexec
    options = without_binding(options)
    if options is None:
        return [], "%s decides where ranks run, by the cores that it will find" % mpiexec
    ask = [mpiexec, "--do-not-launch", "--display-map"] + (["-n", str(ranks)] if ranks else []) + options + ["true"]
    try:
        done = subprocess.run(ask, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace", timeout=ASK_S, check=False)
    except subprocess.TimeoutExpired:
        return [], "%s did not say within %d s where ranks run" % (mpiexec, ASK_S)
    places = read_map(done.stdout)
    if places:
        return places, None
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip() and not line.startswith("---")]
    return [], "mpirun refuses: " + " ".join(lines[:3] or ["it gives no reason"])


def cores_of(options):
    """What options of mpirun say about cores."""
    value = ""
    for i, word in enumerate(options):
        name, equals, text = word.lstrip("-").partition("=")
        if name in ("map-by", "bind-to"):
            text = text if equals else (options + [""])[i + 1]
            pe = re.search(r"PE=(\d+)", text) or re.fullmatch(r"core:(\d+)", text)  # Open MPI's, Hydra's
            if pe:
                return "%s core%s each" % (pe[1], "" if pe[1] == "1" else "s")
            if name == "bind-to":
                value = "not bound" if text == "none" else "each bound to a %s" % text
    return value or "bound as mpirun does by default"


def transports(environment, several):
    """One line on who carries messages."""
    value = environment.get("ORRERY_TRANSPORT") or "auto"
    names = value.split(",")
    inside = "shm" if "shm" in names or value == "auto" else "ucx" if "ucx" in names else "mpi"
    between = "ucx" if "ucx" in names else "mpi"
    return "messages: " + (inside + " inside a host, " + between + " between hosts" if several else inside + " (one host)") + \
        ", ORRERY_TRANSPORT=" + value


def short(host):
    return host.partition(".")[0]


def known(launcher, options, environment):
    """{host: the ranks that it takes, 0 if that is not said} of a run, as far as its options or the job name them."""
    return orrery_jobs.slots_of_options(options, launcher) or dict.fromkeys(orrery_jobs.hosts_of_job(environment), 0)


def without(launcher, options, lost, environment):
    """The options of a run without hosts that are lost: its ranks share the others. None if no other is known."""
    kept, words = [], list(options)
    while words:
        word = words.pop(0)
        name, equals, _ = word.partition("=")
        if name not in launcher.hosts + launcher.host_files:
            kept.append(word)
        elif not equals:
            del words[:1]
    named = known(launcher, options, environment)
    gone = {short(host) for host in lost}
    left = ["%s:%d" % (host, slots) if slots else host for host, slots in named.items() if short(host) not in gone]
    if not left or len(left) == len(named):
        return None
    crowd = [] if launcher.crowd[:1] and launcher.crowd[0] in kept else launcher.crowd
    return kept + crowd + [launcher.hosts[0], ",".join(left)]


def describe(launcher, mpiexec, ranks, options, environment, several):
    """Lines for --show: who runs where, before anything is started. several: options or the job may name other hosts."""
    if several:
        places, why = placement(launcher, mpiexec, ranks, options, environment)
    else:
        places, why = [Place(os.uname().nodename, range(ranks))], None
    cores = cores_of(options)
    if not places:
        return [why, cores] + [transports(environment, True)]
    ranks = sum(len(place.ranks) for place in places)
    head = "%d rank%s on %d host%s, %s:" % (ranks, "s" * (ranks != 1), len(places), "s" * (len(places) != 1), cores)
    return [head] + ["  " + str(place) for place in places] + [transports(environment, len(places) > 1)]
