# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Changed files for the readers of the tools (hostile.sh):
#     hostile_files.py SOURCE CHANGES [KIND...]
# Each kind of file is changed that often, the same way every time. Its reader gives a result of finite numbers, or one
# message that names the file and the place in it. Readers run in processes of their own, 1000 files each, which may take
# 200 MB and 20 s for a file; none may end by anything else.
# Each is changed with its checksum, where another result is a failure, and without one, as if written by hand. One that
# has lost its checksum is taken as written by hand where other programs write such files, too, and not elsewhere.
# Invariant: the file that was not changed is accepted, and some changes of each kind are refused.
import math
import os
import random
import re
import resource
import shutil
import signal
import struct
import sys
import time
import zlib

source, changes, chosen = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
sys.path.insert(0, os.path.join(source, "tools"))
import orrery_checksum as checksum
import orrery_elastic as elastic
import orrery_machines as machines
import orrery_matrix as matrix
import orrery_profile as profile
import orrery_starpu_tools as starpu_tools
import orrery_trace
import orrery_tracefile as tracefile
from orrery_cli import UserError

WORDS = ["", "0", "-1", "nan", "inf", "-inf", "1e308", "1e999", "99999999999999999999", "1048575", "1048576", "4294967296", "x", "#", ",", "0x10", "1_0",
         "\u0663", "\u00e9", "\x00", "\r", "TOTAL", "]", "1.5", "9" * 5000]
BATCH = 1000
MOST_KIB = 200000
LONGEST_S = 20
# The place in a file: its line, a byte of it, or the file as a whole where it is another kind of file.
PLACE = re.compile(r":\d+: |: byte \d+: | is not a trace; | is a trace of version ")


def change(text, chance):
    for _ in range(chance.randint(1, 4)):
        lines = text.split("\n")
        at = chance.randrange(len(lines))
        kind = chance.randrange(6)
        if kind < 3:
            words = lines[at].split("," if "," in lines[at] else " ")
            words[chance.randrange(len(words))] = chance.choice(WORDS)
            lines[at] = ("," if "," in lines[at] else " ").join(words)
        elif kind == 3:
            del lines[at]
        elif kind == 4:
            lines.insert(at, chance.choice(lines))
        text = "\n".join(lines)
        if kind == 5:
            cut = chance.randrange(len(text) + 1)
            text = text[:cut] + chance.choice(WORDS) + text[cut + chance.randrange(4):]
    data = text.encode("utf-8", "surrogatepass")
    if not chance.randrange(10) and data:  # what is no text at all
        at = chance.randrange(len(data))
        data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1:]
    return data


def change_text(good, chance):
    return change(good.decode(), chance)


def change_bytes(data, chance):
    """Mostly where something stands: in the heads, and in the events."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.choice((chance.randrange(0, 131), 4096 + chance.randrange(900), 8192 + chance.randrange(64)))
        if at >= len(data):
            continue
        size = chance.choice((1, 1, 4, 8))
        value = chance.choice((0, 1, 255, chance.randrange(256), 1 << 31, 1 << 62, (1 << 64) - 1))
        data[at:at + size] = struct.pack("=Q", value)[:size]
        if not chance.randrange(8):
            del data[chance.randrange(len(data)):]
    return bytes(data)


def finite(values):
    values = list(values)
    for value in values:
        assert math.isfinite(value) and value >= 0, value
    return values


# ---- readers: each returns all that it has read ----

def statistics(path):
    stats = matrix.read_stats(path)
    tables = [stats.volume, stats.bandwidth, stats.messages, stats.active, stats.logical_volume, stats.logical_messages]
    for table in tables:
        finite(table.values())
    assert 0 <= stats.nodes <= matrix.LARGEST_NODE
    sys.stderr.write("".join(stats.doubts))
    return [sorted(table.items()) for table in tables], stats.nodes


def machine(path):
    folder, name = os.path.dirname(os.path.dirname(path)), os.path.basename(path).split(".")[0]
    units = machines.read_config(folder, name)
    n = 1 + units["CUDA"] + units["OpenCL"]
    finite(units.values())
    tables = []
    for suffix in ("bandwidth", "latency"):
        rows = machines.read_matrix(folder, name, suffix, n)
        for i, row in enumerate(rows or []):
            finite(v for j, v in enumerate(row) if i != j and not math.isnan(v))
        tables.append(rows)
    costs = machines.read_costs(folder, name)
    finite(costs.values())
    return units, tables, costs


def journal(path):
    entries = elastic.read_journal(path)
    for made in elastic.changes(entries):
        finite(made.get(step, 0) for step in elastic.STEPS)
    finite(elastic.ends(entries))
    try:
        finite(elastic.costs(entries).values())
    except UserError:
        pass  # too few changes are left
    return entries


def paje(path):
    """What starpu_paje_state_stats and starpu_paje_draw_histogram print of a file in Paje's format."""
    states = starpu_tools.Paje(path).states
    finite([part for state in states for part in state[1:]])
    assert all(state.length >= 0 for state in states)
    return states, list(starpu_tools.histogram("all", [state.length for state in states])) if states else []


