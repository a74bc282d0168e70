/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Large payloads of all shapes between all neighbours of a ring at once: rows of bytes, matrices
 * with gaps into vectors and back, sizes around those where transports change what they do, more of
 * them than any table has places, synchronous ones, and ones that come before their receive.
 * transports.sh runs this with each transport. */
#include "mpi_test.h"

enum { KIB = 1024, NMANY = 150 };

static const unsigned sizes[] = { 128 * KIB - 1, 128 * KIB,     128 * KIB + 1,
				  256 * KIB,     300 * KIB + 7, 5000 * KIB };
enum { NSIZES = sizeof(sizes) / sizeof(*sizes) };

static unsigned char value_of(int from, int tag, unsigned i)
{
	return (unsigned char) (i * 7 + i / 1021 + (unsigned) from * 31 + (unsigned) tag * 5);
}

/* A datum of n bytes, with gaps between its rows if `gaps`; what it holds stays the caller's. */
static starpu_data_handle_t datum(unsigned n, int gaps, unsigned char **memory)
{
	starpu_data_handle_t h;
	unsigned rows = gaps ? n / 1000 : 1, row = gaps ? 1000 : n;

	*memory = malloc((size_t) rows * (row + 24));
	CHECK(*memory, "no memory");
	memset(*memory, 0, (size_t) rows * (row + 24));
	if (gaps)
		starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) *memory, row + 24, row,
					    rows, 1);
	else
		starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) *memory, n, 1);
	return h;
}

static void fill(unsigned char *m, unsigned n, int gaps, int tag)
{
	for (unsigned i = 0; i < n; i++)
		m[gaps ? i / 1000 * 1024 + i % 1000 : i] = value_of(rank, tag, i);
}

static void check(const unsigned char *m, unsigned n, int gaps, int tag, int from)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned char is = m[gaps ? i / 1000 * 1024 + i % 1000 : i];
		CHECK(is == value_of(from, tag, i), "tag %d, byte %u of %u is %d", tag, i, n, is);
	}
}

struct message {
	starpu_data_handle_t in, out;
	unsigned char *in_memory, *out_memory;
	unsigned n;
	int in_gaps, out_gaps, sync;
};

static void prepare(struct message *m, int tag, unsigned n, int out_gaps, int in_gaps, int sync)
{
	if (out_gaps || in_gaps)
		n = n / 1000 * 1000;
	*m = (struct message){ .n = n, .in_gaps = in_gaps, .out_gaps = out_gaps, .sync = sync };
	m->out = datum(n, out_gaps, &m->out_memory);
	m->in = datum(n, in_gaps, &m->in_memory);
	fill(m->out_memory, n, out_gaps, tag);
}

static void exchange(struct message *m, int n, int late)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;

	for (int i = 0; i < n && !late; i++)
		OK(starpu_mpi_irecv_detached(m[i].in, from, i, MPI_COMM_WORLD, NULL, NULL));
	for (int i = 0; i < n; i++)
		OK((m[i].sync ? starpu_mpi_issend_detached : starpu_mpi_isend_detached)(
			m[i].out, to, i, MPI_COMM_WORLD, NULL, NULL));
	if (late) {
		OK(MPI_Barrier(MPI_COMM_WORLD));
		starpu_sleep(0.01);
	}
	for (int i = n - 1; i >= 0 && late; i--)
		OK(starpu_mpi_irecv_detached(m[i].in, from, i, MPI_COMM_WORLD, NULL, NULL));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	for (int i = 0; i < n; i++) {
		starpu_data_unregister(m[i].in);
		starpu_data_unregister(m[i].out);
		check(m[i].in_memory, m[i].n, m[i].in_gaps, i, from);
		free(m[i].in_memory);
		free(m[i].out_memory);
	}
}

static void shapes(int late)
{
	struct message m[NSIZES * 8];

	for (int i = 0; i < NSIZES * 8; i++)
		prepare(&m[i], i, sizes[i / 8], i & 1, i >> 1 & 1, i >> 2 & 1);
	exchange(m, NSIZES * 8, late);
}

static void many(void)
{
	struct message m[NMANY];

	for (int i = 0; i < NMANY; i++)
		prepare(&m[i], i, 130 * KIB, 0, 0, 0);
	exchange(m, NMANY, 0);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	shapes(0);
	shapes(1);
	many();
	return end();
}
