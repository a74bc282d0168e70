/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-calibrate-mpi: what the MPI layer and the network cost. One measurement per start, by its argument:
 *
 *	foreign		foreign_us: inserting a task in which this rank has no part (one process, which believes to be one of many)
 *	message		message_us: what the runtime adds to a message, 2 processes
 *	interrupt	interrupt_us: what a message takes from a worker that has no core beside its own for it; 2 processes, each bound to
 *			one core, one worker each
 *	network		"net SIZE MICROSECONDS" lines: half round trips of plain MPI, 2 processes; "copy" and "touch", microseconds per MiB:
 *			receiving into memory that was used before, and what memory never used adds
 * Prints lines "NAME VALUE" on rank 0. Invariant: best of several rounds, as in calibrate_node.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <starpu_mpi.h>

enum { NT = 48, ROUNDS = 15, NMSG = 500 };
static int rank, size;

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet cl = { .cpu_funcs = { nothing }, .nbuffers = 3, .modes = { STARPU_R, STARPU_R, STARPU_RW }, .name = "empty" };

/* ---- foreign tasks: a matrix product over a square grid of ranks ---- */

static starpu_data_handle_t tile[NT][NT];

static int owner(int p, int i, int j)
{
	return i % p * p + j % p;
}

static double foreign_round(int p)
{
	double start = starpu_timing_now();
	long n = 0;
	for (int i = 0; i < NT; i++) {
		for (int j = 0; j < NT; j++) {
			int k = (i + j) % NT;
			if (owner(p, i, j) == rank || owner(p, i, k) == rank || owner(p, k, j) == rank)
				continue;
			starpu_mpi_task_insert(MPI_COMM_WORLD, &cl, STARPU_R, tile[i][k], STARPU_R, tile[k][j], STARPU_RW, tile[i][j], 0);
			n++;
		}
	}
	return (starpu_timing_now() - start) / (double) n;
}

static int measure_foreign(void)
{
	double best = 1e30;
	int p = 1;
	if (size < 4) {
		fputs("orrery-calibrate-mpi foreign: set STARPU_MPI_FAKE_RANK and STARPU_MPI_FAKE_SIZE to a rank of 16 or more\n", stderr);
		return 1;
	}
	while ((p + 1) * (p + 1) <= size)
		p++;
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++) {
			starpu_variable_data_register(&tile[i][j], -1, 0, sizeof(double));
			starpu_mpi_data_register(tile[i][j], i * NT + j, owner(p, i, j));
		}
	for (int r = 0; r < ROUNDS; r++) {
		double us = foreign_round(p);
		best = us < best ? us : best;
	}
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++)
			starpu_data_unregister(tile[i][j]);
	printf("foreign_us %.4f\n", best);
	return 0;
}

/* ---- messages: a stream from rank 0 to rank 1, by the runtime and by MPI itself ---- */

static int payload[NMSG];

static double runtime_round(starpu_data_handle_t *h)
{
	starpu_mpi_barrier(MPI_COMM_WORLD);
	double start = starpu_timing_now();
	for (int i = 0; i < NMSG; i++) {
		if (rank == 0)
			starpu_mpi_isend_detached(h[i], 1, i, MPI_COMM_WORLD, NULL, NULL);
		else
			starpu_mpi_irecv_detached(h[i], 0, i, MPI_COMM_WORLD, NULL, NULL);
	}
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	return (starpu_timing_now() - start) / NMSG;
}

