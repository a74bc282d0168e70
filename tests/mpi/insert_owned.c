/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rank that has no part in a task frees the arguments that the task would have freed, however
 * many there are: here more than any task has, since the last one of each kind counts.
 *
 * Invariant: rank 0, which executes the tasks, is given none of them. */
#include "mpi_test.h"

#include <malloc.h>

enum { TASKS = 500, BYTES = 4096 };

static struct starpu_codelet cl = {
	.where = STARPU_NOWHERE, .nbuffers = 1, .modes = { STARPU_RW }, .name = "owns"
};

static void *block(void)
{
	void *p = malloc(BYTES);

	CHECK(p != NULL, "out of memory");
	memset(p, 1, BYTES);
	return p;
}

#define SIX \
	STARPU_CL_ARGS, block(), (size_t) BYTES, STARPU_CALLBACK_ARG, block(), \
		STARPU_CALLBACK_WITH_ARG, NULL, block(), STARPU_EPILOGUE_CALLBACK_ARG, block(), \
		STARPU_PROLOGUE_CALLBACK_ARG, block(), STARPU_PROLOGUE_CALLBACK_POP_ARG, block()

static void insert(starpu_data_handle_t h)
{
	if (rank == 0)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl, STARPU_EXECUTE_ON_NODE, 0, STARPU_RW,
					  h, STARPU_PRIORITY, 1, 0));
	else
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &cl, SIX, STARPU_EXECUTE_ON_NODE, 0, SIX,
					  STARPU_RW, h, SIX, STARPU_PRIORITY, 1, 0));
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;
	int x = 0;

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_variable_data_register(&h, rank == 0 ? STARPU_MAIN_RAM : -1, (uintptr_t) &x,
				      sizeof(x));
	starpu_mpi_data_register(h, 1, 0);
	insert(h);
	OK(starpu_task_wait_for_all());
	size_t before = mallinfo2().uordblks;
	for (int i = 0; i < TASKS; i++)
		insert(h);
	OK(starpu_task_wait_for_all());
	size_t after = mallinfo2().uordblks;
	/* One that is forgotten in each task would be 2 MiB. */
	CHECK(after < before + TASKS * BYTES / 2, "%zu bytes before, %zu after", before, after);
	starpu_data_unregister(h);
	return end();
}
