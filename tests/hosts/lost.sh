#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Links and hosts that are lost while a run goes on: a link that is cut, a rank that is frozen (also rank 0), all
# ranks or all processes of a host that are killed. Each time the right host and ranks are named in time, the run ends with a status
# that is not 0, and no process and no shared memory is left on any host. With checkpoints, a run goes on without a host
# whose link was cut.
#     ORR_LOST="cut freeze" make check TESTS=tests/hosts/lost.sh
# does these cases only.
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 4
app=$ORR_TEST_BUILDDIR/tests/mpi/lost
export STARPU_NCPU=1 ORRERY_HEARTBEAT_TIMEOUT=3000000
options="--host h1:2,h2:2,h3:2,h4:2 --bind-to none -x ORRERY_HEARTBEAT_TIMEOUT -x STARPU_NCPU"

# begin: starts a run on all hosts, and waits until its messages go round.
begin() {
	: > out
	on h1 "$ORRERY" run -n 8 --mpirun "$options" "$app" 60 > out 2> err &
	run=$!
	for _ in $(seq 400); do
		if grep -q 'goes on' out; then return; fi
		sleep 0.05
	done
	cat out err
	die "the run does not begin"
}

now() { read -r now _ < /proc/uptime; echo "${now%.*}"; }

# rank_at HOST: a process of the program there.
rank_at() {
	for process in $(hosts_processes "$1"); do
		read -r name < "/proc/$process/comm" 2> /dev/null || continue
		if [ "$name" = lost ]; then
			tr '\0' '\n' < "/proc/$process/environ" | sed -n "s/^OMPI_COMM_WORLD_RANK=\(.*\)/\1 $process/p"
		fi
	done | sort -n | sed -n "${2:-1}p"
}

# ended REGEX: the run ends in time and says that, and leaves nothing.
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
	for host in h1 h2 h3 h4; do
		for _ in $(seq 100); do
			left=$(hosts_processes $host)
			[ -n "$left" ] || break
			sleep 0.1
		done
		[ -z "$left" ] || { for p in $left; do tr '\0' ' ' < /proc/$p/cmdline; done; die "processes on $host: $left"; }
		[ -z "$(on $host ls /dev/shm)" ] || die "shared memory on $host: $(on $host ls /dev/shm)"
	done
}

for case in ${ORR_LOST:-cut freeze freeze0 ranks kill restart}; do
	date +"%T $case"
	if [ $case = restart ]; then
		on h1 "$ORRERY" run -n 4 --restart --mpirun "--host h1:1,h2:1,h3:1,h4:1 --bind-to none -x ORRERY_HEARTBEAT_TIMEOUT -x STARPU_NCPU" \
			"$ORR_TEST_BUILDDIR/examples/stencil/stencil" -nx 6 -ny 6 -b 64 --niter 6011 --checkpoint 100 --check > out 2> err &
		run=$!
		for _ in $(seq 400); do
			if [ -d orrery-checkpoints ] && [ -n "$(ls orrery-checkpoints | grep -v lock)" ]; then break; fi
			sleep 0.05
		done
		sleep 1
		hosts_cut h3
		wait $run || { cat out err; die "the run does not come to its end"; }
		cat err
		has err 'lost: host h3 with rank 2; '
		has err 'starting all ranks again from the last complete checkpoint'
		cat out
		continue
	fi
	begin
	case $case in
	cut)
		hosts_cut h3
		ended 'lost: host h3 with ranks 4, 5; no sign of life for [23].[0-9] s, since [0-9:]*; what waits for that: .*from rank 5'
		hosts_mend h3
		;;
	freeze)
		kill -STOP "$(rank_at h2 2 | sed 's/.* //')"
		ended 'lost: rank 3 on host h2; no sign of life'
		;;
	freeze0)
		kill -STOP "$(rank_at h1 1 | sed 's/.* //')"
		ended 'lost: rank 0 on host h1; no sign of life'
		;;
	ranks)
		for n in 2 1; do kill -9 "$(rank_at h4 $n | sed 's/.* //')"; done
		ended 'orrery run: rank [67] on h4 was lost .signal 9'
		;;
	kill)
		hosts_kill h4
		on h4 sh -c 'rm -f /dev/shm/*' # as a computer that starts anew
		ended 'orrery run: ranks on host h4 were lost'
		;;
	esac
done
exit 0
