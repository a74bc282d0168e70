/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* Interfaces that have lost their copy methods: pack_data into unpack_data is the way that is left,
 * for starpu_data_cpy, for duplicates, between NUMA nodes and to a disk and back. Variants of
 * built-in interfaces have the built-in structures, also with a number, a packed form or an
 * allocation of their own. Without any way the copy is refused by name.
 * orr-test: env STARPU_NCPU=2 STARPU_USE_NUMA=1
 * orr-test: sim-args --kernels=run
 * orr-test: timeout 120 */
#include "data/mem_test.h"

#include <errno.h>
#include <unistd.h>

#define N 960
#define HEADER 64

static const struct starpu_data_copy_methods none;
static int npacked, nunpacked;

/* ---- vectors that are packed backwards, behind a header ---- */

static int back_pack(starpu_data_handle_t h, unsigned node, void **ptr, starpu_ssize_t *count)
{
	int *v = starpu_data_handle_to_pointer(h, node);
	size_t n = starpu_vector_get_nx(h);

	*count = (starpu_ssize_t) ((HEADER + n) * sizeof(int));
	if (!ptr)
		return 0;
	int *packed = (int *) starpu_malloc_on_node_flags(node, (size_t) *count, 0);
	CHECK(packed && v);
	memset(packed, 1, HEADER * sizeof(int));
	for (size_t i = 0; i < n; i++)
		packed[HEADER + i] = v[n - 1 - i];
	*ptr = packed;
	npacked++;
	return 0;
}

static int back_peek(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	struct starpu_vector_interface *d = starpu_data_get_interface_on_node(h, node);
	int *v = (int *) d->ptr, *packed = ptr;

	/* The description of the destination is complete. */
	CHECK(v && d->elemsize == sizeof(int) && count == (HEADER + d->nx) * sizeof(int));
	for (size_t i = 0; i < d->nx; i++)
		v[i] = packed[HEADER + d->nx - 1 - i];
	nunpacked++;
	return 0;
}

static int back_unpack(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	int ret = back_peek(h, node, ptr, count);

	starpu_free_on_node_flags(node, (uintptr_t) ptr, count, 0);
	return ret;
}

/* ---- the variants ---- */

enum variant { PLAIN, NUMBERED, UNPACKS, PEEKS, NVARIANTS };

/* The runtime keeps buffers of data that ended, with their methods. */
static struct starpu_data_interface_ops *variant_of(const struct starpu_data_interface_ops *base,
						    enum variant v)
{
	static struct starpu_data_interface_ops all[64];
	static unsigned n;

	CHECK(n < 64);
	struct starpu_data_interface_ops *ops = &all[n++];
	*ops = *base;
	ops->copy_methods = v == PEEKS ? NULL : &none;
	if (v == NUMBERED)
		ops->interfaceid = STARPU_UNKNOWN_INTERFACE_ID; /* registration gives one */
	if (v == UNPACKS || v == PEEKS) {
		ops->pack_data = back_pack;
		ops->peek_data = back_peek;
		ops->unpack_data = v == UNPACKS ? back_unpack : NULL;
	}
	return ops;
}

static starpu_data_handle_t vector(struct starpu_data_interface_ops *ops, int *v, uint32_t n)
{
	struct starpu_vector_interface i = { .id = STARPU_VECTOR_INTERFACE_ID,
					     .ptr = (uintptr_t) v,
					     .dev_handle = (uintptr_t) v,
					     .nx = n,
					     .elemsize = sizeof(int),
					     .allocsize = n * sizeof(int) };
	starpu_data_handle_t h;

	starpu_data_register(&h, v ? STARPU_MAIN_RAM : -1, &i, ops);
	return h;
}

/* Columns of a larger array. */
static starpu_data_handle_t matrix(struct starpu_data_interface_ops *ops, int *v)
{
	struct starpu_matrix_interface i = { .id = STARPU_MATRIX_INTERFACE_ID,
					     .ptr = (uintptr_t) v,
					     .dev_handle = (uintptr_t) v,
					     .ld = 40,
					     .nx = 30,
					     .ny = N / 40,
					     .elemsize = sizeof(int),
					     .allocsize = 30 * (N / 40) * sizeof(int) };
	starpu_data_handle_t h;

	starpu_data_register(&h, STARPU_MAIN_RAM, &i, ops);
	return h;
}

/* Sparse rows; one array of the structure tells how large another one is. */
static starpu_data_handle_t sparse(struct starpu_data_interface_ops *ops, int *v, uint32_t *col,
				   uint32_t *row)
{
	struct starpu_csr_interface i = { .id = STARPU_CSR_INTERFACE_ID,
					  .nnz = N,
					  .nrow = N / 10,
					  .nzval = (uintptr_t) v,
					  .colind = col,
					  .rowptr = row,
					  .elemsize = sizeof(int) };
	starpu_data_handle_t h;

	for (unsigned k = 0; k < N; k++)
		col[k] = k % 10;
	for (unsigned k = 0; k <= N / 10; k++)
		row[k] = 10 * k;
	starpu_data_register(&h, STARPU_MAIN_RAM, &i, ops);
	return h;
}

