# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Data handles, as a trace has them: tag, name, coordinates, size and home of each datum, from the rank that
# owned it.
# Invariant: a datum is one row, however often its attributes were set; of several that had a tag one after
# the other, each has its own.
import collections

from orrery_tracefile import signed

ENDS = 1   # flag of an event
# since: its tag was known, None: it has none; end: it was unregistered, None: that is not in the trace.
Datum = collections.namedtuple("Datum", "rank tag name coordinates bytes home since end process")


def read(trace):
    """All of them, by rank and when they were known."""
    found, opened = [], {}
    for ns, rank, _, flags, home, a, b, c, d, process in trace.events(("datum",)):
        tag = signed(b)
        about = (process.strings.get(a, ""), process.strings.get(d, ""), c, home)
        key, of_tag = (process.number, tag), tag >= 0
        known = opened.get(key) if of_tag else None
        since = None if not of_tag else ns if known is None else found[known].since
        datum = Datum(rank, tag if of_tag else None, *about, since, ns if flags & ENDS else None, process.number)
        if known is None:
            known = len(found)
            found.append(datum)
        else:
            found[known] = datum
        if of_tag and not flags & ENDS:
            opened[key] = known
        elif of_tag:
            opened.pop(key, None)
    return sorted(found, key=lambda d: (d.rank, d.process, d.since if d.since is not None else d.end, -1 if d.tag is None else d.tag))
