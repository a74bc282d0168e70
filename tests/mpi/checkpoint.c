/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Driven by checkpoint.sh: `checkpoint STEPS RESTORED LAST`. Each rank owns a vector; each step a
 * task changes all vectors, a value of each rank changes, and a checkpoint is submitted. The run
 * restores what an earlier one left: RESTORED is the checkpoint that it must find. After STEPS more
 * steps, LAST tells how it ends: `die` (killed without an end), `taken` (likewise, and the lock of
 * rank 1 has lost its name before, as if `orrery run` had taken the folder from it), or `end`. */
#include "mpi_test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define N 1000

static void step_cpu(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]),
	    *from = (int *) STARPU_VECTOR_GET_PTR(buffers[1]);

	(void) arg;
	for (int i = 0; i < N; i++)
		v[i] = (3 * v[i] + from[i] + i) % 1000003;
}

static struct starpu_codelet step_cl = {
	.cpu_funcs = { step_cpu }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .name = "step"
};

static int backup_of(int rank)
{
	return (rank + 1) % size;
}

/* The value of element i of rank r after t steps, computed alone. */
static int *expected(int steps)
{
	int *all = malloc((size_t) size * N * sizeof(*all));

	for (int r = 0; r < size; r++)
		for (int i = 0; i < N; i++)
			all[r * N + i] = r + i;
	for (int t = 0; t < steps; t++)
		for (int r = 0; r < size; r++)
			for (int i = 0; i < N; i++)
				all[r * N + i] = (3 * all[r * N + i] + all[(r + 1) % size * N + i] +
						  i) %
						 1000003;
	return all;
}

static void compare(starpu_data_handle_t h, int steps)
{
	int *all = expected(steps);

	CHECK_IS(starpu_data_acquire(h, STARPU_R), 0);
	CHECK_IS(memcmp(starpu_data_get_local_ptr(h), all + rank * N, N * sizeof(int)), 0);
	starpu_data_release(h);
	free(all);
}

/* Mistakes are refused, and leave nothing behind. */
static void mistakes(starpu_data_handle_t h)
{
	starpu_mpi_checkpoint_template_t t = NULL;
	int dummy = 0;

	CHECK_IS(starpu_mpi_checkpoint_template_create(&t, 1, 0), -EINVAL);
	CHECK_IS(starpu_mpi_ft_turn_on(), -EINVAL);
	CHECK_IS(starpu_mpi_checkpoint_shutdown(), -EINVAL);
	CHECK_IS(starpu_mpi_checkpoint_init(), 0);
	CHECK_IS(starpu_mpi_checkpoint_init(), -EALREADY);
	CHECK_IS(starpu_mpi_checkpoint_template_create(&t, 9, 3), 0);
	CHECK_IS(starpu_mpi_checkpoint_template_submit(t, 0), -EINVAL);
	CHECK_IS(orrery_mpi_restore(t), -EINVAL);
	CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_R, h, size), -EINVAL);
	CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_RW, h, 0), -EINVAL);
	CHECK_IS(starpu_mpi_checkpoint_template_add_entry(
			 &t, STARPU_VALUE, &dummy, (int) sizeof(dummy), (starpu_mpi_tag_t) 1, NULL),
		 -EINVAL);
	CHECK_IS(starpu_mpi_checkpoint_template_freeze(&t), 0);
	CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_R, h, 0), -EINVAL);
	CHECK_IS(starpu_mpi_checkpoint_template_freeze(&t), -EINVAL);
	CHECK_IS(starpu_mpi_checkpoint_template_create(&t, 9, 3), -EINVAL);
}

int main(int argc, char **argv)
{
	starpu_mpi_checkpoint_template_t t, other;
	int t_now = 0, mine = 0;

	if (!begin(&argc, &argv, 1))
		return 77;
	int steps = atoi(argv[1]), restored = atoi(argv[2]), taken = !strcmp(argv[3], "taken"),
	    die = taken || !strcmp(argv[3], "die");
	int *v = malloc(N * sizeof(*v));
	starpu_data_handle_t h[64];
	for (int i = 0; i < N; i++)
		v[i] = rank + i;
	for (int r = 0; r < size; r++) {
		starpu_vector_data_register(&h[r], r == rank ? STARPU_MAIN_RAM : -1,
					    r == rank ? (uintptr_t) v : 0, N, sizeof(*v));
		starpu_mpi_data_register(h[r], r, r);
	}
	mistakes(h[rank]);
	CHECK_IS(starpu_mpi_checkpoint_template_create(&t, 1, 0), 0);
	for (int r = 0; r < size; r++)
		CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_R, h[r], backup_of(r)),
			 0);
	CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_VALUE, &t_now,
							  (int) sizeof(t_now), (starpu_mpi_tag_t) 5,
							  backup_of),
		 0);
	CHECK_IS(starpu_mpi_checkpoint_template_add_entry(&t, STARPU_VALUE, &mine,
							  (int) sizeof(mine), (starpu_mpi_tag_t) 6,
							  backup_of),
		 0);
	CHECK_IS(starpu_mpi_checkpoint_template_freeze(&t), 0);
	/* The same at once; nothing is submitted with it. */
	CHECK_IS(starpu_mpi_checkpoint_template_register(&other, 2, 0, STARPU_R, h[0], 0,
							 STARPU_VALUE, &mine, (int) sizeof(mine),
							 (starpu_mpi_tag_t) 6, backup_of, 0),
		 0);
	CHECK_IS(starpu_mpi_checkpoint_template_print(other), 0);

	CHECK_IS(orrery_mpi_restore(t), restored);
	CHECK_IS(t_now, restored);
	CHECK_IS(mine, restored * (rank + 1));
	compare(h[rank], restored);
	if (taken && rank == 1) {
		char lock[4096];
		snprintf(lock, sizeof(lock), "%s/rank1.lock", getenv("ORRERY_CHECKPOINT_DIR"));
		CHECK_IS(unlink(lock), 0);
	}
	for (int s = 0; s < steps; s++) {
		for (int r = 0; r < size; r++)
			CHECK_IS(starpu_mpi_task_insert(MPI_COMM_WORLD, &step_cl, STARPU_RW, h[r],
							STARPU_R, h[(r + 1) % size], 0),
				 0);
		t_now++;
		mine += rank + 1;
		CHECK_IS(starpu_mpi_checkpoint_template_submit(t, s), 0);
		if (s == 0) {
			CHECK_IS(starpu_mpi_ft_turn_off(), 0);
			CHECK_IS(starpu_mpi_checkpoint_template_submit(t, s), 0);
			CHECK_IS(starpu_mpi_ft_turn_on(), 0);
		}
	}
	CHECK_IS(starpu_mpi_wait_for_all(MPI_COMM_WORLD), 0);
	compare(h[rank], restored + steps);
	CHECK_IS(starpu_mpi_barrier(MPI_COMM_WORLD), 0);
	if (die)
		raise(SIGKILL);
	CHECK_IS(starpu_mpi_checkpoint_shutdown(), 0);
	for (int r = 0; r < size; r++)
		starpu_data_unregister(h[r]);
	free(v);
	return end();
}
