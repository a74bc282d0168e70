# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Outputs that cannot be written are refused before the run, or fail it: traces, statistics, reports and
# models, in both worlds. Files of an older run do not stay as if they were of this one.
# orr-test: timeout 200
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
ring=$ORR_TEST_BUILDDIR/examples/ring/ring
one=$ORR_TEST_BUILDDIR/examples/vector_scal/vector_scal
sim=no
if [ "$ORR_TEST_SIM" = yes ]; then sim=yes; fi
# Root may write anywhere, so folders that are none and files that are folders stand for all reasons.
echo 'not a folder' > file
mkdir folder folder.0 folder.1

# refused REGEX ASSIGNMENT...: a run with these variables does not begin, in either world, with one rank and with two.
refused() {
	regex=$1
	shift
	before "$regex" env "$@" "$one"
	if [ $sim = yes ]; then
		before "$regex" env "$@" "$ORRERY" sim "$one.sim"
		before "$regex" env "$@" "$ORRERY" sim -n 2 "$ring.sim"
	fi
	if [ "$ORR_TEST_MPI" = yes ]; then
		before "$regex" env "$@" "$ORRERY" run -n 2 --oversubscribe "$ring"
	fi
}

# before REGEX COMMAND...: ends with an error of that text before any task.
before() {
	regex=$1
	shift
	"$@" > out 2> err < /dev/null
	got=$?
	[ $got != 0 ] || { cat err; die "status 0: $*"; }
	has err "$regex"
	if grep -E -q 'token|[1-9][0-9]* tasks' out err; then cat out err; die "the run began: $*"; fi
}

# unwritten REGEX COMMAND...: the run goes on to its end, then fails once.
unwritten() {
	regex=$1
	shift
	fails 1 "$regex" "$@"
	[ "$(grep -c -E "$regex" err)" = 1 ] || { cat err; die "not told once: $*"; }
}

for variable in ORRERY_TRACE ORRERY_STATISTICS STARPU_WORKER_STATS_FILE STARPU_BUS_STATS_FILE; do
	settings="STARPU_WORKER_STATS=1 STARPU_BUS_STATS=1"
	# The words are split on purpose.
	# shellcheck disable=SC2086
	{
		refused "error: $variable: the folder '/nowhere' cannot be written to: No such file" $settings $variable=/nowhere/x
		refused "error: $variable: .*file.* cannot be written.*: Not a directory" $settings $variable=file/x
		refused "error: $variable: 'folder(.[01])?' cannot be written: Is a directory" $settings $variable=folder
		if [ $variable = ORRERY_TRACE ]; then # on a disk that is full: trace.sh
			refused "error: $variable: '/dev/full' cannot be written: a trace must be a file on a disk" $settings $variable=/dev/full
			continue
		fi
		if [ $variable = ORRERY_STATISTICS ]; then # it has its first line at the start
			refused "error: $variable: '/dev/full' cannot be written: No space left on device; name another file" $settings $variable=/dev/full
			continue
		fi
		unwritten "$variable: '/dev/full' cannot be written: No space left on device; make room" env $settings $variable=/dev/full "$one"
		if [ $sim = yes ]; then
			unwritten "$variable: '/dev/full' cannot be written: No space left on device; make room" env $settings $variable=/dev/full "$ORRERY" sim "$one.sim"
		fi
	}
done
# Models: real runs write them.
before "error: STARPU_PERF_MODEL_DIR: 'file/models' cannot be written to: 'file(/models)?': Not a directory" \
	env STARPU_CALIBRATE=1 STARPU_PERF_MODEL_DIR=file/models "$one"
ok env STARPU_CALIBRATE=1 STARPU_PERF_MODEL_DIR=new/models "$one"

# Communication: rank 0 writes for all.
if [ "$ORR_TEST_MPI" = yes ]; then
	run="$ORRERY run -n 2 --oversubscribe"
	real() { "$ORRERY" run -n 2 --oversubscribe "$ring"; }
	fails 2 "--trace /nowhere/x: the directory /nowhere does not exist" "$ORRERY" run --trace /nowhere/x "$ring"
	for bad in /nowhere/x file/x folder; do
		export ORRERY_MPI_STATS_FILE=$bad
		before 'error: ORRERY_MPI_STATS_FILE: .* cannot be written' real
		[ "$(grep -c ORRERY_MPI_STATS_FILE err)" = 1 ] || { cat err; die "not told once"; }
	done
	export ORRERY_MPI_STATS_FILE=/dev/full
	unwritten "ORRERY_MPI_STATS_FILE: '/dev/full' cannot be written: No space left on device" real
	unset ORRERY_MPI_STATS_FILE
fi
if [ $sim = yes ]; then
	for option in --stats --report --trace; do
		fails 2 "$option folder is a directory" "$ORRERY" sim $option folder "$ring.sim"
		fails 2 "$option /nowhere/x: the directory /nowhere does not exist" "$ORRERY" sim $option /nowhere/x "$ring.sim"
		[ $option != --trace ] || continue
		unwritten 'writing /dev/full failed: No space left on device' "$ORRERY" sim -n 2 $option /dev/full "$ring.sim"
	done
fi

# The trace of an older run goes as soon as a run begins, even if that fails.
ok env ORRERY_TRACE=trace "$one"
ok "$ORRERY" trace trace
has out ' start '
before 'no scheduling policy' env ORRERY_TRACE=trace STARPU_SCHED=none-of-these "$one"
ok "$ORRERY" trace trace
if grep -q ' start ' out; then die "the older trace is there"; fi
if [ $sim = yes ]; then
	echo 'an older run' > table
	"$ORRERY" sim -n 2 --stats table --report table --cfg=no/such:1 "$ring.sim" > out 2> err && die "status 0"
	if grep -q older table; then die "the older table is there"; fi
fi
ok env ORRERY_TRACE=trace "$one"
ok "$ORRERY" trace trace
has out ' start '
