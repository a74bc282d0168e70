# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A part of a run (--trace-ranks, --trace-window, --trace-kinds): exactly what was chosen is recorded, and kernels are
# whole; virtual times do not change, and neither do sums of what was chosen; every reader says that there is a part only,
# and does not blame what is not there. Wrong values are refused.
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky
stencil=$ORR_TEST_BUILDDIR/examples/stencil/stencil
check() { ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/trace_part.py" "$ORR_TEST_SRCDIR/tools" "$@"; cat out; }
draws() { "$PYTHON" -c 'import numpy' 2> /dev/null && [ -e /usr/share/javascript/d3/d3.min.js ]; }

# told FILE WORDS: everybody says what was recorded; readers are in Python, and the same in debug builds
told() {
	[ "$ORR_TEST_DEBUG" = no ] || return 0
	ok "$ORRERY" trace "$1"
	has out "^part +only a part of the run was recorded: $2"
	ok "$ORRERY" explain "$1"
	has out "the part that was recorded"
	has out "only a part of the run was recorded: $2"
	has out 'gains are bounds'
	if grep -q -e 'the work is uneven' -e 'begins .* after the others' out; then die "somebody is blamed: $(cat out)"; fi
	case $2 in rank*) if grep -q 'all others waited for' out; then die "there are others: $(cat out)"; fi ;; esac
	ok "$ORRERY" trace "$1" --csv -o tables
	has err 'only a part of the run was recorded'
	has tables/run.csv '^part,"?only a part'
	if draws; then
		ok "$ORRERY" report "$1" -o r.html
		has r.html 'Not all is drawn'
		has r.html "[Oo]nly a part of the run was recorded: $2"
	fi
}

# refused COMMAND...: values that are none; COMMAND is up to the options
refused() {
	for wrong in 1-0 a 1, ,1 1-; do
		fails 2 "--trace-ranks $wrong: (give ranks and ranges|the end of a range)" "$@" --trace r --trace-ranks $wrong "$program"
		fails 1 "ORRERY_TRACE_RANKS has the value .$wrong.: it takes ranks and ranges of them" env ORRERY_TRACE_RANKS=$wrong "$@" --trace r "$program"
	done
	for wrong in 1 .. x..2 1..x 1e3..; do
		fails 2 "--trace-window $wrong: give FROM..TO" "$@" --trace r --trace-window $wrong "$program"
	done
	for wrong in 1 .. x..2 1..x -1..2 nan.. 2000000000..; do
		fails 1 "ORRERY_TRACE_WINDOW has the value .$wrong.: it takes FROM..TO in seconds" env ORRERY_TRACE_WINDOW=$wrong "$@" --trace r "$program"
	done
	fails 2 'the end of a range is not after its begin' "$@" --trace r --trace-window 2..1 "$program"
	fails 1 'its end is not after its begin' env ORRERY_TRACE_WINDOW=1..1 "$@" --trace r "$program"
	for wrong in task tasks, start; do
		fails 2 "--trace-kinds $wrong: give names with commas" "$@" --trace r --trace-kinds $wrong "$program"
		fails 1 "ORRERY_TRACE_KINDS has the value .$wrong.: it takes names with commas" env ORRERY_TRACE_KINDS=$wrong "$@" --trace r "$program"
	done
	long=$("$PYTHON" -c 'print(",".join(map(str, range(100))))')
	fails 1 'it is longer than 120 characters; use ranges' "$@" --trace r --trace-ranks "$long" "$program"
	fails 2 '--trace-ranks 7,9-11: the run has the ranks 0 to 3; name some of these' "$@" --trace r --trace-ranks 7,9-11 "$program"
	for option in '--trace-ranks 0' '--trace-window 1..' '--trace-kinds tasks'; do
		fails 2 "${option% *} is about a trace, and there is none; add --trace FILE" "$@" $option "$program"
		fails 2 "needs" "$@" ${option% *}
	done
}

if [ "$ORR_TEST_SIM" = yes ]; then
	run="$ORRERY sim -n 4 --kernels skip"
	ok $run --trace f "$cholesky.sim" -nt 16
	said err | sed 's/; took.*//' | sed -n 1p > whole
	# part OPTION...: of that run
	part() {
		ok $run --trace p "$@" "$cholesky.sim" -nt 16
		said err | sed 's/; took.*//' | sed -n 1p > parted
		cmp whole parted || die "virtual times depend on what is recorded"
		check same f p
	}
	part --trace-ranks 1-2
	told p 'ranks 1-2'
	part --trace-ranks 3,0
	part --trace-window 0.001..0.002
	told p 'between 0.001 s and 0.002 s'
	part --trace-window 0.0020000..
	told p 'from 0.0020000 s on'
	part --trace-window=..0.000002
	part --trace-kinds tasks,messages,waits
	told p 'of tasks, messages, waits'
	part --trace-kinds tasks
	told p 'of tasks'
	ok "$ORRERY" explain p
	has out 'messages were not recorded: what came from other ranks is not'
	has out 'waits of the program were not recorded'
	part --trace-kinds kernels
	fails 1 'was recorded without tasks .--trace-kinds kernels., and the critical path needs them' "$ORRERY" explain p
	fails 1 'a comparison needs them' "$ORRERY" explain f p
	if draws; then
		ok "$ORRERY" report p -o r.html
		has r.html 'tasks were not recorded'
	fi
	part --trace-kinds=messages,copies,progression,changes,memory,marks
	fails 1 'the critical path needs them' "$ORRERY" explain p
	part --trace-ranks 3 --trace-window 0.001..0.003 --trace-kinds tasks,messages,waits
	told p 'rank 3; between 0.001 s and 0.003 s; of tasks, messages, waits'
	ok "$ORRERY" explain f p
	has out 'what is said is true of that part'
	# Nothing of that is there: said, not blamed.
	part --trace-window 100..
	fails 1 'nothing to explain; only a part of the run was recorded: from 100 s on' "$ORRERY" explain p
	# The sums of a limit are those of what was chosen.
	for options in '--trace-window 0.001..0.003' '--trace-ranks 1-3' '--trace-kinds tasks,messages'; do
		ok $run --trace p $options "$cholesky.sim" -nt 16
		for limit in 300K 100M; do
			ok $run --trace l $options --trace-limit $limit "$cholesky.sim" -nt 16
			ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/trace_limit.py" "$ORR_TEST_SRCDIR/tools" same p l
			cat out
		done
	done
	program=$cholesky.sim
	refused "$ORRERY" sim -n 4 --kernels skip
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	run="$ORRERY run -n 4 --oversubscribe"
	small="-nx 4 -ny 4 -b 64 --niter 60"
	ok $run --trace p --trace-ranks 1,3 "$stencil" $small
	check only p
	told p 'ranks 1, 3'
	ok $run --trace p --trace-window 0.01..60 "$stencil" $small
	check only p
	ok $run --trace p --trace-kinds kernels,messages "$stencil" $small
	check only p
	ok $run --trace p --trace-window 100000.. "$stencil" $small
	fails 1 'nothing to explain; only a part of the run was recorded: from 100000 s on' "$ORRERY" explain p
	program=$stencil
	refused "$ORRERY" run -n 4 --oversubscribe
fi
