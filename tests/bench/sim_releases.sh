#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# sim_releases.sh: whether builds with other releases or interfaces of SimGrid predict the same. A
# list of 40 simulations: applications, models of the network, topologies, machines, noise, lost
# nodes, and programs of plain MPI; four more need private names of SimGrid. One line for each:
#     CASE;MAKESPAN;MESSAGES;TIMES;SECONDS;MEMORY
# the virtual seconds, a checksum of all messages of the runtime (who sent what to whom: ranks, tags,
# bytes, order), one of the same list with its virtual times, and the processor's seconds and MB that
# the simulation took here. SimGrid does not tell of messages of plain MPI, which have 0 there; of
# collective operations, the virtual seconds are the sum of what each of them took.
#
# The results are kept in $ORR_BENCH_RESULTS. Run it in several build trees:
#     make bench BENCH=sim_releases ORR_BENCH_RESULTS=/tmp/a           (in the first)
#     make bench BENCH=sim_releases ORR_BENCH_RESULTS=/tmp/b ORR_BENCH_OTHER=/tmp/a
# $ORR_BENCH_OTHER names the results of other builds, with blanks in between. Then it prints all side
# by side, and fails where makespans differ from the first by more than 0.1 %, or other messages were
# sent. With ORR_BENCH_SHOW=yes it only shows what is in $ORR_BENCH_RESULTS. A build without private
# names of SimGrid refuses some, which is no failure. Virtual times do not depend on the machine.
set -u
[ "$ORR_TEST_SIM" = yes ] || exit 77
examples=$ORR_TEST_BUILDDIR/examples traffic=$ORR_TEST_BUILDDIR/tests/bench/sim_traffic.sim
late=$ORR_TEST_BUILDDIR/tests/sim/late.sim collectives=$ORR_TEST_BUILDDIR/tests/sim/collectives.sim
platforms=$ORR_TEST_SRCDIR/platforms
for program in cholesky/cholesky communicators/communicators conjugate_gradient/conjugate_gradient elastic_loop/elastic_loop \
	lu/lu reductions/reductions ring/ring ring_mpi/ring_mpi stencil/stencil stencil5/stencil5 stencil_lb/stencil_lb; do
	[ -e "$examples/$program.sim" ] || { echo "sim_releases: $examples/$program.sim is not built"; exit 77; }
done
for program in "$traffic" "$late" "$collectives"; do
	[ -e "$program" ] || { echo "sim_releases: $program is not built"; exit 77; }
done
results=${ORR_BENCH_RESULTS:-$TMPDIR/results}

# The seconds of the processor that a command took, in a file.
cat > "$TMPDIR/cost.py" <<'END'
import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as f:
    f.write("%.2f" % (used.ru_utime + used.ru_stime))
sys.exit(status if status >= 0 else 128 - status)
END
export ORRERY_SIM_WRAPPER="$PYTHON $TMPDIR/cost.py $TMPDIR/cost"

# sums FILE: checksums of a table of messages, without and with times.
sums() {
	"$PYTHON" - "$1" <<'END'
import csv, sys, zlib
names = ("origin", "receiver", "era", "number", "sender", "tag", "bytes", "relayed")
times = ("left_ns", "received_ns")
with open(sys.argv[1]) as f:
    rows = list(csv.DictReader(f))
def total(columns):
    lines = sorted(",".join(r[c] for c in columns) for r in rows)
    return zlib.crc32("\n".join(lines).encode())
print("%d;%d" % (total(names), total(names + times)))
END
}

