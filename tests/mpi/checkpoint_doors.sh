# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What may be in a folder of checkpoints that does not belong there, in both worlds: checkpoints of
# another program or run, damaged, renamed or foreign files, links, and another run that uses it. All
# of it is named, and none of it is taken for absent, written through or believed. Data that have
# migrated are found (checkpoint_migrate.c).
# orr-test: timeout 600
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/mpi/checkpoint
export ORRERY_CHECKPOINT_DIR=$PWD/saved

run() {
	case $world in
	real) "$ORRERY" run -n $ranks --oversubscribe "$program" "$@" ;;
	sim) "$ORRERY" sim -n $ranks "$program.sim" "$@" ;;
	esac
}
# says REGEX ARGS...: the run fails, soon, and says why.
says() {
	regex=$1
	shift
	(run "$@") > out 2> err && { cat out err; die "$world: it should have failed: $*"; }
	grep -E -q -e "$regex" err out || { cat out err; die "$world: nobody says '$regex': $*"; }
}
# dies ARGS...: a run whose ranks all kill themselves. MPICH's launcher may say 0 of that (doc/running.md).
dies() {
	run "$@" > out 2> err && [ "$world${ORR_TEST_MPI_LIBRARY-}" != realmpich ] && die "$world: it should have died"
	return 0
}
# Four checkpoints, and the end of all ranks.
save() {
	rm -rf saved
	dies 4 0 die
	[ "$(ls saved | grep -c -- '-i4$')" = 3 ] || { ls saved; cat out err; die "$world: there are no checkpoints"; }
	rm -rf kept
	cp -r saved kept
}
again() {
	rm -rf saved
	cp -r kept saved
}
# flip FILE OFFSET: changes one byte.
flip() {
	byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
	printf "\\$(printf %o $((byte ^ 4)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2> /dev/null
}

identity() {
	again
	ORRERY_CHECKPOINT_ANY_PROGRAM=0 says 'is a checkpoint of a run with other arguments \(`checkpoint' 3 4 die
	cp "$ORR_TEST_BUILDDIR/tests/mpi/checkpoint" other
	if [ $world = sim ]; then cp "$program.sim" other.sim; fi
	program=$PWD/other
	LD_LIBRARY_PATH=$ORR_TEST_BUILDDIR/.libs ORRERY_CHECKPOINT_ANY_PROGRAM=0 says 'is a checkpoint of another program' 3 4 die
	program=$ORR_TEST_BUILDDIR/tests/mpi/checkpoint
	ranks=2
	says 'another number of ranks' 3 4 die
	ranks=4
	says 'another number of ranks' 3 4 die
	ranks=3
	[ "$(stat -c %a saved)" = 700 ] || die "$world: the folder has mode $(stat -c %a saved)"
	[ "$(stat -c %a saved/*-r0-i4)" = 600 ] || die "$world: a file has mode $(stat -c %a saved/*-r0-i4)"
}

# One damaged file is made good by the backup rank; more than one may be too many, but are never nothing.
damage() {
	size=$(stat -c %s kept/d0-t1-r0-i4)
	for at in 0 9 13 17 33 60 100 300 310 400 $((size / 2)) $((size - 1)); do
		again
		flip saved/d0-t1-r0-i4 $at
		(run 1 4 end) > out 2> err || { cat out err; die "$world: byte $at: the backup rank has it"; }
		grep -q 'r0-i4 is damaged: ' out err || { cat out err; die "$world: byte $at: nobody says that it is damaged"; }
	done
	# Heads of which nothing tells what they are: the run does not begin anew.
	for at in 1 9 200; do
		again
		for rank in 0 1 2; do flip saved/d0-t1-r$rank-i4 $at; done
		says 'are damaged, and no complete one is left' 1 0 end
		[ "$(ls saved | grep -c -- '-i4$')" = 3 ] || die "$world: damaged files were removed"
	done
	again
	head -c 100 kept/d0-t1-r0-i4 > saved/d0-t1-r0-i4
	(run 1 4 end) > out 2> err || { cat out err; die "$world: a file that was cut off"; }
	grep -q 'is shorter than a header' out err || { cat out err; die "$world: nobody says that it was cut off"; }
}

names() {
	again
	mv saved/d0-t1-r0-i4 saved/d0-t1-r0-i9
	(run 1 4 end) > out 2> err || { cat out err; die "$world: a file with another number"; }
	# Open MPI 5.0 may put the halves of a long output's lines on different streams.
	{ grep -q 'r0-i9 is damaged: ' out err && grep -q 'was another checkpoint' out err; } || { cat out err; die "$world: a name is believed"; }
	again
	cp saved/d0-t1-r1-i4 saved/d0-t1-r0-i4
	(run 1 4 end) > out 2> err || { cat out err; die "$world: a file of another rank"; }
	grep -q 'was another checkpoint' out err || { cat out err; die "$world: a name is believed"; }
	again
	for rank in 0 1 2; do mv saved/d0-t1-r$rank-i4 saved/d0-t1-r$rank-i9; done
	says 'are damaged, and no complete one is left' 1 9 end
	grep -q 'was another checkpoint' out err || { cat out err; die "$world: all names are believed"; }
	again
	mv saved/d0-t1-r0-i4 saved/d0-t1-r0-i4000000000
	(run 1 4 end) > out 2> err || { cat out err; die "$world: a file with a great number"; }
}

