! SPDX-License-Identifier: LGPL-2.1-or-later
! Each rank counts to its share in tasks; rank 0 adds what MPI brings and prints the sum.
module count_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  subroutine increment(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    integer(c_int), pointer :: n
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), n)
    n = n + 1
  end subroutine increment
end module count_kernels

program count
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use count_kernels
  implicit none
  integer, parameter :: share = 25
  integer(c_int), target :: n = 0, more = 0
  integer(c_int) :: rank, nranks, comm, ret, i
  type(c_ptr) :: cl, handle, other, status

  if (fstarpu_init(C_NULL_PTR) /= 0) error stop 77
  if (fstarpu_mpi_init(1) /= 0) error stop 1
  comm = fstarpu_mpi_world_comm()
  rank = fstarpu_mpi_world_rank()
  nranks = fstarpu_mpi_world_size()
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(increment))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
  call fstarpu_variable_data_register(handle, 0, c_loc(n), c_sizeof(n))
  do i = 1, share
     call fstarpu_task_insert((/ cl, FSTARPU_RW, handle, C_NULL_PTR /))
  end do
  call fstarpu_task_wait_for_all()
  status = fstarpu_mpi_status_alloc()
  if (rank /= 0) then
     ret = fstarpu_mpi_send(handle, 0, int(rank, c_int64_t), comm)
  else
     call fstarpu_variable_data_register(other, 0, c_loc(more), c_sizeof(more))
     do i = 1, nranks - 1
        ret = fstarpu_mpi_recv(other, i, int(i, c_int64_t), comm, status)
        call fstarpu_data_acquire(other, FSTARPU_R)
        n = n + more
        call fstarpu_data_release(other)
     end do
     call fstarpu_data_unregister(other)
  end if
  call fstarpu_data_unregister(handle)
  call fstarpu_mpi_status_free(status)
  call fstarpu_codelet_free(cl)
  if (rank == 0) print '(a,i0)', 'count ', n
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()
end program count