static double raw_round(void)
{
	MPI_Request r[NMSG];
	MPI_Barrier(MPI_COMM_WORLD);
	double start = starpu_timing_now();
	for (int i = 0; i < NMSG; i++) {
		if (rank == 0)
			MPI_Isend(&payload[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &r[i]);
		else
			MPI_Irecv(&payload[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
	}
	MPI_Waitall(NMSG, r, MPI_STATUSES_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	return (starpu_timing_now() - start) / NMSG;
}

static int measure_message(void)
{
	starpu_data_handle_t h[NMSG];
	double runtime = 1e30, raw = 1e30;
	for (int i = 0; i < NMSG; i++)
		starpu_variable_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) &payload[i], sizeof(int));
	for (int r = 0; r < ROUNDS; r++) {
		double a = runtime_round(h), b = raw_round();
		runtime = a < runtime ? a : runtime;
		raw = b < raw ? b : raw;
	}
	for (int i = 0; i < NMSG; i++)
		starpu_data_unregister(h[i]);
	if (rank == 0)
		printf("message_us %.4f\n", runtime > 1.05 * raw ? runtime - raw : 0.05 * raw);
	return 0;
}

/* ---- messages that a worker has to make room for ---- */

enum { TURNS = 40, TASKS = 16, TALKING = 8, WORK_US = 50 };

static long work_steps;

/* Computes without memory for as long as work_steps says: whoever takes the core meanwhile makes it last longer. */
static void work(void *buffers[], void *arg)
{
	volatile double x = 1;
	(void) buffers;
	(void) arg;
	for (long i = 0; i < work_steps; i++)
		x = x * 0.999 + 0.001;
}

static struct starpu_codelet work_cl = { .cpu_funcs = { work }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .name = "work" };

/* Tasks of both ranks in turns; the first `talking` of each turn wait for what the other rank did in the turn before. */
static double turns_us(starpu_data_handle_t h[2][TASKS], int talking)
{
	starpu_mpi_barrier(MPI_COMM_WORLD);
	double start = starpu_timing_now();
	for (int t = 0; t < TURNS; t++)
		for (int k = 0; k < TASKS; k++)
			for (int side = 0; side < 2; side++)
				starpu_mpi_task_insert(MPI_COMM_WORLD, &work_cl, STARPU_RW, h[side][k], STARPU_R,
						       h[k < talking ? !side : side][k < talking ? k : (k + 1 - talking) % (TASKS - talking) + talking], 0);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	return (starpu_timing_now() - start) / TURNS;
}

static int measure_interrupt(void)
{
	starpu_data_handle_t h[2][TASKS];
	static int values[2][TASKS];
	double silent = 1e30, loud = 1e30;
	work_steps = 100000;
	double start = starpu_timing_now();
	work(NULL, NULL);
	work_steps = (long) (work_steps * WORK_US / (starpu_timing_now() - start + 1e-3)) + 1;
	MPI_Bcast(&work_steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	for (int side = 0; side < 2; side++)
		for (int k = 0; k < TASKS; k++) {
			starpu_variable_data_register(&h[side][k], rank == side ? STARPU_MAIN_RAM : -1, rank == side ? (uintptr_t) &values[side][k] : 0, sizeof(int));
			starpu_mpi_data_register(h[side][k], side * TASKS + k, side);
		}
	for (int r = 0; r < ROUNDS; r++) {
		double a = turns_us(h, 0), b = turns_us(h, TALKING);
		silent = a < silent ? a : silent;
		loud = b < loud ? b : loud;
	}
	for (int side = 0; side < 2; side++)
		for (int k = 0; k < TASKS; k++)
			starpu_data_unregister(h[side][k]);
	if (rank == 0)	/* a turn has that many messages in each direction */
		printf("interrupt_us %.4f\n", loud > silent ? (loud - silent) / (2 * TALKING) : 0);
	return 0;
}

/* ---- the network ---- */

static double half_round_trip(char *buf, int bytes, int repeat)
{
	MPI_Barrier(MPI_COMM_WORLD);
	double start = starpu_timing_now();
	for (int i = 0; i < repeat; i++) {
		if (rank == 0)
			MPI_Send(buf, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
		MPI_Recv(buf, bytes, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(buf, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
	}
	return (starpu_timing_now() - start) / repeat / 2;
}

/* Microseconds per MiB that receiving into memory that was never used takes, in pieces of 256 KiB; and into used memory. */
static void touch_round(double *fresh, double *used)
{
	enum { PIECE = 256 << 10, NPIECES = 32 };
	static char out[PIECE];
	char *in = rank == 1 ? mmap(NULL, (size_t) PIECE * NPIECES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
	if (in == MAP_FAILED)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int turn = 0; turn < 2; turn++) {
		double start = starpu_timing_now();
		for (int i = 0; i < NPIECES; i++) {
			if (rank == 0) {
				MPI_Send(out, PIECE, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
				MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			} else {
				MPI_Recv(in + (size_t) i * PIECE, PIECE, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
			}
		}
		double us = (starpu_timing_now() - start) / (PIECE * NPIECES >> 20);
		double *best = turn ? used : fresh;
		*best = us < *best ? us : *best;
	}
	if (in)
		munmap(in, (size_t) PIECE * NPIECES);
}

static void measure_touch(void)
{
	double fresh = 1e30, used = 1e30;
	for (int r = 0; r < ROUNDS; r++)
		touch_round(&fresh, &used);
	if (rank == 0)
		printf("copy %.4f\ntouch %.4f\n", used, fresh > used ? fresh - used : 0);
}

static int measure_network(void)
{
	const int largest = 16 << 20;
	char *buf = calloc(1, (size_t) largest);
	if (!buf)
		return 1;
	measure_touch();
	for (int bytes = 1; bytes <= largest; bytes += bytes < 4 ? 1 : bytes / 2) {
		int repeat = bytes < 8192 ? 200 : bytes < 262144 ? 40 : 3;
		double best = 1e30;
		for (int r = 0; r < ROUNDS; r++) {
			double us = half_round_trip(buf, bytes, repeat);
			best = us < best ? us : best;
		}
		if (rank == 0)
			printf("net %d %.4f\n", bytes, best);
	}
	free(buf);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	int network = !strcmp(what, "network"), message = !strcmp(what, "message"), interrupt = !strcmp(what, "interrupt"), ret;
	if (!network && !message && !interrupt && strcmp(what, "foreign")) {
		fputs("orrery-calibrate-mpi: it takes one of: foreign, message, interrupt, network\n", stderr);
		return 2;
	}
	/* The network is measured without us: our engine would take its share of the processor. */
	ret = network ? MPI_Init(&argc, &argv) : starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret) {
		fprintf(stderr, "orrery-calibrate-mpi: %s did not start\n", network ? "MPI" : "the runtime");
		return 1;
	}
	if (network) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	} else {
		starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
		starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	}
	if ((network || message || interrupt) && size != 2) {
		if (rank == 0)
			fprintf(stderr, "orrery-calibrate-mpi %s: %d processes; it takes 2\n", what, size);
		ret = 2;
	} else {
		ret = network ? measure_network() : message ? measure_message() : interrupt ? measure_interrupt() : measure_foreign();
	}
	fflush(stdout);
	if (network)
		MPI_Finalize();
	else
		starpu_mpi_shutdown();
	return ret;
}
