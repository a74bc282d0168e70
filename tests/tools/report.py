# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Whether a page of `orrery report` has the sums of its traces. Traces are read here event by
# event, with the plain reader; the page's arrays are read as its script reads them.
# Invariant: nothing is taken from the modules that make the page.
#     report.py TOOLS PAGE TRACE...
#     report.py TOOLS --same TRACE...    `explain` says the same with numpy and without
#     report.py TOOLS --hosts TRACE...   the same sums if two ranks each had a computer
import base64
import collections
import json
import re
import sys
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_alone  # noqa: E402
import orrery_changes  # noqa: E402
import orrery_critical  # noqa: E402
import orrery_explain  # noqa: E402
import orrery_lists  # noqa: E402
import orrery_memories  # noqa: E402
import orrery_tracefile  # noqa: E402


def equal(what, got, want):
    if got != want:
        sys.exit("%s: %r in the page, %r in the trace" % (what, got, want))


class Arrays:
    def __init__(self, text, parts):
        self.data, self.parts = zlib.decompress(base64.b64decode(text)), parts

    def get(self, name):
        kind, n, at, size = self.parts[name]
        found, value, shift = [], 0, 0
        for byte in self.data[at:at + size]:
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                found.append(value if kind == "v" else (value >> 1) ^ -(value & 1))
                value = shift = 0
        equal("numbers in " + name, len(found), n)
        return found


