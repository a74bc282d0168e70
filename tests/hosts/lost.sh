#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Links and hosts that are lost while a run goes on: a link that is cut, a rank that is frozen (also rank 0), a host that is
# frozen, all ranks or all processes of a host that are killed. Each time the right host and ranks are named in time, the
# run ends with a status that is not 0, and no process, shared memory or file is left on any host (on one that was frozen:
# once it goes on). With checkpoints, a run goes on without a host whose link was cut, or whose processes were killed.
#     ORR_LOST="cut freeze" make check TESTS=tests/hosts/lost.sh
# does these cases only.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 4
app=$ORR_TEST_BUILDDIR/tests/mpi/lost
export STARPU_NCPU=1 ORRERY_HEARTBEAT_TIMEOUT=3000000
options="--host h1:2,h2:2,h3:2,h4:2 --bind-to none"

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

# files HOST: of a run, in folders of temporary files.
files() { on "$1" sh -c 'find /tmp /run/host "$TMPDIR" -mindepth 1 -path "*ompi*"'; }

# nothing_left: no host keeps anything of a run.
nothing_left() {
	for host in h1 h2 h3 h4; do
		hosts_idle $host || {
			for p in $(hosts_processes $host); do tr '\0' ' ' < "/proc/$p/cmdline"; done
			die "processes on $host: $(hosts_processes $host)"
		}
		[ -z "$(on $host ls /dev/shm)" ] || die "shared memory on $host: $(on $host ls /dev/shm)"
		[ -z "$(files $host)" ] || die "files on $host: $(files $host)"
	done
}

# ended REGEX: the run ends in time and says that; thaw: of that host.
thaw=
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
	[ -z "$thaw" ] || hosts_thaw "$thaw"
	thaw=
	nothing_left
}

# goes_on FAULT HOST: a run with checkpoints that meets a fault comes to its right end without that host.
goes_on() {
	rm -rf orrery-checkpoints
	on h1 "$ORRERY" run -n 4 --restart --mpirun "--host h1:1,h2:1,h3:1,h4:1 --bind-to none" \
		"$ORR_TEST_BUILDDIR/examples/stencil/stencil" -nx 6 -ny 6 -b 64 --niter 3011 --checkpoint 100 --check > out 2> err &
	run=$!
	for _ in $(seq 400); do
		if [ -d orrery-checkpoints ] && [ -n "$(ls orrery-checkpoints | grep -v lock)" ]; then break; fi
		sleep 0.05
	done
	"$@"
	wait $run || { cat out err; die "the run does not come to its end"; }
	cat err out
	has err "starting all ranks again without $2 from the last complete checkpoint"
	has out 'check: OK'
	nothing_left
}

# start_anew HOST: what a computer forgets when it starts anew.
start_anew() {
	hosts_kill "$1"
	on "$1" sh -c 'rm -rf /dev/shm/* /tmp/ompi*'
}

for case in ${ORR_LOST:-cut freeze freeze0 host ranks kill restart anew}; do
	date +"%T $case"
	case $case in
	restart)
		goes_on hosts_cut h3
		has err 'lost: host h3 with rank 2; '
		hosts_mend h3
		continue
		;;
	anew)
		goes_on start_anew h4
		continue
		;;
	esac
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
	host)
		hosts_freeze h2
		thaw=h2
		ended 'lost: host h2 with ranks 2, 3; no sign of life'
		;;
	ranks)
		for n in 2 1; do kill -9 "$(rank_at h4 $n | sed 's/.* //')"; done
		ended 'orrery run: rank [67] on h4 was lost .signal 9'
		;;
	kill)
		start_anew h4
		ended 'orrery run: (ranks on |)host h4 (was|were) lost'
		;;
	esac
done
exit 0
