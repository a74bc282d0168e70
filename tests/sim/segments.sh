# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Copies of a program: each rank's variables are its own, with the file's values; the code is in memory
# once; a copy takes two maps, and one more if it has many variables without values.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world"
program=$ORR_TEST_BUILDDIR/tests/sim/segments.sim

# maps RANKS ARG...: the maps of the run, and those that are shared code.
maps() {
	ranks=$1
	shift
	ok "$ORRERY" sim -n "$ranks" --quiet "$program" "$@"
	sed -n 's/^maps \([0-9]*\) shared \([0-9]*\)$/\1 \2/p' out
}
few=$(maps 4)
many=$(maps 36)
if [ "$ORR_TEST_SANITIZER" = no ]; then
	[ "${few#* } ${many#* }" = "4 36" ] || die "not each copy has shared code: $few, $many"
	# Two of the stack with its guard, three of the program.
	each=$(((${many% *} - ${few% *}) / 32))
	[ "$each" -le 5 ] || die "a rank takes $each maps"
fi
maps 12 close > /dev/null

# Copies for debuggers are whole, and nothing of theirs is shared.
mkdir copies
ORR_SIM_KEEP_COPIES=$PWD/copies
export ORR_SIM_KEEP_COPIES
[ "$(maps 4 | sed 's/.* //')" = 0 ] || die "copies that debuggers read have shared code"
