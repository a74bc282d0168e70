#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Elastic runs with a real Slurm as their resource manager, on four hosts: a stencil grows from 2 to 4 hosts and back, one
# of them drained, and its result is right; hosts that are not granted in time; a program that asks by itself; a host
# that fails; a first job that is requeued or cancelled; `orrery run` that is killed. Neither jobs nor processes are left.
# orr-test: debug none
# orr-test: sanitizer none
# orr-test: timeout 1200
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
. "$ORR_TEST_SRCDIR/tests/lib/slurm.sh"
. "$ORR_TEST_SRCDIR/tests/lib/processes.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
case ${ORR_TEST_MPI_LIBRARY-openmpi4} in openmpi4) ;; *) skip "elastic runs need Open MPI 4" ;; esac
lack=$(slurm_lack)
[ -z "$lack" ] || skip "$lack"
hosts_world "$@"
hosts_up 4
slurm_up 4 2
export STARPU_NCPU=1 OMPI_MCA_mpi_yield_when_idle=1
limit=$((180 * ${ORR_TEST_FACTOR:-1}))
stencil=$ORR_TEST_BUILDDIR/examples/stencil_lb/stencil_lb
loop=$ORR_TEST_BUILDDIR/examples/elastic_loop/elastic_loop
manager=$ORR_TEST_BUILDDIR/tests/elastic/manager

# says FILE REGEX: waits until a line of the file matches.
says() { slurm_wait 60 grep -E -q -e "$2" "$1" || { cat "$1"; die "$1 has no line like: $2"; }; }
# anew: what the last run said is gone before anybody waits for words of the next one, which may begin later than he looks.
anew() {
	: > out
	: > err
}
# clean WHAT HOST...: neither jobs nor processes of them are left behind by that, on those hosts.
clean() {
	echo "$(date +%T) after $*: clean?"
	shift
	slurm_idle || die "jobs are left"
	for host; do slurm_clean "$host" || die "processes of jobs stay on $host"; done
	if ls -d "${TMPDIR:-/tmp}"/orrery-* > left.txt 2>&1; then cat left.txt; die "a folder is left"; fi
}

# A wish that cannot be is refused before anything starts.
fails 2 'manager slurm: this is no job of Slurm.*salloc' "$ORRERY" run --elastic -n 1 --manager slurm "$manager"
fails 2 'manager slurm:soon: .*seconds' "$ORRERY" run --elastic -n 1 --manager slurm:soon "$manager"
fails 2 'leave those in --mpirun out' "$ORRERY" run --elastic -n 1 --manager slurm --mpirun "--host h1" "$manager"
fails 2 'beside --manager slurm there can be script:FILE only' "$ORRERY" run --elastic -n 1 --manager slurm --manager unix:a "$manager"
fails 2 'the job has 2 tasks' timeout 120 salloc -N 2 -n 2 "$ORRERY" run --elastic -n 3 --manager slurm "$manager"
echo 'at 1 grow much more' > bad.script
fails 1 'bad.script:1: "at 1 grow much more" is not' timeout 120 salloc -N 2 -n 2 "$ORRERY" run --elastic --manager slurm --manager script:bad.script "$manager"
ok timeout 120 salloc -N 2 -n 2 "$ORRERY" run --elastic --max 4 --show --manager slurm:30 "$manager"
has out '^# further hosts: by salloc, each for 1 processes; waiting 30 s for them'

# From 2 hosts to 4 and back; the first one that came is drained.
slurm_idle || die "jobs are left"
printf 'at 1 grow 2\nat 4 shrink 1\n' > stencil.script
timeout $((2 * limit)) salloc -N 2 -n 2 "$ORRERY" run --elastic --max 4 --manager slurm --manager script:stencil.script \
	"$stencil" --elastic -b 200000 --niter 400 --check > stencil.out 2> stencil.err &
run=$!
says stencil.err 'Slurm: host h[34] has come'
says stencil.out '^stencil_lb_ranks .* ranks=4'
first=$(sed -n 's/.*Slurm: host \(h[34]\) has come.*/\1/p' stencil.err | head -n 1)
[ "$(squeue -h | wc -l)" = 3 ] || { squeue; die "not three jobs"; }
scontrol update nodename="$first" state=drain reason=test || die "$first cannot be drained"
wait $run || { cat stencil.out stencil.err; die "the stencil has failed"; }
has stencil.err "Slurm: host $first is drained; its processes leave"
for k in 3 4; do has stencil.err "Slurm: host h$k is given back"; done
tail -n 1 stencil.out
has stencil.out '^check: OK'
[ "$(sed -n 's/^stencil_lb_ranks .* ranks=\([0-9]*\).*/\1/p' stencil.out | tr '\n' ' ')" = "2 4 3 2 " ] || { cat stencil.out; die "other sizes than 2 4 3 2"; }
clean 'the stencil' h1 h2 h3 h4
slurm_is "$first" drained || { sinfo -N; die "$first is not drained"; }

