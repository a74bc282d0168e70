# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `make scaling`: Cholesky and a stencil on 1 to 4 real ranks and 1 to 1,024 simulated ones, with the same matrix (strong
# scaling) and with as much work for each rank (weak scaling). Each line has the efficiency, and where the workers' time went.
# doc/statistics.md explains the columns and has the table of one run.
# Invariant: a run ends or is ended (--limit); runs come one after the other, so that memory is that of the largest one.
import argparse
import os
import re
import subprocess
import sys

REAL, SIMULATED = [1, 2, 4], [1, 4, 16, 64, 256, 1024]
SHARES = ["kernels", "messages", "submission", "foreign", "idle", "data", "runtime"]


def cholesky(nt, b):
    return ["-nt", str(nt), "-b", str(b)]


def stencil(nx, ny, b, niter):
    return ["-nx", str(nx), "-ny", str(ny), "-b", str(b), "--niter", str(niter)]


def sides(ranks):
    """How often the side of a square of blocks is doubled for that many ranks: first in one direction, then in the other."""
    doublings = ranks.bit_length() - 1
    return 2 ** ((doublings + 1) // 2), 2 ** (doublings // 2)


def arguments(program, kind, world, ranks):
    real = world == "real"
    if program == "cholesky":
        b = 128 if real else 512
        if kind == "strong":
            return cholesky(16 if real else 64, b)
        return cholesky(round((10 if real else 12) * ranks ** (1 / 3)), b)  # a rank's part of nt^3 stays
    x, y = sides(ranks) if kind == "weak" else (1, 1)
    if kind == "weak":
        return stencil(4 * x, 4 * y, 256, 40 if real else 10)
    return stencil(8, 8, 256, 40) if real else stencil(64, 64, 256, 10)


def command(options, program, kind, world, ranks):
    path = os.path.join(options.build, "examples", program, program)
    orrery = os.path.join(options.build, "orrery")
    if world == "real":
        start = [orrery, "run", "-n", str(ranks), "--oversubscribe", path]
    else:
        start = [orrery, "sim", "-n", str(ranks), "--kernels", "skip", path + ".sim"]
    return start + arguments(program, kind, world, ranks)


def measure(options, program, kind, world, ranks):
    """Seconds and shares in per cent, or None after a message."""
    env = dict(os.environ, STARPU_PROFILING="1", STARPU_SILENT="1")
    if world == "real":
        env["STARPU_NCPU"] = "1"  # as a simulated node of the default machine has its share of the work
    argv = command(options, program, kind, world, ranks)
    try:
        out = subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=options.limit, text=True)
    except subprocess.TimeoutExpired:
        print("scaling: no end within %d s: %s" % (options.limit, " ".join(argv)), file=sys.stderr)
        return None
    seconds = re.search(r"^%s nodes=.* time_s=([0-9.]+)" % program, out.stdout, re.M)
    line = re.search(r"^%s_times nodes=.*" % program, out.stdout, re.M)
    if out.returncode or not seconds or not line:
        print("scaling: failed: %s\n%s" % (" ".join(argv), out.stdout[-2000:]), file=sys.stderr)
        return None
    shares = dict(word.split("=") for word in line.group().split()[1:])
    return float(seconds.group(1)), [float(shares[s]) for s in SHARES]


def table(options, program, kind, world, numbers):
    """Prints the lines of one program; returns how many runs failed."""
    first, failed = None, 0
    for ranks in numbers:
        result = measure(options, program, kind, world, ranks)
        if not result:
            failed += 1
            continue
        seconds, shares = result
        if first is None:
            first = (ranks, seconds)
        speedup = first[1] / seconds if seconds > 0 else 0
        efficiency = speedup * first[0] / ranks if kind == "strong" else speedup
        size = " ".join(a for a in arguments(program, kind, world, ranks))
        print("%-9s %-6s %-9s %5d  %-38s %10.4f %7.1f  " % (program, kind, world, ranks, size, seconds, 100 * efficiency)
              + " ".join("%10.1f" % s for s in shares), flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(prog="make scaling", description="Strong and weak scaling of Cholesky and a stencil.")
    parser.add_argument("--build", default=".", help="the build tree (default: here)")
    parser.add_argument("--most", type=int, default=1024, help="simulated ranks at most (default 1024)")
    parser.add_argument("--limit", type=int, default=180, help="seconds for one run (default 180)")
    parser.add_argument("--only", choices=["cholesky", "stencil", "real", "simulated"], help="a part of the table")
    options = parser.parse_args()
    print("%-9s %-6s %-9s %5s  %-38s %10s %7s  " % ("program", "kind", "world", "ranks", "size", "seconds", "eff. %")
          + " ".join("%10s" % s for s in SHARES))
    failed = 0
    for program in ["cholesky", "stencil"]:
        for kind in ["strong", "weak"]:
            for world, numbers in [("real", REAL), ("simulated", [n for n in SIMULATED if n <= options.most])]:
                path = os.path.join(options.build, "examples", program, program) + (".sim" if world == "simulated" else "")
                if options.only in (None, program, world) and os.path.exists(path):
                    failed += table(options, program, kind, world, numbers)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
