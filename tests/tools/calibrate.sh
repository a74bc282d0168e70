# SPDX-License-Identifier: LGPL-2.1-or-later
# orr-test: timeout 600
#
# `orrery calibrate`: what it writes is read by the library and by the simulator,
# whose virtual time follows the measured costs; the network that it fits times
# messages in the simulation like those that were measured.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

# suffixes FOLDER/NAME: all files of a machine were written and named.
suffixes() {
	for suffix in config bandwidth latency affinity costs memory; do
		[ -s "$1.$suffix" ] || die "$1.$suffix is missing"
		has out "^$1.$suffix$"
	done
}

# logged WORDS...: the command, and what it starts with mpirun is in the file `started`.
cat > logged << 'END'
#!/bin/sh
case $1 in --version | -V) ;; *) echo "$*" >> "$LOG" ;; esac
exec "$MPIRUN" "$@"
END
chmod +x logged
launcher=${ORRERY_MPIRUN:-$(sed -n 's/^MPIEXEC = //p' "$ORR_TEST_BUILDDIR/Makefile")}
logged() {
	: > started
	env LOG="$PWD/started" MPIRUN="${launcher:-mpirun}" ${launcher:+ORRERY_MPIRUN="$PWD/logged"} "$@"
}

# Programs of the real world find what was measured without an option. As many processes measure as anybody would have, and as often;
# but what is told 15 rounds goes two, as all that comes later is measured a few times: it is about other things than how certain
# numbers are.
cat > usual.py <<'END'
import runpy
import sys
sys.path.insert(0, sys.argv[1])
import orrery_calibrate as calibrate
measure = calibrate.run
def fewer(context, words, *more):
    with open("started", "a") as started:
        started.write(" ".join(words) + "\n")
    return measure(context, words[:-1] + ["2" if words[-1] == "15" else words[-1]], *more)
calibrate.run = fewer
sys.argv = [sys.argv[2], "calibrate"]
runpy.run_path(sys.argv[0], run_name="__main__")
END
STARPU_NCPU=1 ORRERY_FAKE_DEVICES=2 ok "$PYTHON" -B usual.py "$ORR_TEST_SRCDIR/tools" "$ORRERY"
told=$(sed -n 's/.*orrery-calibrate-//p' started | sort | uniq -c | tr -s ' \n' ' ')
if [ "$ORR_TEST_MPI" = yes ]; then
	[ "$told" = ' 1 mpi foreign 15 5 mpi interrupt 15 3 mpi message 15 1 node 15 ' ] || die "other processes and rounds than usual: $told"
else
	[ "$told" = ' 1 node 15 ' ] || die "other rounds than usual: $told"
fi
if grep 'alone' err; then die "a rank that plays alone speaks of itself"; fi
PYTHONPATH=$ORR_TEST_SRCDIR/tools "$PYTHON" -B - <<'END' || die "results on a loaded machine are not said to be uncertain"
from orrery_calibrate import doubts, note_of
assert doubts((0.9, 2), {"message_us": [0.45, 0.5, 0.7]}) == ""
assert doubts((1.5, 2), {}) == "the load average was 1.5 on 2 cores"
why = doubts((0.1, 2), {"message_us": [36.8, 0.45, 14.0]})
assert why == "message_us was 0.45, 14, 36.8 us in 3 measurements", why
assert note_of("", why).endswith("; uncertain: " + why) and "uncertain" not in note_of("", "")
END
found=$(sed -n 's/^\(.*\)\.config$/\1/p' out)
suffixes "$found"
STARPU_NCPU=1 ok "$ORRERY" machine
if grep -q 'never measured' out; then cat out; die "the default place is not where programs look"; fi
mkdir -p place/bus
for f in "$found".*; do cp "$f" "place/bus/box.${f##*.}"; done
has place/bus/box.config '^2 # Number of CUDA devices$'
for cost in submit_us access_us sched_us complete_us datum_us reload_us reload_large_us wake_us turn_us buffer_us; do has place/bus/box.costs "^$cost [0-9.]+$"; done
"$PYTHON" - place/bus/box.bandwidth <<'END' || die "the bandwidths are not believable"
import sys
rows = [[float(w) for w in line.split()] for line in open(sys.argv[1]) if line[0] != "#"]
assert len(rows) == len(rows[0]) == 32
assert all(rows[i][j] > 10 for i in range(3) for j in range(3) if i != j), rows[:3]
END
for line in 'alloc [0-9.]+ us' 'pin [0-9.]+ us' '# pageable memory, node 0 to 1: [0-9]+ MB/s'; do has place/bus/box.memory "^$line$"; done
ok "$ORRERY" machine place/box
has out '^2 CUDA workers$'
has out '^	alloc [0-9.]+ us$'
has out '^	# an empty kernel takes [0-9.]+ us; '

