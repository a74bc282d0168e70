#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A run with checkpoints whose host is killed goes on elsewhere: on a host of the host file that had no rank before, on
# hosts that share its ranks, and, started by hand, on a host that the first run did not know. Without another host, and with
# fewer ranks than the checkpoints are of, it is refused with a message that says what to do, and nothing of them is lost.
# orr-test: timeout 300
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 4
. "$ORR_TEST_SRCDIR/tests/lib/faults.sh"
export STARPU_NCPU=1 ORRERY_HEARTBEAT_TIMEOUT=3000000
stencil=$ORR_TEST_BUILDDIR/examples/stencil/stencil
words="-nx 6 -ny 6 -b 32 --niter 1011 --checkpoint 50 --check"

# lose HOST OPTIONS MPIRUN_OPTIONS: a new run whose host is killed after the first checkpoint.
lose() {
	rm -rf orrery-checkpoints
	begin "$2" "$3 --bind-to none" "$stencil" "$words"
	has_checkpoint
	complete=
	for _ in $(seq 800); do
		complete=$(find orrery-checkpoints -name 'd0-t1-r0-i*' ! -name '*.part')
		[ -z "$complete" ] || break
		sleep 0.05
	done
	[ -n "$complete" ] || { cat err out; die "there is no complete checkpoint"; }
	hosts_kill "$1"
}

right() {
	wait $run || { cat out err; die "the run does not come to its end"; }
	cat err
	has out 'check: OK'
	for host in h1 h2 h3 h4; do hosts_idle $host || die "processes stay on $host"; done
}

refused() {
	wait $run && { cat out err; die "exit status 0"; }
	has err "$1"
	[ -n "$(ls orrery-checkpoints)" ] || die "the checkpoints are lost"
}

for k in 1 2 3 4; do echo "h$k slots=1"; done > four
printf 'h1 slots=1\nh2 slots=1\n' > two
printf 'h1 slots=1\nh4 slots=1\n' > other

date +'%T a spare host'
lose h2 "-n 3 --restart" "--hostfile four"
[ -z "$(rank_at h4 1)" ] || die "a rank is on the spare host before the other one is lost"
there() { [ -n "$(rank_at h4 1)" ]; }
for _ in $(seq 400); do
	there && break
	sleep 0.05
done
there || die "no rank is on the spare host"
right
has err 'starting all ranks again without h2 from the last complete checkpoint'

date +'%T fewer hosts'
lose h2 "-n 3 --restart" "--host h1:1,h2:1,h3:1"
right
has err 'starting all ranks again without h2 from the last complete checkpoint'

date +'%T no other host, then one that is named by hand'
lose h2 "-n 2 --restart --restarts 0" "--hostfile two"
refused 'host h2 was lost or could not be reached.*giving up after 0 restarts'
begin "-n 2 --restart" "--hostfile other --bind-to none" "$stencil" "$words"
right
has out 'goes on from checkpoint'

date +'%T fewer ranks'
lose h2 "-n 3 --restart --restarts 0" "--hostfile four"
refused 'giving up after 0 restarts'
begin "-n 2 --restart" "--hostfile other --bind-to none" "$stencil" "$words"
refused 'checkpoint of one with another number of ranks .*on 3 ranks; this is .* on 2'
# As many ranks fit on fewer hosts.
begin "-n 3 --restart" "--host h1:2,h4:1 --bind-to none" "$stencil" "$words"
right
has out 'goes on from checkpoint'
exit 0
