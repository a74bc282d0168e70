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

# Clocks that drift: the trace is written anew as computers would have written it whose clocks run at other rates, and are wrong
# at the begin. With both comparisons the times are those of the run; if the second one says the same as the first, they are not.
cat > drift.py << 'END'
import struct
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_clocks  # noqa: E402
import orrery_columns  # noqa: E402
import orrery_tracefile  # noqa: E402
from orrery_tracefile import BLOCK, CLOSED, EVENT, NUMBER, SHORT, Trace  # noqa: E402

RATES, WRONG, ERROR = (0, 4e-5, -2.5e-4, 1e-6), (0, 3600 * 10**9, -7 * 10**9, 5), 40


def own_ns(number, run_ns):
    return round((run_ns - WRONG[number]) / (1 + RATES[number]))


def drifting(path, to, ends):
    """Writes the trace as such clocks had it. ends: the comparison at the end is right, and not the same as at the begin."""
    trace = Trace(path)
    with open(path, "rb") as file:
        data = bytearray(file.read()[:trace.end])
    struct.pack_into("=I", data, 20, trace.flags & ~CLOSED)
    begin = {}
    for place, head in trace.blocks:
        number, at = head[1], place + BLOCK.size
        for field in (16, 24):   # first_ns and last_ns
            struct.pack_into("=q", data, place + field, own_ns(number, struct.unpack_from("=q", data, place + field)[0]))
        stop = at + head[3] * EVENT.size
        while at < stop:
            ns, kind, flags, _, a, b, _, _ = EVENT.unpack_from(data, at)
            struct.pack_into("=q", data, at, own_ns(number, ns))
            if kind == NUMBER["start"] and flags & SHORT:   # it has the durations of what follows
                for field in (16, 24):
                    word = struct.unpack_from("=Q", data, at + field)[0]
                    if word >> 32:
                        until_ns = ns + (word >> 32) - 1
                        word = word & 0xFFFFFFFF | own_ns(number, until_ns) - own_ns(number, ns) + 1 << 32
                        struct.pack_into("=Q", data, at + field, word)
                        ns = until_ns
            if kind == NUMBER["clock"]:
                begin.setdefault(number, ns - own_ns(number, ns))
                struct.pack_into("=QQ", data, at + 16, (ns - own_ns(number, ns) if ends or not a else begin[number]) % (1 << 64), ERROR)
            at += EVENT.size * (1 + (-(-b // EVENT.size) if kind == NUMBER["string"] else 0))
    with open(to, "wb") as file:
        file.write(data)


def times(path):
    columns = orrery_columns.Columns(Trace(path))
    return columns.tasks.start.tolist(), [e[0] for e in Trace(path).events(("start", "end"))]


true = times(sys.argv[2])
for ends, right in ((True, True), (False, False)):
    drifting(sys.argv[2], "drifting", ends)
    found = times("drifting")
    wrong = max(abs(a - b) for one, other in zip(true, found) for a, b in zip(sorted(one), sorted(other)))
    print("%s: times are wrong by up to %d ns" % ("two comparisons" if ends else "one comparison", wrong))
    assert (wrong <= 2 * ERROR) == right, wrong
    trace = Trace("drifting")
    trace.simulated = False
    for process in trace.processes.values():
        process.host = "h%d" % process.rank
    said = orrery_clocks.sentence(trace)
    print(said)
    assert "compared to within 0.04 us" in said and ("that of h2 by 250 us a second" in said) == right, said
    assert trace.processes[3].drift == 0   # no more than the comparisons may be wrong by
END
ok "${PYTHON:-python3}" drift.py "$ORR_TEST_SRCDIR/tools" trace
cat out