# One rank's files are gone: its backup rank has them, and nobody starts anew.
lost() {
	again
	rm saved/d0-t1-r1-i4
	(run 1 4 end) > out 2> err || { cat out err; die "$world: the files of a rank are lost"; }
}

# A stranger's things in the folder: nothing is written through them, and nothing waits for them.
strange() {
	again
	echo precious > victim
	rm saved/d0-t1-r0-i4
	ln -s "$PWD/victim" saved/d0-t1-r0-i4
	ln -s "$PWD/victim" saved/d0-t1-r0-i5.part
	(run 1 4 end) > out 2> err || { cat out err; die "$world: links"; }
	grep -q 'r0-i4 is damaged: it is a link' out err || { cat out err; die "$world: a link is followed"; }
	[ "$(cat victim)" = precious ] || die "$world: a victim's file was overwritten"
	rm -rf saved
	mkdir -m 700 saved
	ln -s "$PWD/victim" saved/d0-t1-r0-mark
	says 'cannot be begun in .*: it is a link' 1 0 end
	[ "$(cat victim)" = precious ] || die "$world: a victim's file was overwritten"
	again
	rm saved/rank*.lock
	ln -s "$PWD/victim" saved/rank0.lock
	says 'rank0.lock: it is a link' 1 4 end
	[ "$(cat victim)" = precious ] || die "$world: a victim's file was overwritten"
	again
	rm saved/d0-t1-r0-i4
	mkfifo saved/d0-t1-r0-i4
	(run 1 4 end) > out 2> err || { cat out err; die "$world: a fifo"; }
	grep -q 'r0-i4 is damaged: it is no file' out err || { cat out err; die "$world: a fifo is read"; }
	again
	chmod o+w saved
	says 'everybody may write there' 1 4 end
	chmod o-w saved
	if [ "$(id -u)" = 0 ]; then
		chown 65534 saved
		says 'belongs to user 65534, and this is user 0' 1 4 end
		chown 0 saved
		chown 65534 saved/d0-t1-r0-i4
		(run 1 4 end) > out 2> err || { cat out err; die "$world: a file of another user"; }
		grep -q 'r0-i4 is damaged: it belongs to another user' out err || { cat out err; die "$world: another user's file is read"; }
	fi
}

locked() {
	again
	flock saved/rank0.lock sleep 60 &
	locker=$!
	sleep 0.5
	says 'saved is in use by another run \(process [0-9]* on .*, `checkpoint' 1 4 end
	kill $locker
	wait $locker 2> /dev/null
	again
}

# A process that was taken for lost, and goes on later, writes nothing.
taken() {
	rm -rf saved
	dies 4 0 taken
	grep -q 'the run goes on without this process' out err || { cat out err; die "$world: a process without a lock goes on"; }
	[ -z "$(ls saved | grep -- '-r1-i')" ] || { ls saved; die "$world: a process without a lock writes"; }
	again
}

migrated() {
	program=$ORR_TEST_BUILDDIR/tests/mpi/checkpoint_migrate
	for before in stay next last; do
		for after in stay next last; do
			rm -rf saved
			dies save $before
			grep -q 'not true' out err && { cat out err; die "$world: save $before"; }
			(run restore $after) > out 2> err || { cat out err; die "$world: data migrated: $before before, $after after"; }
		done
	done
	rm -rf saved
	dies save next
	# Datum 0 was with the rank that keeps its backup.
	rm saved/*-r1-*
	(run restore fails) > out 2> err || { cat out err; die "$world: what cannot be restored changes nothing"; }
	grep -q 'does not hold entry 1 of rank 0' out err || { cat out err; die "$world: nobody says what is missing"; }
	rm -rf saved
	dies save last
	rm saved/*-r1-*
	(run restore stay) > out 2> err || { cat out err; ls saved; die "$world: a rank's files are gone, and its data had another owner"; }
	rm -rf saved
	dies save last
	# Datum 0 was with the last rank, and its backup is with rank 1.
	rm saved/*-r1-* saved/*-r2-*
	(run restore fails) > out 2> err || { cat out err; die "$world: what cannot be restored changes nothing"; }
	for wrong in 2 4; do
		rm -rf saved
		ranks=3
		dies save stay
		ranks=$wrong
		(run restore fails) > out 2> err || { cat out err; die "$world: 3 ranks' checkpoints on $wrong"; }
	done
	ranks=3
	program=$ORR_TEST_BUILDDIR/tests/mpi/checkpoint
}

export ORRERY_CHECKPOINT_ANY_PROGRAM=1
for world in real sim; do
	if [ $world = real ] && [ "$ORR_TEST_MPI" != yes ]; then continue; fi
	if [ $world = sim ] && [ "$ORR_TEST_SIM" != yes ]; then continue; fi
	ranks=3
	save
	for part in ${ORR_PARTS-identity damage names lost strange locked taken migrated}; do $part; done
done
exit 0
