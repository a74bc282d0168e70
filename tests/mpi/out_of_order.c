/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A receive that ignores the order of submission comes before a task that was submitted earlier and
 * waits for it; other receives come after such a task. Blocking calls take priorities. */
#include "mpi_test.h"

enum { RECEIVED = 1, MAY_RUN = 2, RAN = 3 };

static void received(void *arg)
{
	(void) arg;
	starpu_tag_notify_from_apps(RECEIVED);
}

/* Increments h, once MAY_RUN is notified. */
static void submit_increment(starpu_data_handle_t h)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &increment_cl;
	task->handles[0] = h;
	task->use_tag = 1;
	task->tag_id = RAN;
	starpu_tag_declare_deps(RAN, 1, (starpu_tag_t) MAY_RUN);
	OK(starpu_task_submit(task));
}

/* Rank 0 sends `value` with tag 1, rank 1 receives it before the task that it submitted first. */
static void overtake(starpu_data_handle_t h, int value)
{
	if (rank == 0) {
		set_int(h, value);
		OK(starpu_mpi_send_prio(h, 1, 1, 4, MPI_COMM_WORLD));
	}
	if (rank != 1)
		return;
	submit_increment(h);
	OK(starpu_mpi_irecv_detached_sequential_consistency(h, 0, 1, MPI_COMM_WORLD, received, NULL,
							    0));
	OK(starpu_tag_wait(RECEIVED));
	starpu_tag_notify_from_apps(MAY_RUN);
	CHECK_IS(int_of(h), value + 1);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	if (rank == 1)
		set_int(h, 0);
	overtake(h, 10);
	if (rank == 0) {
		set_int(h, 20);
		OK(starpu_mpi_send_prio(h, 1, 2, -3, MPI_COMM_WORLD));
		set_int(h, 30);
		OK(starpu_mpi_send_prio(h, 1, 3, 5, MPI_COMM_WORLD));
	}
	if (rank == 1) {
		OK(starpu_task_insert(&increment_cl, STARPU_RW, h, 0));
		OK(starpu_mpi_irecv_detached_sequential_consistency(h, 0, 2, MPI_COMM_WORLD, NULL,
								    NULL, 1));
		CHECK_IS(int_of(h), 20);
		OK(starpu_mpi_recv_prio(h, 0, 3, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK_IS(int_of(h), 30);
	}
	starpu_data_unregister(h);
	return end();
}
