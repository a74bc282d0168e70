#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Libraries of different builds refuse each other with a message before the
# program starts. A library that is loaded first makes liborrery-mpi look as if it
# came from another version, then as if its structures were others.
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

[ "$ORR_TEST_MPI" = yes ] || skip "needs the MPI layer"

cat > other.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const void *orrery_core_interface(const void *build, size_t size)
{
	const void *(*real)(const void *, size_t) = dlsym(RTLD_NEXT, "orrery_core_interface");
	const char *what = getenv("OTHER_BUILD");
	char copy[1024];

	if (!real || size > sizeof(copy))
		abort();
	memcpy(copy, build, size);
	if (what && !strcmp(what, "version"))
		memcpy(copy, "9.8.7", 6);
	if (what && !strcmp(what, "layout"))
		copy[size - 8]++;
	if (what && !strcmp(what, "size"))
		size -= 8;
	return real(copy, size);
}
END
ok $CC -shared -fPIC -D_GNU_SOURCE -o other.so other.c -ldl
# A program that is linked with liborrery-mpi; without arguments it says how it is used.
program="$ORR_TEST_BUILDDIR/libtool --mode=execute env LD_PRELOAD=$PWD/other.so $ORR_TEST_BUILDDIR/orrery-calibrate-mpi"

for what in version layout size; do
	OTHER_BUILD=$what
	export OTHER_BUILD
	# shellcheck disable=SC2086
	fails 1 'liborrery-mpi.*come from different builds.*install both from one build' $program
done
has err 'liborrery [0-9.]+ '
unset OTHER_BUILD
# shellcheck disable=SC2086
fails 2 'it takes one of' $program
exit 0
