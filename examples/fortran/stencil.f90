! SPDX-License-Identifier: LGPL-2.1-or-later
!
! Stencil in Fortran: heat flows along a bar whose pieces lie on the ranks. A step computes each piece
! from its old values and the ends of its neighbours, which are data of their own, so that only two
! numbers travel.
!
! Invariant: the sum over all pieces, made by a reduction, is that of the same computation in a loop.
!
!      orrery fc --both stencil.f90 -o stencil
!      orrery sim -n 16 stencil.sim
module stencil_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
  integer, parameter :: n = 16
contains
  subroutine variable(buffers, i, p)
    type(c_ptr), intent(in) :: buffers
    integer(c_int), intent(in) :: i
    real(c_double), pointer, intent(out) :: p
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, i), p)
  end subroutine variable

  ! The new piece; the first and last values of the old one came along from the neighbours.
  pure subroutine step(u, left, right, flow)
    real(c_double), intent(inout) :: u(:)
    real(c_double), intent(in) :: left, right, flow
    real(c_double) :: old(0:size(u) + 1)
    old = (/ left, u, right /)
    u = u + flow * (old(0:size(u) - 1) - 2 * u + old(2:size(u) + 1))
  end subroutine step

  ! Buffers: the piece, the left neighbour's right end, the right neighbour's left end.
  subroutine step_kernel(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    real(c_double), pointer :: u(:), left, right
    real(c_double), target :: flow
    call fstarpu_unpack_arg(cl_args, (/ c_loc(flow) /))
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), u, &
         shape=(/ fstarpu_vector_get_nx(buffers, 0) /))
    call variable(buffers, 1, left)
    call variable(buffers, 2, right)
    call step(u, left, right, flow)
  end subroutine step_kernel

  ! Buffers: the piece, its ends.
  subroutine ends_kernel(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    real(c_double), pointer :: u(:), left, right
    if (c_associated(cl_args)) error stop 3
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), u, &
         shape=(/ fstarpu_vector_get_nx(buffers, 0) /))
    call variable(buffers, 1, left)
    call variable(buffers, 2, right)
    left = u(1)
    right = u(size(u))
  end subroutine ends_kernel

  subroutine zero_kernel(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    real(c_double), pointer :: sum
    if (c_associated(cl_args)) error stop 3
    call variable(buffers, 0, sum)
    sum = 0
  end subroutine zero_kernel

  subroutine add_kernel(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    real(c_double), pointer :: sum, more
    if (c_associated(cl_args)) error stop 3
    call variable(buffers, 0, sum)
    call variable(buffers, 1, more)
    sum = sum + more
  end subroutine add_kernel

  ! Buffers: the piece, the sum.
  subroutine sum_kernel(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    real(c_double), pointer :: u(:), total
    integer(c_int), target :: number
    integer :: i
    call fstarpu_unpack_arg(cl_args, (/ c_loc(number) /))
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), u, &
         shape=(/ fstarpu_vector_get_nx(buffers, 0) /))
    call variable(buffers, 1, total)
    do i = 1, size(u)
       total = total + u(i) * (number * n + i)
    end do
  end subroutine sum_kernel
end module stencil_kernels

program stencil
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use stencil_kernels
  implicit none
  integer, parameter :: pieces = 6, steps = 10
  real(c_double), target :: u(n,0:pieces-1), ends(2,0:pieces-1), total, flow = 0.25d0
  real(c_double) :: bar(0:n*pieces+1)
  type(c_ptr) :: hu(0:pieces-1), hl(-1:pieces), hr(-1:pieces), hsum
  type(c_ptr) :: cl_step, cl_ends, cl_sum, cl_zero, cl_add
  integer(c_int) :: rank, nranks, ret
  integer(c_int), target :: comm, number, prio = 1
  real(c_double), target :: wall = 0
  integer :: p, s, i

  ret = fstarpu_init(C_NULL_PTR)
  if (ret /= 0) error stop 77
  ret = fstarpu_mpi_init(1)
  if (ret /= 0) error stop 1
  comm = fstarpu_mpi_world_comm()
  rank = fstarpu_mpi_world_rank()
  nranks = fstarpu_mpi_world_size()

  cl_step = codelet("step", c_funloc(step_kernel), (/ FSTARPU_RW, FSTARPU_R, FSTARPU_R /))
  cl_ends = codelet("ends", c_funloc(ends_kernel), (/ FSTARPU_R, FSTARPU_W, FSTARPU_W /))
  cl_sum = codelet("sum", c_funloc(sum_kernel), (/ FSTARPU_R, FSTARPU_REDUX /))
  cl_zero = codelet("zero", c_funloc(zero_kernel), (/ FSTARPU_W /))
  cl_add = codelet("add", c_funloc(add_kernel), (/ FSTARPU_RW .ior. FSTARPU_COMMUTE, FSTARPU_R /))

  do p = 0, pieces - 1
     u(:,p) = (/ (initial(p * n + i), i = 1, n) /)
     call register_piece(p)
  end do
  call register_variable(hr(-1), wall, 3 * pieces, 0)
  call register_variable(hl(pieces), wall, 3 * pieces + 1, modulo(pieces - 1, nranks))
  call register_variable(hsum, total, 3 * pieces + 2, 0)
  call fstarpu_data_set_reduction_methods(hsum, cl_add, cl_zero)

  do s = 1, steps
     do p = 0, pieces - 1
        call fstarpu_mpi_task_insert((/ c_loc(comm), cl_ends, FSTARPU_R, hu(p), FSTARPU_W, hl(p), &
             FSTARPU_W, hr(p), FSTARPU_PRIORITY, c_loc(prio), C_NULL_PTR /))
     end do
     do p = 0, pieces - 1
        call fstarpu_mpi_task_insert((/ c_loc(comm), cl_step, FSTARPU_RW, hu(p), &
             FSTARPU_R, hr(p-1), FSTARPU_R, hl(p+1), FSTARPU_VALUE, c_loc(flow), &
             FSTARPU_SZ_REAL8, C_NULL_PTR /))
     end do
  end do
  call fstarpu_mpi_task_insert((/ c_loc(comm), cl_zero, FSTARPU_W, hsum, C_NULL_PTR /))
  do p = 0, pieces - 1
     number = p
     call fstarpu_mpi_task_insert((/ c_loc(comm), cl_sum, FSTARPU_R, hu(p), FSTARPU_REDUX, hsum, &
          FSTARPU_VALUE, c_loc(number), FSTARPU_SZ_C_INT, C_NULL_PTR /))
  end do
  call fstarpu_mpi_redux_data(comm, hsum)
  ret = fstarpu_mpi_wait_for_all(comm)

  do p = 0, pieces - 1
     call fstarpu_data_unregister(hu(p))
     call fstarpu_data_unregister(hl(p))
     call fstarpu_data_unregister(hr(p))
  end do
  call fstarpu_data_unregister(hr(-1))
  call fstarpu_data_unregister(hl(pieces))
  call fstarpu_data_unregister(hsum)
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()
  call fstarpu_codelet_free(cl_step)
  call fstarpu_codelet_free(cl_ends)
  call fstarpu_codelet_free(cl_sum)
  call fstarpu_codelet_free(cl_zero)
  call fstarpu_codelet_free(cl_add)

  if (rank == 0) then
     bar = 0
     bar(1:n*pieces) = (/ (initial(i), i = 1, n * pieces) /)
     do s = 1, steps
        call step(bar(1:n*pieces), 0d0, 0d0, flow)
     end do
     bar(1:n*pieces) = bar(1:n*pieces) * (/ (i, i = 1, n * pieces) /)
     print '(a,f0.6)', 'stencil: the weighted sum is ', total
     if (abs(total - sum(bar(1:n*pieces))) > 1d-6) then
        print '(a,f0.6)', 'stencil: expected ', sum(bar(1:n*pieces))
        error stop 2
     end if
     print '(a)', 'check: OK'
  end if

contains
  pure function initial(i) result(v)
    integer, intent(in) :: i
    real(c_double) :: v
    v = modulo(i * 17, 29)
  end function initial

  function codelet(name, kernel, modes) result(cl)
    character(len=*), intent(in) :: name
    type(c_funptr), value, intent(in) :: kernel
    type(c_ptr), intent(in) :: modes(:)
    type(c_ptr) :: cl
    integer :: k
    cl = fstarpu_codelet_allocate()
    call fstarpu_codelet_set_name(cl, name//C_NULL_CHAR)
    call fstarpu_codelet_add_cpu_func(cl, kernel)
    do k = 1, size(modes)
       call fstarpu_codelet_add_buffer(cl, modes(k))
    end do
  end function codelet

  subroutine register_piece(k)
    integer, intent(in) :: k
    integer :: owner
    owner = modulo(k, nranks)
    if (owner == rank) then
       call fstarpu_vector_data_register(hu(k), 0, c_loc(u(1,k)), n, c_sizeof(u(1,k)))
    else
       call fstarpu_vector_data_register(hu(k), -1, C_NULL_PTR, n, c_sizeof(u(1,k)))
    end if
    call fstarpu_mpi_data_register(hu(k), int(k, c_int64_t), owner)
    call register_variable(hl(k), ends(1,k), pieces + 2 * k, owner)
    call register_variable(hr(k), ends(2,k), pieces + 2 * k + 1, owner)
  end subroutine register_piece

  subroutine register_variable(h, v, tag, owner)
    type(c_ptr), intent(out) :: h
    real(c_double), target, intent(in) :: v
    integer, intent(in) :: tag, owner
    if (owner == rank) then
       call fstarpu_variable_data_register(h, 0, c_loc(v), c_sizeof(v))
    else
       call fstarpu_variable_data_register(h, -1, C_NULL_PTR, c_sizeof(v))
    end if
    call fstarpu_mpi_data_register(h, int(tag, c_int64_t), int(owner, c_int))
  end subroutine register_variable
end program stencil
