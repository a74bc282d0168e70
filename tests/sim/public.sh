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

# make_says VARIABLE: as the Makefile of the build has it. To read that file takes longer than all else that make does: once.
mkdir says
printf 'include Makefile\norr-say: ; @$(foreach v,$(ORR_SAY),echo $($(v)) > "$(ORR_TO)/$(v)";)\n' > say.mk
(cd "$ORR_TEST_BUILDDIR" && make -s -f "$here/say.mk" orr-say ORR_TO="$here/says" ORR_SAY="CC CFLAGS CPPFLAGS CXX CXXFLAGS LDFLAGS
	liborrery_sim_la_CFLAGS liborrery_sim_la_CPPFLAGS liborrery_sim_la_CXXFLAGS liborrery_sim_la_LIBADD liborrery_sim_la_OBJECTS
	ORR_LIBRARY_MAJOR orr_sim_private orr_simgrid_interface") || die "the Makefile of the build does not say its variables"
make_says() { cat "$here/says/$1" || echo "no-such-variable-$1"; }

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
		*/interpose*) compile "${file#"$source/"}" "$c -fPIE -I$ORR_TEST_BUILDDIR -DORR_SIM_LIBRARY=\"liborrery-sim.so.$major\"" ;;
		*) compile "${file#"$source/"}" "$c -fPIC" ;;
		esac
	done
	for file in "$source"/sim/public/*.cpp; do compile "${file#"$source/"}" "$cxx -fPIC"; done
	# shellcheck disable=SC2046
	without=" $(printf '%s\n' $(make_says orr_sim_private) sim/launcher/calls.c | sed 's|\(.*\)/\([^/]*\)\.[^.]*$|\1/.libs/liborrery_sim_la-\2.o|' | tr '\n' ' ')"
	# The other objects of the library. They differ by the name of virtual time.
	for object in $(make_says liborrery_sim_la_OBJECTS); do
		object=$(dirname "$object")/.libs/$(basename "$object" .lo).o
		case $without in *" $object "*) continue ;; esac
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

# Functions that installed headers declare may have parameters of private types.
private=$(nm -D -C --undefined-only "$libs/liborrery-sim.so.$major" |
	grep -E '^ *[A-Za-z] ([a-z -]+ for )?(simgrid::(kernel|smpi|surf|simix)::|simcall_)' | grep -v 'kernel::routing::NetPoint')
[ -z "$private" ] || die "private names of SimGrid: $private"

# ---- simulations ----

programs=$ORR_TEST_BUILDDIR/tests/mpi
# launch OPTION...: by that library.
launch() { LD_LIBRARY_PATH=$libs timeout 120 "$libs/orrery-sim-launcher" "$@"; }
makespan() { sed -n 's/.*"makespan_s": *\([0-9.eE+-]*\).*/\1/p' "$1" | head -n 1; }

# same OPTION...: within 0.05 % of what this build predicts.
same() {
	ok launch --report public.json "$@"
	ok "$ORRERY" sim --report own.json "$@"
	awk -v a="$(makespan public.json)" -v b="$(makespan own.json)" 'BEGIN { exit !(a > 0 && a < b * 1.0005 && a > b * 0.9995) }' ||
		die "$(makespan public.json) s without private names, $(makespan own.json) s with them: $*"
}
unset ORRERY_SIM_OWN_MPI
for network in share queue tcp maxmin; do same -n 4 --network $network "$programs/ring_detached.sim"; done
same -n 1 "$ORR_TEST_BUILDDIR/tests/core/kernel_waits.sim"
same -n 1 "$ORR_TEST_BUILDDIR/tests/core/pthread.sim"
same -n 4 "$programs/insert_task.sim"

# A program sees no names of the libraries that SimGrid needs: SMPI's functions are the executable's here.
ldd "$libs/liborrery-sim.so.$major" > needs
names=
for name in libgfortran:_gfortran_st_write libboost_context:make_fcontext; do
	if grep -q "${name%:*}" needs; then names="$names ${name#*:}"; fi
done
[ -n "$names" ] || die "SimGrid needs none of the libraries that are known here: $(cat needs)"
cat > sees.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <starpu.h>
int main(int argc, char **argv)
{
	if (starpu_init(NULL))
		return 77;
	for (int i = 1; i < argc; i++)
		if (dlsym(RTLD_DEFAULT, argv[i]))
			printf("sees %s\n", argv[i]);
	starpu_shutdown();
	return 0;
}
END
ok "$ORRERY" cc --sim sees.c -o sees.sim
# shellcheck disable=SC2086
ok launch -n 1 ./sees.sim $names starpu_task_submit
[ "$(cat out)" = "sees starpu_task_submit" ] || die "names of other libraries: $(cat out)"

# ---- what is refused ----

fails 1 '--network smpi: .*--with-simgrid-interface=private' launch -n 2 --network smpi "$programs/ring_detached.sim"
fails 1 '--background-load: .*--with-simgrid-interface=private' launch -n 2 --network maxmin --background-load 20 "$programs/ring_detached.sim"
fails 1 'rank [01]: MPI_Barrier\(\) would send messages that leave late.*ORRERY_SIM_OWN_MPI=late' launch -n 2 "$programs/any_source.sim"
fails 1 'ORRERY_SIM_OWN_MPI=early: expected late' env ORRERY_SIM_OWN_MPI=early LD_LIBRARY_PATH="$libs" \
	"$libs/orrery-sim-launcher" -n 2 "$programs/any_source.sim"
export ORRERY_SIM_OWN_MPI=late
ok launch -n 2 "$programs/any_source.sim"
ok launch -n 2 "$programs/own_mpi.sim"
# Algorithms that treat ranks of one node apart, and operations of one rank alone.
ok launch -n 4 "$ORR_TEST_BUILDDIR/tests/sim/parts.sim"
ok launch -n 4 --collectives mpich "$ORR_TEST_BUILDDIR/tests/sim/parts.sim"
fails 1 'rank 0: MPI_Comm_rank\(\) by a kernel, callback or thread' launch -n 2 "$programs/member.sim"
unset ORRERY_SIM_OWN_MPI

# A link changes in the midst of messages; a torus has routes of different latencies.
ok "$ORRERY" platform -n 4 --topology crossbar -o crossbar.xml
ok "$ORRERY" platform -n 8 --topology torus -o torus.xml
fails 1 '--network maxmin on a platform with routes of different latencies .*interface=private' \
	launch -n 8 --platform torus.xml --network maxmin "$programs/ring_detached.sim"
ok launch -n 8 --platform torus.xml "$programs/ring_detached.sim"
printf 'SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n2\nSwitchName=top Switches=a,b\n' > topology.conf
ok "$ORRERY" platform --switches topology.conf --hop-latency 5us -o switches.xml
fails 1 '--network maxmin on a platform with routes of different latencies .*interface=private' \
	launch -n 3 --platform switches.xml --network maxmin "$programs/ring_detached.sim"
cat > profile.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="1Gf"/>
    <link id="wire" bandwidth="1GBps" latency="1us" bandwidth_file="wire.profile"/>
    <link id="own" bandwidth="10GBps" latency="100ns" sharing_policy="FATPIPE"/>
    <route src="a" dst="a"><link_ctn id="own"/></route>
    <route src="b" dst="b"><link_ctn id="own"/></route>
    <route src="a" dst="b"><link_ctn id="wire"/></route>
  </zone>
</platform>
END
printf '0.00001 1e8\n' > wire.profile
fails 1 'changes the bandwidth of the link wire during the run: .*interface=private' \
	launch -n 2 --platform profile.xml "$programs/ring_detached.sim"
exit 0
