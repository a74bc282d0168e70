/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The multiformat interface: nx objects, laid out differently per kind of device (handbook 27.10).
 *
 * A node stores the format of its kind. A copy between formats puts the source's one in a staging
 * buffer on the destination; the transfer code then runs the conversion codelet there and drops the
 * buffer.
 *
 * Devices on which functions for the CPU compute (the simulated ones) have the format of CPUs:
 * there, a conversion takes its time and does nothing.
 *
 * Invariant: on a node, the pointer of the node's format is the value; the others are staging
 * buffers or NULL. */
#include "data/multiformat.h"
#include "base/log.h"
#include "data/data.h"
#include "data/datum/datum.h"
#include "data/iface/iface.h"

#include <errno.h>
#include <string.h>

enum { FORMAT_CPU, FORMAT_CUDA, FORMAT_OPENCL, NFORMATS };

static int format_of_kind(enum starpu_node_kind kind)
{
	return kind == STARPU_CUDA_RAM     ? FORMAT_CUDA
	       : kind == STARPU_OPENCL_RAM ? FORMAT_OPENCL
					   : FORMAT_CPU;
}

static int format_of_node(unsigned node)
{
	const struct orr_memnode *m = orr_self()->data->memnodes[node];

	return m->ops->cpu_format ? FORMAT_CPU : format_of_kind(m->kind);
}

int orr_multiformat_differ(unsigned node, unsigned other)
{
	return format_of_node(node) != format_of_node(other);
}

static void **pointer_of(struct starpu_multiformat_interface *i, int format)
{
	return format == FORMAT_CUDA     ? &i->cuda_ptr
	       : format == FORMAT_OPENCL ? &i->opencl_ptr
					 : &i->cpu_ptr;
}

static size_t format_size(const struct starpu_multiformat_interface *i, int format)
{
	size_t elemsize = format == FORMAT_CUDA     ? i->ops->cuda_elemsize
			  : format == FORMAT_OPENCL ? i->ops->opencl_elemsize
						    : i->ops->cpu_elemsize;

	return i->nx * elemsize;
}

static starpu_ssize_t allocate_format(struct starpu_multiformat_interface *i, unsigned node,
				      int format)
{
	static const char *const names[NFORMATS] = { "cpu", "cuda", "opencl" };
	size_t size = format_size(i, format);

	if (!size && i->nx)
		orr_fatal(
			"multiformat data: %s_elemsize is 0 but the data are used on memory node %u; set it in the format's ops",
			names[format], node);
	*pointer_of(i, format) = (void *) starpu_malloc_on_node(node, size ? size : 1);
	return *pointer_of(i, format) ? (starpu_ssize_t) size : -ENOMEM;
}

static void free_format(struct starpu_multiformat_interface *i, unsigned node, int format)
{
	void **p = pointer_of(i, format);
	size_t size = format_size(i, format);

	if (*p)
		starpu_free_on_node(node, (uintptr_t) *p, size ? size : 1);
	*p = NULL;
}

static starpu_ssize_t multiformat_allocate(void *iface, unsigned node)
{
	return allocate_format(iface, node, format_of_node(node));
}

static void multiformat_free(void *iface, unsigned node)
{
	for (int f = 0; f < NFORMATS; f++)
		free_format(iface, node, f);
}

starpu_ssize_t orr_multiformat_stage(void *iface, unsigned node, unsigned src_node)
{
	int format = format_of_node(src_node);

	if (format == format_of_node(node) || *pointer_of(iface, format))
		return 0;
	return allocate_format(iface, node, format);
}

void orr_multiformat_unstage(void *iface, unsigned node)
{
	for (int f = 0; f < NFORMATS; f++)
		if (f != format_of_node(node))
			free_format(iface, node, f);
}

struct starpu_codelet *orr_multiformat_codelet(void *iface, enum starpu_node_kind from,
					       enum starpu_node_kind to)
{
	const struct starpu_multiformat_data_interface_ops *ops =
		((struct starpu_multiformat_interface *) iface)->ops;
	int f = format_of_kind(from), t = format_of_kind(to);

