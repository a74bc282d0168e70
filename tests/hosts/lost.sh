#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Links and hosts that are lost while a run goes on: a link that is cut (also that of mpirun's host), a rank that is frozen (also rank 0), a host that is
# frozen, all ranks or all processes of a host that are killed. Each time the right host and ranks are named in time, the
# run ends with a status that is not 0, and no process, shared memory or file is left on any host (on one that was frozen:
# once it goes on). With checkpoints, a run goes on without a host whose link was cut, that is frozen, or whose processes were killed.
#     ORR_LOST="cut freeze" make check TESTS=tests/hosts/lost.sh
# does these cases only. tests/bench/host_faults.sh does the same at random moments.
# orr-test: timeout 360
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 4
. "$ORR_TEST_SRCDIR/tests/lib/faults.sh"
export STARPU_NCPU=1 ORRERY_HEARTBEAT_TIMEOUT=3000000

nothing_left() {
	for host in h1 h2 h3 h4; do
		left=$(left_on $host)
		[ -z "$left" ] || die "left on $host: $left"
	done
}

# ended REGEX [HOST]: the run ends in time and says that; the host was frozen.
ended() {
	before=$(now)
	wait $run
	status=$?
	took=$(($(now) - before))
	cat err
	echo "took $took s"
	[ $status != 0 ] || die "exit status 0"
	[ $took -le 20 ] || die "the run took $took s to end"
	has err "$1"
	[ "$(grep -c 'error: .*no sign of life' err)" -le 2 ] || die "it is said more than once on a side"
	[ -z "${2-}" ] || hosts_thaw "$2"
	nothing_left
}

# goes_on FAULT HOST [THAW [LOST]]: a run with checkpoints that meets a fault comes to its right end without that host, or the
# LOST ones.
goes_on() {
	rm -rf orrery-checkpoints
	begin "-n 4 --restart" "--host h1:1,h2:1,h3:1,h4:1 --bind-to none" "$ORR_TEST_BUILDDIR/examples/stencil/stencil" \
		"-nx 6 -ny 6 -b 16 --niter 2011 --checkpoint 100 --check"
	has_checkpoint
	$1 $2
	wait $run || { cat out err; die "the run does not come to its end"; }
	cat err out
	has err "starting all ranks again without ${4:-$2} from the last complete checkpoint"
	has out 'check: OK'
	[ -z "${3-}" ] || $3 $2
	nothing_left
}

for case in ${ORR_LOST:-cut cut1 freeze freeze0 host ranks kill restart restart1 anew later}; do
	date +"%T $case"
	case $case in
	restart)
		goes_on hosts_cut h3
		has err 'lost: host h3 with rank 2; '
		hosts_mend h3
		continue
		;;
	restart1)
		# From there all others are lost, and they end themselves.
		goes_on hosts_cut h1 hosts_mend 'h2, h3, h4'
		continue
		;;
	later)
		# Its processes hold locks at the checkpoints meanwhile.
		goes_on hosts_freeze h2 hosts_thaw
		has err 'lost: host h2 with rank 1; '
		continue
		;;
	anew)
		goes_on start_anew h4
		continue
		;;
	esac
	begin "-n 8" "--host h1:2,h2:2,h3:2,h4:2 --bind-to none" "$ORR_TEST_BUILDDIR/tests/mpi/lost" 60
	begun 'goes on'
	case $case in
	cut)
		hosts_cut h3
		ended 'lost: host h3 with ranks 4, 5; no sign of life for [23].[0-9] s, since [0-9:]*; what waits for that: .*from rank 5'
		hosts_mend h3
		;;
	cut1)
		hosts_cut h1
		ended 'host h1 is cut off, or all others are lost: host h2 with ranks 2, 3 and .*; no sign of life for [23].[0-9] s'
		has err 'orrery run: host h1 is cut off, or all others are lost .host h2 with ranks 2, 3 and .*, and nobody goes on without'
		hosts_mend h1
		;;
	freeze)
		kill -STOP "$(rank_at h2 2 | sed 's/.* //')"
		ended 'lost: rank 3 on host h2; no sign of life'
		;;
	freeze0)
		kill -STOP "$(rank_at h1 1 | sed 's/.* //')"
		ended 'lost: rank 0 on host h1; no sign of life'
		;;
	host)
		hosts_freeze h2
		ended 'lost: host h2 with ranks 2, 3; no sign of life' h2
		;;
	ranks)
		for n in 2 1; do kill -9 "$(rank_at h4 $n | sed 's/.* //')"; done
		# With Open MPI 5, ranks that have lost their connections may end the run before mpirun knows of the signal.
		connections=
		[ "${ORR_TEST_MPI_LIBRARY-}" != openmpi5 ] || connections='|ranks (on host h4 |)were lost'
		ended "orrery run: (rank [67] on h4 was lost .signal 9$connections)"
		;;
	kill)
		start_anew h4
		ended 'orrery run: (ranks on |)host h4 (was|were) lost'
		;;
	esac
done
exit 0
