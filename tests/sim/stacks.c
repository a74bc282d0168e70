/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Engines and drivers of simulated nodes borrow a stack while they have something to do
 * (stacks.sh counts them): a callback of a message and a kernel that wait keep theirs, and find
 * after the wait what is their rank's own: its variables, those of its threads, environment, errno.
 * With an argument all of them wait until the program has slept; without one nobody waits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../mpi/mpi_test.h"

static __thread int of_thread;
static starpu_pthread_mutex_t lock;
static starpu_pthread_cond_t opened;
static int is_open, waits, received, computed;

static void check_own(const char *where)
{
	const char *text = getenv("RANK_OF_TEST");
	CHECK(starpu_mpi_world_rank() == rank, "%s of rank %d runs as rank %d", where, rank,
	      starpu_mpi_world_rank());
	CHECK(text && atoi(text) == rank, "%s of rank %d has RANK_OF_TEST=%s", where, rank, text);
}

/* A thread has the same things for itself before and after it waits. */
static void wait_for_main(const char *where, int mine)
{
	check_own(where);
	of_thread = errno = mine;
	STARPU_PTHREAD_MUTEX_LOCK(&lock);
	while (waits && !is_open)
		STARPU_PTHREAD_COND_WAIT(&opened, &lock);
	STARPU_PTHREAD_MUTEX_UNLOCK(&lock);
	CHECK(errno == mine, "%s of rank %d has errno %d, not %d", where, rank, errno, mine);
	CHECK(of_thread == mine, "%s of rank %d has %d, not %d", where, rank, of_thread, mine);
	check_own(where);
}

static void message_came(void *arg)
{
	(void) arg;
	wait_for_main("the callback", 1000 + rank);
	received++;
}

static void compute(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
	wait_for_main("the kernel", 2000 + rank);
	computed++;
}

static struct starpu_codelet compute_cl = { .cpu_funcs = { compute }, .name = "compute" };

int main(int argc, char **argv)
{
	starpu_data_handle_t out, in;
	char text[16];
	if (!begin(&argc, &argv, 2))
		return 77;
	int values[2] = { rank, -1 }, next = (rank + 1) % size, before = (rank + size - 1) % size;
	waits = argc > 1;
	snprintf(text, sizeof(text), "%d", rank);
	setenv("RANK_OF_TEST", text, 1);
	STARPU_PTHREAD_MUTEX_INIT(&lock, NULL);
	STARPU_PTHREAD_COND_INIT(&opened, NULL);
	starpu_variable_data_register(&out, STARPU_MAIN_RAM, (uintptr_t) &values[0], sizeof(int));
	starpu_variable_data_register(&in, STARPU_MAIN_RAM, (uintptr_t) &values[1], sizeof(int));
	CHECK_IS(starpu_mpi_irecv_detached(in, before, 5, MPI_COMM_WORLD, message_came, NULL), 0);
	CHECK_IS(starpu_mpi_isend_detached(out, next, 5, MPI_COMM_WORLD, NULL, NULL), 0);
	CHECK_IS(starpu_task_insert(&compute_cl, 0), 0);
	starpu_sleep(0.001);
	CHECK(!waits || (!received && !computed), "rank %d has not waited", rank);
	STARPU_PTHREAD_MUTEX_LOCK(&lock);
	is_open = 1;
	STARPU_PTHREAD_COND_BROADCAST(&opened);
	STARPU_PTHREAD_MUTEX_UNLOCK(&lock);
	starpu_task_wait_for_all();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(out);
	starpu_data_unregister(in);
	CHECK(received == 1 && computed == 1 && values[1] == before, "rank %d: %d %d %d", rank,
	      received, computed, values[1]);
	check_own("main");
	return end();
}
