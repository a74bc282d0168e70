# SPDX-License-Identifier: LGPL-2.1-or-later
#
# An installed Orrery that was moved to another place is found there by CMake's find_package(), by
# autotools, Meson, plain make and starpu.mk, and what they build runs in each world that was built.
# A component that is missing, or that nobody knows, is refused with a remedy.
# orr-test: timeout 300
# orr-test: sanitizer none
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI$ORR_TEST_SIM" != nono ] || skip "no world with ranks"
command -v pkg-config > /dev/null || skip "there is no pkg-config"
grep -q -F 'prefix=${pcfiledir}/' "$ORR_TEST_BUILDDIR/pkgconfig/orrery.pc" || skip "configured for a prefix that is not moved"
. "$ORR_TEST_SRCDIR/tests/lib/installed.sh"
projects=$ORR_TEST_SRCDIR/examples/projects
install_orrery
mkdir other
mv "$inst" other/place || die "it cannot be moved"
place=$PWD/other/place
worlds=
[ "$ORR_TEST_MPI" != yes ] || worlds=real
[ "$ORR_TEST_SIM" != yes ] || worlds="$worlds sim"
with_mpi() { [ "$ORR_TEST_MPI" = yes ]; }
with_sim() { [ "$ORR_TEST_SIM" = yes ]; }
unset CC CXX FC LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH PKG_CONFIG
eval "$("$place/bin/orrery" env)"
[ "$(command -v orrery)" = "$place/bin/orrery" ] || die "orrery env names another place: $PATH"

# No file that tells where things are names the place where it was.
if grep -r -l -F -e "$inst/" "$place/lib/pkgconfig" "$place/lib/cmake" "$place/lib/orrery/sim" "$place/share/starpu" > left; then
	die "these name the former place: $(cat left)"
fi

# runs FOLDER [PROGRAM]: the program of the example projects, or another with the same output, in each world.
runs() {
	for world in $worlds; do
		case $world in
		real)
			ok ldd "$1/${2-total}"
			if grep 'orrery' out | grep -v -F -e "$place/"; then die "$1: libraries of another place"; fi
			ok orrery run -n 2 --oversubscribe "$1/${2-total}"
			has out '^total 5050 on 2 ranks: OK$'
			;;
		sim)
			ok orrery sim --quiet -n 4 "$1/${2-total}.sim"
			has out '^total 5050 on 4 ranks: OK$'
			;;
		esac
	done
}

# Plain make, by `orrery cc`; and by starpu.mk, as makefiles for StarPU do.
mkdir plain
cp "$projects"/total.c "$projects"/Makefile.plain plain
! with_mpi || ok make -C plain -f Makefile.plain total
! with_sim || ok make -C plain -f Makefile.plain total.sim
runs plain
if with_mpi && with_sim; then
	ok make -C plain -f Makefile.plain check
	has out '^total 5050 on 16 ranks: OK$'
fi
# starpu_mk PLACE-OF-STARPU.MK COMPILER OUTPUT
starpu_mk() {
	printf 'include %s/starpu/starpu.mk\n%s: total.c\n\t%s $(STARPU_MPI_CFLAGS) total.c -o $@ $(STARPU_MPI_LIBS)\n' "$1" "$3" "$2" > plain/Makefile.starpu
	ok env PKG_CONFIG_PATH= make -C plain -f Makefile.starpu "$3"
}
rm -f plain/total plain/total.sim
! with_mpi || starpu_mk "$place/share" "${CC-cc}" total
! with_sim || starpu_mk "$place/lib/orrery/sim/share" orrery-sim-cc total.sim
runs plain

autotools() {
	cp -r "$projects" auto && chmod -R u+w auto
	ok autoreconf -fi auto
	mkdir auto/build
	(cd auto/build && ok ../configure -q --disable-dependency-tracking) || exit 1
	ok make -s -C auto/build
	runs auto/build
}
if ! with_mpi; then
	echo "left out: autotools and Meson, whose projects need MPI"
elif command -v autoreconf > /dev/null && command -v automake > /dev/null; then
	autotools
else
	echo "left out: autotools, which are not installed"
fi
if with_mpi && command -v meson > /dev/null; then
	ok meson setup meson "$projects"
	ok meson compile -C meson
	runs meson
elif with_mpi; then
	echo "left out: Meson, which is not installed"
fi

command -v cmake > /dev/null || { echo "left out: CMake, which is not installed"; exit 0; }
if with_mpi; then
	ok cmake -S "$projects" -B cmake -DCMAKE_BUILD_TYPE=Release
	ok cmake --build cmake
	runs cmake
	ok cmake --build cmake --target test
fi
# For the simulated world by compiler: one program, which is for that world.
by_compiler() (
	eval "$(orrery env --sim)"
	unset CXX FC
	ok cmake -S "$projects" -B cmake-sim
	ok cmake --build cmake-sim
	[ ! -e cmake-sim/total.sim ] || die "both are for the simulated world"
	mv cmake-sim/total cmake-sim/total.sim
	worlds=sim runs cmake-sim
)
if with_mpi && with_sim; then by_compiler || exit 1; fi

