! SPDX-License-Identifier: LGPL-2.1-or-later
!
! The MPI layer for Fortran 2008 programs: each procedure does what its namesake in starpu_mpi.h does.
! Communicators are Fortran's integers. Requests and statuses come from fstarpu_mpi_req_alloc and
! fstarpu_mpi_status_alloc. fstarpu_mpi_task_insert takes c_loc of the communicator, the codelet, and
! what fstarpu_task_insert takes after the codelet.
!
! Invariant: no procedure here keeps state.
module fstarpu_mpi_mod
  use iso_c_binding
  use fstarpu_mod
  implicit none

  interface
     function fstarpu_mpi_isend(dh, mpi_req, dst, data_tag, mpi_comm) bind(C, &
           name="fstarpu_mpi_isend") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: mpi_req
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int) :: res
     end function fstarpu_mpi_isend

     function fstarpu_mpi_isend_prio(dh, mpi_req, dst, data_tag, prio, mpi_comm) bind(C, &
           name="fstarpu_mpi_isend_prio") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: mpi_req
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: prio
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int) :: res
     end function fstarpu_mpi_isend_prio

     function fstarpu_mpi_irecv(dh, mpi_req, src, data_tag, mpi_comm) bind(C, &
           name="fstarpu_mpi_irecv") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: mpi_req
       integer(c_int), value, intent(in) :: src
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int) :: res
     end function fstarpu_mpi_irecv

     function fstarpu_mpi_send(dh, dst, data_tag, mpi_comm) bind(C, &
           name="fstarpu_mpi_send") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int) :: res
     end function fstarpu_mpi_send

     function fstarpu_mpi_send_prio(dh, dst, data_tag, prio, mpi_comm) bind(C, &
           name="fstarpu_mpi_send_prio") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: prio
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int) :: res
     end function fstarpu_mpi_send_prio

     function fstarpu_mpi_recv(dh, src, data_tag, mpi_comm, mpi_status) bind(C, &
           name="fstarpu_mpi_recv") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: src
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: mpi_status
       integer(c_int) :: res
     end function fstarpu_mpi_recv

     function fstarpu_mpi_isend_detached(dh, dst, data_tag, mpi_comm, callback, arg) bind(C, &
           name="fstarpu_mpi_isend_detached") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_funptr), value, intent(in) :: callback
       type(c_ptr), value, intent(in) :: arg
       integer(c_int) :: res
     end function fstarpu_mpi_isend_detached

     function fstarpu_mpi_isend_detached_prio(dh, dst, data_tag, prio, mpi_comm, callback, &
           arg) bind(C, name="fstarpu_mpi_isend_detached_prio") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: prio
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_funptr), value, intent(in) :: callback
       type(c_ptr), value, intent(in) :: arg
       integer(c_int) :: res
     end function fstarpu_mpi_isend_detached_prio

     function fstarpu_mpi_recv_detached(dh, src, data_tag, mpi_comm, callback, arg) bind(C, &
           name="fstarpu_mpi_recv_detached") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: src
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_funptr), value, intent(in) :: callback
       type(c_ptr), value, intent(in) :: arg
       integer(c_int) :: res
     end function fstarpu_mpi_recv_detached

     function fstarpu_mpi_issend(dh, mpi_req, dst, data_tag, mpi_comm) bind(C, &
           name="fstarpu_mpi_issend") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: mpi_req
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int) :: res
     end function fstarpu_mpi_issend

     function fstarpu_mpi_issend_prio(dh, mpi_req, dst, data_tag, prio, mpi_comm) bind(C, &
           name="fstarpu_mpi_issend_prio") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: mpi_req
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: prio
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int) :: res
     end function fstarpu_mpi_issend_prio

     function fstarpu_mpi_issend_detached(dh, dst, data_tag, mpi_comm, callback, arg) bind(C, &
           name="fstarpu_mpi_issend_detached") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_funptr), value, intent(in) :: callback
       type(c_ptr), value, intent(in) :: arg
       integer(c_int) :: res
     end function fstarpu_mpi_issend_detached

     function fstarpu_mpi_issend_detached_prio(dh, dst, data_tag, prio, mpi_comm, callback, &
           arg) bind(C, name="fstarpu_mpi_issend_detached_prio") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: prio
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_funptr), value, intent(in) :: callback
       type(c_ptr), value, intent(in) :: arg
       integer(c_int) :: res
     end function fstarpu_mpi_issend_detached_prio

     function fstarpu_mpi_wait(req, st) bind(C, name="starpu_mpi_wait") result(res)
       import
       type(c_ptr), value, intent(in) :: req
       type(c_ptr), value, intent(in) :: st
       integer(c_int) :: res
     end function fstarpu_mpi_wait

     function fstarpu_mpi_test(req, flag, st) bind(C, name="starpu_mpi_test") result(res)
       import
       type(c_ptr), value, intent(in) :: req
       type(c_ptr), value, intent(in) :: flag
       type(c_ptr), value, intent(in) :: st
       integer(c_int) :: res
     end function fstarpu_mpi_test

     function fstarpu_mpi_barrier(mpi_comm) bind(C, name="fstarpu_mpi_barrier") result(res)
       import
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int) :: res
     end function fstarpu_mpi_barrier

     function fstarpu_mpi_recv_detached_sequential_consistency(dh, src, data_tag, mpi_comm, &
           callback, arg, seq_const) bind(C, &
           name="fstarpu_mpi_recv_detached_sequential_consistency") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: src
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_funptr), value, intent(in) :: callback
       type(c_ptr), value, intent(in) :: arg
       integer(c_int), value, intent(in) :: seq_const
       integer(c_int) :: res
     end function fstarpu_mpi_recv_detached_sequential_consistency

     function fstarpu_mpi_shutdown() bind(C, name="starpu_mpi_shutdown") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_mpi_shutdown

     function fstarpu_mpi_task_build(arglist) bind(C, name="fstarpu_mpi_task_build") result(res)
       import
       type(c_ptr), dimension(*) :: arglist
       type(c_ptr) :: res
     end function fstarpu_mpi_task_build

     subroutine fstarpu_mpi_task_post_build(arglist) bind(C, name="fstarpu_mpi_task_post_build")
       import
       type(c_ptr), dimension(*) :: arglist
     end subroutine fstarpu_mpi_task_post_build

     subroutine fstarpu_mpi_task_insert(arglist) bind(C, name="fstarpu_mpi_task_insert")
       import
       type(c_ptr), dimension(*) :: arglist
     end subroutine fstarpu_mpi_task_insert

     subroutine fstarpu_mpi_insert_task(arglist) bind(C, name="fstarpu_mpi_task_insert")
       import
       type(c_ptr), dimension(*) :: arglist
     end subroutine fstarpu_mpi_insert_task

     subroutine fstarpu_mpi_get_data_on_node(mpi_comm, dh, node) bind(C, &
           name="fstarpu_mpi_get_data_on_node")
       import
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
     end subroutine fstarpu_mpi_get_data_on_node

     subroutine fstarpu_mpi_get_data_on_node_detached(mpi_comm, dh, node, callback, &
           arg) bind(C, name="fstarpu_mpi_get_data_on_node_detached")
       import
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
       type(c_funptr), value, intent(in) :: callback
       type(c_ptr), value, intent(in) :: arg
     end subroutine fstarpu_mpi_get_data_on_node_detached

     subroutine fstarpu_mpi_redux_data(mpi_comm, dh) bind(C, name="fstarpu_mpi_redux_data")
       import
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_mpi_redux_data

     subroutine fstarpu_mpi_redux_data_prio(mpi_comm, dh, prio) bind(C, &
           name="fstarpu_mpi_redux_data_prio")
       import
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: prio
     end subroutine fstarpu_mpi_redux_data_prio

     subroutine fstarpu_mpi_redux_data_tree(mpi_comm, dh, arity) bind(C, &
           name="fstarpu_mpi_redux_data_tree")
       import
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: arity
     end subroutine fstarpu_mpi_redux_data_tree

     subroutine fstarpu_mpi_redux_data_prio_tree(mpi_comm, dh, prio, arity) bind(C, &
           name="fstarpu_mpi_redux_data_prio_tree")
       import
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: prio
       integer(c_int), value, intent(in) :: arity
     end subroutine fstarpu_mpi_redux_data_prio_tree

     function fstarpu_mpi_scatter_detached(dhs, cnt, root, mpi_comm, scallback, sarg, &
           rcallback, rarg) bind(C, name="fstarpu_mpi_scatter_detached") result(res)
       import
       type(c_ptr), dimension(*) :: dhs
       integer(c_int), value, intent(in) :: cnt
       integer(c_int), value, intent(in) :: root
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_funptr), value, intent(in) :: scallback
       type(c_ptr), value, intent(in) :: sarg
       type(c_funptr), value, intent(in) :: rcallback
       type(c_ptr), value, intent(in) :: rarg
       integer(c_int) :: res
     end function fstarpu_mpi_scatter_detached

     function fstarpu_mpi_gather_detached(dhs, cnt, root, mpi_comm, scallback, sarg, rcallback, &
           rarg) bind(C, name="fstarpu_mpi_gather_detached") result(res)
       import
       type(c_ptr), dimension(*) :: dhs
       integer(c_int), value, intent(in) :: cnt
       integer(c_int), value, intent(in) :: root
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_funptr), value, intent(in) :: scallback
       type(c_ptr), value, intent(in) :: sarg
       type(c_funptr), value, intent(in) :: rcallback
       type(c_ptr), value, intent(in) :: rarg
       integer(c_int) :: res
     end function fstarpu_mpi_gather_detached

     function fstarpu_mpi_isend_detached_unlock_tag(dh, dst, data_tag, mpi_comm, &
           starpu_tag) bind(C, name="fstarpu_mpi_isend_detached_unlock_tag") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: starpu_tag
       integer(c_int) :: res
     end function fstarpu_mpi_isend_detached_unlock_tag

     function fstarpu_mpi_isend_detached_unlock_tag_prio(dh, dst, data_tag, prio, mpi_comm, &
           starpu_tag) bind(C, name="fstarpu_mpi_isend_detached_unlock_tag_prio") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: dst
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: prio
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: starpu_tag
       integer(c_int) :: res
     end function fstarpu_mpi_isend_detached_unlock_tag_prio

     function fstarpu_mpi_recv_detached_unlock_tag(dh, src, data_tag, mpi_comm, &
           starpu_tag) bind(C, name="fstarpu_mpi_recv_detached_unlock_tag") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: src
       integer(c_int64_t), value, intent(in) :: data_tag
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: starpu_tag
       integer(c_int) :: res
     end function fstarpu_mpi_recv_detached_unlock_tag

     function fstarpu_mpi_isend_array_detached_unlock_tag(array_size, dhs, dsts, data_tags, &
           mpi_comms, starpu_tag) bind(C, &
           name="fstarpu_mpi_isend_array_detached_unlock_tag") result(res)
       import
       integer(c_int), value, intent(in) :: array_size
       type(c_ptr), dimension(*) :: dhs
       integer(c_int), dimension(*) :: dsts
       integer(c_int64_t), dimension(*) :: data_tags
       integer(c_int), dimension(*) :: mpi_comms
       type(c_ptr), value, intent(in) :: starpu_tag
       integer(c_int) :: res
     end function fstarpu_mpi_isend_array_detached_unlock_tag

     function fstarpu_mpi_isend_array_detached_unlock_tag_prio(array_size, dhs, dsts, &
           data_tags, prio, mpi_comms, starpu_tag) bind(C, &
           name="fstarpu_mpi_isend_array_detached_unlock_tag_prio") result(res)
       import
       integer(c_int), value, intent(in) :: array_size
       type(c_ptr), dimension(*) :: dhs
       integer(c_int), dimension(*) :: dsts
       integer(c_int64_t), dimension(*) :: data_tags
       integer(c_int), dimension(*) :: prio
       integer(c_int), dimension(*) :: mpi_comms
       type(c_ptr), value, intent(in) :: starpu_tag
       integer(c_int) :: res
     end function fstarpu_mpi_isend_array_detached_unlock_tag_prio

     function fstarpu_mpi_recv_array_detached_unlock_tag(array_size, dhs, srcs, data_tags, &
           mpi_comms, starpu_tag) bind(C, &
           name="fstarpu_mpi_recv_array_detached_unlock_tag") result(res)
       import
       integer(c_int), value, intent(in) :: array_size
       type(c_ptr), dimension(*) :: dhs
       integer(c_int), dimension(*) :: srcs
       integer(c_int64_t), dimension(*) :: data_tags
       integer(c_int), dimension(*) :: mpi_comms
       type(c_ptr), value, intent(in) :: starpu_tag
       integer(c_int) :: res
     end function fstarpu_mpi_recv_array_detached_unlock_tag

     subroutine fstarpu_mpi_comm_stats_retrieve(comm_stats) bind(C, &
           name="starpu_mpi_comm_stats_retrieve")
       import
       integer(c_size_t), dimension(*) :: comm_stats
     end subroutine fstarpu_mpi_comm_stats_retrieve

     subroutine fstarpu_mpi_cache_flush(mpi_comm, dh) bind(C, name="fstarpu_mpi_cache_flush")
       import
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_mpi_cache_flush

     subroutine fstarpu_mpi_cache_flush_all_data(mpi_comm) bind(C, &
           name="fstarpu_mpi_cache_flush_all_data")
       import
       integer(c_int), value, intent(in) :: mpi_comm
     end subroutine fstarpu_mpi_cache_flush_all_data

     function fstarpu_mpi_comm_size(mpi_comm, sz) bind(C, &
           name="fstarpu_mpi_comm_size") result(res)
       import
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int), intent(out) :: sz
       integer(c_int) :: res
     end function fstarpu_mpi_comm_size

     function fstarpu_mpi_comm_rank(mpi_comm, rank) bind(C, &
           name="fstarpu_mpi_comm_rank") result(res)
       import
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int), intent(out) :: rank
       integer(c_int) :: res
     end function fstarpu_mpi_comm_rank

     function fstarpu_mpi_world_rank() bind(C, name="starpu_mpi_world_rank") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_mpi_world_rank

     function fstarpu_mpi_world_size() bind(C, name="starpu_mpi_world_size") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_mpi_world_size

     function fstarpu_mpi_world_comm() bind(C, name="fstarpu_mpi_world_comm") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_mpi_world_comm

     subroutine fstarpu_mpi_comm_stats_enable() bind(C, name="starpu_mpi_comm_stats_enable")
       import
     end subroutine fstarpu_mpi_comm_stats_enable

     subroutine fstarpu_mpi_comm_stats_disable() bind(C, name="starpu_mpi_comm_stats_disable")
       import
     end subroutine fstarpu_mpi_comm_stats_disable

     function fstarpu_mpi_get_communication_tag() bind(C, &
           name="fstarpu_mpi_get_communication_tag") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_mpi_get_communication_tag

     subroutine fstarpu_mpi_set_communication_tag(tag) bind(C, &
           name="fstarpu_mpi_set_communication_tag")
       import
       integer(c_int64_t), value, intent(in) :: tag
     end subroutine fstarpu_mpi_set_communication_tag

     subroutine fstarpu_mpi_data_register_comm(dh, tag, rank, mpi_comm) bind(C, &
           name="fstarpu_mpi_data_register_comm")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int64_t), value, intent(in) :: tag
       integer(c_int), value, intent(in) :: rank
       integer(c_int), value, intent(in) :: mpi_comm
     end subroutine fstarpu_mpi_data_register_comm

     subroutine fstarpu_mpi_data_register(dh, tag, rank) bind(C, name="fstarpu_mpi_data_register")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int64_t), value, intent(in) :: tag
       integer(c_int), value, intent(in) :: rank
     end subroutine fstarpu_mpi_data_register

     subroutine fstarpu_mpi_data_set_rank_comm(dh, rank, mpi_comm) bind(C, &
           name="fstarpu_mpi_data_set_rank_comm")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: rank
       integer(c_int), value, intent(in) :: mpi_comm
     end subroutine fstarpu_mpi_data_set_rank_comm

     subroutine fstarpu_mpi_data_set_rank(dh, rank) bind(C, name="fstarpu_mpi_data_set_rank")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: rank
     end subroutine fstarpu_mpi_data_set_rank

     subroutine fstarpu_mpi_data_set_tag(dh, tag) bind(C, name="starpu_mpi_data_set_tag")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int64_t), value, intent(in) :: tag
     end subroutine fstarpu_mpi_data_set_tag

     function fstarpu_mpi_data_get_rank(dh) bind(C, name="starpu_mpi_data_get_rank") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int) :: res
     end function fstarpu_mpi_data_get_rank

     function fstarpu_mpi_data_get_tag(dh) bind(C, name="starpu_mpi_data_get_tag") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int64_t) :: res
     end function fstarpu_mpi_data_get_tag

     subroutine fstarpu_mpi_data_migrate(mpi_comm, dh, rank) bind(C, &
           name="fstarpu_mpi_data_migrate")
       import
       integer(c_int), value, intent(in) :: mpi_comm
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: rank
     end subroutine fstarpu_mpi_data_migrate

     function fstarpu_mpi_node_selection_register_policy(policy_func) bind(C, &
           name="starpu_mpi_node_selection_register_policy") result(res)
       import
       type(c_funptr), value, intent(in) :: policy_func
       integer(c_int) :: res
     end function fstarpu_mpi_node_selection_register_policy

     function fstarpu_mpi_node_selection_unregister_policy(policy) bind(C, &
           name="fstarpu_mpi_node_selection_unregister_policy") result(res)
       import
       type(c_ptr), value, intent(in) :: policy
       integer(c_int) :: res
     end function fstarpu_mpi_node_selection_unregister_policy

     function fstarpu_mpi_data_selection_get_current_policy() bind(C, &
           name="fstarpu_mpi_data_selection_get_current_policy") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_mpi_data_selection_get_current_policy

     function fstarpu_mpi_data_selection_set_current_policy(policy) bind(C, &
           name="fstarpu_mpi_data_selection_set_current_policy") result(res)
       import
       type(c_ptr), value, intent(in) :: policy
       integer(c_int) :: res
     end function fstarpu_mpi_data_selection_set_current_policy

     function fstarpu_mpi_cache_is_enabled() bind(C, &
           name="starpu_mpi_cache_is_enabled") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_mpi_cache_is_enabled

     function fstarpu_mpi_cache_set(enabled) bind(C, name="starpu_mpi_cache_set") result(res)
       import
       integer(c_int), value, intent(in) :: enabled
       integer(c_int) :: res
     end function fstarpu_mpi_cache_set

     function fstarpu_mpi_wait_for_all(mpi_comm) bind(C, &
           name="fstarpu_mpi_wait_for_all") result(res)
       import
       integer(c_int), value, intent(in) :: mpi_comm
       integer(c_int) :: res
     end function fstarpu_mpi_wait_for_all

     function fstarpu_mpi_datatype_register(dh, alloc_func, free_func) bind(C, &
           name="starpu_mpi_datatype_register") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_funptr), value, intent(in) :: alloc_func
       type(c_funptr), value, intent(in) :: free_func
       integer(c_int) :: res
     end function fstarpu_mpi_datatype_register

     function fstarpu_mpi_datatype_unregister(dh) bind(C, &
           name="starpu_mpi_datatype_unregister") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int) :: res
     end function fstarpu_mpi_datatype_unregister

     function fstarpu_mpi_req_alloc() bind(C, name="fstarpu_mpi_req_alloc") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_mpi_req_alloc

     subroutine fstarpu_mpi_req_free(req) bind(C, name="fstarpu_mpi_req_free")
       import
       type(c_ptr), value, intent(in) :: req
     end subroutine fstarpu_mpi_req_free

     function fstarpu_mpi_status_alloc() bind(C, name="fstarpu_mpi_status_alloc") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_mpi_status_alloc

     subroutine fstarpu_mpi_status_free(st) bind(C, name="fstarpu_mpi_status_free")
       import
       type(c_ptr), value, intent(in) :: st
     end subroutine fstarpu_mpi_status_free

     function fstarpu_mpi_argcv_alloc(argc, initialize_mpi, comm_present, comm) bind(C, &
           name="fstarpu_mpi_argcv_alloc") result(res)
       import
       integer(c_int), value, intent(in) :: argc
       integer(c_int), value, intent(in) :: initialize_mpi
       integer(c_int), value, intent(in) :: comm_present
       integer(c_int), value, intent(in) :: comm
       type(c_ptr) :: res
     end function fstarpu_mpi_argcv_alloc

     subroutine fstarpu_mpi_argcv_set_arg(argcv, i, l, s) bind(C, &
           name="fstarpu_mpi_argcv_set_arg")
       import
       type(c_ptr), value, intent(in) :: argcv
       integer(c_int), value, intent(in) :: i
       integer(c_int), value, intent(in) :: l
       character(kind=c_char), intent(in), dimension(*) :: s
     end subroutine fstarpu_mpi_argcv_set_arg

     subroutine fstarpu_mpi_argcv_free(argcv) bind(C, name="fstarpu_mpi_argcv_free")
       import
       type(c_ptr), value, intent(in) :: argcv
     end subroutine fstarpu_mpi_argcv_free

     function fstarpu_mpi_init_c(argcv) bind(C, name="fstarpu_mpi_init_c") result(res)
       import
       type(c_ptr), value, intent(in) :: argcv
       integer(c_int) :: res
     end function fstarpu_mpi_init_c
  end interface

