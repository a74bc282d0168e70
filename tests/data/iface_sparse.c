/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CSR, BCSR and COO interfaces: accessors, tasks, packing byte by byte, filters. */
#include "data/iface_test.h"

#define NROW 5
#define NNZ 8
#define R 2
#define C 3

static uint32_t rowptr[NROW + 1] = { 0, 2, 2, 5, 7, 8 }, colind[NNZ] = { 0, 3, 1, 2, 4, 0, 4, 2 };

static void csr_cpu(void *buffers[], void *arg)
{
	uint32_t first = STARPU_CSR_GET_FIRSTENTRY(buffers[0]), i, k;
	uint32_t *rows = STARPU_CSR_GET_ROWPTR(buffers[0]),
		 *cols = STARPU_CSR_GET_COLIND(buffers[0]);
	int *val = (int *) STARPU_CSR_GET_NZVAL(buffers[0]);

	(void) arg;
	for (i = 0; i < STARPU_CSR_GET_NROW(buffers[0]); i++)
		for (k = rows[i] - first; k < rows[i + 1] - first; k++)
			val[k] += 10 * (int) cols[k];
}

static void bcsr_cpu(void *buffers[], void *arg)
{
	uint32_t first = STARPU_BCSR_GET_FIRSTENTRY(buffers[0]), i, k, e;
	uint32_t block = STARPU_BCSR_GET_R(buffers[0]) * STARPU_BCSR_GET_C(buffers[0]);
	uint32_t *rows = STARPU_BCSR_GET_ROWPTR(buffers[0]),
		 *cols = STARPU_BCSR_GET_COLIND(buffers[0]);
	int *val = (int *) STARPU_BCSR_GET_NZVAL(buffers[0]);

	(void) arg;
	for (i = 0; i < STARPU_BCSR_GET_NROW(buffers[0]); i++)
		for (k = rows[i] - first; k < rows[i + 1] - first; k++)
			for (e = 0; e < block; e++)
				val[k * block + e] += 10 * (int) cols[k];
}

static void coo_cpu(void *buffers[], void *arg)
{
	int *val = (int *) STARPU_COO_GET_VALUES(buffers[0]);

	(void) arg;
	for (uint32_t k = 0; k < STARPU_COO_GET_NVALUES(buffers[0]); k++)
		val[k] += 10 * (int) STARPU_COO_GET_COLUMNS(buffers[0])[k];
}

static struct starpu_codelet csr_cl = { .cpu_funcs = { csr_cpu },
					.cpu_funcs_name = { "csr_cpu" },
					.nbuffers = 1,
					.modes = { STARPU_RW },
					.name = "csr" };
static struct starpu_codelet bcsr_cl = { .cpu_funcs = { bcsr_cpu },
					 .cpu_funcs_name = { "bcsr_cpu" },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .name = "bcsr" };
static struct starpu_codelet coo_cl = { .cpu_funcs = { coo_cpu },
					.cpu_funcs_name = { "coo_cpu" },
					.nbuffers = 1,
					.modes = { STARPU_RW },
					.name = "coo" };

static void number(int *val, int n)
{
	for (int i = 0; i < n; i++)
		val[i] = i + 1;
}

/* Three arrays in this order make the packed form; they then come back into the other handle, whose
 * arrays are given too. */
static void check_packed(starpu_data_handle_t h, starpu_data_handle_t other, void *const from[3],
			 void *const to[3], const size_t size[3])
{
	starpu_ssize_t count = -1;
	void *buf = NULL;
	char *p;
	int i;

	CHECK(starpu_data_acquire(h, STARPU_R) == 0 && starpu_data_acquire(other, STARPU_W) == 0);
	CHECK(starpu_data_pack(h, NULL, &count) == 0 &&
	      count == (starpu_ssize_t) (size[0] + size[1] + size[2]));
	CHECK(starpu_data_pack(h, &buf, &count) == 0 && buf);
	for (i = 0, p = buf; i < 3; p += size[i++])
		CHECK(!memcmp(p, from[i], size[i]));
	CHECK(starpu_data_peek(other, buf, (size_t) count) == 0);
	for (i = 0; i < 3; i++) {
		CHECK(!memcmp(to[i], from[i], size[i]));
		memset(to[i], 0x55, size[i]);
	}
	CHECK(starpu_data_unpack(other, buf, (size_t) count) == 0);
	for (i = 0; i < 3; i++)
		CHECK(!memcmp(to[i], from[i], size[i]));
	starpu_data_release(other);
	starpu_data_release(h);
}

