# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Ends runs at random moments, in one of several ways, and looks at what their traces have:
#     trace_ends.py ORRERY PROGRAM sim|mpi MOMENTS SEED
# Invariant: what the kernels noted themselves is the truth that a trace is compared with.
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import trace_tables

ROUNDS, RANKS, WORKERS = 400, 2, 2
LONGER = 5   # times as many rounds, where a signal takes its time
SECONDS = 150


def runs(pid):
    """Whether there is such a process, other than one that nobody has waited for."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            return bool(pid) and file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Case:
    def __init__(self, orrery, program, world):
        self.orrery, self.program, self.world = orrery, program, world
        self.environment = dict(os.environ, STARPU_NCPU=str(WORKERS), ORRERY_SIM_CPUS=str(WORKERS))

    def command(self, how, kernel, trace, rounds=ROUNDS):
        start = [self.orrery, "sim" if self.world == "sim" else "run", "-n", str(RANKS), "--trace", trace]
        return start + [self.program, how, str(kernel), str(rounds), os.path.abspath("log")]

    def start(self, command):
        shutil.rmtree("log", ignore_errors=True)
        os.mkdir("log")
        out = open("out", "wb")
        return subprocess.Popen(command, stdout=out, stderr=out, env=self.environment, start_new_session=True)

    def noted(self, rank):
        try:
            return os.path.getsize(os.path.join("log", str(rank)))
        except OSError:
            return 0

    def ended(self, process):
        try:
            return process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise AssertionError("the run did not end in %d s" % SECONDS)

    def gone(self):
        """Waits until no process of the run is left: on ^C, mpirun ends before its ranks do."""
        end = time.monotonic() + SECONDS
        for rank in range(RANKS):
            while self.world == "mpi" and runs(self.pid(rank)):
                assert time.monotonic() < end, "rank %d is still there" % rank
                time.sleep(0.01)

    def pid(self, rank):
        try:
            with open(os.path.join("log", "%d.pid" % rank), encoding="ascii") as file:
                return int(file.read() or 0)
        except OSError:
            return 0

    def in_kernel(self, how, kernel):
        """Rank 1 crashes or kills itself."""
        process = self.start(self.command(how, kernel, "trace"))
        assert self.ended(process) != 0, how
        self.gone()

    def outside(self, number, kernel):
        """The whole run gets a signal when rank 1 has noted so many kernels."""
        process = self.start(self.command("no", 0, "trace", LONGER * ROUNDS))
        end = time.monotonic() + SECONDS
        while self.noted(1) < kernel and process.poll() is None and time.monotonic() < end:
            time.sleep(0.0005)
        # mpirun puts its ranks into groups of their own.
        ranks = [self.pid(rank) for rank in range(RANKS)] if self.world == "mpi" and number == signal.SIGKILL else []
        for send, to in [(os.killpg, process.pid)] + [(os.kill, pid) for pid in ranks if pid]:
            try:
                send(to, number)
            except ProcessLookupError:
                pass
        self.ended(process)
        self.gone()

    def full(self, kib):
        """On a disk of that size."""
        script = 'mount -t tmpfs -o size=%dk none small; "$@"; s=$?; cp small/trace trace; exit $s' % kib
        os.makedirs("small", exist_ok=True)
        process = self.start(["unshare", "-r", "-m", "sh", "-c", script, "sh"] + self.command("no", 0, "small/trace"))
        assert self.ended(process) != 0, "a full disk did not make the run fail"

    def ask(self, *words):
        done = subprocess.run([self.orrery] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def look(self, way):
        for form, name in (("--sqlite", "run.db"), ("--text", "text")):
            done = self.ask("trace", "trace", form, "-o", name)
            assert done.returncode == 0, done.stderr
        base = sqlite3.connect("run.db")
        trace_tables.sums("", base, "text")
        ends = dict(base.execute("SELECT rank, count(end_ns) FROM tasks GROUP BY rank"))
        state = base.execute("SELECT value FROM run WHERE name = 'state'").fetchone()[0]
        for rank in range(RANKS):
            noted, known = self.noted(rank), ends.get(rank, 0)
            assert known <= noted, (rank, known, noted)
            # A kernel that has noted itself may not have left its function.
            assert way == "full" or known >= noted - WORKERS, (rank, known, noted)
        if way == "full":
            assert "disk was full" in state, state
        else:
            assert "cut short" in state, state
        self.explain(base, way, state)
        return sum(ends.values()), state

    def explain(self, base, way, state):
        done = self.ask("explain", "trace")
        if done.returncode:
            assert "there is nothing to explain" in done.stderr, done.stderr
            assert state == "whole" or state in done.stderr, done.stderr
            return
        if state == "whole":
            return
        assert state in done.stdout, done.stdout
        last = re.search(r"the trace ends ([0-9.]+) s after its first event", done.stdout)
        makespan = base.execute("SELECT CAST(value AS INTEGER) FROM run WHERE name = 'makespan_ns'").fetchone()[0]
        assert last and abs(float(last.group(1)) - makespan * 1e-9) < 1e-6, done.stdout
        if way == "full":
            assert "the disk had no room from " in done.stdout, done.stdout
        elif way in ("crash", "kill"):
            assert re.search(r"the last that rank 1 recorded was after [0-9.]+ s: kernel (own|take) \(task \d+\)", done.stdout), done.stdout
        found = json.loads(self.ask("explain", "--json", "trace").stdout)
        assert abs(sum(p["seconds"] for p in found["path"]) - makespan * 1e-9) < 1e-8, found["path"]


def main(orrery, program, world, moments, seed):
    rng, case, empty = random.Random(int(seed)), Case(orrery, program, world), 0
    can_mount = subprocess.run(["unshare", "-r", "-m", "true"], stderr=subprocess.DEVNULL).returncode == 0
    ways = ["crash", "kill", "interrupt", "killed from outside"] + (["full"] if can_mount else [])
    for i in range(int(moments)):
        way, kernel = ways[i % len(ways)], rng.randint(1, 2 * ROUNDS - 1)
        if os.path.exists("trace"):
            os.unlink("trace")
        if way in ("crash", "kill"):
            case.in_kernel(way, kernel)
        elif way == "full":
            case.full(rng.randint(8, 200 if world == "sim" else 300))
        else:
            case.outside(signal.SIGINT if way == "interrupt" else signal.SIGKILL, kernel)
        try:
            known, state = case.look(way)
        except AssertionError as error:
            sys.exit("seed %s, moment %d, %s at kernel %d of a run (%s): %s" % (seed, i, way, kernel, world, error))
        print("%s at kernel %d (%s): %d kernels; %s" % (way, kernel, world, known, state))
        empty += not known
    # What was looked at must have been runs.
    assert empty * 2 <= int(moments), "%d of %s traces are empty" % (empty, moments)


if __name__ == "__main__":
    main(*sys.argv[1:])
