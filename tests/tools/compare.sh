# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A run says what it was: the summary, the report, the statistics and the trace, in both worlds; and
# `orrery compare` prints where two runs differ, and only that.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
ring=$ORR_TEST_BUILDDIR/examples/ring/ring
one=$ORR_TEST_BUILDDIR/examples/vector_scal/vector_scal
plain=$ORR_TEST_BUILDDIR/examples/ring_mpi/ring_mpi

# says REPORT EXPRESSION: the expression of r, the report, is true.
says() {
	"$PYTHON" -c 'import json, sys; r = json.load(open(sys.argv[1])); sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" \
		|| { cat "$1"; die "$1: not so: $2"; }
}

if [ "$ORR_TEST_SIM" = yes ]; then
	ok env STARPU_SCHED=dmda STARPU_PROFILING=1 ORRERY_TRACE=trace "$ORRERY" sim -n 2 --seed 7 --cost-submit 1.25 \
		--network maxmin --report a.json --stats a.csv "$ring.sim"
	has err '^orrery sim: machine .*cores a node.*, platform default, network maxmin \(12.50 GB/s, 1 us\), seed 7, Orrery [0-9.]+, SimGrid [34]\.[0-9]+$'
	says a.json 'r["run"]["world"] == "simulated" and r["run"]["seed"] == "7" and r["run"]["costs"].startswith("submit 1.25, ")'
	says a.json 'r["run"]["network"] == "maxmin, 12.5 GB/s and 1 us between nodes 0 and 1" and r["run"]["platform"] == "default cluster"'
	says a.json 'r["run"]["environment"] == "STARPU_PROFILING=1 STARPU_SCHED=dmda" and r["run"]["machine"] == r["machine"]'
	says a.json 'r["run"]["command"].startswith("orrery sim -n 2 --seed 7 --cost-submit 1.25 --network maxmin ")'
	says a.json '{"version", "simgrid", "cores", "collectives", "kernels"} <= set(r["run"]) and r["workers"] == 2 * r["cpus_per_node"]'
	# The kinds of time add up to the time of the workers, from the start of the runtime to its end.
	says a.json '0 < sum(r["worker_times_s"].values()) <= r["makespan_s"] * r["workers"] * 1.001'
	for line in 'world: simulated' 'seed: 7' 'network: maxmin, ' 'costs: submit 1.25, ' 'command: orrery sim -n 2 '; do
		has a.csv "^# $line"
	done
	ok "$ORRERY" trace trace
	has out '^platform +default cluster'
	has out '^command +orrery sim -n 2 --seed 7'
	ok "$ORRERY" sim -n 2 --quiet --report b.json "$ring.sim"
	[ ! -s err ] || { cat err; die "--quiet, and not quiet"; }
	fails 2 '--report /proc/x.json: no file can be made there' "$ORRERY" sim -n 2 --report /proc/x.json "$ring.sim"
	if grep -q 'token' out; then die "it ran before it looked whether the report can be written"; fi
	says b.json '"worker_times_s" not in r and "environment" not in r["run"]'
	ok "$ORRERY" compare a.json b.json
	has out '^  seed$'
	has out '^  environment$'
	has out '^  the same in both: .*platform'
	grep -q '^  platform$' out && die "the platform is the same"
	has out '^  kernels  *[0-9.]+ +not measured$'
	ok "$ORRERY" compare b.json b.json
	has out '^Both take the same time$'
	has out '^What they did: the same$'
	# The same command writes the same, but for time and memory.
	ok "$ORRERY" sim -n 2 --quiet --report b.json "$ring.sim"
	grep -v 'wall_s\|peak_rss' b.json > b1
	ok "$ORRERY" sim -n 2 --quiet --report b.json "$ring.sim"
	grep -v 'wall_s\|peak_rss' b.json | cmp - b1 || die "two reports of one command differ"
	ok "$ORRERY" compare --json a.json b.json
	"$PYTHON" -c 'import json, sys; f = json.load(open("out")); assert f["worlds"] == ["simulated", "simulated"] and f["run"], f' || die "--json"
fi

