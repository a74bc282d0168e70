/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* Data whose interface has no copy method go to a disk and come back through pack_data and
 * unpack_data, or peek_data, even when their packed form is larger than they are. Without these
 * operations the acquisition fails with a message.
 * orr-test: env STARPU_NCPU=2
 * orr-test: sim-args --kernels=run
 * orr-test: expect cannot be copied between main memory and a disk \(node 1\): set copy_methods */
#include "data/mem_test.h"

#include <errno.h>
#include <unistd.h>

#define N 1000
#define HEADER 100

/* N numbers in one buffer. */
struct numbers {
	uintptr_t ptr;
};

static int npacked, nunpacked;

static struct numbers *on(starpu_data_handle_t h, unsigned node)
{
	return starpu_data_get_interface_on_node(h, node);
}

static void numbers_register(starpu_data_handle_t h, int home, void *iface)
{
	for (int node = 0; node < STARPU_MAXNODES; node++)
		on(h, (unsigned) node)->ptr = node == home ? ((struct numbers *) iface)->ptr : 0;
}

static starpu_ssize_t numbers_allocate(void *iface, unsigned node)
{
	struct numbers *v = iface;

	v->ptr = starpu_malloc_on_node(node, N * sizeof(int));
	return v->ptr ? (starpu_ssize_t) (N * sizeof(int)) : -ENOMEM;
}

static void numbers_free(void *iface, unsigned node)
{
	struct numbers *v = iface;

	starpu_free_on_node(node, v->ptr, N * sizeof(int));
	v->ptr = 0;
}

static void *numbers_pointer(void *iface, unsigned node)
{
	(void) node;
	return (void *) ((struct numbers *) iface)->ptr;
}

static size_t numbers_size(starpu_data_handle_t h)
{
	(void) h;
	return N * sizeof(int);
}

static uint32_t numbers_footprint(starpu_data_handle_t h)
{
	(void) h;
	return N;
}

/* A header, then the numbers backwards. */
static int numbers_pack(starpu_data_handle_t h, unsigned node, void **ptr, starpu_ssize_t *count)
{
	int *v = (int *) on(h, node)->ptr;

	*count = (HEADER + N) * sizeof(int);
	if (!ptr)
		return 0;
	int *packed = (int *) starpu_malloc_on_node_flags(node, (size_t) *count, 0);
	memset(packed, 0, HEADER * sizeof(int));
	for (int i = 0; i < N; i++)
		packed[HEADER + i] = v[N - 1 - i];
	*ptr = packed;
	npacked++;
	return 0;
}

static int numbers_peek(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	int *v = (int *) on(h, node)->ptr, *packed = ptr;

	CHECK(count == (HEADER + N) * sizeof(int));
	for (int i = 0; i < N; i++)
		v[i] = packed[HEADER + N - 1 - i];
	nunpacked++;
	return 0;
}

static int numbers_unpack(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	int ret = numbers_peek(h, node, ptr, count);

	starpu_free_on_node_flags(node, (uintptr_t) ptr, count, 0);
	return ret;
}

static const struct starpu_data_copy_methods no_methods;

static struct starpu_data_interface_ops base_ops = {
	.register_data_handle = numbers_register,
	.allocate_data_on_node = numbers_allocate,
	.free_data_on_node = numbers_free,
	.to_pointer = numbers_pointer,
	.get_size = numbers_size,
	.footprint = numbers_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct numbers),
	.name = "numbers",
};

/* To the disk, back, changed, and home. */
static void round_trip(struct starpu_data_interface_ops *ops, unsigned disk)
{
	int v[N];
	struct numbers iface = { (uintptr_t) v };
	starpu_data_handle_t h;

	npacked = nunpacked = 0;
	for (int i = 0; i < N; i++)
		v[i] = i;
	starpu_data_register(&h, STARPU_MAIN_RAM, &iface, ops);
	CHECK(starpu_data_acquire_on_node(h, (int) disk, STARPU_RW) == 0);
	CHECK(npacked == 1 && nunpacked == 0);
	memset(v, 0, sizeof(v)); /* the only valid value is on the disk */
	starpu_data_release_on_node(h, (int) disk);
	CHECK(starpu_data_acquire(h, STARPU_RW) == 0);
	CHECK(npacked == 1 && nunpacked == 1);
	for (int i = 0; i < N; i++)
		CHECK(v[i] == i);
	v[1] = 77;
	starpu_data_release(h);
	CHECK(starpu_data_acquire_on_node(h, (int) disk, STARPU_R) == 0);
	starpu_data_release_on_node(h, (int) disk);
	starpu_data_unregister(h);
	CHECK(v[0] == 0 && v[1] == 77 && v[N - 1] == N - 1);
}

int main(void)
{
	const char *tmp = getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp";
	struct starpu_data_interface_ops unpacks = base_ops, peeks = base_ops, has_none = base_ops;
	char folder[300];
	int v[N] = { 0 };
	struct numbers iface = { (uintptr_t) v };
	starpu_data_handle_t h;

	unpacks.pack_data = peeks.pack_data = numbers_pack;
	unpacks.unpack_data = numbers_unpack;
	peeks.peek_data = numbers_peek;
	peeks.copy_methods = &no_methods;
	start();
	snprintf(folder, sizeof(folder), "%s/pack-%d", tmp, getpid());
	int disk = starpu_disk_register(&starpu_disk_unistd_ops, folder, STARPU_DISK_SIZE_MIN);
	CHECK(disk == 1);
	round_trip(&unpacks, (unsigned) disk);
	round_trip(&peeks, (unsigned) disk);
	starpu_data_register(&h, STARPU_MAIN_RAM, &iface, &has_none);
	CHECK(starpu_data_acquire_on_node(h, disk, STARPU_R) == -ENOTSUP);
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
