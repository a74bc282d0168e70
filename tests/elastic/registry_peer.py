# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The protocol of the registry of process sets, for scripts that play processes of a run, or strangers (strangers.py,
# rooms.py): each starts the registry, which starts the script again as its command.
# Invariant: an answer that does not come within PROMPT_S is a failure.
import os
import socket
import struct
import subprocess
import sys
import time

PROMPT_S = 2.0
PROCESSES = []  # they say goodbye in the end


def check(true, what):
    if not true:
        sys.stderr.write("FAIL: %s\n" % what)
        os._exit(9)


def pack(words, ticket=0):
    text = b"".join(word.encode() + b"\0" for word in words)
    return struct.pack("!II", len(text), ticket) + text


class Conn:
    """A connection to the registry."""

    def __init__(self):
        address, port, self.key = os.environ["ORRERY_DYN_SERVER"].rsplit(":", 2)
        self.socket = socket.create_connection((address, int(port)), timeout=PROMPT_S)
        self.ticket = 0

    def receive(self):
        """(ticket, words), or None when the registry has closed the connection."""
        data, need = b"", 8
        while len(data) < need:
            try:
                more = self.socket.recv(need - len(data))
            except ConnectionError:
                return None
            if not more:
                return None
            data += more
            if len(data) == 8 and need == 8:
                need += struct.unpack("!I", data[:4])[0]
        return struct.unpack("!I", data[4:8])[0], data[8:].decode().split("\0")[:-1]

    def ask(self, *words):
        self.ticket += 1
        self.socket.sendall(pack(words, self.ticket))
        return self.receive()

    def hello(self, role, number, key=None, host="here", pid=None, start=0):
        self.socket.sendall(pack(["hello", key or self.key, role, str(number), host, str(pid or os.getpid()), str(start)]))
        return self.receive()


def process(place=0, host="here"):
    """A process of the run that keeps to the protocol; its answers come at once."""
    begin = time.monotonic()
    conn = Conn()
    check(conn.hello("early", 0, host=host) == (0, ["ok", "0"]), "a process is not greeted")
    check(conn.hello("process", place, host=host) == (0, ["ok", str(place)]), "a process does not arrive")
    check(conn.ask("ready")[1][:3] == ["ok", str(place), "1"], "a process does not begin")
    check(conn.ask("members", "mpi://WORLD")[1] == ["ok", str(place)], "a process does not learn its world")
    PROCESSES.append(conn)
    check(time.monotonic() - begin < PROMPT_S, "the answers took %g s" % (time.monotonic() - begin))
    return conn


def goodbye():
    """All processes end well."""
    for conn in PROCESSES:
        conn.socket.settimeout(PROMPT_S)
        conn.socket.sendall(pack(["bye", "0"]))


def run(script, server, scene, manager="-", wanted=0, prepare=None, pool=4, variables=()):
    """The registry, with a scene of the script as its command. What it has said."""
    command = [server, "1", str(pool), manager, sys.executable, "-B", os.path.abspath(script), "scene"] + scene.split()
    begin = time.monotonic()
    try:
        # The system would keep strangers out (tests/elastic/signed.sh), and with them what is tested.
        got = subprocess.run(command, preexec_fn=prepare, stderr=subprocess.PIPE, timeout=60, env=dict(os.environ, ORRERY_DYN_SIGNED="0", **dict(variables)))
    except subprocess.TimeoutExpired:
        sys.exit("%s: the registry does not end" % scene)
    text = got.stderr.decode(errors="replace")
    if got.returncode != wanted or "Sanitizer" in text or "runtime error" in text:
        sys.exit("%s: status %d after %.1f s\n%s" % (scene, got.returncode, time.monotonic() - begin, text[-3000:]))
    print("%s: %.1f s" % (scene, time.monotonic() - begin))
    return text
