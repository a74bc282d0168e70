# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Fortran in both worlds: the examples verify their own results; every procedure of the modules is
# bound to a function that the libraries define; a program may use MPI's own module beside ours; and
# mistakes in lists of arguments are refused by name.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_FORTRAN" = yes ] || skip "no Fortran compiler was found by configure"
[ "$ORR_TEST_MPI$ORR_TEST_SIM" != nono ] || skip "no world with ranks"
examples=$ORR_TEST_SRCDIR/examples/fortran

worlds=
if [ "$ORR_TEST_MPI" = yes ]; then worlds=real; fi
if [ "$ORR_TEST_SIM" = yes ]; then worlds="$worlds sim"; fi

# build SOURCE NAME: in all worlds that there are; warnings of the compiler are errors.
build() {
	for w in $worlds; do ok "$ORRERY" fc --$w -Wall -Werror -J . "$1" -o "$2.$w"; done
}
# run WORLD N PROGRAM: its output is in out.
run() {
	case $1 in
	real) "$ORRERY" run -n "$2" --oversubscribe "./$3.real" ;;
	sim) "$ORRERY" sim -n "$2" "./$3.sim" ;;
	esac
}

for e in ring matmul stencil; do
	build "$examples/$e.f90" $e
	for w in $worlds; do for n in 1 2 4; do ok run $w $n $e; has out 'check: OK'; done; done
done