contains

  ! Starts the MPI layer, and MPI itself if initialize_mpi is not 0. mpi_comm: the communicator that
  ! stands for all ranks; MPI_COMM_WORLD otherwise.
  function fstarpu_mpi_init(initialize_mpi, mpi_comm) result(ret)
    integer(c_int), intent(in) :: initialize_mpi
    integer(c_int), optional, intent(in) :: mpi_comm
    integer(c_int) :: ret
    type(c_ptr) :: argcv
    integer(c_int) :: argc, i, length, comm
    character(len=:), allocatable :: argument
    call fstarpu_set_constants()
    argc = command_argument_count()
    comm = 0
    if (present(mpi_comm)) comm = mpi_comm
    argcv = fstarpu_mpi_argcv_alloc(argc, initialize_mpi, merge(1, 0, present(mpi_comm)), comm)
    do i = 0, argc
       call get_command_argument(i, length=length)
       allocate(character(len=length) :: argument)
       call get_command_argument(i, argument)
       call fstarpu_mpi_argcv_set_arg(argcv, i, length, argument)
       deallocate(argument)
    end do
    ret = fstarpu_mpi_init_c(argcv)
    call fstarpu_mpi_argcv_free(argcv)
  end function fstarpu_mpi_init

end module fstarpu_mpi_mod
