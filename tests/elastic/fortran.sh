#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A task program in Fortran grows and shrinks as the resource manager says, by the module
# orrery_resize_mod, in both worlds: each datum counts the steps, on whatever rank it is. Another one
# makes the operations that the loop program does not make: SPLIT, INTERSECTION, MALLEABLE, REPLACE.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_FORTRAN" = yes ] || skip "no Fortran compiler"
STARPU_NCPU=1
export STARPU_NCPU

cat > follow.f90 <<'END'
module follow_kernels
contains
  subroutine add_one(buffers, cl_args) bind(C)
    use iso_c_binding
    use fstarpu_mod
    type(c_ptr), value, intent(in) :: buffers, cl_args
    integer(c_int), pointer :: v(:)
    call c_f_pointer(fstarpu_vector_get_ptr(buffers, 0), v, shape=[fstarpu_vector_get_nx(buffers, 0)])
    v = v + 1
  end subroutine add_one
end module follow_kernels
program follow
  use iso_c_binding
  use fstarpu_mod
  use fstarpu_mpi_mod
  use orrery_resize_mod
  use follow_kernels
  implicit none
  integer, parameter :: n = 12, ints = 16, wanted(4) = [2, 4, 3, 4]
  integer(c_int), target :: now(3) = 0, comm ! steps, sizes that were seen, the last step
  integer(c_int), target :: v(ints, n) = 0
  integer(c_int) :: rank, ranks, joined, ret, i
  type(c_ptr) :: cl, h(n), rule
  type(orrery_resize_stats) :: stats
  joined = orrery_elastic_start(comm, c_loc(now), c_sizeof(now))
  if (joined < 0) error stop 1
  call fstarpu_set_constants
  if (fstarpu_mpi_comm_rank(comm, rank) /= 0) error stop 2
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(add_one))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
  rule = orrery_distribution_block(int(n, c_int64_t), 2)
  do i = 1, n
    call fstarpu_vector_data_register(h(i), 0, c_loc(v(1, i)), ints, c_sizeof(v(1, 1)))
    call fstarpu_mpi_data_register(h(i), int(i, c_int64_t), &
         orrery_distribution_owner(rule, int(i - 1, c_int64_t), orrery_resize_size(comm)))
    if (orrery_resize_follow(comm, h(i), rule, int(i - 1, c_int64_t)) /= 0) error stop 3
  end do
  ranks = 1
  do while (now(3) == 0 .or. now(1) < now(3))
    ranks = orrery_resize_point(comm)
    if (ranks < 0) error stop 4
    if (ranks == 0) exit
    if (ranks /= wanted(max(now(2), 1)) .or. now(2) == 0) then
      now(2) = now(2) + 1
      if (ranks /= wanted(now(2))) error stop 5
      if (now(2) == size(wanted)) now(3) = now(1) + 5
    end if
    do i = 1, n
      call fstarpu_mpi_task_insert([c_loc(comm), cl, FSTARPU_RW, h(i), C_NULL_PTR])
    end do
    call fstarpu_task_wait_for_all
    now(1) = now(1) + 1
  end do
  if (orrery_resize_get_stats(stats) /= 0) error stop 6
  do i = 1, n
    if (ranks > 0 .and. fstarpu_mpi_data_get_rank(h(i)) == rank) then
      call fstarpu_data_acquire(h(i), FSTARPU_R)
      if (any(v(:, i) /= now(1))) error stop 7
      call fstarpu_data_release(h(i))
    end if
    call fstarpu_data_unregister_no_coherency(h(i))
  end do
  if (ranks > 0 .and. rank == 0) print '(a,i0,a)', 'all is right after ', stats%resizes, ' changes'
  flush (6)
  call fstarpu_codelet_free(cl)
  ret = orrery_elastic_end()
  if (ret /= 0) error stop 8
  call orrery_distribution_free(rule)