static void csr(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_csr_filter_vertical_block,
					.nchildren = 2 };
	uint32_t rows2[NROW + 1], cols2[NNZ];
	int val[NNZ], val2[NNZ], i;
	starpu_data_handle_t h, other;

	number(val, NNZ);
	starpu_csr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) val, colind, rowptr, 0,
				 sizeof(*val));
	starpu_csr_data_register(&other, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) val2, cols2, rows2,
				 0, sizeof(*val));
	CHECK(starpu_csr_get_nnz(h) == NNZ && starpu_csr_get_nrow(h) == NROW &&
	      starpu_csr_get_firstentry(h) == 0);
	CHECK(starpu_csr_get_local_nzval(h) == (uintptr_t) val &&
	      starpu_csr_get_local_colind(h) == colind && starpu_csr_get_local_rowptr(h) == rowptr);
	CHECK(starpu_csr_get_elemsize(h) == sizeof(*val));
	CHECK(starpu_task_insert(&csr_cl, STARPU_RW, h, 0) == 0);
	starpu_data_partition(h, &f);
	CHECK(starpu_csr_get_nrow(starpu_data_get_sub_data(h, 1, 0)) == 3 &&
	      starpu_csr_get_nnz(starpu_data_get_sub_data(h, 1, 0)) == 5);
	CHECK(starpu_csr_get_nrow(starpu_data_get_sub_data(h, 1, 1)) == 2 &&
	      starpu_csr_get_nnz(starpu_data_get_sub_data(h, 1, 1)) == 3);
	CHECK(starpu_csr_get_firstentry(starpu_data_get_sub_data(h, 1, 1)) == 5);
	for (i = 0; i < 2; i++)
		CHECK(starpu_task_insert(&csr_cl, STARPU_RW, starpu_data_get_sub_data(h, 1, i),
					 0) == 0);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	check_packed(h, other, (void *const[]){ val, colind, rowptr },
		     (void *const[]){ val2, cols2, rows2 },
		     (const size_t[]){ sizeof(val), sizeof(colind), sizeof(rowptr) });
	starpu_data_unregister(other);
	starpu_data_unregister(h);
	for (i = 0; i < NNZ; i++)
		CHECK(val[i] == i + 1 + 20 * (int) colind[i] && val2[i] == val[i]);
}

