# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The lists that requests and early messages are in, over time, and what progression
# threads did: rows and sums for the tables of a trace.
# Invariant: a request is in one list at a time from when it is posted until it is
# complete, so the stays of a request follow each other; nothing is made up for
# steps that the trace does not have.
import collections

from orrery_tracefile import GUEST, TURNS

# The words of the runtime (src/mpi/carry/request_record.h), and what one that is in the list waits for.
LISTS = {"fetching": "until its datum can be used", "ready": "a send: until it leaves",
         "posted": "a receive: until its message is there", "flying": "until the message is complete",
         "early": "a message without a receive"}
Stay = collections.namedtuple("Stay", "rank list request since until process")
Turn = collections.namedtuple("Turn", "rank what start ns things callbacks own process")


def stays_of(r):
    """The stays of a request; `until` is None for one that had not ended."""
    begin = r.grant
    if r.receive:
        matched = r.message.match if r.message is not None else None
        steps = [("fetching", r.post, r.grant), ("posted", begin, matched), ("flying", matched, r.recv)]
        if matched is not None and begin is not None and begin >= matched:   # the message was there first
            steps = [steps[0], ("flying", begin, r.recv)]
        elif matched is not None and begin is None:
            steps = steps[:1]
    else:
        left = r.send if r.send is not None else r.route
        steps = [("fetching", r.post, r.grant), ("ready", begin, left), ("flying", left, r.sent)]
    for name, since, until in steps:
        if since is not None:
            yield Stay(r.rank, name, r.number, since, until, r.key[0])


def stays(run):
    """All of them, by rank, list and time."""
    found = [stay for r in run.requests.values() for stay in stays_of(r)]
    receive = {r.message.key: r.number for r in run.requests.values() if r.message is not None}
    found += [Stay(m.key[1], "early", receive.get(m.key), m.envelope, m.match, run.receiver(m)) for m in run.messages.values()
              if m.envelope is not None and (m.match is None or m.match > m.envelope)]
    return sorted(found, key=lambda s: (s.rank, s.list, s.since, s.request or 0))


def sums(found, first, last):
    """(rank, list, requests, total, mean length, longest length, when, longest stay) of these stays between two instants."""
    groups = collections.defaultdict(list)
    for stay in found:
        groups[stay.rank, stay.list].append((stay.since, last if stay.until is None else stay.until))
    for key, parts in sorted(groups.items()):
        length, most, at = 0, 0, None
        # One that leaves at the instant at which another enters makes room for it.
        for ns, step in sorted([(since, 1) for since, until in parts if until > since] + [(until, -1) for since, until in parts if until > since]):
            length += step
            if length > most:
                most, at = length, ns
        total = sum(until - since for since, until in parts)
        yield key + (len(parts), total, total / max(1, last - first), most, at, max(until - since for since, until in parts))


def turns(trace):
    return [Turn(rank, TURNS.get(a, str(a)), ns, b, c, d, int(not flags & GUEST), process.number)
            for ns, rank, _, flags, _, a, b, c, d, process in trace.events(("engine",))]