if [ "$ORR_TEST_MPI" = yes ]; then
	real() { "$ORRERY" run -n 2 --oversubscribe "$@"; }
	ok env STARPU_PROFILING=1 "$ORRERY" run -n 2 --oversubscribe --report r.json --stats r.csv "$ring"
	has err '^orrery run: 2 ranks, [0-9.]+ s, [1-9][0-9]* tasks, [1-9][0-9]* messages, [0-9.]+ [kM]?B; took [0-9.]+ s and [0-9.]+ MB$'
	has err '^orrery run: machine .* \([0-9]+ workers? a rank\), (Open MPI v|MPICH )[0-9.]+, transports auto, Orrery [0-9.]+$'
	says r.json 'r["nodes"] == 2 and r["tasks"] > 0 and r["messages"] > 0 and r["bytes"] > 0 and r["status"] == 0'
	says r.json 'r["run"]["world"] == "real" and r["run"]["network"].startswith(("Open MPI", "MPICH")) and r["run"]["command"].startswith("orrery run -n 2 --oversubscribe ")'
	says r.json '0 < sum(r["worker_times_s"].values()) <= 1.05 * r["makespan_s"] * r["workers"]'
	has r.csv '^# world: real$'
	has r.csv '^# command: orrery run -n 2 '
	ok real --quiet "$ring"
	if grep -q 'orrery run:' err; then cat err; die "--quiet, and not quiet"; fi
	ok "$ORRERY" run --report one.json "$one"
	says one.json 'r["nodes"] == 1 and r["tasks"] > 0 and r["messages"] == 0'
	has err '^orrery run: 1 rank, '
	# For how long it waited for cores is measured, and told where it is much.
	core=$("$PYTHON" -c 'import os; print(min(os.sched_getaffinity(0)))')
	ok taskset -c "$core" env STARPU_NCPU=3 "$ORRERY" run --quiet --report full.json "$one"
	[ ! -e /proc/self/schedstat ] || says full.json '0 < r["waited_for_cores_s"]'
	for share in 0 0.5; do
		"$PYTHON" -c 'import json, sys; r = json.load(open("full.json")); r["waited_for_cores_s"] = float(sys.argv[1]) * r["makespan_s"] * r["workers"]; json.dump(r, open("waited.json", "w"))' $share
		ok "$ORRERY" compare one.json waited.json
		grep '^B had to wait for cores' out > waits.$share
	done
	[ ! -s waits.0 ] || die "it waited for nothing: $(cat waits.0)"
	has waits.0.5 ': its threads for [0-9.]+ s in all, as much as 50 % of the time'
	# The same program, the same work: tasks, messages and bytes of the two worlds.
	if [ "$ORR_TEST_SIM" = yes ]; then
		ok "$ORRERY" compare b.json r.json
		has out '^A .*b.json: a simulated run$'
		has out '^B .*r.json: a real run$'
		has out '^  world$'
		sed -i '/^Where the time/,$d' out
		if grep -E -q '^  (tasks|messages|bytes|logical_messages|logical_bytes) ' out; then cat out; die "the worlds count otherwise"; fi
		if grep -E -q '^  (wall_s|peak_rss_bytes|stacks) ' out; then cat out; die "sizes of a simulator and of a process are compared"; fi
		# Tasks of the runtime's own, as those that combine contributions, count in neither.
		redux=$ORR_TEST_BUILDDIR/examples/reductions/reductions
		ok "$ORRERY" sim --quiet --report b.json "$redux.sim"
		ok "$ORRERY" run --quiet --report r.json "$redux"
		ok "$ORRERY" compare b.json r.json
		if grep -E -q '^  tasks ' out; then cat out; die "the worlds count the tasks of reductions otherwise"; fi
	fi
	# More ranks than cores, which nobody has asked for.
	crowd='^orrery run: warning: [0-9]+ ranks on [0-9]+ cores? share .*--oversubscribe says that this is meant'
	ok taskset -c "$core" "$ORRERY" run -n 2 "$ring"
	has err "$crowd"
	for option in --oversubscribe --quiet; do
		ok taskset -c "$core" "$ORRERY" run -n 2 $option "$ring"
		if grep -E -q "$crowd" err; then cat err; die "a warning with $option"; fi
	done
	# A report that nobody writes, and places where none can be.
	echo 'an older report' > none.json
	fails 1 'none.json: nobody has written it, because the program did not start the runtime' real --report none.json "$plain"
	[ ! -s none.json ] || die "the older report is there"
	fails 2 '--report /nowhere/x: the directory /nowhere does not exist' real --report /nowhere/x "$ring"
	fails 1 "ORRERY_REPORT: '/dev/full' cannot be written: No space left on device" real --report /dev/full "$ring"
	fails 2 '--report is about runs with a fixed number' real --elastic --report x.json "$ring"
fi

# A real run's cores are its share of the computer, a simulated one's those of a node: what both mean alike is compared.
about='{"makespan_s": 1, "cpus_per_node": 2, "run": {"world": "%s", "cores": "%s"}}\n'
# shellcheck disable=SC2059
{ printf "$about" simulated 2 > one.json; printf "$about" real 1 > two.json; printf "$about" real 2 > three.json; }
ok "$ORRERY" compare one.json two.json
if grep -q cores out; then cat out; die "cores that mean different things are compared"; fi
ok "$ORRERY" compare two.json three.json
has out '^  cores$'

fails 1 'absent.json: No such file' "$ORRERY" compare absent.json absent.json
printf '{"nodes": 1}\n' > some.json
fails 1 'some.json is no report: it lacks makespan_s' "$ORRERY" compare some.json some.json
printf 'x\n' > not.json
fails 1 'not.json is no report' "$ORRERY" compare not.json not.json
printf '{"runs": [], "makespan_s": {}}\n' > many.json
fails 1 'many.json is about several runs' "$ORRERY" compare many.json many.json
fails 2 'two reports' "$ORRERY" compare not.json
