# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain`: says where the time of a recorded run went, in words.
# Invariant: the shares are those of the critical path, and add up to the makespan.
import json
import os
import sys

import orrery_alone
import orrery_changes
import orrery_clocks
import orrery_cores
import orrery_drift
import orrery_growth
import orrery_links
import orrery_memories
import orrery_models
import orrery_part
import orrery_tracefile
from orrery_cli import UserError
from orrery_critical import Run, critical_path, title
from orrery_ends import ends
from orrery_findings import findings, orrery_gains, whole

HELP = """usage: orrery explain FILE [FILE] [--gains] [--json] [--from S] [--to S]

Says where the time of a run went that was recorded with ORRERY_TRACE=FILE,
orrery run --trace FILE or orrery sim --trace FILE: how much of the makespan each
kernel, the messages, the runtime and the program have on the critical path, which
goes from the last event back to the first, from each effect to its cause; what is
unusual; and what would help most, with what it gains (or at most gains).

Of two files, it says where the second run differs from the first, in the order of
what explains the difference, and of a simulated and a real run how far the prediction
can be trusted.

  --gains         execute a run of more than 100,000 tasks and messages again as
                  well, for what changes gain instead of what they gain at most;
                  that takes about a minute and 2 GiB per million
  --json          the same for other programs
  --from S, --to S  of one run, only what was between these times, in seconds since
                  its first event; what had begun before begins with the window

The documentation (doc/statistics.md) says how it finds the path.
"""
CHANGES = 3
LINES = 12   # of the table; the rest is summed up


def shares(pieces):
    """[(kind, detail, ns, pieces)], the largest first: kernels and copies by name, the rest by kind."""
    sums = {}
    for piece in pieces:
        key = (piece.kind, piece.detail if piece.kind in ("kernel", "fetching") else "")
        ns, count = sums.get(key, (0, 0))
        sums[key] = (ns + piece.last - piece.first, count + 1)
    return sorted(((kind, detail, ns, count) for (kind, detail), (ns, count) in sums.items()), key=lambda s: (-s[2], s[:2]))


def certainty(trace, run, pieces):
    """Sentences on how far the answer can be trusted."""
    said = []
    if trace.part is not None:
        said.append(trace.part.sentence())
        said += orrery_part.not_recorded(trace)
    if trace.cut_at:
        said.append(orrery_tracefile.words_of_window(trace, run))
    if trace.state():
        said.append("%s; what follows is true up to there" % trace.state())
        said += [] if trace.cut_at else ends(trace, run)
    if trace.missing():
        said.append(trace.missing())
        said.append("%.0f %% of the path is recorded: in each of these parts, from its end back; gains are bounds, and take the rest to be like it"
                    % (100 / whole(run, pieces)))
    if not trace.simulated:
        said.append(orrery_clocks.sentence(trace))
    cores = orrery_cores.waited(*trace.waited() or (None, 0))
    if orrery_cores.much(cores):
        said.append("%s: the times above include that" % orrery_cores.sentence("the run", cores))
    return said


def run_of(trace):
    """The tasks and messages of a trace: as columns where numpy is installed, which takes a fraction of the time and memory."""
    try:
        import orrery_columns
    except ImportError:
        if trace.cut_at:
            raise UserError("--from and --to need numpy for %s; install it with `apt-get install python3-numpy`" % sys.executable, 1)
        return Run(trace)
    return orrery_columns.Run(orrery_columns.Columns(trace))


