# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `kill -9` of a random rank at a random moment. Without checkpoints, the other
# ranks end within 10 s, the launcher's message names the rank that was killed, and
# the exit status is not 0. With checkpoints, the stencil and Cholesky come to
# their right end by themselves.
#     ORR_KILLS=100 make check TESTS=tests/tools/kills.sh
# kills so many times (the test's limit of time is for 6), without checkpoints,
# and as often with them, half of it each program; the moments follow from
# ORR_KILLS_SEED.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs the real world"
[ "$ORR_TEST_SANITIZER" = no ] || skip "processes that die leave nothing to look at"
. "$ORR_TEST_SRCDIR/tests/lib/processes.sh"
kills=${ORR_KILLS:-3}
seed=${ORR_KILLS_SEED:-1}
ranks=3
stencil="$ORR_TEST_BUILDDIR/examples/stencil/stencil -nx 6 -ny 6 -b 32 --niter 1511 --checkpoint 20 --check"
cholesky="$ORR_TEST_BUILDDIR/examples/cholesky/cholesky -nt 41 -b 64 --checkpoint 3 --check"
unset ORRERY_CHECKPOINT_DIR

# random N: a number below N.
random() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	drawn=$((seed / 65536 % $1))
}

# begin WORDS...: starts a run in the background.
begin() {
	"$ORRERY" run -n $ranks --oversubscribe "$@" > out 2> err &
	run=$!
}

# processes PID...: those processes and all below them.
processes() {
	echo "$@"
	for p in "$@"; do
		below=$(children "$p" | tr '\n' ' ')
		if [ -n "$below" ]; then processes $below; fi
	done
}

# rank_of PID: its rank, empty if it is none.
rank_of() { tr '\0' '\n' 2> /dev/null < "/proc/$1/environ" | sed -n "s/^$rank_variable=//p"; }

# strike RANK: kills that rank; killed says whether there was one.
strike() {
	killed=no
	for p in $(processes $run); do
		if [ "$(rank_of "$p")" = "$1" ]; then
			kill -9 "$p" 2> /dev/null && killed=yes
			return
		fi
	done
}

# after MS: waits.
after() { sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"; }

# without PROGRAM: a kill that nobody survives; nobody is left 10 s later.
without() {
	begin $1
	random 1700
	after $((200 + drawn))
	all=$(processes $run)
	random $ranks
	victim=$drawn
	strike "$victim"
	at=$(date +%s%N)
	wait $run
	status=$?
	took=$((($(date +%s%N) - at) / 1000000))
	# It was over before, or the rank had told mpirun of its end.
	if [ $killed = no ] || [ $status = 0 ]; then
		[ $status = 0 ] || { cat out err; die "a run failed that nobody killed"; }
		has out 'check: OK'
		missed=$((missed + 1))
		return 0
	fi
	[ $took -lt 10000 ] || die "the others took $took ms to end"
	if [ $took -gt $slowest ]; then slowest=$took; fi
	[ $status != 0 ] || { cat out err; die "rank $victim was killed, but the exit status is 0"; }
	# Hydra does not say which rank it was, and a rank that is killed does not either.
	case $ORR_TEST_MPI_LIBRARY in mpich) which="a rank" ;; *) which="rank $victim" ;; esac
	grep -q "orrery run: $which on .* was lost (signal 9, Killed)" err || { cat out err; die "nobody says that $which was lost"; }
	for p in $all; do
		if [ "$p" != $run ] && [ -n "$(rank_of "$p")" ]; then die "process $p is still there"; fi
	done
	struck=$((struck + 1))
}

# with PROGRAM: a kill after which the run is gone on with.
with() {
	begin --restart=folder $1
	random 3000
	after $((200 + drawn))
	random $ranks
	strike "$drawn"
	wait $run || { cat out err; die "a run was not gone on with"; }
	has out 'check: OK'
	if [ $killed = no ]; then missed=$((missed + 1)); else struck=$((struck + 1)); fi
	if grep -q 'starting all ranks again' err; then again=$((again + 1)); fi
	if grep -q 'goes on from checkpoint' out; then gone_on=$((gone_on + 1)); fi
	[ ! -e folder ] || { ls folder; die "a run that ended in order leaves no files"; }
}

# kind I: a program, each in turn.
kind() { if [ $(($1 % 2)) = 0 ]; then program=$stencil; else program=$cholesky; fi; }

struck=0 missed=0 slowest=0 again=0 gone_on=0
for i in $(seq "$kills"); do kind "$i"; without "${program%--checkpoint*}--check"; done
echo "without checkpoints: $struck killed, $missed over before; all ended within $slowest ms"
[ $struck -ge 1 ] || die "every run was over before a rank was killed"
struck=0 missed=0
for i in $(seq "$kills"); do kind "$i"; with "$program"; done
echo "with checkpoints: $struck killed, $missed over before; $again started again, $gone_on of them from a checkpoint; all results right"
[ $struck -ge 1 ] || die "every run was over before a rank was killed"

# A signal for the launcher reaches the program, once; a program's own end is no loss.
begin $stencil
after 500
kill -TERM $run
wait $run && die "SIGTERM did not end the run"
if grep -q 'was lost' err; then cat err; die "SIGTERM of the launcher is taken for the loss of a rank"; fi
fails 1 "unknown argument '--bogus'" "$ORRERY" run -n 2 --oversubscribe ${stencil%% *} --bogus
if grep -q 'was lost' err; then die "a mistake is taken for the loss of a rank"; fi
exit 0
