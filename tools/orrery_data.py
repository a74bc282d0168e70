# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Data handles, as a trace has them: tag, name, coordinates, size and home of each datum, from the rank that
# owned it; and which of them tasks use.
# Invariant: a datum is one row, however often its attributes were set; of several that had a tag one after
# the other, each has its own.
import collections

from orrery_tracefile import signed

ENDS, UNTAGGED = 1, 2   # flags of an event
SMALL, SMALL_MODE, SMALL_UNTAGGED = 1, 29, 1 << 28   # of uses
USE_MODE, USE_UNTAGGED, USE_LEAST = 61, 1 << 60, (1 << 60) - 1
MODES = ("", "R", "W", "RW", "SCRATCH", "REDUX", "", "")
# since: its tag was known, None: it has none; end: it was unregistered, None: that is not in the trace; number: what tasks of its process know it by, if it
# has no tag; 0: none used it.
Datum = collections.namedtuple("Datum", "rank tag name coordinates bytes home since end process number")


def read(trace):
    """All of them, by rank and when they were known."""
    found, opened = [], {}
    for ns, rank, _, flags, home, a, b, c, d, process in trace.events(("datum",)):
        tag = -1 if flags & UNTAGGED else signed(b)
        about = (process.strings.get(a, ""), process.strings.get(d, ""), c, home)
        key, of_tag = (process.number, tag), tag >= 0
        known = opened.get(key) if of_tag else None
        since = None if not of_tag else ns if known is None else found[known].since
        datum = Datum(rank, tag if of_tag else None, *about, since, ns if flags & ENDS else None, process.number,
                      b if flags & UNTAGGED else None)
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


def named(mode, untagged, of):
    return MODES[mode], None if untagged else of, of if untagged else None


def used(flags, c, d):
    """[(mode, tag or None, number or None)] of an event of a task."""
    found = []
    for value in (c, d):
        if flags & SMALL:
            found += [named(half >> SMALL_MODE, half & SMALL_UNTAGGED, half & SMALL_UNTAGGED - 1) for half in (value & 0xFFFFFFFF, value >> 32) if half]
        elif value:
            found.append(named(value >> USE_MODE, value & USE_UNTAGGED, value & USE_LEAST))
    return found


def uses(trace):
    """{(process, task): (when, what used() says, in the order of its buffers)}"""
    found = {}
    for ns, _, _, flags, _, _, b, c, d, process in trace.events(("uses",)):
        found.setdefault((process.number, b), (ns, []))[1].extend(used(flags, c, d))
    return found


class Names:
    """The data by what tasks know them by. Of the rows of the table data, with their places there."""

    def __init__(self, rows):
        self.tagged, self.numbered = collections.defaultdict(list), {}
        for place, datum in enumerate(rows):
            if datum.tag is not None:
                self.tagged[datum.tag].append((datum.since, place, datum))
            elif datum.number:
                self.numbered[datum.process, datum.number] = (place, datum)

    def row(self, process, ns, tag, number):
        """(place, datum) that a task of the process used, which was submitted then, or None. Of several that had the tag one after the
        other, or in several processes, its own process's counts before others, and the last before that time before later ones."""
        if tag is not None:
            found = self.tagged.get(tag, ())
            return max(found, key=lambda row: (row[0] <= ns, row[2].process == process, row[0] if row[0] <= ns else -row[0]))[1:] if found else None
        return self.numbered.get((process, number))
