# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the commands say of a real run whose threads could run and got no core.
# Invariant: one limit, and one wording, for reports and traces.

MUCH = 5   # per cent of the time of the workers: less says nothing


def waited(seconds, whole):
    """[seconds, that in per cent of the time of the workers]; None: not measured."""
    return [seconds, 100 * seconds / whole] if isinstance(seconds, (int, float)) and whole > 0 else None


def much(some):
    """Whether what waited() found is worth a line."""
    return some is not None and some[1] >= MUCH


def sentence(who, some):
    """A line for what waited() found."""
    return ("%s had to wait for cores: its threads for %.6f s in all, as much as %.0f %% of the time of its workers. Other programs took "
            "them, or it has more threads than cores" % (who, *some))
