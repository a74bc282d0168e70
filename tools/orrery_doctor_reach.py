# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The way of `orrery doctor` to the hosts: the command that mpirun uses for it, one
# connection to each, through which orrery-doctor-host answers (tools/doctor_host.c).
# Invariant: each question has a time limit; a connection that misses one is closed, and
# its processes on this computer are killed. The program there ends with its input.
import os
import queue
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time

import orrery_hosts
import orrery_jobs
import orrery_machines as machines

FIRST = "orrery-doctor-host 1"
# The words of an agent, the reason why a host is not reached, and the remedy.
REASONS = (
    (r"could not resolve|name or service not known|no such host|temporary failure in name|unknown host",
     "its name does not resolve", "correct the name in the list, or add it to DNS or /etc/hosts"),
    (r"permission denied|password|passphrase",
     "it asks for a password", "ssh-keygen, then ssh-copy-id HOST; `ssh -o BatchMode=yes HOST true' must succeed"),
    (r"host key verification failed|host identification has changed",
     "its host key is not known here", "ssh-keyscan HOST >> ~/.ssh/known_hosts, or `ssh HOST' once by hand"),
    (r"connection refused", "it refuses the connection", "start sshd there (systemctl start ssh), or give --agent"),
    (r"no route|unreachable|timed out|not responding",
     "it is down, cut off, or a firewall is in between", "switch it on, check its cable and firewall, or leave it out of the list"),
)


class Failed(Exception):
    """Why a host does not answer, and the remedy."""

    def __init__(self, why, remedy):
        super().__init__(why)
        self.remedy = remedy


def agent_of(environment, given):
    """(words of the command that reaches hosts, why there is none)"""
    if given:
        words = shlex.split(given)
    elif environment.get("SLURM_JOB_ID") and shutil.which("srun"):
        words = ["srun", "--overlap", "-N1", "-n1", "-w"]
    else:
        named = (environment.get(name) for name in ("OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent", "HYDRA_LAUNCHER_EXEC"))
        choices = next((words for words in named if words), "ssh : rsh")
        found = [shlex.split(choice) for choice in choices.split(":") if choice.strip()]
        words = next((words for words in found if shutil.which(words[0])), found[0])
    if not words or not shutil.which(words[0]):
        return words, "%s is not there" % (words[0] if words else "''")
    return words, None


def argv(agent, host, script, limit):
    """The command line that runs a script of the shell on a host."""
    if os.path.basename(agent[0]) == "srun":
        return agent + [host, "/bin/sh", "-c", script]
    options = []
    if os.path.basename(agent[0]) == "ssh":
        options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=%d" % max(1, limit)]
    return agent[:1] + options + agent[1:] + [host, "/bin/sh -c " + shlex.quote(script)]


def script(context):
    """What is run on each host: what MPI is there, then the program that answers."""
    passed = {name: value for name, value in os.environ.items()
              if name.startswith(orrery_hosts.OURS) and not name.startswith(orrery_hosts.NOT_PASSED)}
    if context.paths.get("moved"):
        passed["LD_LIBRARY_PATH"] = machines.environment(context)["LD_LIBRARY_PATH"]
    lines = ["export %s=%s" % (name, shlex.quote(value)) for name, value in sorted(passed.items())]
    lines += ["echo folder", "cd %s || echo nofolder" % shlex.quote(os.getcwd())]
    program = shlex.quote(machines.program(context, "orrery-doctor-host"))
    lines.append("[ -x %s ] || { echo absent; exit 3; }" % program)
    if context.has("mpi"):
        lines.append('%s about 2>&1; echo "status $?"' % shlex.quote(machines.program(context, "orrery-doctor-mpi")))
    lines.append("exec " + program)
    return "\n".join(lines)


def resolves(host, limit):
    """Whether this computer knows an address of a host, asked for a limited time."""
    answers = []

    def ask():
        try:
            answers.append(bool(socket.getaddrinfo(host, None)))
        except (OSError, UnicodeError):
            answers.append(False)
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(limit)
    return bool(answers and answers[0])