	if (f == t)
		return NULL;
	if (f == FORMAT_CPU)
		return t == FORMAT_CUDA ? ops->cpu_to_cuda_cl : ops->cpu_to_opencl_cl;
	if (t == FORMAT_CPU)
		return f == FORMAT_CUDA ? ops->cuda_to_cpu_cl : ops->opencl_to_cpu_cl;
	return NULL;
}

/* Between two kinds of devices there is no codelet: through main memory. */
static int multiformat_can_copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
				unsigned handling_node)
{
	int f = format_of_node(src_node), t = format_of_node(dst_node);

	(void) src;
	(void) dst;
	(void) handling_node;
	return f == t || f == FORMAT_CPU || t == FORMAT_CPU;
}

static int multiformat_copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
			    void *async_data)
{
	int format = format_of_node(src_node);
	starpu_ssize_t ret = orr_multiformat_stage(dst, dst_node, src_node);

	if (ret < 0)
		return (int) ret;
	return starpu_interface_copy((uintptr_t) *pointer_of(src, format), 0, src_node,
				     (uintptr_t) *pointer_of(dst, format), 0, dst_node,
				     format_size(src, format), async_data);
}

static void multiformat_register(starpu_data_handle_t handle, int home_node, void *iface)
{
	struct starpu_multiformat_interface *i = iface, *ram = starpu_data_get_interface_on_node(
								handle, STARPU_MAIN_RAM);

	*ram = (struct starpu_multiformat_interface){ .id = STARPU_MULTIFORMAT_INTERFACE_ID,
						      .nx = i->nx,
						      .ops = i->ops };
	if (home_node < 0)
		return;
	struct starpu_multiformat_interface *home = starpu_data_get_interface_on_node(
		handle, (unsigned) home_node);
	*home = *ram;
	*pointer_of(home, format_of_node((unsigned) home_node)) = *pointer_of(
		i, format_of_node((unsigned) home_node));
}

static struct starpu_multiformat_data_interface_ops *multiformat_get_mf_ops(void *iface)
{
	return ((struct starpu_multiformat_interface *) iface)->ops;
}

static void *multiformat_pointer(void *iface, unsigned node)
{
	return *pointer_of(iface, format_of_node(node));
}

static size_t multiformat_get_size(starpu_data_handle_t handle)
{
	return format_size(orr_handle_iface(handle), FORMAT_CPU);
}

static uint32_t multiformat_footprint(starpu_data_handle_t handle)
{
	const struct starpu_multiformat_interface *i = orr_handle_iface(handle);
	uint32_t crc = starpu_hash_crc32c_be(i->nx, 0);

	crc = starpu_hash_crc32c_be((uint32_t) i->ops->cpu_elemsize, crc);
	crc = starpu_hash_crc32c_be((uint32_t) i->ops->cuda_elemsize, crc);
	return starpu_hash_crc32c_be((uint32_t) i->ops->opencl_elemsize, crc);
}

static int multiformat_compare(void *a, void *b)
{
	const struct starpu_multiformat_interface *x = a, *y = b;

	return x->nx == y->nx && x->ops->cpu_elemsize == y->ops->cpu_elemsize &&
	       x->ops->cuda_elemsize == y->ops->cuda_elemsize &&
	       x->ops->opencl_elemsize == y->ops->opencl_elemsize;
}

static void multiformat_display(starpu_data_handle_t handle, FILE *f)
{
	fprintf(f, "%u\t", ((struct starpu_multiformat_interface *) orr_handle_iface(handle))->nx);
}

static starpu_ssize_t multiformat_describe(void *iface, char *buf, size_t size)
{
	const struct starpu_multiformat_interface *i = iface;

	return snprintf(buf, size, "F%ux%zux%zux%zu", i->nx, i->ops->cpu_elemsize,
			i->ops->cuda_elemsize, i->ops->opencl_elemsize);
}

