# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the launcher (mpirun, see orrery_launchers.py) for `orrery run`, shows what it says as it says
# it, and learns from it which rank was lost.
# An mpirun that does not end after a signal that ends it is killed: an interrupt while it starts can stop it for ever
# (orrery_child.py says why). So is one that waits for the daemon of a host that it has lost itself, as Open MPI 5's
# does, or that the heartbeat of the ranks (src/mpi/run/heartbeat.h) found lost; what it has started on other hosts ends with it.
# Invariant: mpirun gets SIGKILL only after another signal, or for a lost host.
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import orrery_jobs
from orrery_child import Child

# The words of the heartbeat about hosts and ranks that no sign of life comes from.
SILENT = re.compile(rb"error: lost: ([^;\n]*); no sign of life for ([0-9.]+) s")
# ... about all other hosts, by a rank that cannot know on which side of the cut the others are.
CUT_OFF = re.compile(rb"error: host (\S+) is cut off, or all others are lost: ([^;\n]*); no sign of life for ([0-9.]+) s")
SILENT_HOST = re.compile(r"\bhost (\S+) with ranks?\b")
ENDS = (signal.SIGINT, signal.SIGTERM)
# So long mpirun may take to end, without processes of its own and with them. It kills ranks after a second.
ALONE_S, LAST_S = 10, 60
# So long it may take after the ranks have ended because some are lost.
LOST_S = 6


# The words of a rank about its own end by a signal (orr_signal_ends()), and which signal that is.
CRASHED = re.compile(rb"\[orrery\] error: rank (\d+): [^\n]* (crashed \([a-z ]+\)|aborted|came to a breakpoint)")
CRASHES = {b"crashed (segmentation fault)": signal.SIGSEGV, b"crashed (bus error)": signal.SIGBUS, b"crashed (arithmetic error)": signal.SIGFPE,
           b"crashed (illegal instruction)": signal.SIGILL, b"aborted": signal.SIGABRT, b"came to a breakpoint": signal.SIGTRAP}


class Lost:
    """A rank that a signal ended."""

    weight = 2  # of what is said about a loss, the heaviest counts
    sure = True  # there was something to lose
    hosts = []  # that are lost as a whole

    def __init__(self, match):
        self.rank, self.host, self.signal, self.name = [
            (match.group(part) or b"").decode(errors="replace") for part in ("rank", "host", "signal", "name")]

    def is_of(self, rank, number):
        """The rank said so itself. A launcher that does not know the rank may name the signal that it has ended others with."""
        self.rank = rank
        if number and str(int(number)) != self.signal:
            self.signal, self.name = str(int(number)), signal.strsignal(number)

    def __str__(self):
        return "%s on %s was lost (signal %s%s)" % (
            "rank " + self.rank if self.rank else "a rank", self.host, self.signal, ", " + self.name if self.name else "")


class Silent:
    """Ranks from which no sign of life came."""

    weight = 3
    sure = True

    def __init__(self, match):
        self.what = match.group(1).decode(errors="replace")
        self.hosts = SILENT_HOST.findall(self.what)  # none of whose ranks answered

    def __str__(self):
        return "no sign of life came from %s" % self.what


class CutOff(Silent):
    """The same, said on a host that may be cut off: this one, or one whose words have come nevertheless. But if ranks of another
    one have closed their connections before, that one is lost: mpirun has ended the others, and the rank that says it last."""

    def __init__(self, match, closed):
        self.host, self.what = [match.group(part).decode(errors="replace") for part in (1, 2)]
        others = SILENT_HOST.findall(self.what)
        if orrery_jobs.is_this_host(self.host):
            self.hosts = others
        else:
            self.hosts = [closed] if closed in others else [self.host]

    def __str__(self):
        return "host %s is cut off, or all others are lost (%s)" % (self.host, self.what)


class Broken:
    """A host whose connection to the launcher ended. Its name may be known by other means only (Agents)."""

    weight = 2
    sure = False

    def __init__(self, match):
        name = match.groupdict().get("host")
        self.hosts = [name.decode(errors="replace")] if name else []

    def __str__(self):
        return "%s was lost or could not be reached (its connection to mpirun ended)" % ("host " + self.hosts[0] if self.hosts else "a host")


class Closed:
    """Ranks of a host that have closed their connections."""

    weight = 1
    sure = True
    hosts = []  # the host may be there

    def __init__(self, match):
        self.host = (match.group("host") or b"").decode(errors="replace")

    def __str__(self):
        return "ranks%s were lost (their connections were closed)" % (" on host " + self.host if self.host else "")


