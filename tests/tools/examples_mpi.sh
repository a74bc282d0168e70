# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The examples of chapter 14.19 verify their own results in both worlds and on several numbers of
# ranks: communicators, complex numbers, an MPI datatype, cells that move, the three versions of LU,
# conjugate gradients, reductions, the cache, filters.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
examples=$ORR_TEST_BUILDDIR/examples
[ "$ORR_TEST_MPI$ORR_TEST_SIM" != nono ] || skip "no world with ranks"

# real N PROGRAM ARGS...: a real run; sim N PROGRAM ARGS...: a simulated one; both have to say OK.
real() { n=$1 p=$2; shift 2; ok "$ORRERY" run -n $n --oversubscribe "$examples/$p/$p" "$@"; has out 'check: OK'; }
sim() { n=$1 p=$2; shift 2; ok "$ORRERY" sim -n $n --report r.json "$examples/$p/$p.sim" "$@"; has out 'check: OK'; }

# all WORLD N: every example on N ranks.
all() {
	$1 $2 communicators
	$1 $2 mpi_complex
	$1 $2 user_datatype
	$1 $2 user_datatype --pack -n 100
	$1 $2 stencil5 -x 24 -y 24 --niter 5 --check --redistribute
	$1 $2 stencil5 -x 19 -y 31 --niter 4 --check --redistribute --no-prune
	$1 $2 lu -nt 7 -b 16 --check --explicit
	$1 $2 conjugate_gradient -n 24
	$1 $2 reductions
	$1 $2 mpi_cache
	$1 $2 mpi_filters
	$1 $2 mpi_filters -n 97 -p 5
}

if [ "$ORR_TEST_MPI" = yes ]; then for n in 1 2 4; do all real $n; done; fi
if [ "$ORR_TEST_SIM" = yes ]; then for n in 4 16; do all sim $n; done; fi

# Out of core: 2 MiB of memory for 4.5 MiB of tiles on each rank; the disk is used, and left empty.
# outofcore WORLD N NT
outofcore() {
	$1 $2 lu -nt $3 -b 64 --check --disk here
	has out 'written_mib=[1-9]'
	[ ! -e here ] || die "files are left in $(find here)"
}
if [ "$ORR_TEST_MPI" = yes ]; then outofcore real 1 12; outofcore real 4 24; fi
if [ "$ORR_TEST_SIM" = yes ]; then outofcore sim 4 24; fi

# messages: of the run just made.
messages() { sed -n 's/.*"messages": *\([0-9]*\).*/\1/p' r.json; }
# Explicit and implicit messages are as many: the runtime finds no more than the program needs.
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 6 --report r.json "$examples/lu/lu.sim" -nt 9 -b 16
	implicit=$(messages)
	ok "$ORRERY" sim -n 6 --report r.json "$examples/lu/lu.sim" -nt 9 -b 16 --explicit
	[ "$implicit" -gt 0 ] && [ "$(messages)" = "$implicit" ] || die "implicit: $implicit messages, explicit: $(messages)"
fi
