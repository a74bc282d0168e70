! SPDX-License-Identifier: LGPL-2.1-or-later
!
! Task programs that grow and shrink, for Fortran 2008 programs: each procedure does what its namesake
! in orrery_resize.h does, and returns what it returns. Communicators are Fortran's integers; handles
! and distributions are of type c_ptr. orrery_elastic_start takes c_loc of the state and its bytes.
! It and orrery_resize_point set the communicator.
!
! Invariant: no procedure here keeps state.
module orrery_resize_mod
  use iso_c_binding
  implicit none

  ! Counts of the resizes of this rank.
  type, bind(C) :: orrery_resize_stats
     integer(c_int64_t) :: resizes, given, taken, sent, sent_bytes
  end type orrery_resize_stats

  interface
     function orrery_distribution_function(owner, arg) bind(C, &
           name="orrery_distribution_function") result(res)
       import
       type(c_funptr), value, intent(in) :: owner
       type(c_ptr), value, intent(in) :: arg
       type(c_ptr) :: res
     end function orrery_distribution_function

     function orrery_distribution_block(n, base) bind(C, &
           name="orrery_distribution_block") result(res)
       import
       integer(c_int64_t), value, intent(in) :: n
       integer(c_int), value, intent(in) :: base
       type(c_ptr) :: res
     end function orrery_distribution_block

     function orrery_distribution_cyclic(n, piece, base) bind(C, &
           name="orrery_distribution_cyclic") result(res)
       import
       integer(c_int64_t), value, intent(in) :: n
       integer(c_int64_t), value, intent(in) :: piece
       integer(c_int), value, intent(in) :: base
       type(c_ptr) :: res
     end function orrery_distribution_cyclic

     function orrery_distribution_cyclic_2d(rows, columns, p, q) bind(C, &
           name="orrery_distribution_cyclic_2d") result(res)
       import
       integer(c_int64_t), value, intent(in) :: rows
       integer(c_int64_t), value, intent(in) :: columns
       integer(c_int), value, intent(in) :: p
       integer(c_int), value, intent(in) :: q
       type(c_ptr) :: res
     end function orrery_distribution_cyclic_2d

     function orrery_distribution_owner(distribution, index, nranks) bind(C, &
           name="orrery_distribution_owner") result(res)
       import
       type(c_ptr), value, intent(in) :: distribution
       integer(c_int64_t), value, intent(in) :: index
       integer(c_int), value, intent(in) :: nranks
       integer(c_int) :: res
     end function orrery_distribution_owner

     function orrery_resize_follow(comm, handle, distribution, index) bind(C, &
           name="orrery_fortran_resize_follow") result(res)
       import
       integer(c_int), value, intent(in) :: comm
       type(c_ptr), value, intent(in) :: handle
       type(c_ptr), value, intent(in) :: distribution
       integer(c_int64_t), value, intent(in) :: index
       integer(c_int) :: res
     end function orrery_resize_follow

     function orrery_resize(comm, n) bind(C, &
           name="orrery_fortran_resize") result(res)
       import
       integer(c_int), value, intent(in) :: comm
       integer(c_int), value, intent(in) :: n
       integer(c_int) :: res
     end function orrery_resize

     function orrery_resize_size(comm) bind(C, &
           name="orrery_fortran_resize_size") result(res)
       import
       integer(c_int), value, intent(in) :: comm
       integer(c_int) :: res
     end function orrery_resize_size

     function orrery_resize_point(comm) bind(C, &
           name="orrery_fortran_resize_point") result(res)
       import
       integer(c_int), intent(inout) :: comm
       integer(c_int) :: res
     end function orrery_resize_point

     function orrery_resize_ask(comm, n) bind(C, &
           name="orrery_fortran_resize_ask") result(res)
       import
       integer(c_int), value, intent(in) :: comm
       integer(c_int), value, intent(in) :: n
       integer(c_int) :: res
     end function orrery_resize_ask

     function orrery_resize_switch(comm) bind(C, &
           name="orrery_fortran_resize_switch") result(res)
       import
       integer(c_int), value, intent(in) :: comm
       integer(c_int) :: res
     end function orrery_resize_switch

     function orrery_elastic_start(comm, state, bytes) bind(C, &
           name="orrery_fortran_elastic_start") result(res)
       import
       integer(c_int), intent(inout) :: comm
       type(c_ptr), value, intent(in) :: state
       integer(c_size_t), value, intent(in) :: bytes
       integer(c_int) :: res
     end function orrery_elastic_start

     function orrery_elastic_end() bind(C, &
           name="orrery_elastic_end") result(res)
       import
       integer(c_int) :: res
     end function orrery_elastic_end

     ! part(n) has the owners; first(n + 1) and adjacent the neighbours, with numbers from 0.
     function orrery_distribution_graph(n, part, base, first, adjacent) bind(C, &
           name="orrery_distribution_graph") result(res)
       import
       integer(c_int64_t), value, intent(in) :: n
       integer(c_int), intent(in) :: part(*)
       integer(c_int), value, intent(in) :: base
       integer(c_int64_t), intent(in), optional :: first(*), adjacent(*)
       type(c_ptr) :: res
     end function orrery_distribution_graph

     subroutine orrery_distribution_free(distribution) bind(C, name="orrery_distribution_free")
       import
       type(c_ptr), value, intent(in) :: distribution
     end subroutine orrery_distribution_free

     function orrery_resize_get_stats(stats) bind(C, name="orrery_resize_get_stats") result(res)
       import
       type(orrery_resize_stats), intent(out) :: stats
       integer(c_int) :: res
     end function orrery_resize_get_stats
  end interface
end module orrery_resize_mod
