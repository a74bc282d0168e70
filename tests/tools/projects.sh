# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A project in C, C++ and Fortran that knows nothing of Orrery builds for both worlds
# with CMake and with autotools, against an installed Orrery, by CC, PKG_CONFIG_PATH
# and the places that CMake searches alone; and it runs in both. The names by which it
# looks for StarPU do not touch another StarPU's.
# orr-test: timeout 600
# orr-test: sanitizer none
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] && [ "$ORR_TEST_SIM" = yes ] || skip "needs both worlds"
command -v pkg-config > /dev/null || skip "there is no pkg-config"
project=$ORR_TEST_SRCDIR/tests/tools/project
. "$ORR_TEST_SRCDIR/tests/lib/installed.sh"
install_orrery
has out 'for the simulated world, set CC=orrery-sim-cc'
[ "$(cd "$(PKG_CONFIG_PATH=$inst/lib/pkgconfig pkg-config --variable=prefix starpu-1.3)" && pwd)" = "$inst" ] || die "prefix of starpu-1.3"
for with_mpi in libstarpumpi starpumpi-1.0 starpumpi-1.1 starpumpi-1.2 starpumpi-1.3 starpumpi-1.4; do
	module=$(echo $with_mpi | sed 's/mpi//')
	for world in "$inst" "$inst/lib/orrery/sim"; do
		for variable in prefix exec_prefix libdir includedir; do
			value=$(PKG_CONFIG_PATH=$world/lib/pkgconfig pkg-config --variable=$variable $module)
			[ -d "$value" ] || die "$variable of $module in $world is '$value'"
		done
		PKG_CONFIG_PATH=$world/lib/pkgconfig pkg-config --exists "$module >= 1.3" $with_mpi ||
			die "$module in $world"
	done
done

if grep -r '@[a-z]*dir@\|@prefix@' "$inst/bin/starpu_env" "$inst/lib/pkgconfig" "$inst/lib/cmake"; then die "a place was not put in"; fi

# Also for those who ask for --static out of habit: only libraries that are there are named.
echo 'int main(void) { return 0; }' > nothing.c
for module in orrery orrery-mpi orrery-dyn starpu-1.3 starpumpi-1.3; do
	flags=$(PKG_CONFIG_PATH=$inst/lib/pkgconfig pkg-config --define-variable=prefix="$inst" --static --libs $module) || die "--static of $module"
	# shellcheck disable=SC2086
	ok $CC nothing.c -o nothing $flags
done

# in_world WORLD COMMAND...: with the variables of a user who builds for it.
in_world() {
	world=$1
	shift
	case $world in
	real) env PKG_CONFIG_PATH="$inst/lib/pkgconfig" CMAKE_PREFIX_PATH="$inst" LD_LIBRARY_PATH="$inst/lib" CFLAGS=-O1 CXXFLAGS=-O1 "$@" ;;
	sim) env PATH="$inst/bin:$PATH" CC=orrery-sim-cc CXX=orrery-sim-c++ FC=orrery-sim-fc PKG_CONFIG_PATH="$inst/lib/orrery/sim/lib/pkgconfig" \
		CMAKE_PREFIX_PATH="$inst/lib/orrery/sim" LD_LIBRARY_PATH="$inst/lib" CFLAGS=-O1 CXXFLAGS=-O1 "$@" ;;
	esac
}

# run_programs FOLDER-PREFIX: those of both worlds.
run_programs() {
	for n in 1 2; do
		ok in_world real "$inst/bin/orrery" run -n $n --oversubscribe "$1-real/ring"
		has out "^ring $((2 * n))\$"
		ok in_world real "$inst/bin/orrery" run -n $n --oversubscribe "$1-real/sum"
		has out "^sum $((200 * n))\$"
		[ "$ORR_TEST_FORTRAN" = yes ] || continue
		ok in_world real "$inst/bin/orrery" run -n $n --oversubscribe "$1-real/count"
		has out "^count $((25 * n))\$"
	done
	if [ "$ORR_TEST_FORTRAN" = yes ]; then
		ok in_world sim orrery sim -n 4 "$1-sim/count"
		has out '^count 100$'
	fi
	ok in_world sim orrery sim -n 4 "$1-sim/ring"
	has out '^ring 8$'
	ok in_world sim orrery sim -n 4 "$1-sim/sum"
	has out '^sum 800$'
	# By itself, as a test of the project: one node, or what the variable says.
	ok in_world sim "$1-sim/ring"
	has out '^ring 2$'
	[ ! -s err ] || { cat err; die "messages of a program that runs by itself"; }
	ORRERY_SIM_OPTIONS="-n 3" ok in_world sim "$1-sim/sum"
	has out '^sum 600$'
}

