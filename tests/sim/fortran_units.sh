# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The units of Fortran are the rank's: ranks that open the same unit each write a file of their own,
# a rank that redirects its output leaves that of others alone, and what is not yet written at the
# end of a rank is written then, also with --elastic, whose processes are unloaded.
# orr-test: timeout 180
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
[ "$ORR_TEST_FORTRAN" = yes ] || skip "no Fortran compiler was found by configure"

cat > units.f90 <<'END'
program units
  use mpi
  implicit none
  integer :: ierr, rank, i
  character(len=20) :: name
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 1) open (unit=6, file='output-1.txt', status='replace', action='write')
  write (name, '(a,i0,a)') 'unit-', rank, '.txt'
  open (unit=17, file=name, status='replace', action='write')
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    write (17, '(a,i0,a,i0)') 'rank ', rank, ' line ', i
  end do
  print '(a,i0)', 'end of rank ', rank
  call MPI_Finalize(ierr)
end program
END
ok "$ORRERY" fc --sim -Wall units.f90 -o units.sim
for how in '' --elastic; do
	for n in 1 3 5; do
		rm -f unit-*.txt output-1.txt
		if [ -z "$how" ]; then ok "$ORRERY" sim --quiet -n $n ./units.sim; else may "$ORRERY" sim --quiet "$how" -n $n ./units.sim || continue; fi
		r=0
		while [ $r -lt $n ]; do
			printf "rank $r line %d\n" 1 2 3 | cmp - unit-$r.txt || die "$n ranks $how: unit-$r.txt is $(cat unit-$r.txt)"
			if [ $r = 1 ]; then has output-1.txt "^end of rank 1"; else has out "^end of rank $r"; fi
			r=$((r + 1))
		done
		[ "$(cat out | wc -l)" = $((n > 1 ? n - 1 : n)) ] || die "$n ranks $how print: $(cat out)"
	done
done
ok "$ORRERY" sim --show -n 3 ./units.sim
has out '^# own variables for each rank: .*/libgfortran\.so'
echo "units belong to ranks"
