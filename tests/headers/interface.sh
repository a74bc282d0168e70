#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# doc/interface.md says what the headers and sources say. After a change of the
# interface, `ORR_TEST_WRITE=1 make check TESTS=tests/headers/interface.sh'
# writes it anew.
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

$CC --version 2> /dev/null | grep -q -i 'gcc\|Free Software' || skip "needs gcc, whose -aux-info lists declarations"
[ "$ORR_TEST_OPENCL" = yes ] || skip "needs OpenCL, whose names are listed, too"
command -v python3 > /dev/null || skip "needs python3"

# A compiler cache answers without writing the list.
CCACHE_DISABLE=1
export CCACHE_DISABLE

for h in "$ORR_TEST_SRCDIR"/include/starpu*.h "$ORR_TEST_SRCDIR"/include/schedulers/*.h; do
	case $h in *mpi*) [ "$ORR_TEST_MPI" = yes ] || skip "needs MPI, whose headers are listed, too" ;; esac
	[ -f "$h" ] && printf '#include <%s>\n' "${h#"$ORR_TEST_SRCDIR"/include/}"
done > all.c
# shellcheck disable=SC2086
ok $ORRERY cc -fsyntax-only -aux-info list -I"$ORR_TEST_SRCDIR/include" -I"$ORR_TEST_BUILDDIR/include" all.c
ok python3 "$ORR_TEST_SRCDIR/tests/headers/interface.py" "$ORR_TEST_SRCDIR" list
cp out interface.md
if [ "${ORR_TEST_WRITE:-0}" = 1 ]; then
	ok cp interface.md "$ORR_TEST_SRCDIR/doc/interface.md"
fi
diff -u "$ORR_TEST_SRCDIR/doc/interface.md" interface.md ||
	die "doc/interface.md is not up to date: ORR_TEST_WRITE=1 make check TESTS=tests/headers/interface.sh"
exit 0
