/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-doctor-mpi: what `orrery doctor` asks MPI and the runtime. One question a start, by its
 * arguments:
 *
 *      about            what is installed here, without starting MPI: "mpi VERSION",
 *                       "library PATH CHECKSUM"
 *      pairs            "thread LEVEL", "rank NUMBER HOST", and for each pair of ranks
 *                       "pair A B LATENCY_US BYTES_PER_S"; a rank is in one pair at a time,
 *                       and other pairs are measured meanwhile. With more than MOST_ROUNDS + 1
 *                       ranks only some pairs, as many of each rank
 *      pairs A-B,C-D    the same for these pairs, one after another
 *      crowd            each rank exchanges messages with up to CROWD others at once, in both
 *                       directions: "crowd BYTES_PER_S", of a rank in one direction
 *      engine           ranks pass vectors around by the runtime, and check them: "ring right"
 *
 * Invariant: a pair takes some tenths of a second, and longer only where FIRST bytes do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <starpu_mpi.h>
#include "doctor_host.h"
#include "patient.h"

enum {
	TURNS = 100,
	FIRST = 64 << 10,
	PIECE = 8 << 20,
	ENOUGH_US = 40000,
	HOST = 128,
	MOST_ROUNDS = 32,
	CROWD = 7,
	CROWDS = 7
};
static int rank, size;

/* ---- pairs ---- */