# Devices that drivers drive: those of the stub of the CUDA runtime, and PoCL's where it is installed.
stub=$ORR_TEST_BUILDDIR/tests/lib/cudart/.libs/libcudart.so
[ "$ORR_TEST_CUDA" = yes ] || stub=
logged env ${stub:+ORRERY_CUDART="$stub"} ORR_CUDART_DEVICES=2 ORR_CUDART_MEMORY=256 STARPU_OPENCL_ON_CPUS=1 STARPU_NCPU=1 \
	"$ORRERY" calibrate -o place --name big --cpus 12 --rounds 2 > out || die "devices cannot be measured"
suffixes place/bus/big
has place/bus/big.costs '^# Microseconds .* by `orrery calibrate --rounds 2` on '
if grep 'rounds' place/bus/box.costs; then die "rounds that nobody asked for"; fi
if [ "$ORR_TEST_MPI" = yes ]; then
	[ "$(sed -n 's/.*orrery-calibrate-mpi //p' started | sort | tr '\n' ' ')" = 'interrupt 2 message 2 ' ] || die "not two rounds: $(cat started)"
fi
has place/bus/big.config '^12 # Number of CPUs$'
if [ -n "$stub" ]; then
	for line in 'cuda0 [0-9]+ MiB' 'cuda1 [0-9]+ MiB' 'alloc [0-9.]+ us' 'pin [0-9.]+ us' '# an empty kernel takes [1-9][0-9.]* us; .*' '# pageable memory, node 2 to 0: [0-9]+ MB/s'; do has place/bus/big.memory "^$line$"; done
fi
if grep -q '^[1-9].* OpenCL devices$' place/bus/big.config; then
	has place/bus/big.memory '^opencl0 [0-9]+ MiB$'
	# The system finds 1,024 pages for a buffer.
	awk '/^# the first use/ { us = $12 } END { exit !(us > 20) }' place/bus/big.memory || die "the first use of a buffer costs nothing: $(cat place/bus/big.memory)"
fi

fails 2 'unknown option --what' "$ORRERY" calibrate --what
fails 2 '--name a/b: letters' "$ORRERY" calibrate --name a/b
fails 2 '--cpus 0: expected a whole number' "$ORRERY" calibrate --cpus 0
fails 2 '--rounds 0: expected a whole number, from 1 to 20' "$ORRERY" calibrate --rounds 0
fails 2 'it takes a number of rounds, 1 to 20' "$ORR_TEST_BUILDDIR/orrery-calibrate-node" 21
fails 2 '-n only goes with --network' "$ORRERY" calibrate -n 4
fails 2 '--cpus does not go with --network' "$ORRERY" calibrate --network --cpus 4
fails 2 '-o needs a value' "$ORRERY" calibrate -o
: > file
fails 1 'file' "$ORRERY" calibrate -o file --name box

