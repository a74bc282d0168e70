/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The times of collective operations, in microseconds, and whether these are right, for
 * collectives.sh. Without an argument, a broadcast of 16 MiB from rank 0; with one, the operation
 * of that name, `first' (the first broadcast), or all, for sizes from 8 bytes to 16 MiB (`small':
 * to 64 KiB): lines OPERATION RANKS BYTES MICROSECONDS. Where each rank has a part of the data of
 * its own, the bytes are those of all parts. */
#include <math.h>
#include <time.h>
#include "../mpi/mpi_test.h"

#define SIZE (16 << 20)

/* An operation with sums has no bytes: sums is the memory of received. */
static unsigned char *sent, *received;
static double *terms, *sums;

enum operation {
	BCAST,
	REDUCE,
	ALLREDUCE,
	GATHER,
	SCATTER,
	ALLGATHER,
	ALLTOALL,
	GATHERV,
	SCATTERV,
	ALLGATHERV,
	ALLTOALLV,
	REDUCE_SCATTER,
	REDUCE_SCATTERV,
	SCAN,
	BARRIER
};
static const char *const names[] = { "bcast",           "reduce",     "allreduce", "gather",
				     "scatter",         "allgather",  "alltoall",  "gatherv",
				     "scatterv",        "allgatherv", "alltoallv", "reduce_scatter",
				     "reduce_scatterv", "scan",       "barrier" };

static int in_parts(enum operation o)
{
	return o >= GATHER && o <= REDUCE_SCATTERV;
}

static int of_bytes(enum operation o)
{
	return o == BCAST || (o >= GATHER && o <= ALLTOALLV);
}

/* The operation with parts of one size that does the same. */
static enum operation plain(enum operation o)
{
	if (o >= GATHERV && o <= ALLTOALLV)
		return (enum operation)(o - GATHERV + GATHER);
	return o == REDUCE_SCATTERV ? REDUCE_SCATTER : o;
}

/* The byte that rank `from` sends to rank `to`. */
static unsigned char mark(int from, int to)
{
	return (unsigned char) (1 + from * 7 + to * 13);
}

static void fill(enum operation o, int part)
{
	o = plain(o);
	memset(received, 0, (size_t) part * (size_t) size);
	for (int to = 0; to < size; to++)
		memset(sent + (size_t) to * (size_t) part,
		       mark(rank, o == ALLTOALL || o == SCATTER ? to : 0), (size_t) part);
}

