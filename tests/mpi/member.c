/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels, callbacks and threads of a rank are that rank for MPI: they are told its number, its
 * names and attributes, and may communicate.
 *
 * orr-test: env STARPU_NCPU=2 STARPU_WORKERS_NOBIND=1
 * orr-test: simgrid private
 * orr-test: timeout 60 */
#include <pthread.h>
#include "mpi_test.h"

enum { TAG = 70, TASKS = 6 };

static MPI_Comm other;   /* the ranks backwards */
static MPI_Comm each[2]; /* one for each worker */
static int keyval, asked, sent;
static char processor[MPI_MAX_PROCESSOR_NAME];

/* Questions that a process asks without a message. */
static void ask(const char *where)
{
	char name[MPI_MAX_PROCESSOR_NAME > MPI_MAX_OBJECT_NAME ? MPI_MAX_PROCESSOR_NAME
							       : MPI_MAX_OBJECT_NAME];
	MPI_Group world, group;
	MPI_Datatype type;
	int number = -1, n = -1, flag = 0, length, ranks[1] = { 0 }, translated[1] = { -1 };
	int *value = NULL;

	OK(MPI_Initialized(&flag));
	CHECK(flag, "%s", where);
	OK(MPI_Is_thread_main(&flag));
	/* The main thread may call callbacks while it waits. */
	CHECK(!flag || strstr(where, "callback"), "%s is the main thread", where);
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &number));
	CHECK(number == rank, "%s: rank %d", where, number);
	OK(MPI_Comm_size(MPI_COMM_WORLD, &n));
	CHECK(n == size, "%s: size %d", where, n);
	OK(MPI_Comm_rank(MPI_COMM_SELF, &number));
	CHECK(number == 0, "%s: rank %d of itself", where, number);
	OK(MPI_Comm_rank(other, &number));
	CHECK(number == size - 1 - rank, "%s: rank %d backwards", where, number);
	OK(MPI_Comm_get_name(other, name, &length));
	CHECK(!strcmp(name, "backwards"), "%s: %s", where, name);
	OK(MPI_Get_processor_name(name, &length));
	CHECK(!strcmp(name, processor), "%s: %s, not %s", where, name, processor);
	OK(MPI_Comm_get_attr(other, keyval, &value, &flag));
	CHECK(flag && *value == rank, "%s: attribute", where);
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Comm_group(other, &group));
	OK(MPI_Group_rank(world, &number));
	CHECK(number == rank, "%s: rank %d of the group", where, number);
	OK(MPI_Group_translate_ranks(world, 1, ranks, group, translated));
	CHECK(translated[0] == size - 1, "%s: translated %d", where, translated[0]);
	OK(MPI_Group_free(&world));
	OK(MPI_Group_free(&group));
	OK(MPI_Type_vector(3, 2, 4, MPI_INT, &type));
	OK(MPI_Type_commit(&type));
	OK(MPI_Type_size(type, &n));
	CHECK(n == 6 * (int) sizeof(int), "%s: %d bytes", where, n);
	OK(MPI_Type_free(&type));
	CHECK(MPI_Wtime() >= 0 && MPI_Wtick() > 0, "%s", where);
	__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
}

/* A ring of messages, and a sum. All ranks come here with the same communicator and tag. */
static void communicate(MPI_Comm comm, int tag)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size, value = -1, sum = 0;
	MPI_Request requests[2];
	MPI_Status status, both[2];

	OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, tag, &value, 1, MPI_INT, from, tag, comm, &status));
	CHECK_IS(value, from);
	CHECK_IS(status.MPI_SOURCE, from);
	OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, &requests[0]));
	OK(MPI_Isend(&rank, 1, MPI_INT, to, tag, comm, &requests[1]));
	OK(MPI_Waitall(2, requests, both));
	CHECK_IS(value, from);
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
	CHECK_IS(sum, size * (size - 1) / 2);
	OK(MPI_Barrier(comm));
}

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	ask("kernel");
	communicate(each[starpu_worker_get_id()], TAG + starpu_worker_get_id());
	ask("kernel that has waited");
}

static void on_task(void *arg)
{
	(void) arg;
	ask("callback of a task");
}

/* The message is received by the program. */
static void on_message(void *arg)
{
	(void) arg;
	ask("callback of a message");
	OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, TAG + 9, MPI_COMM_WORLD));
	__atomic_add_fetch(&sent, 1, __ATOMIC_RELAXED);
}

static void *thread(void *arg)
{
	ask("thread");
	communicate(*(MPI_Comm *) arg, TAG + 5);
	ask("thread");
	return NULL;
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "asks" };

static void test_tasks(void)
{
	for (int i = 0; i < TASKS; i++) {
		struct starpu_task *t = starpu_task_create();

		t->cl = &cl;
		t->callback_func = on_task;
		t->execute_on_a_specific_worker = 1;
		t->workerid = (unsigned) (i % 2);
		OK(starpu_task_submit(t));
	}
	OK(starpu_task_wait_for_all());
	CHECK_IS(asked, 3 * TASKS);
}

static void test_message(void)
{
	starpu_data_handle_t in, out;
	int value = -1, from = (rank + size - 1) % size;

	new_int(&in);
	new_int(&out);
	set_int(out, rank);
	OK(starpu_mpi_irecv_detached(in, from, TAG, MPI_COMM_WORLD, on_message, NULL));
	OK(starpu_mpi_isend_detached(out, (rank + 1) % size, TAG, MPI_COMM_WORLD, NULL, NULL));
	OK(MPI_Recv(&value, 1, MPI_INT, from, TAG + 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK_IS(value, from);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK_IS(sent, 1);
	CHECK_IS(int_of(in), from);
	starpu_data_unregister(in);
	starpu_data_unregister(out);
}

static void test_threads(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		OK(pthread_create(&t[i], NULL, thread, &each[i]));
	for (int i = 0; i < 2; i++)
		OK(pthread_join(t[i], NULL));
}

int main(int argc, char **argv)
{
	int length, level;

	OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
	if (level < MPI_THREAD_MULTIPLE)
		return 77;
	OK(starpu_mpi_init_conf(NULL, NULL, 0, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	test_rank = rank;
	OK(MPI_Get_processor_name(processor, &length));
	OK(MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &other));
	OK(MPI_Comm_set_name(other, "backwards"));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
	OK(MPI_Comm_set_attr(other, keyval, &rank));
	for (int i = 0; i < 2; i++)
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &each[i]));
	OK(MPI_Query_thread(&level));
	CHECK_IS(level, MPI_THREAD_MULTIPLE);
	OK(MPI_Is_thread_main(&length));
	CHECK(length);
	test_tasks();
	test_message();
	test_threads();
	for (int i = 0; i < 2; i++)
		OK(MPI_Comm_free(&each[i]));
	OK(MPI_Comm_free(&other));
	OK(starpu_mpi_shutdown());
	MPI_Finalize();
	return 0;
}
