! SPDX-License-Identifier: LGPL-2.1-or-later
!
! Conjugate gradients in Fortran, on a process set that grows and shrinks while they run. The matrix has
! 2.01 on its diagonal and -1 beside it; the solution is 1 everywhere, and verified. Each process has
! a block of rows; after a change, all blocks are cut anew.
!
!     orrery fc --elastic --both ../elastic_sets.f90 elastic_cg.f90 -o elastic_cg
!     orrery run --elastic -n 2 --max 6 ./elastic_cg 4 6 3
!     orrery sim --elastic -n 16 --max 64 elastic_cg.sim 64 24
!
! The arguments are the sizes of the set, one after the other, each for 20 iterations.
!
! Invariant: all processes of the main set have the same iteration, and their blocks are all rows.
program elastic_cg
  use mpi
  use elastic_sets
  implicit none
  integer, parameter :: n = 5000, frequency = 20, most = 2000, dp = kind(1d0)
  character(len=name_length) :: main_set
  real(dp), allocatable :: x(:), r(:), p(:), q(:)
  real(dp) :: state(2) ! the present square of the residual, and the first one
  integer :: iteration = 0, nchanges = 0
  logical :: stays = .true.

  if (joins(main_set, iteration)) then
    allocate (x(0), r(0), p(0))
    call share(comm, 0, total)
  else
    call begin
  end if
  do while (stays .and. state(1) > 1d-20*state(2) .and. iteration < most)
    call iterate
    if (mod(iteration, frequency) == 0) call change
  end do
  if (stays) call verify
  if (stays) call MPI_Comm_disconnect(comm, ierror)
  call MPI_Session_finalize(session, ierror)
  call must('MPI_Session_finalize')

