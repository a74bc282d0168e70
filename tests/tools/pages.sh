#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The recorder does not take pages for 4 KiB: a program runs as on a system with pages of 64 KiB, which many arm64 have
# (lib/pages.c).
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
ok gcc -O1 -shared -fPIC -o pages.so "$ORR_TEST_SRCDIR/tests/lib/pages.c"

# The library itself refuses, else nothing below says anything.
cat > odd.c << 'END'
#include <sys/mman.h>
int main(int argc, char **argv)
{
	return mmap(0, 4096, PROT_READ, MAP_PRIVATE, argc, 4096) != MAP_FAILED;
}
END
ok gcc -o odd odd.c
ok env LD_PRELOAD="$PWD/pages.so" ./odd
has err '64 KiB pages: mmap of an offset refuses 0x1000'

[ "${ORR_TEST_MPI:-yes}" = yes ] || skip "built without MPI"
ok env ORRERY_TRACE="$PWD/trace" LD_PRELOAD="$PWD/pages.so" "$ORR_TEST_BUILDDIR/tests/mpi/trace_steps"
! grep '64 KiB pages' err || die "such a system refuses something"
ok "$ORRERY" trace trace
has out 'whole$'
exit 0