def check_overhead(about, trace):
    """What the runtime itself took, event by event."""
    had = {what: value for what, value, _, _ in about["overhead"]}
    spent, called = collections.Counter(), 0
    # Of events at the same instant, the start may come first.
    ready = {(e[9].number, e[6]): e[0] for e in trace.events(("ready",))}
    delays = sorted(e[0] - ready[e[9].number, e[6]] for e in trace.events(("start",)) if (e[9].number, e[6]) in ready)
    if delays:
        middle = (delays[(len(delays) - 1) // 2] + delays[len(delays) // 2]) / 2
        equal("from ready to started", had["tasks: from ready to started, in the median"], middle)
    for _, _, _, flags, _, a, b, _, d, _ in trace.events(("engine",)):
        who = "other threads" if flags & orrery_tracefile.GUEST else "progression threads"
        spent["%s: %s" % (who, orrery_tracefile.TURNS[a])] += b - d
        called += d
    for what, ns in spent.items():
        if not what.endswith("asleep"):
            equal(what, had[what], ns)
    equal("callbacks of the progression", had.get("progression: callbacks of the program", 0), called)


def check_run(about, text, trace):
    if not trace.windows and not trace.cut_at:
        check_overhead(about, trace)
    page = Arrays(text, about["parts"])
    events = trace.events()
    count = collections.Counter(orrery_tracefile.KINDS[e[2]] for e in events)
    first, last = events[0][0], events[-1][0]
    equal("makespan", about["span_ns"], last - first)
    equal("pieces of the path", about["path"]["first_ns"] + sum(page.get("path_length")), last - first)
    start, length, in_trace = {}, collections.Counter(), collections.Counter()
    for e in events:
        kind, name = orrery_tracefile.KINDS[e[2]], None
        if kind == "start":
            name = e[9].strings.get(e[5], "unnamed")
            start[e[9].number, e[6]] = e[0], name
            in_trace[name, "started"] += 1
        elif kind == "end" and (e[9].number, e[6]) in start:
            began, name = start.pop((e[9].number, e[6]))
            length[name] += e[0] - began
            in_trace[name, "ended"] += 1
    for kernel in about["kernels"]:
        name = kernel["name"]
        equal("started " + name, kernel["started"], in_trace[name, "started"])
        equal("ended " + name, kernel["ended"], in_trace[name, "ended"])
        equal("time of " + name, kernel["ns"], length[name])
    equal("kernels", sum(k["started"] for k in about["kernels"]), count["start"])
    # Each task is in one block, and the blocks' times are those of the tasks.
    counts, lengths, busy = page.get("count"), page.get("length"), page.get("busy")
    equal("tasks in blocks", sum(counts), count["start"])
    merged = iter(busy)
    left = sum(last - began for began, _ in start.values())
    equal("time in blocks", sum(next(merged) if n > 1 else ns for n, ns in zip(counts, lengths)), sum(length.values()) + left)
    # What the policy expected is of single tasks.
    if len(counts) == count["start"] and trace.state() is None:
        equal("expected", sum(page.get("expected")), sum(orrery_tracefile.model_of(e[8])[1] for e in events if orrery_tracefile.KINDS[e[2]] == "start"))
        equal("expected of copies", sum(page.get("transfer")),
              sum(orrery_tracefile.transfer_of(e[8]) + 1 for e in events if orrery_tracefile.KINDS[e[2]] == "end"))
    # Messages: the matrix has all of them, whatever is drawn.
    sends = [e for e in events if orrery_tracefile.KINDS[e[2]] == "send"]
    equal("messages", sum(page.get("pair_messages")), len(sends))
    equal("bytes", sum(page.get("pair_bytes")), sum(e[8] for e in sends))
    if about["matrix"]["group"] == 1:
        pairs, at = collections.Counter(), 0
        for e in sends:
            pairs[e[1] * about["matrix"]["ranks"] + e[5]] += e[8]
        for delta, volume in zip(page.get("pair"), page.get("pair_bytes")):
            at += delta
            equal("bytes of pair %d" % at, volume, pairs.pop(at))
        equal("pairs", len(pairs), 0)
    check_matrix(about["matrix"], page, trace)
    # All the time of all workers is in some state, in bins as by rank.
    workers = sum(len(p.workers) for p in trace.processes.values())
    states = page.get("states")
    bins = about["states"]["bins"]
    if trace.state() is None:
        equal("time of workers", sum(states), workers * (last - first))
    equal("states by rank", sum(page.get("rank_states")), sum(states))
    for i, (kind, name) in enumerate(about["states"]["names"]):
        equal("state " + name, sum(states[i * bins:(i + 1) * bins]), about["states"]["totals_ns"][i])
        if kind == "kernel" and trace.state() is None:
            equal("state of kernel " + name, about["states"]["totals_ns"][i], length[name])
        if about["states"]["totals_ns"][i] < 0 or min(states[i * bins:(i + 1) * bins]) < 0:
            sys.exit("less than nothing of " + name)
    check_links(about["links"], page.get("links"), trace, first, last)
    check_lists(about["lists"], page.get("lists"), trace, first, last)
    equal("gaps", [g[:2] for g in about["gaps"]], [[a - first, b - first] for a, b, _ in orrery_alone.spans(orrery_critical.Run(trace), trace)])
    equal("whether it is whole", about["state"], trace.state())
    return len(counts), len(page.get("m_send")), count


def posted_in(trace):
    """{(process, request): the outermost iteration in which it was posted, None: in none}, or {} of a program that has no iterations."""
    stacks, found, some = collections.defaultdict(list), {}, False
    for e in trace.events(("post", "user")):
        kind, name, stack = orrery_tracefile.KINDS[e[2]], e[9].strings.get(e[5], ""), stacks[e[9].number]
        if kind == "post":
            found[e[9].number, e[6]] = stack[0] if stack else None
        elif name == "iteration":
            some = bool(stack.append(e[6])) or True
        elif name == "iteration-end" and stack:
            stack.pop()
    return found if some else {}


def flights(trace, run):
    """(sender, receiver, bytes, when it left, from when to when it was under way, iteration) of each message that left."""
    request_of, posted = {r.message.key: r for r in run.requests.values() if r.message is not None}, posted_in(trace)
    for m in run.messages.values():
        if m.send is None:
            continue
        r = request_of.get(m.key)
        end = m.envelope if m.eager else r.recv if r is not None else None
        late = not m.eager and r is not None and None not in (r.grant, m.envelope) and r.grant > m.envelope
        begin = r.grant if late else m.send
        yield m.sender, m.key[1], m.bytes, m.send, (begin, begin if end is None else max(begin, end)), posted.get((m.process, m.request))


def wanted(trace, number_of, labels):
    """{(pair, phase): [bytes, messages, nanoseconds]} of the pairs of ranks or computers; phase None: of the whole run."""
    run, parts, found = orrery_critical.Run(trace), collections.defaultdict(list), collections.defaultdict(lambda: [0, 0, 0])
    span = max(1, run.last - run.first)
    place = {}
    for i, label in enumerate(labels):
        some = re.fullmatch(r"iterations? (\d+)(?: to (\d+))?", label)
        if some:
            place.update({n: i for n in range(int(some.group(1)), int(some.group(2) or some.group(1)) + 1)})
    for sender, receiver, size, sent, interval, iteration in flights(trace, run):
        pair = number_of(sender), number_of(receiver)
        if labels[0].startswith("iteration"):
            phase = place.get(iteration, len(labels) - 1)
        else:
            phase = min(len(labels) - 1, (sent - run.first) * len(labels) // span)
        for key in ((pair, None), (pair, phase)):
            found[key][0] += size
            found[key][1] += 1
            parts[key].append(interval)
    for key, some in parts.items():
        found[key][2] = orrery_changes.length(some)
    return {key: tuple(values) for key, values in found.items()}


def check_matrix(about, page, trace):
    """The pairs of ranks and of computers: bytes, messages, and for how long one was under way, in the whole run and in each phase."""
    if not about["timed"]:
        equal("phases of a trace that reached its limit", about["phases"], [])
        return
    host_of = {rank: p.host for _, p in sorted(trace.processes.items()) for rank in p.ranks()}
    levels = {"pair": (lambda rank: rank // about["group"], about["ranks"])}
    if about["hosts"]:
        levels["host"] = (lambda rank: about["hosts"].index(host_of[rank]), len(about["hosts"]))
    shared = not trace.simulated and len(set(host_of.values())) < about["ranks"]
    equal("computers", set(about["hosts"]), set(host_of.values()) if shared else set())
    for level, (number_of, stride) in levels.items():
        cell, cells = 0, []
        for delta in page.get(level):
            cell += delta
            cells.append((cell // stride, cell % stride))
        whole = list(zip(*(page.get("%s_%s" % (level, what)) for what in ("bytes", "messages", "active"))))
        if about["phases"]:
            entries = zip(*(page.get("%s_in%s" % (level, what)) for what in ("", "_bytes", "_messages", "_active")))
            counts = iter(page.get(level + "_phase"))
            index = 0
        for labels in about["phases"] or [["all"]]:
            want = wanted(trace, number_of, labels)
            equal("%ss of the whole run" % level, dict(zip(cells, whole)), {pair: values for (pair, phase), values in want.items() if phase is None})
            got, sums = {}, collections.defaultdict(lambda: [0, 0])
            for phase in range(len(labels) if about["phases"] else 0):
                for _ in range(next(counts)):
                    entry = next(entries)
                    index += entry[0]
                    got[cells[index], phase] = tuple(entry[1:])
                    sums[cells[index]] = [sums[cells[index]][0] + entry[1], sums[cells[index]][1] + entry[2]]
            if about["phases"]:
                equal("%ss by phase" % level, got, {key: values for key, values in want.items() if key[1] is not None})
                equal("sums of phases", dict(sums), {pair: list(values[:2]) for pair, values in zip(cells, whole)})


def check_links(about, values, trace, first, last):
    """What each link gave in the run, and when it was full, from its stretches, event by event."""
    latest, names = {}, [link[0] for link in about["links"]]
    for ns, _, _, flags, _, a, b, c, d, process in trace.events(("link",)):
        if not flags & 1:
            latest[process.strings.get(a, "unnamed"), ns] = b, c, d
    equal("links", bool(names), bool(latest))
    span, bins, width = max(1, last - first), about["bins"], about["width_ns"]
    equal("stretches of links", len(values), 2 * bins * len(names))
    for what in (0, 1):
        for i, name in enumerate(names):
            row = values[(what * len(names) + i) * bins:][:bins]
            had = sum(value * min(width, max(0, span - b * width)) for b, value in enumerate(row)) / 1e4
            known = sum(stretch[1 + what] for (of, _), stretch in latest.items() if of == name)
            if name != "unnamed" and abs(had - known) > 0.01 * known + 1e-4 * span + bins:   # whole nanoseconds, hundredths of a percent
                sys.exit("link %s: %r ns in the page, %r in the trace" % (name, had, known))


def check_lists(about, values, trace, first, last):
    """How long requests were in each list, how long progression threads did what; means in hundredths are within rounding."""
    want, run = collections.Counter(), orrery_critical.Run(trace)
    for stay in orrery_lists.stays(run):
        want[stay.list] += (last if stay.until is None else stay.until) - stay.since
    called = 0
    for t in orrery_lists.turns(trace):
        if t.own:
            end = max(first, min(last, t.start + t.ns))
            want[t.what, "turn"] += end - max(first, min(last, t.start))
            called += t.callbacks
    each, width = about["bins"] * about["ranks"], about["width_ns"]
    for i, series in enumerate(about["series"]):
        name, scale, mine = series["name"], 1e2, values[i * each:(i + 1) * each]
        if series["unit"] == "MB":
            check_memory(name, sum(mine) * width / scale, 0.5 * len(mine) * width / scale, trace, first, last)
            continue
        if series["unit"] == "tasks":
            want[name] = sum((last if t.start is None else t.start) - t.ready for t in run.tasks.values() if t.ready is not None)
        if series["unit"] == "%":
            scale, name = 1e4, (name, "turn")
            if name[0] == "messages":
                want[name] -= called
            elif name[0] == "callbacks":
                want[name] = called
        equal("time of %s" % (name,), series["ns"], want[name])
        if abs(sum(mine) * width / scale - series["ns"]) > (0.5 * len(mine)) * width / scale:
            sys.exit("the bands of %s are not its time" % (name,))
    equal("lists", [s["name"] for s in about["series"][:5]], list(orrery_lists.LISTS))


def check_memory(name, got, rounding, trace, first, last):
    """The band of a memory has its use over time, in MB times nanoseconds."""
    known, want, since = orrery_memories.names(trace), 0, {}
    uses = [u for u in orrery_memories.uses(trace) if known.get(u.node, "memory %d" % u.node if u.node else "main memory") == name]
    for use in uses:
        at = max(first, min(last, use.at))
        before = since.get((use.process, use.node))
        if before:
            want += before[1] * (at - before[0])
        since[use.process, use.node] = at, use.used - use.reusable
    want += sum(used * (last - at) for at, used in since.values())
    if not uses or abs(got - want * 1e-6) > rounding + 1e-6 * got:
        sys.exit("the band of %s has %r MB ns, the trace %r" % (name, got, want * 1e-6))


def check_comparison(meta):
    """The parts add up to the difference of the makespans, which are those of the two runs."""
    found = meta["compare"]
    if not found:
        return
    for side, run in zip("ab", meta["runs"]):
        equal("makespan of " + side, found[side]["makespan_seconds"], run["explanation"]["makespan_seconds"])
        equal("name of " + side, found[side]["name"], run["name"])
    difference = found["b"]["makespan_seconds"] - found["a"]["makespan_seconds"]
    if abs(sum(p["seconds"] for p in found["parts"]) - difference) > 1e-9 or abs(found["difference_seconds"] - difference) > 1e-9:
        sys.exit("the parts add up to %r, the difference is %r" % (sum(p["seconds"] for p in found["parts"]), difference))
    equal("verdict", bool(found["verdict"]), found["a"]["world"] != found["b"]["world"])
    print("compared: %d parts" % len(found["parts"]))


def check_page(path, traces):
    with open(path, encoding="utf-8") as stream:
        page = stream.read()
    script = re.search(r'<script type="application/json" id="meta">(.*?)</script>', page, re.S)
    meta = json.loads(script.group(1))
    equal("runs", len(meta["runs"]), len(traces))
    for i, name in enumerate(traces):
        text = re.search(r'<script type="text/plain" id="data-%d">(.*?)</script>' % i, page, re.S).group(1)
        blocks, messages, count = check_run(meta["runs"][i], text, orrery_tracefile.Trace(name))
        print("%s: %d tasks in %d blocks, %d of %d messages" % (name, count["start"], blocks, messages, count["send"]))
    check_comparison(meta)
    # It loads nothing.
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    if re.search(r"<(script|link|img|iframe|object)[^>]*\b(src|href|data)\s*=", outside) or "@import" in page or "url(" in re.sub(r"url\(#", "", page):
        sys.exit("the page loads something")


def same(path):
    """The two ways to read a trace give the same answer."""
    trace = orrery_tracefile.Trace(path)
    plain = orrery_explain.answer(trace, orrery_critical.Run(trace))
    equal("what is explained of " + path, orrery_explain.answer(trace, orrery_explain.run_of(trace)), plain)
    if type(orrery_explain.run_of(trace)) is orrery_critical.Run:
        sys.exit("numpy was not used")


def with_hosts(path):
    """The page of a run of which two ranks each share a computer."""
    import orrery_report

    class Shared(orrery_tracefile.Trace):
        def __init__(self, path):
            super().__init__(path)
            self.simulated = False
            for process in self.processes.values():
                process.host = "node%d" % (process.rank // 2)
    orrery_tracefile.Trace = Shared
    about, text = orrery_report.make_run(path, 1e7, lambda *_: None, (None, None))
    check_run(about, text, Shared(path))
    equal("first computers", about["matrix"]["hosts"][:2], ["node0", "node1"])
    print("%s: %d computers" % (path, len(about["matrix"]["hosts"])))


if __name__ == "__main__":
    if sys.argv[2] == "--hosts":
        for name in sys.argv[3:]:
            with_hosts(name)
    elif sys.argv[2] == "--same":
        for name in sys.argv[3:]:
            same(name)
    else:
        check_page(sys.argv[2], sys.argv[3:])
