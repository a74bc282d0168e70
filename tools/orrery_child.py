# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The launcher as a child of ours (`orrery run', `orrery sim'): it gets the signals that we get, stops with us and ends with us.
# Open MPI's mpirun takes a second interrupt within five seconds for an order to leave at once: it leaves its ranks behind, or
# stays for ever, because its handler calls exit() in the middle of malloc() (seen with 4.1.4).
# Invariant: the child gets each signal once. It has a process group of its own, so that a signal to our group (`timeout', a
# batch system) does not reach it beside the one that we pass on. Only where it may read the terminal it is in ours: signals
# of the terminal reach it by themselves there, and only those of processes are passed on.
import ctypes
import os
import signal
import subprocess

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
PR_SET_PDEATHSIG = 1
FROM_KERNEL = 128  # si_code of a signal that no process sent
PATIENCE_S = 1


def reads_terminal():
    """Whether our input is a terminal that we may read."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def end_with_parent():
    """In a child, before it executes its program: it is told to end when we are killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Child:
    """A running command. Signals are blocked in this process from the beginning to finish()."""

    def __init__(self, command, environment, **pipes):
        self.apart = not reads_terminal()
        self.signals = {signal.SIGCHLD, signal.SIGTSTP, *PASSED_ON}
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, self.signals)
        try:
            self.process = subprocess.Popen(command, env=environment, preexec_fn=self.prepare, **pipes)
        except BaseException:
            self.finish()
            raise

    def prepare(self):
        """In the child, before it executes the command: signals as they were."""
        if self.apart:
            os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)
        end_with_parent()

    def turn(self):
        """Waits a while for a signal and passes it on. Returns its number, or 0."""
        info = signal.sigtimedwait(self.signals, PATIENCE_S)
        if not info or info.si_signo == signal.SIGCHLD:
            return 0
        if self.apart or info.si_code != FROM_KERNEL:
            self.process.send_signal(info.si_signo)
        if info.si_signo == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)  # until somebody wants us to go on
            self.process.send_signal(signal.SIGCONT)
        return info.si_signo

    def finish(self):
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)
