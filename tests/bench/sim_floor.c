/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of a run, sent by plain MPI: what the simulator needs without us (sim_cholesky.sh
 * runs it and compares).
 *
 *      sim_floor DIR           DIR/RANK holds lines "out PEER MESSAGES BYTES" and "in PEER
 *                              MESSAGES BYTES"
 *
 * A datum of more than 4 KiB is an envelope of 40 bytes and the data, others are one message, as
 * the runtime sends them. Each rank has one receive per peer posted and WINDOW synchronous sends
 * under way, in turns over its peers, beginning with another one each. Invariant: what a line "out"
 * of one rank sends, the line "in" of the other receives; no rank waits for a receive that is not
 * posted. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

/* One at a time: the simulator's cost grows with the number of transfers that share links, and a
 * run has few at a time. */
#define WINDOW 1
#define ENVELOPE 40
#define EAGER 4096

/* A peer in one direction: `left` data of `size` bytes; `data` when its envelope has passed. */
struct flow {
	int peer, data;
	long left, size;
};

struct flows {
	struct flow *v;
	int n, open, turn;
};

static char *buffer;

static void add(struct flows *f, int peer, long messages, double bytes)
{
	struct flow *p = realloc(f->v, (size_t) (f->n + 1) * sizeof(*p));

	if (!p)
		exit(1);
	f->v = p;
	p = &f->v[f->n++];
	p->peer = peer;
	p->data = 0;
	p->left = messages;
	p->size = messages ? (long) (bytes / (double) messages) : 0;
	if (p->left)
		f->open++;
}

static int read_flows(const char *dir, int rank, struct flows *out, struct flows *in)
{
	char path[4096], kind[8];
	double bytes;
	int peer, max = ENVELOPE + EAGER;
	long messages;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", dir, rank);
	f = fopen(path, "r");
	if (!f)
		return max; /* a rank without messages */
	while (fscanf(f, "%7s %d %ld %lf", kind, &peer, &messages, &bytes) == 4)
		add(kind[0] == 'o' ? out : in, peer, messages, bytes);
	fclose(f);
	for (int i = 0; i < out->n; i++)
		if (out->v[i].size > max)
			max = (int) out->v[i].size;
	for (int i = 0; i < in->n; i++)
		if (in->v[i].size > max)
			max = (int) in->v[i].size;
	return max;
}

/* Bytes of the flow's next message; moves on to the one after it. */
static int next_size(struct flows *all, struct flow *f)
{
	int size = f->size <= EAGER ? (int) f->size + ENVELOPE : f->data ? (int) f->size : ENVELOPE;

	f->data = f->size > EAGER && !f->data;
	if (!f->data && --f->left == 0)
		all->open--;
	return size;
}

static void receive(struct flows *in, int i, MPI_Request *req)
{
	struct flow *f = &in->v[i];

	*req = MPI_REQUEST_NULL;
	if (f->left)
		MPI_Irecv(buffer, next_size(in, f), MPI_BYTE, f->peer, 1, MPI_COMM_WORLD, req);
}

static void send_one(struct flows *out, MPI_Request *req)
{
	struct flow *f;

	*req = MPI_REQUEST_NULL;
	if (!out->open)
		return;
	do {
		f = &out->v[out->turn];
		/* An envelope is followed by its data. */
		if (!f->left || !f->data || f->size <= EAGER)
			out->turn = (out->turn + 1) % out->n;
	} while (!f->left);
	MPI_Issend(buffer, next_size(out, f), MPI_BYTE, f->peer, 1, MPI_COMM_WORLD, req);
}

int main(int argc, char **argv)
{
	struct flows in = { 0 }, out = { 0 };
	MPI_Request *reqs;
	int rank, i, n;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc < 2) {
		if (!rank)
			fprintf(stderr, "usage: sim_floor DIR\n");
		MPI_Finalize();
		return 77;
	}
	buffer = malloc((size_t) read_flows(argv[1], rank, &out, &in));
	out.turn = out.n ? rank % out.n : 0;
	n = in.n + WINDOW;
	reqs = malloc((size_t) n * sizeof(MPI_Request));
	if (!buffer || !reqs)
		return 1;
	for (i = 0; i < in.n; i++)
		receive(&in, i, &reqs[i]);
	for (i = in.n; i < n; i++)
		send_one(&out, &reqs[i]);
	for (;;) {
		MPI_Waitany(n, reqs, &i, MPI_STATUS_IGNORE);
		if (i == MPI_UNDEFINED)
			break;
		if (i < in.n)
			receive(&in, i, &reqs[i]);
		else
			send_one(&out, &reqs[i]);
	}
	MPI_Finalize();
	return 0;
}
