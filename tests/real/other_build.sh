#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Ranks that found different builds of the library end at the start, with one message that names ranks, hosts and
# builds. The other build is a copy of liborrery-mpi in which only the name of the build is another one, so that
# nothing but this name can be the reason; ranks of really different versions never come further than that either.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || exit 77
library=$ORR_TEST_BUILDDIR/.libs/liborrery-mpi.so.0
[ -e "$library" ] || skip "programs are linked with static libraries"

mkdir same layout sources
cp "$library" same/
own=$(grep -a -o '[0-9][0-9.]* (messages [0-9]*, sources [0-9]*)' "$library") || die "the library has no name of its build"
[ "$(echo "$own" | wc -l)" = 1 ] || die "several names: $own"
LC_ALL=C sed 's/ (messages 1, sources / (messages 7, sources /' "$library" > layout/liborrery-mpi.so.0
LC_ALL=C sed 's/\( (messages [0-9]*, sources \)[0-9]/\1x/' "$library" > sources/liborrery-mpi.so.0
for other in layout sources; do
	cmp -s "$library" $other/liborrery-mpi.so.0 && die "$other: the copy is no other build"
done

# A rank of the list finds the library in that folder.
cat > start <<END
case " \$1 " in *" \$$rank_variable "*) LD_LIBRARY_PATH=\$PWD/\$2; export LD_LIBRARY_PATH ;; esac
exec "\$3"
END
run() {
	timeout -k 5 40 "$ORRERY" run -n 3 --oversubscribe \
		sh "$PWD/start" "$1" "$2" "$ORR_TEST_BUILDDIR/tests/mpi/ring_detached" > out 2> err
	status=$?
}

run '0 1 2' same
[ $status = 0 ] || die "the same build from another folder: status $status: $(cat out err)"
at() { echo "rank $1 .host $(uname -n)."; }

# refused OTHER RANKS: one message, and the end. The text is in err.
refused() {
	run "$2" "$1"
	[ $status != 0 ] || die "$1 on $2: it ran"
	[ $status != 124 ] && [ $status != 137 ] || die "$1 on $2: it hangs"
	[ "$(grep -c 'different builds of Orrery' err)" = 1 ] || die "$1 on $2: not told once: $(cat out err)"
}
own=$(echo "$own" | tr '()' ..)
refused layout 0
has err "[0-9] .messages 7, sources [0-9]*. on $(at 0); $own on $(at 1), $(at 2);"
refused sources '1 2'
has err "$own on $(at 0); [0-9.]* .messages 1, sources x[0-9]*. on $(at 1), $(at 2);"
grep 'different builds' err
echo "another build is refused, whichever rank has it"
