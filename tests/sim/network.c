/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arrivals of messages that start together, in microseconds: for network.sh, which chooses the
 * model of the network. Arguments: SOURCE DEST KIB of each message, then perhaps `typed`: the
 * receivers store the numbers two apart, so that they are no plain bytes. */
#include <unistd.h>
#include "../mpi/mpi_test.h"

#define MOST 16
#define START_US 1e6 /* virtual time; a barrier ends at different times */

static struct message {
	int source, dest, stride;
	size_t n;
	int *data;
	starpu_data_handle_t handle;
	double end_us;
} messages[MOST];
static int nmessages;

static void arrived(void *arg)
{
	struct message *m = arg;
	m->end_us = starpu_timing_now();
}

static void read_arguments(int argc, char **argv)
{
	int typed = argc > 1 && !strcmp(argv[argc - 1], "typed");
	for (int i = 1; i + 2 < argc && nmessages < MOST; i += 3) {
		struct message *m = &messages[nmessages++];
		m->source = atoi(argv[i]);
		m->dest = atoi(argv[i + 1]);
		m->n = (size_t) atoi(argv[i + 2]) * 1024 / sizeof(int);
		m->stride = typed && m->dest == rank ? 2 : 1;
	}
	CHECK(nmessages > 0, "no messages");
}

static void register_data(struct message *m)
{
	m->data = malloc(m->n * (size_t) m->stride * sizeof(int));
	CHECK(m->data, "no memory");
	for (size_t i = 0; i < m->n; i++)
		m->data[i * (size_t) m->stride] = rank == m->source ? (int) i + m->source : -1;
	starpu_matrix_data_register(&m->handle, STARPU_MAIN_RAM, (uintptr_t) m->data,
				    (uint32_t) m->stride, 1, (uint32_t) m->n, sizeof(int));
}

static void start(struct message *m, int tag)
{
	if (rank == m->source)
		starpu_mpi_isend_detached(m->handle, m->dest, tag, MPI_COMM_WORLD, NULL, NULL);
	if (rank == m->dest)
		starpu_mpi_irecv_detached(m->handle, m->source, tag, MPI_COMM_WORLD, arrived, m);
}

static void check(struct message *m, int i, double start_us)
{
	if (rank == m->dest)
		printf("message %d %.1f us\n", i, m->end_us - start_us);
	starpu_data_unregister(m->handle);
	for (size_t k = 0; rank == m->dest && k < m->n; k++)
		CHECK(m->data[k * (size_t) m->stride] == (int) k + m->source,
		      "message %d: number %zu is %d", i, k, m->data[k * (size_t) m->stride]);
	free(m->data);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	read_arguments(argc, argv);
	for (int i = 0; i < nmessages; i++)
		if (rank == messages[i].source || rank == messages[i].dest)
			register_data(&messages[i]);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	double start_us = START_US;
	CHECK(starpu_timing_now() < start_us, "it is late");
	usleep((useconds_t) (start_us - starpu_timing_now()));
	for (int i = 0; i < nmessages; i++)
		start(&messages[i], i);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	for (int i = 0; i < nmessages; i++)
		if (rank == messages[i].source || rank == messages[i].dest)
			check(&messages[i], i, start_us);
	return end();
}
