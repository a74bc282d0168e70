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
	most=5
	# Linkers for arm64 leave room for pages of 64 KiB, so that smaller ones have a hole between code and variables.
	case $(${CC:-gcc} -dumpmachine) in aarch64*) most=6 ;; esac
	[ "$each" -le $most ] || die "a rank takes $each maps"
fi
maps 12 close > /dev/null

# A program whose code the loader changes (as of Fortran's compiler) shares none of it.
cat > changed.c << 'END'
#include <mpi.h>
#include <stdio.h>
static int value = 3;
int table[4] = { 1, 2, 3, 4 };
static int *address(void)
{
	int *p;
	__asm__("movabsq $table, %0" : "=r"(p));
	return p;
}
int main(int argc, char **argv)
{
	int rank, sum, mine;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	value += rank;
	MPI_Barrier(MPI_COMM_WORLD);
	mine = value == 3 + rank && address() == table && address()[3] == 4;
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("sum %d\n", sum);
	return MPI_Finalize();
}
END
if [ "$ORR_TEST_SANITIZER" = no ] && [ "$(${CC:-gcc} -dumpmachine | cut -d- -f1)" = x86_64 ]; then
	ok "$ORRERY" cc --sim -Wl,-z,notext changed.c -o changed
	readelf -d changed | grep -q TEXTREL || die "the loader does not change the code of this program"
	ok "$ORRERY" sim -n 3 --quiet ./changed
	has out '^sum 3$'
fi

# Copies for debuggers are whole, and nothing of theirs is shared.
mkdir copies
ORR_SIM_KEEP_COPIES=$PWD/copies
export ORR_SIM_KEEP_COPIES
[ "$(maps 4 | sed 's/.* //')" = 0 ] || die "copies that debuggers read have shared code"
