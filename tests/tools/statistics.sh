# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The file of --statistics has the fields that the manual lists, and no others, in both worlds, and its
# numbers are those that the run prints.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
ring=$ORR_TEST_BUILDDIR/examples/ring/ring
devices=$ORR_TEST_BUILDDIR/tests/data/evict_order
manual=$ORR_TEST_SRCDIR/doc/statistics.md
verify() { "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/statistics_file.py" "$manual" "$@" || { cat err; die "statistics_file.py $*"; }; }
export STARPU_WORKER_STATS=1 STARPU_BUS_STATS=1 STARPU_MEMORY_STATS=1 STARPU_MPI_STATS=1 STARPU_PROFILING=1
export STARPU_WORKER_STATS_FILE=workers STARPU_BUS_STATS_FILE=buses

# of NAME RANKS COMMAND...: the file NAME.jsonl of the run is what the run printed.
of() {
	name=$1 ranks=$2
	shift 2
	rm -f workers* buses*
	ok "$@"
	verify "$name.jsonl" err "$ranks"
}

if [ "$ORR_TEST_SIM" = yes ]; then
	of sim 4 "$ORRERY" sim -n 4 --statistics sim.jsonl "$ring.sim"
	mv sim.jsonl first
	of sim 4 "$ORRERY" sim -n 4 --statistics sim.jsonl "$ring.sim"
	sed 1d first > a
	sed 1d sim.jsonl | cmp - a || die "two simulations of one command have unlike statistics"
	of devices 1 env STARPU_NCPU=1 ORRERY_FAKE_DEVICES=1 STARPU_LIMIT_CUDA_MEM=4 STARPU_MINIMUM_CLEAN_BUFFERS=0 "$ORRERY" sim --statistics devices.jsonl "$devices.sim"
	has devices.jsonl '"what": "bus"'
	has devices.jsonl '"evictions": [1-9]'
	# Energy, of workers and of the machine.
	mkdir -p m/bus
	printf '4 # Number of CPUs\n' > m/bus/box.config
	printf 'idle 20 W\ncpu 10 W\n' > m/bus/box.power
	of energy 2 "$ORRERY" sim -n 2 --kernels run --machine box --machine-path "$PWD/m" --statistics energy.jsonl "$ring.sim"
	has energy.jsonl '"what": "process".*"energy_j": [0-9.]*[1-9]'
	# A mistake would be found.
	sed '/"what": "worker"/s/"tasks": [0-9]*/"tasks": 12345/' sim.jsonl > wrong
	rm -f workers* buses*
	ok "$ORRERY" sim -n 4 --statistics sim.jsonl "$ring.sim"
	"$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/statistics_file.py" "$manual" wrong err 4 > said && die "wrong numbers are accepted"
	has said 'worker'
	sed 's/"foreign_s"/"fremd_s"/' sim.jsonl > wrong
	"$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/statistics_file.py" "$manual" wrong err 4 > said && die "another field is accepted"
	has said 'foreign_s'
fi
of plain 1 env ORRERY_STATISTICS=plain.jsonl STARPU_NCPU=1 ORRERY_FAKE_DEVICES=1 STARPU_LIMIT_CUDA_MEM=4 STARPU_MINIMUM_CLEAN_BUFFERS=0 STARPU_IDLE_POWER=80 "$devices"
has plain.jsonl '"energy_j": [1-9]'
if [ "$ORR_TEST_MPI" = yes ]; then
	of real 2 "$ORRERY" run -n 2 --oversubscribe --statistics real.jsonl "$ring"
	# Without `orrery run', a file of an older run does not stay.
	of real 2 env ORRERY_STATISTICS="$PWD/real.jsonl" $("$ORRERY" run --show -n 2 --oversubscribe "$ring" | grep -v "^#")
fi
exit 0