def words_of(launcher):
    """Pairs of a kind of loss and the words by which it is known."""
    kinds = ((Silent, SILENT), (CutOff, CUT_OFF), (Lost, launcher.lost), (Broken, launcher.broken), (Closed, launcher.closed))
    return [(kind, words) for kind, words in kinds if words]


def heaviest(outputs):
    """What is said about a loss, or None."""
    return max((output.lost for output in outputs if output.lost), key=lambda lost: lost.weight, default=None)


class Output:
    """The output of mpirun and the ranks on a stream, passed on at once to one of ours; words: of a loss, refusal: of root."""

    def __init__(self, pipe, to, words, refusal=None):
        self.lost, self.to, self.words = None, to.fileno(), words
        self.refusal, self.refused = refusal, False
        self.crashed = None  # the first rank that said so, and its signal
        self.peer = None  # the first host of which ranks elsewhere said that its ranks had closed their connections
        self.patience_s = 10  # after the end of the launcher
        self.end = b""  # of what was read, so that a line may come in two parts
        self.reader = threading.Thread(target=self.pass_on, args=(pipe.fileno(),), daemon=True)
        self.reader.start()

    def pass_on(self, fd):
        while True:
            try:
                piece = os.read(fd, 65536)
            except OSError:
                return
            if not piece:
                self.look(self.end)
                return
            try:
                self.write(piece)
            except OSError:
                pass  # nobody reads it; the run goes on
            self.end = (self.end + piece)[-4096 - len(piece):]
            self.refused = self.refused or bool(self.refusal and self.refusal.search(self.end))
            self.look(self.end[:self.end.rfind(b"\n") + 1])  # a name may have come in part

    def look(self, text):
        """Takes note of what the end of the output says about losses, in the order in which it does."""
        crash = not self.crashed and CRASHED.search(text)
        if crash:
            self.crashed = crash.group(1).decode(), CRASHES.get(crash.group(2))
        found = [(match.start(), kind, match) for kind, words in self.words for match in [words.search(text)] if match]
        for _, kind, match in sorted(found, key=lambda one: one[0]):
            if kind is Closed and not self.peer:
                self.peer = kind(match).host
            if not self.lost or kind.weight > self.lost.weight:
                self.lost = CutOff(match, self.peer) if kind is CutOff else kind(match)

    def write(self, piece):
        while piece:
            piece = piece[os.write(self.to, piece):]


def children(pid):
    """The processes that a process has started and that have not ended."""
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


class Agents:
    """The processes by which the launcher reaches other hosts, such as ssh, each with the name of its host among its words.
    The first one that ends is that of a host that is lost, when the launcher says that one is: it ends the others then.
    epoll keeps what is ready in the order in which it became so; a thread that looks late still finds the first one. It looks
    for new ones after a tenth of the time that has passed, so that one of a run that loses its host early is known."""

    def __init__(self, pid, hosts):
        self.pid, self.hosts, self.first, self.over = pid, hosts, None, False
        self.known, self.seen = {}, set()  # host of each descriptor; processes whose words are their own
        self.watcher = None
        if hosts and hasattr(os, "pidfd_open"):
            self.ends = select.epoll()
            self.watcher = threading.Thread(target=self.watch, daemon=True)
            self.watcher.start()

    @staticmethod
    def words(pid):
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                return file.read().decode(errors="replace").split("\0")
        except OSError:
            return [""]

    def meet(self):
        """Takes in the processes that the launcher has started since. Returns how many of them have no words of their own
        yet: a new process has those of the launcher until it executes its program, and none for a moment then."""
        young = 0
        for pid in set(children(self.pid)) - self.seen:
            words = self.words(pid)
            if words in ([""], self.words(self.pid)):
                young += 1
                continue
            self.seen.add(pid)
            try:
                fd = os.pidfd_open(pid)
            except OSError:
                continue
            self.known[fd] = next((host for host in self.hosts if host in words), None)
            self.ends.register(fd, select.EPOLLIN)
        return young

    def look(self, patience_s):
        """Waits for an end, and takes note of it. Returns whether there was one."""
        ended = self.ends.poll(patience_s, 1)
        for fd, _ in ended:
            self.first = self.first or self.known[fd]
            self.ends.unregister(fd)
            os.close(fd)
        return bool(ended)

    def watch(self):
        begin = time.monotonic()
        while not self.over and not self.first:
            young = self.meet()
            self.look(0.01 if young else min(max(0.01, (time.monotonic() - begin) / 10), 1))

    def finish(self):
        """The launcher has ended, perhaps before the thread has looked."""
        self.over = True
        if self.watcher:
            self.watcher.join(10)
            while not self.first and self.look(0):
                pass


