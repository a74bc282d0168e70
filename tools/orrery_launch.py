# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the launcher (mpirun, see orrery_launchers.py) for `orrery run`, shows what it says as it says
# it, and learns from it which rank was lost.
# An interrupt that reaches mpirun while it starts can stop it for ever: its handler calls exit() in the middle of
# malloc() (seen with Open MPI 4.1.4). So one that does not end after a signal that ends it is killed.
# Invariant: mpirun gets each signal once, and SIGKILL only then. Signals of the terminal reach it by
# themselves, because it is in our process group; only those that another process
# sends to us are passed on.
import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
ENDS = (signal.SIGINT, signal.SIGTERM)
# So long mpirun may take to end, without processes of its own and with them. It kills ranks after a second.
ALONE_S, LAST_S = 10, 60
PR_SET_PDEATHSIG = 1
FROM_KERNEL = 128  # si_code of a signal that no process sent


class Lost:
    """A rank that a signal ended."""

    def __init__(self, match):
        self.rank, self.host, self.signal, self.name = [
            (match.group(part) or b"").decode(errors="replace") for part in ("rank", "host", "signal", "name")]

    def __str__(self):
        return "%s on %s was lost (signal %s%s)" % (
            "rank " + self.rank if self.rank else "a rank", self.host, self.signal, ", " + self.name if self.name else "")


class Output:
    """What mpirun and the ranks write to a stream, passed on at once to one of ours; words: of a lost rank."""

    def __init__(self, pipe, to, words):
        self.lost, self.to, self.words = None, to.fileno(), words
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
                return
            try:
                self.write(piece)
            except OSError:
                pass  # nobody reads it; the run goes on
            self.end = (self.end + piece)[-4096 - len(piece):]
            match = self.words.search(self.end)
            if match and not self.lost:
                self.lost = Lost(match)

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


def kill_hung(child, waited):
    """Kills mpirun and what it has started here, if it does not end; waited: seconds since it was told to."""
    left = children(child.pid)
    if waited < (LAST_S if left else ALONE_S):
        return
    sys.stderr.write("orrery run: mpirun has not ended %.0f s after it was told to; it is killed\n" % waited)
    for pid in [child.pid] + left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def wait(child, signals):
    """The child's status, and the signal by which somebody ended it or None; passes signals on meanwhile."""
    ended_by = told = None
    while child.poll() is None:
        info = signal.sigtimedwait(signals, 1) if ended_by else signal.sigwaitinfo(signals)
        if info is None:
            kill_hung(child, time.monotonic() - told)
            continue
        if info.si_signo in ENDS:
            ended_by = info.si_signo
            told = told or time.monotonic()
        if info.si_signo != signal.SIGCHLD and info.si_code != FROM_KERNEL:
            child.send_signal(info.si_signo)
    return child.returncode, ended_by


def prepare(mask):
    """In the child, before it becomes mpirun: signals as they were, and an end with us."""
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def left_behind(environment):
    """The files that were asked for, and what an early end means for them."""
    files = [environment[name] for name in ("ORRERY_REPORT", "ORRERY_MPI_STATS_FILE") if environment.get(name)]
    missing = [path for path in files if not os.path.exists(path) or os.path.isfile(path) and not os.path.getsize(path)]
    if not missing:
        return "files that the run was writing are not complete"
    return "%s: nothing was written, because that is done at the end of a run; other files are not complete" % " and ".join(missing)


def launch(launcher, command, environment):
    """Runs mpirun; its exit status, and the rank that was lost or None. A run that somebody interrupts ends here."""
    begin = time.monotonic()
    signals = {signal.SIGCHLD, *PASSED_ON}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        sys.stdout.flush()
        child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE if launcher.lost_in_output else None,
                                 stderr=subprocess.PIPE, preexec_fn=lambda: prepare(before))
        outputs = [Output(pipe, to, launcher.lost) for pipe, to in ((child.stdout, sys.stdout), (child.stderr, sys.stderr)) if pipe]
        status, ended_by = wait(child, signals)
        for output in outputs:
            output.reader.join(10)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if ended_by:
        sys.stderr.write("orrery run: %s after %.1f s; %s\n" % (
            "interrupted" if ended_by == signal.SIGINT else "terminated", time.monotonic() - begin, left_behind(environment)))
        sys.exit(128 + ended_by)
    lost = next((output.lost for output in outputs if output.lost), None)
    if lost and launcher.signal_status:
        status = 128 + int(lost.signal)
    return status, lost