def durations(path):
    tasks = list(profile.read(path))
    finite(task[3] for task in tasks)
    return tasks


class Text:
    """A file to print to."""

    def __init__(self):
        self.parts = []

    def write(self, text):
        self.parts.append(text)


def trace(path):
    tasks, out = durations(path), Text()
    for write in orrery_trace.write_text, orrery_trace.write_info:
        opened = tracefile.Trace(path)
        write(opened, {"from": None, "to": None, "ranks": None, "kinds": None}, out)
    sys.stderr.write(opened.state() or "")
    return tasks, out.parts


# ---- the files ----

STATISTICS = ("# orrery stats: nodes=4 makespan_s=0.5\nsrc,dst,bytes,messages,first_s,last_s\n0,1,100,2,0.0,0.1\n1,2,1000000,3,0.0,0.2\n"
              "3,0,7,1,0,0.4\n")
PRINTED = ("a line of the program\n"
           "[starpu_comm_stats][3] TOTAL:\t476.000000 B\t0.000454 MB\t 0.098000 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][3] shm: 2 payloads, 248 B, copied between ranks of this host\n"
           "[starpu_comm_stats][3:0]\t248.000000 B\t0.000237 MB\t 0.051059 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][3:2]\t228.000000 B\t0.000217 MB\t 0.046941 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][2] TOTAL:\t288.000000 B\t0.000275 MB\t 0.059294 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][2:1]\t116.000000 B\t0.000111 MB\t 0.023882 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][2:3]\t172.000000 B\t0.000164 MB\t 0.035412 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][1] TOTAL:\t188.000000 B\t0.000179 MB\t 0.038706 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][1:0]\t120.000000 B\t0.000114 MB\t 0.024706 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][1:2]\t68.000000 B\t0.000065 MB\t 0.014000 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][0] TOTAL:\t376.000000 B\t0.000359 MB\t 0.077412 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][0:1]\t150.000000 B\t0.000143 MB\t 0.030882 B/s\t 0.000000 MB/s\n"
           "[starpu_comm_stats][0:3]\t226.000000 B\t0.000216 MB\t 0.046529 B/s\t 0.000000 MB/s\n")
TRACE_TEXT = ("# time_us rank worker event job name | peer tag bytes | from to bytes\n1.000 0 0 start 1 empty\n2.500 0 0 end 1 empty\n"
              "2.500 0 1 start 2 full\n2.750 1 0 start 2 empty\n3.000 0 1 end 2 full\n4.000 1 0 end 2 empty\n")
PAJE = ("%EventDef PajeDefineEntityValue 5\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n%EventDef PajePushState 8\n"
        "% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n%EventDef PajePopState 9\n% Time date\n"
        "% Type string\n% Container string\n%EndEventDef\n5 K S \"a name\"\n8 0.5 S c K\n8 1 S d other\n9 1.25 S d\n9 2 S c\n")
JOURNAL = ("0.000000 1 asks join x\n0.500000 1 asks query a\n0.600000 1 gets spawn 2\n0.900000 1 gets ok 5 b\n1.000000 1 asks set c\n"
           "1.100000 1 asks finalize d\n1.200000 1 asks psetop e\n1.300000 1 gets ok 6 f\n1.400000 1 asks join g\n1.500000 1 asks finalize h\n"
           "1.600000 2 gets ok 1 x\n1.700000 2 ends\n")