# The procedures: each name that the modules bind exists.
sed -n 's/.*name="\(f\{0,1\}starpu_[a-z0-9_]*\)".*/\1/p' "$ORR_TEST_SRCDIR"/fortran/*.f90 | sort -u > bound.txt
[ "$(wc -l < bound.txt)" -gt 300 ] || die "only $(wc -l < bound.txt) bindings were found"
check() {
	for l; do nm -D --defined-only "$ORR_TEST_BUILDDIR/.libs/lib$l.so"; done | awk '{ print $3 }' | sort -u > defined.txt
	comm -23 bound.txt defined.txt > missing.txt
	[ ! -s missing.txt ] || die "bound, but not defined in $*: $(tr '\n' ' ' < missing.txt)"
}
if [ "$ORR_TEST_MPI" = yes ]; then check orrery orrery-mpi; fi
if [ "$ORR_TEST_SIM" = yes ]; then check orrery-sim; fi

# Constants, markers of many kinds, callbacks, filters, arrays of handles, requests.
cat > many.f90 <<'END'
module many_kernels
  use iso_c_binding
  use fstarpu_mod
  implicit none
  integer, target :: called = 0
contains
  subroutine scale(buffers, cl_args) bind(C)
    type(c_ptr), value, intent(in) :: buffers, cl_args
    real(c_double), pointer :: v(:)
    real(c_double), target :: by
    integer(c_int), target :: add
    call fstarpu_unpack_arg(cl_args, (/ c_loc(by), c_loc(add) /))
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), v, shape=(/ fstarpu_vector_get_nx(buffers, 0) /))
    v = v * by + add
  end subroutine scale
  subroutine count_call(arg) bind(C)
    type(c_ptr), value, intent(in) :: arg
    integer(c_int), pointer :: n
    call c_f_pointer(arg, n)
    n = n + 1
  end subroutine count_call
end module many_kernels
program many
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use many_kernels
  implicit none
  real(c_double), target :: v(12), by = 2
  integer(c_int), target :: add = 3, prio = 1, calls = 0, two = 2, me, comm, colour = 255
  integer(c_int64_t), target :: tag = 7000000000_8
  real(c_double), target :: flops = 1d6
  integer(c_int) :: ret, i, n, other
  integer(c_int), target :: done
  type(c_ptr) :: cl, h, f, array, descrs, req, st, task
  if (fstarpu_init(C_NULL_PTR) /= 0) error stop 77
  if (fstarpu_mpi_init(1) /= 0) error stop 1
  comm = fstarpu_mpi_world_comm()
  me = fstarpu_mpi_world_rank()
  n = fstarpu_mpi_world_size()
  if (fstarpu_mpi_comm_size(comm, i) /= 0 .or. i /= n) error stop 2
  if (FSTARPU_NMAXBUFS < 8 .or. p_to_ip(FSTARPU_SZ_REAL8) /= 8) error stop 3
  if (p_to_ip(FSTARPU_R .ior. FSTARPU_W) /= p_to_ip(FSTARPU_RW)) error stop 4
  if (fstarpu_worker_get_count_by_type(FSTARPU_CPU_WORKER) /= fstarpu_cpu_worker_get_count()) error stop 5
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_name(cl, C_CHAR_"scale"//C_NULL_CHAR)
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(scale))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
  v = (/ (i, i = 1, 12) /)
  call fstarpu_vector_data_register(h, 0, c_loc(v), 12, c_sizeof(v(1)))
  f = fstarpu_df_alloc_vector_filter_block()
  call fstarpu_data_filter_set_nchildren(f, 3)
  call fstarpu_data_partition(h, f)
  array = fstarpu_data_handle_array_alloc(1)
  descrs = fstarpu_data_descr_array_alloc(1)
  call fstarpu_data_handle_array_set(array, 0, fstarpu_data_get_sub_data(h, 1, (/ 0 /)))
  call fstarpu_data_descr_array_set(descrs, 0, fstarpu_data_get_child(h, 1), FSTARPU_RW)
  i = 1
  call fstarpu_task_insert((/ cl, FSTARPU_DATA_ARRAY, array, c_loc(one), FSTARPU_VALUE, c_loc(by), &
       FSTARPU_SZ_C_DOUBLE, FSTARPU_VALUE, c_loc(add), FSTARPU_SZ_C_INT, &
       FSTARPU_CALLBACK_WITH_ARG_NFREE, transfer(c_funloc(count_call), C_NULL_PTR), c_loc(calls), &
       FSTARPU_TAG, c_loc(tag), FSTARPU_FLOPS, c_loc(flops), FSTARPU_EXECUTE_WHERE, FSTARPU_CPU, C_NULL_PTR /))
  if (fstarpu_tag_wait(tag) /= 0) error stop 6
  call fstarpu_task_insert((/ cl, FSTARPU_DATA_MODE_ARRAY, descrs, c_loc(one), FSTARPU_VALUE, c_loc(by), &
       FSTARPU_SZ_REAL8, FSTARPU_VALUE, c_loc(add), FSTARPU_SZ_C_INT, FSTARPU_PRIORITY, c_loc(prio), &
       FSTARPU_TASK_COLOR, c_loc(colour), FSTARPU_TASK_SYNCHRONOUS, c_loc(one), C_NULL_PTR /))
  call fstarpu_task_wait_for_all()
  call fstarpu_data_unpartition(h, 0)
  call fstarpu_data_acquire(h, FSTARPU_R)
  if (any(abs(v - (/ 5d0, 7d0, 9d0, 11d0, 13d0, 15d0, 17d0, 19d0, 9d0, 10d0, 11d0, 12d0 /)) > 0)) error stop 7
  call fstarpu_data_release(h)
  if (calls /= 1) error stop 8
  ! Two ranks exchange by requests; the others only build a task that they own.
  other = ieor(me, 1)
  if (other < n) then
     req = fstarpu_mpi_req_alloc()
     st = fstarpu_mpi_status_alloc()
     if (modulo(me, 2) == 0) then
        ret = fstarpu_mpi_isend(h, req, other, 99_8, comm)
     else
        ret = fstarpu_mpi_irecv(h, req, other, 99_8, comm)
     end if
     if (ret /= 0) error stop 9
     if (fstarpu_mpi_wait(req, st) /= 0) error stop 10
     call fstarpu_mpi_req_free(req)
     call fstarpu_mpi_status_free(st)
  end if
  call fstarpu_mpi_data_register(h, 5_8, 0)
  task = fstarpu_mpi_task_build((/ c_loc(comm), cl, FSTARPU_RW, h, FSTARPU_VALUE, c_loc(by), &
       FSTARPU_SZ_C_DOUBLE, FSTARPU_VALUE, c_loc(add), FSTARPU_SZ_C_INT, &
       FSTARPU_EXECUTE_ON_NODE, c_loc(zero), C_NULL_PTR /))
  if (c_associated(task) .neqv. me == 0) error stop 11
  if (me == 0) then
     if (fstarpu_task_submit(task) /= 0) error stop 12
  end if
  call fstarpu_mpi_task_post_build((/ c_loc(comm), cl, FSTARPU_RW, h, FSTARPU_EXECUTE_ON_NODE, c_loc(zero), C_NULL_PTR /))
  ret = fstarpu_mpi_wait_for_all(comm)
  if (me == 0 .and. v(1) /= 13) error stop 13
  call fstarpu_data_unregister(h)
  call fstarpu_data_filter_free(f)
  call fstarpu_data_handle_array_free(array)
  call fstarpu_data_descr_array_free(descrs)
  call fstarpu_codelet_free(cl)
  ret = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()
  if (me == 0) print '(a)', 'check: OK'
end program many
END
sed -i 's/two = 2, me/one = 1, zero = 0, me/; s/  integer(c_int), target :: done$//' many.f90
build many.f90 many
for w in $worlds; do for n in 1 2 3; do ok run $w $n many; has out 'check: OK'; done; done

# MPI's own module beside ours.
cat > both.f90 <<'END'
program both
  use mpi
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  implicit none
  integer :: ierr, me, n, half, sum, level
  call mpi_init_thread(MPI_THREAD_MULTIPLE, level, ierr)  ! it communicates itself
  if (fstarpu_init(C_NULL_PTR) /= 0) error stop 77
  if (fstarpu_mpi_init(0, MPI_COMM_WORLD) /= 0) error stop 1
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_split(MPI_COMM_WORLD, modulo(me, 2), me, half, ierr)
  if (fstarpu_mpi_comm_size(half, n) /= 0) error stop 2
  if (n /= 2) error stop 3
  ierr = fstarpu_mpi_barrier(half)
  call mpi_allreduce(me, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (sum /= 6) error stop 4
  call mpi_comm_free(half, ierr)
  ierr = fstarpu_mpi_shutdown()
  call fstarpu_shutdown()
  call mpi_finalize(ierr)
  if (me == 0) print '(a)', 'check: OK'
end program both
END
for w in $worlds; do
	ok "$ORRERY" fc --$w -J . both.f90 -o both.$w
	ok run $w 4 both
	has out 'check: OK'
done

# Lists that do not end, or name what is no marker.
cat > wrong.f90 <<'END'
program wrong
  use iso_c_binding
  use fstarpu_mod
  implicit none
  type(c_ptr) :: cl
  if (fstarpu_init(C_NULL_PTR) /= 0) error stop 77
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_set_nbuffers(cl, 0)
  call fstarpu_task_insert((/ cl, ip_to_p(1073741824_c_intptr_t), C_NULL_PTR /))
end program wrong
END
build wrong.f90 wrong
for w in $worlds; do
	run $w 1 wrong > out 2>&1 && die "a wrong marker was accepted"
	has out 'unknown marker 0x40000000'
done
exit 0
