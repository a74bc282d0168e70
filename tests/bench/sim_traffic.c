/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages without tasks, for sim_network.sh: `broadcast`, `alltoall` or `random`, the size of a
 * message in KiB, and how many each rank sends (random). Prints the time from the first to the
 * last.
 *
 * broadcast: a binomial tree of messages, several data one after the other. alltoall: each rank
 * sends to each other one. random: each rank sends to others drawn at random, four at a time.
 * orr-bench: sim -n 8 --network share --quiet */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_mpi.h>

static int rank, size, n;
static uint32_t bytes;
static starpu_data_handle_t *out, *in;

/* The same numbers on all ranks. */
static uint64_t draw(uint64_t x)
{
	x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
	x ^= x >> 27;
	x *= 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static void *check(void *p)
{
	if (!p) {
		fprintf(stderr, "sim_traffic: out of memory\n");
		exit(1);
	}
	return p;
}

/* Where message i of rank r goes. */
static int target(int r, int i)
{
	int to = (int) (draw((uint64_t) r << 32 | (unsigned) i) % (unsigned) (size - 1));
	return to < r ? to : to + 1;
}

static starpu_data_handle_t new_datum(void)
{
	starpu_data_handle_t h;
	starpu_vector_data_register(&h, -1, 0, bytes, 1);
	return h;
}

static void fill(starpu_data_handle_t h)
{
	starpu_data_acquire(h, STARPU_W);
	starpu_data_release(h);
}

static void send_to(starpu_data_handle_t h, int to, int tag)
{
	starpu_mpi_isend_detached(h, to, tag, MPI_COMM_WORLD, NULL, NULL);
}

static void receive_from(starpu_data_handle_t h, int from, int tag)
{
	starpu_mpi_irecv_detached(h, from, tag, MPI_COMM_WORLD, NULL, NULL);
}

static void broadcast(void)
{
	for (int i = 0; i < n; i++) {
		int bit = 1;
		for (; bit < size && !(rank & bit); bit *= 2)
			;
		if (rank)
			receive_from(out[i], rank - bit, i);
		for (bit /= 2; bit; bit /= 2)
			if (rank + bit < size)
				send_to(out[i], rank + bit, i);
	}
}

static void all_to_all(void)
{
	for (int i = 1; i < size; i++) {
		int to = (rank + i) % size, from = (rank + size - i) % size;
		in[i - 1] = new_datum();
		receive_from(in[i - 1], from, 0);
		send_to(out[0], to, 0);
	}
}

static void random_pairs(void)
{
	for (int r = 0; r < size; r++)
		for (int i = 0; r != rank && i < n; i++)
			if (target(r, i) == rank) {
				in[i * size + r] = new_datum();
				receive_from(in[i * size + r], r, i);
			}
	for (int i = 0; i < n; i++)
		send_to(out[i], target(rank, i), i);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "random";
	bytes = (uint32_t) (argc > 2 ? atoi(argv[2]) : 256) * 1024;
	n = argc > 3 ? atoi(argv[3]) : 8;
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (size < 2 || n < 1)
		return 77;
	out = check(calloc((size_t) n, sizeof(*out)));
	in = check(calloc((size_t) n * (size_t) size, sizeof(*in)));
	for (int i = 0; i < n; i++) {
		out[i] = new_datum();
		if (strcmp(what, "broadcast") || !rank)
			fill(out[i]);
	}
	starpu_mpi_barrier(MPI_COMM_WORLD);
	double start_us = starpu_timing_now();
	if (!strcmp(what, "broadcast"))
		broadcast();
	else if (!strcmp(what, "alltoall"))
		all_to_all();
	else
		random_pairs();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("sim_traffic %s %u bytes %d ranks: time_s=%.9f\n", what, bytes, size,
		       (starpu_timing_now() - start_us) * 1e-6);
	for (int i = 0; i < n; i++)
		starpu_data_unregister(out[i]);
	for (int i = 0; i < n * size; i++)
		if (in[i])
			starpu_data_unregister(in[i]);
	free(out);
	free(in);
	starpu_mpi_shutdown();
	return 0;
}
