# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Links of a simulated network over time, as the page of `orrery report` draws them: how much of its
# bandwidth each of them gave, and when it was full.
# Invariant: a value is a mean over its stretch of time, in hundredths of a percent, rounded once; the
# order of links, and what they gave in the whole run, are those of orrery_links.
import numpy as np

import orrery_links
from orrery_report_data import coverage

MOST = 256   # links that are drawn
BINS = 128   # stretches of time


def sentence(columns, drawn, all_links):
    """Which links are drawn."""
    trace = columns.trace
    if not drawn:
        if not trace.simulated:
            return "A real run does not know the links of its network: only the trace of a simulation has their load."
        return "The trace has no link over time: no messages went over one, the run was cut short, or links were not recorded."
    told = len({link.name for link, _, _ in all_links})
    if drawn == told:
        return "All %d links that messages went over." % told
    return "The %d links that were full longest, of %d that the trace tells of; bands are over these." % (drawn, told)


def put(columns, pack):
    """What the page says of them; the array `links` has by link and stretch how much it gave, then when it was full."""
    trace, first, span = columns.trace, columns.first, max(1, columns.last - columns.first)
    shares = orrery_links.shares(trace, columns.first, columns.last)
    loads = orrery_links.read(trace)[1]
    timed = {load.name for load in loads}
    drawn = [share for share in shares if share[0].name in timed][:MOST]
    about = {"links": [[link.name, link.bytes_per_s, full, busy] for link, full, busy in drawn], "words": sentence(columns, len(drawn), shares)}
    row = {link.name: i for i, (link, _, _) in enumerate(drawn)}
    some = [load for load in loads if load.name in row and load.end > load.start]
    width = -(-span // BINS)
    rows = np.array([row[load.name] for load in some], np.int64)
    since, until = (np.clip(np.array([at(load) for load in some], np.int64) - first, 0, span) for at in (lambda s: s.start, lambda s: s.end))
    length = np.array([load.end - load.start for load in some], np.float64)
    values = []
    for part in ("busy", "full"):
        weight = np.array([getattr(load, part) for load in some], np.float64) / length if some else np.zeros(0)
        table = coverage(rows, len(drawn), since, until, BINS, width, weight) if some else np.zeros((0, BINS))
        table = table / np.minimum(width, np.maximum(1, span - width * np.arange(BINS)))
        values.append(np.rint(np.clip(table, 0, 1) * 1e4).astype(np.int64).ravel())
    pack.unsigned("links", np.concatenate(values))
    about.update(bins=BINS, width_ns=width)
    return about
