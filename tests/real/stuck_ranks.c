/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stuck_ranks CASE: all ranks wait for what never comes (circle, barrier, end, synchronous, self,
 * tags, many), or something acts later: all other ranks wait for it in the runtime, for longer than
 * the time after which they ask each other, and the program ends well. Case later is all of the
 * second kind. Driven by stuck_ranks.sh.
 *
 * A message with the number LATE leaves late, whoever sends it: this program's MPI_Isend keeps it
 * for a while. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "mpi/mpi_test.h"

#define LATER_US 600000
#define LATE 0x1a7e1a7e
#define LAST (size - 1)

static starpu_data_handle_t value;
static starpu_tag_t tag = 100; /* of each case another one */

/* ---- messages that leave late ---- */

/* One of them, and when it leaves; 0: none is kept. */
static struct {
	char bytes[256];
	int count, dest, number;
	MPI_Datatype type;
	MPI_Comm comm;
	double leaves;
} kept;

static int nothing_status(void *state, MPI_Status *status)
{
	(void) state;
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	MPI_Status_set_cancelled(status, 0);
	return MPI_SUCCESS;
}

static int nothing_free(void *state)
{
	(void) state;
	return MPI_SUCCESS;
}

static int nothing_cancel(void *state, int complete)
{
	(void) state;
	(void) complete;
	return MPI_SUCCESS;
}

static int is_late(const void *buf, int count)
{
	int late = LATE;

	return count <= (int) sizeof(kept.bytes) &&
	       memmem(buf, (size_t) count, &late, sizeof(late));
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int number, MPI_Comm comm,
	      MPI_Request *request)
{
	if (type != MPI_BYTE || kept.leaves != 0 || !is_late(buf, count))
		return PMPI_Isend(buf, count, type, dest, number, comm, request);
	memcpy(kept.bytes, buf, (size_t) count);
	kept.count = count;
	kept.type = type;
	kept.dest = dest;
	kept.number = number;
	kept.comm = comm;
	kept.leaves = MPI_Wtime() + LATER_US * 1e-6;
	MPI_Grequest_start(nothing_status, nothing_free, nothing_cancel, NULL, request);
	return MPI_Grequest_complete(*request);
}

/* The engine polls with it. */
int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	if (kept.leaves > 0 && MPI_Wtime() > kept.leaves) {
		MPI_Request request;
		PMPI_Isend(kept.bytes, kept.count, kept.type, kept.dest, kept.number, kept.comm,
			   &request);
		MPI_Request_free(&request);
		kept.leaves = -1;
	}
	return PMPI_Testany(count, requests, index, flag, status);
}

/* ---- what waits for ever ---- */

static void wait_for_value(int source, int number)
{
	OK(starpu_mpi_recv(value, source, number, MPI_COMM_WORLD, NULL));
}

static void circle(void)
{
	wait_for_value((rank + 1) % size, 7);
}

/* Rank 0 has left out a message, and is at a barrier, or at the end. */
static void left_out(int at_end)
{
	if (rank)
		wait_for_value(0, 7);
	else if (!at_end)
		OK(starpu_mpi_barrier(MPI_COMM_WORLD));
}

/* The message is there, with another tag; its sender waits until somebody takes it. */
static void synchronous(void)
{
	starpu_mpi_req request;

	if (rank == 0) {
		set_int(value, 1);
		OK(starpu_mpi_issend(value, &request, LAST, 5, MPI_COMM_WORLD));
		OK(starpu_mpi_wait(&request, MPI_STATUS_IGNORE));
	} else {
		wait_for_value(0, 7);
	}
}

static void self(void)
{
	wait_for_value(rank, 7);
}

static void tags(void)
{
	OK(starpu_tag_wait((starpu_tag_t) 17 + (starpu_tag_t) rank));
}

