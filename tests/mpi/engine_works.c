/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_MPI_DRIVER_CALL_FREQUENCY: the progression thread is the only worker. It executes all
 * tasks, those that wait for messages too, and messages that come during a task wait for its end;
 * without, they do not.
 *
 * The start reads the variables, so that one run tries both.
 * orr-test: ranks 2
 * orr-test: sim-ranks 2 */
#include "mpi_test.h"

enum { ROUNDS = 50, ASK = 1 };
#define NAP 0.2

static int ids; /* bit w: worker w executed a task */

static void cpu_note(void *buffers[], void *arg)
{
	(void) arg;
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
	__atomic_or_fetch(&ids, 1 << starpu_worker_get_id(), __ATOMIC_SEQ_CST);
}

static void cpu_nap(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(NAP);
}

static struct starpu_codelet note_cl = { .cpu_funcs = { cpu_note },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					 .name = "note" };
static struct starpu_codelet nap_cl = { .cpu_funcs = { cpu_nap },
					.flags = STARPU_CODELET_SIMGRID_EXECUTE,
					.name = "nap" };

/* A datum goes back and forth, and each rank's worker adds 1 to it. */
static void ring(void)
{
	starpu_data_handle_t h;

	new_int(&h);
	set_int(h, 0);
	for (int i = 0; i < ROUNDS; i++) {
		int tag = 10 + 2 * i;
		if (rank == 0) {
			OK(starpu_task_insert(&note_cl, STARPU_RW, h, 0));
			OK(starpu_mpi_isend_detached(h, 1, tag, MPI_COMM_WORLD, NULL, NULL));
			OK(starpu_mpi_irecv_detached(h, 1, tag + 1, MPI_COMM_WORLD, NULL, NULL));
		} else {
			OK(starpu_mpi_irecv_detached(h, 0, tag, MPI_COMM_WORLD, NULL, NULL));
			OK(starpu_task_insert(&note_cl, STARPU_RW, h, 0));
			OK(starpu_mpi_isend_detached(h, 0, tag + 1, MPI_COMM_WORLD, NULL, NULL));
		}
	}
	OK(starpu_task_wait_for_all());
	CHECK_IS(int_of(h), 2 * ROUNDS);
	CHECK(ids == 1, "workers %x executed tasks", ids);
	starpu_data_unregister(h);
}

static double asked_us, ended_us;

static void on_question(void *arg)
{
	(void) arg;
	asked_us = starpu_timing_now();
}

static void on_end(void *arg)
{
	(void) arg;
	ended_us = starpu_timing_now();
}

/* Rank 1 executes a long task, in the middle of which a message comes. Whether it was handled
 * before the end of the task. */
static int handled_meanwhile(void)
{
	starpu_data_handle_t h;

	new_int(&h);
	set_int(h, 5);
	if (rank == 0) {
		OK(starpu_mpi_barrier(MPI_COMM_WORLD));
		starpu_sleep(NAP / 8);
		OK(starpu_mpi_isend_detached(h, 1, ASK, MPI_COMM_WORLD, NULL, NULL));
	} else {
		OK(starpu_mpi_irecv_detached(h, 0, ASK, MPI_COMM_WORLD, on_question, NULL));
		OK(starpu_mpi_barrier(MPI_COMM_WORLD));
		OK(starpu_task_insert(&nap_cl, STARPU_CALLBACK, on_end, 0));
		starpu_sleep(2 * NAP);
	}
	OK(starpu_task_wait_for_all());
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK_IS(int_of(h), 5);
	starpu_data_unregister(h);
	return asked_us < ended_us;
}

static void round_of(int calls, int tasks, int meanwhile)
{
	char text[16];

	setenv("STARPU_NCPU", "1", 1);
	snprintf(text, sizeof(text), "%d", calls);
	setenv("STARPU_MPI_DRIVER_CALL_FREQUENCY", text, 1);
	snprintf(text, sizeof(text), "%d", tasks);
	setenv("STARPU_MPI_DRIVER_TASK_FREQUENCY", text, 1);
	ids = 0;
	OK(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL));
	CHECK_IS(starpu_cpu_worker_get_count(), 1);
	ring();
	int seen = handled_meanwhile();
	CHECK(rank == 0 || seen == meanwhile, "calls %d, tasks %d: handled meanwhile: %d", calls,
	      tasks, seen);
	OK(starpu_mpi_shutdown());
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	test_rank = rank;
	if (size == 2) {
		round_of(0, 0, 1);
		round_of(1, 1, 0);
		round_of(100, 3, 0);
	}
	MPI_Finalize();
	return size == 2 ? 0 : 77;
}