# A program that includes only mpi.h and a library, with settings that CMake gets after it was added.
mkdir own
cat > own/own.c << 'END'
#include <stdio.h>
#include "part.h"
#ifndef FACTOR
#error the definition is not there
#endif
int main(int argc, char **argv)
{
	int rank, size, all, mine;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	mine = part(rank ? 0 : FACTOR);
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("total %d on %d ranks: %s\n", all, size, OF_DYN);
	MPI_Finalize();
	return 0;
}
END
mkdir own/part
printf '#include <mpi.h>\n#ifdef ORRERY_DYN_H\n#define OF_DYN "OK"\n#else\n#define OF_DYN "orrery_dyn.h is not there"\n#endif\nint part(int x);\n' > own/part/part.h
echo 'int part(int x); int part(int x) { return 50 * x; }' > own/part/part.c
cat > own/CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.15)
project(own C)
find_package(Orrery 0.1 REQUIRED COMPONENTS ${COMPONENTS})
add_library(part STATIC part/part.c)
set_target_properties(part PROPERTIES POSITION_INDEPENDENT_CODE ON)
set(libraries part m)
if(Orrery_mpi_FOUND)
	find_package(MPI REQUIRED)
	list(APPEND libraries MPI::MPI_C)
endif()
orrery_add_program(own SOURCES own.c WORLDS ${WORLDS} LIBRARIES ${libraries} ELASTIC)
foreach(target own own.sim)
	if(TARGET ${target})
		target_compile_definitions(${target} PRIVATE FACTOR=101)
		target_include_directories(${target} PRIVATE part)
		break()
	endif()
endforeach()
# StarPU's own way
find_package(PkgConfig REQUIRED)
pkg_check_modules(STARPU REQUIRED starpu-1.4)
if(NOT STARPU_VERSION VERSION_GREATER_EQUAL 1.4 OR NOT STARPU_LIBRARIES)
	message(FATAL_ERROR "starpu-1.4: ${STARPU_VERSION} ${STARPU_LIBRARIES}")
endif()
END
components=
! with_mpi || components="mpi;dyn"
! with_sim || components="$components;sim;mpi-sim"
ok cmake -S own -B own-build "-DCOMPONENTS=$components" "-DWORLDS=$(echo $worlds | tr ' ' ';')"
ok cmake --build own-build
runs own-build own
if with_sim; then
	ok ldd own-build/own.sim
	if grep 'libmpi\|liborrery\.so\|liborrery-mpi' out; then die "a simulated program is linked with a real MPI"; fi
fi

# asks WORDS...: a project that looks for Orrery with these words.
asks() {
	mkdir -p asks
	printf 'cmake_minimum_required(VERSION 3.15)\nproject(asks NONE)\n%s\nmessage("found: ${Orrery_FOUND} ${Orrery_VERSION} ${Orrery_sim_FOUND}")\n' "$*" > asks/CMakeLists.txt
	rm -rf asks/build
	cmake -S asks -B asks/build
}
ok asks 'find_package(Orrery REQUIRED)'
ok asks 'find_package(Orrery 0.1.0 EXACT REQUIRED COMPONENTS orrery)'
has err '^found: 1 0\.1\.0'
ok asks 'find_package(Orrery OPTIONAL_COMPONENTS hocus)'
has err '^found: 1'
ok asks 'find_package(Orrery QUIET COMPONENTS hocus)'
has err '^found: (0|FALSE)'
fails 1 'no such component' asks 'find_package(Orrery REQUIRED COMPONENTS hocus)'
fails 1 '99' asks 'find_package(Orrery 99 REQUIRED)'
fails 1 'it has no SOURCES|has no SOURCES' asks 'find_package(Orrery REQUIRED)
orrery_add_program(app app.c)'
fails 1 'WORLDS takes real and sim' asks 'find_package(Orrery REQUIRED)
orrery_add_program(app SOURCES app.c WORLDS unreal)'
# A part that was not built has no module of pkg-config.
rm -f "$place"/lib/pkgconfig/orrery-sim.pc
fails 1 'component sim:' asks 'find_package(Orrery REQUIRED COMPONENTS sim)'
has err 'libsimgrid-dev'
ok asks 'find_package(Orrery REQUIRED OPTIONAL_COMPONENTS sim)'
has err '^found: 1 0\.1\.0 FALSE'
rm -f "$place"/lib/pkgconfig/orrery-mpi.pc
fails 1 'component mpi:' asks 'find_package(Orrery REQUIRED COMPONENTS mpi)'
has err 'libopenmpi-dev'
rm -f "$place"/lib/liborrery.*
fails 1 'liborrery' asks 'find_package(Orrery REQUIRED)'
has err 'install Orrery again'