def sealed_trace(data):
    """With the checksums of that head, block and index, as they are."""
    data, at = bytearray(data), 4096 + tracefile.CHECKSUM
    data[at:at + 4] = struct.pack("=I", zlib.crc32(data[at + 4:8192], zlib.crc32(data[4096:at])))
    data[8192 + tracefile.CHECKSUM:8192 + tracefile.CHECKSUM + 4] = data[at:at + 4]
    end = len(data) - tracefile.END.size
    data[end:] = tracefile.END.pack(tracefile.END_MAGIC, zlib.crc32(data[8192:end]), zlib.crc32(data[:4096]))
    return bytes(data)


def binary():
    """A trace of one process with one worker and three tasks: the head, a block, and the index."""
    text = b"world real\n"
    events = [(0, 1, 0, -1, 1, 5, 0, 0), b"empty", (0, 2, 0, -1, 0, 1, 1, 0), (0, 3, 0, -1, 0, 0, 0, 0), (0, 4, 0, 0, 1, 0, 0, 0)]
    for task in range(3):
        events += [(1000 * task + 100 * kind, kind, 0, 0, 1, task, 0, 0) for kind in (6, 8, 9, 10, 11)]
    events.append((9000, 5, 0, -1, 0, 0, 0, 0))
    data = b"".join(e.ljust(40, b"\0") if isinstance(e, bytes) else tracefile.EVENT.pack(*e) for e in events)
    kinds = sum(1 << kind for kind in {e[1] for e in events if not isinstance(e, bytes)})
    head = tracefile.BLOCK.pack(tracefile.BLOCK_MAGIC, 0, 0, len(events), 0, 9000, kinds, 0, 0, 0, 0, 0)
    start = tracefile.HEAD.pack(b"ORRTRACE", tracefile.VERSION, 4096, 40, tracefile.CLOSED, 1, 0, 8192, 1, len(text), 0, b"key")
    data = (start + text).ljust(4096, b"\0") + (head + data).ljust(4096, b"\0") + head
    return sealed_trace(data + bytes(tracefile.END.size))


def good_file(name):
    with open(os.path.join(source, "platforms", "machines", "h200x8", "bus", name), "rb") as file:
        return file.read()


def by_hand(text):
    first, end, rest = text.partition("\n")
    return first + end + "# checksum none\n" + rest


def sealed(good):
    return checksum.sealed(good.decode()).encode()


def sealed_printed(text):
    """With the checksum of each rank behind its lines."""
    sums, out, lines = {}, [], text.splitlines(keepends=True)
    ranks = [re.match(r"\[starpu_comm_stats\]\[(\d+)", line) for line in lines]
    for at, (line, rank) in enumerate(zip(lines, ranks)):
        out.append(line)
        if rank and "shm:" not in line:
            sums[rank[1]] = zlib.crc32(line.encode(), sums.get(rank[1], 0))
        if rank and (at + 1 == len(lines) or ranks[at + 1][1] != rank[1]):
            out.append("[starpu_comm_stats][%s] checksum: %08x, rank %s of 4\n" % (rank[1], sums[rank[1]], rank[1]))
    return "".join(out).encode()


def change_sealed_trace(data, chance):
    """Damage that the checksums do not show: what a bad writer would write."""
    changed = change_bytes(data, chance)
    return sealed_trace(changed) if len(changed) >= 8192 + tracefile.BLOCK.size + tracefile.END.size else changed


def kinds():
    """(path, reader, good file, change, whether a changed one may be another file) of each kind."""
    for path, reader, text in (("run.csv", statistics, STATISTICS), ("trace.txt", durations, TRACE_TEXT), ("journal", journal, JOURNAL)):
        yield path, reader, by_hand(text).encode(), change_text, True
        yield path, reader, sealed(text.encode()), change_text, False
    yield "run.txt", statistics, PRINTED.encode(), change_text, True   # of StarPU, or an older version
    yield "run.txt", statistics, sealed_printed(PRINTED), change_text, False
    yield "run.paje", paje, PAJE.encode(), change_text, True   # a format of others
    yield "trace", trace, binary(), change_sealed_trace, True
    yield "trace", trace, binary(), change_bytes, False
    for suffix in ("config", "bandwidth", "latency", "costs"):
        yield "bus/h200x8." + suffix, machine, good_file("h200x8." + suffix), change_text, True
        yield "bus/h200x8." + suffix, machine, sealed(good_file("h200x8." + suffix)), change_text, False


