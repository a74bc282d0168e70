/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Things that each rank of a simulation holds (sim_memory.sh):
 *
 *     sim_memory handles N | foreign N | tasks N | messages N M
 *
 * handles: N data of the rank; foreign: N of the next rank; tasks: N that wait for one datum;
 * messages: N data, M of which are received from the rank before, while M messages are on the way
 * to the next one.
 *
 * Invariant: all of them exist at once, on all ranks: whoever ends them waits for a barrier. */
#include <starpu_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 1000000 /* of a message: it is still on its way when the last one begins */

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}
static struct starpu_codelet cl = { .cpu_funcs = { nothing },
				    .cpu_funcs_name = { "nothing" },
				    .nbuffers = 1,
				    .modes = { STARPU_RW } };

static char content[64]; /* of each datum: nobody looks at it (--kernels skip) */
static starpu_data_handle_t *handles;
static int n, me, size, next, before, nmessages;

static void registered(starpu_data_handle_t *h, int i, int owner, int bytes)
{
	int mine = owner == me;
	starpu_vector_data_register(h, mine ? STARPU_MAIN_RAM : -1, mine ? (uintptr_t) content : 0,
				    (uint32_t) bytes, 1);
	if (i >= 0)
		starpu_mpi_data_register(*h, (starpu_mpi_tag_t) i, owner);
}

static void unregistered(int of)
{
	for (int i = 0; i < of; i++)
		starpu_data_unregister_no_coherency(handles[i]);
}

static void hold_handles(int owner)
{
	for (int i = 0; i < n; i++)
		registered(&handles[i], owner * n + i, owner, 64);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	unregistered(n);
}

static void hold_tasks(void)
{
	registered(&handles[0], -1, me, 64);
	starpu_data_acquire(handles[0], STARPU_RW);
	for (int i = 0; i < n; i++)
		starpu_task_insert(&cl, STARPU_RW, handles[0], 0);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	starpu_data_release(handles[0]);
	starpu_task_wait_for_all();
	unregistered(1);
}

/* One datum goes, and another one comes, so many times; tags tell them apart. */
static void hold_messages(void)
{
	registered(&handles[0], -1, me, BYTES);
	for (int i = 0; i < n; i++)
		registered(&handles[1 + i], -1, me, BYTES);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	for (int i = 0; i < nmessages; i++)
		starpu_mpi_isend_detached(handles[0], next, i, MPI_COMM_WORLD, NULL, NULL);
	for (int i = 0; i < nmessages; i++)
		starpu_mpi_irecv_detached(handles[1 + i], before, i, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	unregistered(1 + n);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "handles";

	n = argc > 2 ? atoi(argv[2]) : 0;
	nmessages = argc > 3 ? atoi(argv[3]) : 0;
	if (nmessages > n)
		nmessages = n;
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	me = starpu_mpi_world_rank();
	size = starpu_mpi_world_size();
	next = (me + 1) % size;
	before = (me + size - 1) % size;
	handles = calloc((size_t) n + 1, sizeof(*handles));
	if (!handles)
		return 1;
	if (!strcmp(what, "handles"))
		hold_handles(me);
	else if (!strcmp(what, "foreign"))
		hold_handles(next);
	else if (!strcmp(what, "tasks"))
		hold_tasks();
	else
		hold_messages();
	free(handles);
	starpu_mpi_shutdown();
	return 0;
}
