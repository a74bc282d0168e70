# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery run` without -n takes what the job of a batch system was given, or the slots of a host file;
# -n wins, and a value that cannot be read is an error.
# orr-test: world real
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
program=$ORR_TEST_BUILDDIR/examples/ring/ring
# How this launcher is told of hosts, and of what does not place ranks and what does (a list, with commas between).
case ${ORR_TEST_MPI_LIBRARY-} in
mpich)
	file=-f hosts=-hosts first='n1:3' second='n2:4' here='-hosts here'
	idle='-genv A 1,-verbose' placing='-bind-to none,-map-by socket,-hosts here,-host here,-ppn 1,-f here'
	;;
*)
	file=--hostfile hosts=--host first='n1 slots=3' second='n2 slots = 4 max_slots=8' here='--host here:2'
	idle='--oversubscribe,-x A=1,--mca btl self'
	placing='--bind-to none,--map-by node,-H here:2,--host here:2,--mca rmaps_base_mapping_policy node,--cpu-set 0,-npernode 1'
	;;
esac
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID OAR_JOB_ID LOADL_STEP_ID SLURM_NTASKS SLURM_NPROCS

# shows WORDS VARIABLE=VALUE... [-- OPTION...]: the command line has these words.
shows() {
	words=$1
	shift
	variables=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		variables="$variables $1"
		shift
	done
	[ $# = 0 ] || shift
	# shellcheck disable=SC2086
	ok env $variables "$ORRERY" run --show "$@" "$program"
	case "$(cat out) " in
	*"$words "*) ;;
	*) die "no '$words' in: $(cat out), with$variables $*" ;;
	esac
}

# places LINE...: these lines of what was shown say where ranks run. Only Open MPI 4 can be asked about other hosts.
asked=yes
mpirun --version | grep -q 'Open MPI) 4' || asked=no
places() {
	[ $asked = yes ] || return 0
	for line; do has out "^#   $line\$"; done
}

shows '-n 1' NOTHING=1
has out '^# 1 rank on 1 host, [0-9]* cores? each:'
has out "^#   $(hostname) *rank 0\$"
has out '^# messages: shm \(one host\), ORRERY_TRANSPORT=auto'
shows '-n 6' SLURM_JOB_ID=7 SLURM_NTASKS=6
shows '-n 6' SLURM_JOB_ID=7 SLURM_NPROCS=6
shows '-n 6' SLURM_JOB_ID=7 SLURM_JOBID=7 SLURM_NTASKS=6 'SLURM_NODELIST=n[1-3]' SLURM_NNODES=3 'SLURM_TASKS_PER_NODE=2(x3)' # as salloc -N 3 -n 6
places 'n1 *ranks 0-1' 'n2 *ranks 2-3' 'n3 *ranks 4-5'
shows '-n 7' SLURM_JOB_ID=7 'SLURM_TASKS_PER_NODE=2(x3),1'
shows '-n 16' SLURM_JOB_ID=7 'SLURM_JOB_CPUS_PER_NODE=8(x2)'
shows '-n 3' SLURM_JOB_ID=7 SLURM_NTASKS=6 -- -n 3
shows '-n 1' SLURM_NTASKS=6 # no job
printf 'n1\nn1\nn2\nn2\nn2\n' > nodes
shows "-n 5 $hosts n1:2,n2:3" PBS_JOBID=7.server "PBS_NODEFILE=$PWD/nodes"
places 'n1 *ranks 0-1' 'n2 *ranks 2-4'
has out '^# messages: shm inside a host, mpi between hosts'
shows '--map-by node' PBS_JOBID=7.server "PBS_NODEFILE=$PWD/nodes" -- --mpirun '--map-by node'
places 'n1 *ranks 0,2' 'n2 *ranks 1,3-4'
shows "-n 5 $hosts n1:2,n2:3" PBS_JOBID=7.server "PBS_NODEFILE=$PWD/nodes" ORRERY_TRANSPORT=ucx -- --mpirun '--map-by slot:PE=2'
has out 'decides where ranks run'
has out '^# 2 cores each'
has out '^# messages: ucx inside a host, ucx between hosts, ORRERY_TRANSPORT=ucx'
# What the run and its user say reaches ranks on other hosts; Hydra passes everything.
[ "$ORR_TEST_MPI_LIBRARY" = mpich ] || has out ' -x ORRERY_RUN -x ORRERY_SUMMARY -x ORRERY_TRANSPORT '
shows '-n 4' PBS_JOBID=7.server PBS_NP=4
shows "-n 5 $hosts n1:2,n2:3" OAR_JOB_ID=7 "OAR_NODEFILE=$PWD/nodes"
shows "-n 5 $hosts n1:2,n2:3" LSB_JOBID=7 "LSB_DJOB_HOSTFILE=$PWD/nodes"
shows '-n 8' LSB_JOBID=7 LSB_DJOB_NUMPROC=8
ok env LSB_JOBID=7 LSB_MCPU_HOSTS='n1 4 n2 3' "$ORRERY" run --show "$program"
has out ' -n 7 '
# The system does not say it: mpirun finds it out.
ok env LOADL_STEP_ID=7 "$ORRERY" run --show "$program"
! grep -q -e ' -n ' out || die "a number that nobody gave: $(cat out)"
fails 2 'give -n N' env LOADL_STEP_ID=7 "$ORRERY" run --show --master-slave "$program"

