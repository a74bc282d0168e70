/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every interface between two ranks, byte by byte: dense data with leading dimensions of each
 * side's own, compressed and coordinate matrices, multiformat (in main memory's format), void;
 * small and large; blocking and detached; into the program's memory and into memory that the
 * runtime allocates.
 *
 * Invariant: bytes between columns are the program's, they stay. Elements have 3 bytes, so that a
 * wrong unit shows.
 * orr-test: ranks 2
 * orr-test: sim-ranks 2 */
#include "mpi_test.h"

#define ELEM 3
#define MAXDIM 7
#define UNTOUCHED 0xee
#define TAG 17

enum way {
	BLOCKING,
	DETACHED,
	NOT_HOME,
	WAYS
}; /* NOT_HOME: blocking, and the receiver registers without memory */

static unsigned char byte_of(size_t i)
{
	return (unsigned char) (i * 131 + (i >> 8) * 7 + 1);
}

static void *new_bytes(size_t n)
{
	unsigned char *p = malloc(n ? n : 1);

	for (size_t i = 0; i < n; i++)
		p[i] = rank ? UNTOUCHED : byte_of(i);
	return p;
}

static void transfer(starpu_data_handle_t h, enum way way)
{
	if (rank == 0)
		OK(way == DETACHED
			   ? starpu_mpi_isend_detached(h, 1, TAG, MPI_COMM_WORLD, NULL, NULL)
			   : starpu_mpi_send(h, 1, TAG, MPI_COMM_WORLD));
	else
		OK(way == DETACHED
			   ? starpu_mpi_irecv_detached(h, 0, TAG, MPI_COMM_WORLD, NULL, NULL)
			   : starpu_mpi_recv(h, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* ---- dense data ---- */

struct shape {
	enum starpu_data_interface_id id;
	unsigned n;
	uint32_t nn[MAXDIM],
		pad[MAXDIM]; /* pad[d]: added to the leading dimension of d by the sender */
};

static void leading(const struct shape *s, unsigned factor, uint32_t *ld)
{
	ld[0] = 1;
	for (unsigned d = 1; d < s->n; d++)
		ld[d] = ld[d - 1] * s->nn[d - 1] + factor * s->pad[d] * (d > 1 ? ld[d - 1] : 1);
}

static void register_dense(starpu_data_handle_t *h, int home, void *buf, struct shape *s,
			   uint32_t *ld)
{
	uintptr_t p = (uintptr_t) buf;
	uint32_t *nn = s->nn;

	switch ((int) s->id) {
	case STARPU_VARIABLE_INTERFACE_ID: starpu_variable_data_register(h, home, p, ELEM); break;
	case STARPU_VECTOR_INTERFACE_ID:
		starpu_vector_data_register(h, home, p, nn[0], ELEM);
		break;
	case STARPU_MATRIX_INTERFACE_ID:
		starpu_matrix_data_register(h, home, p, ld[1], nn[0], nn[1], ELEM);
		break;
	case STARPU_BLOCK_INTERFACE_ID:
		starpu_block_data_register(h, home, p, ld[1], ld[2], nn[0], nn[1], nn[2], ELEM);
		break;
	case STARPU_TENSOR_INTERFACE_ID:
		starpu_tensor_data_register(h, home, p, ld[1], ld[2], ld[3], nn[0], nn[1], nn[2],
					    nn[3], ELEM);
		break;
	default: starpu_ndim_data_register(h, home, p, ld, nn, s->n, ELEM);
	}
}

/* Where in the sender's buffer the element at offset e (of leading dimensions ld) comes from; 0: it
 * lies between columns. */
static int origin(const struct shape *s, const uint32_t *ld, const uint32_t *sent, size_t e,
		  size_t *from)
{
	*from = 0;
	for (unsigned d = s->n; d-- > 0; e %= ld[d]) {
		if (e / ld[d] >= s->nn[d])
			return 0;
		*from += e / ld[d] * sent[d];
	}
	return 1;
}

static void check_dense(const struct shape *s, const uint32_t *ld, const uint32_t *sent,
			const unsigned char *got, size_t elements)
{
	size_t from;

	for (size_t e = 0; e < elements; e++) {
		int inside = origin(s, ld, sent, e, &from);

		for (unsigned b = 0; b < ELEM; b++) {
			unsigned char want = inside ? byte_of(from * ELEM + b) : UNTOUCHED;

			CHECK(got[e * ELEM + b] == want,
			      "interface %d: byte %u of element %zu is %u, not %u", (int) s->id, b,
			      e, got[e * ELEM + b], want);
		}
	}
}

static void dense(struct shape s, enum way way, unsigned my_pad)
{
	uint32_t ld[MAXDIM], sent[MAXDIM];
	starpu_data_handle_t h;
	size_t elements;
	void *buf;

	leading(&s, 1, sent);
	leading(&s, rank == 0 ? 1 : way == NOT_HOME ? 0 : my_pad, ld);
	elements = s.n ? (size_t) ld[s.n - 1] * s.nn[s.n - 1] : 1;
	buf = new_bytes(elements * ELEM);
	if (rank && way == NOT_HOME)
		register_dense(&h, -1, NULL, &s, ld);
	else
		register_dense(&h, STARPU_MAIN_RAM, buf, &s, ld);
	transfer(h, way);
	if (rank && way == NOT_HOME) {
		OK(starpu_data_acquire(h, STARPU_R));
		check_dense(&s, ld, sent, starpu_data_get_local_ptr(h), elements);
		starpu_data_release(h);
	}
	starpu_data_unregister(h);
	if (rank == 0 || way != NOT_HOME)
		check_dense(&s, ld, sent, buf, rank ? elements : 0);
	free(buf);
}

static const struct shape shapes[] = {
	{ .id = STARPU_VARIABLE_INTERFACE_ID },
	{ .id = STARPU_VECTOR_INTERFACE_ID, .n = 1, .nn = { 13 } },
	{ .id = STARPU_VECTOR_INTERFACE_ID, .n = 1, .nn = { 200001 } },
	{ .id = STARPU_MATRIX_INTERFACE_ID, .n = 2, .nn = { 5, 7 }, .pad = { 0, 3 } },
	{ .id = STARPU_MATRIX_INTERFACE_ID, .n = 2, .nn = { 301, 257 }, .pad = { 0, 9 } },
	{ .id = STARPU_BLOCK_INTERFACE_ID, .n = 3, .nn = { 3, 4, 5 }, .pad = { 0, 2, 1 } },
	{ .id = STARPU_BLOCK_INTERFACE_ID, .n = 3, .nn = { 30, 40, 50 }, .pad = { 0, 2, 1 } },
	{ .id = STARPU_TENSOR_INTERFACE_ID, .n = 4, .nn = { 2, 3, 4, 5 }, .pad = { 0, 1, 0, 1 } },
	{ .id = STARPU_TENSOR_INTERFACE_ID,
	  .n = 4,
	  .nn = { 17, 13, 11, 19 },
	  .pad = { 0, 1, 2, 1 } },
	{ .id = STARPU_NDIM_INTERFACE_ID },
	{ .id = STARPU_NDIM_INTERFACE_ID, .n = 1, .nn = { 11 } },
	{ .id = STARPU_NDIM_INTERFACE_ID,
	  .n = 5,
	  .nn = { 2, 3, 2, 3, 2 },
	  .pad = { 0, 1, 1, 0, 1 } },
	{ .id = STARPU_NDIM_INTERFACE_ID,
	  .n = 7,
	  .nn = { 4, 3, 5, 3, 4, 3, 6 },
	  .pad = { 0, 1, 1, 1, 0, 1, 1 } },
};

/* ---- matrices with indices: three arrays ---- */

/* The arrays as handles know them. */
static void arrays_of(starpu_data_handle_t h, enum starpu_data_interface_id id, void *v[3])
{
	void *i = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);

	if (id == STARPU_COO_INTERFACE_ID) {
		v[0] = (void *) STARPU_COO_GET_VALUES(i);
		v[1] = STARPU_COO_GET_COLUMNS(i);
		v[2] = STARPU_COO_GET_ROWS(i);
	} else if (id == STARPU_CSR_INTERFACE_ID) {
		v[0] = (void *) STARPU_CSR_GET_NZVAL(i);
		v[1] = STARPU_CSR_GET_COLIND(i);
		v[2] = STARPU_CSR_GET_ROWPTR(i);
	} else {
		v[0] = (void *) STARPU_BCSR_GET_NZVAL(i);
		v[1] = STARPU_BCSR_GET_COLIND(i);
		v[2] = STARPU_BCSR_GET_ROWPTR(i);
	}
}

static void check_arrays(enum starpu_data_interface_id id, void *const got[3],
			 const size_t bytes[3])
{
	for (int a = 0; a < 3; a++)
		for (size_t i = 0; i < bytes[a]; i++)
			CHECK(((unsigned char *) got[a])[i] == byte_of(i),
			      "interface %d: byte %zu of array %d is %u", (int) id, i, a,
			      ((unsigned char *) got[a])[i]);
}

static void sparse(enum starpu_data_interface_id id, uint32_t nnz, uint32_t nrow, enum way way)
{
	const uint32_t r = 2, c = 3;
	const size_t bytes[3] = {
		(size_t) nnz * ELEM * (id == STARPU_BCSR_INTERFACE_ID ? r * c : 1),
		nnz * sizeof(uint32_t),
		(id == STARPU_COO_INTERFACE_ID ? nnz : nrow + 1) * sizeof(uint32_t)
	};
	int away = rank && way == NOT_HOME, home = away ? -1 : STARPU_MAIN_RAM;
	void *v[3] = { NULL, NULL, NULL };
	starpu_data_handle_t h;

	for (int a = 0; a < 3 && !away; a++)
		v[a] = new_bytes(bytes[a]);
	if (id == STARPU_COO_INTERFACE_ID)
		starpu_coo_data_register(&h, home, nrow, nrow, nnz, v[1], v[2], (uintptr_t) v[0],
					 ELEM);
	else if (id == STARPU_CSR_INTERFACE_ID)
		starpu_csr_data_register(&h, home, nnz, nrow, (uintptr_t) v[0], v[1], v[2], 0,
					 ELEM);
	else
		starpu_bcsr_data_register(&h, home, nnz, nrow, (uintptr_t) v[0], v[1], v[2], 0, r,
					  c, ELEM);
	transfer(h, way);
	if (away) {
		OK(starpu_data_acquire(h, STARPU_R));
		arrays_of(h, id, v);
		check_arrays(id, v, bytes);
		starpu_data_release(h);
	}
	starpu_data_unregister(h);
	for (int a = 0; a < 3 && !away; a++) {
		if (a == 0)
			check_arrays(id, v, bytes);
		free(v[a]);
		v[a] = NULL;
	}
}

/* What travels is the format of CPUs. */
static void multiformat(uint32_t n, enum way way)
{
	static struct starpu_multiformat_data_interface_ops formats = {
		.cpu_elemsize = ELEM, .cuda_elemsize = 2 * ELEM, .opencl_elemsize = 3 * ELEM
	};
	int away = rank && way == NOT_HOME;
	unsigned char *v = new_bytes((size_t) n * ELEM), *got = v;
	starpu_data_handle_t h;

	starpu_multiformat_data_register(&h, away ? -1 : STARPU_MAIN_RAM, away ? NULL : v, n,
					 &formats);
	transfer(h, way);
	OK(starpu_data_acquire(h, STARPU_R));
	if (away)
		got = starpu_data_get_local_ptr(h);
	for (size_t i = 0; i < (size_t) n * ELEM; i++)
		CHECK(got[i] == byte_of(i), "multiformat: byte %zu is %u", i, got[i]);
	starpu_data_release(h);
	starpu_data_unregister(h);
	free(v);
}

static void nothing(enum way way)
{
	starpu_data_handle_t h;

	starpu_void_data_register(&h);
	transfer(h, way);
	starpu_data_unregister(h);
}

int main(int argc, char **argv)
{
	static const enum starpu_data_interface_id indexed[] = { STARPU_CSR_INTERFACE_ID,
								 STARPU_BCSR_INTERFACE_ID,
								 STARPU_COO_INTERFACE_ID };

	if (!begin(&argc, &argv, 2))
		return 77;
	for (int way = 0; way < WAYS && rank < 2; way++) {
		for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
			for (unsigned pad = 0; pad < 3; pad++)
				dense(shapes[i], (enum way) way, pad);
		for (unsigned i = 0; i < 3; i++) {
			sparse(indexed[i], 8, 5, (enum way) way);
			sparse(indexed[i], 60000, 1000, (enum way) way);
		}
		multiformat(7, (enum way) way);
		multiformat(70000, (enum way) way);
		nothing((enum way) way);
	}
	return end();
}
