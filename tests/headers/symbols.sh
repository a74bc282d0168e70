#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The shared libraries export the public interface only, and the programs that
# are installed with them need no more than that. (defined.sh checks the other
# half: what headers declare is exported.) __wrap_* take the place of functions of
# the C library in simulated programs.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

command -v nm > /dev/null || skip "needs nm"
libs=$ORR_TEST_BUILDDIR/.libs

# names OPTION FILE: dynamic symbols, without versions.
names() {
	nm -D "$1" "$2" > symbols || die "$2 cannot be read"
	awk '{ sub(/@.*/, "", $NF); print $NF }' symbols | sort -u
}

check_library() {
	names --defined-only "$libs/$1" > exported
	[ "$(wc -l < exported)" -ge "$2" ] || die "$1 exports only $(wc -l < exported) names"
	grep -v '^\(starpu_\|fstarpu_\|orrery_\|__wrap_\|_starpu_silent$\)' exported | grep -v -x -F -f declared > wrong
	[ ! -s wrong ] || die "$1 exports internal names: $(tr '\n' ' ' < wrong)"
}

# What orrery_dyn.h declares, the same in Fortran, and for liborrery-dyn the functions of MPI that it takes.
grep -o '\bMPI_[A-Z][a-z0-9]*_[a-z0-9_]*' "$ORR_TEST_SRCDIR/include/orrery_dyn.h" | sort -u > dyn
grep -h -o '^void mpi_[a-z0-9_]*' "$ORR_TEST_SRCDIR"/src/dyn/fortran.c | sed 's/^void //' >> dyn
cp dyn declared
if [ "$ORR_TEST_MPI" = yes ]; then
	grep -h -o '^\(int MPI\|void mpi\)_[A-Za-z_]*' "$ORR_TEST_SRCDIR"/src/sys/dyn_*.c | sed 's/^[a-z]* //' >> declared
	check_library liborrery-dyn.so 30
fi
cp dyn declared
check_library liborrery.so 500
if [ "$ORR_TEST_MPI" = yes ]; then check_library liborrery-mpi.so 50; fi
if [ "$ORR_TEST_SIM" = yes ]; then check_library liborrery-sim.so 500; fi

seen=0
for p in "$ORR_TEST_BUILDDIR"/*; do
	[ -f "$p" ] && [ -x "$p" ] || continue
	# Libtool puts a script where the program will be.
	if [ "$(head -c 2 "$p")" = '#!' ]; then p=$libs/${p##*/}; fi
	case $p in *.la) continue ;; esac
	[ -x "$p" ] && [ "$(head -c 4 "$p" | tail -c 3)" = ELF ] || continue
	names --undefined-only "$p" > needed
	grep '^orr_' needed > wrong
	[ ! -s wrong ] || die "$p needs internal names: $(tr '\n' ' ' < wrong)"
	echo "$p"
	seen=$((seen + 1))
done
[ $seen -ge 2 ] || die "only $seen programs were found"
exit 0
