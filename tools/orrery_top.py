# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery top`: what a run that is under way does just now, rank by rank.
# Invariant: it changes nothing of the run, shows what the run answers and what follows from two such
# answers, and says so where something cannot be known.
import json
import operator
import os
import pwd
import re
import select
import shutil
import sys
import termios
import time
import tty

import orrery_live
import orrery_words
from orrery_cli import UserError
from orrery_lists import LISTS

OPTIONS = [
    orrery_words.Word("--once", "", "two looks, half a second apart, and an end"),
    orrery_words.Word("--json", "", "for other programs: an object of JSON a look, in a line"),
    orrery_words.Word("--interval", "SECONDS", "time from one look to the next (default 1)", "1"),
    orrery_words.Word("--sort", "KEY", "the largest of that column first (default: by rank); -KEY: the\nsmallest first"),
    orrery_words.Word("--filter", "TEST", "only ranks of which that is true: KEY, one of = != < <= > >=, and\na value, such as 'left>100' or state=running"),
    orrery_words.Word("--rank", "R", "rank R alone, in detail: its workers, memory, peers, what waits"),
]
HELP = """usage: orrery top [PID] [options]

Shows what a run of yours that is under way does just now, real or simulated, rank by
rank. One of its ranks at least is on this computer; those on other hosts are asked by
the agent that mpirun uses, as ssh (OMPI_MCA_plm_rsh_agent). PID is a process of the run, or one that started it, as
`orrery run` or mpirun; it is needed if there are several runs.

%s

On a terminal: q ends, s sorts by the next column, r turns the order round.
""" % orrery_words.usage(OPTIONS, 22)

MOST_SILENT = 50  # looks that nobody answers, a tenth of a second apart

# Columns: key, width, text. The progression since the last look, in per cent of the time, has the words of the table `progression`
# (orrery_tables.py): with messages, in callbacks, with tasks of its own, looking and finding nothing, asleep.
TURNS = ("messages_pc", "callbacks_pc", "tasks_pc", "poll_pc", "asleep_pc")


def bytes_text(n):
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if n < 1000 or unit == "TB":
            return "%d B" % n if unit == "B" else "%.1f %s" % (n, unit)
        n /= 1000


COLUMNS = [("rank", 6, str), ("state", 15, str), ("tasks", 10, str), ("left", 9, str), ("tasks_s", 9, lambda n: "%.0f" % n), ("busy", 5, str),
           ("workers", 7, str), ("messages", 9, str), ("bytes", 9, bytes_text)] + [(name, 8, str) for name in LISTS] + [
               ("progression", 11, str)] + [(name, 9, lambda n: "%.1f" % n) for name in TURNS] + [("memory_bytes", 12, bytes_text)]
KEYS = [name for name, _, _ in COLUMNS]
TESTS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def row_of(rank):
    """A rank as columns; numbers that it does not have are missing."""
    row = {name: value for name, value in rank.items() if name in KEYS}
    row.update({name: count for name, count in rank.get("lists", {}).items() if name in KEYS})
    if "submitted" in rank:
        row["left"] = max(0, rank["submitted"] - rank["tasks"])
    return row


def shares_of_turns(now, before, simulated):
    """The turns of the progression between two answers of a rank, as TURNS; {} if that is not known yet."""
    if not now or not before or now["seconds"] <= before["seconds"]:
        return {}
    span = now["seconds"] - before["seconds"]
    carry, called, tasks, asleep = (min(100.0, max(0.0, 100 * (now[name] - before[name]) / span))
                                    for name in ("messages_s", "callbacks_s", "tasks_s", "asleep_s"))
    rest = max(0.0, 100 - carry - called - tasks - asleep)
    found = (carry, called, tasks) + ((0.0, rest + asleep) if simulated else (rest, asleep))
    return dict(zip(TURNS, (round(share, 3) for share in found)))


