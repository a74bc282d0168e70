# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Data that the page of `orrery report` draws, made from the columns of a trace: lanes with
# their tasks, messages, states over time, kernels, the critical path.
# Invariant: sums are exact, whatever is left out of the page; tasks that are not kept
# singly are in blocks that say how many they are and how long they computed.
import collections

import numpy as np

import orrery_changes
from orrery_columns import NEVER

BINS = 480            # of the plot of states over time
MOST_KERNELS = 200    # with a colour of their own; the others are one
MOST_PARTS = 1 << 20  # of tasks and idle times, that are cut to windows at a time
OTHERS = "other kernels"
ITERATION, ITERATION_END = "iteration", "iteration-end"   # marks (src/core/task/task_trace.c)

# The states of workers, in the words of `orrery explain`; the gap before a task has the state of what ended it.
STATES = {"fetching": "fetching data between memory nodes", "runtime": "runtime: from a cause to its effect", "callback": "callbacks of the program",
          "message": "waiting for a message", "program": "waiting for the program", "task": "waiting for another task",
          "rest": "without a further task", "missing": "not recorded"}
STATE = {name: i for i, name in enumerate(STATES)}


class Pack:
    """Arrays one after the other: `parts` says how to read them back (tools/report/data.js)."""

    def __init__(self):
        self.parts, self.bytes, self.size = {}, [], 0

    def put(self, name, kind, data, n):
        self.parts[name] = [kind, n, self.size, len(data)]
        self.bytes.append(data)
        self.size += len(data)

    def unsigned(self, name, values):
        """Numbers from 0 to 2^63, small ones in one byte."""
        values = np.asarray(values).astype(np.uint64)
        self.put(name, "v", varints(values), len(values))

    def signed(self, name, values):
        values = np.asarray(values, np.int64)
        self.put(name, "z", varints(((values << 1) ^ (values >> 63)).view(np.uint64)), len(values))

    def data(self):
        return b"".join(self.bytes)


def varints(values):
    """Seven bits in each byte, the lowest first; the eighth bit says that more follow."""
    if not len(values):
        return b""
    size = np.ones(len(values), np.int64)
    rest = values >> np.uint64(7)
    while rest.any():
        size += rest != 0
        rest = rest >> np.uint64(7)
    at = np.cumsum(size) - size
    out = np.zeros(int(size.sum()), np.uint8)
    for k in range(int(size.max())):
        which = np.flatnonzero(size > k)
        byte = (values[which] >> np.uint64(7 * k) & np.uint64(0x7F)).astype(np.uint8)
        out[at[which] + k] = byte | np.where(size[which] > k + 1, 0x80, 0).astype(np.uint8)
    return out.tobytes()


def take(column, rows, default):
    """The values of these rows; where a row is -1, the default."""
    if not len(column):
        return np.full(len(rows), default, column.dtype)
    return np.where(rows >= 0, column[rows], np.array(default, column.dtype))


