/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-calibrate-mpi WHAT [ROUNDS]: what the MPI layer and the network cost. One measurement per
 * start, by its first argument:
 *
 *      foreign         foreign_us: inserting a task in which this rank has no part (one
 *                      process, which believes to be one of many)
 *      message         message_us: what the runtime adds to a message, 2 processes
 *      interrupt       interrupt_us: what a message takes from a worker that has no core beside
 *                      its own for it; look_us: what looking for one takes, between two tasks;
 *                      2 processes, each bound to one core, one worker each
 *      receive         "copy" and "touch", microseconds per MiB that such a worker loses
 *                      besides: by receiving into memory that was used before, and what memory
 *                      never used adds; processes as before
 *      network         "net SIZE MICROSECONDS" lines: half round trips of plain MPI, and
 *                      "eager BYTES"; 2 processes
 *
 * Prints lines "NAME VALUE" on rank 0. Invariant: best of ROUNDS rounds (15), as in
 * calibrate_node.c, where nothing else is said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_mpi.h>
#include "patient.h"

enum { NT = 48, ROUNDS = 15, MOST_ROUNDS = 20, NMSG = 500 };
static int rank, size, rounds = ROUNDS;

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet cl = { .cpu_funcs = { nothing },
				    .nbuffers = 3,
				    .modes = { STARPU_R, STARPU_R, STARPU_RW },
				    .name = "empty" };

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
			if (owner(p, i, j) == rank || owner(p, i, k) == rank ||
			    owner(p, k, j) == rank)
				continue;
			starpu_mpi_task_insert(MPI_COMM_WORLD, &cl, STARPU_R, tile[i][k], STARPU_R,
					       tile[k][j], STARPU_RW, tile[i][j], 0);
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
		fputs("orrery-calibrate-mpi foreign: set STARPU_MPI_FAKE_RANK and STARPU_MPI_FAKE_SIZE to a rank of 16 or more\n",
		      stderr);
		return 1;
	}
	while ((p + 1) * (p + 1) <= size)
		p++;
	for (int i = 0; i < NT; i++)
		for (int j = 0; j < NT; j++) {
			starpu_variable_data_register(&tile[i][j], -1, 0, sizeof(double));
			starpu_mpi_data_register(tile[i][j], i * NT + j, owner(p, i, j));
		}
	for (int r = 0; r < rounds; r++) {
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
	MPI_Status ends[NMSG];
	MPI_Barrier(MPI_COMM_WORLD);
	double start = starpu_timing_now();
	for (int i = 0; i < NMSG; i++) {
		if (rank == 0)
			MPI_Isend(&payload[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &r[i]);
		else
			MPI_Irecv(&payload[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
	}
	MPI_Waitall(NMSG, r, ends);
	MPI_Barrier(MPI_COMM_WORLD);
	return (starpu_timing_now() - start) / NMSG;
}

static int measure_message(void)
{
	starpu_data_handle_t h[NMSG];
	double runtime = 1e30, raw = 1e30;
	for (int i = 0; i < NMSG; i++)
		starpu_variable_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) &payload[i],
					      sizeof(int));
	for (int r = 0; r < rounds; r++) {
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

enum {
	TURNS = 8,
	TASKS = 16,
	TALKING = 8,
	WORK_US = 100,
	PIECE = 128 << 10,
	SWEEP = 1 << 20,
	MESSAGES = (TURNS - 1) * TALKING
};

static long work_steps;

/* Computes for WORK_US and leaves little of anything else in the caches, as kernels do: whoever
 * takes the core makes it last longer. */
static void work(void *buffers[], void *arg)
{
	static char others[SWEEP];
	volatile double x = 1;
	char *data = (char *) STARPU_VECTOR_GET_PTR(buffers[0]);
	(void) arg;
	for (size_t i = 0; i < PIECE; i += 64)
		data[i]++;
	for (size_t i = 0; i < SWEEP; i += 64)
		others[i]++;
	for (long i = 0; i < work_steps; i++)
		x = x * 0.999 + 0.001;
}

static struct starpu_codelet work_cl = { .cpu_funcs = { work },
					 .nbuffers = 3,
					 .modes = { STARPU_RW, STARPU_RW, STARPU_R },
					 .name = "work" };

/* The datum that a task of a side writes in a turn: a piece and a number. */
struct product {
	starpu_data_handle_t piece, number;
};
static struct product product[2][TURNS][TASKS];
static char *pieces;

static void for_all_products(void (*func)(struct product *, int side, int t, int k))
{
	for (int side = 0; side < 2; side++)
		for (int t = 0; t < TURNS; t++)
			for (int k = 0; k < TASKS; k++)
				func(&product[side][t][k], side, t, k);
}

static void new_product(struct product *p, int side, int t, int k)
{
	static int numbers[TURNS][TASKS];
	int home = rank == side ? STARPU_MAIN_RAM : -1, tag = ((side * TURNS + t) * TASKS + k) * 2;
	starpu_vector_data_register(
		&p->piece, home, (uintptr_t) pieces + (size_t) (t * TASKS + k) * PIECE, PIECE, 1);
	starpu_variable_data_register(&p->number, home, (uintptr_t) &numbers[t][k], sizeof(int));
	starpu_mpi_data_register(p->piece, tag, side);
	starpu_mpi_data_register(p->number, tag + 1, side);
}

static void end_product(struct product *p, int side, int t, int k)
{
	(void) side, (void) t, (void) k;
	starpu_data_unregister(p->piece);
	starpu_data_unregister(p->number);
}

enum talk { SILENT, EXPECTING, NUMBERS, PIECES };

/* Tasks of both ranks in turns; the first of each turn wait for what the other rank made in the
 * turn before (NUMBERS, PIECES), or none does, but a message is expected until the end (EXPECTING).
 * Microseconds. */
static double turns_us(enum talk talk)
{
	static int late;
	starpu_data_handle_t last, reply;
	for_all_products(new_product);
	starpu_variable_data_register(&last, STARPU_MAIN_RAM, (uintptr_t) &late, sizeof(int));
	starpu_variable_data_register(&reply, -1, 0, sizeof(int));
	starpu_mpi_barrier(MPI_COMM_WORLD);
	double start = starpu_timing_now();
	if (talk == EXPECTING)
		starpu_mpi_irecv_detached(reply, !rank, 0, MPI_COMM_WORLD, NULL, NULL);
	for (int t = 0; t < TURNS; t++)
		for (int k = 0; k < TASKS; k++)
			for (int side = 0; side < 2; side++) {
				struct product *out = &product[side][t][k],
					       *in = &product[talk >= NUMBERS && k < TALKING
								      ? !side
								      : side][t ? t - 1 : 0][k];
				/* In the first turn a task has only its own: the number of a turn
				 * that comes later. */
				starpu_mpi_task_insert(MPI_COMM_WORLD, &work_cl, STARPU_RW,
						       out->piece, STARPU_RW, out->number, STARPU_R,
						       !t ? product[side][TURNS - 1][k].number
						       : talk == PIECES ? in->piece
									: in->number,
						       0);
			}
	starpu_task_wait_for_all();
	double us = starpu_timing_now() - start;
	if (talk == EXPECTING)
		starpu_mpi_isend_detached(last, !rank, 0, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	starpu_data_unregister(last);
	starpu_data_unregister(reply);
	for_all_products(end_product);
	return us;
}

static int smaller(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;
	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t) n, sizeof(*v), smaller);
	return v[n / 2] > 0 ? v[n / 2] : 0;
}

static void find_work_steps(void)
{
	static char data[PIECE];
	struct starpu_vector_interface v = { .ptr = (uintptr_t) data };
	void *buffers[] = { &v };
	double none = 1e30, some = 1e30;
	for (int r = 0; r < rounds; r++) {
		double start = starpu_timing_now();
		work_steps = 0;
		work(buffers, NULL);
		double middle = starpu_timing_now();
		work_steps = 10000;
		work(buffers, NULL);
		double end = starpu_timing_now();
		none = middle - start < none ? middle - start : none;
		some = end - middle < some ? end - middle : some;
	}
	work_steps = none < WORK_US && some > none
			     ? (long) (10000 * (WORK_US - none) / (some - none))
			     : 0;
	MPI_Bcast(&work_steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
}

/* All of this is paid, so medians count: of a round's differences, as the machine's speed changes
 * from round to round. Only the first pieces of a process come into memory that it never used, and
 * that nobody used just before. */
static int measure_received(int size_matters)
{
	enum { REPEATS = 9, MOST = REPEATS * MOST_ROUNDS / ROUNDS };
	int repeats = REPEATS * rounds / ROUNDS > 1 ? REPEATS * rounds / ROUNDS : 1;
	double look[MOST], number[MOST], used[MOST], fresh = 0,
						     mib = MESSAGES * (double) PIECE / (1 << 20);
	pieces = malloc((size_t) TURNS * TASKS * PIECE);
	if (!pieces)
		return 1;
	memset(pieces, 0, (size_t) TURNS * TASKS * PIECE);
	find_work_steps();
	for (int r = 0; r < repeats; r++) {
		double silent = turns_us(SILENT), expecting = turns_us(EXPECTING),
		       numbers = turns_us(NUMBERS);
		look[r] = (expecting - silent) / (TURNS * TASKS);
		/* A rank handles what it receives and the ends of what it sends; a piece follows
		 * its announcement: twice as much of both. */
		number[r] = (numbers - expecting) / (2 * MESSAGES);
		if (!size_matters)
			continue;
		if (!r)
			fresh = turns_us(PIECES);
		double again = turns_us(PIECES);
		if (!r)
			fresh -= again;
		used[r] = (again - numbers - (numbers - expecting)) / mib;
	}
	if (rank == 0 && size_matters)
		printf("copy %.4f\ntouch %.4f\n", median(used, repeats), median(&fresh, 1) / mib);
	else if (rank == 0)
		printf("look_us %.4f\ninterrupt_us %.4f\n", median(look, repeats),
		       median(number, repeats));
	free(pieces);
	return 0;
}

/* ---- the network ---- */

static void net_send(char *buf, int bytes, int patiently)
{
	if (patiently)
		patient_send(buf, bytes, !rank, 1);
	else
		MPI_Send(buf, bytes, MPI_BYTE, !rank, 1, MPI_COMM_WORLD);
}

static void net_receive(char *buf, int bytes, int patiently)
{
	if (patiently)
		patient_recv(buf, bytes, !rank, 1);
	else
		MPI_Recv(buf, bytes, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* patiently: they take long. */
static double half_round_trip(char *buf, int bytes, int repeat, int patiently)
{
	MPI_Barrier(MPI_COMM_WORLD);
	double start = starpu_timing_now();
	for (int i = 0; i < repeat; i++) {
		if (rank == 0)
			net_send(buf, bytes, patiently);
		net_receive(buf, bytes, patiently);
		if (rank == 1)
			net_send(buf, bytes, patiently);
	}
	return (starpu_timing_now() - start) / repeat / 2;
}

/* True if a message of so many bytes leaves before its receive is posted: it has LATE_US to do so.
 */
static int leaves_at_once(char *buf, int bytes)
{
	enum { LATE_US = 30000 };
	double start;
	int early = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	start = starpu_timing_now();
	if (rank == 0) {
		MPI_Send(buf, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
		early = starpu_timing_now() - start < LATE_US / 2.0;
	} else {
		/* Without looking at messages. */
		while (starpu_timing_now() - start < LATE_US)
			continue;
		MPI_Recv(buf, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Bcast(&early, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return early;
}

/* The largest power of two whose messages are eager; 0: none is. */
static int eager_bytes(char *buf, int largest)
{
	int bytes = 256, last = 0;

	while (bytes <= largest && leaves_at_once(buf, bytes)) {
		last = bytes;
		bytes *= 2;
	}
	return last;
}

/* On a slow network, rounds are fewer and shorter, and messages that take longer than LONG_US are
 * left out. Rounds are short and many: where others use the cores, some of them are undisturbed. */
static int measure_network(void)
{
	enum { LONG_US = 200000, ROUND_US = 50000, SIZE_US = 300000, SHORT_ROUNDS = 100 };
	const int largest = 16 << 20;
	char *buf = calloc(1, (size_t) largest);
	double best = 1;
	if (!buf)
		return 1;
	for (int bytes = 1; bytes <= largest && best < LONG_US;
	     bytes += bytes < 4 ? 1 : bytes / 2) {
		int repeat = bytes < 8192 ? 10 : bytes < 262144 ? 4 : 2, last = 0;
		int patiently = best > PATIENT_SPIN_US;
		if (repeat * best * 2 > ROUND_US)
			repeat = (int) (ROUND_US / best / 2) + 1;
		MPI_Bcast(&repeat, 1, MPI_INT, 0, MPI_COMM_WORLD);
		double start = starpu_timing_now();
		best = 1e30;
		for (int r = 0;
		     r < (bytes < 262144 ? SHORT_ROUNDS * rounds / ROUNDS : rounds) && !last; r++) {
			double us = half_round_trip(buf, bytes, repeat, patiently);
			best = us < best ? us : best;
			last = r >= (bytes < 262144 ? 4 : 2) &&
			       starpu_timing_now() - start > SIZE_US;
			MPI_Bcast(&last, 1, MPI_INT, 0, MPI_COMM_WORLD);
		}
		MPI_Bcast(&best, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		if (rank == 0)
			printf("net %d %.4f\n", bytes, best);
	}
	int eager = eager_bytes(buf, 4 << 20);
	if (rank == 0)
		printf("eager %d\n", eager);
	free(buf);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 || argc == 3 ? argv[1] : "";
	int network = !strcmp(what, "network"), message = !strcmp(what, "message"),
	    foreign = !strcmp(what, "foreign");
	int interrupt = !strcmp(what, "interrupt"), receive = !strcmp(what, "receive"), ret;
	if (!network && !message && !foreign && !interrupt && !receive) {
		fputs("orrery-calibrate-mpi: it takes one of: foreign, message, interrupt, receive, network\n",
		      stderr);
		return 2;
	}
	if (argc == 3)
		rounds = atoi(argv[2]);
	if (rounds < 1 || rounds > MOST_ROUNDS) {
		fprintf(stderr, "orrery-calibrate-mpi %s: %s rounds; it takes 1 to %d\n", what,
			argv[2], MOST_ROUNDS);
		return 2;
	}
	/* The network is measured without us: our engine would take its share of the processor. */
	ret = network ? MPI_Init(&argc, &argv)
		      : starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret) {
		fprintf(stderr, "orrery-calibrate-mpi: %s did not start\n",
			network ? "MPI" : "the runtime");
		return 1;
	}
	if (network) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	} else {
		starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
		starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	}
	if (!foreign && size != 2) {
		if (rank == 0)
			fprintf(stderr, "orrery-calibrate-mpi %s: %d processes; it takes 2\n", what,
				size);
		ret = 2;
	} else {
		ret = network   ? measure_network()
		      : message ? measure_message()
		      : foreign ? measure_foreign()
				: measure_received(receive);
	}
	fflush(stdout);
	if (network)
		MPI_Finalize();
	else
		starpu_mpi_shutdown();
	return ret;
}
