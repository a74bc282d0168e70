# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Kernels against their performance models: what the scheduling policy expected of each
# task, and how long its kernel took.
# Invariant: only tasks that ended and of which the policy expected a time count; sums
# are whole nanoseconds, and the order of tasks changes nothing.
import collections
import math

WRONG = 1.5       # times as long, or as short, as a model says: it is wrong
FEW = 3           # fewer tasks say nothing
WORTH = 0.02      # the least share of the time in kernels, as it was or as it was expected, that is worth a word

# unit: the kind of worker; error: how far a task's time was from what was expected, as a share of that.
Row = collections.namedtuple("Row", "name model unit tasks ns expected_ns median_error p90_error")


def unit_of(worker):
    """The kind of worker, from its name."""
    return worker.split()[0] if worker.split() else ""


def quantile(some, share):
    """Of a sorted list, the least value that this share of all does not exceed."""
    return some[max(0, math.ceil(share * len(some)) - 1)]


def rows(found):
    """[Row], the longest first, of {(kernel, model, unit): [(nanoseconds, expected nanoseconds)]}."""
    table = []
    for (name, model, unit), some in found.items():
        errors = sorted(abs(ns - expected) / expected for ns, expected in some)
        table.append(Row(name, model, unit, len(some), sum(ns for ns, _ in some), sum(expected for _, expected in some),
                         quantile(errors, 0.5), quantile(errors, 0.9)))
    return sorted(table, key=lambda row: (-row.ns,) + row[:3])


def is_wrong(row):
    """Whether the model is far from what was measured, in sum and for most tasks: a few slow ones are no fault of it."""
    if row.tasks < FEW:
        return False
    if row.ns > row.expected_ns:
        return row.ns >= WRONG * row.expected_ns and row.median_error >= WRONG - 1
    return row.ns * WRONG <= row.expected_ns and row.median_error >= 1 - 1 / WRONG


def wrong(table, total_ns, waited=0):
    """The rows whose model was wrong and matters, of a run with that time in kernels, whose threads waited for cores for that share of their
    time. If that was so for twice as much of these kernels, they would still take longer than the model says."""
    less = max(0, 1 - 2 * waited)
    return [row for row in table if is_wrong(row) and max(row.ns, row.expected_ns) >= WORTH * total_ns
            and (row.ns < row.expected_ns or row.ns * less >= WRONG * row.expected_ns)]


def times(row):
    """How far a model is off, in words."""
    if row.ns >= row.expected_ns:
        return "takes %.1f times what its model says" % (row.ns / row.expected_ns)
    return "takes 1/%.1f of what its model says" % (row.expected_ns / max(1, row.ns))


def sentence(row):
    return "%s%s %s: %.6g us on average over %d tasks, where the policy expected %.6g us" % (
        row.name, " on " + row.unit if row.unit else "", times(row), row.ns * 1e-3 / row.tasks, row.tasks, row.expected_ns * 1e-3 / row.tasks)


def remedy(row):
    return "correct the performance model of %s: measure it again with STARPU_CALIBRATE=2 (orrery perfmodel shows it)" % row.name


def as_json(row):
    return {"name": row.name, "model": row.model, "unit": row.unit, "tasks": row.tasks, "seconds": row.ns * 1e-9, "expected_seconds": row.expected_ns * 1e-9,
            "median_error": row.median_error, "p90_error": row.p90_error}
