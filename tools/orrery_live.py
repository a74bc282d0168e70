# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs that are under way on this computer, for `orrery top`: finds their sockets and asks them
# (src/base/live.h says how they answer). Ranks on other hosts are asked by this command there, which
# the agent of the launcher starts, as ssh: it reads questions and writes answers, a line each.
# Invariant: only a process that the system shows to be the one in the name of its socket is asked,
# and what it says is data: texts have no control characters, and there is a limit of bytes and time.
# Nothing listens for other hosts.
import json
import os
import queue
import re
import shlex
import signal
import socket
import struct
import subprocess
import threading
import time

import orrery_doctor_reach

PREFIX = "@orrery-top/"
LISTENS = 0x10000
MOST_BYTES = 256 << 20
LIMIT_S = 5
HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")   # no option of an agent
SO_PEERCRED = getattr(socket, "SO_PEERCRED", 17)


class Gone(Exception):
    """The process has ended, or does not answer any more."""


def sockets(path="/proc/net/unix"):
    """(uid, pid, abstract name) of all that listen."""
    found = set()
    try:
        with open(path) as stream:
            lines = stream.read().splitlines()
    except OSError:
        return []
    for line in lines:
        words = line.split(None, 7)
        if len(words) < 8 or not words[7].startswith(PREFIX) or not int(words[3], 16) & LISTENS:
            continue
        parts = words[7][1:].split("/")
        if len(parts) == 4 and parts[1].isdigit() and parts[2].isdigit():
            found.add((int(parts[1]), int(parts[2]), words[7][1:]))
    return sorted(found)


def clean(value):
    """The value with texts that a terminal may print."""
    if isinstance(value, str):
        return "".join(c if c.isprintable() else "?" for c in value)
    if isinstance(value, list):
        return [clean(part) for part in value]
    if isinstance(value, dict):
        return {clean(name): clean(part) for name, part in value.items()}
    return value


def ask(uid, pid, name, question):
    """What that process answers, an object; Gone. None: the socket is not that process's, or does not let us in."""
    until = time.monotonic() + LIMIT_S
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.settimeout(LIMIT_S)
        try:
            s.connect("\0" + name)
            owner = struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, SO_PEERCRED, 12))
            if owner[:2] != (pid, uid):
                return None
            s.sendall(b"%d\n" % question)
            parts, size = [], 0
            while True:
                s.settimeout(max(0.01, until - time.monotonic()))
                part = s.recv(1 << 20)
                if not part:
                    break
                parts.append(part)
                size += len(part)
                if size > MOST_BYTES or time.monotonic() > until:
                    raise Gone
        except OSError as error:
            if isinstance(error, (BrokenPipeError, ConnectionResetError)) and os.path.exists("/proc/%d" % pid):
                return None
            raise Gone from error
    try:
        answer = json.loads(b"".join(parts))
    except ValueError:
        if not parts and os.path.exists("/proc/%d" % pid):
            return None
        raise Gone from None
    return clean(answer) if isinstance(answer, dict) and answer.get("orrery_top") == 1 else None


