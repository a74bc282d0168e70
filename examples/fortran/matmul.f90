! SPDX-License-Identifier: LGPL-2.1-or-later
!
! Matrix product in Fortran: C = A B by tiles that all ranks share out. Every rank inserts all tasks;
! the runtime sends the tiles of A and B to where they are needed.
!
! Invariant: rank 0 compares the tiles of C with those that Fortran's matmul gives.
!
!      orrery fc --both matmul.f90 -o matmul
!      orrery run -n 4 ./matmul
module matmul_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
contains
  subroutine tile(buffers, i, p)
    type(c_ptr), intent(in) :: buffers
    integer(c_int), intent(in) :: i
    real(c_double), pointer, intent(out) :: p(:,:)
    real(c_double), pointer :: whole(:,:)
    call c_f_pointer(fstarpu_matrix_get_ptr(buffers, i), whole, &
         shape=(/ fstarpu_matrix_get_ld(buffers, i), fstarpu_matrix_get_ny(buffers, i) /))
    p => whole(1:fstarpu_matrix_get_nx(buffers, i), :)
  end subroutine tile

  subroutine zero(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    real(c_double), pointer :: c(:,:)
    if (c_associated(cl_args)) error stop 3
    call tile(buffers, 0, c)
    c = 0
  end subroutine zero

  subroutine gemm(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    real(c_double), pointer :: a(:,:), b(:,:), c(:,:)
    if (c_associated(cl_args)) error stop 3
    call tile(buffers, 0, a)
    call tile(buffers, 1, b)
    call tile(buffers, 2, c)
    c = c + matmul(a, b)
  end subroutine gemm
end module matmul_kernels

program tiles
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use matmul_kernels
  implicit none
  integer, parameter :: nb = 3, bs = 8
  real(c_double), target :: a(bs,bs,nb,nb), b(bs,bs,nb,nb), c(bs,bs,nb,nb)
  type(c_ptr) :: ha(nb,nb), hb(nb,nb), hc(nb,nb), cl_zero, cl_gemm
  integer(c_int) :: rank, nranks, ret
  integer(c_int), target :: comm
  integer :: i, j, k
  real(c_double) :: expected(bs,bs)

  ret = fstarpu_init(C_NULL_PTR)
  if (ret /= 0) error stop 77
  ret = fstarpu_mpi_init(1)
  if (ret /= 0) error stop 1
  comm = fstarpu_mpi_world_comm()
  rank = fstarpu_mpi_world_rank()
  nranks = fstarpu_mpi_world_size()

  cl_zero = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl_zero, C_CHAR_"zero"//C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(cl_zero, c_funloc(zero))
  call fstarpu_codelet_add_buffer(cl_zero, FSTARPU_W)
  cl_gemm = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl_gemm, C_CHAR_"gemm"//C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(cl_gemm, c_funloc(gemm))
  call fstarpu_codelet_add_buffer(cl_gemm, FSTARPU_R)
  call fstarpu_codelet_add_buffer(cl_gemm, FSTARPU_R)
  call fstarpu_codelet_add_buffer(cl_gemm, FSTARPU_RW)

  call fill(a, 1)
  call fill(b, 2)
  call register(ha, a, 0)
  call register(hb, b, nb * nb)
  call register(hc, c, 2 * nb * nb)

  do j = 1, nb
     do i = 1, nb
        call fstarpu_mpi_task_insert((/ c_loc(comm), cl_zero, FSTARPU_W, hc(i,j), C_NULL_PTR /))
        do k = 1, nb
           call fstarpu_mpi_task_insert((/ c_loc(comm), cl_gemm, FSTARPU_R, ha(i,k), &
                FSTARPU_R, hb(k,j), FSTARPU_RW, hc(i,j), C_NULL_PTR /))
        end do
        call fstarpu_mpi_get_data_on_node(comm, hc(i,j), 0)
     end do
  end do
  ret = fstarpu_mpi_wait_for_all(comm)

  if (rank == 0) then
     do j = 1, nb
        do i = 1, nb
           call fstarpu_data_acquire(hc(i,j), FSTARPU_R)
           expected = 0
           do k = 1, nb
              expected = expected + matmul(a(:,:,i,k), b(:,:,k,j))
           end do
           call compare(hc(i,j), expected)
           call fstarpu_data_release(hc(i,j))
        end do
     end do
  end if
  call unregister(ha)
  call unregister(hb)
  call unregister(hc)
  call fstarpu_codelet_free(cl_zero)
  call fstarpu_codelet_free(cl_gemm)
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()
  if (rank == 0) print '(a)', 'check: OK'

contains
  ! Every rank knows the values of A and B, but registers its own tiles only.
  subroutine fill(m, seed)
    real(c_double), intent(out) :: m(:,:,:,:)
    integer, intent(in) :: seed
    integer :: x, y, p, q
    do q = 1, nb
       do p = 1, nb
          do y = 1, bs
             do x = 1, bs
                m(x,y,p,q) = modulo(seed + 7 * x + 3 * y + 5 * p + 11 * q, 13) - 6
             end do
          end do
       end do
    end do
  end subroutine fill

  subroutine register(h, m, first_tag)
    type(c_ptr), intent(out) :: h(nb,nb)
    real(c_double), target, intent(in) :: m(bs,bs,nb,nb)
    integer, intent(in) :: first_tag
    integer :: p, q, number
    do q = 1, nb
       do p = 1, nb
          number = p - 1 + (q - 1) * nb
          if (modulo(number, nranks) == rank) then
             call fstarpu_matrix_data_register(h(p,q), 0, c_loc(m(1,1,p,q)), bs, bs, bs, &
                  c_sizeof(m(1,1,1,1)))
          else
             call fstarpu_matrix_data_register(h(p,q), -1, C_NULL_PTR, bs, bs, bs, &
                  c_sizeof(m(1,1,1,1)))
          end if
          call fstarpu_mpi_data_register(h(p,q), int(first_tag + number, c_int64_t), &
               modulo(number, nranks))
       end do
    end do
  end subroutine register

  subroutine unregister(h)
    type(c_ptr), intent(in) :: h(nb,nb)
    integer :: p, q
    do q = 1, nb
       do p = 1, nb
          call fstarpu_data_unregister(h(p,q))
       end do
    end do
  end subroutine unregister

  subroutine compare(h, should)
    type(c_ptr), intent(in) :: h
    real(c_double), intent(in) :: should(bs,bs)
    real(c_double), pointer :: is(:,:)
    call c_f_pointer(fstarpu_data_get_local_ptr(h), is, shape=(/ bs, bs /))
    if (maxval(abs(is - should)) > 1d-9) then
       print '(a,es10.2)', 'matmul: a tile of C is wrong by ', maxval(abs(is - should))
       error stop 2
    end if
  end subroutine compare
end program tiles
