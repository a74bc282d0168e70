# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery matrix` and starpu_mpi_comm_matrix.py: files written for small, large,
# empty and one-valued runs in both input forms, with scale, unit and limits; malformed input is named.
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"$PYTHON" -c 'import matplotlib' 2> err || skip "no matplotlib"
tool="$PYTHON $ORR_TEST_SRCDIR/tools/starpu_mpi_comm_matrix.py"
header=src,dst,bytes,messages,first_s,last_s
full=$header,active_s,logical_bytes,logical_messages

# written PREFIX QUANTITY...: both files of each are there, printed and not empty.
written() {
	prefix=$1
	shift
	for quantity; do
		for suffix in pdf png; do
			grep -q "^$prefix"_$quantity.$suffix'$' out || die "$prefix"_$quantity.$suffix "was not printed"
			[ -s "$prefix"_$quantity.$suffix ] || die "$prefix"_$quantity.$suffix "is empty or missing"
		done
	done
	head -c 5 "$prefix"_$quantity.pdf | grep -q '%PDF-' || die "not a PDF file"
}

printf '# orrery stats: nodes=4 makespan_s=0.5\n# world: simulated\n# command: orrery sim nodes=9\n# checksum none\n%s\n0,1,100,2,0.0,0.1,0.05,300,6\n1,2,1000000,3,0.0,0.2,0.1,0,0\n3,0,7,1,0,0.4,0.1,7,1\n' $full > four.csv
ok "$ORRERY" matrix four.csv -o figures/new
written figures/new/four volume bandwidth messages
cp figures/new/four_volume.png before.png
ok "$ORRERY" matrix four.csv --only volume -o figures/new
cmp before.png figures/new/four_volume.png || die "the same statistics gave another picture"
has err "^orrery matrix: volume \(hops\): pairs differ by more than a factor of 100, .*--scale log shows them"
for suffix in png pdf; do # what the run was is in the files
	grep -a -q 'command: orrery sim nodes=9' figures/new/four_volume.$suffix || die "the $suffix does not say what the run was"
done
# Who needs whose data, and what went over which pair.
ok "$ORRERY" matrix four.csv --logical -o logical
written logical/four logical_volume logical_messages
[ ! -e logical/four_volume.png ] || die "--logical alone drew hops"
# One line says of which matrices that is so.
printf '# checksum none\n%s\n0,1,100,1,0,1,1,100,1\n1,2,1000000,999,0,1,1,1000000,999\n' $full > two.csv
ok "$ORRERY" matrix two.csv --hops --logical -o logical
has err '^orrery matrix: volume .hops., messages .hops., volume .logical., messages .logical.: pairs differ'
[ "$(grep -c differ err)" = 1 ] || { cat err; die "one warning several times"; }
cat > drawn.py << 'END'
# What is drawn: the tables, units and limits.
import contextlib
import io
import sys

sys.path.insert(0, sys.argv[1] + "/tools")
import orrery_heatmap as heatmap
import orrery_matrix as matrix

# Every one of these changes the picture.
before = open("before.png", "rb").read()
for option in "--scale=log", "--unit=KiB", "--limits=0:2MB", "--size=page", "--title=other", "--note=other":
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert matrix.main(None, ["four.csv", "--only", "volume", option, "-o", "other"]) == 0
    assert said.getvalue().split() == ["other/four_volume.pdf", "other/four_volume.png"], said.getvalue()
    assert open("other/four_volume.png", "rb").read() != before, "%s changes nothing" % option

