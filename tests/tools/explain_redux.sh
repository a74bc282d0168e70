#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain` knows that what combines a reduction comes after the tasks that contribute, in a rank and across
# ranks: for a kernel "contribute", "combine" or "use" that is twice as fast, it promises what the run gains that is.
# orr-test: timeout 120
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "explained runs are simulated"
"${PYTHON:-python3}" -c 'import numpy' 2> err || skip "no numpy, without which gains are bounds"

app=$ORR_TEST_BUILDDIR/tests/mpi/explain_redux.sim
cat > check.py << 'END'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_gains  # noqa: E402
import orrery_replay  # noqa: E402
import orrery_tracefile  # noqa: E402
slow, fast = (orrery_replay.Replay(orrery_tracefile.Trace(name)) for name in ("slow", "fast"))
assert slow.again() == slow.makespan, (slow.again(), slow.makespan)
promised, gained = orrery_gains.kernel(slow, sys.argv[2], 2), (slow.makespan - fast.makespan) * 1e-9
print(sys.argv[2:], promised, gained)
assert abs(promised - gained) <= 0.1 * gained, (sys.argv[2:], promised, gained)
END

# promised RANKS TASKS: the gains of both kernels, in so many ranks, with so many tasks of each in a round
promised() {
	sim="$ORRERY sim -n $1 --cpus 4"
	# shellcheck disable=SC2086
	{
		ok $sim --trace slow "$app" 400 50 10 "$2"
		ok $sim --trace fast "$app" 200 50 10 "$2"
		ok "${PYTHON:-python3}" check.py "$ORR_TEST_SRCDIR/tools" contribute "$@"
		ok $sim --trace fast "$app" 400 25 10 "$2"
		ok "${PYTHON:-python3}" check.py "$ORR_TEST_SRCDIR/tools" combine "$@"
	}
}

promised 1 4
promised 4 1
promised 4 8
promised 16 4

# Along a tree, whose plan the first rank sends when its program goes on: after the use of the sum before.
export STARPU_MPI_REDUX_ARITY_THRESHOLD=0
for ranks in 4 16; do
	for us in 400 200; do
		ok "$ORRERY" sim -n $ranks --cpus 4 --trace $us "$app" 20 10 10 1 $us
	done
	mv 400 slow
	mv 200 fast
	ok "${PYTHON:-python3}" check.py "$ORR_TEST_SRCDIR/tools" use $ranks
done
unset STARPU_MPI_REDUX_ARITY_THRESHOLD

# Tasks that are as many as workers cannot be fewer: one of four, in each rank, makes the run longer. Those that follow
# each other can. Nothing limits what is said of this run, and no heading says so.
ok "$ORRERY" sim -n 4 --cpus 4 --cost-complete 20 --trace slow "$app" 80 4 10 4
ok "$ORRERY" explain slow
has out 'make tasks combine larger: one of '
if grep -q 'How sure this is' out; then die "a heading without anything below it"; fi
