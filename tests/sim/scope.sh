# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The libraries of a simulated program are its own: functions named as those of libraries that the
# simulator needs are the program's, however deep its library stands, and a program that has none
# of these names finds none.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
[ "$ORR_TEST_SANITIZER" = no ] || skip "sanitizers bring libraries of their own"
libs=$ORR_TEST_BUILDDIR/.libs

# The libraries that the simulator needs, without those that programs may see.
ldd "$libs/liborrery-sim.so" > needs || die "ldd: $(cat needs)"
awk '$2 == "=>" { print $3 }' needs | grep -v '/lib\(c\|m\|dl\|pthread\|rt\|stdc++\|gcc_s\|simgrid\)\.so' > hidden
grep -q 'gslcblas\|hwloc' hidden || die "the simulator needs nothing: $(cat needs)"
while read -r lib; do
	nm -D --defined-only "$lib" | awk '$2 ~ /[TWDBRi]/ { sub(/@.*/, "", $3); print $3 }'
done < hidden | sort -u > names
nm -D --defined-only "$libs/liborrery-sim.so" "$(awk '/libsimgrid/ { print $3 }' needs)" \
	$(awk '/lib(c|m|stdc\+\+|gcc_s)\.so/ { print $3 }' needs) 2> /dev/null | awk 'NF > 2 { sub(/@.*/, "", $3); print $3 }' | sort -u > seen
comm -23 names seen | grep -v '^_\(init\|fini\)$' > candidates
[ "$(wc -l < candidates)" -ge 1000 ] || die "only $(wc -l < candidates) names to look for"

cat > visible.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <starpu.h>
int main(int argc, char **argv)
{
	char name[4096];
	Dl_info info;
	int n = 0;
	FILE *f = fopen(argv[argc - 1], "r");
	if (starpu_init(NULL) || !f)
		return 77;
	while (fgets(name, sizeof(name), f)) {
		name[strcspn(name, "\n")] = 0;
		void *at = dlsym(RTLD_DEFAULT, name);
		if (at && dladdr(at, &info))
			n++ < 20 ? printf("%s of %s\n", name, info.dli_fname) : 0;
	}
	fclose(f);
	starpu_shutdown();
	printf("%d names are visible\n", n);
	return n != 0;
}
END
ok "$ORRERY" cc --sim visible.c -o visible.sim
ok "$ORRERY" sim --quiet ./visible.sim candidates
has out '^0 names are visible'
echo starpu_task_submit > ours
"$ORRERY" sim --quiet ./visible.sim ours > out # the program sees names at all
has out '^1 names are visible'

# A pair for each library: the program's stands deeper than the simulator's.
pairs='cblas_dgemm gsl_version_of sqlite3_libversion hwloc_get_api_version clGetPlatformIDs make_fcontext'
for name in $pairs; do
	echo "int $name(void); int $name(void) { return 42; }"
	calls="${calls-} + ($name() == 42)"
done > deep.c
{
	for name in $pairs; do echo "int $name(void);"; done
	echo "int down_6(void); int down_6(void) { return 0${calls}; }"
} > down_6.c
$CC -shared -fPIC -o libdeep.so deep.c || die "cannot build libdeep.so"
$CC -shared -fPIC -o libdown_6.so down_6.c -L. -ldeep -Wl,-rpath,"$PWD" || die "cannot build libdown_6.so"
for i in 5 4 3 2 1; do
	next=$((i + 1))
	echo "int down_$next(void); int down_$i(void); int down_$i(void) { return down_$next(); }" > down.c
	$CC -shared -fPIC -o libdown_$i.so down.c -L. -ldown_$next -Wl,-rpath,"$PWD" || die "cannot build libdown_$i.so"
done
cat > pair.c <<'END'
#include <stdio.h>
#include <starpu.h>
int down_1(void);
int main(void)
{
	if (starpu_init(NULL))
		return 77;
	printf("%d of the program\n", down_1());
	starpu_shutdown();
	return 0;
}
END
ok "$ORRERY" cc --sim pair.c -L. -ldown_1 -Wl,-rpath,"$PWD" -o pair.sim
ok "$ORRERY" sim --quiet -n 2 ./pair.sim
[ "$(grep -c '^6 of the program$' out)" = 2 ] || die "functions of the simulator's libraries are called: $(cat out)"

# A library that is loaded later and linked with nothing calls the runtime and MPI.
cat > plugin.c <<'END'
#include <starpu_mpi.h>
int plugin(void);
int plugin(void)
{
	int rank = -1;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	return 10 * (int) starpu_worker_get_count() + rank;
}
END
cat > loads.c <<'END'
#include <dlfcn.h>
#include <starpu_mpi.h>
int main(int argc, char **argv)
{
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	void *object = dlopen(argv[1], RTLD_NOW);
	int (*plugin)(void) = object ? (int (*)(void)) dlsym(object, "plugin") : NULL;
	printf("%s\n", plugin ? "loaded" : dlerror());
	int ok = plugin && plugin() == 10 * (int) starpu_worker_get_count() + starpu_mpi_world_rank();
	starpu_mpi_shutdown();
	return !ok;
}
END
ok "$ORRERY" cc --sim -shared -fPIC -nostartfiles -c plugin.c -o plugin.o
$CC -shared -o plugin.so plugin.o || die "cannot build plugin.so"
ok "$ORRERY" cc --sim loads.c -ldl -o loads.sim
ok "$ORRERY" sim --quiet --cpus 3 -n 2 ./loads.sim "$PWD/plugin.so"
echo "the program's libraries are its own"