def replay_of(trace, run, large):
    """(the run as a graph that can be executed again, or None; a sentence on why it is not, or what that means). large: somebody wants to
    wait for that of a large run."""
    if trace.windows:
        return None, ""   # as is said of its gaps
    if trace.part is not None:
        return None, "gains are bounds from the path: what was not recorded cannot be executed again"
    try:
        import orrery_replay
    except ImportError:
        return None, "gains are bounds from the path: numpy is missing, with which a run is executed again; install python3-numpy"
    size = run.tasks_done() + run.messages_received()
    if size > orrery_replay.MOST:
        return None, ("gains are bounds from the path: a run of more than %d tasks and messages is not executed again; explain a smaller one"
                      % orrery_replay.MOST)
    if size > orrery_replay.QUICK and not large:
        return None, ("gains are bounds from the path: `orrery explain --gains` executes a run of %d tasks and messages again, which takes "
                      "about %d s" % (size, size * orrery_replay.EACH + 1))
    return orrery_replay.Replay(trace, run), "" if size <= orrery_replay.QUICK else (
        "gains let each worker keep its order of tasks: where workers have much choice, a run can gain a third more, or half as much")


def answer(trace, run=None, pieces=None, large=False):
    """What there is to say, as --json prints it; of a run and its critical path, if the caller has them already. large: as in replay_of()."""
    run = run or run_of(trace)
    pieces = critical_path(run) if pieces is None else pieces
    replay, how = replay_of(trace, run, large)
    parts = [{"kind": kind, "name": detail, "seconds": ns * 1e-9, "pieces": count}
             for kind, detail, ns, count in shares(pieces)]
    models = orrery_models.rows(run.expected())
    found = findings(run, pieces, replay, models)
    gaps = orrery_alone.gaps(run, trace, pieces)
    return {"file": trace.path, "world": "simulated" if trace.simulated else "real", "complete": trace.state() is None, "missing": trace.missing(),
            "part": None if trace.part is None else trace.part.sentence(),
            "makespan_seconds": (run.last - run.first) * 1e-9, "ranks": len(run.ranks),
            "workers": len(run.workers), "tasks": run.tasks_done() if orrery_part.has_tasks(trace) else sum(1 for _ in run.kernels()), "messages": run.messages_received(),
            "path": parts, "changes_of_run": orrery_changes.summed_up(orrery_changes.changes(trace)), "findings": found,
            "models": [orrery_models.as_json(row) for row in models], "wrong_models": wrong_models(trace, run, models, found),
            "gaps": orrery_alone.as_json(gaps, run), "memory": orrery_memories.rows(trace, run.memories()),
            "links": orrery_links.as_json(orrery_links.shares(trace, run.first, run.last)),
            "grown": orrery_growth.as_json(orrery_growth.lists(run, trace), run), "kernels": faster_kernels(parts, replay, whole(run, pieces)),
            "certainty": certainty(trace, run, pieces) + [how] * bool(how)}


def wrong_models(trace, run, models, found):
    """Sentences on performance models that were wrong, besides those that a finding is about."""
    told = {f["subject"] for f in found if f["cause"] == "wrong-model"}
    waited, worked = trace.waited() or (0, 0)
    some = orrery_models.wrong(models, sum(ns for _, _, _, ns in run.kernels()), waited / worked if worked else 0)
    return ["%s; %s" % (orrery_models.sentence(row), orrery_models.remedy(row)) for row in some if row.name not in told]


def faster_kernels(parts, replay, more):
    """What it would gain if a kernel of the path were twice as fast, the best first."""
    found = [{"name": p["name"], "seconds": orrery_gains.kernel(replay, p["name"], 2) if replay else p["seconds"] / 2 * more, "sure": replay is not None}
             for p in [p for p in parts if p["kind"] == "kernel"][:CHANGES]]
    return sorted(found, key=lambda k: (-k["seconds"], k["name"]))


def changes(found):
    """[(what to change, what it gains in seconds, whether that is an estimate and no bound)], the largest gain first; of equal ones a
    fault first."""
    some = [(f["remedy"], f["seconds"], f["sure"]) for f in found["findings"]]
    some += [("a kernel %s that is twice as fast" % k["name"], k["seconds"], k["sure"]) for k in found["kernels"]]
    return sorted(some, key=lambda change: -change[1])[:CHANGES]


def gains(seconds, sure, total):
    """A gain in words."""
    return "%s %.6f s, %.1f %%" % ("about" if sure else "at most", seconds, 100 * seconds / total if total else 0)