def kill_all(child, launcher):
    """Kills mpirun and what it has started here, and removes the folder that it would have removed."""
    for pid in [child.pid] + children(child.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if launcher.folder:
        parent, own = os.path.join(tempfile.gettempdir(), launcher.folder(os.uname().nodename, os.geteuid())), "pid.%d" % child.pid
        shutil.rmtree(os.path.join(parent, own), ignore_errors=True)
        try:
            os.rmdir(parent)
        except OSError:
            pass  # other runs go on


def kill_hung(child, launcher, waited):
    """Kills mpirun if it does not end; waited: seconds since it was told to."""
    if waited < (LAST_S if children(child.pid) else ALONE_S):
        return
    sys.stderr.write("orrery run: mpirun has not ended %.0f s after it was told to; it is killed\n" % waited)
    kill_all(child, launcher)


def wait(mpirun, launcher, outputs):
    """The child's status, and the signal by which somebody ended it or None; passes signals on meanwhile."""
    child = mpirun.process
    ended_by = told = silent = None
    while child.poll() is None:
        number = mpirun.turn()
        if isinstance(heaviest(outputs), (Silent, Broken)):
            silent = silent or time.monotonic()
            if time.monotonic() - silent > LOST_S:
                kill_all(child, launcher)
                child.wait()
                for output in outputs:
                    output.patience_s = 1  # processes of a lost host may keep the pipe
                return 1, ended_by
        if number in ENDS:
            ended_by = number
            told = told or time.monotonic()
        if ended_by:
            kill_hung(child, launcher, time.monotonic() - told)
    return child.returncode, ended_by


def left_behind(environment):
    """The files that were asked for, and what an early end means for them."""
    files = [environment[name] for name in ("ORRERY_REPORT", "ORRERY_MPI_STATS_FILE") if environment.get(name)]
    missing = [path for path in files if not os.path.exists(path) or os.path.isfile(path) and not os.path.getsize(path)]
    if not missing:
        return "files that the run was writing are not complete"
    return "%s: nothing was written, because that is done at the end of a run; other files are not complete" % " and ".join(missing)


def launch(launcher, command, environment, hosts=()):
    """Runs mpirun; its exit status, and what was lost or None. hosts: those of the run, as far as they are known. A run that
    somebody interrupts ends here."""
    begin = time.monotonic()
    sys.stdout.flush()
    mpirun = Child(command, environment, stdout=subprocess.PIPE if launcher.lost_in_output else None, stderr=subprocess.PIPE)
    child = mpirun.process
    try:
        refusal = launcher.refuses_root if os.geteuid() == 0 else None
        outputs = [Output(pipe, to, words_of(launcher), refusal) for pipe, to in ((child.stdout, sys.stdout), (child.stderr, sys.stderr)) if pipe]
        agents = Agents(child.pid, hosts)
        status, ended_by = wait(mpirun, launcher, outputs)
        agents.finish()
        for output in outputs:
            output.reader.join(output.patience_s)
    finally:
        mpirun.finish()
    if ended_by:
        sys.stderr.write("orrery run: %s after %.1f s; %s\n" % (
            "interrupted" if ended_by == signal.SIGINT else "terminated", time.monotonic() - begin, left_behind(environment)))
        sys.exit(128 + ended_by)
    if status and any(output.refused for output in outputs):
        sys.stderr.write("orrery run: mpirun refuses root; `orrery run --allow-run-as-root', or ORRERY_ALLOW_RUN_AS_ROOT=1, says that you mean it\n")
    lost = heaviest(outputs)
    if isinstance(lost, Broken) and not status:
        status = 1  # Open MPI 5's mpirun ends all ranks then, and says 0
    if isinstance(lost, Broken) and not lost.hosts:
        # mpirun may end the agents of other hosts before that of the lost one has ended.
        lost.hosts = [name for name in (*(o.peer for o in outputs), agents.first) if name][:1]
    if isinstance(lost, Lost) and not lost.rank:  # the launcher does not know
        lost.is_of(*next((output.crashed for output in outputs if output.crashed), ("", None)))
    if isinstance(lost, Lost) and launcher.signal_status:
        status = 128 + int(lost.signal)
    return status, lost
