#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain` executes runs again that are large: of a run of 49,000 tasks and messages and more it says what changes
# gain, not bounds; of one of more than 100,000 with --gains, and without it says how. With nothing changed, each step of such a run comes when it was recorded, and so it does in runs with
# barriers, waits, trees and real clocks. Without numpy there are bounds only, and the page says why.
# orr-test: timeout 240
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
python=${PYTHON:-python3}
"$python" -c 'import numpy' 2> err || skip "no numpy"

cat > exact.py << 'END_OF_PYTHON'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_replay  # noqa: E402
import orrery_tracefile  # noqa: E402
for name in sys.argv[2:]:
    replay = orrery_replay.Replay(orrery_tracefile.Trace(name))
    times = (replay.at - replay.run.first).tolist()
    assert replay.times() == times, (name, [(s, a, b) for s, (a, b) in enumerate(zip(replay.times(), times)) if a != b][:9])
    assert replay.again() == replay.makespan and (replay.source < replay.target).all() and len(times) > 20, (name, len(times))
    print(name, len(times), "steps")
END_OF_PYTHON
exact() { ok "$python" exact.py "$ORR_TEST_SRCDIR/tools" "$@"; }

mkdir without
echo 'raise ImportError("not here")' > without/numpy.py

app=$ORR_TEST_BUILDDIR/tests/mpi/explain_causes
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 8 --kernels skip --machine quickstart --trace large "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 64 -b 960
	exact large
	ok "$ORRERY" explain large
	has out 'a kernel [a-z]* that is twice as fast: about '
	if grep -E 'at most|How sure this is' out; then die "gains of a large run are bounds"; fi
	ok "$ORRERY" sim -n 4 --kernels skip --machine quickstart --trace larger "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 84 -b 960
	ok "$ORRERY" explain larger
	has out 'a kernel [a-z]* that is twice as fast: at most '
	has out 'gains are bounds from the path: `orrery explain --gains` executes a run of [0-9]+ tasks and messages again, .* about [0-9]+ s$'
	ok "$ORRERY" explain --gains larger
	has out 'a kernel [a-z]* that is twice as fast: about '
	has out 'gains let each worker keep its order of tasks'
	ok "$ORRERY" sim -n 4 --trace barriers "$app.sim" rounds barrier=1 which=2 factor=2 callback=100 bytes=65536
	ok "$ORRERY" sim -n 1 --cpus 4 --trace waits "$ORR_TEST_BUILDDIR/tests/mpi/explain_waits.sim" ends wait
	ok "$ORRERY" sim -n 4 --cpus 4 --trace redux "$ORR_TEST_BUILDDIR/tests/mpi/explain_redux.sim" 400 50 10 4
	exact barriers waits redux
	ok env PYTHONPATH="$PWD/without" "$ORRERY" explain barriers
	has out 'at most '
	has out 'numpy is missing.*install python3-numpy'
	if grep 'about ' out; then die "gains without numpy are no bounds"; fi
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace real "$app" rounds callback=100 rounds=5
	exact real
fi
