/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the time of workers goes: kernels, and waiting for a message, for the program, for another
 * task; all of it adds up to the time that has passed. */
#include "mpi_test.h"

#include <orrery.h>

#define STEP_US 40000.0

static void cpu_sleep(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_usleep((float) STEP_US);
}

static struct starpu_codelet work_cl = {
	.cpu_funcs = { cpu_sleep }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "work"
};

static void submit(starpu_data_handle_t h)
{
	OK(starpu_task_insert(&work_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER, 0, 0));
}

/* The times of worker 0 since profiling began, which was `start`. */
static struct orrery_worker_times times_since(double start)
{
	struct orrery_worker_times t;
	double sum, all;

	OK(orrery_worker_times(0, &t));
	all = starpu_timing_now() - start;
	sum = t.kernels_us + t.messages_us + t.submission_us + t.idle_us + t.data_us + t.runtime_us;
	CHECK(sum > all - STEP_US / 4 && sum < all + STEP_US / 4, "%g us of %g", sum, all);
	return t;
}

static double begin_times(void)
{
	double start = starpu_timing_now();

	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	return start;
}

int main(int argc, char **argv)
{
	struct starpu_profiling_worker_info info;
	starpu_data_handle_t h, waits;
	struct orrery_worker_times t;
	double late = 0;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	set_int(h, 0);
	new_int(&waits);
	set_int(waits, 0);
	MPI_Barrier(MPI_COMM_WORLD);

	/* The program is late. */
	double start = begin_times();
	starpu_usleep((float) STEP_US);
	submit(h);
	OK(starpu_task_wait_for_all());
	t = times_since(start);
	CHECK(t.submission_us > 0.7 * STEP_US, "submission: %g us", t.submission_us);
	CHECK(t.messages_us < 0.3 * STEP_US, "messages: %g us", t.messages_us);
	CHECK(!t.data_us, "data that are there: %g us", t.data_us);

	/* A message is: rank 1 waits while rank 0 works, which begins when rank 1 is waiting. */
	start = begin_times();
	if (rank == 0) {
		OK(starpu_mpi_recv(waits, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		submit(h);
		OK(starpu_mpi_isend_detached(h, 1, 1, MPI_COMM_WORLD, NULL, NULL));
	}
	if (rank == 1) {
		OK(starpu_mpi_irecv_detached(h, 0, 1, MPI_COMM_WORLD, NULL, NULL));
		submit(h);
		late = starpu_timing_now() - start;
		OK(starpu_mpi_send(waits, 0, 2, MPI_COMM_WORLD));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	t = times_since(start);
	if (rank == 1)
		CHECK(t.messages_us > 0.7 * STEP_US && t.submission_us < late + 0.3 * STEP_US,
		      "messages: %g us, submission: %g us of %g", t.messages_us, t.submission_us,
		      late);
	if (rank < 2)
		CHECK(t.kernels_us > 0.7 * STEP_US, "kernels: %g us", t.kernels_us);
	OK(starpu_profiling_worker_get_info(0, &info));
	CHECK((starpu_timing_timespec_to_us(&info.executing_time) > 0.7 * STEP_US) == (rank < 2),
	      "a record without kernels: %g us",
	      starpu_timing_timespec_to_us(&info.executing_time));
	OK(orrery_worker_times(0, &t));
	CHECK(t.kernels_us < 0.3 * STEP_US, "the record began anew: %g us", t.kernels_us);
	CHECK(orrery_worker_times(9999, &t) == -EINVAL, "there is no such worker");
	starpu_data_unregister(h);
	starpu_data_unregister(waits);
	return end();
}