contains

  ! ---- rows ----

  ! The rows of one of `parts` processes are those behind first_row(part) up to first_row(part + 1).
  integer function first_row(part, parts)
    integer, intent(in) :: part, parts
    first_row = int(int(n, kind=8)*min(part, parts)/parts)
  end function

  subroutine begin
    integer :: rows
    rows = first_row(rank + 1, total) - first_row(rank, total)
    allocate (x(rows), r(rows), p(rows))
    x = 0
    p = 1
    call multiply ! the right side, as the solution is 1
    r = q
    p = q
    state = product_of(r, r)
  end subroutine

  ! What process `rank` of old_total gives to each of new_total processes, or gets if old and new are
  ! exchanged.
  subroutine shares(old_total, new_total, size, counts, starts)
    integer, intent(in) :: old_total, new_total, size
    integer, intent(out) :: counts(size), starts(size)
    integer :: low, high, i
    starts = 0
    counts = 0
    if (rank >= old_total) return
    do i = 1, min(size, new_total)
      low = max(first_row(rank, old_total), first_row(i - 1, new_total))
      high = min(first_row(rank + 1, old_total), first_row(i, new_total))
      counts(i) = max(high - low, 0)
      if (counts(i) > 0) starts(i) = low - first_row(rank, old_total)
    end do
  end subroutine

  subroutine move(v, both, old_total, new_total)
    real(dp), allocatable, intent(inout) :: v(:)
    integer, intent(in) :: both, old_total, new_total
    real(dp), allocatable :: w(:)
    integer, allocatable :: give(:), from(:), get(:), to(:)
    integer :: size
    call MPI_Comm_size(both, size, ierror)
    allocate (give(size), from(size), get(size), to(size))
    call shares(old_total, new_total, size, give, from)
    call shares(new_total, old_total, size, get, to)
    allocate (w(sum(get)))
    call MPI_Alltoallv(v, give, from, MPI_DOUBLE_PRECISION, w, get, to, MPI_DOUBLE_PRECISION, both, ierror)
    call must('MPI_Alltoallv')
    call move_alloc(w, v)
  end subroutine

  ! All of `both` learn from process 0 where the program is, and the rows of old_total processes are cut
  ! anew for new_total.
  subroutine share(both, old_total, new_total)
    integer, intent(in) :: both, old_total, new_total
    real(dp) :: now(5)
    now = [state(1), state(2), real([iteration, nchanges, old_total], dp)]
    call MPI_Bcast(now, 5, MPI_DOUBLE_PRECISION, 0, both, ierror)
    call must('MPI_Bcast')
    state = now(1:2)
    iteration = nint(now(3))
    nchanges = nint(now(4))
    call move(x, both, nint(now(5)), new_total)
    call move(r, both, nint(now(5)), new_total)
    call move(p, both, nint(now(5)), new_total)
  end subroutine

  ! ---- one iteration ----

  real(dp) function product_of(a, b)
    real(dp), intent(in) :: a(:), b(:)
    real(dp) :: mine
    mine = dot_product(a, b)
    call MPI_Allreduce(mine, product_of, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
    call must('MPI_Allreduce')
  end function

  ! q is the product of the matrix and p.
  subroutine multiply
    real(dp) :: left, right
    integer :: below, above, rows, status(MPI_STATUS_SIZE)
    rows = size(p)
    left = 0
    right = 0
    below = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    above = merge(rank + 1, MPI_PROC_NULL, rank + 1 < total)
    call MPI_Sendrecv(p(rows), 1, MPI_DOUBLE_PRECISION, above, 1, &
                      left, 1, MPI_DOUBLE_PRECISION, below, 1, comm, status, ierror)
    call MPI_Sendrecv(p(1), 1, MPI_DOUBLE_PRECISION, below, 2, &
                      right, 1, MPI_DOUBLE_PRECISION, above, 2, comm, status, ierror)
    call must('MPI_Sendrecv')
    q = 2.01d0*p
    q(2:) = q(2:) - p(:rows - 1)
    q(:rows - 1) = q(:rows - 1) - p(2:)
    q(1) = q(1) - left
    q(rows) = q(rows) - right
  end subroutine

  subroutine iterate
    real(dp) :: alpha, next
    call multiply
    alpha = state(1)/product_of(p, q)
    x = x + alpha*p
    r = r - alpha*q
    next = product_of(r, r)
    p = r + next/state(1)*p
    state(1) = next
    iteration = iteration + 1
  end subroutine

  subroutine verify
    real(dp) :: mine, wrong
    mine = maxval(abs(x - 1))
    call MPI_Allreduce(mine, wrong, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm, ierror)
    if (rank == 0) print '(a,i0,a,i0,a,i0,a)', 'elastic_cg: ', iteration, ' iterations, ', nchanges, &
      ' changes, ', total, ' processes at the end'
    if (rank == 0) print '(a)', merge('check: OK    ', 'check: FAILED', wrong < 1d-6)
    flush (6)
    if (.not. wrong < 1d-6) stop 1
  end subroutine

  ! ---- changes of the set ----

  ! How many processes more the set should have.
  integer function wanted()
    character(len=16) :: text
    integer :: want
    wanted = 0
    if (nchanges >= command_argument_count()) return
    call get_command_argument(nchanges + 1, text)
    read (text, *) want
    wanted = want - total
  end function

  subroutine change
    character(len=name_length) :: output(3), before
    integer :: op, type, noutput, more, old_total
    more = wanted()
    old_total = total
    if (more == 0) return
    op = merge(MPI_PSETOP_GROW, MPI_PSETOP_SHRINK, more > 0)
    if (rank == 0) call ask_for(op, main_set, more)
    noutput = 3
    call MPI_Session_dyn_v2a_query_psetop(session, main_set, main_set, type, output, noutput, ierror)
    call must('MPI_Session_dyn_v2a_query_psetop')
    nchanges = nchanges + 1
    if (type == MPI_PSETOP_NULL) return ! refused: the program goes on with what it has
    if (rank == 0 .and. more > 0) call publish(output(1), output(2), iteration)
    if (rank == 0) call publish(main_set, output(2), iteration)
    before = main_set
    call look_up(before, main_set, iteration)
    if (rank == 0) call MPI_Session_dyn_finalize_psetop(session, before, ierror)
    call must('MPI_Session_dyn_finalize_psetop')
    if (more < 0) call share(comm, total, total + more)
    call MPI_Comm_disconnect(comm, ierror)
    stays = set_says(main_set, 'mpi_included')
    if (stays) call connect(main_set)
    if (stays .and. more > 0) call share(comm, old_total, total)
  end subroutine
end program elastic_cg
