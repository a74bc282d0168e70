# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Parts of a trace that every format for viewers has to show besides kernels and messages, from
# its tables: for trace_paje.py, trace_perfetto.py and trace_otf2.py.
# Invariant: it is worked out from the database, by no code of the converters.
import collections
import re

OF_TASKS = {"tasks submitted and not over": ("submit_ns", "done_ns"), "tasks ready and not started": ("ready_ns", "start_ns")}
OF_LISTS = {"fetching": "requests fetching", "ready": "requests ready", "posted": "requests posted", "flying": "requests flying",
            "early": "messages early"}
ALONE = {"leave": "leaves", "resize": "leaves", "join": "joins", "restart": "begins again"}


def sweep(rows):
    """{rank: [(time, how many are under way)]} of (rank, first, last)."""
    found = {}
    for rank in sorted({row[0] for row in rows}):
        steps = collections.Counter()
        for _, first, last in (row for row in rows if row[0] == rank):
            steps[first] += 1
            if last is not None:
                steps[max(first, last)] -= 1
        now, found[rank] = 0, []
        for time in sorted(steps):
            now += steps[time]
            found[rank].append((time, now))
    return found


def counters(base):
    """{(rank, name): [(time, value)]}"""
    found = {}
    for name, (since, until) in OF_TASKS.items():
        rows = base.execute("SELECT rank, {0}, {1} FROM tasks WHERE {0} IS NOT NULL".format(since, until)).fetchall()
        found.update({(rank, name): series for rank, series in sweep(rows).items()})
    for of_list, name in OF_LISTS.items():
        rows = base.execute("SELECT rank, since_ns, until_ns FROM stays WHERE list = ?", (of_list,)).fetchall()
        found.update({(rank, name): series for rank, series in sweep(rows).items()})
    for rank, node, at, value in base.execute("SELECT rank, node, at_ns, used_bytes - reusable_bytes FROM memory ORDER BY rowid"):
        found.setdefault((rank, "memory %d: bytes in use" % node), []).append((at, value))
    return found


def copies(base):
    """{(rank, why, from, to): [number, bytes, nanoseconds]}"""
    return {row[:4]: list(row[4:]) for row in base.execute("""SELECT rank, why, source, target, count(*), sum(bytes), sum(end_ns - start_ns)
        FROM copies WHERE end_ns IS NOT NULL GROUP BY rank, why, source, target""")}


def copy_of(rank, name):
    """The key of a copy by its name."""
    why, source, target = re.match(r"([a-z-]+): memory (\d+) to (\d+)$", name).groups()
    return rank, why, int(source), int(target)


def marks(base):
    """{(rank, text, number): how many}"""
    return collections.Counter(base.execute("SELECT rank, CASE text WHEN '' THEN 'mark' ELSE text END, number FROM marks"))


def changes(base):
    """{(rank, name): [how many, nanoseconds]}"""
    found = collections.defaultdict(lambda: [0, 0])
    for rank, what, first, last, number, before, after in base.execute(
            'SELECT rank, what, max(0, start_ns), max(0, end_ns), number, before, after FROM changes'):
        if number is not None:
            name = "%s %d" % (what, number)
        elif before is not None and after:
            name = "%s %d to %d" % ({"resize": "size", "use": "ranks in use"}[what], before, after)
        else:
            name = ALONE[what]
        found[rank, name][0] += 1
        found[rank, name][1] += last - first
    return dict(found)


def callbacks(base):
    """{(rank, worker, name): [how many, nanoseconds]}"""
    return {row[:3]: list(row[3:]) for row in base.execute("""SELECT rank, worker, what || CASE WHEN name IS NULL THEN '' ELSE ': ' || name END AS called,
        count(*), sum(end_ns - max(0, start_ns)) FROM callbacks GROUP BY rank, worker, called""")}


def of_callbacks(title, names):
    """(rank, worker) of a lane "rank R callbacks of W", where names is workers(base)."""
    rank, worker = re.match(r"rank (\d+) callbacks of (.*)$", title).groups()
    for name in (worker, worker.rpartition(" (")[0]):
        if name == "another thread":
            return int(rank), -1
        if "rank %s %s" % (rank, name) in names:
            return names["rank %s %s" % (rank, name)]
    raise KeyError(title)


def workers(base):
    """{name in the formats: (rank, worker)}; where several processes had a rank, the name says whose worker it is."""
    found = {}
    for rank, worker, name, process in base.execute("SELECT rank, worker, name, process FROM workers"):
        name = "rank %d %s" % (rank, name or "worker %d" % worker)
        found[name] = found["%s of process %d" % (name, process)] = (rank, worker)
    return found


def same(got, want, what):
    assert set(got) == set(want), (what, set(got) ^ set(want))
    for key in want:
        assert got[key] == want[key], (what, key, got[key], want[key])


def summary(base):
    """What there was to compare, so that a test can ask for it."""
    return "%d counters, callbacks: %s, copies: %s, %d marks, changes: %s" % (
        len(counters(base)), ", ".join(sorted({key[2].partition(":")[0] for key in callbacks(base)})) or "none", ", ".join(sorted({key[1] for key in copies(base)})) or "none", sum(marks(base).values()),
        ", ".join(sorted({name for _, name in changes(base)})) or "none")
