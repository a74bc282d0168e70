#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# With an MPI that has sessions, its own are used, and only what is missing is added. The installed MPI is made up to be
# one (tests/lib/mpi4); the library of process sets is built for it, and passes its tests. A program that does not run
# elastically gets nothing but MPI's own functions.
# orr-test: sanitizer none
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs Open MPI"

src=$ORR_TEST_SRCDIR
[ "$(echo '#include <mpi.h>
MPI_VERSION' > v.c; "$ORRERY" cc -E v.c 2> /dev/null | tail -n 1)" = 3 ] || skip "this MPI is not of version 3"
mkdir objects
(cd objects && ok "$ORRERY" cc -std=gnu11 -Wall -Wextra -Werror -Wno-cast-function-type -D_GNU_SOURCE -O0 -c -include "$src/tests/lib/mpi4/mpi4.h" \
	-I"$src/src" -I"$src/src/sys" -I"$src/include" "$src"/src/dyn/*.c "$src"/src/sys/dyn_*.c "$src/src/base/checksum.c" "$src/src/base/private.c" "$src/tests/lib/mpi4/sessions.c") || exit 1
for program in "$src"/tests/elastic/sets.c "$src"/tests/elastic/changes.c "$src"/tests/lib/mpi4/plain.c; do
	ok "$ORRERY" cc -std=gnu11 -D_GNU_SOURCE -O0 -include "$src/tests/lib/mpi4/mpi4.h" -I"$src/src" -I"$src/tests" -I"$src/tests/lib" \
		"$program" objects/*.o -o "$(basename "$program" .c)"
done
own() { [ "$(grep -c "MPI's own sessions $1" err)" = "$2" ] || { cat err; die "$2 processes should $1 sessions"; }; }
ok "$ORRERY" run -n 4 --elastic ./sets
own begin 4
own end 4
ok "$ORRERY" run -n 2 --elastic --max 5 ./changes
own begin 5
has out 'rank 0 of 1 ends'
ok "$ORRERY" run -n 2 ./plain
own begin 2
has err 'psetop: the program does not run elastically; start it with .orrery run --elastic'
exit 0