static void send_to(char *buf, int bytes, int peer)
{
	if (bytes >= FIRST)
		patient_send(buf, bytes, peer, 1);
	else
		MPI_Send(buf, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
}

static void receive_from(char *buf, int bytes, int peer)
{
	if (bytes >= FIRST)
		patient_recv(buf, bytes, peer, 1);
	else
		MPI_Recv(buf, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double half_turn(char *buf, int bytes, int peer, int turns)
{
	double best = 1e30;

	for (int i = 0; i < turns; i++) {
		double start = starpu_timing_now();
		if (rank < peer) {
			send_to(buf, bytes, peer);
			receive_from(buf, bytes, peer);
		} else {
			receive_from(buf, bytes, peer);
			send_to(buf, bytes, peer);
		}
		double us = (starpu_timing_now() - start) / 2;
		best = us < best ? us : best;
	}
	return best;
}

struct result {
	int peer;
	double latency, speed;
};

/* Both ranks of a pair call it. Larger and larger pieces, until one takes so long that its latency
 * hardly counts; the lower rank decides. */
static struct result measure(char *buf, int peer)
{
	struct result r = { .peer = peer };
	double us = 0;

	half_turn(buf, 1, peer, 2);
	r.latency = half_turn(buf, 1, peer, TURNS);
	for (int bytes = FIRST; bytes <= PIECE; bytes *= 2) {
		half_turn(buf, bytes, peer, 1);
		us = half_turn(buf, bytes, peer, 4);
		r.speed = bytes / us * 1e6;
		int enough = us > ENOUGH_US;
		if (rank < peer)
			MPI_Send(&enough, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
		else
			MPI_Recv(&enough, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (enough)
			break;
	}
	return r;
}

/* The partner of a rank in a round of a tournament of n ranks, an even number; the last one stays
 * in its place. */
static int partner(int me, int round, int n)
{
	int last = n - 1;

	if (me == last)
		return round;
	if (me == round)
		return last;
	return (2 * round - me + 2 * last) % last;
}

/* Measurements of the lower ranks of pairs, printed by rank 0. */
static void print_pairs(const struct result *mine)
{
	struct result *all = rank ? NULL : malloc((size_t) size * sizeof(*all));

	patient_barrier(); /* most ranks wait for those that measure */
	MPI_Gather(mine, sizeof(*mine), MPI_BYTE, all, sizeof(*mine), MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int r = 0; all && r < size; r++)
		if (all[r].peer > r)
			printf("pair %d %d %.2f %.0f\n", r, all[r].peer, all[r].latency,
			       all[r].speed);
	fflush(stdout);
	free(all);
}

static void all_pairs(char *buf)
{
	int n = size + size % 2;

	for (int round = 0; round < n - 1; round += (n - 2) / MOST_ROUNDS + 1) {
		struct result mine = { .peer = -1 };
		int peer = partner(rank, round, n);
		MPI_Barrier(MPI_COMM_WORLD);
		if (peer < size && peer != rank)
			mine = measure(buf, peer);
		print_pairs(&mine);
	}
}

static void some_pairs(char *buf, char *list)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		struct result mine = { .peer = -1 };
		int a, b;
		if (sscanf(word, "%d-%d", &a, &b) != 2 || a < 0 || a >= b || b >= size)
			continue;
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == a || rank == b)
			mine = measure(buf, rank == a ? b : a);
		print_pairs(&mine);
	}
}

/* Microseconds until all ranks have sent so many bytes to each of theirs, and received as many. */
static double crowd_us(char *buf, int bytes, int others)
{
	MPI_Request requests[2 * CROWD];
	double us, most;

	MPI_Barrier(MPI_COMM_WORLD);
	us = starpu_timing_now();
	for (int i = 0; i < others; i++)
		MPI_Irecv(buf + (size_t) (i + 1) * PIECE, bytes, MPI_BYTE,
			  (rank + size - i - 1) % size, 3, MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < others; i++)
		MPI_Isend(buf, bytes, MPI_BYTE, (rank + i + 1) % size, 3, MPI_COMM_WORLD,
			  &requests[others + i]);
	patient_wait(requests, 2 * others);
	us = starpu_timing_now() - us;
	MPI_Allreduce(&us, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

static int by_value(const void *a, const void *b)
{
	double d = *(const double *) a - *(const double *) b;

	return (d > 0) - (d < 0);
}

/* Its first round finds connections and buffers that are new. A median, because how connections
 * share a link differs from time to time, and the slowest rank counts. */
static int crowd(void)
{
	int level, others, bytes = FIRST;
	double us[CROWDS];
	char *buf;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level))
		return 1;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	others = size - 1 < CROWD ? size - 1 : CROWD;
	buf = calloc((size_t) (CROWD + 1), PIECE);
	if (!buf)
		MPI_Abort(MPI_COMM_WORLD, 1);
	while (crowd_us(buf, bytes, others) < ENOUGH_US * others && bytes < PIECE)
		bytes *= 2;
	for (int i = 0; i < CROWDS; i++)
		us[i] = crowd_us(buf, bytes, others);
	qsort(us, CROWDS, sizeof(us[0]), by_value);
	if (!rank)
		printf("crowd %.0f\n", (double) bytes * others / us[CROWDS / 2] * 1e6);
	fflush(stdout);
	free(buf);
	MPI_Finalize();
	return 0;
}

static void print_ranks(int level)
{
	static const char *const name[] = { "SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE" };
	char mine[HOST] = "", *all = rank ? NULL : malloc((size_t) size * HOST);
	int i = level == MPI_THREAD_MULTIPLE     ? 3
		: level == MPI_THREAD_SERIALIZED ? 2
		: level == MPI_THREAD_FUNNELED   ? 1
						 : 0;

	gethostname(mine, sizeof(mine) - 1);
	MPI_Gather(mine, HOST, MPI_BYTE, all, HOST, MPI_BYTE, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("thread %s\n", name[i]);
	for (int r = 0; all && r < size; r++)
		printf("rank %d %s\n", r, all + (size_t) r * HOST);
	free(all);
}

static int pairs(char *list)
{
	int level = MPI_THREAD_SINGLE;
	char *buf;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level))
		return 1;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	buf = calloc(1, PIECE);
	if (!buf)
		MPI_Abort(MPI_COMM_WORLD, 1);
	print_ranks(level);
	if (list)
		some_pairs(buf, list);
	else
		all_pairs(buf);
	free(buf);
	MPI_Finalize();
	return 0;
}

/* ---- the runtime ---- */

static int engine(void)
{
	enum { N = 128 << 10 };
	int *out = malloc(N * sizeof(*out)), *in = calloc(N, sizeof(*in)), wrong = 0, all = 0;
	starpu_data_handle_t ho, hi;

	if (!out || !in || starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, NULL))
		return 1;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < N; i++)
		out[i] = rank * N + i;
	starpu_vector_data_register(&ho, STARPU_MAIN_RAM, (uintptr_t) out, N, sizeof(*out));
	starpu_vector_data_register(&hi, STARPU_MAIN_RAM, (uintptr_t) in, N, sizeof(*in));
	starpu_mpi_irecv_detached(hi, (rank + size - 1) % size, 7, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_isend_detached(ho, (rank + 1) % size, 7, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(ho);
	starpu_data_unregister(hi);
	for (int i = 0; i < N; i++)
		wrong |= in[i] != (rank + size - 1) % size * N + i;
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (!rank)
		puts(all ? "ring wrong" : "ring right");
	fflush(stdout);
	starpu_mpi_shutdown();
	free(out);
	free(in);
	return all;
}

/* ---- what is there ---- */

static int about(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int length = 0;

	MPI_Get_library_version(version, &length);
	for (char *c = version; *c; c++)
		if (*c == '\n')
			*c = ' ';
	printf("mpi %.200s\n", version);
	doctor_library("liborrery-mpi");
	doctor_library("libmpi");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "about"))
		return about();
	if (!strcmp(what, "pairs"))
		return pairs(argc > 2 ? argv[2] : NULL);
	if (!strcmp(what, "crowd"))
		return crowd();
	if (!strcmp(what, "engine"))
		return engine();
	fputs("orrery-doctor-mpi: it takes one of: about, pairs, crowd, engine\n", stderr);
	return 2;
}
