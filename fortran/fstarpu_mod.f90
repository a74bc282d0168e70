! SPDX-License-Identifier: LGPL-2.1-or-later
!
! The runtime for Fortran 2008 programs: tasks, data, workers and scheduling contexts. Each procedure
! does what its namesake in C does; starpu.h and its parts say what. What C takes as an enumeration or
! a size is a pointer here (FSTARPU_*, set by fstarpu_init and fstarpu_mpi_init). What is variadic in C
! takes one array of pointers that ends with C_NULL_PTR; numbers are passed in it by c_loc, but for
! sizes (FSTARPU_SZ_*). Strings end with C_NULL_CHAR.
!
! Invariant: no procedure here keeps state; a simulated rank has its own copy of the variables.
module fstarpu_mod
  use iso_c_binding
  implicit none

  ! Constants of C, as pointers.
  type(c_ptr), target :: FSTARPU_R = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_W = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_RW = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_NONE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCRATCH = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_REDUX = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_MPI_REDUX = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_COMMUTE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SSEND = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_LOCALITY = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_DATA_ARRAY = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_DATA_MODE_ARRAY = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CL_ARGS = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CL_ARGS_NFREE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_TASK_DEPS_ARRAY = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CALLBACK = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CALLBACK_WITH_ARG = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CALLBACK_WITH_ARG_NFREE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CALLBACK_ARG = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CALLBACK_ARG_NFREE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_PROLOGUE_CALLBACK = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_PROLOGUE_CALLBACK_ARG = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_PROLOGUE_CALLBACK_ARG_NFREE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_PROLOGUE_CALLBACK_POP = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_PROLOGUE_CALLBACK_POP_ARG = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_PRIORITY = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_EXECUTE_ON_NODE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_EXECUTE_ON_DATA = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_EXECUTE_ON_WORKER = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_WORKER_ORDER = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_EXECUTE_WHERE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_HYPERVISOR_TAG = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_POSSIBLY_PARALLEL = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_FLOPS = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_TAG = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_TAG_ONLY = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_NAME = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_TASK_COLOR = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_TASK_SYNCHRONOUS = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_HANDLES_SEQUENTIAL_CONSISTENCY = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_TASK_END_DEP = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_NODE_SELECTION_POLICY = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_TASK_SCHED_DATA = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_VALUE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CPU_WORKER = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CUDA_WORKER = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_OPENCL_WORKER = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_ANY_WORKER = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX_POLICY_NAME = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX_POLICY_STRUCT = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX_POLICY_MIN_PRIO = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX_POLICY_MAX_PRIO = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX_HIERARCHY_LEVEL = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX_NESTED = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX_AWAKE_WORKERS = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX_POLICY_INIT = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SCHED_CTX_USER_DATA = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_NOWHERE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CPU = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CUDA = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_OPENCL = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CODELET_SIMGRID_EXECUTE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_CUDA_ASYNC = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_OPENCL_ASYNC = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_HISTORY_BASED = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_REGRESSION_BASED = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_NL_REGRESSION_BASED = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_MULTIPLE_REGRESSION_BASED = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SEQ = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SPMD = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_FORKJOIN = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_C_DOUBLE = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_C_FLOAT = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_C_CHAR = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_C_INT = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_C_INTPTR_T = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_C_PTR = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_C_SIZE_T = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_CHARACTER = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_INTEGER = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_INT4 = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_INT8 = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_REAL = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_REAL4 = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_REAL8 = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_DOUBLE_PRECISION = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_COMPLEX = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_COMPLEX4 = C_NULL_PTR
  type(c_ptr), target :: FSTARPU_SZ_COMPLEX8 = C_NULL_PTR
  integer(c_int) :: FSTARPU_NMAXBUFS = 0
  integer(c_int), target :: FSTARPU_DEFAULT_PRIO = 0

  ! Access modes are joined by this: FSTARPU_RW .ior. FSTARPU_COMMUTE.
  interface operator (.ior.)
     procedure or_cptrs
  end interface operator (.ior.)

  interface
     subroutine fstarpu_conf_init(conf) bind(C, name="starpu_conf_init")
       import
       type(c_ptr), value, intent(in) :: conf
     end subroutine fstarpu_conf_init

     function fstarpu_conf_allocate() bind(C, name="fstarpu_conf_allocate") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_conf_allocate

     subroutine fstarpu_conf_free(conf) bind(C, name="fstarpu_conf_free")
       import
       type(c_ptr), value, intent(in) :: conf
     end subroutine fstarpu_conf_free

     subroutine fstarpu_conf_set_sched_policy_name(conf, policy_name) bind(C, &
           name="fstarpu_conf_set_sched_policy_name")
       import
       type(c_ptr), value, intent(in) :: conf
       character(kind=c_char), intent(in), dimension(*) :: policy_name
     end subroutine fstarpu_conf_set_sched_policy_name

     subroutine fstarpu_conf_set_min_prio(conf, min_prio) bind(C, &
           name="fstarpu_conf_set_min_prio")
       import
       type(c_ptr), value, intent(in) :: conf
       integer(c_int), value, intent(in) :: min_prio
     end subroutine fstarpu_conf_set_min_prio

     subroutine fstarpu_conf_set_max_prio(conf, max_prio) bind(C, &
           name="fstarpu_conf_set_max_prio")
       import
       type(c_ptr), value, intent(in) :: conf
       integer(c_int), value, intent(in) :: max_prio
     end subroutine fstarpu_conf_set_max_prio

     subroutine fstarpu_conf_set_ncpu(conf, ncpu) bind(C, name="fstarpu_conf_set_ncpu")
       import
       type(c_ptr), value, intent(in) :: conf
       integer(c_int), value, intent(in) :: ncpu
     end subroutine fstarpu_conf_set_ncpu

     subroutine fstarpu_conf_set_ncuda(conf, ncuda) bind(C, name="fstarpu_conf_set_ncuda")
       import
       type(c_ptr), value, intent(in) :: conf
       integer(c_int), value, intent(in) :: ncuda
     end subroutine fstarpu_conf_set_ncuda

     subroutine fstarpu_conf_set_nopencl(conf, nopencl) bind(C, name="fstarpu_conf_set_nopencl")
       import
       type(c_ptr), value, intent(in) :: conf
       integer(c_int), value, intent(in) :: nopencl
     end subroutine fstarpu_conf_set_nopencl

     subroutine fstarpu_pause() bind(C, name="starpu_pause")
       import
     end subroutine fstarpu_pause

     subroutine fstarpu_resume() bind(C, name="starpu_resume")
       import
     end subroutine fstarpu_resume

     function fstarpu_is_paused() bind(C, name="starpu_is_paused") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_is_paused

     subroutine fstarpu_shutdown() bind(C, name="starpu_shutdown")
       import
     end subroutine fstarpu_shutdown

     subroutine fstarpu_topology_print() bind(C, name="fstarpu_topology_print")
       import
     end subroutine fstarpu_topology_print

     function fstarpu_asynchronous_copy_disabled() bind(C, &
           name="starpu_asynchronous_copy_disabled") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_asynchronous_copy_disabled

     function fstarpu_asynchronous_cuda_copy_disabled() bind(C, &
           name="starpu_asynchronous_cuda_copy_disabled") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_asynchronous_cuda_copy_disabled

     function fstarpu_asynchronous_opencl_copy_disabled() bind(C, &
           name="starpu_asynchronous_opencl_copy_disabled") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_asynchronous_opencl_copy_disabled

     subroutine fstarpu_display_stats() bind(C, name="starpu_display_stats")
       import
     end subroutine fstarpu_display_stats

     subroutine fstarpu_get_version(major, minor, release) bind(C, name="starpu_get_version")
       import
       integer(c_int), intent(out) :: major
       integer(c_int), intent(out) :: minor
       integer(c_int), intent(out) :: release
     end subroutine fstarpu_get_version

     function fstarpu_worker_get_count() bind(C, name="starpu_worker_get_count") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_worker_get_count

     function fstarpu_combined_worker_get_count() bind(C, &
           name="starpu_combined_worker_get_count") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_combined_worker_get_count

     function fstarpu_worker_is_combined_worker(id) bind(C, &
           name="starpu_worker_is_combined_worker") result(res)
       import
       integer(c_int), value, intent(in) :: id
       integer(c_int) :: res
     end function fstarpu_worker_is_combined_worker

     function fstarpu_cpu_worker_get_count() bind(C, &
           name="starpu_cpu_worker_get_count") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_cpu_worker_get_count

     function fstarpu_cuda_worker_get_count() bind(C, &
           name="starpu_cuda_worker_get_count") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_cuda_worker_get_count

     function fstarpu_opencl_worker_get_count() bind(C, &
           name="starpu_opencl_worker_get_count") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_opencl_worker_get_count

     function fstarpu_worker_get_id() bind(C, name="starpu_worker_get_id") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_worker_get_id

     function fstarpu_worker_get_bindid(id) bind(C, name="starpu_worker_get_bindid") result(res)
       import
       integer(c_int), value, intent(in) :: id
       integer(c_int) :: res
     end function fstarpu_worker_get_bindid

     function fstarpu_combined_worker_get_id() bind(C, &
           name="starpu_combined_worker_get_id") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_combined_worker_get_id

     function fstarpu_combined_worker_get_size() bind(C, &
           name="starpu_combined_worker_get_size") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_combined_worker_get_size

     function fstarpu_combined_worker_get_rank() bind(C, &
           name="starpu_combined_worker_get_rank") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_combined_worker_get_rank

     function fstarpu_worker_get_type(id) bind(C, name="fstarpu_worker_get_type") result(res)
       import
       integer(c_int), value, intent(in) :: id
       type(c_ptr) :: res
     end function fstarpu_worker_get_type

     function fstarpu_worker_get_count_by_type(typeid) bind(C, &
           name="fstarpu_worker_get_count_by_type") result(res)
       import
       type(c_ptr), value, intent(in) :: typeid
       integer(c_int) :: res
     end function fstarpu_worker_get_count_by_type

     function fstarpu_worker_get_ids_by_type(typeid, workerids, maxsize) bind(C, &
           name="fstarpu_worker_get_ids_by_type") result(res)
       import
       type(c_ptr), value, intent(in) :: typeid
       integer(c_int), intent(out), dimension(*) :: workerids
       integer(c_int), value, intent(in) :: maxsize
       integer(c_int) :: res
     end function fstarpu_worker_get_ids_by_type

     function fstarpu_worker_get_by_type(typeid, num) bind(C, &
           name="fstarpu_worker_get_by_type") result(res)
       import
       type(c_ptr), value, intent(in) :: typeid
       integer(c_int), value, intent(in) :: num
       integer(c_int) :: res
     end function fstarpu_worker_get_by_type

     function fstarpu_worker_get_by_devid(typeid, devid) bind(C, &
           name="fstarpu_worker_get_by_devid") result(res)
       import
       type(c_ptr), value, intent(in) :: typeid
       integer(c_int), value, intent(in) :: devid
       integer(c_int) :: res
     end function fstarpu_worker_get_by_devid

     subroutine fstarpu_worker_get_name(id, dst, maxlen) bind(C, name="starpu_worker_get_name")
       import
       integer(c_int), value, intent(in) :: id
       character(kind=c_char), intent(out), dimension(*) :: dst
       integer(c_size_t), value, intent(in) :: maxlen
     end subroutine fstarpu_worker_get_name

     function fstarpu_worker_get_devid(id) bind(C, name="starpu_worker_get_devid") result(res)
       import
       integer(c_int), value, intent(in) :: id
       integer(c_int) :: res
     end function fstarpu_worker_get_devid

     function fstarpu_worker_is_blocked(id) bind(C, name="fstarpu_worker_is_blocked") result(res)
       import
       integer(c_int), value, intent(in) :: id
       integer(c_int) :: res
     end function fstarpu_worker_is_blocked

     function fstarpu_worker_is_slave_somewhere(id) bind(C, &
           name="starpu_worker_is_slave_somewhere") result(res)
       import
       integer(c_int), value, intent(in) :: id
       integer(c_int) :: res
     end function fstarpu_worker_is_slave_somewhere

     subroutine fstarpu_worker_get_type_as_string(typeid, dst, maxlen) bind(C, &
           name="fstarpu_worker_get_type_as_string")
       import
       type(c_ptr), value, intent(in) :: typeid
       character(kind=c_char), intent(out), dimension(*) :: dst
       integer(c_size_t), value, intent(in) :: maxlen
     end subroutine fstarpu_worker_get_type_as_string

     function fstarpu_task_create_sync(handle, mode) bind(C, &
           name="fstarpu_task_create_sync") result(res)
       import
       type(c_ptr), value, intent(in) :: handle
       type(c_ptr), value, intent(in) :: mode
       type(c_ptr) :: res
     end function fstarpu_task_create_sync

     subroutine fstarpu_tag_declare_deps_array(id, ndeps, tag_array) bind(C, &
           name="fstarpu_tag_declare_deps_array")
       import
       integer(c_int), value, intent(in) :: id
       integer(c_int), value, intent(in) :: ndeps
       integer(c_long_long), dimension(*) :: tag_array
     end subroutine fstarpu_tag_declare_deps_array

     subroutine fstarpu_task_declare_deps(task, ndeps, root_task) bind(C, &
           name="fstarpu_task_declare_deps")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: ndeps
       type(c_ptr), value, intent(in) :: root_task
     end subroutine fstarpu_task_declare_deps

     subroutine fstarpu_task_declare_deps_array(task, ndeps, task_array) bind(C, &
           name="starpu_task_declare_deps_array")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: ndeps
       type(c_ptr), dimension(*) :: task_array
     end subroutine fstarpu_task_declare_deps_array

     subroutine fstarpu_task_end_dep_add(task, nb_deps) bind(C, name="starpu_task_end_dep_add")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: nb_deps
     end subroutine fstarpu_task_end_dep_add

     subroutine fstarpu_task_end_dep_release(task) bind(C, name="starpu_task_end_dep_release")
       import
       type(c_ptr), value, intent(in) :: task
     end subroutine fstarpu_task_end_dep_release

     function fstarpu_tag_wait(id) bind(C, name="starpu_tag_wait") result(res)
       import
       integer(c_long_long), value, intent(in) :: id
       integer(c_int) :: res
     end function fstarpu_tag_wait

     function fstarpu_tag_wait_array(ntags, tag_array) bind(C, &
           name="starpu_tag_wait_array") result(res)
       import
       integer(c_int), value, intent(in) :: ntags
       integer(c_long_long), dimension(*) :: tag_array
       integer(c_int) :: res
     end function fstarpu_tag_wait_array

     subroutine fstarpu_tag_notify_from_apps(id) bind(C, name="starpu_tag_notify_from_apps")
       import
       integer(c_long_long), value, intent(in) :: id
     end subroutine fstarpu_tag_notify_from_apps

     subroutine fstarpu_tag_restart(id) bind(C, name="starpu_tag_restart")
       import
       integer(c_long_long), value, intent(in) :: id
     end subroutine fstarpu_tag_restart

     subroutine fstarpu_tag_remove(id) bind(C, name="starpu_tag_remove")
       import
       integer(c_long_long), value, intent(in) :: id
     end subroutine fstarpu_tag_remove

     function fstarpu_tag_get_task(id) bind(C, name="starpu_tag_get_task") result(res)
       import
       integer(c_long_long), value, intent(in) :: id
       type(c_ptr) :: res
     end function fstarpu_tag_get_task

     subroutine fstarpu_task_init(task) bind(C, name="starpu_task_init")
       import
       type(c_ptr), value, intent(in) :: task
     end subroutine fstarpu_task_init

     subroutine fstarpu_task_clean(task) bind(C, name="starpu_task_clean")
       import
       type(c_ptr), value, intent(in) :: task
     end subroutine fstarpu_task_clean

     function fstarpu_task_create() bind(C, name="starpu_task_create") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_task_create

     subroutine fstarpu_task_destroy(task) bind(C, name="starpu_task_destroy")
       import
       type(c_ptr), value, intent(in) :: task
     end subroutine fstarpu_task_destroy

     subroutine fstarpu_task_set_destroy(task) bind(C, name="fstarpu_task_set_destroy")
       import
       type(c_ptr), value, intent(in) :: task
     end subroutine fstarpu_task_set_destroy

     function fstarpu_task_submit(task) bind(C, name="starpu_task_submit") result(res)
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int) :: res
     end function fstarpu_task_submit

     function fstarpu_task_submit_to_ctx(task, sched_ctx_id) bind(C, &
           name="starpu_task_submit_to_ctx") result(res)
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_task_submit_to_ctx

     function fstarpu_task_finished(task) bind(C, name="starpu_task_finished") result(res)
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int) :: res
     end function fstarpu_task_finished

     function fstarpu_task_wait(task) bind(C, name="starpu_task_wait") result(res)
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int) :: res
     end function fstarpu_task_wait

     function fstarpu_task_wait_array(task_array, ntasks) bind(C, &
           name="starpu_task_wait_array") result(res)
       import
       type(c_ptr) :: task_array
       integer(c_int), value, intent(in) :: ntasks
       integer(c_int) :: res
     end function fstarpu_task_wait_array

     subroutine fstarpu_task_wait_for_all() bind(C, name="starpu_task_wait_for_all")
       import
     end subroutine fstarpu_task_wait_for_all

     subroutine fstarpu_task_wait_for_n_submitted(n) bind(C, &
           name="starpu_task_wait_for_n_submitted")
       import
       integer(c_int), value, intent(in) :: n
     end subroutine fstarpu_task_wait_for_n_submitted

     subroutine fstarpu_task_wait_for_all_in_ctx(ctx) bind(C, &
           name="starpu_task_wait_for_all_in_ctx")
       import
       integer(c_int), value, intent(in) :: ctx
     end subroutine fstarpu_task_wait_for_all_in_ctx

     subroutine fstarpu_task_wait_for_n_submitted_in_ctx(ctx, n) bind(C, &
           name="starpu_task_wait_for_n_submitted_in_ctx")
       import
       integer(c_int), value, intent(in) :: ctx
       integer(c_int), value, intent(in) :: n
     end subroutine fstarpu_task_wait_for_n_submitted_in_ctx

     function fstarpu_task_wait_for_no_ready() bind(C, &
           name="starpu_task_wait_for_no_ready") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_task_wait_for_no_ready

     function fstarpu_task_nready() bind(C, name="starpu_task_nready") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_task_nready

     function fstarpu_task_nsubmitted() bind(C, name="starpu_task_nsubmitted") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_task_nsubmitted

     subroutine fstarpu_do_schedule() bind(C, name="starpu_do_schedule")
       import
     end subroutine fstarpu_do_schedule

     subroutine fstarpu_codelet_init(codelet) bind(C, name="starpu_codelet_init")
       import
       type(c_ptr), value, intent(in) :: codelet
     end subroutine fstarpu_codelet_init

     subroutine fstarpu_codelet_display_stats(codelet) bind(C, &
           name="starpu_codelet_display_stats")
       import
       type(c_ptr), value, intent(in) :: codelet
     end subroutine fstarpu_codelet_display_stats

     function fstarpu_task_get_current() bind(C, name="starpu_task_get_current") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_task_get_current

     subroutine fstarpu_parallel_task_barrier_init_init(task, id) bind(C, &
           name="starpu_parallel_task_barrier_init")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: id
     end subroutine fstarpu_parallel_task_barrier_init_init

     subroutine fstarpu_parallel_task_barrier_init_n_init_n(task, sz) bind(C, &
           name="starpu_parallel_task_barrier_init_n")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: sz
     end subroutine fstarpu_parallel_task_barrier_init_n_init_n

     function fstarpu_task_dup(task) bind(C, name="starpu_task_dup") result(res)
       import
       type(c_ptr), value, intent(in) :: task
       type(c_ptr) :: res
     end function fstarpu_task_dup

     subroutine fstarpu_task_set_implementation(task, impl) bind(C, &
           name="starpu_task_set_implementation")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: impl
     end subroutine fstarpu_task_set_implementation

     function fstarpu_task_get_implementation(task) bind(C, &
           name="starpu_task_get_implementation") result(res)
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int) :: res
     end function fstarpu_task_get_implementation

     function fstarpu_codelet_allocate() bind(C, name="fstarpu_codelet_allocate") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_codelet_allocate

     subroutine fstarpu_codelet_free(cl) bind(C, name="fstarpu_codelet_free")
       import
       type(c_ptr), value, intent(in) :: cl
     end subroutine fstarpu_codelet_free

     subroutine fstarpu_codelet_set_name(cl, cl_name) bind(C, name="fstarpu_codelet_set_name")
       import
       type(c_ptr), value, intent(in) :: cl
       character(kind=c_char), intent(in), dimension(*) :: cl_name
     end subroutine fstarpu_codelet_set_name

     subroutine fstarpu_codelet_set_color(cl, cl_color) bind(C, name="fstarpu_codelet_set_color")
       import
       type(c_ptr), value, intent(in) :: cl
       integer(c_int), value, intent(in) :: cl_color
     end subroutine fstarpu_codelet_set_color

     subroutine fstarpu_codelet_set_model(cl, cl_perfmodel) bind(C, &
           name="fstarpu_codelet_set_model")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_ptr), value, intent(in) :: cl_perfmodel
     end subroutine fstarpu_codelet_set_model

     subroutine fstarpu_codelet_set_energy_model(cl, cl_perfmodel) bind(C, &
           name="fstarpu_codelet_set_energy_model")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_ptr), value, intent(in) :: cl_perfmodel
     end subroutine fstarpu_codelet_set_energy_model

     subroutine fstarpu_codelet_add_cpu_func(cl, f_ptr) bind(C, &
           name="fstarpu_codelet_add_cpu_func")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_funptr), value, intent(in) :: f_ptr
     end subroutine fstarpu_codelet_add_cpu_func

     subroutine fstarpu_codelet_add_cuda_func(cl, f_ptr) bind(C, &
           name="fstarpu_codelet_add_cuda_func")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_funptr), value, intent(in) :: f_ptr
     end subroutine fstarpu_codelet_add_cuda_func

     subroutine fstarpu_codelet_add_cuda_flags(cl, flags) bind(C, &
           name="fstarpu_codelet_add_cuda_flags")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_ptr), value, intent(in) :: flags
     end subroutine fstarpu_codelet_add_cuda_flags

     subroutine fstarpu_codelet_add_opencl_func(cl, f_ptr) bind(C, &
           name="fstarpu_codelet_add_opencl_func")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_funptr), value, intent(in) :: f_ptr
     end subroutine fstarpu_codelet_add_opencl_func

     subroutine fstarpu_codelet_add_opencl_flags(cl, flags) bind(C, &
           name="fstarpu_codelet_add_opencl_flags")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_ptr), value, intent(in) :: flags
     end subroutine fstarpu_codelet_add_opencl_flags

     subroutine fstarpu_codelet_add_buffer(cl, mode) bind(C, name="fstarpu_codelet_add_buffer")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_ptr), value, intent(in) :: mode
     end subroutine fstarpu_codelet_add_buffer

     subroutine fstarpu_codelet_set_variable_nbuffers(cl) bind(C, &
           name="fstarpu_codelet_set_variable_nbuffers")
       import
       type(c_ptr), value, intent(in) :: cl
     end subroutine fstarpu_codelet_set_variable_nbuffers

     subroutine fstarpu_codelet_set_nbuffers(cl, nbuffers) bind(C, &
           name="fstarpu_codelet_set_nbuffers")
       import
       type(c_ptr), value, intent(in) :: cl
       integer(c_int), value, intent(in) :: nbuffers
     end subroutine fstarpu_codelet_set_nbuffers

     subroutine fstarpu_codelet_set_flags(cl, flags) bind(C, name="fstarpu_codelet_set_flags")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_ptr), value, intent(in) :: flags
     end subroutine fstarpu_codelet_set_flags

     subroutine fstarpu_codelet_set_where(cl, where) bind(C, name="fstarpu_codelet_set_where")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_ptr), value, intent(in) :: where
     end subroutine fstarpu_codelet_set_where

     subroutine fstarpu_codelet_set_type(cl, type_constant) bind(C, &
           name="fstarpu_codelet_set_type")
       import
       type(c_ptr), value, intent(in) :: cl
       type(c_ptr), value, intent(in) :: type_constant
     end subroutine fstarpu_codelet_set_type

     subroutine fstarpu_codelet_set_max_parallelism(cl, max_parallelism) bind(C, &
           name="fstarpu_codelet_set_max_parallelism")
       import
       type(c_ptr), value, intent(in) :: cl
       integer(c_int), value, intent(in) :: max_parallelism
     end subroutine fstarpu_codelet_set_max_parallelism

     function fstarpu_perfmodel_allocate() bind(C, name="fstarpu_perfmodel_allocate") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_perfmodel_allocate

     subroutine fstarpu_perfmodel_free(model) bind(C, name="fstarpu_perfmodel_free")
       import
       type(c_ptr), value, intent(in) :: model
     end subroutine fstarpu_perfmodel_free

     subroutine fstarpu_perfmodel_set_symbol(model, model_symbol) bind(C, &
           name="fstarpu_perfmodel_set_symbol")
       import
       type(c_ptr), value, intent(in) :: model
       character(kind=c_char), intent(in), dimension(*) :: model_symbol
     end subroutine fstarpu_perfmodel_set_symbol

     subroutine fstarpu_perfmodel_set_type(model, type) bind(C, name="fstarpu_perfmodel_set_type")
       import
       type(c_ptr), value, intent(in) :: model
       type(c_ptr), value, intent(in) :: type
     end subroutine fstarpu_perfmodel_set_type

     function fstarpu_malloc_on_node(node, sz) bind(C, name="starpu_malloc_on_node") result(res)
       import
       integer(c_int), value, intent(in) :: node
       integer(c_size_t), value, intent(in) :: sz
       integer(c_intptr_t) :: res
     end function fstarpu_malloc_on_node

     subroutine fstarpu_free_on_node(node, addr, sz) bind(C, name="starpu_free_on_node")
       import
       integer(c_int), value, intent(in) :: node
       integer(c_intptr_t), value, intent(in) :: addr
       integer(c_size_t), value, intent(in) :: sz
     end subroutine fstarpu_free_on_node

     subroutine fstarpug_data_ptr_register(dh, node) bind(C, name="starpu_data_ptr_register")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
     end subroutine fstarpug_data_ptr_register

     subroutine fstarpu_data_register_same(dh_dst, dh_src) bind(C, &
           name="starpu_data_register_same")
       import
       type(c_ptr), intent(out) :: dh_dst
       type(c_ptr), value, intent(in) :: dh_src
     end subroutine fstarpu_data_register_same

     function fstarpu_data_handle_to_pointer(dh, node) bind(C, &
           name="starpu_data_handle_to_pointer") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
       type(c_ptr) :: res
     end function fstarpu_data_handle_to_pointer

     function fstarpu_data_get_local_ptr(dh) bind(C, name="starpu_data_get_local_ptr") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr) :: res
     end function fstarpu_data_get_local_ptr

     subroutine fstarpu_tensor_data_register(dh, home_node, ptr, ldy, ldz, ldt, nx, ny, nz, nt, &
           elt_size) bind(C, name="starpu_tensor_data_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: home_node
       type(c_ptr), value, intent(in) :: ptr
       integer(c_int), value, intent(in) :: ldy
       integer(c_int), value, intent(in) :: ldz
       integer(c_int), value, intent(in) :: ldt
       integer(c_int), value, intent(in) :: nx
       integer(c_int), value, intent(in) :: ny
       integer(c_int), value, intent(in) :: nz
       integer(c_int), value, intent(in) :: nt
       integer(c_size_t), value, intent(in) :: elt_size
     end subroutine fstarpu_tensor_data_register

     subroutine fstarpu_tensor_ptr_register(dh, node, ptr, dev_handle, offset, ldy, ldz, &
           ldt) bind(C, name="fstarpu_tensor_ptr_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: node
       type(c_ptr), value, intent(in) :: ptr
       type(c_ptr), value, intent(in) :: dev_handle
       integer(c_size_t), value, intent(in) :: offset
       integer(c_int), value, intent(in) :: ldy
       integer(c_int), value, intent(in) :: ldz
       integer(c_int), value, intent(in) :: ldt
     end subroutine fstarpu_tensor_ptr_register

     function fstarpu_tensor_get_ptr(buffers, i) bind(C, &
           name="fstarpu_tensor_get_ptr") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       type(c_ptr) :: res
     end function fstarpu_tensor_get_ptr

     function fstarpu_tensor_get_ldy(buffers, i) bind(C, &
           name="fstarpu_tensor_get_ldy") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_tensor_get_ldy

     function fstarpu_tensor_get_ldz(buffers, i) bind(C, &
           name="fstarpu_tensor_get_ldz") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_tensor_get_ldz

     function fstarpu_tensor_get_ldt(buffers, i) bind(C, &
           name="fstarpu_tensor_get_ldt") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_tensor_get_ldt

     function fstarpu_tensor_get_nx(buffers, i) bind(C, name="fstarpu_tensor_get_nx") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_tensor_get_nx

     function fstarpu_tensor_get_ny(buffers, i) bind(C, name="fstarpu_tensor_get_ny") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_tensor_get_ny

     function fstarpu_tensor_get_nz(buffers, i) bind(C, name="fstarpu_tensor_get_nz") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_tensor_get_nz

     function fstarpu_tensor_get_nt(buffers, i) bind(C, name="fstarpu_tensor_get_nt") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_tensor_get_nt

     subroutine fstarpu_block_data_register(dh, home_node, ptr, ldy, ldz, nx, ny, nz, &
           elt_size) bind(C, name="starpu_block_data_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: home_node
       type(c_ptr), value, intent(in) :: ptr
       integer(c_int), value, intent(in) :: ldy
       integer(c_int), value, intent(in) :: ldz
       integer(c_int), value, intent(in) :: nx
       integer(c_int), value, intent(in) :: ny
       integer(c_int), value, intent(in) :: nz
       integer(c_size_t), value, intent(in) :: elt_size
     end subroutine fstarpu_block_data_register

     subroutine fstarpu_block_ptr_register(dh, node, ptr, dev_handle, offset, ldy, ldz) bind(C, &
           name="fstarpu_block_ptr_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: node
       type(c_ptr), value, intent(in) :: ptr
       type(c_ptr), value, intent(in) :: dev_handle
       integer(c_size_t), value, intent(in) :: offset
       integer(c_int), value, intent(in) :: ldy
       integer(c_int), value, intent(in) :: ldz
     end subroutine fstarpu_block_ptr_register

     function fstarpu_block_get_ptr(buffers, i) bind(C, name="fstarpu_block_get_ptr") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       type(c_ptr) :: res
     end function fstarpu_block_get_ptr

     function fstarpu_block_get_ldy(buffers, i) bind(C, name="fstarpu_block_get_ldy") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_block_get_ldy

     function fstarpu_block_get_ldz(buffers, i) bind(C, name="fstarpu_block_get_ldz") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_block_get_ldz

     function fstarpu_block_get_nx(buffers, i) bind(C, name="fstarpu_block_get_nx") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_block_get_nx

     function fstarpu_block_get_ny(buffers, i) bind(C, name="fstarpu_block_get_ny") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_block_get_ny

     function fstarpu_block_get_nz(buffers, i) bind(C, name="fstarpu_block_get_nz") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_block_get_nz

     subroutine fstarpu_matrix_data_register(dh, home_node, ptr, ld, nx, ny, elt_size) bind(C, &
           name="starpu_matrix_data_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: home_node
       type(c_ptr), value, intent(in) :: ptr
       integer(c_int), value, intent(in) :: ld
       integer(c_int), value, intent(in) :: nx
       integer(c_int), value, intent(in) :: ny
       integer(c_size_t), value, intent(in) :: elt_size
     end subroutine fstarpu_matrix_data_register

     subroutine fstarpu_matrix_ptr_register(dh, node, ptr, dev_handle, offset, ld) bind(C, &
           name="fstarpu_matrix_ptr_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: node
       type(c_ptr), value, intent(in) :: ptr
       type(c_ptr), value, intent(in) :: dev_handle
       integer(c_size_t), value, intent(in) :: offset
       integer(c_int), value, intent(in) :: ld
     end subroutine fstarpu_matrix_ptr_register

     function fstarpu_matrix_get_ptr(buffers, i) bind(C, &
           name="fstarpu_matrix_get_ptr") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       type(c_ptr) :: res
     end function fstarpu_matrix_get_ptr

     function fstarpu_matrix_get_ld(buffers, i) bind(C, name="fstarpu_matrix_get_ld") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_matrix_get_ld

     function fstarpu_matrix_get_nx(buffers, i) bind(C, name="fstarpu_matrix_get_nx") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_matrix_get_nx

     function fstarpu_matrix_get_ny(buffers, i) bind(C, name="fstarpu_matrix_get_ny") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_matrix_get_ny

     subroutine fstarpu_vector_data_register(dh, home_node, ptr, nx, elt_size) bind(C, &
           name="starpu_vector_data_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: home_node
       type(c_ptr), value, intent(in) :: ptr
       integer(c_int), value, intent(in) :: nx
       integer(c_size_t), value, intent(in) :: elt_size
     end subroutine fstarpu_vector_data_register

     subroutine fstarpu_vector_ptr_register(dh, node, ptr, dev_handle, offset) bind(C, &
           name="fstarpu_vector_ptr_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: node
       type(c_ptr), value, intent(in) :: ptr
       type(c_ptr), value, intent(in) :: dev_handle
       integer(c_size_t), value, intent(in) :: offset
     end subroutine fstarpu_vector_ptr_register

     function fstarpu_vector_get_ptr(buffers, i) bind(C, &
           name="fstarpu_vector_get_ptr") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       type(c_ptr) :: res
     end function fstarpu_vector_get_ptr

     function fstarpu_vector_get_nx(buffers, i) bind(C, name="fstarpu_vector_get_nx") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       integer(c_int) :: res
     end function fstarpu_vector_get_nx

     subroutine fstarpu_variable_data_register(dh, home_node, ptr, elt_size) bind(C, &
           name="starpu_variable_data_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: home_node
       type(c_ptr), value, intent(in) :: ptr
       integer(c_size_t), value, intent(in) :: elt_size
     end subroutine fstarpu_variable_data_register

     subroutine fstarpu_variable_ptr_register(dh, node, ptr, dev_handle, offset) bind(C, &
           name="fstarpu_variable_ptr_register")
       import
       type(c_ptr), intent(out) :: dh
       integer(c_int), value, intent(in) :: node
       type(c_ptr), value, intent(in) :: ptr
       type(c_ptr), value, intent(in) :: dev_handle
       integer(c_size_t), value, intent(in) :: offset
     end subroutine fstarpu_variable_ptr_register

     function fstarpu_variable_get_ptr(buffers, i) bind(C, &
           name="fstarpu_variable_get_ptr") result(res)
       import
       type(c_ptr), value, intent(in) :: buffers
       integer(c_int), value, intent(in) :: i
       type(c_ptr) :: res
     end function fstarpu_variable_get_ptr

     subroutine fstarpu_void_data_register(dh) bind(C, name="starpu_void_data_register")
       import
       type(c_ptr), intent(out) :: dh
     end subroutine fstarpu_void_data_register

     function fstarpu_data_filter_allocate() bind(C, &
           name="fstarpu_data_filter_allocate") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_data_filter_allocate

     subroutine fstarpu_data_filter_free(filter) bind(C, name="fstarpu_data_filter_free")
       import
       type(c_ptr), value, intent(in) :: filter
     end subroutine fstarpu_data_filter_free

     function fstarpu_df_alloc_bcsr_filter_canonical_block() bind(C, &
           name="fstarpu_df_alloc_bcsr_filter_canonical_block") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_bcsr_filter_canonical_block

     function fstarpu_df_alloc_csr_filter_vertical_block() bind(C, &
           name="fstarpu_df_alloc_csr_filter_vertical_block") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_csr_filter_vertical_block

     function fstarpu_df_alloc_matrix_filter_block() bind(C, &
           name="fstarpu_df_alloc_matrix_filter_block") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_matrix_filter_block

     function fstarpu_df_alloc_matrix_filter_block_shadow() bind(C, &
           name="fstarpu_df_alloc_matrix_filter_block_shadow") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_matrix_filter_block_shadow

     function fstarpu_df_alloc_matrix_filter_vertical_block() bind(C, &
           name="fstarpu_df_alloc_matrix_filter_vertical_block") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_matrix_filter_vertical_block

     function fstarpu_df_alloc_matrix_filter_vertical_block_shadow() bind(C, &
           name="fstarpu_df_alloc_matrix_filter_vertical_block_shadow") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_matrix_filter_vertical_block_shadow

     function fstarpu_df_alloc_vector_filter_block() bind(C, &
           name="fstarpu_df_alloc_vector_filter_block") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_vector_filter_block

     function fstarpu_df_alloc_vector_filter_block_shadow() bind(C, &
           name="fstarpu_df_alloc_vector_filter_block_shadow") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_vector_filter_block_shadow

     function fstarpu_df_alloc_vector_filter_list() bind(C, &
           name="fstarpu_df_alloc_vector_filter_list") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_vector_filter_list

     function fstarpu_df_alloc_vector_filter_divide_in_2() bind(C, &
           name="fstarpu_df_alloc_vector_filter_divide_in_2") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_vector_filter_divide_in_2

     function fstarpu_df_alloc_block_filter_block() bind(C, &
           name="fstarpu_df_alloc_block_filter_block") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_block_filter_block

     function fstarpu_df_alloc_block_filter_block_shadow() bind(C, &
           name="fstarpu_df_alloc_block_filter_block_shadow") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_block_filter_block_shadow

     function fstarpu_df_alloc_block_filter_vertical_block() bind(C, &
           name="fstarpu_df_alloc_block_filter_vertical_block") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_block_filter_vertical_block

     function fstarpu_df_alloc_block_filter_vertical_block_shadow() bind(C, &
           name="fstarpu_df_alloc_block_filter_vertical_block_shadow") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_df_alloc_block_filter_vertical_block_shadow

     subroutine fstarpu_data_filter_set_filter_func(filter, f_ptr) bind(C, &
           name="fstarpu_data_filter_set_filter_func")
       import
       type(c_ptr), value, intent(in) :: filter
       type(c_funptr), value, intent(in) :: f_ptr
     end subroutine fstarpu_data_filter_set_filter_func

     subroutine fstarpu_data_filter_set_nchildren(filter, nchildren) bind(C, &
           name="fstarpu_data_filter_set_nchildren")
       import
       type(c_ptr), value, intent(in) :: filter
       integer(c_int), value, intent(in) :: nchildren
     end subroutine fstarpu_data_filter_set_nchildren

     subroutine fstarpu_data_filter_set_get_nchildren_func(filter, f_ptr) bind(C, &
           name="fstarpu_data_filter_set_get_nchildren_func")
       import
       type(c_ptr), value, intent(in) :: filter
       type(c_funptr), value, intent(in) :: f_ptr
     end subroutine fstarpu_data_filter_set_get_nchildren_func

     subroutine fstarpu_data_filter_set_get_child_ops_func(filter, f_ptr) bind(C, &
           name="fstarpu_data_filter_set_get_child_ops_func")
       import
       type(c_ptr), value, intent(in) :: filter
       type(c_funptr), value, intent(in) :: f_ptr
     end subroutine fstarpu_data_filter_set_get_child_ops_func

     subroutine fstarpu_data_filter_set_filter_arg(filter, filter_arg) bind(C, &
           name="fstarpu_data_filter_set_filter_arg")
       import
       type(c_ptr), value, intent(in) :: filter
       integer(c_int), value, intent(in) :: filter_arg
     end subroutine fstarpu_data_filter_set_filter_arg

     subroutine fstarpu_data_filter_set_filter_arg_ptr(filter, filter_arg_ptr) bind(C, &
           name="fstarpu_data_filter_set_filter_arg_ptr")
       import
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: filter_arg_ptr
     end subroutine fstarpu_data_filter_set_filter_arg_ptr

     subroutine fstarpu_data_partition(dh, filter) bind(C, name="starpu_data_partition")
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: filter
     end subroutine fstarpu_data_partition

     subroutine fstarpu_data_unpartition(root_dh, gathering_node) bind(C, &
           name="starpu_data_unpartition")
       import
       type(c_ptr), value, intent(in) :: root_dh
       integer(c_int), value, intent(in) :: gathering_node
     end subroutine fstarpu_data_unpartition

     subroutine fstarpu_data_partition_plan(dh, filter, children) bind(C, &
           name="starpu_data_partition_plan")
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), dimension(*) :: children
     end subroutine fstarpu_data_partition_plan

     subroutine fstarpu_data_partition_submit(dh, nparts, children) bind(C, &
           name="starpu_data_partition_submit")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: nparts
       type(c_ptr), dimension(*) :: children
     end subroutine fstarpu_data_partition_submit

     subroutine fstarpu_data_partition_readonly_submit(dh, nparts, children) bind(C, &
           name="starpu_data_partition_readonly_submit")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: nparts
       type(c_ptr), dimension(*) :: children
     end subroutine fstarpu_data_partition_readonly_submit

     subroutine fstarpu_data_partition_readwrite_upgrade_submit(dh, nparts, children) bind(C, &
           name="starpu_data_partition_readwrite_upgrade_submit")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: nparts
       type(c_ptr), dimension(*) :: children
     end subroutine fstarpu_data_partition_readwrite_upgrade_submit

     subroutine fstarpu_data_unpartition_submit(dh, nparts, children, gathering_node) bind(C, &
           name="starpu_data_unpartition_submit")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: nparts
       type(c_ptr), dimension(*) :: children
       integer(c_int), value, intent(in) :: gathering_node
     end subroutine fstarpu_data_unpartition_submit

     subroutine fstarpu_data_unpartition_readonly_submit(dh, nparts, children, &
           gathering_node) bind(C, name="starpu_data_unpartition_readonly_submit")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: nparts
       type(c_ptr), dimension(*) :: children
       integer(c_int), value, intent(in) :: gathering_node
     end subroutine fstarpu_data_unpartition_readonly_submit

     subroutine fstarpu_data_partition_clean(dh, nparts, children) bind(C, &
           name="starpu_data_partition_clean")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: nparts
       type(c_ptr), dimension(*) :: children
     end subroutine fstarpu_data_partition_clean

     function fstarpu_data_get_nb_children(dh) bind(C, &
           name="starpu_data_get_nb_children") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int) :: res
     end function fstarpu_data_get_nb_children

     function fstarpu_data_get_child(dh, i) bind(C, name="starpu_data_get_child") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: i
       type(c_ptr) :: res
     end function fstarpu_data_get_child

     function fstarpu_data_get_sub_data(root_dh, depth, indices) bind(C, &
           name="fstarpu_data_get_sub_data") result(res)
       import
       type(c_ptr), value, intent(in) :: root_dh
       integer(c_int), value, intent(in) :: depth
       integer(c_int), dimension(*) :: indices
       type(c_ptr) :: res
     end function fstarpu_data_get_sub_data

     subroutine fstarpu_data_map_filters(root_dh, nfilters, filters) bind(C, &
           name="fstarpu_data_map_filters")
       import
       type(c_ptr), value, intent(in) :: root_dh
       integer(c_int), value, intent(in) :: nfilters
       type(c_ptr), dimension(*) :: filters
     end subroutine fstarpu_data_map_filters

     subroutine fstarpu_matrix_filter_block(father_interface, child_interface, filter, id, &
           nparts) bind(C, name="starpu_matrix_filter_block")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_matrix_filter_block

     subroutine fstarpu_matrix_filter_block_shadow(father_interface, child_interface, filter, &
           id, nparts) bind(C, name="starpu_matrix_filter_block_shadow")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_matrix_filter_block_shadow

     subroutine fstarpu_matrix_filter_vertical_block(father_interface, child_interface, filter, &
           id, nparts) bind(C, name="starpu_matrix_filter_vertical_block")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_matrix_filter_vertical_block

     subroutine fstarpu_matrix_filter_vertical_block_shadow(father_interface, child_interface, &
           filter, id, nparts) bind(C, name="starpu_matrix_filter_vertical_block_shadow")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_matrix_filter_vertical_block_shadow

     subroutine fstarpu_vector_filter_block(father_interface, child_interface, filter, id, &
           nparts) bind(C, name="starpu_vector_filter_block")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_vector_filter_block

     subroutine fstarpu_vector_filter_block_shadow(father_interface, child_interface, filter, &
           id, nparts) bind(C, name="starpu_vector_filter_block_shadow")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_vector_filter_block_shadow

     subroutine fstarpu_vector_filter_list_long(father_interface, child_interface, filter, id, &
           nparts) bind(C, name="starpu_vector_filter_list_long")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_vector_filter_list_long

     subroutine fstarpu_vector_filter_list(father_interface, child_interface, filter, id, &
           nparts) bind(C, name="starpu_vector_filter_list")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_vector_filter_list

     subroutine fstarpu_vector_divide_in_2(father_interface, child_interface, filter, id, &
           nparts) bind(C, name="starpu_vector_filter_divide_in_2")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_vector_divide_in_2

     subroutine fstarpu_block_filter_block(father_interface, child_interface, filter, id, &
           nparts) bind(C, name="starpu_block_filter_block")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_block_filter_block

     subroutine fstarpu_block_filter_block_shadow(father_interface, child_interface, filter, &
           id, nparts) bind(C, name="starpu_block_filter_block_shadow")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_block_filter_block_shadow

     subroutine fstarpu_block_filter_vertical_block(father_interface, child_interface, filter, &
           id, nparts) bind(C, name="starpu_block_filter_vertical_block")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_block_filter_vertical_block

     subroutine fstarpu_block_filter_vertical_block_shadow(father_interface, child_interface, &
           filter, id, nparts) bind(C, name="starpu_block_filter_vertical_block_shadow")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_block_filter_vertical_block_shadow

     subroutine fstarpu_block_filter_depth_block(father_interface, child_interface, filter, id, &
           nparts) bind(C, name="starpu_block_filter_depth_block")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_block_filter_depth_block

     subroutine fstarpu_block_filter_depth_block_shadow(father_interface, child_interface, &
           filter, id, nparts) bind(C, name="starpu_block_filter_depth_block_shadow")
       import
       type(c_ptr), value, intent(in) :: father_interface
       type(c_ptr), value, intent(in) :: child_interface
       type(c_ptr), value, intent(in) :: filter
       type(c_ptr), value, intent(in) :: id
       type(c_ptr), value, intent(in) :: nparts
     end subroutine fstarpu_block_filter_depth_block_shadow

     subroutine fstarpu_data_unregister(dh) bind(C, name="starpu_data_unregister")
       import
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_data_unregister

     subroutine fstarpu_data_unregister_no_coherency(dh) bind(C, &
           name="starpu_data_unregister_no_coherency")
       import
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_data_unregister_no_coherency

     subroutine fstarpu_data_unregister_submit(dh) bind(C, name="starpu_data_unregister_submit")
       import
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_data_unregister_submit

     subroutine fstarpu_data_deinitialize(dh) bind(C, name="starpu_data_deinitialize")
       import
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_data_deinitialize

     subroutine fstarpu_data_deinitialize_submit(dh) bind(C, &
           name="starpu_data_deinitialize_submit")
       import
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_data_deinitialize_submit

     subroutine fstarpu_data_invalidate(dh) bind(C, name="starpu_data_invalidate")
       import
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_data_invalidate

     subroutine fstarpu_data_invalidate_submit(dh) bind(C, name="starpu_data_invalidate_submit")
       import
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_data_invalidate_submit

     subroutine fstarpu_data_advise_as_important(dh, is_important) bind(C, &
           name="starpu_data_advise_as_important")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: is_important
     end subroutine fstarpu_data_advise_as_important

     subroutine fstarpu_data_acquire(dh, mode) bind(C, name="fstarpu_data_acquire")
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: mode
     end subroutine fstarpu_data_acquire

     subroutine fstarpu_data_release(dh) bind(C, name="starpu_data_release")
       import
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_data_release

     subroutine fstarpu_data_release_on_node(dh, node) bind(C, name="starpu_data_release_on_node")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
     end subroutine fstarpu_data_release_on_node

     function fstarpu_arbiter_create() bind(C, name="starpu_arbiter_create") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_arbiter_create

     subroutine fstarpu_data_assign_arbiter(dh, arbiter) bind(C, &
           name="fstarpu_data_assign_arbiter")
       import
       type(c_ptr), intent(out) :: dh
       type(c_ptr), value, intent(in) :: arbiter
     end subroutine fstarpu_data_assign_arbiter

     subroutine fstarpu_arbiter_destroy(arbiter) bind(C, name="starpu_arbiter_destroy")
       import
       type(c_ptr), value, intent(in) :: arbiter
     end subroutine fstarpu_arbiter_destroy

     subroutine fstarpu_display_memory_stats() bind(C, name="fstarpu_display_memory_stats")
       import
     end subroutine fstarpu_display_memory_stats

     subroutine fstarpu_data_request_allocation(dh, node) bind(C, &
           name="starpu_data_request_allocation")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
     end subroutine fstarpu_data_request_allocation

     subroutine fstarpu_data_fetch_on_node(dh, node, async) bind(C, &
           name="starpu_data_fetch_on_node")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
       integer(c_int), value, intent(in) :: async
     end subroutine fstarpu_data_fetch_on_node

     subroutine fstarpu_data_prefetch_on_node(dh, node, async) bind(C, &
           name="starpu_data_prefetch_on_node")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
       integer(c_int), value, intent(in) :: async
     end subroutine fstarpu_data_prefetch_on_node

     subroutine fstarpu_data_prefetch_on_node_prio(dh, node, async, prio) bind(C, &
           name="starpu_data_prefetch_on_node_prio")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
       integer(c_int), value, intent(in) :: async
       integer(c_int), value, intent(in) :: prio
     end subroutine fstarpu_data_prefetch_on_node_prio

     subroutine fstarpu_data_idle_prefetch_on_node(dh, node, async) bind(C, &
           name="starpu_data_idle_prefetch_on_node")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
       integer(c_int), value, intent(in) :: async
     end subroutine fstarpu_data_idle_prefetch_on_node

     subroutine fstarpu_data_idle_prefetch_on_node_prio(dh, node, async, prio) bind(C, &
           name="starpu_data_idle_prefetch_on_node_prio")
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
       integer(c_int), value, intent(in) :: async
       integer(c_int), value, intent(in) :: prio
     end subroutine fstarpu_data_idle_prefetch_on_node_prio

     function fstarpu_data_is_on_node(dh, node) bind(C, name="starpu_data_is_on_node") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: node
       integer(c_int) :: res
     end function fstarpu_data_is_on_node

     subroutine fstarpu_data_wont_use(dh) bind(C, name="starpu_data_wont_use")
       import
       type(c_ptr), value, intent(in) :: dh
     end subroutine fstarpu_data_wont_use

     function fstarpu_worker_get_memory_node(id) bind(C, &
           name="starpu_worker_get_memory_node") result(res)
       import
       integer(c_int), value, intent(in) :: id
       integer(c_int) :: res
     end function fstarpu_worker_get_memory_node

     function fstarpu_memory_nodes_get_count() bind(C, &
           name="starpu_memory_nodes_get_count") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_memory_nodes_get_count

     subroutine fstarpu_data_set_reduction_methods(dh, redux_cl, init_cl) bind(C, &
           name="starpu_data_set_reduction_methods")
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: redux_cl
       type(c_ptr), value, intent(in) :: init_cl
     end subroutine fstarpu_data_set_reduction_methods

     subroutine fstarpu_data_set_reduction_methods_with_args(dh, redux_cl, redux_args, init_cl, &
           init_args) bind(C, name="starpu_data_set_reduction_methods_with_args")
       import
       type(c_ptr), value, intent(in) :: dh
       type(c_ptr), value, intent(in) :: redux_cl
       type(c_ptr), value, intent(in) :: redux_args
       type(c_ptr), value, intent(in) :: init_cl
       type(c_ptr), value, intent(in) :: init_args
     end subroutine fstarpu_data_set_reduction_methods_with_args

     function fstarpu_data_test_if_allocated_on_node(dh, mem_node) bind(C, &
           name="starpu_data_test_if_allocated_on_node") result(res)
       import
       type(c_ptr), value, intent(in) :: dh
       integer(c_int), value, intent(in) :: mem_node
       integer(c_int) :: res
     end function fstarpu_data_test_if_allocated_on_node

     subroutine fstarpu_memchunk_tidy(mem_node) bind(C, name="starpu_memchunk_tidy")
       import
       integer(c_int), value, intent(in) :: mem_node
     end subroutine fstarpu_memchunk_tidy

     function fstarpu_data_handle_array_alloc(nb) bind(C, &
           name="fstarpu_data_handle_array_alloc") result(res)
       import
       integer(c_int), value, intent(in) :: nb
       type(c_ptr) :: res
     end function fstarpu_data_handle_array_alloc

     subroutine fstarpu_data_handle_array_free(handles) bind(C, &
           name="fstarpu_data_handle_array_free")
       import
       type(c_ptr), value, intent(in) :: handles
     end subroutine fstarpu_data_handle_array_free

     subroutine fstarpu_data_handle_array_set(handles, i, handle) bind(C, &
           name="fstarpu_data_handle_array_set")
       import
       type(c_ptr), value, intent(in) :: handles
       integer(c_int), value, intent(in) :: i
       type(c_ptr), value, intent(in) :: handle
     end subroutine fstarpu_data_handle_array_set

     function fstarpu_data_descr_array_alloc(nb) bind(C, &
           name="fstarpu_data_descr_array_alloc") result(res)
       import
       integer(c_int), value, intent(in) :: nb
       type(c_ptr) :: res
     end function fstarpu_data_descr_array_alloc

     function fstarpu_data_descr_alloc() bind(C, name="fstarpu_data_descr_alloc") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_data_descr_alloc

     subroutine fstarpu_data_descr_array_free(descrs) bind(C, &
           name="fstarpu_data_descr_array_free")
       import
       type(c_ptr), value, intent(in) :: descrs
     end subroutine fstarpu_data_descr_array_free

     subroutine fstarpu_data_descrg_free(descr) bind(C, name="fstarpu_data_descrg_free")
       import
       type(c_ptr), value, intent(in) :: descr
     end subroutine fstarpu_data_descrg_free

     subroutine fstarpu_data_descr_array_set(descrs, i, handle, mode) bind(C, &
           name="fstarpu_data_descr_array_set")
       import
       type(c_ptr), value, intent(in) :: descrs
       integer(c_int), value, intent(in) :: i
       type(c_ptr), value, intent(in) :: handle
       type(c_ptr), value, intent(in) :: mode
     end subroutine fstarpu_data_descr_array_set

     subroutine fstarpu_data_descr_set(descr, handle, mode) bind(C, name="fstarpu_data_descr_set")
       import
       type(c_ptr), value, intent(in) :: descr
       type(c_ptr), value, intent(in) :: handle
       type(c_ptr), value, intent(in) :: mode
     end subroutine fstarpu_data_descr_set

     subroutine fstarpu_task_insert(arglist) bind(C, name="fstarpu_task_insert")
       import
       type(c_ptr), dimension(*) :: arglist
     end subroutine fstarpu_task_insert

     subroutine fstarpu_insert_task(arglist) bind(C, name="fstarpu_task_insert")
       import
       type(c_ptr), dimension(*) :: arglist
     end subroutine fstarpu_insert_task

     subroutine fstarpu_unpack_arg(cl_arg, bufferlist) bind(C, name="fstarpu_unpack_arg")
       import
       type(c_ptr), value, intent(in) :: cl_arg
       type(c_ptr), dimension(*) :: bufferlist
     end subroutine fstarpu_unpack_arg

     subroutine fstarpu_create_sync_task(sync_tag, ndeps, tag_array, callback, &
           callback_arg) bind(C, name="fstarpu_create_sync_task")
       import
       integer(c_int), value, intent(in) :: sync_tag
       integer(c_int), value, intent(in) :: ndeps
       integer(c_long_long), dimension(*) :: tag_array
       type(c_funptr), value, intent(in) :: callback
       type(c_ptr), value, intent(in) :: callback_arg
     end subroutine fstarpu_create_sync_task

     function fstarpu_sched_ctx_create(workers_array, nworkers, ctx_name, arglist) bind(C, &
           name="fstarpu_sched_ctx_create") result(res)
       import
       integer(c_int), dimension(*) :: workers_array
       integer(c_int), value, intent(in) :: nworkers
       character(kind=c_char), intent(in), dimension(*) :: ctx_name
       type(c_ptr), dimension(*) :: arglist
       integer(c_int) :: res
     end function fstarpu_sched_ctx_create

     function fstarpu_sched_ctx_create_inside_interval(policy_name, sched_ctx_name, min_ncpus, &
           max_ncpus, min_ngpus, max_ngpus, allow_overlap) bind(C, &
           name="starpu_sched_ctx_create_inside_interval") result(res)
       import
       character(kind=c_char), intent(in), dimension(*) :: policy_name
       character(kind=c_char), intent(in), dimension(*) :: sched_ctx_name
       integer(c_int), value, intent(in) :: min_ncpus
       integer(c_int), value, intent(in) :: max_ncpus
       integer(c_int), value, intent(in) :: min_ngpus
       integer(c_int), value, intent(in) :: max_ngpus
       integer(c_int), value, intent(in) :: allow_overlap
       integer(c_int) :: res
     end function fstarpu_sched_ctx_create_inside_interval

     subroutine fstarpu_sched_ctx_register_close_callback(sched_ctx_id, close_callback, &
           args) bind(C, name="starpu_sched_ctx_register_close_callback")
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       type(c_funptr), value, intent(in) :: close_callback
       type(c_ptr), value, intent(in) :: args
     end subroutine fstarpu_sched_ctx_register_close_callback

     subroutine fstarpu_sched_ctx_add_workers(workerids, nworkers, ctx) bind(C, &
           name="starpu_sched_ctx_add_workers")
       import
       integer(c_int) :: workerids
       integer(c_int), value, intent(in) :: nworkers
       integer(c_int), value, intent(in) :: ctx
     end subroutine fstarpu_sched_ctx_add_workers

     subroutine fstarpu_sched_ctx_remove_workers(workerids, nworkers, ctx) bind(C, &
           name="starpu_sched_ctx_remove_workers")
       import
       integer(c_int) :: workerids
       integer(c_int), value, intent(in) :: nworkers
       integer(c_int), value, intent(in) :: ctx
     end subroutine fstarpu_sched_ctx_remove_workers

     subroutine fstarpu_sched_ctx_display_workers(ctx) bind(C, &
           name="fstarpu_sched_ctx_display_workers")
       import
       integer(c_int), value, intent(in) :: ctx
     end subroutine fstarpu_sched_ctx_display_workers

     subroutine fstarpu_sched_ctx_delete(ctx) bind(C, name="starpu_sched_ctx_delete")
       import
       integer(c_int), value, intent(in) :: ctx
     end subroutine fstarpu_sched_ctx_delete

     subroutine fstarpu_sched_ctx_set_inheritor(ctx, inheritor) bind(C, &
           name="starpu_sched_ctx_set_inheritor")
       import
       integer(c_int), value, intent(in) :: ctx
       integer(c_int), value, intent(in) :: inheritor
     end subroutine fstarpu_sched_ctx_set_inheritor

     function fstarpu_sched_ctx_get_inheritor(ctx) bind(C, &
           name="starpu_sched_ctx_get_inheritor") result(res)
       import
       integer(c_int), value, intent(in) :: ctx
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_inheritor

     function fstarpu_sched_ctx_get_hierarchy_level(ctx) bind(C, &
           name="starpu_sched_ctx_get_hierarchy_level") result(res)
       import
       integer(c_int), value, intent(in) :: ctx
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_hierarchy_level

     subroutine fstarpu_sched_ctx_set_context(ctx_ptr) bind(C, &
           name="starpu_sched_ctx_set_context")
       import
       type(c_ptr), value, intent(in) :: ctx_ptr
     end subroutine fstarpu_sched_ctx_set_context

     function fstarpu_sched_ctx_get_context() bind(C, &
           name="starpu_sched_ctx_get_context") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_context

     subroutine fstarpu_sched_ctx_stop_task_submission() bind(C, &
           name="starpu_sched_ctx_stop_task_submission")
       import
     end subroutine fstarpu_sched_ctx_stop_task_submission

     subroutine fstarpu_sched_ctx_finished_submit(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_finished_submit")
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
     end subroutine fstarpu_sched_ctx_finished_submit

     function fstarpu_sched_ctx_get_nworkers(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_get_nworkers") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_nworkers

     function fstarpu_sched_ctx_get_nshared_workers(sched_ctx_id, sched_ctx_id2) bind(C, &
           name="starpu_sched_ctx_get_nshared_workers") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int), value, intent(in) :: sched_ctx_id2
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_nshared_workers

     function fstarpu_sched_ctx_contains_worker(workerid, sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_contains_worker") result(res)
       import
       integer(c_int), value, intent(in) :: workerid
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_contains_worker

     function fstarpu_sched_ctx_contains_type_of_worker(arch, sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_contains_type_of_worker") result(res)
       import
       integer(c_int), value, intent(in) :: arch
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_contains_type_of_worker

     function fstarpu_sched_ctx_worker_get_id(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_worker_get_id") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_worker_get_id

     function fstarpu_sched_ctx_get_ctx_for_task(task) bind(C, &
           name="starpu_sched_ctx_get_ctx_for_task") result(res)
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_ctx_for_task

     function fstarpu_sched_ctx_overlapping_ctxs_on_worker(workerid) bind(C, &
           name="starpu_sched_ctx_overlapping_ctxs_on_worker") result(res)
       import
       integer(c_int), value, intent(in) :: workerid
       integer(c_int) :: res
     end function fstarpu_sched_ctx_overlapping_ctxs_on_worker

     function fstarpu_sched_get_min_priority() bind(C, &
           name="starpu_sched_get_min_priority") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_sched_get_min_priority

     function fstarpu_sched_get_max_priority() bind(C, &
           name="starpu_sched_get_max_priority") result(res)
       import
       integer(c_int) :: res
     end function fstarpu_sched_get_max_priority

     function fstarpu_sched_set_min_priority(min_prio) bind(C, &
           name="starpu_sched_set_min_priority") result(res)
       import
       integer(c_int), value, intent(in) :: min_prio
       integer(c_int) :: res
     end function fstarpu_sched_set_min_priority

     function fstarpu_sched_set_max_priority(max_prio) bind(C, &
           name="starpu_sched_set_max_priority") result(res)
       import
       integer(c_int), value, intent(in) :: max_prio
       integer(c_int) :: res
     end function fstarpu_sched_set_max_priority

     function fstarpu_sched_ctx_get_min_priority(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_get_min_priority") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_min_priority

     function fstarpu_sched_ctx_get_max_priority(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_get_max_priority") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_max_priority

     function fstarpu_sched_ctx_set_min_priority(sched_ctx_id, min_prio) bind(C, &
           name="starpu_sched_ctx_set_min_priority") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int), value, intent(in) :: min_prio
       integer(c_int) :: res
     end function fstarpu_sched_ctx_set_min_priority

     function fstarpu_sched_ctx_set_max_priority(sched_ctx_id, max_prio) bind(C, &
           name="starpu_sched_ctx_set_max_priority") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int), value, intent(in) :: max_prio
       integer(c_int) :: res
     end function fstarpu_sched_ctx_set_max_priority

     function fstarpu_sched_ctx_min_priority_is_set(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_min_priority_is_set") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_min_priority_is_set

     function fstarpu_sched_ctx_max_priority_is_set(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_max_priority_is_set") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_max_priority_is_set

     function fstarpu_sched_ctx_get_user_data(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_get_user_data") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       type(c_ptr) :: res
     end function fstarpu_sched_ctx_get_user_data

     subroutine fstarpu_sched_ctx_delete_worker_collection(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_delete_worker_collection")
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
     end subroutine fstarpu_sched_ctx_delete_worker_collection

     subroutine fstarpu_sched_ctx_set_policy_data(sched_ctx_id, policy_data) bind(C, &
           name="starpu_sched_ctx_set_policy_data")
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       type(c_ptr), value, intent(in) :: policy_data
     end subroutine fstarpu_sched_ctx_set_policy_data

     function fstarpu_sched_ctx_get_policy_data(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_get_policy_data") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       type(c_ptr) :: res
     end function fstarpu_sched_ctx_get_policy_data

     function fstarpu_sched_ctx_exec_parallel_code(func, param, sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_exec_parallel_code") result(res)
       import
       type(c_funptr), value, intent(in) :: func
       type(c_ptr), value, intent(in) :: param
       integer(c_int), value, intent(in) :: sched_ctx_id
       type(c_ptr) :: res
     end function fstarpu_sched_ctx_exec_parallel_code

     function fstarpu_sched_ctx_get_nready_tasks(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_get_nready_tasks") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_nready_tasks

     function fstarpu_sched_ctx_get_nready_flops(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_get_nready_flops") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       real(c_double) :: res
     end function fstarpu_sched_ctx_get_nready_flops

     subroutine fstarpu_sched_ctx_list_task_counters_increment(sched_ctx_id, workerid) bind(C, &
           name="starpu_sched_ctx_list_task_counters_increment")
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int), value, intent(in) :: workerid
     end subroutine fstarpu_sched_ctx_list_task_counters_increment

     subroutine fstarpu_sched_ctx_list_task_counters_decrement(sched_ctx_id, workerid) bind(C, &
           name="starpu_sched_ctx_list_task_counters_decrement")
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int), value, intent(in) :: workerid
     end subroutine fstarpu_sched_ctx_list_task_counters_decrement

     subroutine fstarpu_sched_ctx_list_task_counters_reset(sched_ctx_id, workerid) bind(C, &
           name="starpu_sched_ctx_list_task_counters_reset")
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int), value, intent(in) :: workerid
     end subroutine fstarpu_sched_ctx_list_task_counters_reset

     subroutine fstarpu_sched_ctx_list_task_counters_increment_all(task, sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_list_task_counters_increment_all_ctx_locked")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: sched_ctx_id
     end subroutine fstarpu_sched_ctx_list_task_counters_increment_all

     subroutine fstarpu_sched_ctx_list_task_counters_decrement_all(task, sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: sched_ctx_id
     end subroutine fstarpu_sched_ctx_list_task_counters_decrement_all

     subroutine fstarpu_sched_ctx_list_task_counters_reset_all(task, sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_list_task_counters_reset_all")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: sched_ctx_id
     end subroutine fstarpu_sched_ctx_list_task_counters_reset_all

     function fstarpu_sched_ctx_get_priority(worker, sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_get_priority") result(res)
       import
       integer(c_int), value, intent(in) :: worker
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_priority

     subroutine fstarpu_sched_ctx_bind_current_thread_to_cpuid(cpuid) bind(C, &
           name="starpu_sched_ctx_bind_current_thread_to_cpuid")
       import
       integer(c_int), value, intent(in) :: cpuid
     end subroutine fstarpu_sched_ctx_bind_current_thread_to_cpuid

     function fstarpu_sched_ctx_book_workers_for_task(sched_ctx_id, workerids, &
           nworkers) bind(C, name="starpu_sched_ctx_book_workers_for_task") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int), dimension(*) :: workerids
       integer(c_int), value, intent(in) :: nworkers
       integer(c_int) :: res
     end function fstarpu_sched_ctx_book_workers_for_task

     subroutine fstarpu_sched_ctx_unbook_workers_for_task(sched_ctx_id, master) bind(C, &
           name="starpu_sched_ctx_unbook_workers_for_task")
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int), value, intent(in) :: master
     end subroutine fstarpu_sched_ctx_unbook_workers_for_task

     function fstarpu_sched_ctx_worker_is_master_for_child_ctx(workerid, sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_worker_is_master_for_child_ctx") result(res)
       import
       integer(c_int), value, intent(in) :: workerid
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_worker_is_master_for_child_ctx

     function fstarpu_sched_ctx_master_get_context(masterid) bind(C, &
           name="starpu_sched_ctx_master_get_context") result(res)
       import
       integer(c_int), value, intent(in) :: masterid
       integer(c_int) :: res
     end function fstarpu_sched_ctx_master_get_context

     subroutine fstarpu_sched_ctx_revert_task_counters(sched_ctx_id, flops) bind(C, &
           name="starpu_sched_ctx_revert_task_counters_ctx_locked")
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       real(c_double), value, intent(in) :: flops
     end subroutine fstarpu_sched_ctx_revert_task_counters

     subroutine fstarpu_sched_ctx_move_task_to_ctx(task, sched_ctx, manage_mutex) bind(C, &
           name="starpu_sched_ctx_move_task_to_ctx_locked")
       import
       type(c_ptr), value, intent(in) :: task
       integer(c_int), value, intent(in) :: sched_ctx
       integer(c_int), value, intent(in) :: manage_mutex
     end subroutine fstarpu_sched_ctx_move_task_to_ctx

     function fstarpu_sched_ctx_get_worker_rank(sched_ctx_id) bind(C, &
           name="starpu_sched_ctx_get_worker_rank") result(res)
       import
       integer(c_int), value, intent(in) :: sched_ctx_id
       integer(c_int) :: res
     end function fstarpu_sched_ctx_get_worker_rank

     subroutine fstarpu_sched_ctx_call_pushed_task_cb(workerid, sched_ctx_id) bind(C, &
           name="fstarpu_sched_ctx_call_pushed_task_cb")
       import
       integer(c_int), value, intent(in) :: workerid
       integer(c_int), value, intent(in) :: sched_ctx_id
     end subroutine fstarpu_sched_ctx_call_pushed_task_cb

     subroutine fstarpu_fxt_options_init(fxt_options) bind(C, name="starpu_fxt_options_init")
       import
       type(c_ptr), value, intent(in) :: fxt_options
     end subroutine fstarpu_fxt_options_init

     subroutine fstarpu_fxt_generate_trace(fxt_options) bind(C, name="starpu_fxt_generate_trace")
       import
       type(c_ptr), value, intent(in) :: fxt_options
     end subroutine fstarpu_fxt_generate_trace

     subroutine fstarpu_fxt_autostart_profiling(autostart) bind(C, &
           name="starpu_fxt_autostart_profiling")
       import
       integer(c_int), value, intent(in) :: autostart
     end subroutine fstarpu_fxt_autostart_profiling

     subroutine fstarpu_fxt_start_profiling() bind(C, name="starpu_fxt_start_profiling")
       import
     end subroutine fstarpu_fxt_start_profiling

     subroutine fstarpu_fxt_stop_profiling() bind(C, name="starpu_fxt_stop_profiling")
       import
     end subroutine fstarpu_fxt_stop_profiling

     subroutine fstarpu_fxt_write_data_trace(filename) bind(C, name="starpu_fxt_write_data_trace")
       import
       character(kind=c_char), intent(in), dimension(*) :: filename
     end subroutine fstarpu_fxt_write_data_trace

     subroutine fstarpu_trace_user_event(code) bind(C, name="fstarpu_trace_user_event")
       import
       integer(c_long), value, intent(in) :: code
     end subroutine fstarpu_trace_user_event

     function fstarpu_timing_now() bind(C, name="starpu_timing_now") result(res)
       import
       real(c_double) :: res
     end function fstarpu_timing_now

     function fstarpu_cuda_get_local_stream() bind(C, &
           name="fstarpu_cuda_get_local_stream") result(res)
       import
       type(c_ptr) :: res
     end function fstarpu_cuda_get_local_stream

     function fstarpu_malloc(ptr, len) bind(C, name="starpu_malloc") result(res)
       import
       type(c_ptr), intent(out) :: ptr
       integer(c_long), value, intent(in) :: len
       integer(c_int) :: res
     end function fstarpu_malloc

     function fstarpu_free_noflag(ptr, len) bind(C, name="starpu_free_noflag") result(res)
       import
       type(c_ptr), value, intent(in) :: ptr
       integer(c_long), value, intent(in) :: len
       integer(c_int) :: res
     end function fstarpu_free_noflag

     function fstarpu_memory_pin(ptr, len) bind(C, name="starpu_memory_pin") result(res)
       import
       type(c_ptr), value, intent(in) :: ptr
       integer(c_long), value, intent(in) :: len
       integer(c_int) :: res
     end function fstarpu_memory_pin

     function fstarpu_memory_unpin(ptr, len) bind(C, name="starpu_memory_unpin") result(res)
       import
       type(c_ptr), value, intent(in) :: ptr
       integer(c_long), value, intent(in) :: len
       integer(c_int) :: res
     end function fstarpu_memory_unpin

     subroutine fstarpu_sleep(nb_sec) bind(C, name="starpu_sleep")
       import
       real(c_float), value, intent(in) :: nb_sec
     end subroutine fstarpu_sleep

     subroutine fstarpu_usleep(nb_sec) bind(C, name="starpu_usleep")
       import
       real(c_float), value, intent(in) :: nb_sec
     end subroutine fstarpu_usleep

     subroutine fstarpu_cublas_init() bind(C, name="starpu_cublas_init")
       import
     end subroutine fstarpu_cublas_init

     subroutine fstarpu_cublas_shutdown() bind(C, name="starpu_cublas_shutdown")
       import
     end subroutine fstarpu_cublas_shutdown

     function fstarpu_get_constant(s) bind(C, name="fstarpu_get_constant") result(res)
       import
       character(kind=c_char), intent(in), dimension(*) :: s
       type(c_ptr) :: res
     end function fstarpu_get_constant

     function fstarpu_init_internal(conf) bind(C, name="starpu_init") result(res)
       import
       type(c_ptr), value, intent(in) :: conf
       integer(c_int) :: res
     end function fstarpu_init_internal
  end interface

contains

  ! The union of two masks.
  function or_cptrs(op1, op2) result(res)
    type(c_ptr), intent(in) :: op1, op2
    type(c_ptr) :: res
    res = ip_to_p(ior(p_to_ip(op1), p_to_ip(op2)))
  end function or_cptrs

  ! A number as a pointer, and back.
  function ip_to_p(i) result(p)
    integer(c_intptr_t), value, intent(in) :: i
    type(c_ptr) :: p
    p = transfer(i, C_NULL_PTR)
  end function ip_to_p

  function p_to_ip(p) result(i)
    type(c_ptr), value, intent(in) :: p
    integer(c_intptr_t) :: i
    i = transfer(p, 0_c_intptr_t)
  end function p_to_ip

  function sz_to_p(sz) result(p)
    integer(c_size_t), value, intent(in) :: sz
    type(c_ptr) :: p
    p = ip_to_p(int(sz, c_intptr_t))
  end function sz_to_p

  function fstarpu_csizet_to_cptr(i) result(p)
    integer(c_size_t) :: i
    type(c_ptr) :: p
    p = ip_to_p(int(i, c_intptr_t))
  end function fstarpu_csizet_to_cptr

  function fstarpu_int_to_cptr(i) result(p)
    integer(c_int) :: i
    type(c_ptr) :: p
    p = ip_to_p(int(i, c_intptr_t))
  end function fstarpu_int_to_cptr

  function fstarpu_long_to_cptr(i) result(p)
    integer(c_long) :: i
    type(c_ptr) :: p
    p = ip_to_p(int(i, c_intptr_t))
  end function fstarpu_long_to_cptr

  function constant(name) result(p)
    character(len=*), intent(in) :: name
    type(c_ptr) :: p
    p = fstarpu_get_constant(name//C_NULL_CHAR)
  end function constant

  ! Sets the constants; fstarpu_init and fstarpu_mpi_init call it, and a program may before.
  subroutine fstarpu_set_constants()
    FSTARPU_NMAXBUFS = int(p_to_ip(constant("FSTARPU_NMAXBUFS")), c_int)
    FSTARPU_DEFAULT_PRIO = int(p_to_ip(constant("FSTARPU_DEFAULT_PRIO")), c_int)
    FSTARPU_R = constant("FSTARPU_R")
    FSTARPU_W = constant("FSTARPU_W")
    FSTARPU_RW = constant("FSTARPU_RW")
    FSTARPU_NONE = constant("FSTARPU_NONE")
    FSTARPU_SCRATCH = constant("FSTARPU_SCRATCH")
    FSTARPU_REDUX = constant("FSTARPU_REDUX")
    FSTARPU_MPI_REDUX = constant("FSTARPU_MPI_REDUX")
    FSTARPU_COMMUTE = constant("FSTARPU_COMMUTE")
    FSTARPU_SSEND = constant("FSTARPU_SSEND")
    FSTARPU_LOCALITY = constant("FSTARPU_LOCALITY")
    FSTARPU_DATA_ARRAY = constant("FSTARPU_DATA_ARRAY")
    FSTARPU_DATA_MODE_ARRAY = constant("FSTARPU_DATA_MODE_ARRAY")
    FSTARPU_CL_ARGS = constant("FSTARPU_CL_ARGS")
    FSTARPU_CL_ARGS_NFREE = constant("FSTARPU_CL_ARGS_NFREE")
    FSTARPU_TASK_DEPS_ARRAY = constant("FSTARPU_TASK_DEPS_ARRAY")
    FSTARPU_CALLBACK = constant("FSTARPU_CALLBACK")
    FSTARPU_CALLBACK_WITH_ARG = constant("FSTARPU_CALLBACK_WITH_ARG")
    FSTARPU_CALLBACK_WITH_ARG_NFREE = constant("FSTARPU_CALLBACK_WITH_ARG_NFREE")
    FSTARPU_CALLBACK_ARG = constant("FSTARPU_CALLBACK_ARG")
    FSTARPU_CALLBACK_ARG_NFREE = constant("FSTARPU_CALLBACK_ARG_NFREE")
    FSTARPU_PROLOGUE_CALLBACK = constant("FSTARPU_PROLOGUE_CALLBACK")
    FSTARPU_PROLOGUE_CALLBACK_ARG = constant("FSTARPU_PROLOGUE_CALLBACK_ARG")
    FSTARPU_PROLOGUE_CALLBACK_ARG_NFREE = constant("FSTARPU_PROLOGUE_CALLBACK_ARG_NFREE")
    FSTARPU_PROLOGUE_CALLBACK_POP = constant("FSTARPU_PROLOGUE_CALLBACK_POP")
    FSTARPU_PROLOGUE_CALLBACK_POP_ARG = constant("FSTARPU_PROLOGUE_CALLBACK_POP_ARG")
    FSTARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE = constant("FSTARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE")
    FSTARPU_PRIORITY = constant("FSTARPU_PRIORITY")
    FSTARPU_EXECUTE_ON_NODE = constant("FSTARPU_EXECUTE_ON_NODE")
    FSTARPU_EXECUTE_ON_DATA = constant("FSTARPU_EXECUTE_ON_DATA")
    FSTARPU_EXECUTE_ON_WORKER = constant("FSTARPU_EXECUTE_ON_WORKER")
    FSTARPU_WORKER_ORDER = constant("FSTARPU_WORKER_ORDER")
    FSTARPU_EXECUTE_WHERE = constant("FSTARPU_EXECUTE_WHERE")
    FSTARPU_HYPERVISOR_TAG = constant("FSTARPU_HYPERVISOR_TAG")
    FSTARPU_POSSIBLY_PARALLEL = constant("FSTARPU_POSSIBLY_PARALLEL")
    FSTARPU_FLOPS = constant("FSTARPU_FLOPS")
    FSTARPU_TAG = constant("FSTARPU_TAG")
    FSTARPU_TAG_ONLY = constant("FSTARPU_TAG_ONLY")
    FSTARPU_NAME = constant("FSTARPU_NAME")
    FSTARPU_TASK_COLOR = constant("FSTARPU_TASK_COLOR")
    FSTARPU_TASK_SYNCHRONOUS = constant("FSTARPU_TASK_SYNCHRONOUS")
    FSTARPU_HANDLES_SEQUENTIAL_CONSISTENCY = constant("FSTARPU_HANDLES_SEQUENTIAL_CONSISTENCY")
    FSTARPU_TASK_END_DEP = constant("FSTARPU_TASK_END_DEP")
    FSTARPU_NODE_SELECTION_POLICY = constant("FSTARPU_NODE_SELECTION_POLICY")
    FSTARPU_TASK_SCHED_DATA = constant("FSTARPU_TASK_SCHED_DATA")
    FSTARPU_VALUE = constant("FSTARPU_VALUE")
    FSTARPU_SCHED_CTX = constant("FSTARPU_SCHED_CTX")
    FSTARPU_CPU_WORKER = constant("FSTARPU_CPU_WORKER")
    FSTARPU_CUDA_WORKER = constant("FSTARPU_CUDA_WORKER")
    FSTARPU_OPENCL_WORKER = constant("FSTARPU_OPENCL_WORKER")
    FSTARPU_ANY_WORKER = constant("FSTARPU_ANY_WORKER")
    FSTARPU_SCHED_CTX_POLICY_NAME = constant("FSTARPU_SCHED_CTX_POLICY_NAME")
    FSTARPU_SCHED_CTX_POLICY_STRUCT = constant("FSTARPU_SCHED_CTX_POLICY_STRUCT")
    FSTARPU_SCHED_CTX_POLICY_MIN_PRIO = constant("FSTARPU_SCHED_CTX_POLICY_MIN_PRIO")
    FSTARPU_SCHED_CTX_POLICY_MAX_PRIO = constant("FSTARPU_SCHED_CTX_POLICY_MAX_PRIO")
    FSTARPU_SCHED_CTX_HIERARCHY_LEVEL = constant("FSTARPU_SCHED_CTX_HIERARCHY_LEVEL")
    FSTARPU_SCHED_CTX_NESTED = constant("FSTARPU_SCHED_CTX_NESTED")
    FSTARPU_SCHED_CTX_AWAKE_WORKERS = constant("FSTARPU_SCHED_CTX_AWAKE_WORKERS")
    FSTARPU_SCHED_CTX_POLICY_INIT = constant("FSTARPU_SCHED_CTX_POLICY_INIT")
    FSTARPU_SCHED_CTX_USER_DATA = constant("FSTARPU_SCHED_CTX_USER_DATA")
    FSTARPU_NOWHERE = constant("FSTARPU_NOWHERE")
    FSTARPU_CPU = constant("FSTARPU_CPU")
    FSTARPU_CUDA = constant("FSTARPU_CUDA")
    FSTARPU_OPENCL = constant("FSTARPU_OPENCL")
    FSTARPU_CODELET_SIMGRID_EXECUTE = constant("FSTARPU_CODELET_SIMGRID_EXECUTE")
    FSTARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT = constant("FSTARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT")
    FSTARPU_CUDA_ASYNC = constant("FSTARPU_CUDA_ASYNC")
    FSTARPU_OPENCL_ASYNC = constant("FSTARPU_OPENCL_ASYNC")
    FSTARPU_HISTORY_BASED = constant("FSTARPU_HISTORY_BASED")
    FSTARPU_REGRESSION_BASED = constant("FSTARPU_REGRESSION_BASED")
    FSTARPU_NL_REGRESSION_BASED = constant("FSTARPU_NL_REGRESSION_BASED")
    FSTARPU_MULTIPLE_REGRESSION_BASED = constant("FSTARPU_MULTIPLE_REGRESSION_BASED")
    FSTARPU_SEQ = constant("FSTARPU_SEQ")
    FSTARPU_SPMD = constant("FSTARPU_SPMD")
    FSTARPU_FORKJOIN = constant("FSTARPU_FORKJOIN")
    FSTARPU_SZ_C_DOUBLE = constant("FSTARPU_SZ_C_DOUBLE")
    FSTARPU_SZ_C_FLOAT = constant("FSTARPU_SZ_C_FLOAT")
    FSTARPU_SZ_C_CHAR = constant("FSTARPU_SZ_C_CHAR")
    FSTARPU_SZ_C_INT = constant("FSTARPU_SZ_C_INT")
    FSTARPU_SZ_C_INTPTR_T = constant("FSTARPU_SZ_C_INTPTR_T")
    FSTARPU_SZ_C_PTR = constant("FSTARPU_SZ_C_PTR")
    FSTARPU_SZ_C_SIZE_T = constant("FSTARPU_SZ_C_SIZE_T")
    FSTARPU_SZ_CHARACTER = constant("FSTARPU_SZ_CHARACTER")
    FSTARPU_SZ_INTEGER = constant("FSTARPU_SZ_INTEGER")
    FSTARPU_SZ_INT4 = constant("FSTARPU_SZ_INT4")
    FSTARPU_SZ_INT8 = constant("FSTARPU_SZ_INT8")
    FSTARPU_SZ_REAL = constant("FSTARPU_SZ_REAL")
    FSTARPU_SZ_REAL4 = constant("FSTARPU_SZ_REAL4")
    FSTARPU_SZ_REAL8 = constant("FSTARPU_SZ_REAL8")
    FSTARPU_SZ_DOUBLE_PRECISION = constant("FSTARPU_SZ_DOUBLE_PRECISION")
    FSTARPU_SZ_COMPLEX = constant("FSTARPU_SZ_COMPLEX")
    FSTARPU_SZ_COMPLEX4 = constant("FSTARPU_SZ_COMPLEX4")
    FSTARPU_SZ_COMPLEX8 = constant("FSTARPU_SZ_COMPLEX8")
  end subroutine fstarpu_set_constants

  ! Starts the runtime; conf is C_NULL_PTR or comes from fstarpu_conf_allocate.
  function fstarpu_init(conf) result(ret)
    type(c_ptr), value, intent(in) :: conf
    integer(c_int) :: ret
    call fstarpu_set_constants()
    ret = fstarpu_init_internal(conf)
  end function fstarpu_init

end module fstarpu_mod
