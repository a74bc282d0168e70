# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The way in which mpirun starts its daemons on hosts that come and go (orrery_slurm.py): as its agent, in the place of ssh, this
# file asks the adapter, which starts the daemon as a step of the job that has the host, and carries the connection
# between mpirun and the daemon. mpirun of Open MPI 4 ends a run whose daemon is lost. So when a host is given back, or
# fails, the adapter keeps mpirun's end of the connection until the run is over, and drops what comes there.
# Invariant: a daemon's connection ends with the daemon unless its host has been released or lost.
import json
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading

# The words of mpirun for its daemons that say where it listens.
WHERE = re.compile(r'(?P<name>\d+\.0);tcp://(?P<addresses>[0-9.,]+):(?P<port>\d+)(?:;[^"\']*)?')
PIECE = 1 << 16


def rewritten(command, port):
    """(the command of a daemon that finds us at that port, where mpirun listens), or None: it is none."""
    match = WHERE.search(command)
    if not match:
        return None
    ours = "%s;tcp://%s:%d" % (match["name"], match["addresses"], port)
    return command[:match.start()] + ours + command[match.end():], (match["addresses"].split(","), int(match["port"]))


def connect(addresses, port):
    for address in addresses:
        try:
            return socket.create_connection((address, port), 10)
        except OSError:
            continue
    raise OSError("mpirun does not listen at %s, port %d" % (", ".join(addresses), port))


class Daemon:
    """A daemon of mpirun on a host: its step, and its connections."""

    def __init__(self, relays, host):
        self.relays, self.host, self.step, self.cut = relays, host, None, False
        self.had, self.gone = False, False  # a connection; its host
        self.pairs = {}  # of sockets; None: the other end is gone
        self.ours = set()  # ends that are mpirun's
        self.server, self.mpirun = None, None
        self.said = tempfile.TemporaryFile("w+", errors="replace")  # of srun

    def serve(self, agent, request):
        """In a thread of its own. agent: the connection of the agent that mpirun has started."""
        status = 1
        try:
            self.server = socket.create_server(("", 0))
            found = rewritten(request["command"], self.server.getsockname()[1])
            if not found:
                sys.stderr.write("orrery run: mpirun starts its daemon in a way that is not known: %s\n" % request["command"])
                return
            self.mpirun = found[1]
            self.step = subprocess.Popen(self.relays.step_of(self.host, found[0]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=self.said, start_new_session=True)
            while self.goes_on(agent):
                self.carry()
            # A daemon that was connected is missed by its connection.
            status = 0 if self.had else self.step.wait(30)
            if status and not self.relays.over:
                self.tell()
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            sys.stderr.write("orrery run: the daemon of mpirun on %s: %s\n" % (self.host, error))
        finally:
            self.end()
            try:
                agent.sendall(b"%d\n" % (status & 255))
            except OSError:
                pass
            agent.close()

    def goes_on(self, agent):
        if select.select([agent], [], [], 0)[0]:
            return False  # mpirun has ended its agent
        if self.step.poll() is None and not self.cut:
            return True
        if not self.ours:
            return False
        # The daemon has ended: by itself if the run is over, or because its host is gone.
        if not self.cut and not self.gone:
            self.gone = self.step.returncode != 0 and not self.relays.over
            self.relays.lost = self.relays.lost or self.gone
            self.relays.ordered = self.relays.ordered or not self.gone
        if self.relays.ordered and (self.cut or self.gone):
            return False
        return self.cut or self.gone or bool(self.pairs.keys() - self.ours)

    def tell(self):
        self.said.seek(0)
        for line in self.said.read().splitlines():
            sys.stderr.write(line + "\n")

    def end(self):
        for one in list(self.pairs) + ([self.server] if self.server else []):
            one.close()
        self.pairs, self.ours = {}, set()
        if self.step and self.step.poll() is None:
            self.step.terminate()
            try:
                self.step.wait(10)
            except subprocess.TimeoutExpired:
                self.step.kill()

    def carry(self):
        for one in select.select([self.server] + list(self.pairs), [], [], 0.2)[0]:
            if one is self.server:
                theirs = self.server.accept()[0]
                mpirun = connect(*self.mpirun)
                self.pairs[theirs], self.pairs[mpirun] = mpirun, theirs
                self.ours.add(mpirun)
                self.had = True
            elif one in self.pairs:
                self.pass_on(one)
        if self.cut:
            for one in self.pairs.keys() - self.ours:
                self.drop(one)

    def drop(self, one):
        other = self.pairs.pop(one)
        one.close()
        if one in self.ours:
            self.ours.discard(one)
            if other:
                self.drop_other(other)
        elif other:
            self.pairs[other] = None

    def drop_other(self, other):
        self.pairs.pop(other, None)
        other.close()

    def pass_on(self, one):
        try:
            piece = one.recv(PIECE)
        except OSError:
            piece = b""
        other = self.pairs[one]
        if not piece:
            self.drop(one)
        elif other:
            try:
                other.sendall(piece)
            except OSError:
                pass  # its end is noticed when it is read
        elif self.relays.over:
            self.relays.ordered = True  # mpirun tells a daemon to end that is not there


class Relays:
    """All daemons of a run. step_of(host, command) -> the command that starts a step there."""

    def __init__(self, path, step_of):
        self.step_of = step_of
        self.over = False  # all processes of the run have ended
        self.ordered = False  # and mpirun has told its daemons to end
        self.lost = False  # a daemon has ended that nobody told to
        self.daemons = []
        self.door = socket.socket(socket.AF_UNIX)
        self.door.bind(path)
        self.door.listen(64)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                agent = self.door.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.enter, args=(agent,), daemon=True).start()

    def enter(self, agent):
        with agent.makefile("r") as lines:
            line = lines.readline()
        try:
            request = json.loads(line)
            daemon = Daemon(self, request["host"])
        except (ValueError, KeyError):
            agent.close()
            return
        self.daemons.append(daemon)
        daemon.serve(agent, request)

    def cut(self, host):
        """The host is given back: its daemon loses mpirun, and mpirun does not lose the daemon."""
        for daemon in self.daemons:
            if daemon.host == host:
                self.lost = self.lost or daemon.had and not daemon.pairs.keys() - daemon.ours
                daemon.cut = True

    def is_empty(self, host):
        """True if no daemon is left on the host."""
        return all(daemon.step is None or daemon.step.poll() is not None for daemon in self.daemons if daemon.host == host)

    def close(self):
        self.door.close()
        for daemon in self.daemons:
            daemon.end()


def main(arguments):
    """The agent: PATH of the adapter's socket, HOST, and words for a shell there. Its status is that of the daemon."""
    channel = socket.socket(socket.AF_UNIX)
    try:
        channel.connect(arguments[0])
        channel.sendall(json.dumps({"host": arguments[1], "command": " ".join(arguments[2:])}).encode() + b"\n")
        answer = channel.makefile("r").readline()
    except OSError as error:
        sys.stderr.write("orrery run: the adapter of Slurm at %s: %s\n" % (arguments[0], error))
        return 1
    return int(answer) if answer.strip().isdigit() else 1


if __name__ == "__main__":
    sys.stdout = open(os.devnull, "w")
    sys.exit(main(sys.argv[1:]))
