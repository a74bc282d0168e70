/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Driven by checkpoint_doors.sh: `checkpoint_migrate save WHERE` makes a checkpoint and is killed,
 * `checkpoint_migrate restore WHERE` takes it back. Data migrate before the checkpoint (WHERE of
 * save) or before they are taken back (WHERE of restore): `stay`, `next`, to the next rank, which
 * keeps the backup, or `last`, to the one before. They are always registered with their first
 * owners. `restore fails`: nothing can be restored, and nothing may have changed.
 *
 * orr-test: driven by tests/mpi/checkpoint_doors.sh */
#include "mpi_test.h"

#include <signal.h>
#include <string.h>

#define N 100

static void add_cpu(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	for (int i = 0; i < N; i++)
		v[i] += 1000;
}

static struct starpu_codelet add_cl = {
	.cpu_funcs = { add_cpu }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "add"
};

static int backup_of(int rank)
{
	return (rank + 1) % size;
}

static void compare(starpu_data_handle_t h, int number, int added)
{
	if (starpu_mpi_data_get_rank(h) != rank)
		return;
	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
	const int *v = starpu_data_get_local_ptr(h);
	for (int i = 0; i < N; i++)
		CHECK(v[i] == number * 100 + i + added, "datum %d, element %d: %d", number, i,
		      v[i]);
	starpu_data_release(h);
}

int main(int argc, char **argv)
{
	starpu_mpi_checkpoint_template_t t;
	int step = 0, v[N];

	if (!begin(&argc, &argv, 1))
		return 77;
	int saves = !strcmp(argv[1], "save"), fails = !strcmp(argv[2], "fails");
	int by = !strcmp(argv[2], "next") ? 1 : !strcmp(argv[2], "last") ? size - 1 : 0;
	starpu_data_handle_t h[16];
	for (int i = 0; i < N; i++)
		v[i] = rank * 100 + i;
	for (int r = 0; r < size; r++) {
		starpu_vector_data_register(&h[r], r == rank ? STARPU_MAIN_RAM : -1,
					    r == rank ? (uintptr_t) v : 0, N, sizeof(*v));
		starpu_mpi_data_register(h[r], r, r);
	}
	CHECK_IS(starpu_mpi_checkpoint_init(), 0);
	CHECK_IS(starpu_mpi_checkpoint_template_create(&t, 1, 0), 0);
	CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_VALUE, &step,
							  (int) sizeof(step), (starpu_mpi_tag_t) 5,
							  backup_of),
		 0);
	for (int r = 0; r < size; r++)
		CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_R, h[r], backup_of(r)),
			 0);
	CHECK_IS(starpu_mpi_checkpoint_template_freeze(&t), 0);
	for (int r = 0; r < size && by; r++)
		starpu_mpi_data_migrate(MPI_COMM_WORLD, h[r], (r + by) % size);
	int got = orrery_mpi_restore(t);
	if (fails)
		CHECK(got < 0, "%d was restored", got);
	else
		CHECK_IS(got, saves ? 0 : 1);
	CHECK_IS(step, got > 0 ? 1 : 0);
	for (int r = 0; r < size; r++)
		compare(h[r], r, got > 0 ? 1000 : 0);
	for (int r = 0; r < size && saves; r++)
		CHECK_IS(starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_RW, h[r], 0), 0);
	step++;
	if (saves) {
		CHECK_IS(starpu_mpi_checkpoint_template_submit(t, 0), 0);
		CHECK_IS(starpu_mpi_wait_for_all(MPI_COMM_WORLD), 0);
		CHECK_IS(starpu_mpi_barrier(MPI_COMM_WORLD), 0);
		raise(SIGKILL);
	}
	CHECK_IS(starpu_mpi_checkpoint_shutdown(), 0);
	for (int r = 0; r < size; r++)
		starpu_data_unregister(h[r]);
	return end();
}
