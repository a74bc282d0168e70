# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The registry of process sets, from outside: strangers without the run's key, and peers with it that do not keep to the
# protocol. This script starts the registry, which starts this script again as its command; that one plays the process of
# the run and the others.
# Invariant: whatever the others do, the process gets its answers at once, and the registry ends with its command.
import contextlib
import os
import random
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

import registry_peer
from registry_peer import PROCESSES, PROMPT_S, Conn, check, goodbye, pack, process


def memory_kib():
    """The most memory that the registry has had."""
    with open("/proc/%d/status" % os.getppid()) as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith("VmHWM"))


# What the others do, each in a run of its own.

def trickle():
    """Two bytes, and then nothing."""
    others = [Conn() for _ in range(3)]
    for other in others:
        other.socket.sendall(b"\0\0")
    process()


def zeros():
    """A long message of empty words before any key."""
    before = memory_kib()
    other = Conn()
    try:
        other.socket.sendall(struct.pack("!II", 64 << 20, 0))
        for _ in range(64):
            other.socket.sendall(bytes(1 << 20))
        check(other.receive() is None, "a message of 64 MiB is taken")
    except OSError:
        pass  # it was closed meanwhile
    process()
    check(memory_kib() - before < 20000, "the registry took %d KiB for a stranger" % (memory_kib() - before))


def sit(count):
    """A child that connects so often and then sits there."""
    ready, written = os.pipe()
    child = os.fork()
    if not child:
        others = [Conn() for _ in range(count)]
        os.write(written, b"%d" % len(others))
        time.sleep(60)
        os._exit(0)
    os.close(written)
    check(os.read(ready, 8), "strangers cannot connect")
    return child


def ticks():
    """Hundredths of a second of the CPU that the registry has used."""
    with open("/proc/%d/stat" % os.getppid()) as stream:
        return sum(map(int, stream.read().rsplit(")", 1)[1].split()[11:13]))


def flood():
    """One who connects, sends, and connects again, as fast as he can: the registry does not spend its time on him."""
    process()
    before, end, times = ticks(), time.monotonic() + 2, 0
    while time.monotonic() < end:
        other = Conn()
        try:
            other.socket.sendall(bytes(4096))
        except OSError:
            pass  # it was closed meanwhile
        other.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        other.socket.close()
        times += 1
    used = ticks() - before
    check(used < 12, "the registry used %d hundredths of a second in two seconds for a stranger who came %d times" % (used, times))
    begin = time.monotonic()
    check(PROCESSES[0].ask("members", "mpi://WORLD")[1] == ["ok", "0"], "a process gets no answer")
    check(time.monotonic() - begin < PROMPT_S, "the answer took %g s" % (time.monotonic() - begin))
    thread = Conn()
    check(thread.hello("thread", 0) == (0, ["ok", "0"]), "a thread is not greeted")


def crowd():
    """More than the registry has descriptors for."""
    sitting = [sit(200) for _ in range(3)]
    process()
    thread = Conn()
    check(thread.hello("thread", 0) == (0, ["ok", "0"]), "a thread is not greeted")
    check(thread.ask("psets")[1][0] == "ok", "a thread gets no answer")
    before = ticks()
    time.sleep(1)
    used = ticks() - before
    check(used < 50, "the registry is busy while nobody wants anything: %d ticks in a second" % used)
    for child in sitting:
        os.kill(child, signal.SIGKILL)


def signalled():
    """A stranger sits there while the run is to end."""
    other = Conn()
    other.socket.sendall(b"\0\0")
    time.sleep(0.3)
    os.kill(os.getppid(), signal.SIGTERM)
    time.sleep(PROMPT_S)
    check(other is None, "the registry does not pass a signal on")


def wrong_key():
    for key in ("", "0" * 32, "0" * 31, "0" * 33, "\x7f"):
        other = Conn()
        check(other.hello("process", 0, key=key or " ") is None, "a wrong key is answered")
    process()


def lies():
    """A process with the key that names others, and counts that it cannot have."""
    conn = process()
    for role, number, pid in (("thread", 1, 0), ("thread", 99999, 0), ("thread", -1, 0), ("thread", 0, 1), ("process", 0, 0),
                              ("process", 5, 0), ("process", -1, 0), ("king", 0, 0), ("process", "x", 0)):
        other = Conn()
        answer = other.hello(role, number, pid=pid)
        check(answer is None or answer[1] == ["leave"], "%s %s is greeted: %s" % (role, number, answer))
    big = str(2 ** 31 - 1)
    requests = [["ready"], ["psetop"], ["psetop", "1", big], ["psetop", "1", "-3"], ["psetop", "1", "0", big], ["psetop", "1", "0", "-1"],
                ["psetop", "6", "0", "2", "mpi://WORLD"], ["psetop", "6", "1", "mpi://SELF/7", "1", "mpi://WORLD"],
                ["psetop", "1", "0", "1", "mpi://WORLD", "mpi_num_procs_add", "-1"],
                ["psetop", "1", "0", "1", "mpi://WORLD", "mpi_num_procs_add", str(2 ** 32 + 1)],
                ["psetop", "77", "0", "1", "mpi://WORLD"], ["join"], ["join", "1"], ["join", "1", "99"], ["join", "1", "-1"],
                ["join", "1", "0", "0"], ["join", "1", big], ["get"], ["get", "mpi://WORLD", "none", "0"], ["query", "none", "none"],
                ["set", "none", "a", "b"], ["finalize", "mpi://WORLD"], ["info", "x"], ["members", "x"],
                ["port", "1", "1", "x" * 5000], [""], ["nonsense"]]
    for words in requests:
        answer = conn.ask(*words)
        check(answer and answer[1][0] == "error", "%s is answered with %s" % (words[:6], answer))
    for words in (["psetop", "3", "0", "1", "mpi://WORLD", "mpi_num_procs_add", "100000000", "mpi_num_procs_sub", "100000000"],
                  ["psetop", "3", "0", "1", "mpi://WORLD", "mpi_num_procs_add", "2", "mpi_num_procs_sub", "2"],
                  ["psetop", "5", "0", "1", "mpi://WORLD", "mpi_num_procs_add", "500000000"], ["spawned", "1"]):
        check(conn.ask(*words)[1] in (["ok", "0", "0"], ["error"]), "%s is not refused" % words)
    check(conn.ask("members", "mpi://WORLD")[1] == ["ok", "0"], "the registry lost its memory")
    # More at once than a connection may have under way, and more than it may send.
    other = Conn()
    check(other.hello("thread", 0)[1] == ["ok", "0"], "a thread is not greeted")
    for ticket in range(200):
        other.socket.sendall(pack(["ask", str(ticket), "0"], ticket))
    other.socket.close()
    other = Conn()
    check(other.hello("thread", 0)[1] == ["ok", "0"], "a thread is not greeted")
    other.socket.sendall(struct.pack("!II", 5 << 20, 1))
    check(other.receive() is None, "a message of 5 MiB is taken")
    check(conn.ask("members", "mpi://WORLD")[1] == ["ok", "0"], "the registry lost its memory")