# predict NODES PLATFORM NAME [VARIABLE=VALUE...] [run] [mpi] [OPTIONS...] -- PROGRAM ARGUMENTS: PLATFORM
# is - for none. Kernels are skipped, but executed after the word `run`; `mpi` is for programs that
# send messages of their own MPI.
predict() {
	nodes=$1 platform=$2 name=$3 options= variables= kernels='--kernels skip'
	shift 3
	while [ "$1" != -- ]; do
		case $1 in
		[A-Z]*=*) variables="$variables $1" ;;
		run) kernels= ;;
		mpi) variables="$variables ORRERY_SIM_OWN_MPI=late" ;;
		*) options="$options $1" ;;
		esac
		shift
	done
	shift
	case $platform in
	-) ;;
	*/*) options="--platform $platform $options" ;;
	*) options="--platform $TMPDIR/$platform.xml $options" ;;
	esac
	rm -rf "$TMPDIR/trace" "$TMPDIR/tables" "$TMPDIR/run.json" "$TMPDIR/cost" "$TMPDIR/work"
	mkdir "$TMPDIR/work"
	# shellcheck disable=SC2086
	(cd "$TMPDIR/work" && exec env $variables timeout "${ORR_BENCH_LIMIT:-300}" "$ORRERY" sim -n "$nodes" $kernels $options \
		--report "$TMPDIR/run.json" --trace "$TMPDIR/trace" --trace-kinds messages "$@") > "$TMPDIR/out" 2> "$TMPDIR/err"
	status=$?
	if [ $status != 0 ]; then
		result=refused
		grep -q 'simgrid-interface=p' "$TMPDIR/err" || { result=failed; echo "$name: status $status"; tail -n 3 "$TMPDIR/err"; } >&2
		echo "$name;$result;;;;" >> "$results"
		return
	fi
	makespan=$(sed -n 's/.*"makespan_s": *\([0-9.eE+-]*\).*/\1/p' "$TMPDIR/run.json" | head -n 1)
	case $1 in "$collectives") makespan=$(awk 'NF == 4 { us += $4 } END { printf "%.9f", us / 1e6 }' "$TMPDIR/out") ;; esac
	memory=$(sed -n 's/.*"peak_rss_bytes": *\([0-9]*\).*/\1/p' "$TMPDIR/run.json" | awk '{ printf "%.0f", $1 / 1e6; exit }')
	messages='0;0'
	if grep -q '"messages": *[1-9]' "$TMPDIR/run.json"; then
		messages='none;none'
		if "$ORRERY" trace "$TMPDIR/trace" --csv -o "$TMPDIR/tables" > "$TMPDIR/out" 2>&1; then messages=$(sums "$TMPDIR/tables/messages.csv"); fi
	fi
	echo "$name;$makespan;$messages;$(cat "$TMPDIR/cost");$memory" >> "$results"
}

# platform NODES NAME OPTIONS...
platform() {
	n=$1 name=$2
	shift 2
	"$ORRERY" platform -n "$n" "$@" -o "$TMPDIR/$name.xml" > "$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; exit 1; }
}