def long_lines(good):
    """Each of the lines gets very long, in some ways; the first one longer, by which memory is judged."""
    lines = good.split(b"\n")
    for part in b"9", b"x", b" ", b"[", b",", b"= ", b"# ":
        for at in range(min(len(lines), 4)):
            many = part * ((200000 if at else 1000000) // len(part))
            for line in many, lines[at] + many, many + lines[at], b"# " + many, lines[at].replace(b" ", b" " + many, 1):
                yield b"\n".join(lines[:at] + [line] + lines[at + 1:])


# ---- the search ----

def put(path, data):
    with open(path, "wb") as file:
        file.write(data)


ONLY_OURS = "run.csv", "trace.txt", "journal"   # texts that no other program writes
NAMES = "refused", "the same", "doubted", "by hand", "others"   # what readers made of the files
CHECKSUM = re.compile(rb"^# checksum |\] checksum: ", re.M)


def rounded(result):
    """What is printed with six decimals is not known better than that."""
    return re.sub(r"(?<!\d)\d+\.\d{5,}", lambda number: "%.5g" % float(number[0]), result)


def read_one(path, reader, good, whole, data):
    """Which of NAMES."""
    said = sys.stderr = Text()
    try:
        result = repr(reader(path))
        if result == good or rounded(result) == rounded(good):
            return 1
        if said.parts and any(said.parts):
            return 2   # and says what is missing
        return 3 if not CHECKSUM.search(data) and CHECKSUM.search(whole) else 4
    except UserError as error:
        text = str(error)
        assert os.path.basename(path).split(".")[0] in text and PLACE.search(text), text
        return 0
    finally:
        sys.stderr = sys.__stderr__


def batch(path, reader, files, good, whole, report):
    """In a process of its own."""
    counts = [0] * len(NAMES)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))  # nothing is read for a size that only the file says
    for data in files:
        put(path, data)
        signal.alarm(LONGEST_S)
        which = read_one(path, reader, good, whole, data)
        counts[which] += 1
        if which == 4 and not os.path.exists(path + ".other"):
            shutil.copy(path, path + ".other")
    signal.alarm(0)
    os.write(report, struct.pack("=%dI" % len(NAMES), *counts))


def run_batch(path, reader, files, good, whole):
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            batch(path, reader, files, good, whole, write_end)
            status = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as stream:
        report = stream.read()
    _, status, used = os.wait4(child, 0)
    if status or used.ru_maxrss > MOST_KIB:
        shutil.copy(path, "hostile.crash")
        sys.exit("%s: the reader ended with status %d and %d KiB" % (path, status, used.ru_maxrss))
    return struct.unpack("=%dI" % len(NAMES), report)


def search(path, reader, good, changed, free, chance):
    begin, counts = time.monotonic(), [0] * len(NAMES)
    put(path, good)
    result = repr(reader(path))
    if changed is change_text:
        run_batch(path, reader, long_lines(good), result, good)
    for first in range(0, changes, BATCH):
        files = [changed(good, chance) for _ in range(min(BATCH, changes - first))]
        counts = [a + b for a, b in zip(counts, run_batch(path, reader, files, result, good))]
    put(path, good)
    print("%s%s: %d files in %.0f s: %s" % (path, ", as by hand" if free else "", changes, time.monotonic() - begin,
                                          ", ".join("%d %s" % pair for pair in zip(counts, NAMES))))
    assert 0 < counts[0] < changes
    if free and counts[4]:
        os.unlink(path + ".other")
    if not free and path in ONLY_OURS:
        assert not counts[3], "%d texts without a checksum were read" % counts[3]
    if not free and counts[4]:
        sys.exit("%s: %d changed files gave another result without a word; see %s.other" % (path, counts[4], path))


shutil.copytree(os.path.join(source, "platforms", "machines", "h200x8", "bus"), "bus")
for name in os.listdir("bus"):
    os.chmod(os.path.join("bus", name), 0o644)
for kind in kinds():
    if not chosen or kind[0] in chosen:
        search(*kind, random.Random(1))
        sys.stdout.flush()
