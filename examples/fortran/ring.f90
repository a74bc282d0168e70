! SPDX-License-Identifier: LGPL-2.1-or-later
!
! Token ring in Fortran: ../ring with messages that are sent and received by hand. The token starts
! at 0 on rank 0 and goes round the ring; a task on each rank adds one.
!
! Invariant: after `loops` turns the last rank holds loops * size, which it checks.
!
!      orrery fc --both ring.f90 -o ring
!      orrery run -n 4 ./ring
!      orrery sim -n 64 ring.sim
module ring_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  subroutine increment(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    integer(c_int), pointer :: token
    integer(c_int), target :: step
    call fstarpu_unpack_arg(cl_args, (/ c_loc(step) /))
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), token)
    token = token + step
  end subroutine increment
end module ring_kernels

program ring
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use ring_kernels
  implicit none
  integer, parameter :: loops = 8
  integer(c_int), target :: token = 0, one = 1
  integer(c_int) :: rank, nranks, ret, comm, loop
  integer(c_int64_t) :: tag
  type(c_ptr) :: cl, handle, status

  ret = fstarpu_init(C_NULL_PTR)
  if (ret /= 0) error stop 77
  ret = fstarpu_mpi_init(1)
  if (ret /= 0) error stop 1
  comm = fstarpu_mpi_world_comm()
  rank = fstarpu_mpi_world_rank()
  nranks = fstarpu_mpi_world_size()

  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl, C_CHAR_"increment"//C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(increment))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
  call fstarpu_variable_data_register(handle, 0, c_loc(token), c_sizeof(token))

  status = fstarpu_mpi_status_alloc()
  do loop = 0, loops - 1
     tag = int(loop, c_int64_t) * nranks + rank
     if (nranks > 1 .and. (loop > 0 .or. rank > 0)) &
          ret = fstarpu_mpi_recv(handle, modulo(rank - 1, nranks), tag, comm, status)
     call fstarpu_task_insert((/ cl, FSTARPU_RW, handle, FSTARPU_VALUE, c_loc(one), &
          FSTARPU_SZ_C_INT, C_NULL_PTR /))
     if (nranks > 1 .and. (loop < loops - 1 .or. rank < nranks - 1)) &
          ret = fstarpu_mpi_send(handle, modulo(rank + 1, nranks), tag + 1, comm)
  end do
  call fstarpu_task_wait_for_all()
  call fstarpu_mpi_status_free(status)
  call fstarpu_data_unregister(handle)
  call fstarpu_codelet_free(cl)
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()

  if (rank == nranks - 1) then
     print '(a,i0)', 'ring: the token is ', token
     if (token /= loops * nranks) error stop 2
     print '(a)', 'check: OK'
  end if
end program ring