simulate() {
	: > "$results" || exit 1
	for n in 16 64 256 1024; do platform $n $n --topology crossbar; done
	platform 64 fat-tree --topology fat-tree
	platform 64 torus --topology torus
	platform 64 dragonfly --topology dragonfly
	platform 16 tapered --topology fat-tree --shape 4,4 --taper 4 --hop-latency 500ns

	# Models of the network.
	for model in maxmin share queue; do
		predict 16 16 "Cholesky 16 $model" --network $model -- "$examples/cholesky/cholesky.sim" -nt 16 -b 320
		predict 64 64 "stencil 64 $model" --network $model -- "$examples/stencil/stencil.sim" -nx 16 -ny 16 -b 128 --niter 10
		predict 64 64 "broadcast 64, 800 KiB, $model" --network $model -- "$traffic" broadcast 800 8
	done
	for model in maxmin share; do
		predict 64 64 "ring 64 $model" --network $model -- "$examples/ring/ring.sim" --no-check
	done
	predict 64 64 "broadcast 64, 16 KiB, share" --network share -- "$traffic" broadcast 16 8
	predict 16 16 "random 16, 800 KiB, maxmin" --network maxmin -- "$traffic" random 800 16
	predict 16 16 "all to all 16 tcp" --network tcp -- "$traffic" alltoall 64
	predict 64 64 "Cholesky 64 share" --network share -- "$examples/cholesky/cholesky.sim" -nt 32 -b 960
	predict 256 256 "stencil 256" -- "$examples/stencil/stencil.sim" -nx 64 -ny 64 -b 128 --niter 10
	predict 1024 1024 "ring 1024" -- "$examples/ring/ring.sim" --no-check --loops 4
	# Topologies.
	predict 64 fat-tree "Cholesky 64 fat tree, queue" --network queue -- "$examples/cholesky/cholesky.sim" -nt 32 -b 320
	predict 64 torus "stencil 64 torus" -- "$examples/stencil/stencil.sim" -nx 16 -ny 16 -b 128 --niter 10
	predict 64 dragonfly "random 64 dragonfly, queue" --network queue -- "$traffic" random 800 8
	predict 16 tapered "all to all 16 tapered tree" -- "$traffic" alltoall 256
	predict 16 tapered "all to all 16 tapered, maxmin" --network maxmin --cfg network/weight-S:20537 -- "$traffic" alltoall 256
	# Machines and networks that were measured, and policies.
	predict 64 - "Cholesky 64 measured kernels" --machine "$platforms/machines/quickstart" -- "$examples/cholesky/cholesky.sim" -nt 64 -b 960
	predict 8 "$platforms/h200x8-64.xml" "Cholesky 8 nodes of 8 GPUs" STARPU_SCHED=dmdas -- "$examples/cholesky/cholesky.sim" -nt 24 -b 960
	predict 8 "$platforms/mixed-8.xml" "Cholesky 8 mixed nodes" STARPU_SCHED=dmdas -- "$examples/cholesky/cholesky.sim" -nt 24 -b 960
	predict 4 "$platforms/laptop8-4.xml" "LU 4 laptops, stealing" STARPU_SCHED=lws -- "$examples/lu/lu.sim" -nt 24 -b 320
	predict 16 - "LU 16 Ethernet, 4 channels" --like ethernet-10 --network queue --channels 4 -- "$examples/lu/lu.sim" -nt 24 -b 320
	predict 16 16 "Cholesky 16 noise" --noise --noise-default 20 --speed-spread 10 --seed 7 -- "$examples/cholesky/cholesky.sim" -nt 16 -b 320
	# Kernels that run, little memory, parts of ranks, lost nodes.
	predict 4 - "LU 4 in 1 MiB and on disk" run mpi STARPU_LIMIT_CPU_MEM=1 -- "$examples/lu/lu.sim" -nt 16 -b 64 --disk disk --check
	predict 16 16 "conjugate gradient 16" run mpi -- "$examples/conjugate_gradient/conjugate_gradient.sim"
	predict 16 16 "reductions 16" run mpi -- "$examples/reductions/reductions.sim" --bins 100000
	predict 9 16 "stencil 9 moves its data" run mpi -- "$examples/stencil5/stencil5.sim" --redistribute --check
	predict 16 16 "stencil on 4, 16, 8 of 16" run mpi -- "$examples/stencil_lb/stencil_lb.sim" --blocks 256 --sizes 4,16,8 --check
	predict 16 16 "stencil 16 loses a node" run mpi ORRERY_CHECKPOINT_DIR="$TMPDIR/work" --fail 3@0.0002 --restart-delay 0.001 -- \
		"$examples/stencil/stencil.sim" -nx 16 -ny 16 -b 32 --niter 20 --checkpoint 5 --check
	predict 8 16 "teams with communicators 8" run mpi -- "$examples/communicators/communicators.sim" --rounds 30
	predict 1 - "rank 3 of 64 alone" --fake-rank 3 --fake-size 64 -- "$examples/cholesky/cholesky.sim" -nt 64 -b 320
	# Plain MPI.
	predict 64 64 "ring of MPI 64" mpi --network share -- "$examples/ring_mpi/ring_mpi.sim"
	predict 8 16 "MPI_Allreduce of Open MPI 8" run mpi -- "$collectives" allreduce
	predict 8 16 "MPI_Bcast of MPICH 8" run mpi --collectives mpich -- "$collectives" bcast
	predict 2 16 "late receive of MPI" run mpi -- "$late" plain 1000000 1000
	# Simulations that need private names.
	predict 16 16 "Cholesky 16 smpi" --network smpi -- "$examples/cholesky/cholesky.sim" -nt 8 -b 320
	predict 16 16 "Cholesky 16 background" --network maxmin --background-load 30 -- "$examples/cholesky/cholesky.sim" -nt 16 -b 320
	predict 16 tapered "all to all 16 tapered, equal" --network maxmin -- "$traffic" alltoall 256
	predict 2 - "processes join, 2 to 8" run --elastic --max 16 -- "$examples/elastic_loop/elastic_loop.sim" -c 20 -f 10 -n 2 -l 8 -m i+
}

[ "${ORR_BENCH_SHOW-}" = yes ] || simulate
# shellcheck disable=SC2086
exec "$PYTHON" "$ORR_TEST_SRCDIR/tests/bench/sim_releases.py" ${ORR_BENCH_OTHER-} "$results"