def coverage(rows, nrows, first, last, bins, width, weight=1):
    """Nanoseconds of intervals in each of the bins, of each row, times their weight: sums are exact where that is a whole number."""
    found = np.zeros((nrows, bins + 1))
    for at, sign in ((first, 1), (last, -1)):
        b = np.minimum(at // width, bins - 1)
        cell = rows * (bins + 1) + b
        n = nrows * (bins + 1)
        found += sign * np.bincount(cell, ((b + 1) * width - at) * weight, n)[:n].reshape(nrows, -1)
        slope = np.bincount(cell + 1, np.broadcast_to(weight, len(cell)), n)[:n].reshape(nrows, -1) * float(width)
        found += sign * np.cumsum(slope, 1)
    return np.rint(found[:, :bins]).astype(np.int64)


class Lanes:
    """The workers of all ranks, and their tasks in order of time."""

    def __init__(self, columns):
        t, trace = columns.tasks, columns.trace
        self.columns = columns
        known = {(p.rank, number, worker): name for number, p in trace.processes.items() for worker, (name, _) in p.workers.items()}
        for rank, process, worker in set(zip(t.rank[t.order].tolist(), t.process[t.order].tolist(), t.worker[t.order].tolist())):
            name = trace.processes[process].workers.get(worker, ("", 0))[0]
            known.setdefault((rank, process, worker), name or "worker %d" % worker)
        self.lanes = sorted(known)
        several = collections.Counter(rank for rank, _ in {lane[:2] for lane in self.lanes})
        self.names = [known[lane] + (" of process %d" % lane[1] if several[lane[0]] > 1 else "") for lane in self.lanes]
        self.set_lives()
        self.rank = np.array([lane[0] for lane in self.lanes], np.int64)
        place = {lane: i for i, lane in enumerate(self.lanes)}
        # (Processes are fewer than 2^24, ranks no more than 2^16.)
        pairs = (t.rank[t.order] << 41) + (t.process[t.order] << 17) + t.worker[t.order] + 1
        unique, inverse = np.unique(pairs, return_inverse=True)
        to_lane = np.array([place[int(u) >> 41, int(u) >> 17 & (1 << 24) - 1, (int(u) & (1 << 17) - 1) - 1] for u in unique], np.int64)
        lane = to_lane[inverse] if len(unique) else np.zeros(0, np.int64)
        order = np.lexsort((t.start[t.order], lane))
        self.rows, self.lane = t.order[order], lane[order]
        first, last = columns.first, columns.last
        self.start = t.start[self.rows] - first
        self.ended = t.end[self.rows] != NEVER
        if columns.trace.windows:
            last = self.ends_of_windows(t.start[self.rows], last)
        self.end = np.maximum(np.where(self.ended, t.end[self.rows], last) - first, self.start)
        self.index = np.full(t.n, -1)      # of a row of the tasks: its place here
        self.index[self.rows] = np.arange(len(self.rows))
        self.choose_kernels()

    def set_lives(self):
        """`lives`: [(begin, end)] of all lanes: a worker was there only while its process had that rank. Few processes have a rank more
        than once."""
        columns, of = self.columns, collections.defaultdict(list)
        for number, process in columns.trace.processes.items():
            for rank, begin, end in columns.trace.lives(process, columns.first, columns.last):
                if of[rank, number] and of[rank, number][-1][1] >= begin:
                    begin = of[rank, number].pop()[0]
                of[rank, number].append((begin - columns.first, max(begin, end) - columns.first))
        some = [of[lane[:2]] for lane in self.lanes]
        self.lives = [tuple(np.array([lane[i][k] if len(lane) > i else 0 for lane in some], np.int64) for k in (0, 1))
                      for i in range(max(map(len, some), default=0))]

    def alive(self, parts):
        """The parts (lane, first, last, ...), cut to when their workers were there."""
        found = []
        for begin, end in self.lives:
            first, last = np.maximum(parts[1], begin[parts[0]]), np.minimum(parts[2], end[parts[0]])
            some = first < last
            found.append([column[some] for column in (parts[0], first, last) + tuple(parts[3:])])
        return tuple(np.concatenate(column) for column in zip(*found)) if found else parts

    def ends_of_windows(self, start, last):
        """Until when a task is drawn whose end is missing: to the end of the window, or to the next task of its worker."""
        length, distance = self.columns.trace.windows
        until = np.minimum(start // distance * distance + length, last)
        same = self.lane[1:] == self.lane[:-1]
        until[:-1][same] = np.minimum(until[:-1][same], start[1:][same])
        return until

    def choose_kernels(self):
        """Kernels by the time they take; `kernel` of each task."""
        t, names = self.columns.tasks, self.columns.names
        name = t.name[self.rows]
        ns = np.bincount(name, self.end - self.start, len(names)).astype(np.int64)
        count = np.bincount(name, minlength=len(names))
        by_time = sorted(np.flatnonzero(count), key=lambda i: (-ns[i], names[i]))
        self.kernels = [names[i] for i in by_time[:MOST_KERNELS]]
        if len(by_time) > MOST_KERNELS:
            self.kernels.append(OTHERS)
        number = np.zeros(len(names), np.int64)
        for i, n in enumerate(by_time):
            number[n] = min(i, MOST_KERNELS)
        self.kernel = number[name]


def callbacks_of(lanes):
    """(lane, first, last) of the callbacks of workers, those within others left out; by lane and time."""
    e, columns = lanes.columns.callbacks, lanes.columns
    place = {lane: i for i, lane in enumerate(lanes.lanes)}
    rank = columns.rank_at(e.process.astype(np.int64), e.ns)
    lane = np.array([place.get(key, -1) for key in zip(rank.tolist(), e.process.tolist(), e.worker.tolist())], np.int64)
    last = np.minimum(e.ns, columns.last) - columns.first
    first = np.maximum(0, e.ns - e.c.astype(np.int64) - columns.first)
    some = np.flatnonzero((lane >= 0) & (e.worker >= 0) & (first < last))
    some = some[np.lexsort((-last[some], first[some], lane[some]))]
    lane, first, last = lane[some], first[some], last[some]
    if not len(lane):
        return lane, first, last
    until = np.maximum.accumulate(lane * (columns.last - columns.first + 1) + last)
    outer = np.append(True, lane[1:] * (columns.last - columns.first + 1) + first[1:] >= until[:-1])
    return lane[outer], first[outer], last[outer]


def carve(lanes, parts):
    """The parts (lane, first, last, state), of which what callbacks took is in their state; parts of a lane do not overlap."""
    hole_lane, hole_first, hole_last = callbacks_of(lanes)
    if not len(hole_lane):
        return parts
    lane, first, last, state = (column[parts[1] < parts[2]] for column in parts)
    row = lanes.columns.last - lanes.columns.first + 1   # lanes one after the other are one line
    a, b, begin, end = (lane * row + first, lane * row + last, hole_lane * row + hole_first, hole_lane * row + hole_last)
    lo, hi = np.searchsorted(end, a, "right"), np.searchsorted(begin, b, "left")
    n = np.maximum(0, hi - lo)
    part, nth = np.repeat(np.arange(len(a)), n + 1), np.arange((n + 1).sum()) - np.repeat(np.cumsum(n + 1) - n - 1, n + 1)
    before, after = np.minimum(lo[part] + nth - 1, len(end) - 1), np.minimum(lo[part] + nth, len(end) - 1)
    since = np.where(nth == 0, a[part], np.maximum(a[part], end[np.maximum(before, 0)]))
    until = np.where(nth == n[part], b[part], begin[after])
    called = nth < n[part]
    called_from, called_to = np.maximum(a[part], begin[after])[called], np.minimum(b[part], end[after])[called]
    lanes_of = np.concatenate((lane[part], lane[part][called]))
    return (lanes_of, np.concatenate((since, called_from)) - lanes_of * row, np.concatenate((until, called_to)) - lanes_of * row,
            np.concatenate((state[part], np.full(int(called.sum()), STATE["callback"]))))


def gaps(lanes):
    """(lane, first, last, state) of what workers do that is not a kernel."""
    t, columns, span = lanes.columns.tasks, lanes.columns, lanes.columns.last - lanes.columns.first
    n = len(lanes.rows)
    fresh = np.ones(n, bool)
    fresh[1:] = lanes.lane[1:] != lanes.lane[:-1]
    before = np.zeros(n, np.int64)
    before[1:] = lanes.end[:-1]
    before[fresh] = 0
    before = np.minimum(before, lanes.start)
    fetched = np.maximum(lanes.start - np.maximum(t.fetch[lanes.rows], 0), before)
    ready = t.ready[lanes.rows]
    ready = np.clip(np.where(ready == NEVER, columns.first, ready) - columns.first, before, fetched)
    kind = t.cause[lanes.rows] >> np.uint64(60)
    waits = np.where(kind == 1, STATE["task"], np.where(kind == 2, STATE["message"], STATE["program"]))
    part, final_state = columns.trace.part, "rest"
    if part is not None:   # what was not recorded is nobody's fault
        unknown = t.ready[lanes.rows] == NEVER
        ready, waits = np.where(unknown, fetched, ready), np.where(unknown, STATE["missing"], waits)
        final_state = "rest" if part.window is None else "missing"
    lane, one = lanes.lane, np.ones(n, np.int64)
    parts = [(lane, before, ready, waits), (lane, ready, fetched, one * STATE["runtime"]), (lane, fetched, lanes.start, one * STATE["fetching"])]
    final = np.zeros(len(lanes.lanes), np.int64)
    np.maximum.at(final, lane, lanes.end)
    every = np.arange(len(lanes.lanes))
    parts.append((every, final, np.maximum(final, span), np.full(len(every), STATE[final_state])))
    lane, first, last, state = carve(lanes, [np.concatenate(column) for column in zip(*parts)])
    some = last > first
    return lanes.alive((lane[some], first[some], last[some], state[some]))


def windows_of(columns):
    """The windows in which a trace has all events, as (first, last), and the gaps between them."""
    length, distance = columns.trace.windows
    span = columns.last - columns.first
    begins = np.arange(columns.first // distance, columns.last // distance + 1) * distance - columns.first
    inside = np.stack((np.maximum(0, begins), np.minimum(span, begins + length)), 1)
    outside = np.stack((np.maximum(0, begins + length), np.minimum(span, begins + distance)), 1)
    return inside, outside[outside[:, 1] > outside[:, 0]]


def in_windows(windows, parts):
    """The parts (lane, first, last, ...) of a trace without some of its events, cut to where they all are, some windows at a
    time: a worker that idles has a part in each of them, and all at once would take gigabytes."""
    found, n = [], 0
    for lo, hi in windows.tolist():
        first, last = np.maximum(parts[1], lo), np.minimum(parts[2], hi)
        some = first < last
        found.append([column[some] for column in (parts[0], first, last) + tuple(parts[3:])])
        n += len(found[-1][0])
        if n > MOST_PARTS:
            yield tuple(np.concatenate(column) for column in zip(*found))
            found, n = [], 0
    if found:
        yield tuple(np.concatenate(column) for column in zip(*found))


def take_sums(lanes, ranks, per_rank):
    """Of a trace with a limit, kernels and copies by rank are over all events; the rest of what is missing stays so."""
    sums, nk = lanes.columns.sums, len(lanes.kernels)
    row = {rank: i for i, rank in enumerate(ranks.tolist())}
    number = {name: i for i, name in enumerate(lanes.kernels)}
    exact = np.zeros((len(ranks), nk + 1), np.int64)
    for (rank, _, name), (_, ns, fetch) in sums.kernels.items():
        if rank in row and (name in number or OTHERS in number):
            exact[row[rank], number.get(name, number.get(OTHERS))] += ns
            exact[row[rank], nk] += fetch
    copy, missing = nk + STATE["fetching"], nk + STATE["missing"]
    columns = list(range(nk)) + [copy]
    # Of a copy that a kernel hid, the sums know no end.
    exact[:, nk] = np.maximum(per_rank[:, copy], np.minimum(exact[:, nk], per_rank[:, copy] + per_rank[:, missing]))
    per_rank[:, missing] = np.maximum(0, per_rank[:, missing] - (exact - per_rank[:, columns]).sum(1))
    per_rank[:, columns] = exact


def states_over_time(lanes, pack):
    """Time of all workers in each state, by bins; totals by rank."""
    span = max(1, lanes.columns.last - lanes.columns.first)
    width = -(-span // BINS)
    nk, ns, limited = len(lanes.kernels), len(STATES), lanes.columns.trace.windows
    inside, outside = windows_of(lanes.columns) if limited else (None, None)
    ranks, at = np.unique(lanes.rank, return_inverse=True)
    table, per_rank = np.zeros((nk + ns, BINS), np.int64), np.zeros((len(ranks), nk + ns), np.int64)
    for row, parts in ((0, (lanes.lane, lanes.start, lanes.end, lanes.kernel)), (nk, gaps(lanes))):
        for lane, first, last, what in in_windows(inside, parts) if limited else (parts,):
            table += coverage(row + what, nk + ns, first, last, BINS, width)
            ns_of = np.bincount(at[lane] * (nk + ns) + row + what, last - first, per_rank.size)
            per_rank += np.rint(ns_of).astype(np.int64).reshape(per_rank.shape)
    if limited:
        missing = nk + STATE["missing"]
        table[missing] += coverage(np.zeros(len(outside), np.int64), 1, outside[:, 0], outside[:, 1], BINS, width)[0] * len(lanes.lanes)
        per_rank[:, missing] += np.bincount(at, minlength=len(ranks)) * (outside[:, 1] - outside[:, 0]).sum()
    pack.signed("states", table.ravel())
    if lanes.columns.trace.windows:
        take_sums(lanes, ranks, per_rank)
    pack.unsigned("rank_number", ranks)
    pack.unsigned("rank_states", per_rank.ravel())
    return {"bins": BINS, "width_ns": width, "names": [["kernel", k] for k in lanes.kernels] + [[s, w] for s, w in STATES.items()],
            "totals_ns": [int(x) for x in table.sum(1)]}


def kernel_table(lanes):
    t, found = lanes.columns.tasks, []
    exact = lanes.columns.sums.kernels_by_name() if lanes.columns.trace.windows else {}
    for i, name in enumerate(lanes.kernels):
        which = np.flatnonzero((lanes.kernel == i) & lanes.ended)
        length = (lanes.end - lanes.start)[which]
        ready = t.ready[lanes.rows[which]]
        delay = (lanes.start[which] + lanes.columns.first - ready)[ready != NEVER]
        found.append({"name": name, "started": int((lanes.kernel == i).sum()), "ended": len(which), "ns": int(length.sum()),
                      "min_ns": int(length.min()) if len(which) else 0, "max_ns": int(length.max()) if len(which) else 0,
                      "median_ns": float(np.median(length)) if len(which) else 0,
                      "p95_ns": float(np.percentile(length, 95)) if len(which) else 0,
                      "delay_ns": float(delay.mean()) if len(delay) else 0})
        if name in exact:
            found[-1].update(ended=exact[name][0], started=max(found[-1]["started"], exact[name][0]), ns=exact[name][1])
    return found


def block_of(lanes, most, single):
    """The block that each task is in, numbered in order: one task each, or, where there are more than `most`, the tasks of a
    lane that start in the same slice of time. Tasks for which `single` is true have a block of their own."""
    n = len(lanes.rows)
    if n <= most:
        return np.arange(n)

    def numbered(width):
        cell = lanes.start // width
        fresh = np.ones(n, bool)
        fresh[1:] = (lanes.lane[1:] != lanes.lane[:-1]) | (cell[1:] != cell[:-1]) | single[1:] | single[:-1]
        return np.cumsum(fresh) - 1
    low, high = 1, max(2, lanes.columns.last - lanes.columns.first)
    while high > low * 1.05 + 1:
        width = int((low * high) ** 0.5) + 1
        if width >= high:
            break
        if numbered(width)[-1] + 1 > most:
            low = width
        else:
            high = width
    return numbered(high)


class Edges:
    """What each task and message waited for, as pairs of rows: task or message, after task or message."""

    def __init__(self, columns):
        e, t, r, m = columns.events, columns.tasks, columns.requests, columns.messages
        after_t, process, cause = [], [], []
        for name in ("ready", "release"):
            after_t.append(t.find(columns.key(e[name].process, e[name].b)))
            process.append(e[name].process)
            cause.append(e[name].c)
        after, process, cause = np.concatenate(after_t), np.concatenate(process), np.concatenate(cause)
        tasks, requests = columns.cause_rows(process, cause)
        self.message_of = np.where(r.message >= 0, r.message, -1)
        sent = np.flatnonzero(m.sent_by >= 0)
        self.message_of[m.sent_by[sent]] = np.where(self.message_of[m.sent_by[sent]] < 0, sent, self.message_of[m.sent_by[sent]])
        via = take(self.message_of, requests, -1)
        found = after >= 0
        self.task_task = np.stack((after[found & (tasks >= 0)], tasks[found & (tasks >= 0)]))
        self.task_message = np.stack((after[found & (via >= 0)], via[found & (via >= 0)]))
        # What a message waited for: the grant of its send; of one that was passed on, the message before.
        self.from_task, requests = columns.cause_rows(take(r.process, m.sent_by, 0), take(r.cause, m.sent_by, 0))
        self.from_message = take(self.message_of, requests, -1)
        relayed = (m.sender >= 0) & (m.sender != m.origin)
        self.from_task[relayed] = -1
        self.from_message[relayed] = -1
        self.passed_on(columns, np.flatnonzero(relayed))

    def passed_on(self, columns, relayed):
        """The message that a rank passed on is the last one with its origin and tag that had come there."""
        m = columns.messages
        came = np.flatnonzero(m.envelope != NEVER)
        where = np.concatenate((m.pair[came], columns.pair(m.era[relayed], m.origin[relayed], m.sender[relayed])))
        tag = np.concatenate((m.tag[came], m.tag[relayed]))
        when = np.concatenate((m.envelope[came], m.send[relayed]))
        asks = np.concatenate((np.zeros(len(came), bool), np.ones(len(relayed), bool)))
        rows = np.concatenate((came, relayed))
        order = np.lexsort((asks, when, tag, where))
        last = np.maximum.accumulate(np.where(~asks[order], np.arange(len(order)), -1)) if len(order) else order
        for_asks = np.flatnonzero(asks[order])
        source = last[for_asks]
        good = (source >= 0) & (where[order][source] == where[order][for_asks]) & (tag[order][source] == tag[order][for_asks])
        self.from_message[rows[order][for_asks[good]]] = rows[order][source[good]]


def put_blocks(lanes, block, pack):
    """The tasks of the Gantt chart."""
    t, first = lanes.columns.tasks, lanes.columns.first
    nb = int(block[-1]) + 1 if len(block) else 0
    heads = np.searchsorted(block, np.arange(nb))
    count = np.bincount(block, minlength=nb)
    busy = np.bincount(block, lanes.end - lanes.start, nb).astype(np.int64)
    lane, start = lanes.lane[heads], lanes.start[heads]
    end = np.zeros(nb, np.int64)
    np.maximum.at(end, block, lanes.end)
    # The kernel of a block is the one that takes most of it.
    nk = max(1, len(lanes.kernels))
    cell, inverse = np.unique(block * nk + lanes.kernel, return_inverse=True)
    weight = np.bincount(inverse, lanes.end - lanes.start + 1e-9, len(cell)) if len(cell) else np.zeros(0)
    order = np.lexsort((weight, cell // nk))
    kernel = np.zeros(nb, np.int64)
    kernel[cell[order] // nk] = cell[order] % nk
    fresh = np.ones(nb, bool)
    fresh[1:] = lane[1:] != lane[:-1]
    before = np.zeros(nb, np.int64)
    before[1:] = np.where(fresh[1:], 0, end[:-1])
    number = t.number[lanes.rows[heads]]
    previous = np.zeros(nb, np.int64)
    previous[1:] = np.where(fresh[1:], 0, number[:-1])
    rows = lanes.rows[heads]

    def earlier(at):
        """Nanoseconds + 1 that it was before the start; 0: it is not in the trace."""
        return np.where(at == NEVER, 0, np.maximum(start + first - at, 0) + 1)
    pack.unsigned("lane_blocks", np.bincount(lane, minlength=len(lanes.lanes)))
    pack.signed("gap", start - before)
    pack.unsigned("length", end - start)
    pack.unsigned("kernel", kernel)
    pack.unsigned("count", count)
    pack.unsigned("busy", busy[count > 1])
    pack.signed("number", number - previous)
    pack.unsigned("ready", np.where(count == 1, earlier(t.ready[rows]), 0))
    pack.unsigned("submit", np.where(count == 1, earlier(t.submit[rows]), 0))
    pack.unsigned("fetch", np.where(count == 1, np.maximum(t.fetch[rows], 0), 0))
    pack.unsigned("expected", np.where(count == 1, t.expected[rows], 0))
    pack.unsigned("transfer", np.where(count == 1, t.transfer[rows] + 1, 0))
    pack.unsigned("cause", np.where(count == 1, t.cause[rows] >> np.uint64(60), 0))
    pack.unsigned("unfinished", np.flatnonzero(~lanes.ended[heads] & (count == 1)))
    return count


def put_edges(lanes, edges, block, shown, pack):
    """Causes of the blocks that are single tasks: other blocks, and messages."""
    nb = int(block[-1]) + 1 if len(block) else 0

    def place(rows):
        return take(block, lanes.index[rows], -1)
    a, b = place(edges.task_task[0]), place(edges.task_task[1])
    good = (a >= 0) & (b >= 0) & (a != b)
    after, code = a[good], (b[good] << 1)
    a, m = place(edges.task_message[0]), shown[edges.task_message[1]]
    good = (a >= 0) & (m >= 0)
    after, code = np.concatenate((after, a[good])), np.concatenate((code, m[good] << 1 | 1))
    key = np.unique(np.stack((after, code)), axis=1) if len(after) else np.zeros((2, 0), np.int64)
    after, code = key
    pack.unsigned("causes", np.bincount(after, minlength=nb))
    value = np.where(code & 1, code >> 1, after - (code >> 1))
    # Messages are close to the message of the task before.
    is_message = np.flatnonzero(code & 1)
    value[is_message[1:]] = np.diff(code[is_message] >> 1)
    pack.unsigned("cause_kind", code & 1)
    pack.signed("cause_to", value)
    source = np.full(len(edges.from_task), -1)
    known = edges.from_task >= 0
    source[known] = place(edges.from_task[known])
    return source


def put_messages(lanes, edges, shown_rows, source, pack):
    """The messages that are shown, by receiver and time."""
    m, first = lanes.columns.messages, lanes.columns.first
    r = lanes.columns.requests
    rows = shown_rows
    send = m.send[rows] - first
    receiver = m.receiver[rows]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = receiver[1:] != receiver[:-1]
    before = np.zeros(len(rows), np.int64)
    before[1:] = np.where(fresh[1:], 0, send[:-1])
    recv = take(r.recv, m.received_by[rows], NEVER)
    came = m.envelope[rows]
    pack.unsigned("m_receivers", np.bincount(receiver, minlength=lanes.columns.ranks))
    pack.unsigned("m_sender", m.sender[rows])
    pack.signed("m_send", send - before)
    pack.unsigned("m_came", np.where(came == NEVER, 0, np.maximum(came - m.send[rows], 0) + 1))
    pack.unsigned("m_recv", np.where((recv == NEVER) | (came == NEVER), 0, np.maximum(recv - came, 0) + 1))
    pack.unsigned("m_bytes", m.bytes[rows])
    place = np.full(m.n, -1)
    place[rows] = np.arange(len(rows))
    task, message = source[rows], edges.from_message[rows]
    message = take(place, message, -1)
    code = np.where(task >= 0, task * 2 + 1, np.where(message >= 0, message * 2 + 2, 0))
    delta = code.copy()
    delta[1:] -= code[:-1]
    pack.signed("m_cause", delta)


def choose_messages(lanes, edges, most):
    """(rows that are shown, by receiver and time; place of each row among them): those that a task waited for last come
    first, then the large ones."""
    m, t = lanes.columns.messages, lanes.columns.tasks
    sent = np.flatnonzero(m.send != NEVER)
    if len(sent) > most:
        worth = m.bytes[sent].astype(float)
        cause = t.cause[edges.task_message[0]] >> np.uint64(60) == 2
        weight = np.zeros(m.n)
        weight[edges.task_message[1][cause]] = 1
        worth += weight[sent] * (worth.max() + 1)
        sent = sent[np.argsort(-worth, kind="stable")[:most]]
    rows = sent[np.lexsort((m.send[sent], m.receiver[sent]))]
    shown = np.full(m.n, -1)
    shown[rows] = np.arange(len(rows))
    return rows, shown


def lanes_of_processes(lanes):
    """{(rank, process): [first lane, lanes]}"""
    place = {}
    for i, (rank, process, _) in enumerate(lanes.lanes):
        place.setdefault((rank, process), [i, 0])[1] += 1
    return place


def marks_of(lanes, most):
    """[what, first lane, lanes, begin, end, words] of iterations and marks of the program, the first ones; and how many there are."""
    columns, found, place, opened = lanes.columns, [], lanes_of_processes(lanes), collections.defaultdict(list)
    user = columns.events["user"]
    where = {lane: i for i, lane in enumerate(lanes.lanes)}
    order = np.lexsort((user.place, user.ns, user.process))
    names, ranks, span = columns.name_of(user.process, user.a), columns.rank_at(user.process, user.ns), columns.last - columns.first

    def put(what, key, worker, first, last, words):
        at = [where[key + (worker,)], 1] if key + (worker,) in where else place.get(key)
        if at:
            found.append([what] + at + [first, last, words])
    for i in order.tolist():
        name, key, number = columns.names[names[i]], (int(ranks[i]), int(user.process[i])), int(user.b[i])
        at, stack = int(min(max(0, user.ns[i] - columns.first), span)), opened[user.process[i]]
        if name == ITERATION:
            stack.append((at, key, number))
        elif name == ITERATION_END:
            if stack:
                first, key, number = stack.pop()
                put("iteration", key, None, first, at, "iteration %d" % number)
        else:
            put("mark", key, int(user.worker[i]), at, at, "%s %d" % (name, number) if number else name)
    for stack in opened.values():   # the run ended in them
        for first, key, number in stack:
            put("iteration", key, None, first, span, "iteration %d" % number)
    found.sort(key=lambda mark: mark[3])
    return found[:most], len(found)


def changes_of(lanes):
    """[what, first lane, lanes, begin, end, words] of what changed the run; a process that left has no length."""
    columns, found, place = lanes.columns, [], lanes_of_processes(lanes)
    span = columns.last - columns.first
    for c in orrery_changes.changes(columns.trace):
        first, last = (int(min(max(0, at - columns.first), span)) for at in (c.first, c.last))
        if (c.rank, c.process) in place:
            found.append([c.what] + place[c.rank, c.process] + [first, last, orrery_changes.label(c)])
    return found


def put_path(pieces, first, pack):
    kinds, details = sorted({p.kind for p in pieces}), sorted({p.detail for p in pieces})
    kind, detail = {k: i for i, k in enumerate(kinds)}, {d: i for i, d in enumerate(details)}
    pack.unsigned("path_length", [p.last - p.first for p in pieces])
    pack.unsigned("path_kind", [kind[p.kind] for p in pieces])
    pack.unsigned("path_detail", [detail[p.detail] for p in pieces])
    pack.signed("path_rank", [p.rank for p in pieces])
    pack.signed("path_worker", [p.worker for p in pieces])
    return {"first_ns": pieces[0].first - first if pieces else 0, "kinds": kinds, "details": details}
