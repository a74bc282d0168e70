# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The part of a run that a trace has: ranks, a window of time and kinds of events that were
# chosen when it was recorded (ORRERY_TRACE_RANKS, _WINDOW, _KINDS; src/trace/choice.h).
# Invariant: a kernel that has a part in the window is there whole; nothing is said of what
# was not recorded.
import re

from orrery_cli import UserError

MESSAGES = ("post", "grant", "route", "send", "sent", "envelope", "match", "recv", "held")
# Groups of kinds, as the recorder knows them.
GROUPS = {"tasks": ("submit", "after", "release", "ready", "start", "end", "done", "callback"), "kernels": ("start", "end"),
          "callbacks": ("callback",), "messages": MESSAGES,
          "lists": MESSAGES, "copies": ("copy", "copied"), "progression": ("engine",), "waits": ("waited",), "changes": ("change",),
          "memory": ("memory",), "marks": ("user",), "links": ("link",), "data": ("datum", "uses")}
FOREVER = 1 << 62


def ranges(text):
    """[(first, last)] of a list of ranks, as 0-3,17."""
    found = []
    for word in text.split(","):
        first, dash, last = word.partition("-")
        found.append((int(first), int(last if dash else first)))
    return found


class Part:
    """ranks: [(first, last)]; window: (first, last) nanoseconds of the run; kinds: names of events. None: all."""

    def __init__(self, path, text):
        self.words_of = {name: text[name] for name in ("recorded_ranks", "recorded_window", "recorded_kinds") if name in text}
        self.ranks = self.window = self.kinds = None
        try:
            if "recorded_ranks" in text:
                self.ranks = ranges(text["recorded_ranks"])
            if "recorded_window" in text:
                begin = int(text["recorded_begin_ns"])
                first, last = text["recorded_window"].split("..")
                self.window = (begin + round(float(first) * 1e9) if first else -FOREVER, begin + round(float(last) * 1e9) if last else FOREVER)
            if "recorded_kinds" in text:
                self.kinds = {name for group in text["recorded_kinds"].split(",") for name in GROUPS[group]}
        except (KeyError, ValueError, OverflowError):
            raise UserError("%s: the head does not say which part of the run was recorded; the trace is damaged" % path, 1)

    def has_rank(self, rank):
        return self.ranks is None or any(first <= rank <= last for first, last in self.ranks)

    def has(self, *names):
        """Whether all of these kinds of events were recorded."""
        return self.kinds is None or self.kinds.issuperset(names)

    def sentence(self):
        """Which part of the run was recorded, in words."""
        said = []
        if self.ranks is not None:
            text = self.words_of["recorded_ranks"]
            said.append("rank %s" % text if re.fullmatch("[0-9]+", text) else "ranks %s" % text.replace(",", ", "))
        if self.window is not None:
            first, last = self.words_of["recorded_window"].split("..")
            said.append("from %s s on" % first if not last else "up to %s s" % last if not first else "between %s s and %s s" % (first, last))
        if self.kinds is not None:
            said.append("of %s" % self.words_of["recorded_kinds"].replace(",", ", "))
        return "only a part of the run was recorded: %s" % "; ".join(said)


def has_tasks(trace):
    return trace.part is None or trace.part.has(*GROUPS["tasks"])


def need_tasks(trace, what):
    """Refuses a trace without tasks."""
    if not has_tasks(trace):
        raise UserError("%s was recorded without tasks (--trace-kinds %s), and %s needs them; record tasks, messages and waits, or all kinds"
                        % (trace.path, trace.part.words_of["recorded_kinds"], what), 1)


def not_recorded(trace):
    """Sentences on kinds without which the path ends where it needs them."""
    part, said = trace.part, []
    if part is None:
        return said
    if not has_tasks(trace):
        said.append("tasks were not recorded: nobody knows what they waited for, and there is no critical path")
    if not part.has(*MESSAGES) and len(trace.processes) > 1:
        said.append("messages were not recorded: what came from other ranks is not")
    if not part.has("waited"):
        said.append("waits of the program were not recorded: nobody knows what it did between two submissions")
    return said