stats = matrix.read_stats("four.csv")
assert stats.nodes == 4, "a comment about the command counts as one about nodes"
assert stats.bandwidth == {(0, 1): 2000.0, (1, 2): 1e7, (3, 0): 70.0}, stats.bandwidth
assert stats.logical_volume[0, 1] == 300 and stats.volume[0, 1] == 100
assert heatmap.unit_for("volume", 2e6, None) == (1e6, "MB") and heatmap.unit_for("bandwidth", 2e6, None) == (1e6, "MB/s")
assert heatmap.unit_for("bandwidth", 2e6, "MiB") == (1 << 20, "MiB/s")
request = matrix.Request(["four.csv", "--only", "volume", "--limits", "1kB:3MB", "--scale", "log"])
map4 = heatmap.Heatmap(4, request.settings(stats, "x"))
norm = map4.norm(map4.array(stats.volume, 1e6), 1e6)
assert (norm.vmin, norm.vmax) == (0.001, 3.0), (norm.vmin, norm.vmax)
# In a column, cells of 1,000 nodes are large enough to be seen, and none is lost.
map1000 = heatmap.Heatmap(1000, heatmap.Settings())
cells = map1000.array({(i, (i + 1) % 1000): 1000 + i for i in range(1000)}, 1)
assert 0.68 * 3.4 / map1000.cells >= 0.008 and cells.max() == 1999 and cells.count() >= map1000.cells
# A logarithmic bar has its ends.
pyplot = map4.matplotlib.pyplot
figure, axes = pyplot.subplots()
bar = figure.colorbar(axes.imshow(map4.array(stats.volume, 1e6), norm=norm), ax=axes)
map4.ends(bar, norm)
figure.canvas.draw()
labels = [label.get_text() for label in bar.ax.get_yticklabels()]
assert labels[0] == "0.001" and labels[-1] == "3" and "0.1" in labels, labels
END
ok "$PYTHON" drawn.py "$ORR_TEST_SRCDIR"
fails 2 '--limits is about one quantity' "$ORRERY" matrix four.csv --limits 1:2
fails 2 "the lower end is not below the upper one" "$ORRERY" matrix four.csv --only volume --limits 2MB:1MB
fails 2 "'2x' is no limit; write LOW:HIGH" "$ORRERY" matrix four.csv --only volume --limits 0:2x
fails 2 'a logarithmic scale does not begin at 0' "$ORRERY" matrix four.csv --only volume --scale log --limits 0:1MB
fails 2 '--unit XB: it takes one of' "$ORRERY" matrix four.csv --unit XB
fails 2 '--only speed: it takes one of volume, bandwidth, messages' "$ORRERY" matrix four.csv --only speed

"$PYTHON" -c 'print("# checksum none\n'$header'")
for i in range(1024):
    for d in (1, 32):
        print("%d,%d,%d,%d,0,1" % (i, (i + d) % 1024, 1000 * (i + 1), 3))' > large.csv
ok "$ORRERY" matrix large.csv --prefix=big
written ./big volume messages
has err 'large.csv has no bandwidth; that matrix is left out'
fails 1 'large.csv does not say who needs whose data; write statistics with --stats' "$ORRERY" matrix large.csv --logical

printf '# nodes=16 makespan_s=0\n# checksum none\n%s\n' $header > silent.csv
ok "$ORRERY" matrix silent.csv
written ./silent volume bandwidth messages
printf '# checksum none\n%s\n0,0,5,1,0,1\n' $header > one.csv
ok "$ORRERY" matrix - --prefix one < one.csv
written ./one volume messages

{
	echo 'a line of the program'
	echo '[starpu_comm_stats][3] TOTAL:   476.000000 B    0.000454 MB      0.000098 B/s    0.000000 MB/s'
	echo '[starpu_comm_stats][3:0]        248.000000 B    0.000237 MB      0.000051 B/s    0.000000 MB/s'
	echo '[starpu_comm_stats][3] shm: 2 payloads, 248 B, copied between ranks of this host'
	echo '[starpu_comm_stats][1] ucx: 3 messages, 188 B, sent to 1 of 3 ranks'
	echo '[1,2]<stdout>:[starpu_comm_stats][1:2] 188.000000 B 0.000065 MB 0.000014 B/s 0.000000 MB/s'
} > run.txt
ok $tool run.txt -o text
written text/run volume bandwidth
has err 'has no messages; that matrix is left out'
ok $tool four.csv -o text
written text/four volume bandwidth messages
ok "$ORRERY" matrix run.txt --only volume -o text2