/* Those with a number for each rank. */
static void run_v(enum operation o, int bytes)
{
	int part = bytes / size, *counts = malloc(2 * (size_t) size * sizeof(*counts));
	int *places = counts + size;

	CHECK(counts, "no memory");
	for (int i = 0; i < size; i++) {
		counts[i] = o == REDUCE_SCATTERV ? part / (int) sizeof(double) : part;
		places[i] = i * part;
	}
	if (o == GATHERV)
		MPI_Gatherv(sent, part, MPI_BYTE, received, counts, places, MPI_BYTE, 0,
			    MPI_COMM_WORLD);
	if (o == SCATTERV)
		MPI_Scatterv(sent, counts, places, MPI_BYTE, received, part, MPI_BYTE, 0,
			     MPI_COMM_WORLD);
	if (o == ALLGATHERV)
		MPI_Allgatherv(sent, part, MPI_BYTE, received, counts, places, MPI_BYTE,
			       MPI_COMM_WORLD);
	if (o == ALLTOALLV)
		MPI_Alltoallv(sent, counts, places, MPI_BYTE, received, counts, places, MPI_BYTE,
			      MPI_COMM_WORLD);
	if (o == REDUCE_SCATTERV)
		MPI_Reduce_scatter(terms, sums, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	free(counts);
}

static void run(enum operation o, int bytes)
{
	int n = bytes / (int) sizeof(double), each = in_parts(o) ? n / size : n;
	switch (o) {
	case BCAST: MPI_Bcast(received, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); break;
	case REDUCE: MPI_Reduce(terms, sums, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); break;
	case ALLREDUCE: MPI_Allreduce(terms, sums, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
	case SCAN: MPI_Scan(terms, sums, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
	case REDUCE_SCATTER:
		MPI_Reduce_scatter_block(terms, sums, each, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		break;
	case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
	default: run_v(o, bytes);
	}
	int part = bytes / size;
	if (o == GATHER)
		MPI_Gather(sent, part, MPI_BYTE, received, part, MPI_BYTE, 0, MPI_COMM_WORLD);
	if (o == SCATTER)
		MPI_Scatter(sent, part, MPI_BYTE, received, part, MPI_BYTE, 0, MPI_COMM_WORLD);
	if (o == ALLGATHER)
		MPI_Allgather(sent, part, MPI_BYTE, received, part, MPI_BYTE, MPI_COMM_WORLD);
	if (o == ALLTOALL)
		MPI_Alltoall(sent, part, MPI_BYTE, received, part, MPI_BYTE, MPI_COMM_WORLD);
}

static void check_sums(enum operation o, int bytes)
{
	o = plain(o);
	int n = bytes / (int) sizeof(double), each = o == REDUCE_SCATTER ? n / size : n;
	int first = o == REDUCE_SCATTER ? rank * each : 0, ranks = o == SCAN ? rank + 1 : size;
	if (o == REDUCE && rank != 0)
		return;
	for (int i = 0; i < each; i++) {
		double want = ranks * (double) ((first + i) % 1000) + ranks * (ranks - 1) / 2.0;
		CHECK(sums[i] == want, "%s of %d bytes: element %d is %g, not %g", names[o], bytes,
		      i, sums[i], want);
	}
}

static void check_bytes(enum operation o, int bytes)
{
	o = plain(o);
	int part = bytes / size, parts = o == BCAST || o == SCATTER ? 1 : size;
	if (o == GATHER && rank != 0)
		return;
	for (int from = 0; from < parts; from++) {
		unsigned char want = o == BCAST
					     ? mark(0, 0)
					     : mark(from, o == ALLTOALL || o == SCATTER ? rank : 0);
		int first = from * part, last = first + (o == BCAST ? bytes : part) - 1;
		CHECK(received[first] == want && received[last] == want,
		      "%s of %d bytes: rank %d has not what rank %d sent", names[o], bytes, rank,
		      from);
	}
}

/* Waits until a time that is the same on all ranks. */
static void begin_together(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	double now = MPI_Wtime(), next = (floor(now * 100) + 2) / 100;
	struct timespec t = { 0, (long) ((next - now) * 1e9) };
	nanosleep(&t, NULL);
}

static void measure(enum operation o, int bytes)
{
	double mine, last;
	if (bytes / size < 8 && o != BARRIER)
		return;
	if (in_parts(o))
		bytes = bytes / size / 8 * 8 * size;
	if (of_bytes(o))
		fill(o, bytes / size);
	else
		memset(sums, 0, (size_t) bytes);
	if (o == BCAST && rank == 0)
		memset(received, mark(0, 0), (size_t) bytes);
	/* The first one of all may take longer (measure_first()), however small it is. */
	run(o, 8 * size);
	begin_together();
	double start = MPI_Wtime();
	run(o, bytes);
	mine = MPI_Wtime() - start;
	if (of_bytes(o))
		check_bytes(o, bytes);
	else if (o != BARRIER)
		check_sums(o, bytes);
	MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s %d %d %.3f\n", names[o], size, bytes, last * 1e6);
}

static void measure_all(const char *name)
{
	static const int sizes[] = { 8, 1024, 65536, 1 << 20, SIZE };
	int small = strcmp(name, "small") == 0;
	for (enum operation o = BCAST; o <= BARRIER; o++)
		for (size_t i = 0; i < (small ? 3 : sizeof(sizes) / sizeof(*sizes)); i++)
			if ((small || strcmp(name, "all") == 0 || strcmp(name, names[o]) == 0) &&
			    (o != BARRIER || i == 0))
				measure(o, sizes[i]);
}

/* The first broadcast of a run, and the second one: SMPI finds out before the first one which ranks
 * share a node. */
static void measure_first(void)
{
	double us[2], last[2];
	for (int i = 0; i < 2; i++) {
		begin_together();
		double start = MPI_Wtime();
		MPI_Bcast(received, 4, MPI_BYTE, 0, MPI_COMM_WORLD);
		us[i] = (MPI_Wtime() - start) * 1e6;
	}
	MPI_Reduce(us, last, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("first %.3f us, second %.3f us\n", last[0], last[1]);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	/* A hundred ranks would fill gigabytes that they have no use for. */
	size_t needed = argc > 1 && strcmp(argv[1], "small") == 0 ? 65536 : SIZE;
	sent = malloc(SIZE);
	received = malloc(SIZE);
	terms = malloc(SIZE);
	CHECK(sent && received && terms, "no memory");
	sums = (double *) (void *) received;
	if (argc > 1 && strcmp(argv[1], "first") && strcmp(argv[1], "barrier"))
		for (size_t i = 0; i < needed / sizeof(double); i++)
			terms[i] = rank + (double) (i % 1000);
	if (argc > 1 && strcmp(argv[1], "first") == 0) {
		measure_first();
	} else if (argc > 1) {
		measure_all(argv[1]);
	} else {
		memset(received, rank == 0 ? 7 : 0, SIZE);
		MPI_Barrier(MPI_COMM_WORLD);
		double start = MPI_Wtime(), last, mine;
		MPI_Bcast(received, SIZE, MPI_BYTE, 0, MPI_COMM_WORLD);
		mine = MPI_Wtime() - start;
		CHECK(received[0] == 7 && received[SIZE - 1] == 7, "rank %d has not received",
		      rank);
		MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
		if (rank == 0)
			printf("broadcast %.0f us\n", last * 1e6);
	}
	free(sent);
	free(received);
	free(terms);
	return end();
}
