/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs of other ranks' tasks, each followed by something that others see or that depends on them,
 * for put_off.sh: prints what each of these found on the clock, in nanoseconds.
 *
 * Invariant: what is printed follows from virtual time alone. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include "../mpi/mpi_test.h"

#define ROUNDS 60
#define NDATA 8
#define MORE_RANKS 4

static starpu_data_handle_t data[MORE_RANKS][NDATA];
static int elements[NDATA];

static void say(const char *what, int round)
{
	printf("%d %d %s %.0f\n", rank, round, what, starpu_timing_now() * 1e3);
}

/* Its length is longer than many quanta. */
static void work(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
	say("kernel", -1);
	usleep(70);
}

static struct starpu_codelet work_cl = {
	.cpu_funcs = { work },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "work",
};

static void foreign(unsigned n)
{
	int other = (rank + 1) % size;

	for (unsigned i = 0; i < n; i++)
		CHECK_IS(starpu_mpi_task_insert(MPI_COMM_WORLD, &work_cl, STARPU_RW,
						i % 3 ? data[other][i % NDATA] : NULL,
						STARPU_PRIORITY, 1, 0),
			 0);
}

/* ---- a thread that waits for the program's ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, over;

static void *follow(void *arg)
{
	(void) arg;
	pthread_mutex_lock(&mutex);
	while (!over) {
		if (turn)
			say("thread", -1);
		turn = 0;
		pthread_cond_wait(&changed, &mutex);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void signal_thread(void)
{
	pthread_mutex_lock(&mutex);
	turn = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
}

/* ---- what follows a run of other ranks' tasks ---- */

static void task_of_tag(int round)
{
	starpu_tag_t tag = 1000 + (starpu_tag_t) round;
	struct starpu_task *task = starpu_task_create();

	task->cl = &work_cl;
	task->handles[0] = data[rank][0];
	starpu_tag_declare_deps(tag + 1000, 1, tag);
	task->use_tag = 1;
	task->tag_id = tag + 1000;
	CHECK_IS(starpu_task_submit(task), 0);
	foreign(1234);
	starpu_tag_notify_from_apps(tag);
}

static void message(int round)
{
	MPI_Status status;

	if (rank % 2)
		CHECK_IS(starpu_mpi_recv(data[rank][1], rank - 1, round, MPI_COMM_WORLD, &status),
			 0);
	else if (rank + 1 < size)
		CHECK_IS(starpu_mpi_isend_detached(data[rank][1], rank + 1, round, MPI_COMM_WORLD,
						   NULL, NULL),
			 0);
}

static void follows(int round)
{
	int got = -1, next = (rank + 1) % size, last = (rank + size - 1) % size;
	struct timespec t;

	switch (round % 10) {
	case 0: say("clock", round); break;
	case 1:
		clock_gettime(CLOCK_MONOTONIC, &t);
		printf("%d %d system's %lld\n", rank, round,
		       (long long) t.tv_sec * 1000000000 + t.tv_nsec);
		break;
	case 2: MPI_Barrier(MPI_COMM_WORLD); break;
	case 3: usleep(3); break;
	case 4: signal_thread(); break;
	case 5: task_of_tag(round); break;
	case 6: message(round); break;
	case 7: starpu_task_wait_for_all(); break;
	case 8:
		MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &got, 1, MPI_INT, last, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		CHECK_IS(got, last);
		break;
	case 9:
		for (int i = 0; i < NDATA; i++)
			CHECK_IS(starpu_mpi_task_insert(MPI_COMM_WORLD, &work_cl, STARPU_RW,
							data[rank][i], 0),
				 0);
		break;
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (!begin(&argc, &argv, 2))
		return 77;
	CHECK(size <= MORE_RANKS, "at most %d ranks", MORE_RANKS);
	for (int r = 0; r < size; r++)
		for (int i = 0; i < NDATA; i++) {
			starpu_variable_data_register(&data[r][i], r == rank ? STARPU_MAIN_RAM : -1,
						      (uintptr_t) &elements[i], sizeof(int));
			starpu_mpi_data_register(data[r][i], r * NDATA + i, r);
		}
	CHECK_IS(pthread_create(&thread, NULL, follow, NULL), 0);
	for (int round = 0; round < ROUNDS; round++) {
		/* From less than a quantum to more than are put off at once. */
		foreign((unsigned) (round * 7919 + rank * 104729) % 6000);
		follows(round);
		say("after", round);
	}
	pthread_mutex_lock(&mutex);
	over = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	starpu_task_wait_for_all();
	foreign(5000);
	for (int r = 0; r < size; r++)
		for (int i = 0; i < NDATA; i++)
			starpu_data_unregister(data[r][i]);
	return end();
}
