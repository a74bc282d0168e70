#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs on four hosts of this machine (lib/hosts.sh), two ranks on each, that meet a fault at a random moment, and a table of what
# was seen. Every other run has checkpoints and `--restart`. The faults: a link that is cut, a host that is frozen, a host whose
# processes are killed, a rank that is frozen or killed, 30 % of packets that are lost for eight seconds, a
# pause of two seconds.
#     ORR_BENCH_RUNS    how many (default 7); ORR_BENCH_SEED: another choice of hosts and moments (default 1)
#     ORRERY_HEARTBEAT_TIMEOUT   microseconds (default here 4000000, so that a run is short)
# A line for each run: its fault, how the run ended, what was named, the seconds from the fault to the end, what was left on
# hosts. Right: a run without checkpoints names the right host (and rank) and ends within the timeout and ten seconds; one
# with checkpoints has the right result; a pause and loss are survived without a word; nothing is left. What a frozen host
# keeps is looked at when it goes on. The exit status is 1 if a run is not right.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
cd "$TMPDIR" || exit 77
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
[ -x "$ORR_TEST_BUILDDIR/tests/mpi/lost" ] && [ -x "$ORR_TEST_BUILDDIR/examples/stencil/stencil" ] ||
	skip "make tests/mpi/lost examples/stencil/stencil builds the programs"
hosts_world "$@"
hosts_up 4
. "$ORR_TEST_SRCDIR/tests/lib/faults.sh"
export STARPU_NCPU=1 ORRERY_HEARTBEAT_TIMEOUT="${ORRERY_HEARTBEAT_TIMEOUT:-4000000}"
limit=$((ORRERY_HEARTBEAT_TIMEOUT / 1000000 + 10))
options="--host h1:2,h2:2,h3:2,h4:2 --bind-to none"
random() { seed=$(((seed * 1103515245 + 12345) % 2147483648)); drawn=$((seed / 65536 % $1)); }
seed=${ORR_BENCH_SEED:-1}
runs=${ORR_BENCH_RUNS:-7}

# fault KIND: does it to $host, and sets what must be named.
fault() {
	k=${host#h}
	first=$((2 * k - 2))
	named="lost: host $host with ranks $first, $((first + 1));"
	case $1 in
	cut) hosts_cut "$host" ;;
	freeze) hosts_freeze "$host" ;;
	kill)
		start_anew "$host"
		named="orrery run: (ranks on |)host $host (was|were) lost"
		;;
	rank-frozen | rank-killed)
		random 2
		victim=$(rank_at "$host" $((drawn + 1)))
		case $1 in
		rank-frozen) kill -STOP "${victim#* }" ;;
		*) kill -KILL "${victim#* }" ;;
		esac
		named="(lost: rank ${victim% *} on host $host;|orrery run: rank ${victim% *} on $host was lost)"
		;;
	loss)
		hosts_lose "$host" 30
		sleep 8 # TCP becomes so slow that no program comes to its end
		hosts_mend "$host"
		;;
	pause)
		still=$(hosts_processes "$host")
		# shellcheck disable=SC2086 # numbers
		kill -STOP $still
		sleep 2
		# shellcheck disable=SC2086
		kill -CONT $still
		;;
	esac
}

# one KIND RESTART: a run, and its line.
one() {
	random 3
	host=h$((drawn + 2))
	# Any host may be cut off, also the one of mpirun.
	if [ "$1" = cut ]; then random 4; host=h$((drawn + 1)); fi
	random 40
	pause=$((drawn / 10)).$((drawn % 10))
	rm -rf orrery-checkpoints
	if [ "$2" = yes ]; then
		begin "-n 8 --restart" "$options" "$ORR_TEST_BUILDDIR/examples/stencil/stencil" "-nx 8 -ny 8 -b 64 --niter 1511 --checkpoint 50 --check"
		has_checkpoint
	else
		seconds=60
		case $1 in loss | pause) seconds=14 ;; esac
		begin "-n 8" "$options" "$ORR_TEST_BUILDDIR/tests/mpi/lost" $seconds
		begun 'goes on'
	fi
	sleep "$pause"
	fault "$1"
	if [ "$1 $host" = "cut h1" ]; then named="host h1 is cut off, or all others are lost: "; fi
	before=$(now)
	wait $run
	status=$?
	took=$(($(now) - before))
	if [ "$1" = freeze ]; then hosts_thaw "$host"; fi
	# Before a link is mended, those who are cut off must have ended.
	left=
	for h in h1 h2 h3 h4; do left="$left$(left_on $h)"; done
	case $1 in cut) hosts_mend "$host" ;; esac
	judge "$1" "$2"
	printf '%4d  %-12s %-3s %-4s %6s %6s %4d  %-6s %s\n' "$n" "$1" "$host" "$2" "$pause" "$status" "$took" "$verdict" "$why"
	if [ $verdict = wrong ]; then
		wrong=$((wrong + 1))
		sed 's/^/      | /' err
		[ -z "$left" ] || echo "      | left: $left"
		# The next run is not blamed for that.
		for h in h1 h2 h3 h4; do start_anew $h; done
		rm -rf ompi.*
	fi
}

judge() {
	verdict=wrong
	if [ -n "$left" ]; then
		why="something is left"
	elif [ "$2" = yes ] && { [ $status != 0 ] || ! grep -q 'check: OK' out; }; then
		why="no right result"
	elif [ "$1" = loss ] || [ "$1" = pause ]; then
		why=survived
		if [ $status != 0 ]; then why="status $status"; elif grep -q 'no sign of life' err; then why="a false alarm"; else verdict=right; fi
	elif [ "$2" = no ] && [ $status = 0 ]; then
		why="no failure"
	elif [ "$2" = yes ] && ! grep -q 'starting all ranks again' err; then
		verdict=right why="over before"
	elif ! grep -E -q "$named" err; then
		why="not named"
	elif [ "$2" = no ] && [ $took -gt $limit ]; then
		why="too late"
	else
		verdict=right why=named
		if [ "$2" = yes ]; then why="named, right result"; fi
	fi
}

echo " run  fault        on  restart after status   took"
n=0
wrong=0
while [ $n -lt "$runs" ]; do
	for kind in cut freeze kill rank-frozen rank-killed loss pause; do
		if [ $n -ge "$runs" ]; then break; fi
		n=$((n + 1))
		restart=no
		if [ $((n % 2)) = 0 ]; then restart=yes; fi
		one $kind $restart
	done
done
echo "$n runs, $((n - wrong)) right"
[ $wrong = 0 ]
