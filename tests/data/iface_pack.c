/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every interface packed where it lies on a device, and unpacked into another datum there: the
 * bytes are those of packing in main memory, which the tests of the interfaces check one by one.
 * Wholes and pieces; by dev_handle and offset, too (iface_opencl.sh).
 *
 * Invariant: a size that does not fit changes nothing.
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=1 */
#include "data/iface_test.h"

#define NROW 5
#define NNZ 8
#define R 2
#define C 3

static unsigned dev;

static void *pack_in_main(starpu_data_handle_t h, size_t *size)
{
	starpu_ssize_t count = -1;
	void *bytes = NULL;

	CHECK(starpu_data_acquire(h, STARPU_R) == 0 &&
	      starpu_data_pack_node(h, STARPU_MAIN_RAM, &bytes, &count) == 0);
	starpu_data_release(h);
	*size = (size_t) count;
	return bytes;
}

static void *pack_there(starpu_data_handle_t h, size_t *size)
{
	starpu_ssize_t count = -1;
	void *bytes = NULL, *copy;

	CHECK(starpu_data_acquire_on_node(h, (int) dev, STARPU_R) == 0 &&
	      starpu_data_pack_node(h, dev, &bytes, &count) == 0);
	copy = malloc((size_t) count + 1);
	CHECK(starpu_interface_copy((uintptr_t) bytes, 0, dev, (uintptr_t) copy, 0, STARPU_MAIN_RAM,
				    (size_t) count, NULL) == 0);
	starpu_free_on_node_flags(dev, (uintptr_t) bytes, (size_t) count, 0);
	starpu_data_release_on_node(h, (int) dev);
	*size = (size_t) count;
	return copy;
}

/* By unpacking or, what leaves the bytes alone, peeking. */
static void fill_there(starpu_data_handle_t h, void *bytes, size_t size, int peek)
{
	uintptr_t p = starpu_malloc_on_node_flags(dev, size, 0);

	CHECK(p && starpu_interface_copy((uintptr_t) bytes, 0, STARPU_MAIN_RAM, p, 0, dev, size,
					 NULL) == 0);
	CHECK(starpu_data_acquire_on_node(h, (int) dev, STARPU_W) == 0);
	CHECK(starpu_data_peek_node(h, dev, (void *) p, size + 1) == -EINVAL &&
	      starpu_data_unpack_node(h, dev, (void *) p, size + 1) == -EINVAL);
	CHECK((peek ? starpu_data_peek_node(h, dev, (void *) p, size)
		    : starpu_data_unpack_node(h, dev, (void *) p, size)) == 0);
	starpu_data_release_on_node(h, (int) dev);
	if (peek)
		starpu_free_on_node_flags(dev, p, size, 0);
}

static void check_same(starpu_data_handle_t h, const void *bytes, size_t size)
{
	size_t n;
	char *b = pack_in_main(h, &n);

	CHECK(n == size && !memcmp(b, bytes, n));
	starpu_free_on_node_flags(STARPU_MAIN_RAM, (uintptr_t) b, n, 0);
}

/* The value of h goes to `other`, of the same shape, by way of packed bytes; both are compared. */
static void by_bytes(starpu_data_handle_t h, starpu_data_handle_t other)
{
	size_t size, n;
	char *want = pack_in_main(h, &size), *got, *turned = malloc(size + 1);

	CHECK(size == starpu_data_get_size(h));
	got = pack_there(h, &n);
	CHECK(n == size && !memcmp(got, want, n));
	for (int peek = 0; peek < 2; peek++) {
		for (n = 0; n < size; n++)
			turned[n] = (char) ~want[size - 1 - n];
		fill_there(other, turned, size, peek);
		check_same(other, turned, size);
		fill_there(other, got, size, peek);
		check_same(other, want, size);
	}
	check_same(h, want, size);
	starpu_free_on_node_flags(STARPU_MAIN_RAM, (uintptr_t) want, size, 0);
	free(got);
	free(turned);
}

