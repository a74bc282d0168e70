# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs that are under way on this computer, for `orrery top`: finds their sockets and asks them
# (src/base/live.h says how they answer).
# Invariant: only a process that the system shows to be the one in the name of its socket is asked,
# and what it says is data: texts have no control characters, and there is a limit of bytes and time.
import json
import os
import socket
import struct
import time

PREFIX = "@orrery-top/"
LISTENS = 0x10000
MOST_BYTES = 256 << 20
LIMIT_S = 5
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


class Run:
    """The processes of this computer that are of one run."""

    def __init__(self, uid, key, answer):
        self.uid, self.key, self.about = uid, key, {}
        self.processes = []  # (uid, pid, name)
        self.others = set()  # those that are of other runs
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

    def look(self, question=-1):
        """What its processes answer now: (when, answers); processes that are gone are forgotten."""
        answers = []
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
        return time.monotonic(), answers


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