static void bcsr(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_bcsr_filter_vertical_block,
					.nchildren = 2 };
	uint32_t rows2[NROW + 1], cols2[NNZ];
	int val[NNZ * R * C], val2[NNZ * R * C], i;
	starpu_data_handle_t h, other;

	number(val, NNZ * R * C);
	starpu_bcsr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) val, colind, rowptr,
				  0, R, C, sizeof(*val));
	starpu_bcsr_data_register(&other, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) val2, cols2,
				  rows2, 0, R, C, sizeof(*val));
	CHECK(starpu_bcsr_get_nnz(h) == NNZ && starpu_bcsr_get_nrow(h) == NROW &&
	      starpu_bcsr_get_r(h) == R && starpu_bcsr_get_c(h) == C);
	CHECK(starpu_bcsr_get_local_nzval(h) == (uintptr_t) val &&
	      starpu_bcsr_get_local_colind(h) == colind &&
	      starpu_bcsr_get_local_rowptr(h) == rowptr);
	starpu_data_partition(h, &f);
	for (i = 0; i < 2; i++)
		CHECK(starpu_task_insert(&bcsr_cl, STARPU_RW, starpu_data_get_sub_data(h, 1, i),
					 0) == 0);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	check_packed(h, other, (void *const[]){ val, colind, rowptr },
		     (void *const[]){ val2, cols2, rows2 },
		     (const size_t[]){ sizeof(val), sizeof(colind), sizeof(rowptr) });
	starpu_data_unregister(other);
	f = (struct starpu_data_filter){
		.filter_func = starpu_bcsr_filter_canonical_block,
		.get_nchildren = starpu_bcsr_filter_canonical_block_get_nchildren,
		.get_child_ops = starpu_bcsr_filter_canonical_block_child_ops
	};
	starpu_data_partition(h, &f);
	CHECK(starpu_data_get_nb_children(h) == NNZ);
	for (i = 0; i < NNZ; i++) {
		starpu_data_handle_t block = starpu_data_get_sub_data(h, 1, i);

		CHECK(starpu_matrix_get_nx(block) == C && starpu_matrix_get_ny(block) == R &&
		      starpu_matrix_get_local_ld(block) == C);
		CHECK(starpu_task_insert(&add_cl, STARPU_RW, block, STARPU_VALUE, &(int){ 1000 },
					 sizeof(int), 0) == 0);
	}
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	starpu_data_unregister(h);
	for (i = 0; i < NNZ * R * C; i++)
		CHECK(val[i] == i + 1 + 10 * (int) colind[i / (R * C)] + 1000);
}

static void coo(void)
{
	uint32_t rows[4] = { 0, 1, 2, 2 }, cols[4] = { 3, 2, 1, 0 }, rows2[4], cols2[4];
	int val[4], val2[4], i;
	starpu_data_handle_t h, other;

	number(val, 4);
	starpu_coo_data_register(&h, STARPU_MAIN_RAM, 4, 3, 4, cols, rows, (uintptr_t) val,
				 sizeof(*val));
	starpu_coo_data_register(&other, STARPU_MAIN_RAM, 4, 3, 4, cols2, rows2, (uintptr_t) val2,
				 sizeof(*val));
	CHECK(starpu_task_insert(&coo_cl, STARPU_RW, h, 0) == 0);
	check_packed(h, other, (void *const[]){ cols, rows, val },
		     (void *const[]){ cols2, rows2, val2 },
		     (const size_t[]){ sizeof(cols), sizeof(rows), sizeof(val) });
	starpu_data_unregister(other);
	starpu_data_unregister(h);
	for (i = 0; i < 4; i++)
		CHECK(val[i] == i + 1 + 10 * (int) cols[i] && val2[i] == val[i]);
}

