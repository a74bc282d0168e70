#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The loop program in C, which includes only mpi.h, and in Fortran, which uses only the module mpi:
# `orrery cc --elastic` and `orrery fc --elastic` build them, and each of their modes gives the same
# sets, names and ranks in both worlds. Mistakes of users on the way are named.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

source=$ORR_TEST_SRCDIR/examples/elastic_loop/elastic_loop.c
grep '^#include <' "$source" | grep -q orrery && die "the loop program includes more than mpi.h"
real=no
[ "$ORR_TEST_MPI" = yes ] && real=yes
if [ $real = yes ]; then ok "$ORRERY" cc --elastic "$source" -o loop; fi
[ "$ORR_TEST_SIM" = yes ] || skip "needs both worlds"
ok "$ORRERY" cc --elastic --sim "$source" -o loop.sim

fortran=$ORR_TEST_FORTRAN
if [ "$fortran" = yes ]; then
	sets=$ORR_TEST_SRCDIR/examples/elastic_sets.f90
	[ "$(cat "$sets" "${source%.c}.f90" | sed -n 's/^  use //p' | sort -u | tr '\n' ' ')" = 'elastic_sets mpi ' ] ||
		die "the loop program in Fortran uses more modules than mpi and its own"
	if [ $real = yes ]; then ok "$ORRERY" fc --elastic "$sets" "${source%.c}.f90" -o loop_f; fi
	ok "$ORRERY" fc --elastic --sim "$sets" "${source%.c}.f90" -o loop_f.sim
fi

# trace FILE: what the processes said, in an order that does not depend on who wrote first.
trace() { grep '^iteration\|^end' "$1" | sort -s -k 2,2n -k 3 > "$2"; }

# both N ARGUMENTS: the same trace in both worlds.
both() {
	n=$1
	shift
	ok "$ORRERY" sim -n "$n" --elastic --max 8 ./loop.sim -d "$@"
	trace out sim.txt
	[ "$(grep -c operation sim.txt)" -ge 2 ] || { cat sim.txt; die "no changes: $*"; }
	if [ $fortran = yes ]; then
		ok "$ORRERY" sim -n "$n" --elastic --max 8 ./loop_f.sim -d "$@"
		trace out fortran.txt
		cmp -s fortran.txt sim.txt || { diff fortran.txt sim.txt; die "C and Fortran differ, simulated: $*"; }
	fi
	[ $real = yes ] || return 0
	if [ $fortran = yes ]; then
		ok "$ORRERY" run -n "$n" --elastic --max 8 ./loop_f -d "$@"
		trace out fortran.txt
		cmp -s fortran.txt sim.txt || { diff fortran.txt sim.txt; die "C and Fortran differ, real: $*"; }
	fi
	ok "$ORRERY" run -n "$n" --elastic --max 8 ./loop -d "$@"
	trace out real.txt
	cmp -s real.txt sim.txt || { diff real.txt sim.txt; die "the worlds differ: $*"; }
}

both 2 -c 30 -f 10 -n 3 -l 8 -m i+
both 2 -c 60 -f 10 -n 3 -l 8 -m s+
both 2 -c 30 -f 10 -n 6 -l 8 -m s+ # 2, 8 and 2 processes
has out '^end with 2 processes'
both 8 -c 30 -f 10 -n 3 -l 2 -m i_
both 8 -c 60 -f 10 -n 3 -l 2 -m s_
both 4 -c 40 -f 10 -n 2 -l 2 -m b_

# 16 to 512 processes and back, the same in C and Fortran
large() {
	ok "$ORRERY" sim -n 16 --elastic --max 512 "$1" -d -c 30 -f 10 -n 496 -l 512 -m s+
	has out '^end with 16 processes'
	trace out "$2"
}
large ./loop.sim c.txt
if [ $fortran = yes ]; then
	large ./loop_f.sim fortran.txt
	cmp -s fortran.txt c.txt || { diff fortran.txt c.txt | head; die "C and Fortran differ on 512 processes"; }
fi
# 200 changes; the simulator keeps what it had
ok "$ORRERY" sim -n 4 --elastic --max 4 ./loop.sim -c 2000 -f 10 -n 2 -l 2 -m b_
[ "$(grep -c operation out)" = 200 ] || die "not 200 changes"

# the pool is the limit
ok "$ORRERY" sim -n 2 --elastic --max 3 ./loop.sim -c 20 -f 10 -n 2 -m i+
has err '2 more processes are refused: 2 of 3 in the pool are in use'
has out 'a change by \+2 processes is refused'
has out '^end with 2 processes'

fails 1 'does not run elastically' "$ORRERY" sim -n 2 ./loop.sim
fails 1 'add --elastic' "$ORRERY" sim -n 2 --max 4 ./loop.sim
fails 1 'less than the 4 processes' "$ORRERY" sim -n 4 --elastic --max 2 ./loop.sim
echo 'at noon grow 4' > bad.txt
fails 1 'bad.txt:1: .*is not .at SECONDS grow N' "$ORRERY" sim -n 2 --elastic --max 4 --scenario bad.txt ./loop.sim
[ $real = yes ] || exit 0
fails 1 'start it with .orrery run --elastic' "$ORRERY" run -n 1 ./loop
fails 2 'add --elastic' "$ORRERY" run -n 2 --max 4 ./loop
fails 2 'less than the 4 processes' "$ORRERY" run -n 4 --elastic --max 2 ./loop
fails 1 'bad.txt:1: .*is not .at SECONDS grow N' "$ORRERY" run -n 2 --elastic --manager script:bad.txt ./loop
exit 0