/* ---- what is checked ---- */

static void fill(int *v)
{
	for (int i = 0; i < N; i++)
		v[i] = 3 * i + 1;
	npacked = nunpacked = 0;
}

/* To the node and back, where the value is the only one: the program's copy is destroyed. inner:
 * how many of each 40 elements are the datum's. */
static void trip(starpu_data_handle_t h, int *v, unsigned node, int inner)
{
	fill(v);
	OK(starpu_data_acquire(h, STARPU_W));
	fill(v);
	starpu_data_release(h);
	OK(starpu_data_acquire_on_node(h, (int) node, STARPU_RW));
	memset(v, 0, N * sizeof(int));
	starpu_data_release_on_node(h, (int) node);
	OK(starpu_data_acquire(h, STARPU_R));
	for (int i = 0; i < N; i++)
		CHECK(v[i] == (i % 40 < inner ? 3 * i + 1 : 0), "element %d is %d", i, v[i]);
	starpu_data_release(h);
}

static void copies(struct starpu_data_interface_ops *ops, int own)
{
	static int v[N], w[N];
	starpu_data_handle_t a = vector(ops, v, N), b = vector(ops, w, N), c = vector(ops, NULL, 7),
			     dup;

	fill(v);
	OK(starpu_data_cpy(b, a, 0, NULL, NULL));
	OK(starpu_data_cpy(c, a, 0, NULL, NULL)); /* it takes the source's shape */
	OK(starpu_data_dup_ro(&dup, b, 0));
	OK(starpu_data_acquire(b, STARPU_R));
	OK(starpu_data_acquire(c, STARPU_R));
	OK(starpu_data_acquire(dup, STARPU_R));
	CHECK_IS(starpu_vector_get_nx(c), N);
	CHECK(!memcmp(v, w, sizeof(v)));
	CHECK(!memcmp(v, starpu_data_get_local_ptr(c), sizeof(v)));
	CHECK(!memcmp(v, starpu_data_get_local_ptr(dup), sizeof(v)));
	starpu_data_release(dup);
	starpu_data_release(c);
	starpu_data_release(b);
	CHECK(!own || (npacked >= 3 && nunpacked == npacked), "%d, %d", npacked, nunpacked);
	starpu_data_unregister(dup);
	starpu_data_unregister(c);
	starpu_data_unregister(b);
	starpu_data_unregister(a);
}

/* A NUMA node or a disk. */
static void visits(unsigned node)
{
	static int v[N];
	static uint32_t col[N], row[N / 10 + 1];

	for (int i = 0; i < NVARIANTS; i++) {
		struct starpu_data_interface_ops *ops = variant_of(&starpu_interface_vector_ops,
								   (enum variant) i);
		starpu_data_handle_t h = vector(ops, v, N);

		trip(h, v, node, 40);
		CHECK(i < UNPACKS || (npacked && npacked == nunpacked));
		starpu_data_unregister(h);
	}
	for (int i = PLAIN; i <= NUMBERED; i++) {
		struct starpu_data_interface_ops *m = variant_of(&starpu_interface_matrix_ops,
								 (enum variant) i),
						 *s = variant_of(&starpu_interface_csr_ops,
								 (enum variant) i);
		starpu_data_handle_t h = matrix(m, v);

		trip(h, v, node, 30);
		starpu_data_unregister(h);
		h = sparse(s, v, col, row);
		trip(h, v, node, 40);
		CHECK(col[N - 1] == 9 && row[N / 10] == N);
		starpu_data_unregister(h);
	}
}

/* Neither copies nor packs. */
static void refuses(unsigned node)
{
	struct starpu_data_interface_ops *ops = variant_of(&starpu_interface_vector_ops, UNPACKS);
	static int v[N];

	ops->pack_data = NULL;
	starpu_data_handle_t h = vector(ops, v, N);
	OK(starpu_data_acquire(h, STARPU_W));
	starpu_data_release(h);
	CHECK_IS(starpu_data_acquire_on_node(h, (int) node, STARPU_R), -ENOTSUP);
	starpu_data_unregister(h);
}

int main(void)
{
	const char *tmp = getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp";
	char folder[300];

	setenv("STARPU_HWLOC_INPUT", "numa:2 core:1 pu:1", 0);
	start();
	for (int i = 0; i < NVARIANTS; i++) {
		struct starpu_data_interface_ops *ops = variant_of(&starpu_interface_vector_ops,
								   (enum variant) i);

		copies(ops, i >= UNPACKS);
	}
	unsigned nnuma = (unsigned) starpu_memory_nodes_get_numa_count();
	if (nnuma > 1) {
		visits(1);
		refuses(1);
	}
	snprintf(folder, sizeof(folder), "%s/copies-%d", tmp, getpid());
	int disk = starpu_disk_register(&starpu_disk_unistd_ops, folder, STARPU_DISK_SIZE_MIN);
	CHECK_IS(disk, nnuma);
	visits((unsigned) disk);
	refuses((unsigned) disk);
	starpu_shutdown();
	return 0;
}
