# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The journal of an elastic run ($ORRERY_DYN_LOG, src/dyn/journal.c): where the time of its changes went.
# Invariant: a step of a change that the journal lacks is left out; what no registry writes is refused with file and line,
# so that no time is negative or infinite.
import sys
from statistics import median

import orrery_checksum
from orrery_cli import UserError

# The steps of a change, in their order, by what ends them.
STEPS = ("leave", "start", "point", "join")


LARGEST_S = 1e9         # 31 years
MOST_PROCESSES = 1 << 20  # that one change starts


def read_line(words):
    """(seconds, process, verb, words), or a ValueError that says why not."""
    if len(words) < 3:
        raise ValueError("it ends early")
    seconds, process, verb, words = float(words[0]), int(words[1]), words[2], words[3:]
    if not 0 <= seconds <= LARGEST_S:
        raise ValueError("%g is no number of seconds" % seconds)
    if verb == "gets" and words[:1] == ["spawn"] and not 0 <= int(words[1] if len(words) > 1 else -1) <= MOST_PROCESSES:
        raise ValueError("'%s' says no number of processes" % " ".join(words))
    return seconds, process, verb, words


def read_journal(path):
    """[(seconds, process, verb, words)], sorted by time. Of a run that was killed, the last line may lack its end, and is left out;
    what is missing is said."""
    entries = []
    says = orrery_checksum.check(path, cut=lambda path, lines: sys.stderr.write(
        "%s:%d: the journal ends here: whoever wrote it was ended; what came later is not known\n" % (path, lines)))
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith("\n") or not line.strip() or line.startswith("#"):
                continue
            try:
                entry = read_line(line.split())
                if entries and entry[0] < entries[-1][0]:
                    raise ValueError("it is earlier than the line before")
            except ValueError as error:
                raise UserError("%s:%d: not a line of a journal: %s" % (path, number, error), 1)
            entries.append(entry)
    orrery_checksum.require(path, says)
    return entries


def changes(entries):
    """The growths and shrinks, each a dictionary with its operation (5: GROW, 6: SHRINK), the number n of new processes, and
    seconds: leave (until those that left before have ended), start (until the new ones are there), point (until all know of
    it), and join (until it is over)."""
    made, asked, now, waits = [], {}, None, set()
    for seconds, process, verb, words in entries:
        first = words[0] if words else ""
        if verb == "asks":
            (waits.add if first in ("query", "psetop", "spawned") else waits.discard)(process)
        if verb == "asks" and first in ("query", "psetop"):
            asked[process] = seconds
        elif verb == "gets" and first == "spawn":
            now = {"process": process, "n": int(words[1]), "leave": seconds - asked.get(process, seconds), "at": seconds}
        elif verb == "gets" and first == "ok" and len(words) > 2 and words[1] in ("5", "6") and process in waits:
            if not now or now["process"] != process or "operation" in now:
                now = {"process": process, "n": 0, "at": asked.get(process, seconds)}
            now.update(operation=int(words[1]), start=seconds - now["at"], at=seconds)
        elif now and process == now["process"] and "operation" in now and verb == "asks":
            if first in ("set", "join") and "point" not in now:
                now.update(point=seconds - now["at"], at=seconds)
            elif first == "finalize":
                now["join"] = seconds - now.pop("at")
                made.append(now)
                now = None
    return made


def ends(entries):
    """How many seconds each process took that ended, from the last answer that it got."""
    last, took = {}, []
    for seconds, process, verb, _ in entries:
        if verb == "ends" and process in last:
            took.append(seconds - last[process])
        last[process] = seconds
    return took


def line_through(points):
    """Start and slope of the straight line that fits (x, y) best, both 0 at least."""
    n, sx, sy = len(points), sum(x for x, _ in points), sum(y for _, y in points)
    sxx, sxy = sum(x * x for x, _ in points), sum(x * y for x, y in points)
    slope = max(0.0, (n * sxy - sx * sy) / (n * sxx - sx * sx)) if n * sxx > sx * sx else 0.0
    if sy < slope * sx:
        slope = sxy / sxx
    return max(0.0, (sy - slope * sx) / n), slope


def costs(entries):
    """What the journal of orrery-calibrate-dyn says: microseconds of a start of processes, of each of them, and of their end."""
    started, ended = {}, ends(entries)
    for change in changes(entries):
        if change["n"]:
            started.setdefault(change["n"], []).append(change["start"])
    if not started or not ended:
        raise UserError("the journal has %s; was the run complete?" % ("no end of a process" if started else "no growth"), 1)
    start, each = line_through([(n, median(seconds)) for n, seconds in started.items()])
    return {"start_us": start * 1e6, "start_each_us": each * 1e6, "leave_us": median(ended) * 1e6}
