# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery cc`, `run` and `sim`: a program built in each way works in its world, and
# the other world's command names the mistake and the remedy.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] && [ "$ORR_TEST_SIM" = yes ] || skip "needs both worlds"
case $ORR_TEST_SANITIZER in no) ;; *) skip "not meant for sanitizers" ;; esac

cat > app.c <<'END'
#include <mpi.h>
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>
int rank;
int part(void);
int main(int argc, char **argv)
{
	int size, sum = 0;
	struct { void (*free)(void *); } own = { free };
	own.free(malloc(malloc_usable_size(NULL) + 1));
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int mine = part();
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %d of %d, argument %s\n", sum, size, argc > 1 ? argv[1] : "none");
	MPI_Finalize();
	return argc > 2 ? atoi(argv[2]) : 0;
}
END
echo 'extern int rank; int part(void) { return rank + 1; }' > part.c
ok "$ORRERY" cc --both -Wall -O1 app.c part.c -o app
[ -x app ] && [ -e app.sim ] || die "app or app.sim is missing"
ok "$ORRERY" run -n 2 ./app hello
has out '^sum 3 of 2, argument hello$'
ok "$ORRERY" run -n 4 app hello
has out '^sum 10 of 4, argument hello$'
ok "$ORRERY" run -n 2 --oversubscribe ./app
"$ORRERY" run -n 1 ./app x 3 > out 2>&1
[ $? = 3 ] || die "the exit status of the program was lost in the real world"
ok "$ORRERY" sim -n 5 app.sim hello
has out '^sum 15 of 5, argument hello$'
"$ORRERY" sim -n 2 app.sim x 3 > out 2>&1
[ $? = 3 ] || { cat out; die "the exit status of the program was lost in the simulated world"; }

# part by part
ok "$ORRERY" cc --both -c app.c
ok "$ORRERY" cc --both -c part.c -o p.o
[ -e app.o ] && [ -e app.sim.o ] && [ -e p.sim.o ] || die "objects are missing"
ok "$ORRERY" cc --both app.o p.o -o apart
ok "$ORRERY" sim -n 3 apart.sim
has out '^sum 6 of 3'
ok "$ORRERY" cc --sim app.c part.c -o alone.sim
ok "$ORRERY" sim -n 3 alone.sim

if ${CXX:-c++} --version > /dev/null 2>&1; then
	sed 's/^int part/extern "C" &/' app.c > plus.cpp
	echo '#include <vector>
extern int rank; extern "C" int part(void) { std::vector<int> v(rank + 1, 1); return v.size(); }' > part2.cpp
	ok "$ORRERY" cc --both plus.cpp part2.cpp -o plus
	ok "$ORRERY" run -n 2 ./plus
	has out '^sum 3 of 2'
	ok "$ORRERY" sim -n 3 plus.sim
	has out '^sum 6 of 3'
fi

# The status of a program that does not end the runtime is its own, if that is not 0.
for status in 0 3; do
	for run in "run -n 2 $ORR_TEST_BUILDDIR/tests/bad/mpi_no_shutdown" "sim -n 2 $ORR_TEST_BUILDDIR/tests/bad/mpi_no_shutdown.sim"; do
		# shellcheck disable=SC2086 # several words
		fails $((status ? status : 1)) 'exits without starpu_mpi_shutdown|rank 0 ended with status 3' "$ORRERY" $run $status
	done
done
fails 2 'app was built for the real world; run app.sim, which is there' "$ORRERY" sim -n 2 app
rm app.sim
fails 2 'app was built for the real world; build it for the simulated one with `orrery cc --sim' "$ORRERY" sim -n 2 app
cp app wrong.sim
fails 2 'wrong.sim was built for the real world' "$ORRERY" sim -n 2 wrong.sim
fails 2 'apart.sim was built for the simulated world; run it with `orrery sim' "$ORRERY" run -n 2 ./apart.sim
ok ./apart.sim
has out '^sum 1 of 1'
fails 2 'gone: there is no such program' "$ORRERY" run -n 2 ./gone
fails 2 'gone.sim: there is no such program' "$ORRERY" sim -n 2 ./gone.sim
mv app moved
fails 2 'there is apart.sim; run that one' sh -c 'rm -f apart; exec "$0" sim -n 2 apart' "$ORRERY"
fails 2 'part.c is not a compiled program' "$ORRERY" sim -n 2 part.c
fails 2 '-n zero: .*positive' "$ORRERY" run -n zero ./moved
fails 2 '-n -1: .*positive' "$ORRERY" sim -n -1 apart.sim
fails 2 '--kernels jump: expected run, skip or inject' "$ORRERY" sim --kernels jump apart.sim
fails 2 '--platform none.xml: there is no such file' "$ORRERY" sim --platform none.xml apart.sim
fails 2 'directory no/such does not exist' "$ORRERY" sim --stats no/such/x.csv apart.sim
fails 2 'no program given' "$ORRERY" run -n 2
fails 2 'nothing to compile' "$ORRERY" cc --sim
fails 1 'undefined reference' "$ORRERY" cc --sim app.c -o broken.sim
fails 1 'undefined reference' "$ORRERY" cc app.c -o broken
