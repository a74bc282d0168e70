# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `make fidelity FIDELITY=--books`: what workers did with their time (orrery_worker_times()), in real runs of Cholesky and of a
# stencil and in their predictions, with tiles of three sizes, one of them far too small. doc/fidelity.md explains the method.
# Invariant: both worlds use the same words for the same work, so shares are compared by name; nothing is fitted to them.
import argparse
import os
import re
import statistics
import sys
import time

import fidelity

POINTS = 5.0  # by which a share may differ
KINDS = ("kernels", "messages", "submission", "foreign", "idle", "data", "runtime")
# A calibration is slightly longer than what is predicted from it: first iterations, which find memory, are the same part of both.
SIZES = [fidelity.stencil(32, 8, 60, 66), fidelity.stencil(16, 64, 100, 110), fidelity.stencil(8, 256, 60, 66),
         fidelity.cholesky(40, 8, 42), fidelity.cholesky(24, 64, 26), fidelity.cholesky(12, 256, 13)]


class Books(fidelity.Bench):
    """A bench whose runs yield the shares of the time of all workers, in per cent, where profiling is on."""

    def seconds(self, command, **variables):
        found = re.search(r"_times nodes=\d+ (.*)", self.run(command, **variables))
        return {key: float(value) for key, value in re.findall(r"(\w+)=([0-9.]+)", found.group(1))} if found else None


def cases_of(options):
    sizes = fidelity.TINY_NODE[:1] + fidelity.TINY_NODE[2:] if options.tiny else SIZES
    cases = [fidelity.Case(*what, workers=w) for what in sizes for w in options.workers]
    cases += [fidelity.Case(*what, ranks=n) for what in sizes for n in options.ranks]
    return [c for c in cases if not options.only or re.search(options.only, "%s %s %s" % (c.program, c.size, c.where()))]


def medians(books):
    return {kind: statistics.median(book[kind] for book in books) for kind in KINDS}


def largest(book, kinds=KINDS):
    return max(kinds, key=lambda kind: book[kind])


def compare(real, simulated):
    """By how many points the shares differ at most and of which kind; whether the largest share is the same; and whether the largest of
    what is no kernel is: True, False, or None where the two that are named differ by less than what shares may differ by, in both."""
    kind = max(KINDS, key=lambda k: abs(real[k] - simulated[k]))
    costs = [largest(book, KINDS[1:]) for book in (real, simulated)]
    same = True
    if costs[0] != costs[1]:
        same = None if all(abs(book[costs[0]] - book[costs[1]]) < POINTS for book in (real, simulated)) else False
    return abs(real[kind] - simulated[kind]), kind, largest(real) == largest(simulated), same


def report(cases, out):
    """Prints the table; returns the number of lines that miss a bar."""
    missed = 0
    form = "%-9s %-16s %-10s %-8s" + " %10s" * len(KINDS) + "  %s\n"
    out.write(form % (("program", "size", "on", "") + KINDS + ("largest share; largest cost",)))
    for c in cases:
        real, simulated = medians(c.real), medians(c.simulated)
        points, kind, same, same_cost = compare(real, simulated)
        rows = (("real", real, "%s; %s" % (largest(real), largest(real, KINDS[1:]))),
                ("simul.", simulated, "%s; %s" % (largest(simulated), largest(simulated, KINDS[1:]))))
        for name, book, words in rows:
            out.write(form % ((c.program, c.size, c.where(), name) + tuple("%.2f" % book[k] for k in KINDS) + (words,)))
        spread = max(max(b[kind] for b in c.real) - min(b[kind] for b in c.real), 0)
        good = points <= POINTS and same and same_cost is not False
        missed += not good
        words = "%s: %.1f points of %s (real runs: %.1f)%s" % ("agree" if good else "DIFFER", points, kind, spread,
                                                               ", costs too close to tell" if same_cost is None else "")
        out.write(form % (("", "", "", "points") + tuple("%+.2f" % (simulated[k] - real[k]) for k in KINDS) + (words,)))
    out.write("books: %d of %d lines name the same largest cost, with shares within %g points\n" % (len(cases) - missed, len(cases),
                                                                                                      POINTS))
    return missed


def main(words):
    parser = argparse.ArgumentParser(prog="fidelity.py --books", description="Compares what workers did with their time.")
    parser.add_argument("--build", default=".", help="the build tree, after make (default: here)")
    parser.add_argument("--output", default="fidelity", help="folder for measurements (default: fidelity)")
    parser.add_argument("--rounds", type=int, default=5, help="real and simulated runs per line (default 5)")
    parser.add_argument("--workers", type=fidelity.numbers, default=[1, 2], help="numbers of workers on one node (default 1,2)")
    parser.add_argument("--ranks", type=fidelity.numbers, default=[2], help="numbers of ranks (default 2)")
    parser.add_argument("--only", help="only lines that match this expression")
    parser.add_argument("--tiny", action="store_true", help="sizes that only show that everything works; no bar is judged")
    options = parser.parse_args(words)
    options.models = ()   # of the network: the default one
    start, bench = time.time(), Books(options)
    options.workers = [w for w in options.workers if w <= bench.cores]
    os.makedirs(options.output, exist_ok=True)
    cases = cases_of(options)
    if not cases:
        parser.error("no line of the table matches what is asked for")
    for number in range(options.rounds):
        # The runtime's costs drift with the machine, by a point of a share and more within minutes.
        if number == 0 or not options.tiny:
            bench.calibrate_runtime()
        fidelity.one_round(bench, cases, number, STARPU_PROFILING=1)
        sys.stderr.write("fidelity: round %d of %d\n" % (number + 1, options.rounds))
    missed = report(cases, sys.stdout)
    print("%d real runs per line, %.0f s in all; others used more than %.0f %% of the machine during %d of %d runs"
          % (options.rounds, time.time() - start, 100 * fidelity.DISTURBED, bench.disturbed, bench.runs))
    return 0 if options.tiny or not missed else 1