class Session:
    """A host, and the connection to it."""

    def __init__(self, name):
        self.name, self.child, self.lines, self.said = name, None, queue.Queue(), ""
        self.failed, self.took, self.before = None, 0.0, []

    def __repr__(self):
        return self.name

    def open(self, agent, text, limit):
        """Reaches the host; what was printed before the program answered is in before. agent: None on this computer."""
        if agent and os.path.basename(agent[0]) != "srun" and not resolves(self.name, limit):
            raise Failed(*REASONS[0][1:])
        begin = time.monotonic()
        command = argv(agent, self.name, text, limit) if agent else ["/bin/sh", "-c", text]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      errors="replace", start_new_session=True)
        threading.Thread(target=self.read, daemon=True).start()
        complaints = threading.Thread(target=self.listen, daemon=True)
        complaints.start()
        while True:
            line = self.next(begin + limit)
            if line is None:
                complaints.join(1)
                raise self.reason(time.monotonic() - begin >= limit, limit)
            if not self.took:
                self.took = time.monotonic() - begin
            if line == FIRST:
                break
            self.before.append(line)
        self.rest(begin + limit)

    def read(self):
        for line in self.child.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def listen(self):
        for line in self.child.stderr:
            self.said = (self.said + line)[-2000:]

    def next(self, until):
        """The next line, or None at the end of time or of the connection."""
        try:
            return self.lines.get(timeout=max(0.01, until - time.monotonic()))
        except queue.Empty:
            return None

    def reason(self, late, limit):
        if "absent" in self.before:
            return Failed("this Orrery is not there", "install the same build at the same path, or share the folder")
        for pattern, why, remedy in REASONS:
            if re.search(pattern, self.said, re.I):
                return Failed(why, remedy.replace("HOST", self.name))
        if late:
            return Failed("no answer within %g s" % limit, "look whether `%s true' answers; a slow one needs --timeout" % self.name)
        last = ([line for line in self.said.splitlines() if line.strip()] or self.before or ["the connection ended without a word"])[-1]
        return Failed(last.strip(), "see what a command prints that you run there by hand; is the account the same?")

    def rest(self, until):
        lines = []
        while True:
            line = self.next(until)
            if line is None:
                self.close()
                self.failed = Failed("no answer any more", "see whether the host still runs")
                raise self.failed
            if line == "end":
                return lines
            lines.append(line)

    def ask(self, question, limit):
        """The lines of the answer."""
        if self.failed:
            raise self.failed
        try:
            self.child.stdin.write(question + "\n")
            self.child.stdin.flush()
        except OSError:
            pass  # the answer will not come
        return self.rest(time.monotonic() + limit)

    def facts(self, limit):
        """{name: [values]}"""
        known = {}
        for line in self.ask("facts", limit):
            name, _, value = line.partition(" ")
            known.setdefault(name, []).append(value)
        for line in self.before:
            name, _, value = line.partition(" ")
            if name in ("mpi", "library", "status", "nofolder"):
                known.setdefault(name, []).append(value)
        return known

    def close(self):
        if not self.child:
            return
        try:
            self.child.stdin.close()
        except OSError:
            pass
        try:
            self.child.wait(1)
        except subprocess.TimeoutExpired:
            end(self.child)


def end(child):
    """Kills a child and all that it has started in its session."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    child.wait()


def in_parallel(work, items, most=64):
    """[work(item)], several at a time. What one of them raises is raised when all have ended."""
    results, waiting, raised = [None] * len(items), queue.Queue(), []
    for number in range(len(items)):
        waiting.put(number)

    def some():
        while True:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                results[number] = work(items[number])
            except Exception as error:  # for the caller's thread
                raised.append(error)
    threads = [threading.Thread(target=some, daemon=True) for _ in range(min(most, len(items)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return results


def open_all(sessions, agent, text, limit):
    """Reaches all hosts; a session's failed says why that did not work."""
    def reach(session):
        try:
            session.open(None if orrery_jobs.is_this_host(session.name) else agent, text, limit)
        except Failed as failed:
            session.failed = failed
            if session.child:
                end(session.child)
        except OSError as error:
            session.failed = Failed("%s: %s" % (error.filename, error.strerror), "give a command that reaches hosts by --agent")
    in_parallel(reach, sessions)
