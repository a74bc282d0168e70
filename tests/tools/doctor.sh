# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery doctor` on one computer, without namespaces: what is fine, what a shell's limits and variables make wrong, JSON,
# jobs, and mistakes of the user. On several hosts: tests/hosts/doctor.sh.
# orr-test: debug none
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
export HOME="$PWD/home" ORRERY_ALLOW_RUN_AS_ROOT=1
bus=$PWD/.starpu/sampling/bus
mkdir -p "$HOME" "$bus"
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID OAR_JOB_ID LOADL_STEP_ID

ok "$ORRERY" doctor --help
has out '^usage: orrery doctor'
# A defect of this computer itself may be there, and is none of ours: only what we change counts.
"$ORRERY" doctor --quick --json > before.json 2> err
got=$?
[ $got -le 1 ] || { cat before.json err; die "exit status $got"; }
[ ! -s err ] || { cat err; die "it speaks where there is no terminal"; }

cat > rows.py << 'END'
import json, sys
old, new = ([tuple(map(str, row.values())) for row in json.load(open(path))["defects"]] for path in ("before.json", "json"))
for row in new:
    if row not in old:
        print("|".join(row))
END
# accused CHECK WHAT COMMAND...: the command makes this defect, and no other one.
accused() {
	check=$1 what=$2
	shift 2
	"$@" "$ORRERY" doctor --quick --json > json 2> err
	got=$?
	"${PYTHON:-python3}" rows.py > defects || { cat json err; die "no JSON of: $*"; }
	[ $got = 1 ] || { cat json err; die "exit status $got, not 1, of: $*"; }
	has defects "^$check\|.*$what"
	[ "$(wc -l < defects)" = 1 ] || { cat defects; die "more than one defect of: $*"; }
}
accused limits 'only 100 files may be open at once \(ulimit -n\)' prlimit --nofile=100
accused limits 'only 0 bytes may be locked' prlimit --memlock=0
accused limits 'stack of a thread has 256 KiB' prlimit --stack=262144
accused limits 'a file has 1 MiB at most' prlimit --fsize=1048576
accused memory '/proc/absent cannot be written' env TMPDIR=/proc/absent
if [ "$(nproc)" -gt 1 ] && grep -q '"check": "cores"' before.json && ! grep -q 'cores may be used' before.json; then
	accused cores "only 1 of its $(nproc) cores" taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')"
fi
# A home that cannot be written: root may write everywhere, but nobody may in /proc.
accused home 'cannot be written' env HOME=/proc
echo '4096 # Number of CPUs' > "$bus/$(hostname | sed 's/\..*//').config"
accused calibration 'of a machine with 4096 cores' env
rm -r "$bus"

# In a job, cores that are left out are the job's.
if [ "$(nproc)" -gt 1 ]; then
	PBS_JOBID=7 PBS_NODEFILE=$PWD/nodes
	hostname > nodes
	export PBS_JOBID PBS_NODEFILE
	taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')" "$ORRERY" doctor --quick --json > json
	"${PYTHON:-python3}" rows.py > defects
	if grep '^cores' defects; then die "the job's cores are called a defect"; fi
	unset PBS_JOBID PBS_NODEFILE
fi

# With MPI.
if [ "$ORR_TEST_MPI" = yes ]; then
	"$ORRERY" doctor > text 2> err
	has text '^  MPI  *(Open MPI|MPICH)[^,]*, threads: MPI_THREAD_'
	has text '^  transports  *shm: vectors go around 2 ranks'
	printf '#!/bin/sh\necho "mpirun: it does not work" >&2\nexit 3\n' > mpirun
	chmod +x mpirun
	ORRERY_MPIRUN=$PWD/mpirun "$ORRERY" doctor > text 2> err && die "an mpirun that fails is fine"
	has text '^DEFECT MPI: mpirun fails on this host: mpirun: it does not work;'
	has text '^    remedy: '
	printf '#!/bin/sh\n[ "$1" = --version ] || exec sleep 600\n' > mpirun
	ORRERY_MPIRUN=$PWD/mpirun "$ORRERY" doctor --timeout 1 > text 2> err && die "an mpirun that hangs is fine"
	has text '^DEFECT MPI: mpirun fails on this host: it did not end within 5 s;'
fi

# Mistakes of the user.
fails 2 '--host and --hostfile both name hosts' "$ORRERY" doctor --host a --hostfile b
fails 2 '--hostfile absent: No such file' "$ORRERY" doctor --hostfile absent
printf '# nobody\n\n' > empty
fails 2 'empty: it names no host' "$ORRERY" doctor --hostfile empty
printf '\377\376\n' > binary
fails 2 'binary: it is no text' "$ORRERY" doctor --hostfile binary
fails 2 'expected names of hosts' "$ORRERY" doctor --host a,,b
fails 2 'expected names of hosts' "$ORRERY" doctor --host=-oProxyCommand=x
fails 2 '--ports 5: expected a range' "$ORRERY" doctor --ports 5
fails 2 '--ports 9-5: expected a range' "$ORRERY" doctor --ports 9-5
fails 2 'give at least 10' "$ORRERY" doctor --ports 20000-20003
fails 2 '--timeout 0: expected' "$ORRERY" doctor --timeout 0
fails 2 '--timeout nan: expected' "$ORRERY" doctor --timeout nan
fails 2 '--platform absent: No such file' "$ORRERY" doctor --platform absent
fails 2 'neither a <cluster>' "$ORRERY" doctor --platform empty
fails 2 'leave one of them out' "$ORRERY" doctor --quick --platform empty
fails 2 'No closing quotation' "$ORRERY" doctor --agent "'"
fails 2 'unknown option --hots' "$ORRERY" doctor --hots a
fails 2 'the job does not say its hosts' env LSB_JOBID=7 "$ORRERY" doctor
if [ "$ORR_TEST_MPI" = yes ]; then fails 2 'give them by --host' "$ORRERY" doctor --mpirun "-host a"; fi
exit 0
