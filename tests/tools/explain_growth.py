# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Lengths of lists of requests, as `orrery explain` looks at them, against stays that are counted one by one.
#     explain_growth.py TOOLS TRACE...
# Invariant: both readers of a trace have the same lengths; made-up lists are told apart by their form.
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_growth  # noqa: E402
import orrery_lists  # noqa: E402
from orrery_critical import Run  # noqa: E402
from orrery_growth import LEAST, STEPS  # noqa: E402
from orrery_tracefile import Trace  # noqa: E402


def check(right, *words):
    if not right:
        sys.exit("FAIL: %s" % (words,))


def of_form(form):
    return orrery_growth.grew([max(0, round(form(k / STEPS))) for k in range(1, STEPS)])


def forms():
    grows = {"through all of it": lambda x: 1000 * x, "up to 80 %": lambda x: 1000 * x if x < 0.8 else 0, "faster and faster": lambda x: 1000 * x ** 1.5}
    healthy = {"steady": lambda x: 1000, "submitted ahead": lambda x: 1000 * (1 - x), "a burst at the end": lambda x: 1000 if x > 0.85 else 0,
               "up and down": lambda x: 500 + 490 * (round(x * STEPS) % 2) * x, "short": lambda x: (LEAST - 50) * x,
               "a plateau": lambda x: min(1000, 5000 * x), "fills in the first half": lambda x: 1000 * min(x, 1 - x)}
    for name, form in grows.items():
        check(of_form(form) is not None, name)
    for name, form in healthy.items():
        check(of_form(form) is None, name, of_form(form))


def main(*paths):
    forms()
    for path in paths:
        trace = Trace(path)
        run = Run(trace)
        span, want = run.last - run.first, {}
        for stay in orrery_lists.stays(run):
            until = run.last if stay.until is None else stay.until
            row = want.setdefault(stay.list, {}).setdefault(stay.rank, [0] * (STEPS - 1))
            for k in range(1, STEPS):
                row[k - 1] += int((stay.since - run.first) * STEPS <= k * span < (until - run.first) * STEPS)
        want = {name: {rank: row for rank, row in rows.items() if any(row)} for name, rows in want.items()}
        want = {name: rows for name, rows in want.items() if rows}
        check(orrery_growth.lengths_of(run) == want, path, "the plain reader")
        try:
            import orrery_columns
        except ImportError:
            continue
        got = orrery_growth.lengths_of(orrery_columns.Run(orrery_columns.Columns(Trace(path))))
        check(got == want, path, "the reader with numpy", got, want)
    print("%d traces" % len(paths))


main(*sys.argv[2:])
