! SPDX-License-Identifier: LGPL-2.1-or-later
!
! What the programs in Fortran share whose process set grows and shrinks: the session, the present
! communicator, and calls of the module mpi that end the program when they fail.
!
! Invariant: comm has the processes of the set that connect() was called with last.
module elastic_sets
  use mpi
  implicit none
  integer, parameter :: name_length = MPI_MAX_PSET_NAME_LEN
  integer :: session, comm, rank, total, ierror

contains

  ! After a call of MPI: `what` was called.
  subroutine must(what)
    character(len=*), intent(in) :: what
    character(len=255) :: program_name
    if (ierror == MPI_SUCCESS) return
    call get_command_argument(0, program_name)
    print '(4a,i0)', trim(program_name), ': ', what, ' failed with code ', ierror
    stop 1
  end subroutine

  ! Begins the session and connects to the main set. Returns whether the process was added to the run;
  ! then it learns the iteration from the others.
  logical function joins(main_set, iteration)
    character(len=name_length), intent(out) :: main_set
    integer, intent(inout) :: iteration
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
    call must('MPI_Session_init')
    main_set = 'mpi://WORLD'
    joins = set_says(main_set, 'mpi_dyn')
    if (joins) call look_up('mpi://WORLD', main_set, iteration)
    call connect(main_set)
  end function

  logical function set_says(set, key)
    character(len=*), intent(in) :: set, key
    character(len=16) :: text
    integer :: info
    logical :: found
    call MPI_Session_get_pset_info(session, set, info, ierror)
    call must('MPI_Session_get_pset_info')
    call MPI_Info_get(info, key, 15, text, found, ierror)
    call MPI_Info_free(info, ierror)
    set_says = found .and. text(1:4) == 'True'
  end function

  ! The processes of the set go on in the set `next`.
  subroutine publish(set, next, iteration)
    character(len=*), intent(in) :: set, next
    integer, intent(in) :: iteration
    character(len=16) :: text
    integer :: info
    write (text, '(i0)') iteration
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'next_main_pset', trim(next), ierror)
    call MPI_Info_set(info, 'iteration', trim(text), ierror)
    call MPI_Session_set_pset_data(session, set, info, ierror)
    call must('MPI_Session_set_pset_data')
    call MPI_Info_free(info, ierror)
  end subroutine

  ! Waits for what was published for the set.
  subroutine look_up(set, next, iteration)
    character(len=*), intent(in) :: set
    character(len=name_length), intent(out) :: next
    integer, intent(out) :: iteration
    character(len=16) :: keys(2), text
    character(len=255) :: value
    integer :: info
    logical :: found
    keys(1) = 'next_main_pset'
    keys(2) = 'iteration'
    call MPI_Session_get_pset_data(session, set, set, keys, 2, 1, info, ierror)
    call must('MPI_Session_get_pset_data')
    value = ' ' ! libraries may leave what is behind the 254th character
    call MPI_Info_get(info, 'next_main_pset', 254, value, found, ierror)
    next = without_end(value)
    text = ' '
    call MPI_Info_get(info, 'iteration', 15, text, found, ierror)
    text = without_end(text)
    read (text, *) iteration
    call MPI_Info_free(info, ierror)
  end subroutine

  ! Some libraries end a value as C does.
  function without_end(value) result(text)
    character(len=*), intent(in) :: value
    character(len=len(value)) :: text
    integer :: at
    at = index(value, char(0))
    text = value
    if (at > 0) text(at:) = ' '
  end function

  subroutine connect(main_set)
    character(len=*), intent(in) :: main_set
    integer :: group
    call MPI_Group_from_session_pset(session, main_set, group, ierror)
    call must('MPI_Group_from_session_pset')
    call MPI_Comm_create_from_group(group, 'elastic', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierror)
    call must('MPI_Comm_create_from_group')
    call MPI_Group_free(group, ierror)
    call MPI_Comm_rank(comm, rank, ierror)
    call MPI_Comm_size(comm, total, ierror)
  end subroutine

  ! Asks for `more` processes in the set, or for as many less; op becomes MPI_PSETOP_NULL if that is
  ! refused.
  subroutine ask_for(op, main_set, more)
    integer, intent(inout) :: op
    character(len=*), intent(in) :: main_set
    integer, intent(in) :: more
    integer :: noutput, info
    character(len=name_length) :: input(1), output(3)
    character(len=16) :: text
    write (text, '(i0)') abs(more)
    call MPI_Info_create(info, ierror)
    if (more > 0) call MPI_Info_set(info, 'mpi_num_procs_add', trim(text), ierror)
    if (more < 0) call MPI_Info_set(info, 'mpi_num_procs_sub', trim(text), ierror)
    input(1) = main_set
    noutput = 3
    call MPI_Session_dyn_v2a_psetop(session, op, input, 1, output, noutput, info, ierror)
    call must('MPI_Session_dyn_v2a_psetop')
    call MPI_Info_free(info, ierror)
  end subroutine
end module elastic_sets
