/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The methods of the complex interface: what the runtime needs to allocate, copy, pack and
 * recognise such data anywhere.
 *
 * Invariant: no method asks what kind of memory a node is; starpu_malloc_on_node() and
 * starpu_interface_copy() know.
 */
#include "complex_interface.h"

#include <errno.h>
#include <string.h>

static size_t bytes(const struct complex_interface *c)
{
	return (size_t) c->nx * sizeof(double);
}

static struct complex_interface *on_node(starpu_data_handle_t handle, unsigned node)
{
	return starpu_data_get_interface_on_node(handle, node);
}

/* The interface has these buffers, as a whole. */
static void place(struct complex_interface *c, uintptr_t real, uintptr_t imaginary)
{
	c->real = (double *) real;
	c->imaginary = (double *) imaginary;
	c->real_handle = real;
	c->imaginary_handle = imaginary;
	c->offset = 0;
}

static void complex_register(starpu_data_handle_t handle, int home_node, void *data_interface)
{
	const struct complex_interface *given = data_interface;

	for (int node = 0; node < STARPU_MAXNODES; node++) {
		struct complex_interface *c = on_node(handle, (unsigned) node);

		*c = (struct complex_interface){ .nx = given->nx };
		if (node == home_node)
			place(c, (uintptr_t) given->real, (uintptr_t) given->imaginary);
	}
}

static starpu_ssize_t complex_allocate(void *data_interface, unsigned node)
{
	struct complex_interface *c = data_interface;
	uintptr_t real = starpu_malloc_on_node(node, bytes(c)), imaginary;

	if (!real)
		return -ENOMEM;
	imaginary = starpu_malloc_on_node(node, bytes(c));
	if (!imaginary) {
		starpu_free_on_node(node, real, bytes(c));
		return -ENOMEM;
	}
	place(c, real, imaginary);
	return (starpu_ssize_t) (2 * bytes(c));
}

static void complex_free(void *data_interface, unsigned node)
{
	struct complex_interface *c = data_interface;

	starpu_free_on_node(node, c->real_handle, bytes(c));
	starpu_free_on_node(node, c->imaginary_handle, bytes(c));
	place(c, 0, 0);
}

/* The allocation cache: an allocation leaves one data and is given to another of the same
 * footprint. */
static void complex_cache(void *cached, void *src_data_interface, unsigned node)
{
	struct complex_interface *src = src_data_interface;

	(void) node;
	*(struct complex_interface *) cached = *src;
	place(src, 0, 0);
}

static void complex_reuse(void *dst_data_interface, const void *cached, unsigned node)
{
	const struct complex_interface *from = cached;
	struct complex_interface *dst = dst_data_interface;

	(void) node;
	place(dst, from->real_handle, from->imaginary_handle);
}

static size_t complex_get_size(starpu_data_handle_t handle)
{
	return 2 * bytes(on_node(handle, STARPU_MAIN_RAM));
}

static uint32_t complex_footprint(starpu_data_handle_t handle)
{
	return starpu_hash_crc32c_be((uint32_t) complex_get_nx(handle), 0);
}

static int complex_compare(void *a, void *b)
{
	return COMPLEX_GET_NX(a) == COMPLEX_GET_NX(b);
}

static void complex_display(starpu_data_handle_t handle, FILE *f)
{
	fprintf(f, "%d complex numbers\t", complex_get_nx(handle));
}

static starpu_ssize_t complex_describe(void *data_interface, char *buf, size_t size)
{
	return snprintf(buf, size, "Complex%d", COMPLEX_GET_NX(data_interface));
}

/* Real parts, then imaginary ones. */
static int complex_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
			starpu_ssize_t *count)
{
	struct complex_interface *c = on_node(handle, node);

	*count = (starpu_ssize_t) complex_get_size(handle);
	if (!ptr)
		return 0;
	*ptr = (void *) starpu_malloc_on_node_flags(node, (size_t) *count, 0);
	if (!*ptr)
		return -ENOMEM;
	memcpy(*ptr, c->real, bytes(c));
	memcpy((char *) *ptr + bytes(c), c->imaginary, bytes(c));
	return 0;
}

static int complex_peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	struct complex_interface *c = on_node(handle, node);

	if (count != 2 * bytes(c))
		return -EINVAL;
	memcpy(c->real, ptr, bytes(c));
	memcpy(c->imaginary, (char *) ptr + bytes(c), bytes(c));
	return 0;
}

static int complex_unpack(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	int ret = complex_peek(handle, node, ptr, count);

	starpu_free_on_node_flags(node, (uintptr_t) ptr, count, 0);
	return ret;
}

/* -EAGAIN: the copy goes on by itself, the runtime waits for it. */
static int complex_copy(void *src_interface, unsigned src_node, void *dst_interface,
			unsigned dst_node, void *async_data)
{
	struct complex_interface *src = src_interface, *dst = dst_interface;
	int real = starpu_interface_copy(src->real_handle, src->offset, src_node, dst->real_handle,
					 dst->offset, dst_node, bytes(src), async_data);
	int imaginary = starpu_interface_copy(src->imaginary_handle, src->offset, src_node,
					      dst->imaginary_handle, dst->offset, dst_node,
					      bytes(src), async_data);

	return real ? real : imaginary;
}

static const struct starpu_data_copy_methods complex_copy_methods = {
	.any_to_any = complex_copy,
};

static struct starpu_data_interface_ops complex_ops = {
	.register_data_handle = complex_register,
	.allocate_data_on_node = complex_allocate,
	.free_data_on_node = complex_free,
	.cache_data_on_node = complex_cache,
	.reuse_data_on_node = complex_reuse,
	.copy_methods = &complex_copy_methods,
	.get_size = complex_get_size,
	.footprint = complex_footprint,
	.compare = complex_compare,
	.display = complex_display,
	.describe = complex_describe,
	.pack_data = complex_pack,
	.peek_data = complex_peek,
	.unpack_data = complex_unpack,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct complex_interface),
	.name = "complex",
};

void complex_data_register(starpu_data_handle_t *handle, int home_node, double *real,
			   double *imaginary, int nx)
{
	struct complex_interface c = {
		.real = real,
		.imaginary = imaginary,
		.nx = nx,
	};

	starpu_data_register(handle, home_node, &c, &complex_ops);
}

double *complex_get_real(starpu_data_handle_t handle)
{
	return on_node(handle, STARPU_MAIN_RAM)->real;
}

double *complex_get_imaginary(starpu_data_handle_t handle)
{
	return on_node(handle, STARPU_MAIN_RAM)->imaginary;
}

int complex_get_nx(starpu_data_handle_t handle)
{
	return on_node(handle, STARPU_MAIN_RAM)->nx;
}

void complex_filter_block(void *father_interface, void *child_interface,
			  struct starpu_data_filter *f, unsigned id, unsigned nparts)
{
	struct complex_interface *father = father_interface, *child = child_interface;
	unsigned nx;
	size_t offset;

	(void) f;
	starpu_filter_nparts_compute_chunk_size_and_offset((unsigned) father->nx, nparts,
							   sizeof(double), id, 1, &nx, &offset);
	child->nx = (int) nx;
	child->real_handle = father->real_handle;
	child->imaginary_handle = father->imaginary_handle;
	child->offset = father->offset + offset;
	child->real = father->real ? father->real + offset / sizeof(double) : NULL;
	child->imaginary = father->imaginary ? father->imaginary + offset / sizeof(double) : NULL;
}
