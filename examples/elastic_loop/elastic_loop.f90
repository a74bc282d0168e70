! SPDX-License-Identifier: LGPL-2.1-or-later
!
! The loop of elastic_loop.c in Fortran, with the same options and the same output.
!
!     orrery fc --elastic --both ../elastic_sets.f90 elastic_loop.f90 -o elastic_loop
!     orrery run --elastic -n 2 --max 8 ./elastic_loop -d -c 60 -f 10 -n 2 -l 8 -m i+
!
! Invariant: in each iteration, all processes of the main set are in the same iteration.
program elastic_loop
  use mpi
  use elastic_sets
  implicit none
  logical :: debug = .false., stays = .true., over = .false., down = .true., joined
  integer :: iterations = 200, limit = 64, delta = 8, frequency = 10
  character(len=2) :: mode = 'i+'
  character(len=name_length) :: main_set
  integer :: iteration = 0, begun, step = 0

  call read_options
  joined = joins(main_set, iteration)
  call say_place
  begun = total
  if (joined) iteration = iteration + 1 ! the others are done with that one
  do while (stays .and. iteration <= iterations)
    call work
    if (iteration > 0 .and. mod(iteration, frequency) == 0) call change
    iteration = iteration + 1
  end do
  if (stays .and. rank == 0) print '(a,i0,a)', 'end with ', total, ' processes'
  flush (6)
  if (stays) call MPI_Comm_disconnect(comm, ierror)
  call MPI_Session_finalize(session, ierror)
  call must('MPI_Session_finalize')

contains

  subroutine read_options
    integer :: i
    character(len=64) :: word, value
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, word)
      if (word == '-d') then
        debug = .true.
        i = i + 1
        cycle
      end if
      call get_command_argument(i + 1, value)
      select case (word)
      case ('-c'); read (value, *) iterations
      case ('-l'); read (value, *) limit
      case ('-n'); read (value, *) delta
      case ('-f'); read (value, *) frequency
      case ('-m'); mode = value(1:2)
      case default
        print '(a)', 'usage: elastic_loop [-d] [-c ITERATIONS] [-l LIMIT] [-n DELTA] [-f FREQUENCY] [-m i+|i_|s+|s_|b_]'
        stop 2
      end select
      i = i + 2
    end do
  end subroutine

  subroutine say_place
    if (debug) print '(a,i0,a,i0,a,i0,2a)', 'iteration ', iteration, ': rank ', rank, ' of ', total, ' in ', trim(main_set)
    flush (6)
  end subroutine

  ! ---- changes ----

  logical function allowed(n)
    integer, intent(in) :: n
    if (mode(2:2) == '+') then
      allowed = n <= limit
    else
      allowed = n >= limit
    end if
  end function

  integer function next_delta()
    integer :: sign, n
    sign = merge(1, -1, mode(2:2) == '+')
    n = sign*delta*(step/2 + 1)
    select case (mode(1:1))
    case ('i')
      next_delta = merge(sign*delta, 0, allowed(total + sign*delta))
    case ('s')
      next_delta = merge(merge(n, -n, mod(step, 2) == 0), 0, allowed(begun + n))
    case default
      if (down .and. .not. allowed(total - delta)) then
        down = .false.
      else if (.not. down .and. total + delta > begun) then
        down = .true.
      end if
      next_delta = merge(-delta, delta, down)
    end select
  end function

  subroutine ask(n)
    integer, intent(in) :: n
    integer :: op
    if (mode(1:1) == 'i') then
      op = merge(MPI_PSETOP_GROW, MPI_PSETOP_SHRINK, n > 0)
    else
      op = merge(MPI_PSETOP_ADD, MPI_PSETOP_SUB, n > 0)
    end if
    call ask_for(op, main_set, n)
    over = op == MPI_PSETOP_NULL
    step = step + 1
    if (over) print '(a,i0,a,sp,i0,a)', 'iteration ', iteration, ': a change by ', n, ' processes is refused'
    flush (6)
  end subroutine

  subroutine announce(type, output, noutput)
    integer, intent(in) :: type, noutput
    character(len=name_length), intent(in) :: output(3)
    character(len=name_length) :: next, input(2), combined(1)
    integer :: op, n, info
    if (noutput > 1) then
      next = output(2)
    else
      op = merge(MPI_PSETOP_UNION, MPI_PSETOP_DIFFERENCE, type == MPI_PSETOP_ADD)
      input(1) = main_set
      input(2) = output(1)
      n = 1
      info = MPI_INFO_NULL
      call MPI_Session_dyn_v2a_psetop(session, op, input, 2, combined, n, info, ierror)
      call must('MPI_Session_dyn_v2a_psetop')
      next = combined(1)
    end if
    if (type == MPI_PSETOP_ADD .or. type == MPI_PSETOP_GROW) call publish(output(1), next, iteration)
    call publish(main_set, next, iteration)
    print '(a,i0,a,i0,4a)', 'iteration ', iteration, ': operation ', type, ', delta ', trim(output(1)), ', main ', trim(next)
    flush (6)
  end subroutine

  subroutine change
    character(len=name_length) :: output(3), next, before
    integer :: type, noutput, n
    logical :: early
    n = 0
    if (rank == 0 .and. .not. over) n = next_delta()
    if (n /= 0) call ask(n)
    noutput = 3
    call MPI_Session_dyn_v2a_query_psetop(session, main_set, main_set, type, output, noutput, ierror)
    call must('MPI_Session_dyn_v2a_query_psetop')
    if (type == MPI_PSETOP_NULL) return
    if (rank == 0) call announce(type, output, noutput)
    call look_up(main_set, next, iteration)
    early = mode(1:1) == 'i'
    if (early .and. rank == 0) call MPI_Session_dyn_finalize_psetop(session, main_set, ierror)
    call must('MPI_Session_dyn_finalize_psetop')
    call MPI_Comm_disconnect(comm, ierror)
    before = main_set
    main_set = next
    if (.not. set_says(next, 'mpi_included')) then
      if (debug) print '(a,i0,a,i0,a)', 'iteration ', iteration, ': rank ', rank, ' leaves'
      flush (6)
      stays = .false.
      return
    end if
    call connect(main_set)
    call say_place
    if (.not. early .and. rank == 0) call MPI_Session_dyn_finalize_psetop(session, before, ierror)
    call must('MPI_Session_dyn_finalize_psetop')
  end subroutine

  ! ---- the loop ----

  subroutine work
    integer :: mine(2), sums(2)
    mine = [1, iteration]
    call MPI_Allreduce(mine, sums, 2, MPI_INTEGER, MPI_SUM, comm, ierror)
    if (sums(1) /= total .or. sums(2) /= total*iteration) then
      print '(a)', 'elastic_loop: the sum of all processes is wrong'
      stop 1
    end if
  end subroutine
end program elastic_loop
