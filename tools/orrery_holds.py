# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Messages that were held back, by cause and time: a limit on what may be under way, others of
# the same value, the order of messages, memory.
# Invariant: a hold of all ready sends counts for a send only as long as it was ready; nothing
# is said of a send that no event says was held.
import bisect
import collections

from orrery_tracefile import GOES_ON, HOLDS

ALL = -1   # the request of a hold of all sends that were ready
OF_MESSAGES = ("order", "memory")
# until: None if it went on to the end. request: of a send, or ALL; of a message, its number, and peer is its origin.
Hold = collections.namedtuple("Hold", "rank cause request peer since until process")
# In the words of `orrery explain`: what it is, and what helps.
WORDS = {"number": ("the limit on the number of sends under way (STARPU_MPI_NDETACHED_SEND)", "raise STARPU_MPI_NDETACHED_SEND, or send larger pieces"),
         "bytes": ("the limit on the bytes of sends under way (ORRERY_MPI_SEND_MIB)", "raise ORRERY_MPI_SEND_MIB, or send smaller pieces"),
         "turn": ("the limit on sends that start in one turn of the progression (STARPU_MPI_NREADY_PROCESS)", "raise STARPU_MPI_NREADY_PROCESS"),
         "others": ("the moment in which others of the same value may come", "submit the sends of a value together, or STARPU_MPI_COOP_SENDS=0"),
         "value": ("sends of the same value that are leaving", "submit the sends of a value together, or STARPU_MPI_COOP_SENDS=0"),
         "announced": ("other sends of the same datum, which the program announced (starpu_mpi_coop_sends_data_handle_nb_sends)",
                       "announce no more sends than there are"),
         "order": ("other messages of the same rank, which they overtook in a tree", "STARPU_MPI_COOP_SENDS=0"),
         "memory": ("main memory, which is full (STARPU_MPI_MEM_THROTTLE)", "raise STARPU_LIMIT_CPU_MEM")}


def holds(trace):
    """All of them, by rank and time."""
    found, open_ones = [], {}
    for ns, rank, _, flags, _, a, b, _, _, process in trace.events(("held",)):
        cause = HOLDS.get(flags & ~GOES_ON, str(flags & ~GOES_ON))
        peer, request = a, b >> 32 if cause in OF_MESSAGES else b or ALL
        # One limit takes the place of another one.
        key = (process.number, request if request == ALL else (cause, peer, request))
        begun = open_ones.pop(key, None)
        if begun is not None:
            found.append(begun._replace(until=ns))
        if not flags & GOES_ON:
            open_ones[key] = Hold(rank, cause, request, None if request == ALL else peer, ns, None, process.number)
    return sorted(found + list(open_ones.values()), key=lambda h: (h.rank, h.since, h.process, h.cause, h.request))


class Index:
    """What held each send, and for how long."""

    def __init__(self, found, last):
        self.of_all, self.of_one = collections.defaultdict(list), collections.defaultdict(list)
        for h in sorted(found, key=lambda h: (h.since, last if h.until is None else h.until)):
            if h.cause in OF_MESSAGES:
                continue
            until = last if h.until is None else h.until
            if h.request == ALL:
                self.of_all[h.process].append((h.since, until, h.cause))
            else:
                self.of_one[h.process, h.request].append((h.since, until, h.cause))
        self.ends = {process: [until for _, until, _ in some] for process, some in self.of_all.items()}

    def of(self, process, request, since, until):
        """{cause: nanoseconds} of a send that was ready, or kept, between two instants."""
        sums = collections.Counter()
        for first, last, cause in self.of_one.get((process, request), ()):
            sums[cause] += max(0, min(last, until) - max(first, since))
        some = self.of_all.get(process, ())
        for first, last, cause in some[bisect.bisect_right(self.ends.get(process, ()), since):]:
            if first >= until:
                break
            sums[cause] += max(0, min(last, until) - max(first, since))
        return +sums


def most(sums):
    """(nanoseconds in all, the cause of most of them or None)"""
    return sum(sums.values()), max(sorted(sums), key=lambda cause: sums[cause], default=None)


def of_path(run, trace, pieces):
    """{rank: {cause: nanoseconds}} of the pieces of a path in which messages were ready to leave, and held."""
    found = collections.defaultdict(collections.Counter)
    held = [p for p in pieces if p.kind == "held" and p.request is not None]
    index = Index(holds(trace), run.last) if held else None
    for p in held:
        found[p.rank].update(index.of(*p.request, p.first, p.last))
    return found