end program follow
END
cat > operations.f90 <<'END'
program operations
  use mpi
  use elastic_sets
  implicit none
  character(len=name_length) :: world, main_set, out(3)
  integer :: iteration = 0, n
  logical :: stays
  if (.not. joins(main_set, iteration)) then
    world = main_set
    if (rank == 0) call operate
    call look_up(trim(world), main_set, iteration)
    if (rank == 0) call MPI_Session_dyn_finalize_psetop(session, trim(world), ierror)
    call must('MPI_Session_dyn_finalize_psetop')
    stays = set_says(main_set, 'mpi_included')
    if (stays .neqv. rank == 0) error stop 1
    call MPI_Comm_disconnect(comm, ierror)
    if (stays) call connect(main_set)
    if (.not. stays) total = 0
  end if
  if (iteration /= 7) error stop 2
  if (total > 0) call MPI_Allreduce(rank, n, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
  if (total > 0 .and. (total /= 2 .or. n /= 1)) error stop 3
  if (total > 0 .and. rank == 1) print '(a)', 'the last of 2 is new'
  flush (6)
  if (total > 0) call MPI_Comm_disconnect(comm, ierror)
  call MPI_Session_finalize(session, ierror)
  call must('MPI_Session_finalize')
contains
  ! An operation on one or two sets, with what the info object says.
  subroutine on(op, a, b, info, noutput)
    integer, intent(in) :: op, noutput
    integer, intent(inout) :: info
    character(len=*), intent(in) :: a, b
    character(len=name_length) :: input(2)
    integer :: done
    input = [character(len=name_length) :: a, b]
    done = op
    n = 3
    call MPI_Session_dyn_v2a_psetop(session, done, input, merge(2, 1, b /= ''), out, n, info, ierror)
    call must('MPI_Session_dyn_v2a_psetop')
    if (done /= op .or. n /= noutput) error stop 4
  end subroutine
  ! One process looks up in the dictionary of a set whose other processes do not call.
  subroutine alone(set)
    character(len=*), intent(in) :: set
    character(len=16) :: keys(1), value
    integer :: info
    logical :: found
    keys(1) = 'iteration'
    call MPI_Session_get_pset_data(session, set, 'mpi://SELF', keys, 1, 0, info, ierror)
    call must('MPI_Session_get_pset_data')
    call MPI_Info_get(info, 'iteration', 15, value, found, ierror)
    if (.not. found .or. value(1:1) /= '7') error stop 7
    call MPI_Info_free(info, ierror)
  end subroutine
  subroutine operate
    integer :: none, info
    none = MPI_INFO_NULL
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'mpi_part_sizes', '1,1', ierror)
    call MPI_Info_set(info, 'mpi_num_procs_add', '1', ierror)
    call MPI_Info_set(info, 'mpi_num_procs_sub', '1', ierror)
    call on(MPI_PSETOP_SPLIT, world, '', info, 2)
    if (.not. set_says(out(1), 'mpi_primary') .or. set_says(out(2), 'mpi_included')) error stop 5
    call on(MPI_PSETOP_INTERSECTION, world, out(1), none, 1)
    if (.not. set_says(out(1), 'mpi_included')) error stop 6
    call on(MPI_PSETOP_MALLEABLE, world, '', none, 0)
    call on(MPI_PSETOP_REPLACE, world, '', info, 3)
    call publish(out(2), out(3), 7)
    call publish(world, out(3), 7)
    call alone(world)
    call MPI_Info_free(info, ierror)
  end subroutine
end program operations
END
sets=$ORR_TEST_SRCDIR/examples/elastic_sets.f90
printf 'at 0.01 grow 2\nat 0.01 shrink 1\nat 0.01 grow 1\n' > script
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" fc --elastic --sim -J . follow.f90 -o follow.sim
	ok "$ORRERY" sim -n 2 --elastic --max 4 --scenario script --cost-start 1000 --cost-join 1000 ./follow.sim
	has out '^all is right after 3 changes'
	ok "$ORRERY" fc --elastic --sim -J . "$sets" operations.f90 -o operations.sim
	ok "$ORRERY" sim -n 2 --elastic --max 3 ./operations.sim
	has out '^the last of 2 is new'
fi
[ "$ORR_TEST_MPI" = yes ] || exit 0
ok "$ORRERY" fc --elastic -J . follow.f90 -o follow
ok "$ORRERY" run -n 2 --elastic --max 4 --manager script:script ./follow
has out '^all is right after 3 changes'
ok "$ORRERY" fc --elastic -J . "$sets" operations.f90 -o operations
ok "$ORRERY" run -n 2 --elastic --max 3 ./operations
has out '^the last of 2 is new'
exit 0
