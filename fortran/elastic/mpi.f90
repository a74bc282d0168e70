! SPDX-License-Identifier: LGPL-2.1-or-later
!
! The module mpi for programs with process sets that grow and shrink: what mpif.h of the MPI declares,
! sessions, and version v2a of the interface for dynamic process sets. include/orrery_dyn.h says what
! each routine does. In Fortran, the caller has room for outputs: noutput is the number of names that
! fit into output_psets, and becomes that of the names. Names are padded with blanks.
!
! Invariant: only constants and interfaces, so that no object belongs to the module.
module mpi
  implicit none
  include 'mpif.h'

#ifndef ORR_MPI_SESSIONS
  integer, parameter :: MPI_SESSION_NULL = 0
  integer, parameter :: MPI_MAX_PSET_NAME_LEN = 511
#endif

  integer, parameter :: MPI_PSETOP_NULL = 0
  integer, parameter :: MPI_PSETOP_ADD = 1
  integer, parameter :: MPI_PSETOP_SUB = 2
  integer, parameter :: MPI_PSETOP_REPLACE = 3
  integer, parameter :: MPI_PSETOP_MALLEABLE = 4
  integer, parameter :: MPI_PSETOP_GROW = 5
  integer, parameter :: MPI_PSETOP_SHRINK = 6
  integer, parameter :: MPI_PSETOP_UNION = 7
  integer, parameter :: MPI_PSETOP_DIFFERENCE = 8
  integer, parameter :: MPI_PSETOP_INTERSECTION = 9
  integer, parameter :: MPI_PSETOP_SPLIT = 10

  interface
    subroutine MPI_Session_init(info, errhandler, session, ierror)
      integer, intent(in) :: info, errhandler
      integer, intent(out) :: session, ierror
    end subroutine

    subroutine MPI_Session_finalize(session, ierror)
      integer, intent(inout) :: session
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPI_Session_get_num_psets(session, info, npset_names, ierror)
      integer, intent(in) :: session, info
      integer, intent(out) :: npset_names, ierror
    end subroutine

    subroutine MPI_Session_get_nth_pset(session, info, n, pset_len, pset_name, ierror)
      integer, intent(in) :: session, info, n
      integer, intent(inout) :: pset_len
      character(len=*), intent(inout) :: pset_name
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPI_Session_get_pset_info(session, pset_name, info, ierror)
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer, intent(out) :: info, ierror
    end subroutine

    subroutine MPI_Group_from_session_pset(session, pset_name, newgroup, ierror)
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer, intent(out) :: newgroup, ierror
    end subroutine

    subroutine MPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm, ierror)
      integer, intent(in) :: group, info, errhandler
      character(len=*), intent(in) :: stringtag
      integer, intent(out) :: newcomm, ierror
    end subroutine

    subroutine MPI_Session_dyn_v2a_psetop(session, op, input_sets, ninput, output_psets, noutput, info, ierror)
      integer, intent(in) :: session
      integer, intent(inout) :: op
      character(len=*), dimension(*), intent(in) :: input_sets
      integer, intent(in) :: ninput
      character(len=*), dimension(*), intent(inout) :: output_psets
      integer, intent(inout) :: noutput
      integer, intent(inout) :: info
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPI_Session_dyn_v2a_query_psetop(session, coll_pset, input_pset, type, output_psets, noutput, ierror)
      integer, intent(in) :: session
      character(len=*), intent(in) :: coll_pset, input_pset
      integer, intent(out) :: type
      character(len=*), dimension(*), intent(inout) :: output_psets
      integer, intent(inout) :: noutput
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPI_Session_dyn_finalize_psetop(session, pset_name, ierror)
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPI_Session_set_pset_data(session, pset_name, info_used, ierror)
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name
      integer, intent(in) :: info_used
      integer, intent(out) :: ierror
    end subroutine

    ! The set of the dictionary comes first, unlike in C.
    subroutine MPI_Session_get_pset_data(session, pset_name, coll_pset_name, keys, nkeys, wait, info_used, ierror)
      integer, intent(in) :: session
      character(len=*), intent(in) :: pset_name, coll_pset_name
      character(len=*), dimension(*), intent(in) :: keys
      integer, intent(in) :: nkeys, wait
      integer, intent(out) :: info_used, ierror
    end subroutine
  end interface
end module mpi