def ancestors(pid):
    """The processes that led to it."""
    found = []
    while pid > 1 and len(found) < 64:
        try:
            with open("/proc/%d/stat" % pid) as stream:
                pid = int(stream.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
        found.append(pid)
    return found


# ---- other hosts ----

RELAY = "--relay"        # `orrery top` on another host: questions come by its standard input
MARK = "orrery-top "     # begins each answer; a shell may print other things
REACH_S = 20             # for the first answer of a host


def relay(lines, out):
    """Answers on behalf of this host: the first line names a run, each further one is a question."""
    wanted = json.loads(next(lines, "{}"))
    run = Run(os.geteuid(), wanted.get("key"), {})
    for line in lines:
        run.grow()
        run.others.clear()   # a runtime that was not up may be now
        _, answers = run.look(int(line))
        for answer in answers:
            for rank in answer.get("ranks", ()):
                rank.pop("hosts", None)
        out.write(MARK + json.dumps(answers) + "\n")
        out.flush()


class Host:
    """Another host of a run, asked by the agent that the launcher uses."""

    def __init__(self, name, command, key):
        self.name, self.failed, self.answers, self.first = name, None, queue.Queue(), True
        agent, why = orrery_doctor_reach.agent_of(os.environ, None)
        self.child = None
        if why:
            self.failed = why
            return
        script = "cd / && exec %s top %s" % (shlex.quote(command), RELAY)
        try:
            self.child = subprocess.Popen(orrery_doctor_reach.argv(agent, name, script, REACH_S), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, start_new_session=True)
        except OSError as error:
            self.failed = "%s: %s" % (agent[0], error.strerror)
            return
        self.said = []
        threading.Thread(target=self.read, daemon=True).start()
        threading.Thread(target=self.listen, daemon=True).start()
        self.write(json.dumps({"key": key}))

    def read(self):
        size = 0
        for line in self.child.stdout:
            if line.startswith(MARK.encode()):
                self.answers.put(line[len(MARK):])
                size = 0
            size += len(line)
            if size > MOST_BYTES:
                break
        self.answers.put(None)

    def listen(self):
        for line in self.child.stderr:
            self.said = (self.said + [line[:300].decode("utf-8", "replace").strip()])[-3:]

    def write(self, text):
        try:
            self.child.stdin.write((text + "\n").encode())
            self.child.stdin.flush()
        except OSError:
            pass     # it has ended: answer() finds out why

    def ask(self, question):
        if not self.failed:
            self.write(str(question))

    def answer(self):
        """The answers to the question, of all processes there."""
        if self.failed:
            return []
        try:
            line = self.answers.get(timeout=REACH_S if self.first else LIMIT_S)
            found = json.loads(line) if line else None
        except (queue.Empty, ValueError):
            found = None
        if not isinstance(found, list):
            time.sleep(0.05)     # what it complains about may be under way
            self.failed = clean(" ".join(self.said)) or "it does not answer"
            self.end()
            return []
        self.first = False
        return [clean(answer) for answer in found if isinstance(answer, dict) and answer.get("orrery_top") == 1]

    def end(self):
        """Ends the command there: its questions end. The agent of this host goes with its group."""
        if self.child and self.child.poll() is None:
            try:
                self.child.stdin.close()
                self.child.wait(2)
            except (OSError, subprocess.TimeoutExpired):
                os.killpg(self.child.pid, signal.SIGKILL)
                self.child.wait()


class Run:
    """The processes of this computer that are of one run, and the other hosts that it has."""

    def __init__(self, uid, key, answer):
        self.uid, self.key, self.about = uid, key, {}
        self.processes = []  # (uid, pid, name)
        self.others = set()  # those that are of other runs
        self.hosts = {}      # name: Host
        self.learn(answer)

    def learn(self, answer):
        self.about.update({name: value for name, value in answer.items() if isinstance(value, str)})

    @property
    def simulated(self):
        return self.about.get("world") == "simulated"

    @property
    def command(self):
        return self.about.get("command", "")

    def grow(self):
        """Finds further processes of the run: whether there were any."""
        known = len(self.processes)
        for process in sockets():
            if process[0] != self.uid or process in self.others or process in self.processes:
                continue
            try:
                answer = ask(*process, -1)
            except Gone:
                continue
            if answer and answer.get("key") and (self.uid, answer["key"]) == (self.uid, self.key):
                self.processes.append(process)
            else:
                self.others.add(process)
        return len(self.processes) > known

    def reach(self, command, answers):
        """Reaches the other hosts that a rank here knows; command: where Orrery is there. Whether there are new ones."""
        known = len(self.hosts)
        own = os.uname().nodename.partition(".")[0]
        for answer in answers:
            for rank in answer.get("ranks", ()):
                for name in rank.pop("hosts", None) or ():
                    if isinstance(name, str) and HOST.fullmatch(name) and name != own and name not in self.hosts:
                        self.hosts[name] = Host(name, command, self.key)
        return len(self.hosts) > known

    def end(self):
        for host in self.hosts.values():
            host.end()

    def look(self, question=-1):
        """What its processes answer now: (when, answers); processes that are gone are forgotten."""
        answers = []
        for host in self.hosts.values():
            host.ask(question)
        for process in list(self.processes):
            try:
                answer = ask(*process, question)
            except Gone:
                if not os.path.exists("/proc/%d" % process[1]) or process not in sockets():
                    self.processes.remove(process)
                continue
            if answer:
                self.learn(answer)
                answers.append(answer)
        now = time.monotonic()
        for host in self.hosts.values():
            answers += host.answer()
        return now, answers


def find(pid=None):
    """The runs under way: those of this user, or with that process, whose user root may not be."""
    runs, refused = {}, []
    for uid, process, name in sockets():
        if pid is None and uid != os.geteuid() or pid is not None and pid != process and pid not in ancestors(process):
            continue
        try:
            answer = ask(uid, process, name, -1)
        except Gone:
            continue
        if answer is None:
            refused.append((uid, process))
            continue
        # A simulation in the middle of a kernel says so, and not which run it is.
        key = (uid, answer.get("key") or process)
        if key not in runs:
            runs[key] = Run(uid, key[1], answer)
        runs[key].processes.append((uid, process, name))
    return list(runs.values()), refused
