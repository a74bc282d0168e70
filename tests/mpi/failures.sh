# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The table of failures: each at 1, 16 and 512 simulated nodes and in real runs of 1 and 4 processes (a deadlock: up to 16). A cell is
# the status, the number of lines (a screen at most), and the words that a person needs.
# orr-test: timeout 300
# orr-test: waits
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/mpi/failures
screen=24

# cell STATUS WORDS COMMAND...: ends with the status, within a screen, and says each of the words, which are
# regular expressions separated by `;'.
cell() {
	want=$1 words=$2
	shift 2
	"$@" > out 2>&1 < /dev/null
	got=$?
	# Open MPI 4.1's mpirun crashes itself now and then, at the end of a run that was aborted.
	if [ $got = 139 ] && [ "$want" != 139 ] && grep -q pmix_server_finalize out; then
		"$@" > out 2>&1 < /dev/null
		got=$?
	fi
	# Its successor ends a notice with a zero byte, which may stand before a line of ours.
	[ "${ORR_TEST_MPI_LIBRARY-}" != openmpi5 ] || sed -i 's/\x00//g' out
	lines=$(without_launcher out | wc -l)
	echo "status $got, $lines lines: $*"
	[ $got = "$want" ] || { cat out; die "status $got, not $want"; }
	[ "$lines" -le $screen ] || { cat out; die "$lines lines are more than a screen"; }
	printf '%s\n' "$words" | tr ';' '\n' > words
	while read -r word; do has out "$word"; done < words
	if grep -E -q 'Traceback|0x[0-9a-f]{12}.*\(\+' out; then cat out; die "internals are shown"; fi
}

# Sends SIGINT as a terminal does, to all of a group, when the program says that it goes on. A shell in the
# background would have it ignored.
cat > interrupt.py <<'END'
import os, signal, subprocess, sys, time
def begin():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.setpgrp()
process = subprocess.Popen(sys.argv[1:], preexec_fn=begin, stdout=subprocess.PIPE)
process.stdout.readline()
time.sleep(0.3)
os.killpg(process.pid, signal.SIGINT)
status = process.wait(60)
sys.exit(128 - status if status < 0 else status)
END

# No process of the program is left a while after its run.
nothing_left() {
	for wait in 1 2 3 4 5 6 7 8 9 10; do
		left=$(pgrep -f "^$program" || true)
		[ -n "$left" ] || return 0
		sleep 0.5
	done
	ps -f -p $left
	die "the run has ended, and processes of it have not"
}

# sims STATUS WORDS ARGUMENT PREFIX...: the cells of one failure, at each number of nodes. LAST in the words is the
# last rank; the options of $simulate are those of the simulator.
sims() {
	row_status=$1 row_words=$2 mode=$3
	shift 3
	for n in 1 16 512; do
		cell "$row_status" "$(printf '%s' "$row_words" | sed "s/LAST/$((n - 1))/g")" "$@" "$ORRERY" sim -n $n $simulate "$program.sim" $mode
	done
}

# The same of real runs.
reals() {
	row_status=$1 row_words=$2 mode=$3
	shift 3
	for n in 1 4; do
		cell "$row_status" "$(printf '%s' "$row_words" | sed "s/LAST/$((n - 1))/g")" "$@" \
			"$ORRERY" run -n $n --oversubscribe "$program" $mode
	done
}

simulate=--kernels\ run
if [ "$ORR_TEST_SIM" = yes ]; then
	# Output that cannot be written, of the program's run and of the simulator.
	sims 3 "error: ORRERY_TRACE: the folder '/nowhere' cannot be written to" "" env ORRERY_TRACE=/nowhere/x
	simulate="--report /nowhere/x"
	sims 2 "--report /nowhere/x: the directory /nowhere does not exist" ""
	simulate="--stats stats --report report"
	for n in 1 16 512; do
		echo 'an older run' > stats
		cp stats report
		cell 130 'interrupted at [0-9.]+ s of virtual time;tasks were done;report and stats are of a part of the run' \
			python3 interrupt.py "$ORRERY" sim -n $n $simulate "$program.sim" long
		if grep -E 'rank [0-9]+ had|status 1' out; then cat out; die "a rank is blamed"; fi
		if grep -q 'an older run' stats report; then die "an older result stays"; fi
		has report '"interrupted_at_s": [0-9.]+'
		has report '"status": 130'
		has stats '^# interrupted at [0-9.]+ s: ranks that had not ended are missing'
	done
	simulate="--kernels run"
	sims 139 'rank LAST: task column 3 \(job 1\) of codelet faulty on worker CPU [0-9]+ crashed \(segmentation fault; 0  store_at\(\) in ; 1  cpu_faulty\(\) in ' crash
	sims 139 'rank LAST: the insertion of a task of codelet add .after a STARPU_VALUE comes the address of a value, then its size. crashed \(segmentation fault; main\(\) in ' value
	cell 3 'error: environment variable STARPU_MPI_GPUDIRECT has the value "banana": it takes an integer' \
		env STARPU_MPI_GPUDIRECT=banana "$ORRERY" sim "$program.sim"
	for n in 16 512; do
		cell 3 "^\[orrery\]\[0\] error: environment variable STARPU_MPI_GPUDIRECT has the value \"banana\": it takes;$((n - 1)) more ranks said like rank 0: error: environment variable STARPU_MPI" \
			env STARPU_MPI_GPUDIRECT=banana "$ORRERY" sim -n $n "$program.sim"
		[ "$(grep -c banana out)" = 1 ] || { cat out; die "not told once"; }
	done
	cell 1 'nothing can advance any more after .*1 of 1 ranks;task add .*blocked, 1 dependencies missing; has tag 1;tag 2 has not fired' \
		"$ORRERY" sim --kernels run "$program.sim" deadlock
	for n in 16 512; do
		cell 1 "nothing can advance any more after .*$n of $n ranks;^  rank 0 never sent tag 1, which rank 1 waits for .\"value\";^  $((n - 1)) ranks, as rank 1: send of \"value\" to rank 2, tag 2, 4 bytes: waits for its data;^  $((n - 1)) ranks, as rank 1: task add" \
			"$ORRERY" sim -n $n --kernels run "$program.sim" deadlock
		[ "$(sed -n 2p out | cut -c1-28)" = '  rank 0 never sent tag 1, w' ] || { cat out; die "the culprit is not first"; }
	done