class Look:
    """What a run answered at a moment, and what changed since the last look, or since its start."""

    def __init__(self, run, when, answers, before=None, one=False):
        self.run, self.when, self.before, self.one = run, when, before, one
        self.busy = any(answer.get("busy") for answer in answers)
        self.answers = [answer for answer in answers if "ranks" in answer]
        self.ranks = sorted((rank for answer in self.answers for rank in answer["ranks"]), key=lambda r: r["rank"])
        self.size = max((rank["size"] for rank in self.ranks), default=0)
        old = {rank["rank"]: rank for rank in before.ranks} if before else {}
        self.span = when - before.when if before else None
        for rank in self.ranks:
            was = old.get(rank["rank"], {})
            if "tasks" in rank and "tasks" in was and self.span and rank["tasks"] >= was["tasks"]:
                rank["tasks_s"] = (rank["tasks"] - was["tasks"]) / self.span
            rank.update(shares_of_turns(rank.get("turns"), was.get("turns"), run.simulated))

    @property
    def missing(self):
        there = {rank["rank"] for rank in self.ranks}
        if self.one:
            return []
        return [rank for rank in range(self.size) if rank not in there]

    @property
    def failed(self):
        return "; ".join("%s: %s" % (host.name, host.failed) for host in self.run.hosts.values() if host.failed)

    def total(self, key):
        return sum(rank.get(key, 0) for rank in self.ranks)

    def estimate(self):
        """When the run will end, or why that cannot be said: (seconds or None, text)."""
        left = max(0, self.total("submitted") - self.total("tasks"))
        running = [rank for rank in self.ranks if rank["state"] == "running"]
        if self.ranks and all(rank["state"] == "ended" for rank in self.ranks):
            return 0, "all ranks have ended"
        if not running:
            return None, "not known: no rank that answers has its runtime up"
        if self.one:
            return None, "not known from one rank"
        if self.missing:
            return None, "not known: %d of %d ranks do not answer" % (len(self.missing), self.size)
        if not self.span or not self.before.ranks:
            return None, "not known from one look"
        rate = (self.total("tasks") - self.before.total("tasks")) / self.span
        submits = (self.total("submitted") - self.before.total("submitted")) / self.span
        if submits > 0:
            return None, "not known: the program still submits tasks, %.0f a second; %d are left, and %.0f a second were completed in the last %.1f s" % (
                submits, left, rate, self.span)
        if not left:
            return None, "not known: all tasks that were submitted are complete, and the program has not ended"
        if rate <= 0:
            return None, "not known: no task was completed in the last %.1f s; %d are left" % (self.span, left)
        return left / rate, ("in about %.0f s, if the program submits no more: %d tasks are left, and %.0f a second were completed in the last %.1f s"
                             % (left / rate, left, rate, self.span))

    def as_json(self):
        seconds, text = self.estimate()
        answer = dict(self.answers[0]) if self.answers else {}
        for name in ("ranks", "orrery_top"):
            answer.pop(name, None)
        return {"run": answer, "pids": [pid for _, pid, _ in self.run.processes], "size": self.size, "missing": self.missing, "busy": self.busy,
                "hosts": {host.name: host.failed for host in self.run.hosts.values()},
                "end": {"seconds": seconds, "text": text}, "ranks": self.ranks}


# ---- text ----

def choose(rows, sort, test):
    if test:
        key, compare, value = test

        def fits(row):
            there = row.get(key)
            return there is not None and compare(there, value)
        rows = [row for row in rows if fits(row)]
    if sort:
        key, descending = (sort[1:], False) if sort.startswith("-") else (sort, True)
        known = [row for row in rows if key in row]
        rows = sorted(known, key=lambda row: row[key], reverse=descending) + [row for row in rows if key not in row]
    return rows


def table(rows):
    def cell(row, name, width, text):
        return (text(row[name]) if name in row else "-").rjust(width) if name != "state" else str(row.get(name, "-")).ljust(width)
    lines = [" ".join(name.rjust(width) if name != "state" else name.ljust(width) for name, width, _ in COLUMNS)]
    return lines + [" ".join(cell(row, *column) for column in COLUMNS) for row in rows]


def head(look):
    first = look.answers[0] if look.answers else {}
    lines = ["%s, %s run, %d rank%s, %.1f s after its start%s" % (
        look.run.command or "pid %d" % look.run.processes[0][1], look.run.about.get("world", "?"), look.size, "" if look.size == 1 else "s",
        first.get("wall_s", 0), ", %.6f s of virtual time" % first["virtual_s"] if "virtual_s" in first else "")]
    if look.busy:
        lines.append("the simulation does not answer: an actor of it has been running for more than 2 s (a long kernel?)")
    if look.missing:
        lines.append("%d of %d ranks do not answer (%s): their runtime is not up%s"
                     % (len(look.missing), look.size, ", ".join(map(str, look.missing[:8])) + (", ..." if len(look.missing) > 8 else ""),
                        "" if look.run.hosts else ", or they are on another computer, which orrery top does not know (ORRERY_HEARTBEAT_TIMEOUT=0)"))
    for host in look.run.hosts.values():
        if host.failed:
            lines.append("host %s cannot be asked: %s" % (host.name, host.failed))
    states = {}
    for rank in look.ranks:
        states[rank["state"]] = states.get(rank["state"], 0) + 1
    lines.append("%s; tasks: %d of %d submitted; busy workers: %d of %d; messages: %d, %s; memory: %s" % (
        ", ".join("%d %s" % (n, state) for state, n in states.items()) or "no rank", look.total("tasks"), look.total("submitted"),
        look.total("busy"), look.total("workers"), look.total("messages"), bytes_text(look.total("bytes")), bytes_text(look.total("memory_bytes"))))
    return lines + ["end: " + look.estimate()[1]]