if [ "$ORR_TEST_SIM" = yes ]; then
	program=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
	# Costs that were measured on a busy machine are named.
	mkdir -p busy/bus
	cp "$ORR_TEST_SRCDIR"/platforms/machines/quickstart/bus/* busy/bus/
	doubt="orrery sim: the costs of the runtime of machine busy/quickstart are uncertain .the load average was 9.0 on 2 cores.; calibrate again on a quiet machine: orrery calibrate -o busy --name quickstart"
	ok "$ORRERY" sim --kernels skip --machine busy/quickstart "$program" -nt 2 -b 64
	if grep -q uncertain err; then cat err; die "costs that are certain"; fi
	sed -i 's/^\(# Microseconds .*\)/\1; uncertain: the load average was 9.0 on 2 cores/' busy/bus/quickstart.costs
	has busy/bus/quickstart.costs uncertain
	ok "$ORRERY" sim --kernels skip --machine busy/quickstart "$program" -nt 2 -b 64
	has err "^$doubt$"
	ok "$ORRERY" sim --quiet --kernels skip --machine busy/quickstart "$program" -nt 2 -b 64
	if grep -q uncertain err; then cat err; die "--quiet, and not quiet"; fi
	virtual() { ok "$ORRERY" sim --kernels skip --report r.json --machine place/slow "$@" "$program" -nt 6 -b 64; sed -n 's/.*makespan_s": *\([0-9.]*\).*/\1/p' r.json; }
	for f in place/bus/big.*; do cp $f place/bus/slow.${f##*.}; done
	slow=$(printf 'submit_us 500\n' > place/bus/slow.costs; virtual)
	fast=$(printf 'submit_us 0\n' > place/bus/slow.costs; virtual)
	given=$(printf 'submit_us 500\n' > place/bus/slow.costs; virtual --cost-submit 0)
	left=$(printf 'submit_us 500\n' > place/bus/slow.costs; STARPU_SIMGRID_TASK_SUBMIT_COST=0 virtual --cost-foreign 0)
	option=$(printf 'submit_us 0\n' > place/bus/slow.costs; STARPU_SIMGRID_TASK_SUBMIT_COST=0 virtual --cost-submit 500)
	"$PYTHON" -c "import sys; s, f, g, l, o = map(float, sys.argv[1:]); assert s > f + 0.02 and abs(g - f) < 1e-4 and abs(l - f) < 1e-4 and abs(o - s) < 1e-4, (s, f, g, l, o)" \
		$slow $fast $given $left $option || die "virtual times $slow (500 us a task), $fast (0), $given (0 by option), $left (left out), $option (500 by option)"
fi

[ "$ORR_TEST_MPI" = yes ] || exit 0
for cost in foreign_us message_us interrupt_us look_us; do has place/bus/box.costs "^$cost [0-9.]+$"; done
fails 2 'it takes one of' "$ORR_TEST_BUILDDIR/orrery-calibrate-mpi" everything
fails 2 'foreign: 21 rounds; it takes 1 to 20' "$ORR_TEST_BUILDDIR/orrery-calibrate-mpi" foreign 21
fails 2 'it takes 2' "$ORRERY" run -n 1 "$ORR_TEST_BUILDDIR/orrery-calibrate-mpi" network
ok "$ORRERY" calibrate --network -o place --name net -n 3 --rounds 3
has out '^place/net.xml$'
has err 'set in their environment: ORRERY_MPI_LATENCY=[0-9]+ ORRERY_MPI_BANDWIDTH=[0-9]+$'
has place/net.xml 'radical="0-2"'
fails 2 '--shared only goes with --network' "$ORRERY" calibrate --shared
# Ten programs with the runtime: too long under sanitizers.
[ "$ORR_TEST_SANITIZER" = no ] || exit 0
# All of its phases have the options for mpirun.
ok logged "$ORRERY" calibrate --network --shared -o place --name shared -n 2 --rounds 3 --mpirun "-wdir $PWD"
[ "$(grep -c '' started)" -gt 1 ] || die "one phase only: $(cat started)"
if grep -v -e "-wdir $PWD" started; then die "a phase without the options of --mpirun"; fi
has err "place/shared.xml is for .orrery sim -n 2. only: .* one file per number of ranks"
for property in cores copy_us touch_us; do has place/shared.xml "<prop id=\"$property\" value=\"[0-9.e+]+\" />"; done
[ "$ORR_TEST_SIM" = yes ] || exit 0
ok "$ORRERY" cc --sim -o net.sim "$ORR_TEST_SRCDIR/tools/calibrate_mpi.c"
ok "$ORRERY" sim -n 2 --platform place/net.xml ./net.sim network
grep '^net ' out > simulated
"$PYTHON" - simulated place/net.xml <<'END' || die "simulated messages do not take what the platform file says"
import re
import sys
text = open(sys.argv[2]).read()
def factors(name):
    pairs = re.search('smpi/%s" value="([^"]*)"' % name, text).group(1).split(";")
    return [tuple(float(x) for x in p.split(":")) for p in pairs]
bw, lat = (float(re.search(r'\b%s="([-+.0-9e]+)' % k, text).group(1)) for k in ("bw", "lat"))
pick = lambda table, size: [f for s, f in table if s <= size][-1]
for line in open(sys.argv[1]):
    _, size, us = line.split()
    size = int(size)
    want = 1e6 * (2 * lat * pick(factors("lat-factor"), size) + size / (bw * pick(factors("bw-factor"), size)))
    assert 0.7 * want < float(us) < 1.4 * want + 0.2, (size, us, want)
END
