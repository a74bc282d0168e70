#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Traces (ORRERY_TRACE, --trace, `orrery trace`): one file for all ranks of a run, in both worlds;
# virtual times do not depend on the recorder, and the same simulation writes the same bytes; windows
# of times, ranks and kinds; each task has its steps in order, and what made it ready ended before;
# files of runs that were killed or had no room are read up to there; other files are left alone.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps

# steps FILE: what must be true of every trace of trace_steps on 3 ranks
steps() {
	ok "$ORRERY" trace "$1" --text -o text
	ok "$ORRERY" trace "$1"
	has out '^ranks +3$'
	has out 'whole$'
	awk '$1 == "#" { next }
		{ key = $2 " " $5; n[$4]++ }
		$4 == "submit" { submit[key] = $1 }
		$4 == "ready" { ready[key] = $1; by[key] = $6 " " $7 }
		$4 == "start" { start[key] = $1; name[key] = $6 }
		$4 == "end" { ended[key] = $1 }
		$4 == "done" { done[key] = $1 }
		$4 == "recv" { received[$2]++ }
		END {
			for (k in start) {
				split(k, at, " "); split(by[k], cause, " ")
				if (!(submit[k] <= ready[k] && ready[k] <= start[k] && start[k] <= ended[k] && ended[k] <= done[k]))
					{ print "steps out of order: " k; exit 1 }
				if (cause[1] == "task" && !(ended[at[1] " " cause[2]] <= ready[k]))
					{ print k " is ready before its cause"; exit 1 }
				# One that was submitted after the end of the task before it waited for the program alone.
				before = at[1] " " (at[2] - 1)
				if (cause[1] == "program" && before in ended && ended[before] <= ready[k] && ended[before] <= submit[k] + 1)
					cause[1] = "task"
				causes[name[k] " " cause[1]]++
			}
			if (n["start"] != 30 || n["send"] != 2 || n["recv"] != 2) { print "wrong numbers"; exit 1 }
			if (causes["chain task"] != 27 || causes["chain message"] != 2) { print "wrong causes"; exit 1 }
		}' text > wrong || { cat wrong text; die "$1"; }
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace a "$tasks.sim"
	said err | sed 's/; took.*//' > with
	has with 'virtual time, 30 tasks'
	steps a
	ok "$ORRERY" sim -n 3 --trace b "$tasks.sim"
	cmp a b || die "the same simulation wrote another trace"
	ok "$ORRERY" sim -n 3 "$tasks.sim"
	said err | sed 's/; took.*//' > without
	cmp with without || die "virtual times depend on the recorder"
	# Windows.
	all=$(grep -c '^[0-9]' text)
	ok "$ORRERY" trace a --text --ranks 1 --kinds tasks
	[ "$(awk '$4 == "start" { print $2 }' out | sort | uniq -c | tr -s ' ')" = " 10 1" ] || die "--ranks"
	if grep -q ' send ' out; then die "--kinds"; fi
	ok "$ORRERY" trace a --text --to 0.002 -o before
	ok "$ORRERY" trace a --text --from 0.002000001 -o after
	[ $(($(grep -c '^[0-9]' before) + $(grep -c '^[0-9]' after))) = "$all" ] || die "two windows are not the whole"
	[ "$(grep -c '^[0-9]' before)" -gt 0 ] && [ "$(grep -c '^[0-9]' after)" -gt 0 ] || die "a window is empty"
	# A file that is no trace stays as it is.
	echo precious > mine
	fails 1 "mine' is there and is not a trace" "$ORRERY" sim --trace mine "$tasks.sim"
	[ "$(cat mine)" = precious ] || die "a file was overwritten"
	# There is no room: on a disk of 64 KiB the run goes on to its end, fails, and what fits is read.
	if unshare -r -m true 2> /dev/null; then
		mkdir small
		fails 1 "small/full' has no room for more, and nothing more is recorded: No space left" unshare -r -m sh -c \
			'mount -t tmpfs -o size=64k none small; "$0" sim -n 3 --trace small/full "$1"; s=$?; cp small/full .; exit $s' \
			"$ORRERY" "$tasks.sim"
		has err '30 tasks'
		has err 'events were lost because there was no room'
		ok "$ORRERY" trace full
		has out 'the disk was full'
	fi
	# Cut short anywhere: what is left is read.
	whole=$(wc -c < a)
	for bytes in 4096 5000 20000 $((whole - 1)); do
		head -c $bytes a > cut
		ok "$ORRERY" trace cut
		has out "cut short: only $bytes of its $whole bytes"
	done
	has out "^events +$all\$"
	fails 137 'ended by signal 9' "$ORRERY" sim -n 3 --trace k "$tasks.sim" killed
	ok "$ORRERY" trace k
	has out 'did not come to their end'
	has out '^ +start +30'
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace r "$tasks"
	steps r
	# It is replaced by the next run, not added to.
	ok "$ORRERY" run -n 3 --trace r "$tasks"
	steps r
	# A process that is killed leaves all that it recorded.
	"$ORRERY" run --trace k "$tasks" killed > out 2> err && die "it was not killed"
	ok "$ORRERY" trace k
	has out '1 of 1 processes did not come to their end'
	has out '^ +start +10'
	ok "$ORRERY" profile k
	has out '^chain +10 '
	# Also in the instant in which a full block is there twice: the last copy counts.
	"$PYTHON" -c '
import struct
data = bytearray(open("k", "rb").read())
end, = struct.unpack_from("=Q", data, 32)
stream = max(range(4096, end, 4096), key=lambda at: data[at + 8])
data[end:end + 4096] = data[stream:stream + 4096]
struct.pack_into("=Q", data, 32, end + 4096)
open("k", "wb").write(data)'
	ok "$ORRERY" trace k
	has out '^ +start +10'
	ok "$ORRERY" profile k
	has out '^chain +10 '
fi
fails 1 'is not a trace' "$ORRERY" trace text
fails 2 'which trace' "$ORRERY" trace
fails 2 'there is no kind magic' "$ORRERY" trace a --kinds magic
fails 1 'No such file' "$ORRERY" trace missing
