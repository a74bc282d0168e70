# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The cost to a run of strangers at the door of the registry of process sets (tests/real/stranger.c): one that follows a manager's
# script (tests/elastic/follow.c) is run again and again, without a stranger, and with one of each kind: who sits there with a
# hundred connections, who trickles bytes on them, who floods, and who connects and leaves as fast as he can.
#
# On one machine the stranger would take a core from the run, whatever he does with it. So the run has one core for itself, its
# registry with it, and the stranger has the others. Without him, too, somebody is there: a stranger of the same kind at a door
# of nobody (doorkeeper()). What is left is the share of the registry: nothing where connections are signed; with
# ORRERY_DYN_SIGNED=0 a hundredth of the time, and while processes are expected what strangers want. Runs take turns. ORR_BENCH_TURNS: of each (default 15); ORR_BENCH_KINDS: of strangers; ORR_BENCH_STEPS: of
# a run (default 400, some 10 s).
[ "$ORR_TEST_MPI" = yes ] || exit 77
cd "$TMPDIR" || exit 77
stranger=$ORR_TEST_BUILDDIR/tests/real/stranger program=$ORR_TEST_BUILDDIR/tests/elastic/follow
[ -x "$stranger" ] && [ -x "$program" ] || { echo "make check TESTS= builds $program and $stranger"; exit 77; }
export STARPU_NCPU=1 FOLLOW_PAUSE_US=1000
cat > strangers.py <<'END'
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

orrery, program, stranger, turns, steps, kinds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6:]
SIZES = ["2", "3", "2"]
CORES = sorted(os.sched_getaffinity(0))
if len(CORES) < 2:
    sys.exit("the run and the stranger need a core each, and there is one")
os.sched_setaffinity(0, CORES[1:])


def doorkeeper(door):
    """Takes connections of strangers and closes them, as the registry does, but for nobody."""
    waiting = []
    while True:
        try:
            waiting.append(door.accept()[0])
        except OSError:
            return
        while len(waiting) > 64:
            waiting.pop(0).close()


def registry_of(run):
    """(pid of the registry, its address) below `orrery run`."""
    for _ in range(1000):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % pid) as file:
                    name, rest = file.read().rsplit(")", 1)
                if "orrery-elastic" not in name or int(rest.split()[1]) != run.pid and int(pid) != run.pid:
                    continue
                with open("/proc/%s/task/%s/children" % (pid, pid)) as file:
                    child = file.read().split()[0]
                with open("/proc/%s/environ" % child, "rb") as file:
                    for item in file.read().split(b"\0"):
                        if item.startswith(b"ORRERY_DYN_SERVER="):
                            return pid, item.decode().partition("=")[2].rsplit(":", 2)[:2]
            except (OSError, IndexError):
                pass
        time.sleep(0.005)
    sys.exit("there is no registry")


def ticks(pid):
    with open("/proc/%s/schedstat" % pid) as file:
        return int(file.read().split()[0]) * 1e-9


def once(kind, at_nobody):
    """Seconds that a run takes, and seconds of the CPU that its registry does, with a stranger at its door or at nobody's."""
    door = socket.create_server(("127.0.0.1", 0), backlog=512)
    threading.Thread(target=doorkeeper, args=(door,), daemon=True).start()
    begin = time.monotonic()
    run = subprocess.Popen(["taskset", "-c", str(CORES[0]), orrery, "run", "-n", "2", "--elastic", "--max", "3", "--oversubscribe", "--manager",
                            "script:script", program, steps] + SIZES, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pid, address = registry_of(run)
    if at_nobody:
        address = [str(word) for word in door.getsockname()]
    other = subprocess.Popen([stranger, kind] + address + ["1000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    used = 0
    while run.poll() is None:
        try:
            used = ticks(pid)
        except OSError:
            pass
        time.sleep(0.002)
    took = time.monotonic() - begin
    other.kill()
    other.wait()
    door.close()
    if run.returncode:
        sys.exit("the run with a stranger who does %s ended with %d" % (kind, run.returncode))
    return took, used


with open("script", "w") as script:
    script.write("at 0.1 grow 1\nat 0.1 shrink 1\n")
for kind in kinds:
    found = {True: [], False: []}
    for turn in range(turns):
        for at_nobody in (True, False) if turn % 2 else (False, True):
            found[at_nobody].append(once(kind, at_nobody))
    (a, b), (without, beside) = ([statistics.median(run[i] for run in found[place]) for place in (False, True)] for i in (0, 1))
    print("strangers %s run_s=%.3f without_s=%.3f ratio=%.3f registry_cpu_s=%.4f without_s=%.4f of_the_run=%.2f%%"
          % (kind, a, b, a / b, without, beside, 100 * (without - beside) / a))
    sys.stdout.flush()
END
# shellcheck disable=SC2086
"$PYTHON" strangers.py "$ORRERY" "$program" "$stranger" "${ORR_BENCH_TURNS:-15}" "${ORR_BENCH_STEPS:-400}" ${ORR_BENCH_KINDS:-sit trickle flood knock}
