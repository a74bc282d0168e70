/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The methods of the triangle interface: the fewest with which data can be allocated, copied
 * between memory nodes and sent. examples/complex_interface has the others, and explains them.
 *
 * Invariant: packed, a triangle is its columns one after the other, from the diagonal on.
 */
#include "triangle.h"

#include <errno.h>
#include <string.h>

static size_t room(const struct triangle_interface *t)
{
	return (size_t) t->n * (size_t) t->n * sizeof(double);
}

static struct triangle_interface *on_node(starpu_data_handle_t handle, unsigned node)
{
	return starpu_data_get_interface_on_node(handle, node);
}

static void triangle_register(starpu_data_handle_t handle, int home_node, void *data_interface)
{
	const struct triangle_interface *given = data_interface;

	for (int node = 0; node < STARPU_MAXNODES; node++) {
		struct triangle_interface *t = on_node(handle, (unsigned) node);

		t->n = given->n;
		t->a = node == home_node ? given->a : NULL;
	}
}

static starpu_ssize_t triangle_allocate(void *data_interface, unsigned node)
{
	struct triangle_interface *t = data_interface;

	t->a = (double *) starpu_malloc_on_node(node, room(t));
	return t->a ? (starpu_ssize_t) room(t) : -ENOMEM;
}

static void triangle_free(void *data_interface, unsigned node)
{
	struct triangle_interface *t = data_interface;

	starpu_free_on_node(node, (uintptr_t) t->a, room(t));
	t->a = NULL;
}

static int triangle_copy(void *src_interface, unsigned src_node, void *dst_interface,
			 unsigned dst_node, void *async_data)
{
	const struct triangle_interface *src = src_interface, *dst = dst_interface;

	return starpu_interface_copy((uintptr_t) src->a, 0, src_node, (uintptr_t) dst->a, 0,
				     dst_node, room(src), async_data);
}

static size_t triangle_size(starpu_data_handle_t handle)
{
	return room(on_node(handle, STARPU_MAIN_RAM));
}

static uint32_t triangle_footprint(starpu_data_handle_t handle)
{
	return starpu_hash_crc32c_be((uint32_t) on_node(handle, STARPU_MAIN_RAM)->n, 0);
}

static void *triangle_pointer(void *data_interface, unsigned node)
{
	(void) node;
	return ((struct triangle_interface *) data_interface)->a;
}

static int triangle_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
			 starpu_ssize_t *count)
{
	const struct triangle_interface *t = on_node(handle, node);
	double *to;

	*count = (starpu_ssize_t) ((size_t) t->n * ((size_t) t->n + 1) / 2 * sizeof(double));
	if (!ptr)
		return 0;
	to = (double *) starpu_malloc_on_node_flags(node, (size_t) *count, 0);
	*ptr = to;
	if (!to)
		return -ENOMEM;
	for (int j = 0; j < t->n; to += t->n - j, j++)
		memcpy(to, &t->a[j * t->n + j], (size_t) (t->n - j) * sizeof(*to));
	return 0;
}

static int triangle_peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	const struct triangle_interface *t = on_node(handle, node);
	const double *from = ptr;

	if (count != (size_t) t->n * ((size_t) t->n + 1) / 2 * sizeof(double))
		return -EINVAL;
	for (int j = 0; j < t->n; from += t->n - j, j++)
		memcpy(&t->a[j * t->n + j], from, (size_t) (t->n - j) * sizeof(*from));
	return 0;
}

static int triangle_unpack(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	int ret = triangle_peek(handle, node, ptr, count);

	starpu_free_on_node_flags(node, (uintptr_t) ptr, count, 0);
	return ret;
}

static const struct starpu_data_copy_methods triangle_copy_methods = {
	.any_to_any = triangle_copy,
};

static struct starpu_data_interface_ops triangle_ops = {
	.register_data_handle = triangle_register,
	.allocate_data_on_node = triangle_allocate,
	.free_data_on_node = triangle_free,
	.copy_methods = &triangle_copy_methods,
	.get_size = triangle_size,
	.footprint = triangle_footprint,
	.to_pointer = triangle_pointer,
	.pack_data = triangle_pack,
	.peek_data = triangle_peek,
	.unpack_data = triangle_unpack,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct triangle_interface),
	.name = "triangle",
};

void triangle_data_register(starpu_data_handle_t *handle, int home_node, double *a, int n)
{
	struct triangle_interface t = { .a = a, .n = n };

	starpu_data_register(handle, home_node, &t, &triangle_ops);
}

enum starpu_data_interface_id triangle_id(void)
{
	starpu_data_register_ops(&triangle_ops);
	return triangle_ops.interfaceid;
}