/* Processes exchange the format of CPUs, whatever the devices of the other side. */
static int cpu_format(starpu_data_handle_t handle, unsigned node, const char *what,
		      struct starpu_multiformat_interface **out)
{
	*out = starpu_data_get_interface_on_node(handle, node);
	if (format_of_node(node) != FORMAT_CPU) {
		orr_error(
			"%s of %s: memory node %u holds a device's format; acquire it in main memory and use node %d",
			what, orr_handle_name(handle), node, STARPU_MAIN_RAM);
		return -ENOTSUP;
	}
	if (!(*out)->cpu_ptr && (*out)->nx) {
		orr_error("%s of %s: there is no buffer on memory node %u; acquire it there first",
			  what, orr_handle_name(handle), node);
		return -EINVAL;
	}
	return 0;
}

static int multiformat_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
			    starpu_ssize_t *count)
{
	struct starpu_multiformat_interface *i;
	size_t size = multiformat_get_size(handle);
	uintptr_t buf;
	int ret;

	if (ptr) {
		ret = cpu_format(handle, node, "pack", &i);
		if (ret)
			return ret;
		buf = starpu_malloc_on_node_flags(node, size, 0);
		if (!buf && size)
			return -ENOMEM;
		ret = starpu_interface_copy((uintptr_t) i->cpu_ptr, 0, node, buf, 0, node, size,
					    NULL);
		if (ret) {
			starpu_free_on_node_flags(node, buf, size, 0);
			return ret;
		}
		*ptr = (void *) buf;
	}
	*count = (starpu_ssize_t) size;
	return 0;
}

static int multiformat_peek(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	struct starpu_multiformat_interface *i;

	if (count != multiformat_get_size(handle)) {
		orr_error("unpack of %s: %zu bytes given, its shape takes %zu",
			  orr_handle_name(handle), count, multiformat_get_size(handle));
		return -EINVAL;
	}
	int ret = cpu_format(handle, node, "unpack", &i);
	return ret ? ret
		   : starpu_interface_copy((uintptr_t) ptr, 0, node, (uintptr_t) i->cpu_ptr, 0,
					   node, count, NULL);
}

static int multiformat_unpack(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	int ret = multiformat_peek(handle, node, ptr, count);

	if (!ret)
		starpu_free_on_node_flags(node, (uintptr_t) ptr, count, 0);
	return ret;
}

static const struct starpu_data_copy_methods multiformat_copy_methods = {
	.can_copy = multiformat_can_copy, .any_to_any = multiformat_copy
};

struct starpu_data_interface_ops starpu_interface_multiformat_ops = {
	.register_data_handle = multiformat_register,
	.allocate_data_on_node = multiformat_allocate,
	.free_data_on_node = multiformat_free,
	.copy_methods = &multiformat_copy_methods,
	.to_pointer = multiformat_pointer,
	.get_size = multiformat_get_size,
	.get_alloc_size = multiformat_get_size,
	.get_max_size = multiformat_get_size,
	.footprint = multiformat_footprint,
	.alloc_footprint = multiformat_footprint,
	.compare = multiformat_compare,
	.alloc_compare = multiformat_compare,
	.display = multiformat_display,
	.describe = multiformat_describe,
	.interfaceid = STARPU_MULTIFORMAT_INTERFACE_ID,
	.interface_size = sizeof(struct starpu_multiformat_interface),
	.is_multiformat = 1,
	.dontcache = 1,
	.get_mf_ops = multiformat_get_mf_ops,
	.pack_data = multiformat_pack,
	.peek_data = multiformat_peek,
	.unpack_data = multiformat_unpack,
	.name = "multiformat",
};

void starpu_multiformat_data_register(starpu_data_handle_t *handle, int home_node, void *ptr,
				      uint32_t nobjects,
				      struct starpu_multiformat_data_interface_ops *format_ops)
{
	struct starpu_multiformat_interface i = { .id = STARPU_MULTIFORMAT_INTERFACE_ID,
						  .nx = nobjects,
						  .ops = format_ops };

	if (!format_ops || !format_ops->cpu_elemsize)
		orr_fatal(
			"registration of multiformat data: the format's ops are missing or have cpu_elemsize 0; give the bytes of an object in main memory");
	orr_iface_check_home(home_node, "multiformat");
	if (home_node >= 0)
		*pointer_of(&i, format_of_node((unsigned) home_node)) = ptr;
	starpu_data_register(handle, home_node, &i, &starpu_interface_multiformat_ops);
}
