# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Memory of a rank that does nothing: what the process takes at most with 1,040 ranks, less what it takes
# with 16, divided. About 31,100 bytes: 18,800 of malloc (8,300 of them SimGrid's and
# the loader's), a page of variables, one of the stack, and one of code, which is in memory once but
# counted for each. The bound notices each page more: a second one of variables (RELRO), of code (segments that
# are not joined by the linker), of the stack (that is not trimmed, or has a block of malloc's around it), and
# a quarter of a page of tables that are made for what few processes have.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world"
[ "$ORR_TEST_SANITIZER" = no ] && [ "${ORR_TEST_DEBUG:-no}" != yes ] || skip "checks take memory of their own"
[ "$(getconf PAGESIZE)" = 4096 ] || skip "pages of another size"
program=$ORR_TEST_BUILDDIR/tests/sim/idle.sim

# peak PAGES RANKS: bytes; PAGES 1 asks for large ones.
peak() {
	export GLIBC_TUNABLES="glibc.malloc.hugetlb=$1"
	ok "$ORRERY" sim -n "$2" --quiet --kernels skip --report run.json "$program"
	sed -n 's/.*"peak_rss_bytes": *\([0-9]*\).*/\1/p' run.json
}

# rank PAGES MOST
rank() {
	few=$(peak "$1" 16)
	many=$(peak "$1" 1040)
	each=$(((many - few) / 1024))
	echo "a rank takes $each bytes (large pages: $1)"
	[ "$each" -gt 10000 ] && [ "$each" -le "$2" ] || die "a rank takes $each bytes, at most $2 are known"
}
peak 0 2 > /dev/null
grep -q '"simgrid": *"3\.32' run.json || skip "known for SimGrid 3.32"
rank 0 32000
# A large page is 2 MiB: two of them more or less are 4,096 bytes of a rank.
rank 1 38000
