# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Without private names of SimGrid (--with-simgrid-interface=public): the library needs none of them,
# simulations take the same virtual time as with private ones, and what cannot is refused by name. A
# build with private names makes such a library here, of its own objects and of the files of
# sim/public.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world"
[ "$ORR_TEST_SANITIZER" = no ] || skip "sanitizers bring a launcher of their own"
objects=$ORR_TEST_BUILDDIR/sim
source=$ORR_TEST_SRCDIR here=$PWD
[ -e "$objects/launcher/.libs/liborrery_sim_la-glue.o" ] || skip "no objects of a shared library in this build"

# make_says VARIABLE: as the Makefile of the build has it.
printf 'include Makefile\norr-say: ; @echo $(%s)\n' '$(ORR_SAY)' > say.mk
make_says() { (cd "$ORR_TEST_BUILDDIR" && make -s -f "$here/say.mk" orr-say ORR_SAY="$1"); }

# compile FILE COMPILER FLAGS...: becomes an object of that name here.
compile() {
	file=$1
	shift
	# shellcheck disable=SC2048,SC2086
	(cd "$ORR_TEST_BUILDDIR" && $* -DORR_SIMGRID_PUBLIC -c -o "$here/$(echo "$file" | tr / _).o" "$source/$file") || die "cannot compile $file"
}

# The command that links `orrery sim` of that build (private or public) with other objects.
major=$(make_says ORR_LIBRARY_MAJOR)
if [ "$(make_says orr_simgrid_interface)" = public ]; then
	libs=$ORR_TEST_BUILDDIR/.libs
else
	mkdir -p libs common sim/public || exit 1
	libs=$here/libs
	flags="$(make_says liborrery_sim_la_CPPFLAGS) $(make_says CPPFLAGS) -I$here"
	c="$(make_says CC) $flags $(make_says liborrery_sim_la_CFLAGS) $(make_says CFLAGS)"
	cxx="$(make_says CXX) $flags $(make_says liborrery_sim_la_CXXFLAGS) $(make_says CXXFLAGS)"
	ok make -C "$ORR_TEST_BUILDDIR" sim/public/mpi_names.def
	for file in "$source"/sim/public/*.c "$source"/sim/launcher/calls.c "$source"/sim/launcher/interpose*.c; do
		case $file in */interpose_loop.c | */interpose_who.c) continue ;; esac
		case $file in
		*/interpose*) compile "${file#"$source/"}" "$c -fPIE -I$ORR_TEST_BUILDDIR -DORR_SIM_LIBRARY=\\\"liborrery-sim.so.$major\\\"" ;;
		*) compile "${file#"$source/"}" "$c -fPIC" ;;
		esac
	done
	for file in "$source"/sim/public/*.cpp; do compile "${file#"$source/"}" "$cxx -fPIC"; done
	# The other objects of the library. They differ by the name of virtual time.
	for object in $(make_says liborrery_sim_la_OBJECTS); do
		object=$(dirname "$object")/.libs/$(basename "$object" .lo).o
		case $object in
		*-background.o | *-early.o | *-equal.o | *-flat.o | *-guard.o | *-messages.o | *-world.o) continue ;;
		*-sim_glue.o | *-sim_turns.o | */launcher/*-calls.o) continue ;;
		esac
		objcopy --redefine-sym _ZN7simgrid6kernel10EngineImpl4now_E=orr_sim_public_now_s \
			"$ORR_TEST_BUILDDIR/$object" "common/$(echo "$object" | tr / _)" || die "objcopy of $object"
	done
	mv sim_*interpose*.o libs
	library=liborrery-sim.so.$major
	# shellcheck disable=SC2046,SC2086
	ok $(make_says CXX) -shared -o libs/$library common/*.o ./*.o $(make_says LDFLAGS) $(make_says liborrery_sim_la_LIBADD) \
		-lstdc++ -Wl,-soname,$library -Wl,-z,defs -Wl,--version-script="$source/src/exports.map"
	# shellcheck disable=SC2046
	ok $(make_says CC) -o libs/orrery-sim-launcher libs/*.o -rdynamic -ldl -pthread
	cp "$ORR_TEST_BUILDDIR/.libs/liborrery-sim-scope.so" libs
fi

# ---- names ----

private=$(nm -D -C --undefined-only "$libs/liborrery-sim.so.$major" | grep -E 'simgrid::(kernel|smpi|surf|simix)::' |
	grep -v 'kernel::routing::NetPoint')
[ -z "$private" ] || die "private names of SimGrid: $private"