/* The forms of the accessors that kernels of devices use, and those that no other test does. */
static void accessors(void)
{
	uint32_t rows[NROW + 1], cols[NNZ];
	int val[NNZ * R * C];
	starpu_data_handle_t h;
	void *i;

	memcpy(rows, rowptr, sizeof(rows));
	memcpy(cols, colind, sizeof(cols));
	starpu_csr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) val, cols, rows, 0,
				 sizeof(*val));
	i = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	CHECK(STARPU_CSR_GET_ELEMSIZE(i) == sizeof(*val) && STARPU_CSR_GET_OFFSET == 0);
	CHECK(STARPU_CSR_GET_RAM_COLIND(i) == cols && STARPU_CSR_GET_RAM_ROWPTR(i) == rows);
	CHECK((uintptr_t) STARPU_CSR_GET_NZVAL_DEV_HANDLE(i) == (uintptr_t) val &&
	      (uintptr_t) STARPU_CSR_GET_COLIND_DEV_HANDLE(i) == (uintptr_t) cols);
	CHECK((uintptr_t) STARPU_CSR_GET_ROWPTR_DEV_HANDLE(i) == (uintptr_t) rows);
	starpu_data_unregister(h);
	starpu_bcsr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) val, cols, rows, 0, R,
				  C, sizeof(*val));
	i = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	CHECK(STARPU_BCSR_GET_ELEMSIZE(i) == sizeof(*val) && STARPU_BCSR_GET_OFFSET == 0);
	CHECK(starpu_bcsr_get_elemsize(h) == sizeof(*val) && starpu_bcsr_get_firstentry(h) == 0);
	CHECK(STARPU_BCSR_GET_RAM_COLIND(i) == cols && STARPU_BCSR_GET_RAM_ROWPTR(i) == rows);
	CHECK((uintptr_t) STARPU_BCSR_GET_NZVAL_DEV_HANDLE(i) == (uintptr_t) val &&
	      (uintptr_t) STARPU_BCSR_GET_COLIND_DEV_HANDLE(i) == (uintptr_t) cols);
	CHECK((uintptr_t) STARPU_BCSR_GET_ROWPTR_DEV_HANDLE(i) == (uintptr_t) rows);
	starpu_data_unregister(h);
	starpu_coo_data_register(&h, STARPU_MAIN_RAM, 4, 3, NNZ, cols, rows, (uintptr_t) val,
				 sizeof(*val));
	i = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	CHECK(STARPU_COO_GET_NX(i) == 4 && STARPU_COO_GET_NY(i) == 3 &&
	      STARPU_COO_GET_ELEMSIZE(i) == sizeof(*val) && STARPU_COO_GET_OFFSET == 0);
	CHECK((uintptr_t) STARPU_COO_GET_COLUMNS_DEV_HANDLE(i) == (uintptr_t) cols &&
	      (uintptr_t) STARPU_COO_GET_ROWS_DEV_HANDLE(i) == (uintptr_t) rows);
	CHECK((uintptr_t) STARPU_COO_GET_VALUES_DEV_HANDLE(i) == (uintptr_t) val);
	starpu_data_unregister(h);
}

/* Rows whose first entry is not number 0, and pieces of pieces. */
static void pieces_of_pieces(void)
{
	struct starpu_data_filter three = { .filter_func = starpu_csr_filter_vertical_block,
					    .nchildren = 3 },
				  two = three;
	uint32_t rows[NROW + 1], i, j, k = 0;
	int val[NNZ];
	starpu_data_handle_t h;

	for (i = 0; i <= NROW; i++)
		rows[i] = rowptr[i] + 70;
	number(val, NNZ);
	two.nchildren = 2;
	starpu_csr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) val, colind, rows, 70,
				 sizeof(*val));
	starpu_data_partition(h, &three); /* rows 0 1, 2 3, 4 */
	for (i = 0; i < 2; i++)
		starpu_data_partition(starpu_data_get_child(h, i), &two);
	for (i = 0; i < 2; i++)
		for (j = 0; j < 2; j++, k++) {
			starpu_data_handle_t c = starpu_data_get_sub_data(h, 2, i, j);

			CHECK(starpu_csr_get_nrow(c) == 1 &&
			      starpu_csr_get_firstentry(c) == rows[k] &&
			      starpu_csr_get_nnz(c) == rows[k + 1] - rows[k]);
			CHECK(starpu_csr_get_local_nzval(c) == (uintptr_t) (val + rowptr[k]) &&
			      starpu_csr_get_local_rowptr(c) == rows + k);
			CHECK(starpu_task_insert(&csr_cl, STARPU_RW, c, 0) == 0);
		}
	CHECK(starpu_task_insert(&csr_cl, STARPU_RW, starpu_data_get_child(h, 2), 0) == 0);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	starpu_data_unregister(h);
	for (i = 0; i < NNZ; i++)
		CHECK(val[i] == (int) i + 1 + 10 * (int) colind[i]);
}

int main(void)
{
	start();
	csr();
	bcsr();
	coo();
	accessors();
	pieces_of_pieces();
	starpu_shutdown();
	return 0;
}
