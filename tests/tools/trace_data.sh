# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Data handles in a trace: the table `data` has each datum once, from its owner, with its tag, name, coordinates and
# size; data without a tag when they are unregistered; also of a run that was killed. Virtual times do not change.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/mpi/trace_data

# data TRACE RANKS WHAT: the rows are those of whole runs, or of one whose rank 0 was killed
data() {
	rm -rf tables
	ok "$ORRERY" trace "$1" --csv -o tables
	ok "$PYTHON" -B - "$2" "$3" << 'END'
import csv, sys
ranks, killed = int(sys.argv[1]), sys.argv[2] == "killed"
rows = list(csv.DictReader(open("tables/data.csv")))
got = [(int(r["rank"]), r["tag"], r["name"], r["coordinates"], int(r["bytes"]), int(r["node"])) for r in rows]
want = [(r, str(10 * i + r), "the second" if i == 1 else "", "%d %d" % (i, r), 8 * (i + 1), 0) for r in range(ranks) for i in range(3)]
first = [row for row in want if row[0] == 0]
if killed:
    assert [row for row in got if row[0] == 0] == first, got
    assert all(not r["unregistered_ns"] for r in rows if r["rank"] == "0"), rows
    sys.exit()
want += [(r, "", "alone", "", 4, 0) for r in range(ranks)] + [(0, "0", "", "", 40, -1)]
assert sorted(got) == sorted(want), (sorted(got), sorted(want))
assert all(r["unregistered_ns"] and (bool(r["known_ns"]) == bool(r["tag"])) for r in rows), rows
assert all(not r["known_ns"] or int(r["known_ns"]) <= int(r["unregistered_ns"]) for r in rows), rows
END
}

if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace t "$program.sim"
	data t 3 whole
	ok "$ORRERY" trace t --text --kinds data
	has out 'datum .*the second, 1 2$'
	ok "$ORRERY" sim -n 3 --trace t --trace-kinds data "$program.sim"
	ok "$ORRERY" sim -n 3 --trace t --trace-kinds tasks "$program.sim"
	ok "$ORRERY" trace t --csv -o none
	[ "$(wc -l < none/data.csv)" = 1 ] || die "data that were not to be recorded"
	"$ORRERY" sim -n 3 --trace k "$program.sim" killed > out 2> err && die "it was not killed"
	data k 3 killed
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	ok "$ORRERY" run -n 2 --oversubscribe --trace t "$program"
	data t 2 whole
	"$ORRERY" run -n 2 --oversubscribe --trace k "$program" killed > out 2> err && die "it was not killed"
	data k 2 killed
fi
