# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The host that `orrery run` names as lost is the one whose agent ended first, however late the thread looks that watches the
# agents (tools/orrery_launch.py): it found h3's end beside h4's once, and a run was started again without the wrong host. So is
# it if the thread looks so early that a process has not executed its program yet: it had no host for good.
#
# What mpirun and ranks say names the lost host, too, in whatever pieces it comes: a rank that hears nobody, because mpirun has
# ended all others, takes its own host for cut off. Before that, ranks elsewhere had said whose connections were closed.
# orr-test: timeout 60
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"$PYTHON" -c 'import os, sys; sys.exit(not hasattr(os, "pidfd_open"))' 2> /dev/null || skip "needs Python 3.9 or later"
cat > agents.py << 'END'
import os
import random
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
import orrery_launch

HOSTS = ["h%d" % i for i in range(1, 9)]


class Late(orrery_launch.Agents):
    """Looks when it is told to."""

    def watch(self):
        pass


def young():
    """A process that is met between its start and its program's."""
    go, went = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        os.dup2(went[0], 0)
        os.close(went[1])
        os.read(go[0], 1)
        os.execvp("sh", ["sh", "-c", "read word", "h5"])
    os.close(went[0])
    late = Late(os.getpid(), HOSTS)
    assert late.meet() == 1 and not late.known, late.known
    os.write(go[1], b"x")
    while late.meet():
        pass
    assert list(late.known.values()) == ["h5"], late.known
    os.close(went[1])
    late.look(10)
    assert late.first == "h5", late.first
    os.waitpid(pid, 0)


young()
for _ in range(20):
    agents = [subprocess.Popen(["sh", "-c", "read word", host], stdin=subprocess.PIPE) for host in HOSTS]
    late = Late(os.getpid(), HOSTS)
    while late.meet():
        pass
    assert sorted(late.known.values()) == HOSTS, late.known
    late.look(0)
    assert late.first is None, late.first
    order = random.sample(range(len(HOSTS)), len(HOSTS))
    for i in order:
        agents[i].kill()
        agents[i].wait()
    late.look(0)
    assert late.first == HOSTS[order[0]], (late.first, [HOSTS[i] for i in order])
END
ok "$PYTHON" agents.py "$ORR_TEST_SRCDIR/tools"

cat > words.py << 'END'
import os
import random
import sys

sys.path.insert(0, sys.argv[1])
import orrery_launch
import orrery_launchers

HUNG_UP = b"""An MPI communication peer process has unexpectedly disconnected.
  Local host: h1
  Local PID:  172
  Peer host:  %s
"""
ALONE = (b"[orrery][2] error: host h3 is cut off, or all others are lost: host h1 with rank 0 and host h2 with rank 1; "
         b"no sign of life for 2.9 s, since 08:33:53; no message waits for that\n")


def lost(text):
    """The hosts that are lost by such an output."""
    pipe, null = os.pipe(), open(os.devnull, "w")
    spoken = os.fdopen(pipe[0], "rb")
    output = orrery_launch.Output(spoken, null, orrery_launch.words_of(orrery_launchers.OPEN_MPI_4))
    while text:
        n = random.randint(1, len(text))
        os.write(pipe[1], text[:n])
        text = text[n:]
    os.close(pipe[1])
    output.reader.join()
    return output.lost.hosts


for _ in range(50):
    assert lost(ALONE) == ["h3"], lost(ALONE)
    assert lost(HUNG_UP % b"h2" + ALONE) == ["h2"], lost(HUNG_UP % b"h2" + ALONE)
    assert lost(ALONE + HUNG_UP % b"h2") == ["h3"], lost(ALONE + HUNG_UP % b"h2")
    assert lost(HUNG_UP % b"h3" + ALONE) == ["h3"], lost(HUNG_UP % b"h3" + ALONE)
END
ok "$PYTHON" words.py "$ORR_TEST_SRCDIR/tools"
