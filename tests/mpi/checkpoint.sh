# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checkpoints and restart, in both worlds: a run that is killed is gone on with from its last
# checkpoint; a rank whose files are lost gets its data from its backup rank; two neighbours that lose
# theirs are told so; an end in order leaves no files; another program's files are refused. Then the
# stencil loses a rank at random moments, and comes to its right end by itself.
# orr-test: timeout 300
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/mpi/checkpoint
export ORRERY_CHECKPOINT_DIR=$PWD/saved
# Runs of this program have different arguments; checkpoint_doors.sh tests that this is noticed.
export ORRERY_CHECKPOINT_ANY_PROGRAM=1

run() {
	case $world in
	real) "$ORRERY" run -n $ranks --oversubscribe "$program" "$@" ;;
	sim) "$ORRERY" sim -n $ranks "$program.sim" "$@" ;;
	esac
}
dies() {
	run "$@" > out 2> err && die "it should have died: $*"
	if grep -q "not true\|starpu_mpi_shutdown" out err; then cat out err; die "it died of something else: $*"; fi
}
files() { ls saved | grep -v part | grep -c -- "$1"; }

for world in real sim; do
	if [ $world = real ] && [ "$ORR_TEST_MPI" != yes ]; then continue; fi
	if [ $world = sim ] && [ "$ORR_TEST_SIM" != yes ]; then continue; fi
	ranks=3
	rm -rf saved
	dies 4 0 die
	[ "$(files t1-.*-i4)" = 3 ] || { ls saved; cat out err; die "$world: each rank should have saved checkpoint 4"; }
	[ "$(files 't1-.*-i[123]$')" = 0 ] || { ls saved; die "$world: checkpoints before a complete one should be gone"; }
	dies 3 4 die
	rm saved/*-r1-*
	dies 2 7 die
	cp -r saved kept
	rm saved/*-r1-* saved/*-r2-*
	run 1 9 end > out 2> err && die "$world: data of rank 1 cannot be restored"
	grep -q 'rank 1 has lost its files of checkpoints, and its backup rank 2 as well' err out || { cat out err; die "$world: nobody says what was lost"; }
	rm -rf saved
	mv kept saved
	# A file that was cut off counts no more.
	for f in saved/*-t1-r0-i9; do head -c 1000 "$f" > cut && mv cut "$f"; done
	# A rank that was killed in its part of the first checkpoint has not lost anything.
	mkdir unfinished
	[ "$(files mark)" = 0 ] || { ls saved; die "$world: whoever has saved a checkpoint has no mark"; }
	cp saved/*-r1-i* unfinished
	touch unfinished/d0-t1-r0-mark unfinished/d0-t1-r2-mark
	chmod 600 unfinished/*-mark
	ORRERY_CHECKPOINT_DIR=$PWD/unfinished ok run 2 0 end
	[ -z "$(ls unfinished)" ] || { ls unfinished; die "$world: an end in order should remove the files"; }
	rmdir unfinished
	ranks=4
	run 1 9 end > out 2> err && die "$world: checkpoints of 3 ranks were taken by 4"
	grep -q 'another number of ranks' err out || { cat out err; die "$world: nobody says whose files they are"; }
	ranks=3
	ok run 2 9 end
	[ -z "$(ls saved)" ] || { ls saved; die "$world: an end in order should remove the files"; }
done

[ "$ORR_TEST_MPI" = yes ] || exit 0
. "$ORR_TEST_SRCDIR/tests/lib/processes.sh"
unset ORRERY_CHECKPOINT_DIR ORRERY_CHECKPOINT_ANY_PROGRAM
stencil=$ORR_TEST_BUILDDIR/examples/stencil/stencil
# lose NUMBER: kills a random rank of the stencil when one has saved that checkpoint.
lose() {
	rm -f ended
	{
		"$ORRERY" run -n 3 --oversubscribe --restart=folder "$stencil" -nx 6 -ny 6 -b 32 --niter 1507 --checkpoint 20 --check > out 2> err
		echo $? > ended
	} &
	until [ -e ended ] || ls folder 2> err.ls | sed -n 's/.*-i\([0-9]*\)$/\1/p' | awk -v n="$1" '$1 >= n { found = 1 } END { exit !found }'; do sleep 0.05; done
	victim=$(processes_like '^[^ ]*stencil -nx 6 -ny 6 -b 32 --niter 1507' | shuf -n 1 | cut -d ' ' -f 1)
	if [ -n "$victim" ]; then kill -9 "$victim"; fi
	wait
	[ "$(cat ended)" = 0 ] || { cat out err; die "the run was not gone on with"; }
	has out 'check: OK'
	if grep -q 'goes on from checkpoint' out; then gone_on=$((gone_on + 1)); fi
}
gone_on=0
for number in ${ORR_LOSSES-2 20 36 52}; do lose "$number"; done
[ $gone_on -ge 1 ] || die "no run went on from a checkpoint"
[ ! -e folder ] || { ls folder; die "a run that ended in order leaves no files"; }

# Mistakes of the program are no reason to start again.
"$ORRERY" run -n 2 --oversubscribe --restart "$stencil" --bogus > out 2> err && die "a wrong option was accepted"
if grep -q 'starting all ranks again' err; then die "a program that ends by itself was started again"; fi
fails 2 'restarts many: ' "$ORRERY" run --restarts many "$stencil"
exit 0
