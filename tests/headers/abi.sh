#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs that were linked with the libraries of the records in build-aux/abi run with those of this build; and a record
# of a library that had another function, or the same with another parameter, is not taken for the same.
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
command -v abidiff > abidiff || skip "there is no abidiff (Debian: abigail-tools)"
[ "$(uname -m)" = x86_64 ] || skip "the records are those of x86-64"
[ "$ORR_TEST_MPI_LIBRARY" = openmpi4 ] || skip "the records are those of Open MPI 4, whose types they name"
readelf -S "$ORR_TEST_BUILDDIR/.libs/liborrery.so" > sections
grep -q debug_info sections || skip "the libraries have no debugging information"
gcc -E -include starpu_config.h -I "$ORR_TEST_SRCDIR/include" -I "$ORR_TEST_BUILDDIR/include" -x c /dev/null -dM > macros
grep -q 'STARPU_NMAXBUFS 8' macros || skip "another --enable-maxbuffers than that of the records"

compare() { "$ORR_TEST_SRCDIR/build-aux/compare-abi" --headers "$ORR_TEST_SRCDIR/include" "$@"; }
ok compare "$ORR_TEST_SRCDIR/build-aux/abi" "$ORR_TEST_BUILDDIR"
for l in liborrery liborrery-mpi liborrery-dyn; do has out "^$l.so.0: programs that were linked with the old one run"; done

# changed NAME PYTHON REGEX: the record of the core, after a change to its text, is found to be another interface.
changed() {
	mkdir "$1"
	gzip -dc "$ORR_TEST_SRCDIR/build-aux/abi/liborrery.so.0.abi.gz" > record.abi
	"$PYTHON" -c "import re, sys
s = open('record.abi').read()
t = $2
assert s != t, 'nothing was changed'
open('record.abi', 'w').write(t)" || die "$1"
	gzip -c record.abi > "$1/liborrery.so.0.abi.gz"
	if compare "$1" "$ORR_TEST_BUILDDIR" > out; then die "$1 was not found"; fi
	has out "$3"
}
changed gone "s.replace('starpu_task_submit\'', 'starpu_task_submit_gone\'')" 'starpu_task_submit_gone'
changed parameter "re.sub(r'(<function-decl name=\'starpu_sleep\'.*?<parameter type-id=\')[^\']*', lambda m: m.group(1) + re.search(r'<type-decl name=\'int\'.*?id=\'([^\']*)', s).group(1), s, 1, re.S)" 'starpu_sleep'
fails 2 'no library is in both trees' compare gone "$ORR_TEST_SRCDIR/include"
exit 0