printf '# two hosts\n%s\n%s\n' "$first" "$second" > hosts
ok "$ORRERY" run --show --mpirun "$file hosts" "$program"
has out " -n 7 $file hosts "
ok "$ORRERY" run --show --mpirun "$file=hosts" "$program"
has out ' -n 7 '
printf 'n1\n' > hosts
ok "$ORRERY" run --show --mpirun "$file hosts" "$program"
! grep -q -e ' -n ' out || die "a number that nobody gave: $(cat out)"
# Hosts of one's own are not mixed with the job's.
ok env PBS_JOBID=7 "PBS_NODEFILE=$PWD/nodes" "$ORRERY" run --show -n 2 --mpirun "$here" "$program"
! grep -q nodes out || die "two lists of hosts: $(cat out)"

# Options that do not place ranks leave them the cores that they have without these options.
ok "$ORRERY" run --show -n 1 "$program"
cp out alone
IFS=,
for options in $idle; do
	unset IFS
	ok "$ORRERY" run --show -n 1 --mpirun "$options" "$program"
	[ "$(sed "s/ $options / /" out)" = "$(cat alone)" ] || die "$options changes where ranks run: $(cat alone out)"
done
IFS=,
for options in $placing; do
	unset IFS
	ok "$ORRERY" run --show -n 2 --mpirun "$options" "$program"
	has out " -n 2 $options (-x .*)?/"
done

fails 2 'SLURM_NTASKS=many: .*give -n N' env SLURM_JOB_ID=7 SLURM_NTASKS=many "$ORRERY" run "$program"
fails 2 'SLURM_TASKS_PER_NODE=2x3: .*give -n N' env SLURM_JOB_ID=7 SLURM_TASKS_PER_NODE=2x3 "$ORRERY" run "$program"
fails 2 'PBS_NODEFILE=/nowhere: No such file' env PBS_JOBID=7 PBS_NODEFILE=/nowhere "$ORRERY" run "$program"
fails 2 'the host file /nowhere: No such file' "$ORRERY" run --mpirun "$file /nowhere" "$program"
printf '# none\n' > hosts
fails 2 'hosts names no host' "$ORRERY" run --mpirun "$file hosts" "$program"

# A job on this machine really starts as many.
case $file in -f) slots=:3 ;; *) slots=' slots=3' ;; esac
echo "$(hostname)$slots" > hosts
ok "$ORRERY" run --oversubscribe --mpirun "$file hosts" "$program"
exit 0