# A program with process sets that includes only mpi.h, by pkg-config alone: it needs no task runtime.
process_sets() {
	cp "$ORR_TEST_BUILDDIR/orrery-elastic" "$inst/libexec/orrery/" || die "no registry"
	# shellcheck disable=SC2046,SC2086
	ok $CC -include orrery_dyn.h "$ORR_TEST_SRCDIR/examples/elastic_loop/elastic_loop.c" -o loop \
		$(PKG_CONFIG_PATH=$inst/lib/pkgconfig pkg-config --define-variable=prefix="$inst" --cflags --libs orrery-dyn)
	ok in_world real ldd ./loop
	has out 'liborrery-dyn\.so'
	if grep 'liborrery\.so\|liborrery-mpi\|hwloc-mpi\|libstarpu' out; then die "a program with process sets loads the task runtime"; fi
	ok in_world real "$inst/bin/orrery" run --elastic -n 1 --max 2 ./loop -c 12 -f 5 -n 1 -l 2 -m i+
	has out '^end with 2 processes'
}
# Processes come and go with Open MPI 4 only.
[ "${ORR_TEST_ELASTIC-yes}" != yes ] || process_sets

# A program of the runtime refers to the library of process sets only by way of liborrery-mpi: a linker that drops
# what is not needed keeps it, whatever the order of the words is that make, libtool or CMake give it.
elastic_start() {
	cat > start.c <<- 'END'
	#include <starpu_mpi.h>
	#include <orrery_resize.h>
	#include <stdio.h>
	int main(int argc, char **argv)
	{
		MPI_Comm comm;
		int t = 0, joined = orrery_elastic_start(&argc, &argv, NULL, &comm, &t, sizeof(t));

		if (joined < 0)
			return 3;
		puts("it began");
		return orrery_elastic_end() != 0;
	}
	END
	flags=$(PKG_CONFIG_PATH=$inst/lib/pkgconfig pkg-config --define-variable=prefix="$inst" --cflags --libs orrery-dyn orrery-mpi)
	# shellcheck disable=SC2086
	sorted=$(printf '%s\n' $flags | sort -u)
	for words in "$flags" "$sorted"; do
		# shellcheck disable=SC2086
		ok $CC -Wl,--as-needed start.c -o start $words
		ok in_world real "$inst/bin/orrery" run --elastic -n 2 ./start
		has out '^it began'
	done
	# Without it, the run says so, and its status does, too.
	# shellcheck disable=SC2046
	ok $CC start.c -o start $(PKG_CONFIG_PATH=$inst/lib/pkgconfig pkg-config --define-variable=prefix="$inst" --cflags --libs orrery-mpi)
	fails 1 'the library of process sets is missing' in_world real "$inst/bin/orrery" run --elastic -n 2 ./start
	has err 'no process of the elastic run called MPI_Session_init'
}
[ "${ORR_TEST_ELASTIC-yes}" != yes ] || elastic_start

if command -v cmake > /dev/null; then
	for w in real sim; do
		ok in_world $w cmake -S "$project" -B cmake-$w -DWITH_FORTRAN=$ORR_TEST_FORTRAN
		ok in_world $w cmake --build cmake-$w
	done
	run_programs "$PWD/cmake"
fi
if command -v autoreconf > /dev/null && command -v automake > /dev/null; then
	cp -r "$project" auto && chmod -R u+w auto
	ok autoreconf -fi auto
	for w in real sim; do
		mkdir auto-$w
		(cd auto-$w && ok in_world $w ../auto/configure -q --disable-dependency-tracking --with-fortran=$ORR_TEST_FORTRAN) || exit 1
		ok in_world $w make -s -C auto-$w
	done
	ok in_world sim make -s -C auto-sim check
	run_programs "$PWD/auto"
fi

# Another StarPU in the same prefix keeps its files, and the user is told.
ok make_install
rm "$inst/lib/libstarpu-1.3.so"
echo other > "$inst/lib/libstarpu-1.3.so"
ok make_install
has out "Another StarPU is installed in $inst .*libstarpu-1.3.so"
[ "$(cat "$inst/lib/libstarpu-1.3.so")" = other ] || die "another StarPU's library was replaced"
[ ! -e "$inst/lib/pkgconfig/starpu-1.3.pc" ] || die "our names are mixed with another StarPU's"
[ "$(cd "$(PKG_CONFIG_PATH=$inst/lib/orrery/starpu/lib/pkgconfig pkg-config --variable=includedir starpu-1.4)" && pwd)" = \
	"$inst/lib/orrery/starpu/include" ] || die "the folder of its own"
[ -e "$inst/lib/orrery/starpu/include/starpu/1.4/starpu.h" ] || die "headers of the folder of its own"
[ -e "$inst/lib/orrery/starpu/lib/libstarpu-1.4.so" ] || die "libraries of the folder of its own"
# There, too, builds find Orrery's own names.
(
	eval "$("$inst/bin/orrery" env)"
	ok pkg-config --exists 'starpumpi-1.4 >= 1.4' orrery-mpi
	[ "$(cd "$(pkg-config --variable=prefix starpu-1.4)" && pwd)" = "$inst/lib/orrery/starpu" ] || die "the other StarPU comes first"
	[ -e "${CMAKE_PREFIX_PATH%%:*}/lib/cmake/Orrery/OrreryConfig.cmake" ] || die "CMake finds no Orrery in $CMAKE_PREFIX_PATH"
) || exit 1