/* More receives and sends than a rank tells of. */
static void many(void)
{
	int n = 3000;
	starpu_data_handle_t h;

	for (int i = 0; i < n; i++) {
		new_int(&h);
		OK(starpu_mpi_irecv_detached(h, (rank + 1) % size, i, MPI_COMM_WORLD, NULL, NULL));
		OK(starpu_mpi_isend_detached(h, (rank + size - 1) % size, n + i, MPI_COMM_WORLD,
					     NULL, NULL));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
}

/* ---- what goes on ---- */

/* The value goes from rank 0 to all others. */
static void spread(int number)
{
	if (rank) {
		for (int n = number == LATE ? 2 : 1; n; n--)
			wait_for_value(0, 7);
		return;
	}
	set_int(value, number);
	for (int n = number == LATE ? 2 : 1; n; n--)
		for (int i = 1; i < size; i++)
			OK(starpu_mpi_isend_detached(value, i, 7, MPI_COMM_WORLD, NULL, NULL));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
}

static void computes(void)
{
	if (rank == 0)
		usleep(LATER_US);
	spread(1);
}

static void slow(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	usleep(LATER_US);
}

static struct starpu_codelet slow_cl = {
	.cpu_funcs = { slow }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "slow"
};

static void kernel(void)
{
	if (rank == 0) {
		set_int(value, 1);
		OK(starpu_task_insert(&slow_cl, STARPU_RW, value, 0));
	}
	for (int i = 1; i < size; i++)
		if (rank == 0)
			OK(starpu_mpi_isend_detached(value, i, 7, MPI_COMM_WORLD, NULL, NULL));
	if (rank)
		wait_for_value(0, 7);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
}

static void slow_callback(void *arg)
{
	(void) arg;
	usleep(LATER_US);
	starpu_tag_notify_from_apps(tag);
}

/* The callback of a message, which the engine's thread runs, or the one that waits. */
static void callback(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;

	set_int(value, 1);
	starpu_data_handle_t other;
	new_int(&other);
	OK(starpu_mpi_irecv_detached(other, before, 3, MPI_COMM_WORLD, rank ? NULL : slow_callback,
				     NULL));
	OK(starpu_mpi_isend_detached(value, next, 3, MPI_COMM_WORLD, NULL, NULL));
	if (rank == 0)
		OK(starpu_tag_wait(tag));
	starpu_data_unregister(other);
	spread(1);
}

static void *notifies(void *arg)
{
	slow_callback(arg);
	return NULL;
}

static void thread(void)
{
	pthread_t other;

	if (rank == 0) {
		OK(pthread_create(&other, NULL, notifies, NULL));
		OK(starpu_tag_wait(tag));
		OK(pthread_join(other, NULL));
	}
	spread(1);
}

/* Of this test alone: the thread that it interrupts sleeps without a lock. */
static void on_alarm(int sig)
{
	(void) sig;
	starpu_tag_notify_from_apps(tag);
}

static void timer(int posix)
{
	struct itimerval in = { .it_value = { .tv_sec = LATER_US / 1000000,
					      .tv_usec = LATER_US % 1000000 } };
	struct itimerspec at = { .it_value = { .tv_sec = LATER_US / 1000000,
					       .tv_nsec = LATER_US % 1000000 * 1000L } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	timer_t id;

	if (rank == 0) {
		signal(SIGALRM, on_alarm);
		if (posix) {
			OK(timer_create(CLOCK_MONOTONIC, &event, &id));
			OK(timer_settime(id, 0, &at, NULL));
		} else {
			OK(setitimer(ITIMER_REAL, &in, NULL));
		}
		OK(starpu_tag_wait(tag));
		if (posix)
			OK(timer_delete(id));
	}
	spread(1);
}

/* The first message to rank 1 overtakes nothing, but leaves late. */
static void delayed(void)
{
	spread(LATE);
}

/* Rank 0 waits in MPI for the last rank, whose message leaves late: that rank is in the runtime. */
static void plain(void)
{
	int number = LATE;
	MPI_Request request = MPI_REQUEST_NULL;

	if (rank == LAST)
		MPI_Isend(&number, sizeof(number), MPI_BYTE, 0, 9, MPI_COMM_WORLD, &request);
	if (rank == 0)
		MPI_Recv(&number, sizeof(number), MPI_BYTE, LAST, 9, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	spread(1);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void polls(void)
{
	starpu_mpi_req request;
	int over = 0;
	double begin = MPI_Wtime();

	if (rank == 0) {
		/* Nobody has sent that: the program does something else. */
		OK(starpu_mpi_irecv(value, &request, LAST, 7, MPI_COMM_WORLD));
		while (MPI_Wtime() < begin + LATER_US * 1e-6)
			OK(starpu_mpi_test(&request, &over, MPI_STATUS_IGNORE));
		starpu_data_handle_t other;
		new_int(&other);
		set_int(other, 1);
		for (int i = 1; i < size; i++)
			OK(starpu_mpi_send(other, i, 7, MPI_COMM_WORLD));
		starpu_data_unregister(other);
		OK(starpu_mpi_wait(&request, MPI_STATUS_IGNORE));
	} else {
		wait_for_value(0, 7);
		if (rank == LAST)
			OK(starpu_mpi_send(value, 0, 7, MPI_COMM_WORLD));
	}
}

/* A receive that no message comes for does not keep the program from its end. */
static void unmatched(void)
{
	starpu_data_handle_t other;

	new_int(&other);
	if (rank == LAST)
		OK(starpu_mpi_irecv_detached(other, 0, 11, MPI_COMM_WORLD, NULL, NULL));
	starpu_data_unregister_submit(other);
}

/* Many quick exchanges. */
static void busy(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	starpu_data_handle_t other;

	new_int(&other);
	set_int(value, 1);
	for (int i = 0; i < 3000; i++) {
		OK(starpu_mpi_isend_detached(value, next, i, MPI_COMM_WORLD, NULL, NULL));
		OK(starpu_mpi_irecv_detached(other, before, i, MPI_COMM_WORLD, NULL, NULL));
		OK(starpu_task_insert(&increment_cl, STARPU_RW, other, 0));
		if (i % 7 == 0)
			OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
		if (i % 77 == 0)
			OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	}
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	starpu_data_unregister(other);
}

static void end_early(void)
{
	left_out(1);
}

static void at_barrier(void)
{
	left_out(0);
}

static void interval(void)
{
	timer(0);
}

static void clock_timer(void)
{
	timer(1);
}

/* Those with goes_on = 1 make up the case "later". */
static const struct {
	const char *name;
	void (*run)(void);
	int goes_on;
} cases[] = {
	{ "circle", circle, 0 },     { "barrier", at_barrier, 0 },
	{ "end", end_early, 0 },     { "synchronous", synchronous, 0 },
	{ "self", self, 0 },         { "tags", tags, 0 },
	{ "many", many, 0 },         { "computes", computes, 1 },
	{ "kernel", kernel, 1 },     { "callback", callback, 1 },
	{ "thread", thread, 1 },     { "timer", interval, 1 },
	{ "clock", clock_timer, 1 }, { "delayed", delayed, 1 },
	{ "plain", plain, 1 },       { "polls", polls, 1 },
	{ "busy", busy, 1 },         { "unmatched", unmatched, 1 },
};

static int is_meant(size_t i, const char *name)
{
	return !strcmp(cases[i].name, name) || (cases[i].goes_on && !strcmp(name, "later"));
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "later";

	if (!begin(&argc, &argv, 1))
		return 77;
	double begun = MPI_Wtime();
	new_int(&value);
	starpu_data_set_name(value, "value");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!is_meant(i, name))
			continue;
		if (rank == 0)
			fprintf(stderr, "%s at %.3f s\n", cases[i].name, MPI_Wtime() - begun);
		kept.leaves = 0;
		tag++;
		cases[i].run();
		if (cases[i].goes_on)
			OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	}
	starpu_data_unregister(value);
	return end();
}
