# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A simulated program that is linked with shared libraries of the user's, as solvers are: a library
# with variables that needs another, both found by pkg-config; each rank has variables, constructors
# and destructors of its own, and libraries without variables stay common.
# orr-test: world sim
# orr-test: timeout 180
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
mkdir lib || exit 99

# The bottom: variables of each kind, a constructor, a destructor, atexit().
cat > bottom.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int bottom_counted = 1000, *bottom_address = &bottom_counted;
static int hidden, rank = -1;
static void at_exit(void) { printf("rank %d atexit %d\n", rank, hidden); }
__attribute__((constructor)) static void begin(void) { hidden = 1; atexit(at_exit); }
__attribute__((destructor)) static void end(void) { printf("rank %d destructor %d\n", rank, bottom_counted); }
int bottom_count(int r) { rank = r; hidden++; return ++*bottom_address; }
END
# No variables: functions only.
echo 'int plain_add(int a, int b); int plain_add(int a, int b) { return a + b; }' > plain.c
# No variables, but it calls the program.
echo 'int of_program(void); int calls_back(void); int calls_back(void) { return of_program(); }' > back.c
# The top: starts the runtime, with codelets, as solvers do.
cat > top.c <<'END'
#include <starpu_mpi.h>
int bottom_count(int r);
int plain_add(int a, int b);
static int ranks, me = -1;
static void kernel(void *buffers[], void *args)
{
	(void) args;
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) += me + 1;
}
static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_RW } };
int top_start(void)
{
	if (starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &me);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &ranks);
	return 0;
}
/* A datum goes round once: each rank adds its number + 1. */
int top_round(int *sum)
{
	starpu_data_handle_t h;
	int value = 0;
	starpu_variable_data_register(&h, me ? -1 : STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	starpu_mpi_data_register(h, 1, 0);
	for (int i = 0; i < ranks; i++)
		starpu_mpi_task_insert(MPI_COMM_WORLD, &cl, STARPU_RW, h, STARPU_EXECUTE_ON_NODE, i, 0);
	starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, h);
	starpu_data_acquire(h, STARPU_R);
	*sum = *(int *) starpu_variable_get_local_ptr(h);
	starpu_data_release(h);
	starpu_data_unregister(h);
	return bottom_count(plain_add(me, 0));
}
int top_ranks(void) { return ranks; }
int top_rank(void) { return me; }
void top_stop(void) { starpu_mpi_shutdown(); }
END
cat > main.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int top_start(void), top_round(int *sum), top_ranks(void), top_rank(void), calls_back(void);
int plain_add(int a, int b);
void top_stop(void);
static int mine;
int of_program(void) { return mine; }
int main(void)
{
	int sum = 0, ret = top_start(), n = 0;
	if (ret)
		return ret;
	for (int i = 0; i < 3 + top_rank(); i++)
		n = i < 3 ? top_round(&sum) : n;
	mine = 100 + top_rank();
	printf("rank %d of %d: sum %d count %d back %d plain %p\n", top_rank(), top_ranks(), sum, n, calls_back(),
	       (void *) dlsym(RTLD_DEFAULT, "plain_add"));
	top_stop();
	return 0;
}
END
# build LIBRARY WORD...: as a build system does for either world.
build() {
	name=$1
	shift
	ok "$ORRERY" cc --sim -D_GNU_SOURCE -O1 -shared $name.c -o lib/lib$name.so -Wl,-soname,lib$name.so "$@"
}
link="-Llib -Wl,-rpath,$PWD/lib"
build bottom
ok ${CC:-cc} -shared -fPIC plain.c -o lib/libplain.so -Wl,-soname,libplain.so
ok ${CC:-cc} -shared -fPIC back.c -o lib/libback.so
build top $link -lbottom -lplain
ok "$ORRERY" cc --sim -D_GNU_SOURCE main.c $link -ltop -lback -lplain -o shared.sim
ok "$ORRERY" cc --sim -D_GNU_SOURCE main.c top.c bottom.c plain.c back.c -o static.sim

for n in 1 4 8; do
	ok "$ORRERY" sim --quiet -n $n ./shared.sim
	if said err | grep .; then die "standard error: $(cat err)"; fi
	cp out shared.$n
	sum=$((n * (n + 1) / 2)) r=0
	while [ $r -lt $n ]; do
		has out "^rank $r of $n: sum $sum count 1003 back $((100 + r)) "
		has out "^rank $r atexit 4"
		has out "^rank $r destructor 1003"
		r=$((r + 1))
	done
	[ "$(grep -c 'atexit\|destructor' out)" = $((2 * n)) ] || die "$n ranks: $(cat out)"
	[ "$(sed -n 's/.* plain //p' out | sort -u | wc -l)" = 1 ] || die "the library without variables is copied: $(cat out)"
	ok "$ORRERY" sim --quiet -n $n ./static.sim
	sed 's/ plain .*//' out | sort > static
	sed 's/ plain .*//' shared.$n | sort | cmp - static || die "linked statically it prints other things"
done
# Objects that C++ has once in a process are the rank's as well.
cat > unique.cc <<'END'
template <class T> struct counter { static int n; };
template <class T> int counter<T>::n;
inline int of_all;
extern "C" int unique_count(void) { return ++counter<int>::n + ++of_all; }
END
cat > user.c <<'END'
#include <stdio.h>
#include <mpi.h>
int unique_count(void);
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	printf("unique %d\n", unique_count());
	MPI_Finalize();
	return 0;
}
END
ok "$ORRERY" cc --sim --cxx -std=c++17 -shared unique.cc -o lib/libunique.so
nm -D lib/libunique.so | grep -q ' u ' || echo "this compiler knows nothing unique"
ok "$ORRERY" cc --sim user.c $link -lunique -o user.sim
ok "$ORRERY" sim --quiet -n 3 ./user.sim
[ "$(grep -c '^unique 2$' out)" = 3 ] || die "what is unique belongs to all ranks: $(cat out)"

mkdir keep
ORR_SIM_KEEP_COPIES=$PWD/keep ok "$ORRERY" sim --quiet -n 2 ./shared.sim
[ -s keep/rank-1-libtop.so ] || die "no copy is kept: $(ls keep)"
ok "$ORRERY" sim --show -n 2 ./shared.sim
has out "^# own variables for each rank: $PWD/lib/libtop.so"
echo "libraries belong to ranks"