# chain WORLD COMMAND...: from a run with STARPU_MPI_STATS=1 to pictures; the first one under both names of the command, and damaged.
first=yes
chain() {
	world=$1
	shift
	STARPU_MPI_STATS=1 "$@" > "$world.out" 2> "$world.txt" || { cat "$world.txt"; die "exit status $? of: $*"; }
	has "$world.txt" 'starpu_comm_stats.*TOTAL'
	ok "$ORRERY" matrix "$world.txt" -o chain
	written "chain/$world" volume bandwidth
	grep -q 'do not fit\|doubt\|missing' err && die "a whole text: $(cat err)"
	n=$(grep -c 'comm_stats.*checksum: ' "$world.txt")
	[ "$n" -ge 2 ] || die "$n ranks print a checksum, $world"
	[ $first = yes ] || return 0
	first=no
	ok $tool "$world.txt" -o chain2
	written "chain2/$world" volume bandwidth
	# Damage is found by the checksum that each rank prints, and so is what is missing.
	sed 's/^\(.*comm_stats.\[0:\)1\]/\12]/' "$world.txt" > other.txt
	fails 1 'other.txt:[0-9]+: the checksum of node 0 is [0-9a-f]{8}, and that of its lines [0-9a-f]{8}' "$ORRERY" matrix other.txt
	grep -v 'comm_stats.\[1[]:]' "$world.txt" > part.txt
	ok "$ORRERY" matrix part.txt --only volume -o part
	has err 'part.txt:1: there are lines of [0-9]+ of [0-9]+ nodes, and none of node 1'
	grep -v 'comm_stats.*checksum: ' "$world.txt" > plain.txt
	ok "$ORRERY" matrix plain.txt --only volume -o plain
	grep -q 'checksum' err && die "no checksum at all: $(cat err)"
	# A person who redirects standard output finds out where the table is.
	echo 'Hello, world' > stdout.txt
	fails 1 'stdout.txt:1: .*STARPU_MPI_STATS=1 prints is on standard error: keep it with .2> FILE' "$ORRERY" matrix stdout.txt
}
ring=$ORR_TEST_BUILDDIR/examples/ring/ring
if [ "$ORR_TEST_MPI" = yes ]; then
	for transport in shm mpi; do
		ORRERY_TRANSPORT=$transport chain $transport "$ORRERY" run -n 2 --oversubscribe "$ring"
	done
	grep -q 'shm: [0-9]* payloads' shm.txt || die "no line of the transport shm"
fi
if [ "$ORR_TEST_SIM" = yes ]; then chain sim "$ORRERY" sim -n 4 "$ring.sim"; fi

# A value that many ranks need goes along a tree: its owner is needed by all of them, and sends to a few.
cat > judge.py << 'END'
import csv
import sys

