# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The lines by which a resource manager gives an elastic run room on hosts and takes it back (tools/elastic_manager.c), from a
# manager that is made up: host, deny, status, lost, finish, in good order, late, malformed, in pieces and at random.
# This script starts the registry, which starts this script again as its command; that one plays the processes of the
# run and the manager.
# Invariant: each line has one answer, one that is not understood changes nothing, and no host gets more processes than
# it has room for.
import os
import random
import select
import socket
import sys
import time

import registry_peer
from registry_peer import PROCESSES, PROMPT_S, Conn, check, goodbye, pack, process

SILENCE_S = 0.3  # an answer that must not come would have come


class Manager:
    """A connection to the registry's door for managers."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PROMPT_S)
        self.socket.connect("door")
        self.lines = self.socket.makefile("r")

    def send(self, text):
        self.socket.sendall(text if isinstance(text, bytes) else text.encode())

    def answer(self):
        return self.lines.readline().rstrip("\n")

    def ask(self, line):
        self.send(line + "\n")
        return self.answer()

    def says(self, line, wanted="ok"):
        got = self.ask(line)
        check(got == wanted, "\"%s\" is answered with \"%s\", not \"%s\"" % (line, got, wanted))

    def leave(self):
        self.lines.close()
        self.socket.close()


def begin(*rooms):
    """A run of one process on h1, and a manager that says these rooms."""
    manager = Manager()
    manager.says("status", "ok -1 0")
    for room in rooms:
        manager.says("host " + room)
    return manager, process(host="h1")


def silent(conn):
    conn.socket.settimeout(SILENCE_S)
    try:
        got = conn.receive()
    except socket.timeout:
        conn.socket.settimeout(PROMPT_S)
        return
    check(False, "a process that waits gets the answer %s" % (got,))


def change(conn, add, sub=0, sets=("mpi://WORLD",)):
    """Asks for so many more processes, and fewer; the answer comes when there is room."""
    keys = ["mpi_num_procs_add", str(add)] + (["mpi_num_procs_sub", str(sub)] if sub else [])
    conn.ticket += 1
    conn.socket.sendall(pack(["psetop", "3" if sub else "5", "0", str(len(sets)), *sets] + keys, conn.ticket))


def answered(conn, *wanted):
    got = conn.receive()
    check(got and got[1] == list(wanted), "a change is answered with %s, not with %s" % (got, list(wanted)))


def come(asker, start, hosts):
    """New processes begin on these hosts, and the asker learns the sets. The new processes."""
    asker.ticket += 1
    asker.socket.sendall(pack(["spawned", "1"], asker.ticket))
    new = []
    for place, host in enumerate(hosts):
        conn = Conn()
        check(conn.hello("early", 0, host=host, start=start)[1] == ["ok", "0"], "a new process is not greeted")
        check(conn.hello("process", place, host=host, start=start)[1][0] == "ok", "a new process does not arrive")
        conn.ticket += 1
        conn.socket.sendall(pack(["ready"], conn.ticket))
        new.append(conn)
    for conn in new:
        check(conn.receive()[1][0] == "ok", "a new process does not begin")
    PROCESSES.extend(new)
    got = asker.receive()[1]
    check(got[0] == "ok", "a change is answered with %s" % got)
    return new, got[3:]


def bye(conn, status=0):
    conn.socket.sendall(pack(["bye", str(status)]))
    conn.socket.close()
    if conn in PROCESSES:
        PROCESSES.remove(conn)


def settled(manager, wanted):
    """The status, at the latest after a moment."""
    end = time.monotonic() + PROMPT_S
    while manager.ask("status") != wanted and time.monotonic() < end:
        time.sleep(0.02)
    manager.says("status", wanted)


# Scenes, each in a run of its own.

def room():
    """Processes begin where there is room, and a growth without room waits for it."""
    manager, conn = begin("h1:2")
    manager.says("status", "ok 1 0 h1:1")
    change(conn, 1)
    answered(conn, "spawn", "1", "1", "h1:1")
    sets = come(conn, 1, ["h1"])[1]
    manager.says("status", "ok 2 0 h1:2")
    check(conn.ask("finalize", sets[0])[1] == ["ok"], "the change does not end")
    change(conn, 3)
    silent(conn)
    manager.says("status", "ok 5 3 h1:2")
    manager.says("host h2:2")
    silent(conn)
    manager.says("status", "ok 5 1 h1:2 h2:0")
    manager.says("host h2:1")  # it takes one back
    manager.says("status", "ok 5 2 h1:2 h2:0")
    manager.says("host h3.bed:2")
    answered(conn, "spawn", "3", "2", "h2:1,h3.bed:2")
    come(conn, 2, ["h2", "h3", "h3"])
    manager.says("status", "ok 5 0 h1:2 h2:1 h3.bed:2")


def before():
    """A process asks for more before the manager has said a word: the rooms of the beginning count."""
    conn = process(host="h1")
    change(conn, 2)
    answered(conn, "spawn", "2", "1", "h2.bed:2")
    sets = come(conn, 1, ["h2", "h2"])[1]
    check(conn.ask("finalize", sets[0])[1] == ["ok"], "the change does not end")
    change(conn, 1)
    silent(conn)
    manager = Manager()
    manager.says("status", "ok 4 1 h1:1 h2.bed:2")
    manager.says("host h1:1")  # it says them again
    manager.says("host h2.bed:2")
    silent(conn)
    manager.says("host h3:1")
    answered(conn, "spawn", "1", "2", "h3:1")


def less():
    """A host that has less room than processes: they stay, and what others have is not counted against them."""
    manager, conn = begin("h1:3", "h2:0")
    change(conn, 2)
    answered(conn, "spawn", "2", "1", "h1:2")
    sets = come(conn, 1, ["h1", "h1"])[1]
    conn.ask("finalize", sets[0])
    manager.says("host h1:1")
    manager.says("host h2:2")
    change(conn, 2)
    answered(conn, "spawn", "2", "2", "h2:2")


def replace():
    """One comes for one that goes: both are there for a while, so the new one needs a place of its own."""
    manager, conn = begin("h1:2")
    change(conn, 1)
    answered(conn, "spawn", "1", "1", "h1:1")
    new, sets = come(conn, 1, ["h1"])
    conn.ask("finalize", sets[0])
    change(conn, 1, 1, sets[-1:])
    silent(conn)
    manager.says("status", "ok 3 1 h1:2")
    manager.says("host h2:1")
    answered(conn, "spawn", "1", "2", "h2:1")
    sets = come(conn, 2, ["h2"])[1]
    check(conn.ask("finalize", sets[0])[1] == ["ok"], "the change does not end")
    # Its place is free once it has ended, and not before; nobody has to find room for that.
    change(conn, 1)
    silent(conn)
    manager.says("status", "ok 4 0 h1:2 h2:1")
    manager.says("deny 1")  # too late: there is room
    silent(conn)
    manager.says("host h1:1")  # it is taken back meanwhile
    bye(new[0])
    silent(conn)
    settled(manager, "ok 3 1 h1:1 h2:1")
    manager.says("host h1:2")
    answered(conn, "spawn", "1", "3", "h1:1")


def deny():
    """Those that wait are refused; a refusal when nobody waits is too late, or too early."""
    manager, conn = begin("h1:1")
    manager.says("deny 3")
    for line in ("deny refused", "deny 3", "deny 0.25"):
        change(conn, 1)
        silent(conn)
        manager.says(line)
        answered(conn, "ok", "0", "0")
        manager.says(line)
        manager.says("status", "ok 1 0 h1:1")
    change(conn, 1)
    manager.says("host h2:1")
    answered(conn, "spawn", "1", "4", "h2:1")
    manager.says("deny 3")
    come(conn, 4, ["h2"])
    manager.says("status", "ok 2 0 h1:1 h2:1")


def gone():
    """A manager that leaves while somebody waits for room gives none; one that has given none leaves unnoticed."""
    other, conn = begin()
    check(other.ask("host h1").startswith("error"), "a host without room is understood")
    manager = Manager()
    manager.says("host h1:1")
    change(conn, 1)
    silent(conn)
    other.leave()
    silent(conn)
    manager.leave()
    answered(conn, "ok", "0", "0")
    check(conn.ask("members", "mpi://WORLD")[1] == ["ok", "0"], "the registry lost its memory")


MALFORMED = (
    "", " ", "host", "host h1", "host h1:", "host :1", "host h1:x", "host h1:-1", "host h1:1x", "host h1:1:", "host h1:0x2", "host h1:1 now",
    "host h1:1048577", "host h1:99999999999999999999", "Host h1:1", "hosts h1:1", "host\th1:nan", "deny", "deny x", "deny -1", "deny nan", "deny inf",
    "deny 1e300", "deny 3s", "deny 3 4", "deny refused now", "status now", "statuses", "lost 1", "lost it", "finish", "finish now", "finished", "\x01",
    "host \xff\xfe", "ok", "at host h1:1", "at 1 host h1:1", "at 0 deny 1", "at 0 status", "at 0 finish", "grow", "grow -1", "%n%s%n")


def malformed():
    """Lines that are not understood change nothing."""
    manager, conn = begin("h1:1")
    change(conn, 1)
    silent(conn)
    for line in MALFORMED:
        got = manager.ask(line)
        check(got.startswith("error ") and len(got) > 8, "%r is answered with \"%s\"" % (line, got))
        manager.says("status", "ok 2 1 h1:1")
    silent(conn)
    manager.says("  host   h1:2\t")
    answered(conn, "spawn", "1", "1", "h1:1")


def pieces():
    """Lines in pieces, many at once, and too long ones."""
    manager, _ = begin()
    for piece in ("ho", "st h", "1:", "2\nsta", "tus\n"):
        manager.send(piece)
        time.sleep(0.02)
    check([manager.answer(), manager.answer()] == ["ok", "ok 1 0 h1:1"], "lines in pieces are not understood")
    manager.send("status\nhost h2:1\nnonsense\nstatus\n" * 50)
    for k in range(50):
        got = [manager.answer() for _ in range(4)]
        got[2] = got[2][:6]
        check(got == ["ok 1 0 h1:1" + " h2:0" * (k > 0), "ok", "error ", "ok 1 0 h1:1 h2:0"], "many lines at once: %s" % got)
    for bad in (b"host " + b"h" * 300 + b":1\n", b"x" * 5000, b"sta\0tus\n" + b"y" * 300):
        other = Manager()
        other.send(bad)
        try:
            got = other.answer()
        except ConnectionError:
            got = ""
        check(not got, "a line that is too long is answered with %s" % got)
        other.leave()
    # One that does not read its answers ends, and nobody waits for it.
    deaf = Manager()
    deaf.socket.setblocking(False)
    try:
        while True:
            deaf.socket.send(b"status\n" * 30)
    except OSError:
        pass
    manager.says("status", "ok 1 0 h1:1 h2:0")


def many():
    """More hosts than an answer has space for: it names those that fit, as whole words."""
    manager, conn = begin("h1:1")
    for k in range(60):
        manager.send("".join("host node-%06d:1\n" % (100 * k + i) for i in range(100)))
        for _ in range(100):
            check(manager.answer() == "ok", "a host is refused")
    words = manager.ask("status").split()
    check(words[:4] == ["ok", "1", "0", "h1:1"] and 1000 < len(words), "the status of many hosts is %s..." % words[:5])
    check(all(word == "node-%06d:0" % k for k, word in enumerate(words[4:])), "a host is cut in two: %s" % words[-1])
    change(conn, 3)
    answered(conn, "spawn", "3", "1", "node-000000:1,node-000001:1,node-000002:1")


def end(lost, early):
    """The manager ends a run whose launcher waits for lost processes, when all have ended and not before."""
    manager, conn = begin("h1:1")
    if early:
        manager.says("finish", "error processes run")
    if lost:
        manager.says("lost")
        manager.says("finish", "error processes run")
    if not lost and not early:
        bye(conn)
        settled(manager, "ok 0 0 h1:0")
        manager.says("finish")
        time.sleep(10)  # a launcher that waits is ended
        os._exit(6)
    bye(conn)
    time.sleep(0.5)
    os._exit(5)  # a launcher that reports what it has lost


def hostile(rng):
    atoms = ["h1", "h2:1", "h1:0", "h1:9", ":", ":1", "h3:-1", "1", "0", "-1", "nan", "refused", "x" * 200, "\x1b[2J", "%n", "h%d:%d" % (rng.randrange(50), rng.randrange(3))]
    verbs = ["host", "host", "deny", "status", "lost", "finish", "grow", "leave", "pool", "at", "fail", ""]
    line = " ".join([rng.choice(verbs)] + [rng.choice(atoms) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))])
    return line.replace("fail h1", "leave h7")[:250]


def fuzz(count):
    rng = random.Random(11)
    manager, conn = begin("h1:1")
    for _ in range(count):
        line = hostile(rng)
        if rng.random() < 0.05:
            change(conn, rng.randrange(1, 4))
            until = time.monotonic() + PROMPT_S
            while not select.select([conn.socket], [], [], 0.01)[0] and time.monotonic() < until:
                manager.ask("deny refused")
            got = conn.receive()[1]
            if got[0] == "spawn":
                rooms = dict(word.rsplit(":", 1) for word in got[3].split(","))
                check(sum(map(int, rooms.values())) == int(got[1]), "%s processes begin on %s" % (got[1], got[3]))
                check(conn.ask("spawned", "0")[1][0] == "ok", "a start that failed is not answered")
        got = manager.ask(line)
        check(got.startswith("ok") or got.startswith("error "), "%r is answered with \"%s\"" % (line, got))
    check(conn.ask("members", "mpi://WORLD")[1] == ["ok", "0"], "the registry lost its memory")


SCENES = {"room": room, "before": before, "less": less, "replace": replace, "deny": deny, "gone": gone, "malformed": malformed, "pieces": pieces, "many": many,
          "fuzz": lambda: fuzz(3000), "lost": lambda: end(True, False), "early": lambda: end(False, True), "finish": lambda: end(False, False)}
STATUS = {"early": 5}
VARIABLES = {"before": {"ORRERY_DYN_ROOMS": "h1:1,h2.bed:2"}}
SAID = {"deny": ("no hosts within 3 s; the run goes on without the 1 new", "no hosts within 0.25 s", "the resource manager refuses hosts"),
        "gone": ("the resource manager has gone; the run goes on without the 1 new",)}


def main():
    if sys.argv[1] == "scene":
        SCENES[sys.argv[2]]()
        goodbye()
        return
    for scene in sys.argv[2:] or SCENES:
        said = registry_peer.run(__file__, sys.argv[1], scene, "unix:door", STATUS.get(scene, 0), pool=8, variables=VARIABLES.get(scene, {}))
        for text in SAID.get(scene, ()):
            check(text in said, "%s: \"%s\" is not said, but: %s" % (scene, text, said))
    for rooms in ("", "h1", "h1:", ":1", "h1:0", "h1:x", "h1:1,", "h1:1,h2", "h1:1 h2:1", "h1:1048577"):
        os.environ["ORRERY_DYN_ROOMS"] = rooms
        said = registry_peer.run(__file__, sys.argv[1], "before", "unix:door", 1)
        check("ORRERY_DYN_ROOMS=%s is not HOST:N" % rooms in said, "of the rooms \"%s\" is said: %s" % (rooms, said))


main()