def hostile_words(rng):
    verbs = ["ready", "psetop", "spawned", "query", "get", "set", "finalize", "info", "psets", "members", "join", "port", "ask"]
    atoms = ["mpi://WORLD", "mpi://SELF", "mpi://SELF/0", "0", "1", "2", "3", "4", "9", "-1", "2147483647", "4294967296", "a", "", "%n%s",
             "mpi_num_procs_add", "mpi_num_procs_sub", "mpi_part_sizes", "1,1", "prrte://base_name/0", "\x1b[2J"]
    return [rng.choice(verbs)] + [rng.choice(atoms) for _ in range(rng.randrange(9))]


def fuzz(count):
    """Random messages with the key and without, from several connections."""
    rng = random.Random(7)
    main, before, others = process(), None, []
    for i in range(count):
        if len(others) < 8:
            other = Conn()
            other.socket.setblocking(False)
            if rng.random() < 0.7:
                other.socket.sendall(pack(["hello", other.key, "thread", "0", "here", str(os.getpid()), "0"]))
            others.append(other)
        other = rng.choice(others)
        message = pack(hostile_words(rng), i)
        if rng.random() < 0.05:
            at = rng.randrange(len(message))
            message = message[:at] + bytes([rng.randrange(256)]) + message[at + 1:]
        try:
            other.socket.send(message)
            other.socket.recv(1 << 20)
        except BlockingIOError:
            pass
        except OSError:
            others.remove(other)
            other.socket.close()
        if rng.random() < 0.01 and other in others:
            others.remove(other)
            other.socket.close()
        if i == count // 2:
            before = memory_kib()
    main.socket.settimeout(30)
    check(main.ask("members", "mpi://WORLD")[1] == ["ok", "0"], "the registry lost its memory")
    check(memory_kib() - before < 50000, "the registry grew by %d KiB" % (memory_kib() - before))


SCENES = {"trickle": trickle, "zeros": zeros, "crowd": crowd, "flood": flood, "signalled": signalled, "wrong_key": wrong_key, "lies": lies}


# The other side: starts the registry.

def run(server, scene, manager="-", wanted=0, limit=None):
    def limits():
        if limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    return registry_peer.run(__file__, server, scene, manager, wanted, limits)


def managers(server):
    """The manager's socket is this user's alone; one that a killed registry left is replaced, a live one is not."""
    command = [server, "1", "4", "unix:door", sys.executable, "-c", "import time; time.sleep(60)"]
    first = subprocess.Popen(command)
    for _ in range(100):
        if os.path.exists("door"):
            break
        time.sleep(0.05)
    mode = stat.S_IMODE(os.stat("door").st_mode)
    check(mode == 0o600, "the manager's socket has mode %o" % mode)
    second = subprocess.run(command, stderr=subprocess.PIPE, timeout=20)
    check(second.returncode == 1 and b"another run listens there" in second.stderr, "two runs listen at one socket: %s" % second.stderr)
    with open("/proc/%d/task/%d/children" % (first.pid, first.pid)) as stream:
        children = stream.read().split()
    first.kill()
    first.wait()
    for child in children:
        with contextlib.suppress(ProcessLookupError):  # the system has told it of its parent's end
            os.kill(int(child), signal.SIGKILL)
    run(server, "wrong_key", manager="unix:door")
    check(not os.path.exists("door"), "the socket is left")
    with open("door", "w") as stream:
        stream.write("mine")
    third = subprocess.run(command, stderr=subprocess.PIPE, timeout=20)
    check(third.returncode == 1 and open("door").read() == "mine", "a file in the socket's place is lost")


def main():
    if sys.argv[1] == "scene":
        if sys.argv[2] == "fuzz":
            fuzz(int(sys.argv[3]))
        else:
            SCENES[sys.argv[2]]()
        goodbye()
        return
    server, chosen = sys.argv[1], sys.argv[2:]
    for scene in SCENES:
        if not chosen or scene in chosen:
            run(server, scene, wanted=128 + signal.SIGTERM if scene == "signalled" else 0, limit=256 if scene == "crowd" else None)
    if not chosen or "managers" in chosen:
        managers(server)
    if not chosen or "fuzz" in chosen:
        run(server, "fuzz 20000")


main()
