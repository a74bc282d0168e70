# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The use of memory nodes over time, as a trace has it: bytes in use, of these what is
# kept for reuse, and the limit.
# Invariant: a use holds until the next one of the same memory; what is kept for reuse
# counts as free.
import collections

FULL = 0.9   # of the limit: a memory that was fuller has a line

# at: nanoseconds; used: with what is kept for reuse; limit: None if there is none.
Use = collections.namedtuple("Use", "rank node at used reusable limit process")


def use_of(rank, ns, a, b, c, d, process):
    """The Use of an event. A damaged file may have more for reuse than is in use."""
    return Use(rank, a, ns, b, min(b, c), d or None, process)


def uses(trace):
    """All of them, by time."""
    return [use_of(rank, ns, a, b, c, d, process.number) for ns, rank, _, _, _, a, b, c, d, process in trace.events(("memory",))]


def most(found):
    """{(rank, node): (the most bytes in use but those kept for reuse, the limit then)} of uses."""
    table = {}
    for use in found:
        n = use.used - use.reusable
        if n > table.get((use.rank, use.node), (-1, None))[0]:
            table[use.rank, use.node] = n, use.limit
    return table


def names(trace):
    """{node: its name}, by the workers that have it; memory without is the computer's."""
    found = collections.defaultdict(set)
    for process in trace.processes.values():
        for name, node in process.workers.values():
            if node:
                found[node].add(name.split(" (")[0])
    return {node: "memory %d (%s)" % (node, ", ".join(sorted(some)[:2])) for node, some in found.items()}


def rows(trace, table):
    """[{"rank", "node", "name", "most_bytes", "limit_bytes"}], by rank and node, of most()."""
    known = names(trace)
    return [{"rank": rank, "node": node, "name": known.get(node, "main memory" if node == 0 else "memory %d" % node), "most_bytes": n, "limit_bytes": limit}
            for (rank, node), (n, limit) in sorted(table.items())]


def lines(found):
    """Sentences on memories that came close to their limits, the fullest rank of each."""
    worst, count = {}, collections.Counter()
    for row in found:
        if row["limit_bytes"] and row["most_bytes"] >= FULL * row["limit_bytes"]:
            count[row["node"]] += 1
            share = row["most_bytes"] / row["limit_bytes"]
            if row["node"] not in worst or share > worst[row["node"]][0]:
                worst[row["node"]] = share, row
    for node, (share, row) in sorted(worst.items()):
        others = count[node] - 1
        yield "%s of rank %d%s: %.6g of %.6g MB in use at most, %.0f %%" % (
            row["name"], row["rank"], " (and of %d others)" % others if others else "", row["most_bytes"] * 1e-6, row["limit_bytes"] * 1e-6, 100 * share)
