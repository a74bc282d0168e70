# SPDX-License-Identifier: LGPL-2.1-or-later
#
# quickstart installs packages before it configures, tools of tests before these, and configures again, with the options of the build tree, when
# packages that configure looks for have come since; not otherwise. Packages, configure and make are imitated.
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
command -v bash > /dev/null || skip "needs bash"
calls=$PWD/calls db=$PWD/db
export calls db
mkdir -p bin src/build-aux src/tests/lib
cp "$ORR_TEST_SRCDIR/quickstart" src/
program() { cat > "$1" && chmod +x "$1"; }

echo '#!/bin/sh
for p; do :; done
grep -q -x -e "$p" "$db" && echo "install ok installed"' | program bin/dpkg-query
echo '#!/bin/sh
[ "$1" = install ] || exit 0
shift
n=0
case $* in *gcc*) ;; *gdb*) until [ "$(grep -c "^make" "$calls")" -ge 2 ] || [ $((n += 1)) -gt 300 ]; do sleep 0.1; done ;; *python3-matplotlib*) until grep -q "orrery sim" "$calls" || [ $((n += 1)) -gt 300 ]; do sleep 0.1; done ;; esac
for p; do case $p in -*) ;; *) echo "$p" >> "$db" ;; esac; done
echo packages >> "$calls"' | program bin/apt-get
echo '#!/bin/sh
echo 0' | program bin/id
echo '#!/bin/sh
echo "make" >> "$calls"
: > test-suite.log' | program bin/make
echo 'echo "1 passed, 0 failed"' > src/tests/lib/summary
: > src/build-aux/sources.sh
echo '#!/bin/sh
echo "config.status $*" >> "$calls"' | program config.status
echo '#!/bin/sh
echo "configure $*" >> "$calls"
: > Makefile
cp "${0%/*}/../config.status" .' | program src/configure
unset QUICKSTART_CONFIGURE QUICKSTART_BUILD QUICKSTART_RESULTS MAKEFLAGS MAKELEVEL
PATH=$PWD/bin:$PATH
export PATH

# expect LINES ARGUMENT...: quickstart with these arguments does this, in this order.
expect() {
	lines=$1
	shift
	: > "$calls"
	ok bash src/quickstart "$@"
	printf '%s' "$lines" | tr ';' '\n' | sed 's/ *$//' > want
	sed 's/ *$//' "$calls" | cmp -s - want || { cat "$calls"; die "quickstart $* did not do: $lines"; }
}

# A machine that has nothing: packages come before configure, and tools that it does not look for while all is built, before tests.
: > "$db"
expect 'packages;packages;configure ;make;make;packages;make;' check
expect 'make;make;make;' check
has out '^1 passed, 0 failed$'

# First without those of single tests, which then come: the options stay.
: > "$db"
rm -rf src/build
export QUICKSTART_CONFIGURE="--enable-werror"
expect 'packages;configure --enable-werror;make;' build
unset QUICKSTART_CONFIGURE
expect 'packages;config.status --recheck;config.status ;make;make;packages;make;' check
has out 'configuring in .* again'
expect 'make;' build

# One that came by itself; tools that configure does not look for.
grep -v -x gfortran "$db" > less && cp less "$db"
expect 'config.status --recheck;config.status ;make;' --no-install build
expect 'packages;config.status --recheck;config.status ;make;make;make;' check
grep -v -x gdb "$db" > less && cp less "$db"
expect 'make;make;packages;make;' check

# A build tree that was configured by hand keeps its options, too.
rm -rf src/build && mkdir src/build && (cd src/build && ../configure --disable-fortran)
expect 'make;' --no-install build
rm -rf src/build && mkdir src/build && (cd src/build && ../configure --disable-fortran)
grep -v -x gfortran "$db" > less && cp less "$db"
expect 'packages;config.status --recheck;config.status ;make;make;make;' check

# Other options are taken.
export QUICKSTART_CONFIGURE="--enable-debug"
expect 'configure --enable-debug;make;' build

# The main job ends with the explanation of its recorded run and the report's path, which is drawn meanwhile; without a report, it says so.
mkdir -p src/build/examples/cholesky
: > src/build/examples/cholesky/cholesky.sim
echo '#!/bin/sh
n=0
[ "$1" != report ] || until [ -e explained ] || [ $((n += 1)) -gt 300 ]; do sleep 0.1; done
echo "orrery $1" >> "$calls"
case $1 in
sim)
	case " $* " in *" -n 1024 "*"/results/trace "*) ;; *) exit 3 ;; esac
	rm -f explained
	echo events > "$trace" ;;
matrix) grep -q -x python3-matplotlib "$db" || exit 4 ;;
explain) : > explained; [ "$2" = "$trace" ] && [ -s "$2" ] && echo "most of it: gemm" ;;
report)
	[ "$2" = "$trace" ] && [ -s "$2" ] && [ ! -e noreport ] || { echo "orrery report: no numpy" >&2; exit 1; }
	echo "$4 (1.0 MB)" ;;
esac' | program src/build/orrery
trace=$PWD/src/results/trace
export trace
echo python3-matplotlib >> "$db"
expect 'make;orrery sim;orrery matrix;orrery explain;orrery report;' --no-install
has out '^most of it: gemm$'
tail -n 1 out | grep -q -x "$PWD/src/results/report.html (1.0 MB)" || die "the last line is not the report's path"
# What draws is installed while the rest is built, and is there before anything is drawn.
: > "$db"
expect 'packages;config.status --recheck;config.status ;make;orrery sim;packages;orrery matrix;orrery explain;orrery report;'
has out 'installing python3-matplotlib .* meanwhile'
: > src/build/noreport
expect 'make;orrery sim;orrery matrix;orrery explain;orrery report;' --no-install
has err 'no numpy'
has out 'there is no report, see above'
rm "$trace"
# A run that cannot be explained is a failure.
sed 's/echo events > "$trace"/:/' src/build/orrery > other && program src/build/orrery < other
fails 1 'could not be explained' bash src/quickstart --no-install
