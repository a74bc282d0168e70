/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of a run, sent by plain MPI: what the simulator needs without us (sim_cholesky.sh
 * runs it and compares).
 *
 *      sim_floor DIR           DIR/RANK holds lines "out PEER MESSAGES BYTES FIRST LAST" and "in
 *                              PEER MESSAGES BYTES FIRST LAST", with times in seconds
 *
 * A datum of more than 4 KiB is an envelope of 40 bytes and the data, others are one message, as
 * the runtime sends them. Messages of a pair leave at equal distances between the first and the
 * last of the run, because the simulator's cost grows with the number of transfers that share links
 * at a time. It is the cheapest program of its kind: each rank posts its receives at once, from any
 * source, so that each message finds the first of them; it sends synchronously (small standard
 * sends are slow in SimGrid 3.32), and waits at the end, for one request after the other. SMPI
 * shares its buffer among all ranks, so that no payload is copied.
 *
 * Invariant: what a line "out" of one rank sends, the line "in" of the other receives. */
#include <smpi/smpi.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ENVELOPE 40
#define EAGER 4096

struct send {
	double date_s;
	int dest, size, turn;
};

static struct send *sends;
static int nsends, nreceives, largest = 1 << 20;

static void *check(void *p)
{
	if (!p) {
		fprintf(stderr, "sim_floor: out of memory\n");
		exit(1);
	}
	return p;
}

static void add(double date_s, int dest, int size)
{
	if (!(nsends & (nsends - 1)))
		sends = check(realloc(sends, (nsends ? 2 * (size_t) nsends : 1) * sizeof(*sends)));
	sends[nsends] = (struct send){ date_s, dest, size, nsends };
	nsends++;
}

static void add_flow(int out, int peer, long n, double bytes, double first_s, double last_s)
{
	int size = (int) (bytes / (double) n), long_one = size > EAGER;
	if (size + ENVELOPE > largest)
		largest = size + ENVELOPE;
	if (!out)
		nreceives += (int) n * (1 + long_one);
	for (long i = 0; out && i < n; i++) {
		double date_s = n > 1 ? first_s + (last_s - first_s) * (double) i / (double) (n - 1)
				      : first_s;
		add(date_s, peer, long_one ? ENVELOPE : size + ENVELOPE);
		if (long_one)
			add(date_s, peer, size);
	}
}

static int by_date(const void *x, const void *y)
{
	const struct send *a = x, *b = y;
	if (a->date_s != b->date_s)
		return a->date_s < b->date_s ? -1 : 1;
	return a->turn - b->turn;
}

static void read_flows(const char *dir, int rank)
{
	char path[4096], kind[8];
	double bytes, first_s, last_s;
	int peer;
	long messages;
	snprintf(path, sizeof(path), "%s/%d", dir, rank);
	FILE *f = fopen(path, "r");
	if (!f)
		return; /* a rank without messages */
	while (fscanf(f, "%7s %d %ld %lf %lf %lf", kind, &peer, &messages, &bytes, &first_s,
		      &last_s) == 6)
		if (messages > 0)
			add_flow(kind[0] == 'o', peer, messages, bytes, first_s, last_s);
	fclose(f);
	if (nsends)
		qsort(sends, (size_t) nsends, sizeof(*sends), by_date);
}

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc < 2) {
		if (!rank)
			fprintf(stderr, "usage: sim_floor DIR\n");
		MPI_Finalize();
		return 77;
	}
	read_flows(argv[1], rank);
	char *buffer = check(SMPI_SHARED_MALLOC((size_t) largest));
	MPI_Request *requests = check(
		malloc((size_t) (nreceives + nsends + 1) * sizeof(*requests)));
	double now_s = 0;
	for (int i = 0; i < nreceives; i++)
		MPI_Irecv(buffer, largest, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
			  &requests[i]);
	for (int i = 0; i < nsends; i++) {
		if (sends[i].date_s - now_s >= 1e-6) {
			usleep((useconds_t) ((sends[i].date_s - now_s) * 1e6));
			now_s = sends[i].date_s;
		}
		MPI_Issend(buffer, sends[i].size, MPI_BYTE, sends[i].dest, 1, MPI_COMM_WORLD,
			   &requests[nreceives + i]);
	}
	for (int i = 0; i < nreceives + nsends; i++)
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