fi

if [ "$ORR_TEST_MPI" = yes ]; then
	reals 3 "error: ORRERY_TRACE: the folder '/nowhere' cannot be written to" "" env ORRERY_TRACE=/nowhere/x
	for n in 1 4; do
		cell 130 'orrery run: interrupted after [0-9.]+ s.*/r.json and .*/s.csv: nothing was written, because that is done at the end' \
			python3 interrupt.py "$ORRERY" run -n $n --report r.json --stats s.csv --oversubscribe "$program" long
		if grep 'was lost' out; then cat out; die "a rank is blamed"; fi
		nothing_left
	done
	# `timeout' signals its group as well: with two signals at once, mpirun leaves its ranks behind, or hangs.
	cell 124 'orrery run: terminated after' timeout 2 "$ORRERY" run -n 2 --oversubscribe "$program" long
	nothing_left
	if [ "${ORR_TEST_MPI_LIBRARY-openmpi4}" = openmpi4 ]; then
		cell 124 'it goes on' timeout 2 "$ORRERY" run --elastic -n 2 --oversubscribe "$program" long
		nothing_left
	fi
	# An mpirun that a signal has stopped for ever.
	printf '#!/bin/sh\n[ "$1" != --version ] || exit\ntrap "" TERM\nexec sleep 1000\n' > hung
	chmod +x hung
	cell 143 'orrery run: mpirun has not ended 1[0-9] s after it was told to; it is killed;orrery run: terminated after 1[0-9.]+ s' \
		env "ORRERY_MPIRUN=$PWD/hung" timeout --preserve-status 2 "$ORRERY" run -n 2 "$program"
	reals 139 'rank LAST: task column 3 \(job 1\) of codelet faulty on worker CPU [0-9]+ crashed \(segmentation fault; 0  store_at\(\) in ; 1  cpu_faulty\(\) in ' crash
	reals 139 'rank LAST: the insertion of a task of codelet add .after a STARPU_VALUE comes the address of a value, then its size. crashed \(segmentation fault; main\(\) in ' value
	cell 3 'error: environment variable STARPU_MPI_GPUDIRECT has the value "banana": it takes an integer' \
		env STARPU_MPI_GPUDIRECT=banana "$program"
	# Ranks meet in the folder that Open MPI has for a run. With MPICH, each rank says it.
	together='.*and [23] more ranks?'
	[ "${ORR_TEST_MPI_LIBRARY-}" != mpich ] || together=
	cell 3 "error: environment variable STARPU_MPI_GPUDIRECT has the value \"banana\": it takes $together" \
		env STARPU_MPI_GPUDIRECT=banana "$ORRERY" run -n 4 --oversubscribe "$program"
	[ -z "$together" ] || [ "$(grep -c banana out)" = 1 ] || { cat out; die "not told once"; }
	for n in 2 4 16; do
		cell 1 "^.orrery..0. error: nothing can act any more: $n of $n ranks wait for ever;^  rank 0 never sent tag 1, which rank 1 waits for .\"value\";rank 1 waits:|$((n - 1)) ranks, as rank 1: send of \"value\" to rank 2, tag 2, 4 bytes: waits for its data;task add .*blocked, 1 dependencies missing" \
			env ORRERY_STALL_TIMEOUT=300000 "$ORRERY" run -n $n --oversubscribe "$program" deadlock
		[ "$(grep -c 'nothing can act' out)" = 1 ] || { cat out; die "not told once"; }
		grep '^  ' out | head -n 1 > second # mpirun may put its own lines in between
		has second '^  rank 0 never sent tag 1, w'
	done
	cell 1 'nothing can act any more: 1 of 1 ranks wait for ever;task add .*blocked, 1 dependencies missing; has tag 1;tag 2 has not fired' \
		env ORRERY_STALL_TIMEOUT=300000 "$ORRERY" run -n 1 "$program" deadlock
	cell 1 'no message came for 1 receive: from rank [0-2], tag [1-3], "value";tasks and 2 communications wait for what will not come' \
		"$ORRERY" run -n 3 --oversubscribe "$program" end
fi