/* As a whole, and cut as f says. */
static void go(starpu_data_handle_t h, starpu_data_handle_t other, struct starpu_data_filter *f)
{
	by_bytes(h, other);
	if (f) {
		starpu_data_partition(h, f);
		starpu_data_partition(other, f);
		for (unsigned i = 0; i < f->nchildren; i++)
			by_bytes(starpu_data_get_child(h, i), starpu_data_get_child(other, i));
		starpu_data_unpartition(other, STARPU_MAIN_RAM);
		starpu_data_unpartition(h, dev);
	}
	starpu_data_unregister(h);
	starpu_data_unregister(other);
}

#define FILTER(func, n, ...) \
	&(struct starpu_data_filter) \
	{ \
		.filter_func = starpu_##func, .nchildren = n, __VA_ARGS__ \
	}

static void dense(void)
{
	static int a[1500], b[1500];
	uint32_t nn[5] = { 3, 4, 2, 3, 4 }, lda[5] = { 1, 5, 20, 43, 130 },
		 ldb[5] = { 1, 3, 14, 30, 99 };
	starpu_data_handle_t h, other;

	for (int i = 0; i < 1500; i++)
		a[i] = i * 7919;
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, 13);
	starpu_variable_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) b, 13);
	go(h, other, NULL);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, 101, 3);
	starpu_vector_data_register(&other, -1, 0, 101, 3);
	go(h, other, FILTER(vector_filter_block, 4));
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, 17, 11, 7, 3);
	starpu_matrix_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) b, 12, 11, 7, 3);
	go(h, other, FILTER(matrix_filter_block, 3));
	starpu_block_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, 7, 40, 5, 4, 6, sizeof(int));
	starpu_block_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) b, 5, 30, 5, 4, 6,
				   sizeof(int));
	go(h, other, FILTER(block_filter_vertical_block, 2));
	starpu_tensor_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, 5, 17, 90, 4, 3, 5, 4,
				    sizeof(int));
	starpu_tensor_data_register(&other, -1, 0, 0, 0, 0, 4, 3, 5, 4, sizeof(int));
	go(h, other, FILTER(tensor_filter_depth_block, 3));
	starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) a, lda, nn, 5, sizeof(int));
	starpu_ndim_data_register(&other, STARPU_MAIN_RAM, (uintptr_t) b, ldb, nn, 5, sizeof(int));
	go(h, other, FILTER(ndim_filter_pick_ndim, 3, .filter_arg = 0));
}

static void indexed(void)
{
	static uint32_t rowptr[NROW + 1] = { 0, 2, 2, 5, 7, 8 },
				      colind[NNZ] = { 0, 3, 1, 2, 4, 0, 4, 2 }, rows2[NNZ],
				      colind2[NNZ];
	static int v[NNZ * R * C], w[NNZ * R * C];
	starpu_data_handle_t h, other;

	for (int i = 0; i < NNZ * R * C; i++)
		v[i] = i * 7919;
	starpu_csr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) v, colind, rowptr, 0,
				 sizeof(*v));
	starpu_csr_data_register(&other, -1, NNZ, NROW, 0, NULL, NULL, 0, sizeof(*v));
	go(h, other, NULL);
	starpu_bcsr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) v, colind, rowptr, 0,
				  R, C, sizeof(*v));
	starpu_bcsr_data_register(&other, -1, NNZ, NROW, 0, NULL, NULL, 0, R, C, sizeof(*v));
	go(h, other, NULL);
	starpu_coo_data_register(&h, STARPU_MAIN_RAM, NROW, NROW, NNZ, colind, colind,
				 (uintptr_t) v, sizeof(*v));
	starpu_coo_data_register(&other, STARPU_MAIN_RAM, NROW, NROW, NNZ, colind2, rows2,
				 (uintptr_t) w, sizeof(*v));
	go(h, other, NULL);
	CHECK(!memcmp(rows2, colind, sizeof(colind)) && !memcmp(colind2, colind, sizeof(colind)));
	for (int i = 0; i < NNZ; i++)
		CHECK(w[i] == i * 7919);
}

int main(void)
{
	start();
	if (starpu_memory_nodes_get_count() < 2)
		return 77;
	dev = 1;
	dense();
	indexed();
	CHECK(starpu_memory_get_used(dev) == 0);
	starpu_shutdown();
	return 0;
}