def detail(look):
    lines = []
    for rank in look.ranks:
        if "each_worker" not in rank:
            lines.append("rank %d: %s" % (rank["rank"], rank["state"]))
            continue
        lines += ["", "%-24s %-5s %10s" % ("worker", "", "tasks")]
        lines += ["%-24s %-5s %10d" % (w["name"], "busy" if w["busy"] else "idle", w["tasks"]) for w in rank["each_worker"]]
        lines += ["", "%-24s %12s %12s %10s" % ("memory", "used", "of", "evictions")]
        lines += ["%-24s %12s %12s %10d" % (m["name"], bytes_text(m["used_bytes"]), "-" if m["total_bytes"] is None else bytes_text(m["total_bytes"]),
                                            m["evictions"]) for m in rank["memory"]]
        if rank.get("peers"):
            lines += ["", "%-24s %12s %12s %10s" % ("sent to", "messages", "bytes", "last, s")]
            lines += ["%-24s %12d %12s %10.3f" % ("rank %d" % p["peer"], p["messages"], bytes_text(p["bytes"]), p["last_s"]) for p in rank["peers"]]
        lines += [""] + (["waits:"] + rank["waiting"] if "waiting" in rank else ["what its tasks and requests wait for: simulated runs only"])
    return lines


def show(look, values, sort, most=None):
    """The lines of a look; most: so many at most."""
    lines = head(look)
    if "--rank" in values:
        lines += table([row_of(rank) for rank in look.ranks]) + detail(look)
    else:
        lines += table(choose([row_of(rank) for rank in look.ranks], sort, values.get("test")))
    if most and len(lines) > most:
        lines = lines[:most - 1] + ["... %d lines more; --sort and --filter choose, --once shows all" % (len(lines) - most + 1)]
    return lines


# ---- a terminal ----

class Screen:
    """The terminal, taken over and given back."""

    def __enter__(self):
        self.before = termios.tcgetattr(sys.stdin) if sys.stdin.isatty() else None
        if self.before:
            tty.setcbreak(sys.stdin)
        sys.stdout.write("\033[?1049h\033[?25l")
        return self

    def __exit__(self, *_):
        sys.stdout.write("\033[?25h\033[?1049l")
        sys.stdout.flush()
        if self.before:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self.before)

    def write(self, lines):
        width = shutil.get_terminal_size().columns
        sys.stdout.write("\033[H" + "".join(line[:width] + "\033[K\r\n" for line in lines[:-1]) + lines[-1][:width] + "\033[K\033[J")
        sys.stdout.flush()

    def key(self, seconds):
        """A key that is pressed within that time, or ""."""
        if not self.before:
            time.sleep(seconds)
            return ""
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return os.read(sys.stdin.fileno(), 1).decode(errors="replace") if ready else ""


# ---- looks ----

def looks(run, values, wait):
    """One look after the other, until the run has ended; wait() comes between two, and says whether to go on."""
    question, before, silent = int(values.get("--rank", -1)), None, 0
    if question >= 0:     # one that is not here does not say where others are
        run.grow()
        run.reach(values["command"], run.look()[1])
    while True:
        look = Look(run, *run.look(question), before, question >= 0)
        if not run.processes:
            return
        if not look.answers and not look.busy:  # it is about to end
            silent += 1
            if silent > MOST_SILENT:
                raise UserError("process %d does not answer any more" % run.processes[0][1], 1)
            time.sleep(0.1)
            continue
        silent = 0
        if run.reach(values["command"], look.answers) or look.missing and run.grow():
            continue
        if not look.answers and before and look.busy:
            before.busy, look = True, before
        yield look
        before = look if look.ranks else before
        if not wait():
            return


def once(run, values):
    state = {"left": 1}

    def wait():
        state["left"] -= 1
        time.sleep(0.5 if state["left"] >= 0 else 0)
        return state["left"] >= 0
    last = None
    for last in looks(run, values, wait):
        pass
    if last is None:
        raise UserError("the run has ended, or its runtime has stopped", 1)
    return last


