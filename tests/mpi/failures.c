/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that fails in the way that its argument names (failures.sh): `long' works until it is
 * interrupted, `crash' has a kernel that crashes on the last rank, `value' inserts a task there
 * with a number where the address of a value should be, `deadlock' leaves out one message of a ring
 * that all others wait for; alone, a task waits for a tag that nothing fires.
 * Without an argument it ends well. */
#include <unistd.h>

#include "mpi_test.h"

static int *volatile nowhere;
static const volatile intptr_t a_number = 123456789;

__attribute__((noinline)) static void store_at(int *at)
{
	*at = 1;
}

static void cpu_faulty(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	store_at(nowhere);
	puts("the kernel goes on"); /* so that the call is no jump */
}

static void cpu_add(void *buffers[], void *arg)
{
	(void) arg;
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
	usleep(1000);
}

static struct starpu_codelet faulty_cl = { .cpu_funcs = { cpu_faulty },
					   .cpu_funcs_name = { "cpu_faulty" },
					   .nbuffers = 1,
					   .modes = { STARPU_RW },
					   .name = "faulty" };
static struct starpu_codelet add_cl = {
	.cpu_funcs = { cpu_add }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "add"
};

/* Value i comes from the rank before and goes to the one behind. */
static void ring(starpu_data_handle_t h)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;

	if (size == 1) {
		starpu_tag_declare_deps(1, 1, (starpu_tag_t) 2);
		OK(starpu_task_insert(&add_cl, STARPU_TAG, (starpu_tag_t) 1, STARPU_RW, h, 0));
		return;
	}
	if (rank != 0) {
		OK(starpu_mpi_irecv_detached(h, before, rank, MPI_COMM_WORLD, NULL, NULL));
		OK(starpu_task_insert(&add_cl, STARPU_RW, h, 0));
		OK(starpu_mpi_isend_detached(h, next, next ? next : size, MPI_COMM_WORLD, NULL,
					     NULL));
	} else {
		OK(starpu_mpi_irecv_detached(h, before, size, MPI_COMM_WORLD, NULL, NULL));
	}
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;
	const char *how = argc > 1 ? argv[1] : "";

	int ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret)
		return 3;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	new_int(&h);
	starpu_data_set_name(h, "value");
	set_int(h, 0);
	for (long i = 0; !strcmp(how, "long") && i < 1000000; i++) {
		if (i == 10 && rank == 0) {
			puts("it goes on");
			fflush(stdout);
		}
		OK(starpu_task_insert(&add_cl, STARPU_RW, h, 0));
		OK(starpu_task_wait_for_all());
	}
	if (!strcmp(how, "crash") && rank == size - 1)
		OK(starpu_task_insert(&faulty_cl, STARPU_RW, h, STARPU_NAME, "column 3", 0));
	if (!strcmp(how, "value") && rank == size - 1) {
		starpu_mpi_data_register(h, 0, rank);
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &add_cl, STARPU_RW, h, STARPU_VALUE,
					  (int *) a_number, sizeof(int), 0));
	}
	if (!strcmp(how, "deadlock") || !strcmp(how, "end"))
		ring(h);
	if (!strcmp(how, "deadlock"))
		OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	starpu_data_unregister_submit(h);
	return end();
}
