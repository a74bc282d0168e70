# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A SimGrid that does not call the functions that we interpose is refused with the name of the
# function; so are another release and settings that our turns of actors cannot bear. To SimGrid, a
# launcher that lacks a name looks as one does to a library linked with -Bsymbolic-functions.
# orr-test: timeout 300
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world"
[ "$ORR_TEST_SANITIZER" = no ] || skip "sanitizers bring a launcher of their own"
libs=$ORR_TEST_BUILDDIR/.libs
program=$ORR_TEST_BUILDDIR/tests/mpi/ring_detached.sim
[ -x "$libs/orrery-sim-launcher" ] || skip "the launcher of this build is not in .libs"

cat > without.py <<'END'
import sys
name, source, target = sys.argv[1].encode() + b"\0", sys.argv[2], sys.argv[3]
data = open(source, "rb").read()
at = data.index(b"\0" + name) + 1
open(target, "wb").write(data[:at] + b"?" + data[at + 1:])
END

# launch LAUNCHER OPTION...: the program on 2 nodes.
launch() { LD_LIBRARY_PATH=$libs timeout 60 "$@" -n 2 "$program"; }

# refuses NAME SYMBOL: without the symbol.
refuses() {
	python3 without.py "$2" "$libs/orrery-sim-launcher" launcher || die "no name $2 in the launcher"
	chmod +x launcher
	fails 1 "never calls our $1: .*-Bsymbolic-functions.*install" launch ./launcher
	[ "$(wc -l < err)" = 1 ] || die "more than one line"
}

# One header, with those of single releases, declares private names.
private=$(grep -rlE '^namespace simgrid|_ZNK?7simgrid' "$ORR_TEST_SRCDIR/sim" "$ORR_TEST_SRCDIR/src" |
	grep -v '/simgrid_\(private\|[0-9_]*\)\.h$')
[ -z "$private" ] || die "names of SimGrid outside of sim/sys/simgrid_private.h: $private"

ok launch "$libs/orrery-sim-launcher"
if [ "${ORR_TEST_SIM_INTERFACE-}" != public ]; then
	refuses 'Context::set_current\(\)' _ZN7simgrid6kernel7context7Context11set_currentEPS2_
	refuses 'Context::self\(\)' _ZN7simgrid6kernel7context7Context4selfEv
	refuses 'Actor::self\(\)' _ZN7simgrid3s4u5Actor4selfEv
	refuses 'this_actor::get_pid\(\)' _ZN7simgrid3s4u10this_actor7get_pidEv
	refuses 'sg_host_self\(\)' sg_host_self
	refuses 'EngineImpl::solve\(\)' _ZNK7simgrid6kernel10EngineImpl5solveEd
	refuses 'CommImpl::isend\(\)' _ZN7simgrid6kernel8activity8CommImpl5isendEPNS0_5actor16CommIsendSimcallE
	refuses 'CommImpl::start\(\)' _ZN7simgrid6kernel8activity8CommImpl5startEv
	refuses 'EngineImpl::handle_ended_actions\(\)' _ZNK7simgrid6kernel10EngineImpl20handle_ended_actionsEv
fi

fails 1 'contexts/factory:thread: actors must not be threads .*leave the setting out' \
	"$ORRERY" sim -n 2 --cfg contexts/factory:thread "$program"
fails 1 'contexts/nthreads:2: one thread runs all actors .*leave the setting out' \
	"$ORRERY" sim -n 2 --cfg contexts/nthreads:2 "$program"

# The release of its headers.
include=$(sed -n 's/^SMPI_INCLUDE = \(.*\)\/smpi$/\1/p' "$ORR_TEST_BUILDDIR/Makefile")
number() { sed -n "s/^#define SIMGRID_VERSION_$1 *//p" "$include/simgrid/version.h"; }
major=$(number MAJOR)
release=$major.$(number MINOR)

case ${ORR_TEST_SIM_INTERFACE:-private}$release in
private4.*)
	refuses 'simcall_run_object_access\(\)' \
		_Z25simcall_run_object_accessRKSt8functionIFvvEEPN7simgrid6kernel5actor23ObjectAccessSimcallItemE
	;;
esac

# Another release of the library.
cat > other.c <<'END'
void sg_version_get(int *major, int *minor, int *patch) { *major = 3; *minor = 31; *patch = 0; }
END
$CC -shared -fPIC -o other.so other.c || die "cannot build other.so"
fails 1 "the library of SimGrid 3.31, and Orrery was built for $release; configure and build" \
	env LD_PRELOAD="$PWD/other.so" LD_LIBRARY_PATH="$libs" "$libs/orrery-sim-launcher" -n 2 "$program"

# Another release of its headers, for configure, which is the same for all builds.
[ "$ORR_TEST_DEBUG" = no ] || exit 0
rm -rf other
mkdir -p other/lib other/include/simgrid
for f in "$include"/simgrid/* "$include"/smpi "$include"/xbt*; do
	case $f in
	*/version.h) sed 's/^\(#define SIMGRID_VERSION_MINOR\).*/\1 99/' "$f" > other/include/simgrid/version.h ;;
	*/simgrid/*) ln -s "$f" other/include/simgrid/ ;;
	*) ln -s "$f" other/include/ ;;
	esac
done
ln -s "$($CC -print-file-name=libsimgrid.so)" other/lib/libsimgrid.so
mkdir configured
cd configured || exit 1
# Findings about this SimGrid are kept for the second call; MPI and the manual are not looked for.
configure() { "$ORR_TEST_SRCDIR/configure" --cache-file=cache --with-simgrid="$OLDPWD/other" --without-mpicc SPHINX_BUILD=/bin/false "$@"; }
fails 1 "with-simgrid=.*other: this is SimGrid $major.99, and Orrery knows the inside of [0-9., and]+ only" \
	configure --with-simgrid-interface=private
# By itself it does without them.
ok configure
has err "WARNING: this is SimGrid $major.99, .*installed headers alone"
has out 'simulated world +yes, .* by its installed headers alone'
has Makefile '^orr_simgrid_interface = public$'
exit 0