# Hosts that are not granted in time: one is drained, and two are wanted. The run goes on.
printf 'at 0.5 grow 2\nat 1 grow 1\nat 2 shrink 1\n' > late.script
ok timeout $limit salloc -N 2 -n 2 "$ORRERY" run --elastic --max 4 --manager slurm:3 --manager script:late.script "$manager" 2
has err 'Slurm: 2 more processes need 2 hosts; waiting for them up to 3 s'
has err 'Slurm: no hosts within 3 s; the request is withdrawn.*"grow 2" is dropped'
has err 'Slurm: host h[34] has come'
has out '^change 1: operation 5, 3 processes'
clean 'a request too late' h1 h2 h3 h4

# The program asks by itself: for one process at a time, up to 4. The last host is not there, and the program learns that.
timeout $limit salloc -N 2 -n 2 "$ORRERY" run --elastic --max 4 --manager slurm:3 "$loop" -d -c 20 -n 1 -l 4 -m i+ > out 2> err ||
	{ cat out err; die "the loop has failed"; }
has err 'Slurm: 1 more process needs 1 host; waiting for it up to 3 s'
has err 'Slurm: host h[34] has come'
has err 'orrery run: the resource manager has given no hosts within 3 s; the run goes on without the 1 new processes'
clean 'a program that asks' h1 h2 h3 h4
# Slurm refuses at once what can never be: there is no such partition.
printf 'at 0.2 grow 1\nat 0.3 shrink 1\n' > never.script
ok timeout $limit salloc -N 2 -n 2 sh -c 'SLURM_JOB_PARTITION=nowhere exec "$@"' sh \
	"$ORRERY" run --elastic --max 4 --manager slurm:100 --manager script:never.script "$manager" 1
has err 'Slurm: no hosts: .*; "grow 1" is dropped'
has out '^change 1: operation 6, 1 processes'
scontrol update nodename="$first" state=resume || die "$first cannot be resumed"
slurm_state "$first" '^idle$' || die "$first does not come back"
clean 'a refusal' h1 h2 h3 h4

# `orrery run` is killed: its jobs end, and nothing is left on hosts, nor of its own processes here.
printf 'at 0.5 grow 1\n' > killed.script
anew
# shellcheck disable=SC2016 # for the shell in the job
timeout $limit salloc -N 2 -n 2 sh -c 'echo $$ > killed.pid; exec "$@"' sh \
	"$ORRERY" run --elastic --max 4 --manager slurm --manager script:killed.script "$manager" 100 > out 2> err &
run=$!
says out '^change 1: operation 5, 3 processes'
kill -KILL "$(cat killed.pid)"
wait $run
clean 'orrery run was killed' h1 h2 h3 h4
none_here() { [ -z "$(processes_like 'orrery-elastic|mpirun|orrery_slurm_relay|salloc')" ]; }
slurm_wait 30 none_here || { processes_like 'orrery-elastic|mpirun|orrery_slurm_relay|salloc'; die "processes of a killed run stay here"; }

# A host crashes: all of its processes, and Slurm's daemon. The run goes on without it, and ends.
printf 'at 0.5 grow 1\n' > fails.script
anew
timeout $((2 * limit)) salloc -N 2 -n 2 "$ORRERY" run --elastic --max 4 --manager slurm --manager script:fails.script "$manager" 2 > out 2> err &
run=$!
says out '^change 1: operation 5, 3 processes'
lost=$(sed -n 's/.*Slurm: host \(h[34]\) has come.*/\1/p' err)
hosts_kill "$lost"
wait $run || { cat out err; die "the run has failed with a host"; }
has out '^change 2: operation 6, 2 processes'
clean 'a crash' h1 h2
for k in 3 4; do [ h$k = "$lost" ] || clean 'a crash' h$k; done
slurm_daemon "slurmd-$lost" "$lost" slurmd -D -N "$lost" -f $slurm/slurm.conf
slurm_state "$lost" '^idle$' || die "$lost does not come back"

# The first job is requeued while it has a further one: that ends, and the job begins again.
echo 'at 0.5 grow 1' > requeue.script
cat > requeue.job <<- END
	#!/bin/sh
	#SBATCH --nodes=2 --ntasks=2 --requeue --output=requeue.out --open-mode=append
	echo "begins, restarts: \${SLURM_RESTART_COUNT:-0}"
	[ -z "\$SLURM_RESTART_COUNT" ] || exit 0
	exec "$ORRERY" run --elastic --max 4 --manager slurm --manager script:requeue.script "$manager" 100
END
for end in requeue cancel; do
	rm -f requeue.out
	job=$(sbatch --parsable requeue.job)
	says requeue.out '^change 1: operation 5, 3 processes'
	[ "$(squeue -h | wc -l)" = 2 ] || { squeue; die "not two jobs"; }
	if [ $end = requeue ]; then
		scontrol requeue "$job" || die "the job cannot be requeued"
		slurm_wait 30 eval "[ \"\$(squeue -h -n requeue.job-more | wc -l)\" = 0 ]" || { squeue; die "the further job stays"; }
		scontrol update jobid="$job" StartTime=now
		slurm_wait 180 grep -q 'restarts: 1' requeue.out || { squeue; cat requeue.out; die "the job does not begin again"; }
	else
		scancel "$job"
	fi
	clean "$end" h1 h2 h3 h4
done
slurm_down
exit 0
