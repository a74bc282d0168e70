# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Each variable of doc/environment.md that is a number or a switch: a value that cannot be read is refused, in
# one line that names it. A name that nothing reads is told with the nearest one.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/core/env_all
manual=$ORR_TEST_SRCDIR/doc/environment.md

# Names of the tables that have a meaning; of those that have none.
names() { grep -oE '`(STARPU|ORRERY|LB)_[A-Z0-9_]+(<i>_MEM)?`' | tr -d '`' | sed 's/<i>/3/' | sort -u; }
sed '/^## Variables without effect/,$d' "$manual" | grep '^|' |
	grep -vE '^\| `(STARPU_SIMGRID_[A-Z]|STARPU_MALLOC_SIM|ORRERY_DATADIR|ORRERY_SIM|ORRERY_DYN|ORRERY_CC|ORRERY_MPIRUN|ORRERY_ALLOW_RUN)' |
	cut -d'|' -f2 | names > all
[ "$(wc -l < all)" -gt 120 ] || die "the manual has too few variables: $(wc -l < all)"

# Texts: whatever they are, they can be read. What they name is looked for by others, and tested there.
cat > texts <<'LIST'
ORRERY_CHECKPOINT_DIR
ORRERY_CUDART
ORRERY_MPI_STATS_FILE
ORRERY_POWERCAP
ORRERY_REPORT
ORRERY_RUN
ORRERY_STATISTICS
ORRERY_TRACE
ORRERY_TRANSPORT
STARPU_BUS_STATS_FILE
STARPU_DISK_SWAP
STARPU_DISK_SWAP_BACKEND
STARPU_FXT_PREFIX
STARPU_FXT_SUFFIX
STARPU_GENERATE_TRACE_OPTIONS
STARPU_HOME
STARPU_HOSTNAME
STARPU_HWLOC_INPUT
STARPU_MPI_HOSTNAMES
STARPU_MPI_LB
STARPU_OPENCL_PROGRAM_DIR
STARPU_PERF_MODEL_DIR
STARPU_PERF_MODEL_PATH
STARPU_PROF_TOOL
STARPU_SCHED
STARPU_SCHED_LIB
STARPU_WORKERS_COREID
STARPU_WORKERS_CPUID
STARPU_WORKERS_CUDAID
STARPU_WORKERS_OPENCLID
STARPU_WORKER_STATS_FILE
LIST
comm -23 texts all | grep . && die "no such variables"
comm -13 texts all > numbers

# What the sources read in this way is in the tables by which the start refuses values.
grep -rhoE 'orr_config_long\("[A-Z0-9_]+"' "$ORR_TEST_SRCDIR/src" | cut -d'"' -f2 | sort -u > read
while read -r name; do
	grep -q "[{(] *\"$name\"," "$ORR_TEST_SRCDIR/src/base/config.c" || die "$name is read and in no table of config.c"
done < read

# every COMMAND...: refuses each of them.
every() {
	# The names are words.
	# shellcheck disable=SC2046
	ok "$@" $(cat numbers)
	grep -v '^refused ' out && die "a value that cannot be read was taken"
	[ "$(grep -c '^refused' out)" = "$(wc -l < numbers)" ] || die "not all were tried"
	while read -r name; do
		[ "$(grep -c "error: environment variable $name has the value \"banana\": it takes " err)" = 1 ] ||
			{ cat err; die "$name is not told once"; }
	done < numbers
}
every "$program"
if [ "$ORR_TEST_SIM" = yes ]; then
	every "$ORRERY" sim --quiet "$program.sim"
	for name in STARPU_SIMGRID_TRANSFER_COST STARPU_SIMGRID_CUDA_MALLOC_COST STARPU_SIMGRID_TASK_SUBMIT_COST \
		STARPU_SIMGRID_TASK_PUSH_COST STARPU_SIMGRID_FETCHING_INPUT_COST STARPU_MALLOC_SIMULATION_FOLD \
		ORR_SIM_COSTS ORR_SIM_WATCH ORR_SIM_WATCH_LOOKS; do
		fails 1 "$name" env $name=banana "$ORRERY" sim "$program.sim"
	done
fi

# Switches are read as such everywhere.
ok env STARPU_MPI_MEM_THROTTLE=yes ORRERY_CHECK_INSERTS=off STARPU_CUDA_THREAD_PER_DEV=true "$program"
if grep -q . err; then cat err; die "a switch is not read"; fi

# All names of the manual are known, those without effect included.
# shellcheck disable=SC2046
ok env $(sed -n '/^## Variables without effect/,$p' "$manual" | grep '^|' | cut -d'|' -f2 | names | sed 's/$/=0/') "$program"
if grep -q 'not known' err; then cat err; die "a name of the manual is not known"; fi
ok env STARPU_NCPPU=2 STARPU_SHCED=lws STARPU_MPI_CACHE_STAT=1 ORRERY_MPI_CACHE=1 ORRERY_WOMBAT=1 "$program"
has err 'environment variable STARPU_NCPPU is not known; is STARPU_NCPU meant\?'
has err 'environment variable STARPU_SHCED is not known; is STARPU_SCHED meant\?'
has err 'environment variable STARPU_MPI_CACHE_STAT is not known; is STARPU_MPI_CACHE_STATS meant\?'
has err 'environment variable ORRERY_MPI_CACHE is not known; is STARPU_MPI_CACHE meant\?'
has err 'environment variable ORRERY_WOMBAT is not known and has no effect'
[ "$(grep -c 'not known' err)" = 5 ] || { cat err; die "not told once each"; }
ok env STARPU_SILENT=1 STARPU_NCPPU=2 "$program"
if grep -q . err; then cat err; die "not silent"; fi
