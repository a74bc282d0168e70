#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Mishaps that the heartbeat must not take for a loss: links that lose 30 % of all packets, a host that stands still for two
# seconds, a link that is away for two seconds, and ranks whose workers and engine compute for twice the limit. The runs
# come to their end. One whose signs of life a firewall keeps says so, and goes on, too.
# orr-test: timeout 240
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 3
. "$ORR_TEST_SRCDIR/tests/lib/faults.sh"
app=$ORR_TEST_BUILDDIR/tests/mpi/lost
export STARPU_NCPU=1 ORRERY_HEARTBEAT_TIMEOUT=6000000
options="--host h1:2,h2:2,h3:2 --bind-to none"

# start SECONDS [KERNEL_S]: a run on all hosts, whose messages go round.
start() {
	begin "-n 6" "$options" "$app" "$*"
	begun 'goes on'
}

# survived: it comes to its end, and says nothing of a loss.
survived() {
	wait $run || die "exit status $?: $(cat out err)"
	has out '^done$'
	if grep -E 'no sign of life|no heartbeat' err; then die "a false alarm"; fi
}

date +'%T computing'
# Twelve threads compute for six seconds: the limit is half of that here.
ORRERY_HEARTBEAT_TIMEOUT=3000000
start 1 6
survived
ORRERY_HEARTBEAT_TIMEOUT=6000000

date +'%T a host that stands still'
start 10
for _ in 1 2; do
	hosts_freeze h2
	sleep 2
	hosts_thaw h2
	sleep 2
done
survived

# Open MPI 5 ends a rank that connects to another one for the first time meanwhile.
if [ "${ORR_TEST_MPI_LIBRARY-}" != openmpi5 ]; then
	date +'%T a link that is away'
	start 10
	hosts_cut h2
	sleep 3
	hosts_mend h2
	survived
fi

date +'%T 30 % loss'
start 25
hosts_lose h3 30 || die "no link that loses packets"
# TCP waits twice as long each time that it loses the same packet: MPI would come to its end some minutes later.
sleep 20
hosts_loses h3 || die "no packet was lost"
hosts_mend h3
survived

date +'%T a firewall'
hosts_lose h2 udp || die "no link that loses packets"
start 10
wait $run || die "exit status $?: $(cat out err)"
hosts_loses h2 || die "no packet was lost"
cat err
has err 'warning: no heartbeat of rank 1 on host h1 arrives here: .*let UDP pass between the hosts'
has err 'warning: no heartbeat of rank 3 on host h2 arrives here: '
if grep 'no sign of life' err; then die "a false alarm"; fi
exit 0
