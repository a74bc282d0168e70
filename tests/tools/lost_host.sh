# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The host that `orrery run` names as lost is the one whose agent ended first, however late the thread looks that watches the
# agents (tools/orrery_launch.py): it found h3's end beside h4's once, and a run was started again without the wrong host. So is
# it if the thread looks so early that a process has not executed its program yet: it had no host for good.
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
