# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The messages of tests/mpi/early_data.c come before their receives: the trace has each in the list of early ones. In a simulation
# all stay there until the receives are posted, 50 ms later; on a busy computer a real rank may look for some of them too late.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

# Checks that each of 3 ranks had so many messages in the list for at least so many nanoseconds.
early() {
	ok "$ORRERY" trace t --csv -o tables
	awk -F, -v least="$1" -v ns="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["list"] == "early" && $at["until_ns"] - $at["since_ns"] >= ns { n[$at["rank"]]++ }
		END { for (rank = 0; rank < 3; rank++) if (n[rank] < least) { print "rank", rank ":", n[rank] + 0; bad = 1 } exit bad }' \
		tables/stays.csv > few || { cat few; die "fewer than $1 messages of a rank were early"; }
	rm -r t tables
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace t "$ORR_TEST_BUILDDIR/tests/mpi/early_data.sim"
	early 17 49000000
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace t "$ORR_TEST_BUILDDIR/tests/mpi/early_data"
	early 10 1000000
fi