def unusual(found):
    """Sentences on what is unusual."""
    return [f["text"] for f in found["findings"]] + found["wrong_models"]


def write_changes(found, out):
    """What is unusual, then what would help most."""
    total = found["makespan_seconds"]
    out.write("\nWhat is unusual:\n")
    for text in unusual(found) or ["nothing"]:
        out.write("  %s\n" % text)
    out.write("\nWhat would help most:\n")
    for text, seconds, sure in changes(found):
        out.write("  %s: %s\n" % (text, gains(seconds, sure, total)))


def write_page(found, out):
    total = found["makespan_seconds"]
    out.write("%.6f s in a %s run%s of %d ranks and %d workers: %d tasks, %d messages\n\nWhere the time went, along the critical path:\n"
              % (total, found["world"], ", the part that was recorded," * bool(found["part"]), found["ranks"], found["workers"], found["tasks"], found["messages"]))
    rows = [(part["seconds"], part["pieces"], title(part)) for part in found["path"]]
    if len(rows) > LINES:
        rest = rows[LINES - 1:]
        rows[LINES - 1:] = [(sum(r[0] for r in rest), sum(r[1] for r in rest), "%d others" % len(rest))]
    for seconds, count, name in rows:
        out.write("  %5.1f %%  %12.6f s  %s (%d times)\n" % (100 * seconds / total if total else 0, seconds, name, count))
    changed = orrery_changes.lines(found["changes_of_run"], total)
    if changed:
        out.write("\nWhat changed the run, on the rank where it took longest:\n")
    for line in changed:
        out.write("  %s\n" % line)
    alone = orrery_alone.lines(found["gaps"], total)
    if alone:
        out.write("\n%s:\n" % alone[0])
        for line in alone[1]:
            out.write("  %s\n" % line)
    for heading, lines in (("Memory that was nearly full", orrery_memories.lines(found["memory"])), ("Links that were full", orrery_links.lines(found["links"])),
                           ("Lists of requests that grew through the run", orrery_growth.lines(found["grown"]))):
        for i, line in enumerate(lines):
            out.write("%s  %s\n" % ("" if i else "\n%s:\n" % heading, line))
    write_changes(found, out)
    if found["certainty"]:
        out.write("\nHow sure this is:\n")
    for sentence in found["certainty"]:
        out.write("  %s\n" % sentence)


def main(_context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    window, arguments = orrery_tracefile.window_of(arguments)
    files = [word for word in arguments if word not in ("--json", "--gains")]
    for word in files:
        if word.startswith("-"):
            raise UserError("unknown option %s; see `orrery explain --help`" % word)
    if len(files) not in (1, 2):
        raise UserError("which run? Record one with ORRERY_TRACE=FILE or --trace FILE, then give FILE"
                        if not files else "one run, or two to compare; give only two of %s" % " ".join(files))
    traces = [orrery_tracefile.Trace(path) for path in files]
    if window != (None, None):
        if len(traces) == 2:
            raise UserError("--from and --to are for one run; two are compared as a whole")
        traces[0].look_at(*window)
    if len(traces) == 2:
        found, write = orrery_drift.compare(*traces), orrery_drift.write_page
        sides = (found["a"], found["b"])
    else:
        orrery_part.need_tasks(traces[0], "the critical path")
        found, write = answer(traces[0], large="--gains" in arguments), write_page
        sides = (found,)
    for path, side in zip(files, sides):
        if not side["tasks"] and not side.get("messages"):
            trace = orrery_tracefile.Trace(path)
            why = [words for words in (trace.part and trace.part.sentence(), trace.state()) if words]
            raise UserError("%s has no task that came to its end, and no message%s: there is nothing to explain%s"
                            % (path, "" if window == (None, None) else " between these times", "".join("; " + words for words in why)), 1)
    try:
        if "--json" in arguments:
            json.dump(found, sys.stdout, indent=1)
            sys.stdout.write("\n")
        else:
            write(found, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