def emit(look, values):
    if "--json" in values:
        print(json.dumps(look.as_json()), flush=True)
    else:
        print("\n".join(show(look, values, values.get("--sort"))), flush=True)


def follow(run, values, interval):
    if "--json" in values or not sys.stdout.isatty():
        def wait():
            time.sleep(interval)
            return True
        for look in looks(run, values, wait):
            emit(look, values)
    else:
        with Screen() as screen:
            order = {"sort": values.get("--sort"), "look": None}

            def wait():
                until = time.monotonic() + interval
                while time.monotonic() < until:
                    key = screen.key(max(0, until - time.monotonic()))
                    sort = order["sort"]
                    if key == "q":
                        return False
                    if key == "s":
                        order["sort"] = KEYS[(KEYS.index(sort.lstrip("-")) + 1) % len(KEYS)] if sort else KEYS[2]
                    if key == "r" and sort:
                        order["sort"] = sort[1:] if sort.startswith("-") else "-" + sort
                    if key:
                        draw()
                return True

            def draw():
                lines = show(order["look"], values, order["sort"], shutil.get_terminal_size().lines - 1)
                screen.write(lines + ["sorted by %s; q s r" % (order["sort"] or "rank")])
            for order["look"] in looks(run, values, wait):
                draw()
    if not run.processes:
        sys.stderr.write("orrery top: the run has ended, or its runtime has stopped\n")
    return 0


# ---- the command line ----

def user_of(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def the_run(pid):
    """The run that is meant."""
    runs, refused = orrery_live.find(pid)
    if len(runs) == 1:
        return runs[0]
    if runs:
        raise UserError("%d runs are under way; name one by its process: %s" % (
            len(runs), "; ".join("%d (%s)" % (run.processes[0][1], run.command or "it does not answer") for run in runs)))
    if refused:
        uid, process = refused[0]
        raise UserError("process %d is of a run of %s, and answers only to that user and to root" % (process, user_of(uid)), 1)
    if pid is None:
        raise UserError("no run of yours is under way on this computer: none has its runtime up, or they were started with ORRERY_TOP=0", 1)
    if not os.path.exists("/proc/%d" % pid):
        raise UserError("process %d has ended" % pid, 1)
    raise UserError("process %d is of no run under way, and has started none: its runtime is not up yet, or not any more, or ORRERY_TOP=0 "
                    "forbids questions" % pid, 1)


def parse(arguments):
    values, rest = orrery_words.parse(OPTIONS, arguments, "orrery top", others=True)
    if len(rest) > 1 or rest and not rest[0].isdigit():
        raise UserError("%s: one process is named by its number" % " ".join(rest))
    try:
        interval = float(values["--interval"])
    except ValueError:
        interval = -1
    if not 0.05 <= interval <= 86400:
        raise UserError("--interval %s: it takes seconds, 0.05 or more" % values["--interval"])
    if "--rank" in values and not values["--rank"].isdigit():
        raise UserError("--rank %s: a rank is a number from 0 on" % values["--rank"])
    sort = values.get("--sort")
    if sort is not None and sort.lstrip("-") not in KEYS:
        raise UserError("--sort %s: there is no such column; there are %s" % (sort, ", ".join(KEYS)))
    if "--filter" in values:
        match = re.fullmatch(r"\s*(\w+)\s*(!=|<=|>=|=|<|>)\s*(.+?)\s*", values["--filter"])
        if not match or match[1] not in KEYS:
            raise UserError("--filter %s: it takes a column (%s), one of %s, and a value" % (values["--filter"], ", ".join(KEYS), " ".join(TESTS)))
        textual = match[1] in ("state", "progression")
        try:
            value = match[3] if textual else float(match[3])
        except ValueError:
            raise UserError("--filter %s: %s is a number" % (values["--filter"], match[1])) from None
        values["test"] = (match[1], TESTS[match[2]], value)
    return values, int(rest[0]) if rest else None, interval


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    if arguments == [orrery_live.RELAY]:
        orrery_live.relay(iter(sys.stdin), sys.stdout)
        return 0
    values, pid, interval = parse(arguments)
    values["command"] = os.path.join(context.paths["bin"], "orrery")
    run = the_run(pid)
    try:
        if "--once" not in values:
            return follow(run, values, interval)
        look = once(run, values)
        if "--rank" in values and look.answers and not look.ranks:
            raise UserError("there is no rank %s in this run" % values["--rank"] if not look.failed else
                            "there is no rank %s in this run, or it is on a host that cannot be asked: %s" % (values["--rank"], look.failed), 1)
        emit(look, values)
    finally:
        run.end()
    return 0
