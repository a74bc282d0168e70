#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Clocks of computers that differ are set right by the messages of a run (tools/orrery_clocks.py): none arrives before it was sent,
# clocks that suit the messages stay, a cycle that no clocks suit changes none, and the run, executed again, gains what it
# gains by true clocks.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world, whose clocks are true"
"${PYTHON:-python3}" -c 'import numpy' 2> err || skip "no numpy"
ok "$ORRERY" sim -n 4 --trace trace "$ORR_TEST_BUILDDIR/tests/mpi/explain_causes.sim" rounds take=2000 make=1000 bytes=100000
cat > clocks.py << 'END'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import numpy as np  # noqa: E402
import orrery_clocks  # noqa: E402
import orrery_columns  # noqa: E402
import orrery_explain  # noqa: E402
import orrery_gains  # noqa: E402
import orrery_replay  # noqa: E402
import orrery_tracefile  # noqa: E402


def late(*messages):
    sender, receiver, ns = (np.array(some) for some in zip(*messages))
    return orrery_clocks.late(sender, receiver, ns, 3).tolist()


assert late((0, 1, 5), (1, 0, 2)) == [0, 0, 0]
assert late((0, 1, -5), (0, 1, 9), (1, 0, 20)) == [0, 5, 0]
assert late((0, 1, -5), (1, 2, -1), (2, 0, 7)) == [0, 5, 6]
assert late((0, 1, -5), (1, 0, 4)) == [0, 0, 0]


def gains(wrong_ns):
    """Clocks of the hosts are wrong by that; (quickest message in nanoseconds, makespan, gain of a kernel)."""
    trace = orrery_tracefile.Trace(sys.argv[2])
    trace.simulated = False
    for process in trace.processes.values():
        process.host = "h%d" % process.rank
        process.clock_ns += wrong_ns[process.rank]
    run = orrery_explain.run_of(trace)
    m = run.columns.messages
    replay = orrery_replay.Replay(trace, run)
    assert replay.gain() == 0
    return int((m.envelope - m.send)[m.sender != m.receiver].min()), replay.makespan, orrery_gains.kernel(replay, "take", 2)


true = gains([0, 0, 0, 0])
print("true clocks: the quickest message takes %d ns, the run %d ns; take twice as fast gains %.6f s" % true)
for wrong in ([0, -1000000, 0, 500000], [300000, 0, 0, -2000000]):
    quickest, makespan, gain = gains(wrong)
    print("wrong by %s ns: %d ns, %d ns, %.6f s" % (wrong, quickest, makespan, gain))
    assert quickest >= 0
    assert abs(makespan - true[1]) <= 2 * max(map(abs, wrong))
    assert abs(gain - true[2]) <= 0.1 * true[2], (gain, true)
END
ok "${PYTHON:-python3}" clocks.py "$ORR_TEST_SRCDIR/tools" trace
cat out
