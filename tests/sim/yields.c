/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many short waits of all kinds, between ranks and inside of one: kernels that cost nothing
 * followed by messages, blocking and detached communications, acquisitions, waits for one task and
 * for all, and a thread of the program that communicates. yields.sh runs it with `orrery sim
 * --yields`. A wake-up that is lost stalls it. */
/* orr-test: sim-ranks 2 4 */
#include "../mpi/mpi_test.h"
#include <starpu_thread.h>

#define ROUNDS 5

static struct starpu_codelet free_of_cost = { .cpu_funcs = { cpu_increment },
					      .nbuffers = 1,
					      .modes = { STARPU_RW },
					      .model = &starpu_perfmodel_nop };
static struct starpu_codelet increment = { .cpu_funcs = { cpu_increment },
					   .nbuffers = 1,
					   .modes = { STARPU_RW } };
static starpu_sem_t landed;

static void land(void *arg)
{
	(void) arg;
	starpu_sem_post(&landed);
}

static void run_and_wait(struct starpu_codelet *cl, starpu_data_handle_t h)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = cl;
	t->handles[0] = h;
	t->synchronous = 1;
	OK(starpu_task_submit(t));
}

/* Each message follows a kernel at once: the engine is just about to sleep. */
static void pass_on(starpu_data_handle_t h, int tag)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;

	if (rank) {
		OK(starpu_mpi_recv(h, previous, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		run_and_wait(&free_of_cost, h);
	}
	if (rank + 1 < size)
		OK(starpu_mpi_send(h, next, tag, MPI_COMM_WORLD));
}

static void exchange(starpu_data_handle_t mine, starpu_data_handle_t theirs, int tag)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;

	OK(starpu_mpi_irecv_detached(theirs, previous, tag, MPI_COMM_WORLD, land, NULL));
	OK(starpu_task_insert(&increment, STARPU_RW, mine, 0));
	OK(starpu_mpi_isend_detached(mine, next, tag, MPI_COMM_WORLD, land, NULL));
	starpu_sem_wait(&landed);
	starpu_sem_wait(&landed);
}

struct talk {
	starpu_data_handle_t mine, theirs;
	int round;
	starpu_pthread_mutex_t mutex;
	starpu_pthread_cond_t cond;
	int begun, over;
};

/* SMPI does not know this thread: another one rings the engine's bell for it. */
static void *thread_main(void *arg)
{
	struct talk *t = arg;

	starpu_pthread_mutex_lock(&t->mutex);
	t->begun = 1;
	starpu_pthread_cond_signal(&t->cond);
	starpu_pthread_mutex_unlock(&t->mutex);
	exchange(t->mine, t->theirs, 1000 + t->round);
	starpu_pthread_mutex_lock(&t->mutex);
	t->over = 1;
	starpu_pthread_cond_signal(&t->cond);
	starpu_pthread_mutex_unlock(&t->mutex);
	return NULL;
}

static void talk_in_thread(starpu_data_handle_t mine, starpu_data_handle_t theirs, int round)
{
	struct talk t = { .mine = mine, .theirs = theirs, .round = round };
	starpu_pthread_t thread;

	OK(starpu_pthread_mutex_init(&t.mutex, NULL));
	OK(starpu_pthread_cond_init(&t.cond, NULL));
	OK(starpu_pthread_create(&thread, NULL, thread_main, &t));
	starpu_pthread_mutex_lock(&t.mutex);
	while (!t.begun || !t.over)
		starpu_pthread_cond_wait(&t.cond, &t.mutex);
	starpu_pthread_mutex_unlock(&t.mutex);
	OK(starpu_pthread_join(thread, NULL));
}

int main(int argc, char **argv)
{
	starpu_data_handle_t chain, mine, theirs, owned[4];

	if (!begin(&argc, &argv, 2))
		return 77;
	OK(starpu_sem_init(&landed, 0, 0));
	new_int(&chain);
	new_int(&mine);
	new_int(&theirs);
	set_int(mine, 100 * rank);
	for (int i = 0; i < 4; i++) {
		starpu_variable_data_register(&owned[i], -1, 0, sizeof(int));
		starpu_mpi_data_register(owned[i], i, i % size);
		if (i % size == rank)
			set_int(owned[i], 0);
	}
	for (int round = 0; round < ROUNDS; round++) {
		set_int(chain, 0);
		pass_on(chain, round);
		CHECK(int_of(chain) == rank, "round %d: %d", round, int_of(chain));
		exchange(mine, theirs, 100 + round);
		CHECK(int_of(theirs) == 100 * ((rank + size - 1) % size) + 2 * round + 1,
		      "round %d: %d", round, int_of(theirs));
		talk_in_thread(mine, theirs, round);
		for (int i = 0; i < 4; i++)
			OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &free_of_cost, STARPU_RW,
						  owned[i], STARPU_EXECUTE_ON_NODE,
						  (i + round) % size, 0));
		OK(starpu_task_wait_for_all());
		if (round % 2)
			OK(starpu_mpi_barrier(MPI_COMM_WORLD));
		else
			OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	}
	for (int i = 0; i < 4; i++) {
		if (i % size == rank)
			CHECK(int_of(owned[i]) == ROUNDS, "datum %d: %d", i, int_of(owned[i]));
		starpu_data_unregister(owned[i]);
	}
	starpu_data_unregister(chain);
	starpu_data_unregister(mine);
	starpu_data_unregister(theirs);
	return end();
}
