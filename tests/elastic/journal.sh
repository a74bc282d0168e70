#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The journal of a simulated elastic run has its changes step by step, and they take what the options say: the end and the
# start of a process, its connection, and the way of the runtime to another communicator; a process that joins begins later.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/elastic.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world"

program=$ORR_TEST_BUILDDIR/tests/elastic/follow.sim
STARPU_NCPU=1
export STARPU_NCPU
changes 2
# run NAME OPTIONS...
run() {
	name=$1
	shift
	# shellcheck disable=SC2086
	ORRERY_DYN_LOG=$name ok "$ORRERY" sim -n 2 --elastic --max 3 --scenario script --cost-request 0 --cost-start 50000 --cost-start-each 30000 \
		--cost-join 40000 "$@" "$program" 3 $sizes
	has out '^all is right'
}
run free --cost-leave 0 --cost-switch 0 --cost-begin 0
run costly --cost-leave 70000 --cost-switch 20000 --cost-begin 60000
cat > steps.py <<'END2'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_elastic

def steps(path):
    made = orrery_elastic.changes(orrery_elastic.read_journal(path))
    assert [c["operation"] for c in made] == [5, 6, 5, 6], made
    return made

def near(name, seconds, wanted):
    assert wanted - 1e-3 <= seconds <= wanted + 0.012, "%s: %g s, not %g" % (name, seconds, wanted)

for path, leave, switch, begin in (("free", 0, 0, 0), ("costly", 0.07, 0.02, 0.06)):
    first, shrink, second, _ = steps(path)
    near("the first start waits for nobody", first["leave"], 0)
    assert leave - 0.03 <= second["leave"] <= leave + 1e-3, "the second start waits %g s" % second["leave"]
    near("a start", second["start"], 0.08)
    near("a way to the run", second["join"], 0.04 + switch)
    near("a way to fewer", shrink["join"], switch)
    # the first of them is before the shrink is asked for
    assert begin / 2 <= shrink["point"] <= begin + 0.012, "the first steps with a process more take %g s" % shrink["point"]
END2
"$PYTHON" steps.py "$ORR_TEST_SRCDIR/tools" || die "the journals say something else"
# One that has lost its checksum, one of a run that was killed, and one that somebody changed.
sed '/^# checksum/d' free > lost
sed '$d' free > killed
sed 's/^# checksum at the end/# checksum none/; $d' free > hand
cat > read.py <<'END2'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_cli
import orrery_elastic

try:
    print(len(orrery_elastic.read_journal(sys.argv[2])))
except orrery_cli.UserError as error:
    sys.exit(str(error))
END2
fails 1 'lost:1: it has no checksum: .* give it a line .# checksum none. near its begin' "$PYTHON" read.py "$ORR_TEST_SRCDIR/tools" lost
ok "$PYTHON" read.py "$ORR_TEST_SRCDIR/tools" killed
has err 'killed:[0-9]*: the journal ends here'
ok "$PYTHON" read.py "$ORR_TEST_SRCDIR/tools" hand
[ ! -s err ] || die "a journal that somebody changed: $(cat err)"
ORRERY_DYN_LOG=/nowhere/journal ok "$ORRERY" sim -n 2 --elastic "$program" 3 2
has err 'DYN_LOG: /nowhere/journal cannot be written'
exit 0
