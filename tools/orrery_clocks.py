# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The clocks of the computers of a real run: words about how they were compared, and what messages set right. The runtime compares
# clocks when the run begins and when it ends, by messages that other load may delay; a message that is quicker than that error
# arrives before it was sent.
# Invariant: no clock is changed more than messages demand, and none where no change suits them all.


def late(sender, receiver, flight_ns, hosts):
    """By how many nanoseconds the clock of each host is late, for messages from some hosts to others and how long they took by these
    clocks."""
    import numpy as np
    late_ns = np.zeros(hosts, np.int64)
    pairs, which = np.unique(sender * hosts + receiver, return_inverse=True)
    shortest = np.full(len(pairs), np.iinfo(np.int64).max)
    np.minimum.at(shortest, which, flight_ns)
    sender, receiver = pairs // hosts, pairs % hosts
    for _ in range(hosts):   # the longest paths, of which none has more steps
        before = late_ns.copy()
        np.maximum.at(late_ns, receiver, before[sender] - shortest)
        if (late_ns == before).all():
            return late_ns
    return np.zeros(hosts, np.int64)


def duration(ns):
    return "%.3g us" % (ns / 1e3) if ns < 1e6 else "%.3g ms" % (ns / 1e6)


def sentence(trace):
    """The clocks of a real run in words, with the error of its times."""
    hosts = {p.host for p in trace.processes.values()}
    if len(hosts) < 2:
        return "times are of real clocks"
    said = "times are of real clocks, those of %d computers" % len(hosts)
    error = max(p.error_ns for p in trace.processes.values())
    if not error:
        return said + ", which were not compared"
    said += ", compared to within %s" % duration(error)
    drifting = max(trace.processes.values(), key=lambda p: abs(p.drift))
    if drifting.drift:
        said += ("; they drift, that of %s by %.3g us a second, and times follow that"
                 % (drifting.host or "rank %d" % drifting.rank, abs(drifting.drift) * 1e6))
    return said
