#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The standard streams of C++ are each rank's own in both worlds: flags, precision, fill, state, a
# buffer that the program gave; sync_with_stdio(false) of one rank leaves the others' streams alive.
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
source=$ORR_TEST_SRCDIR/tests/tools/cxx_streams.cpp
CXX=${CXX-g++}
command -v "${CXX%% *}" > /dev/null || skip "needs a C++ compiler"

# told: what each rank wrote. (In a real run, pieces of lines mix on their way: there, each rank looks itself.)
cat > wanted <<'END'
5 number 0 255
5 number 0x1 0xff
5 number 2 255
5 number 3 255
5 number 4 255
5 number 5 255
5 rank 0 1.500
5 rank 1   1.5
5 rank 3   1.5
5 rank 5   1.5
END
told() {
	cat out err | grep -E '^(rank|number|wrong) ' | sort | uniq -c | sed 's/^ *//' | LC_ALL=C sort > got
	diff wanted got || die "not what each rank's streams are set to"
}
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" cc --sim -O1 "$source" -o streams.sim
	ok "$ORRERY" sim -n 6 ./streams.sim
	told
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" cc -O1 "$source" -o streams
	ok "$ORRERY" run -n 6 --oversubscribe ./streams
	if grep '^wrong' out err; then die "a rank has another one's settings"; fi
fi