rows = list(csv.DictReader(line for line in open(sys.argv[1]) if not line.startswith("#")))
n, values = int(sys.argv[2]), int(sys.argv[3])
sums = {name: sum(int(row[name]) for row in rows) for name in ("messages", "bytes", "logical_messages", "logical_bytes")}
assert sums["messages"] == sums["logical_messages"] == values * (n - 1), sums
assert sums["bytes"] == sums["logical_bytes"], sums
needed = {(row["src"], row["dst"]) for row in rows if int(row["logical_messages"])}
went = {(row["src"], row["dst"]) for row in rows if int(row["messages"])}
assert needed == {("0", str(i)) for i in range(1, n)}, needed
assert went != needed, "no tree"
assert all(float(row["active_s"]) > 0 for row in rows if int(row["messages"])), rows
END
cat > broadcast.c << 'END'
#include <starpu_mpi.h>
static void nothing(void *buffers[], void *arg) { (void) buffers; (void) arg; }
static struct starpu_codelet set = { .cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_W }, .name = "set" };
static struct starpu_codelet use = { .cpu_funcs = { nothing }, .nbuffers = 2, .modes = { STARPU_R, STARPU_RW }, .name = "use" };
int main(int argc, char **argv)
{
	int size, rank;
	starpu_data_handle_t v, w[64];
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 1;
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_vector_data_register(&v, -1, 0, 250000, 4);
	starpu_mpi_data_register(v, 1000, 0);
	for (int i = 0; i < size; i++) {
		starpu_variable_data_register(&w[i], -1, 0, 4);
		starpu_mpi_data_register(w[i], i, i);
		starpu_mpi_task_insert(MPI_COMM_WORLD, &set, STARPU_W, w[i], 0);
	}
	for (int loop = 0; loop < 3; loop++) {
		starpu_mpi_task_insert(MPI_COMM_WORLD, &set, STARPU_W, v, 0);
		for (int i = 1; i < size; i++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &use, STARPU_R, v, STARPU_RW, w[i], 0);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(v);
	for (int i = 0; i < size; i++)
		starpu_data_unregister(w[i]);
	return starpu_mpi_shutdown() != 0;
}
END
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" cc --sim broadcast.c -o broadcast.sim
	ok "$ORRERY" sim -n 16 --stats tree.csv broadcast.sim
	ok "$PYTHON" judge.py tree.csv 16 3
	sed 's/^0,1,/0,2,/' tree.csv > changed.csv
	fails 1 'changed.csv:[0-9]+: the checksum is .*put one line .# checksum none. in place of its lines' "$ORRERY" matrix changed.csv
	sed 's/^# checksum at the end/# checksum none/; $d' changed.csv > hand.csv
	ok "$ORRERY" matrix hand.csv --only volume
	ok "$ORRERY" matrix tree.csv --logical --hops --scale log --size slide
	written ./tree volume bandwidth messages logical_volume logical_messages
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	ok "$ORRERY" cc broadcast.c -o broadcast
	ok env STARPU_NCPU=1 "$ORRERY" run -n 6 --stats real.csv --oversubscribe ./broadcast
	ok "$PYTHON" judge.py real.csv 6 3
fi

fails 1 'absent.csv: there is no such file' "$ORRERY" matrix absent.csv
printf '%s\n0,1,12,1,0,1\n0,x,12,1,0,1\n' $header > bad.csv
fails 1 "bad.csv:3: dst is 'x', not a number" "$ORRERY" matrix bad.csv
printf '%s\n0,1,12\n' $header > bad.csv
fails 1 'bad.csv:2: 3 fields, but the header has 6' "$ORRERY" matrix bad.csv
printf 'from,to\n0,1\n' > bad.csv
fails 1 'bad.csv:1: the header line lacks src, dst' "$ORRERY" matrix bad.csv
printf '%s\n0,1,-4,1,0,1\n' $header > bad.csv
fails 1 "bad.csv:2: bytes is '-4'" "$ORRERY" matrix bad.csv
printf '%s\n0,1,nan,1,0,1\n' $header > bad.csv
fails 1 "bad.csv:2: bytes is 'nan'" "$ORRERY" matrix bad.csv
printf '%s\n0,99999999999,4,1,0,1\n' $header > bad.csv
fails 1 'bad.csv:2: dst is 99999999999' "$ORRERY" matrix bad.csv
: > empty.csv
fails 1 'empty.csv:1: no header line' "$ORRERY" matrix empty.csv
head -c 4096 /dev/urandom > noise.csv
fails 1 'noise.csv:[0-9]+: ' "$ORRERY" matrix noise.csv
# Only Orrery writes such files: one that has lost its checksum is damaged, unless a line says that somebody changed it.
sed '/^# checksum/d' four.csv > lost.csv
fails 1 'lost.csv:1: it has no checksum: .* give it a line .# checksum none. near its begin' "$ORRERY" matrix lost.csv
printf '[starpu_comm_stats][3:0] lots\n' > bad.txt
fails 1 'bad.txt:1: not a line of communication' $tool bad.txt
fails 2 'no statistics given' "$ORRERY" matrix
printf '# checksum none\n%s\n0,1,4,1,0,1\n' $header > fine.csv
fails 2 '-o /proc/m: this folder cannot be made .*choose another place' "$ORRERY" matrix fine.csv -o /proc/m

# The largest number of a node takes no more memory than a small one: pairs share cells of the picture.
printf '# checksum none\n%s\n0,1048575,100,2,0.0,0.1\n' $header > large.csv
cat > measure.py <<'END'
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[1:], timeout=200, stdout=subprocess.DEVNULL).returncode
kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
sys.exit(status or ("it took %d KiB" % kib if kib > 200000 else 0))
END
ok "$PYTHON" measure.py "$ORRERY" matrix large.csv --only volume -o figures/large
[ -s figures/large/large_volume.png ] || die "there is no picture of the largest node"
exit 0
