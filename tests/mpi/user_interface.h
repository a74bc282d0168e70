/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An interface of the program for tests: two arrays of ints that do not touch. Same text in both
 * worlds. */
#ifndef USER_INTERFACE_H
#define USER_INTERFACE_H

#include "mpi_test.h"

struct pair_interface {
	int *first, *second;
	int n;
};

static void pair_register(starpu_data_handle_t handle, int home_node, void *data_interface)
{
	struct pair_interface *from = data_interface;

	for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
		struct pair_interface *to = starpu_data_get_interface_on_node(handle, node);
		to->n = from->n;
		to->first = (int) node == home_node ? from->first : NULL;
		to->second = (int) node == home_node ? from->second : NULL;
	}
}

static starpu_ssize_t pair_allocate(void *data_interface, unsigned node)
{
	struct pair_interface *p = data_interface;
	size_t bytes = (size_t) p->n * sizeof(int);

	p->first = (int *) starpu_malloc_on_node(node, bytes);
	p->second = (int *) starpu_malloc_on_node(node, bytes);
	return p->first && p->second ? (starpu_ssize_t) (2 * bytes) : -ENOMEM;
}

static void pair_free(void *data_interface, unsigned node)
{
	struct pair_interface *p = data_interface;
	size_t bytes = (size_t) p->n * sizeof(int);

	starpu_free_on_node(node, (uintptr_t) p->first, bytes);
	starpu_free_on_node(node, (uintptr_t) p->second, bytes);
}

static int pair_copy(void *src_interface, unsigned src_node, void *dst_interface, unsigned dst_node,
		     void *async_data)
{
	struct pair_interface *src = src_interface, *dst = dst_interface;
	size_t bytes = (size_t) src->n * sizeof(int);
	int ret = starpu_interface_copy((uintptr_t) src->first, 0, src_node, (uintptr_t) dst->first,
					0, dst_node, bytes, async_data);

	return starpu_interface_copy((uintptr_t) src->second, 0, src_node, (uintptr_t) dst->second,
				     0, dst_node, bytes, async_data)
		       ? -EAGAIN
		       : ret;
}

static size_t pair_size(starpu_data_handle_t handle)
{
	struct pair_interface *p = starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);

	return 2 * (size_t) p->n * sizeof(int);
}

static uint32_t pair_footprint(starpu_data_handle_t handle)
{
	return (uint32_t) pair_size(handle);
}

static void *pair_pointer(void *data_interface, unsigned node)
{
	(void) node;
	return ((struct pair_interface *) data_interface)->first;
}

static int packed, unpacked;

static int pair_pack(starpu_data_handle_t handle, unsigned node, void **ptr, starpu_ssize_t *count)
{
	struct pair_interface *p = starpu_data_get_interface_on_node(handle, node);
	size_t half = (size_t) p->n * sizeof(int);

	*count = (starpu_ssize_t) (2 * half);
	if (!ptr)
		return 0;
	packed++;
	*ptr = (void *) starpu_malloc_on_node_flags(node, 2 * half, 0);
	memcpy(*ptr, p->first, half);
	memcpy((char *) *ptr + half, p->second, half);
	return 0;
}

static int pair_peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	struct pair_interface *p = starpu_data_get_interface_on_node(handle, node);

	unpacked++;
	memcpy(p->first, ptr, count / 2);
	memcpy(p->second, (char *) ptr + count / 2, count / 2);
	return 0;
}

static int pair_unpack(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	pair_peek(handle, node, ptr, count);
	starpu_free_on_node_flags(node, (uintptr_t) ptr, count, 0);
	return 0;
}

static const struct starpu_data_copy_methods pair_copies = { .any_to_any = pair_copy };

static struct starpu_data_interface_ops pair_ops = {
	.register_data_handle = pair_register,
	.allocate_data_on_node = pair_allocate,
	.free_data_on_node = pair_free,
	.copy_methods = &pair_copies,
	.get_size = pair_size,
	.footprint = pair_footprint,
	.to_pointer = pair_pointer,
	.pack_data = pair_pack,
	.peek_data = pair_peek,
	.unpack_data = pair_unpack,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct pair_interface),
	.name = "pair",
};

static inline void new_pair(starpu_data_handle_t *h, int n)
{
	struct pair_interface p = { .n = n };

	starpu_data_register(h, -1, &p, &pair_ops);
}

static inline void fill_pair(starpu_data_handle_t h, int value)
{
	OK(starpu_data_acquire(h, STARPU_W));
	struct pair_interface *p = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	for (int i = 0; i < p->n; i++) {
		p->first[i] = value + i;
		p->second[i] = -value - i;
	}
	starpu_data_release(h);
}

static inline void check_pair(starpu_data_handle_t h, int value)
{
	OK(starpu_data_acquire(h, STARPU_R));
	struct pair_interface *p = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	for (int i = 0; i < p->n; i++)
		CHECK(p->first[i] == value + i && p->second[i] == -value - i, "%d: %d and %d", i,
		      p->first[i], p->second[i]);
	starpu_data_release(h);
}

/* Messages of several sizes around the ring, received early, late, and while posted. */
static inline void exchange_pairs(void)
{
	static const int sizes[] = { 3, 600, 5000, 100000 };
	int to = (rank + 1) % size, from = (rank + size - 1) % size;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int late = 0; late < 2; late++) {
			starpu_data_handle_t out, in;
			new_pair(&out, sizes[i]);
			new_pair(&in, sizes[i]);
			fill_pair(out, 1000 * rank + (int) i);
			if (!late)
				OK(starpu_mpi_irecv_detached(in, from, i, MPI_COMM_WORLD, NULL,
							     NULL));
			OK(MPI_Barrier(MPI_COMM_WORLD));
			OK(starpu_mpi_isend_detached(out, to, i, MPI_COMM_WORLD, NULL, NULL));
			OK(MPI_Barrier(MPI_COMM_WORLD));
			if (late)
				OK(starpu_mpi_irecv_detached(in, from, i, MPI_COMM_WORLD, NULL,
							     NULL));
			OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
			check_pair(in, 1000 * from + (int) i);
			starpu_data_unregister(out);
			starpu_data_unregister(in);
		}
}

#endif
