#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Launching as people do in jobs of Slurm, with its real daemons on four hosts: srun, salloc and sbatch. `orrery run`
# starts as many ranks as the job has tasks, on the hosts of the job, says so before, and leaves nothing behind when
# the job is cancelled.
# orr-test: debug none
# orr-test: sanitizer none
# orr-test: timeout 600
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
. "$ORR_TEST_SRCDIR/tests/lib/slurm.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
case ${ORR_TEST_MPI_LIBRARY-openmpi4} in openmpi4) ;; *) skip "the ranks say their numbers as those of Open MPI 4 do" ;; esac
lack=$(slurm_lack)
[ -z "$lack" ] || skip "$lack"
hosts_world "$@"
hosts_up 4
slurm_up 4 2
export STARPU_NCPU=1 OMPI_MCA_mpi_yield_when_idle=1
ring=$ORR_TEST_BUILDDIR/examples/ring/ring
# shellcheck disable=SC2016 # for the ranks
printf '#!/bin/sh\necho "rank ${OMPI_COMM_WORLD_RANK-$SLURM_PROCID} of ${OMPI_COMM_WORLD_SIZE-$SLURM_NTASKS} $(hostname)"\n' > where.sh
chmod +x where.sh
ran() {
	[ "$(sed -n 's/^rank //p' "$1" | sort -n | tr '\n' ';')" = "$2" ] || { cat "$1"; die "ranks ran elsewhere than: $2"; }
}
# job COMMAND...: it succeeds; it gets the first hosts, since none is kept by the end of the job before.
job() {
	slurm_idle || die "a job is left"
	ok "$@"
}

# Slurm starts the ranks.
job timeout 120 srun -N4 -n8 --mpi=pmix ./where.sh
ran out '0 of 8 h1;1 of 8 h1;2 of 8 h2;3 of 8 h2;4 of 8 h3;5 of 8 h3;6 of 8 h4;7 of 8 h4;'
job timeout 120 env ORRERY_REPORT="$PWD/srun.json" srun -N4 -n8 --mpi=pmix "$ring"
has out '^Finished: token value 256$'
has srun.json '"nodes": 8'

# orrery run starts them, as many as the allocation has tasks, also from a computer that is not in it.
for from in h0 h1; do
	alone=
	[ $from = h0 ] || alone="on $from"
	# shellcheck disable=SC2086 # words
	job $alone timeout 120 salloc -N 3 -n 6 "$ORRERY" run --show ./where.sh
	has out '^# 6 ranks on 3 hosts'
	for k in 1 2 3; do has out "^#   h$k  *ranks $((2 * k - 2))-$((2 * k - 1))\$"; done
	if grep -q '^rank' out; then die "--show starts ranks"; fi
	# shellcheck disable=SC2086 # words
	job $alone timeout 120 salloc -N 3 -n 6 "$ORRERY" run ./where.sh
	ran out '0 of 6 h1;1 of 6 h1;2 of 6 h2;3 of 6 h2;4 of 6 h3;5 of 6 h3;'
done
# mpirun begins with its own host, if that is in the job.
job on h2 timeout 120 salloc -N 3 -n 6 "$ORRERY" run --show ./where.sh
has out '^#   h2  *ranks 0-1$'
has out '^#   h1  *ranks 2-3$'
job on h2 timeout 120 salloc -N 3 -n 6 "$ORRERY" run ./where.sh
ran out '0 of 6 h2;1 of 6 h2;2 of 6 h1;3 of 6 h1;4 of 6 h3;5 of 6 h3;'
job timeout 120 salloc -w h2,h4 -N 2 -n 3 "$ORRERY" run --show ./where.sh
has out '^#   h2  *ranks 0-1$'
has out '^#   h4  *rank 2$'
job timeout 120 salloc -w h2,h4 -N 2 -n 3 "$ORRERY" run ./where.sh
ran out '0 of 3 h2;1 of 3 h2;2 of 3 h4;'
job timeout 120 salloc -N 4 --ntasks-per-node=1 "$ORRERY" run --report run.json "$ring"
has err '^orrery run: 4 ranks, .* messages'
has run.json '"nodes": 4'
# Fewer than that, by -n; more do not fit.
job timeout 120 salloc -N 2 -n 4 "$ORRERY" run -n 3 ./where.sh
ran out '0 of 3 h1;1 of 3 h1;2 of 3 h2;'
slurm_idle || die "a job is left"
timeout 120 salloc -N 2 -n 4 "$ORRERY" run -n 5 ./where.sh > out 2> err && die "more ranks than tasks"
has err 'not enough slots'
# The status of the program is that of the job.
slurm_idle || die "a job is left"
timeout 120 salloc -N 2 -n 2 "$ORRERY" run sh -c 'exit 7' > out 2> err
got=$?
[ $got = 7 ] || die "status $got, not 7"

# srun and orrery run exclude each other: each task would start all ranks.
fails 2 'srun has started this command 3 times.*orrery run.*without srun, or srun --mpi=pmix' timeout 120 srun -n 3 "$ORRERY" run ./where.sh
# One task of srun is a shell that is in the job.
job timeout 120 srun -n 1 "$ORRERY" run ./where.sh
ran out '0 of 1 h1;'

# An array: jobs that share hosts, and begin at once. One folder of temporary files for both is too few: mpirun of Open MPI 4
# fails when another one makes the folder of all its runs on that host in the same moment ("File exists").
cat > array.job <<- END
	#!/bin/sh
	#SBATCH --nodes=2 --ntasks=2 --array=1-3 --output=array-%a.out
	export TMPDIR="$PWD/tmp-\$SLURM_ARRAY_TASK_ID"
	mkdir "\$TMPDIR" && "$ORRERY" run ./where.sh && "$ORRERY" run --report array-\$SLURM_ARRAY_TASK_ID.json "$ring"
END
slurm_idle || die "a job is left"
timeout 120 sbatch --wait array.job || { tail -n 20 array-*.out; die "a job of the array fails"; }
for k in 1 2 3; do
	[ "$(grep -c '^rank [01] of 2 h[1-4]$' array-$k.out)" = 2 ] || { cat array-$k.out; die "job $k of the array"; }
	has array-$k.json '"nodes": 2'
done

# A job that is cancelled leaves nothing.
cat > long.job <<- END
	#!/bin/sh
	#SBATCH --nodes=4 --ntasks=8 --output=long.out
	exec "$ORRERY" run sh -c 'echo begun; exec sleep 1000'
END
slurm_idle || die "a job is left"
long=$(sbatch --parsable long.job)
begun() { [ "$(grep -c begun long.out)" = 8 ]; }
slurm_wait 60 begun || { cat long.out; die "the long job does not begin"; }
scancel "$long"
slurm_idle || die "a job is left"
for k in 1 2 3 4; do slurm_clean h$k || die "processes of jobs stay on h$k"; done
slurm_down
for k in 1 2 3 4; do hosts_idle h$k || die "processes stay on h$k"; done
exit 0
