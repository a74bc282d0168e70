# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Readers of the tools on hostile files: statistics and traces in both forms, journals of elastic runs, files of machines. Thousands of changed inputs (the same ones every time)
# give a result of finite numbers or one message that names the file; platforms that are no platforms end in a message.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

cat > hostile.py << 'END'
import math
import os
import random
import resource
import shutil
import struct
import sys

source, changes = sys.argv[1], int(sys.argv[2])
sys.path.insert(0, os.path.join(source, "tools"))
import orrery_elastic as elastic
import orrery_machines as machines
import orrery_matrix as matrix
import orrery_profile as profile
import orrery_trace
import orrery_tracefile as tracefile
from orrery_cli import UserError

WORDS = ["", "0", "-1", "nan", "inf", "-inf", "1e308", "1e999", "99999999999999999999", "1048575", "1048576", "4294967296", "x", "#", ",", "0x10", "1_0",
         "\u0663", "\u00e9", "\x00", "\r", "TOTAL", "]", "1.5"]


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
    return text


def put(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(text)


def numbers(values):
    for value in values:
        assert math.isfinite(value) and value >= 0, value


def statistics(path):
    stats = matrix.read_stats(path)
    numbers(list(stats.volume.values()) + list(stats.bandwidth.values()) + list(stats.messages.values()))
    assert 0 <= stats.nodes <= matrix.LARGEST_NODE


def machine(path):
    folder, name = os.path.dirname(os.path.dirname(path)), os.path.basename(path).split(".")[0]
    units = machines.read_config(folder, name)
    n = 1 + units["CUDA"] + units["OpenCL"]
    numbers(units.values())
    for suffix in ("bandwidth", "latency"):
        rows = machines.read_matrix(folder, name, suffix, n)
        for i, row in enumerate(rows or []):
            numbers(v for j, v in enumerate(row) if i != j and not math.isnan(v))
    numbers(machines.read_costs(folder, name).values())


def journal(path):
    entries = elastic.read_journal(path)
    for made in elastic.changes(entries):
        numbers(made.get(step, 0) for step in elastic.STEPS)
    numbers(elastic.ends(entries))
    try:
        numbers(elastic.costs(entries).values())
    except UserError:
        pass  # too few changes are left


def durations(path):
    numbers(task[3] for task in profile.read(path))


def trace(path):
    durations(path)
    with open(os.devnull, "w") as out:
        for write in orrery_trace.write_text, orrery_trace.write_info:
            write(tracefile.Trace(path), {"from": None, "to": None, "ranks": None, "kinds": None}, out)


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
    start = tracefile.HEAD.pack(b"ORRTRACE", 1, 4096, 40, tracefile.CLOSED, 1, 0, 8192, 1, len(text), 0, b"key")
    return (start + text).ljust(4096, b"\0") + (head + data).ljust(4096, b"\0") + head


def change_bytes(data, chance):
    """Mostly where something stands: in the heads, and in the events."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.choice((chance.randrange(8, 131), 4096 + chance.randrange(900), 8192 + chance.randrange(64)))
        if at >= len(data):
            continue
        size = chance.choice((1, 1, 4, 8))
        value = chance.choice((0, 1, 255, chance.randrange(256), 1 << 31, 1 << 62, (1 << 64) - 1))
        data[at:at + size] = struct.pack("=Q", value)[:size]
        if not chance.randrange(8):
            del data[chance.randrange(len(data)):]
    return bytes(data)


def search_bytes(path, reader, good, chance):
    refused = 0
    for turn in range(changes + 1):
        with open(path, "wb") as file:
            file.write(change_bytes(good, chance) if turn else good)
        try:
            reader(path)
        except UserError as error:
            refused += 1
            assert turn and path in str(error), str(error)
        except Exception:
            shutil.copy(path, "hostile.crash")
            raise
    print("%s: %d of %d refused" % (path, refused, changes))
    assert 0 < refused < changes


def search(path, reader, chance):
    with open(path, encoding="utf-8") as file:
        good = file.read()
    reader(path)
    refused = 0
    for _ in range(changes):
        put(path, change(good, chance))
        try:
            reader(path)
        except UserError as error:
            refused += 1
            assert os.path.basename(path).split(".")[0] in str(error), (path, str(error))
        except Exception:
            shutil.copy(path, "hostile.crash")
            raise
    put(path, good)
    print("%s: %d of %d refused" % (path, refused, changes))
    assert 0 < refused < changes


chance = random.Random(1)
put("run.csv", "# orrery stats: nodes=4 makespan_s=0.5\nsrc,dst,bytes,messages,first_s,last_s\n0,1,100,2,0.0,0.1\n1,2,1000000,3,0.0,0.2\n3,0,7,1,0,0.4\n")
put("run.txt", "a line of the program\n[starpu_comm_stats][3] TOTAL:   476.000000 B    0.000454 MB      0.000098 B/s    0.000000 MB/s\n"
    "[starpu_comm_stats][3] shm: 2 payloads, 248 B, copied between ranks of this host\n"
    "[starpu_comm_stats][3:0]        248.000000 B    0.000237 MB      0.000051 B/s    0.000000 MB/s\n"
    "[starpu_comm_stats][1:2] 188.000000 B 0.000065 MB 0.000014 B/s 0.000000 MB/s 12 messages\n")
search("run.csv", statistics, chance)
search("run.txt", statistics, chance)
put("trace.txt", "# time_us rank worker event job name | peer tag bytes | from to bytes\n1.000 0 0 start 1 empty\n2.500 0 0 end 1 empty\n"
    "2.500 0 1 start 2 full\n2.750 1 0 start 2 empty\n3.000 0 1 end 2 full\n4.000 1 0 end 2 empty\n")
search("trace.txt", durations, chance)
put("journal", "0.000000 1 asks join x\n0.500000 1 asks query a\n0.600000 1 gets spawn 2\n0.900000 1 gets ok 5 b\n1.000000 1 asks set c\n"
    "1.100000 1 asks finalize d\n1.200000 1 asks psetop e\n1.300000 1 gets ok 6 f\n1.400000 1 asks join g\n1.500000 1 asks finalize h\n"
    "1.600000 2 gets ok 1 x\n1.700000 2 ends\n")
search("journal", journal, chance)
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))  # nothing is read for a size that only the file says
search_bytes("trace", trace, binary(), chance)
shutil.copytree(os.path.join(source, "platforms", "machines", "h200x8", "bus"), "bus")
for suffix in ("config", "bandwidth", "latency", "costs"):
    os.chmod("bus/h200x8." + suffix, 0o644)
    search("bus/h200x8." + suffix, machine, chance)
END
"$PYTHON" hostile.py "$ORR_TEST_SRCDIR" 3000 || die "a reader of the tools; see hostile.crash"
[ "$ORR_TEST_SIM" = yes ] || exit 0

# ---- platforms ----
program=$ORR_TEST_BUILDDIR/examples/ring/ring.sim
refused() {
	fails 1 "$1: SimGrid cannot use it: ." "$ORRERY" sim -n 2 --platform "$1" "$program"
	[ "$(wc -l < err)" -le 2 ] || die "more than one message: $1"
}
head='<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">'
"$ORRERY" platform -n 2 -o good.xml || die "orrery platform"
ok "$ORRERY" sim -n 2 --platform good.xml "$program"
: > empty.xml
refused empty.xml
head -c "$(($(wc -c < good.xml) / 2))" good.xml > cut.xml
refused cut.xml
head -c 3000 /dev/zero > zeros.xml
refused zeros.xml
echo 'src,dst,bytes' > foreign.xml
refused foreign.xml
echo "$head<zone id='z' routing='Full'><host id='a' speed='fast'/><host id='b' speed='1Gf'/></zone></platform>" > speed.xml
refused speed.xml
echo "$head<zone id='z' routing='Full'><host id='a' speed='1Gf'/><host id='a' speed='1Gf'/></zone></platform>" > twice.xml
refused twice.xml
echo "$head<zone id='z' routing='Nowhere'><host id='a' speed='1Gf'/><host id='b' speed='1Gf'/></zone></platform>" > routing.xml
refused routing.xml
for machine in no_such_machine ../../etc/passwd ''; do
	echo "$head<zone id='z' routing='Full'><host id='a' speed='1Gf'><prop id='machine' value='$machine'/></host><host id='b' speed='1Gf'/>
		<link id='l' bandwidth='1GBps' latency='1us'/><route src='a' dst='b'><link_ctn id='l'/></route></zone></platform>" > property.xml
	fails 1 "the host a has the machine $machine, which is unknown; there are:.* quickstart" "$ORRERY" sim -n 2 --platform property.xml "$program"
done
