# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The clocks of the computers of a real run, set right by its messages. The runtime compares clocks once, when the run begins, by
# messages that other load may delay; a message that is quicker than that error arrives before it was sent.
# Invariant: no clock is changed more than messages demand, and none where no change suits them all (clocks that drift).
import numpy as np


def late(sender, receiver, flight_ns, hosts):
    """By how many nanoseconds the clock of each host is late, for messages from some hosts to others and how long they took by these
    clocks."""
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
