/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The shape of data of the dense interfaces, as they store it: the view, filling structures,
 * following a size that a task changed (handbook 27.1), registration and its checks.
 *
 * Invariant: beside this file and iface_dense.c nothing depends on which dense interface it is;
 * sizes that overflow or leading dimensions that make elements overlap never get past registration.
 */
#include "data/iface/iface_dense.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t packed_size(const struct orr_dense *d)
{
	size_t size = d->elemsize;

	for (size_t i = 0; i < d->ndim; i++)
		size *= d->nn[i];
	return size;
}

size_t orr_dense_size(const struct orr_dense *d)
{
	return packed_size(d);
}

/* Pointers of one structure, for the view. */
#define VIEW_HEAD(i) \
	(d->ptr = &(i)->ptr, d->dev_handle = &(i)->dev_handle, d->offset = &(i)->offset, \
	 d->elemsize = (i)->elemsize)

static void view_small(enum starpu_data_interface_id id, void *iface, struct orr_dense *d)
{
	struct starpu_variable_interface *v = iface;
	struct starpu_vector_interface *x = iface;
	struct starpu_matrix_interface *m = iface;

	switch (id) {
	case STARPU_VARIABLE_INTERFACE_ID:
		VIEW_HEAD(v);
		d->ndim = 0;
		break;
	case STARPU_VECTOR_INTERFACE_ID:
		VIEW_HEAD(x);
		d->alloc_field = &x->allocsize;
		d->ndim = 1;
		d->nn_buf[0] = x->nx;
		break;
	default:
		VIEW_HEAD(m);
		d->alloc_field = &m->allocsize;
		d->ndim = 2;
		d->nn_buf[0] = m->nx;
		d->nn_buf[1] = m->ny;
		d->ldn_buf[1] = m->ld;
	}
}

static void view_block(struct starpu_block_interface *b, struct orr_dense *d)
{
	VIEW_HEAD(b);
	d->ndim = 3;
	d->nn_buf[0] = b->nx;
	d->nn_buf[1] = b->ny;
	d->nn_buf[2] = b->nz;
	d->ldn_buf[1] = b->ldy;
	d->ldn_buf[2] = b->ldz;
}

static void view_tensor(struct starpu_tensor_interface *t, struct orr_dense *d)
{
	VIEW_HEAD(t);
	d->ndim = 4;
	d->nn_buf[0] = t->nx;
	d->nn_buf[1] = t->ny;
	d->nn_buf[2] = t->nz;
	d->nn_buf[3] = t->nt;
	d->ldn_buf[1] = t->ldy;
	d->ldn_buf[2] = t->ldz;
	d->ldn_buf[3] = t->ldt;
}

static void view_ndim(struct starpu_ndim_interface *n, struct orr_dense *d)
{
	VIEW_HEAD(n);
	d->alloc_field = &n->allocsize;
	d->ndim = n->ndim;
	d->nn = n->nn;
	d->ldn = n->ldn;
}

void orr_dense_view(enum starpu_data_interface_id id, void *iface, struct orr_dense *d)
{
	d->alloc_field = NULL;
	d->nn = d->nn_buf;
	d->ldn = d->ldn_buf;
	d->ldn_buf[0] = 1;
	switch (id) {
	case STARPU_BLOCK_INTERFACE_ID: view_block(iface, d); break;
	case STARPU_TENSOR_INTERFACE_ID: view_tensor(iface, d); break;
	case STARPU_NDIM_INTERFACE_ID: view_ndim(iface, d); break;
	default: view_small(id, iface, d);
	}
	/* 0: a program's filter left it unset. */
	d->allocsize = d->alloc_field && *d->alloc_field ? *d->alloc_field : packed_size(d);
}

void orr_dense_store_ld(enum starpu_data_interface_id id, void *iface, const uint32_t *ldn)
{
	switch (id) {
	case STARPU_MATRIX_INTERFACE_ID:
		((struct starpu_matrix_interface *) iface)->ld = ldn[1];
		break;
	case STARPU_BLOCK_INTERFACE_ID:
		((struct starpu_block_interface *) iface)->ldy = ldn[1];
		((struct starpu_block_interface *) iface)->ldz = ldn[2];
		break;
	case STARPU_TENSOR_INTERFACE_ID:
		((struct starpu_tensor_interface *) iface)->ldy = ldn[1];
		((struct starpu_tensor_interface *) iface)->ldz = ldn[2];
		((struct starpu_tensor_interface *) iface)->ldt = ldn[3];
		break;
	case STARPU_NDIM_INTERFACE_ID:
		if (((struct starpu_ndim_interface *) iface)->ndim &&
		    ((struct starpu_ndim_interface *) iface)->ldn != ldn)
			memcpy(((struct starpu_ndim_interface *) iface)->ldn, ldn,
			       ((struct starpu_ndim_interface *) iface)->ndim * sizeof(*ldn));
		break;
	default: break;
	}
}

static void store_sizes(enum starpu_data_interface_id id, void *iface, size_t elemsize,
			const uint32_t *nn)
{
	struct starpu_matrix_interface *m = iface;
	struct starpu_block_interface *b = iface;
	struct starpu_tensor_interface *t = iface;

	switch (id) {
	case STARPU_VARIABLE_INTERFACE_ID:
		((struct starpu_variable_interface *) iface)->elemsize = elemsize;
		break;
	case STARPU_VECTOR_INTERFACE_ID:
		((struct starpu_vector_interface *) iface)->nx = nn[0];
		((struct starpu_vector_interface *) iface)->elemsize = elemsize;
		break;
	case STARPU_MATRIX_INTERFACE_ID:
		m->nx = nn[0], m->ny = nn[1], m->elemsize = elemsize;
		break;
	case STARPU_BLOCK_INTERFACE_ID:
		b->nx = nn[0], b->ny = nn[1], b->nz = nn[2], b->elemsize = elemsize;
		break;
	case STARPU_TENSOR_INTERFACE_ID:
		t->nx = nn[0], t->ny = nn[1], t->nz = nn[2], t->nt = nn[3], t->elemsize = elemsize;
		break;
	default: {
		struct starpu_ndim_interface *n = iface;
		n->elemsize = elemsize;
		if (n->ndim && n->nn != nn)
			memcpy(n->nn, nn, n->ndim * sizeof(*nn));
	}
	}
}

/* A pair of arrays of ndim entries (at least one, so that NULL means "none"). */
static void new_meta(struct starpu_ndim_interface *n, const uint32_t *nn, size_t ndim)
{
	n->nn = calloc(ndim ? ndim : 1, sizeof(*n->nn));
	n->ldn = calloc(ndim ? ndim : 1, sizeof(*n->ldn));
	if (!n->nn || !n->ldn)
		orr_fatal("n-dimensional data: no memory for %zu dimensions", ndim);
	if (ndim)
		memcpy(n->nn, nn, ndim * sizeof(*nn));
	n->ndim = ndim;
}

void orr_dense_fill(enum starpu_data_interface_id id, void *iface, size_t elemsize, size_t ndim,
		    const uint32_t *nn, const uint32_t *ldn, uintptr_t ptr, uintptr_t dev_handle,
		    size_t offset)
{
	struct starpu_data_interface_ops *ops = orr_iface_ops(id);
	struct orr_dense d;

	memset(iface, 0, ops->interface_size);
	memcpy(iface, &id, sizeof(id)); /* the first field of each */
	if (id == STARPU_NDIM_INTERFACE_ID)
		new_meta(iface, nn, ndim);
	store_sizes(id, iface, elemsize, nn);
	orr_dense_store_ld(id, iface, ldn);
	orr_dense_view(id, iface, &d);
	if (d.alloc_field)
		*d.alloc_field = d.allocsize;
	*d.ptr = ptr;
	*d.dev_handle = dev_handle;
	*d.offset = offset;
}

void orr_dense_detach_shape(enum starpu_data_interface_id id, void *iface)
{
	struct orr_dense d;

	orr_dense_view(id, iface, &d);
	for (size_t i = 0; i < d.ndim; i++)
		d.ldn[i] = i ? d.ldn[i - 1] * d.nn[i - 1] : 1;
	orr_dense_store_ld(id, iface, d.ldn);
}

void orr_dense_detach(enum starpu_data_interface_id id, void *iface)
{
	struct orr_dense d;

	if (id == STARPU_NDIM_INTERFACE_ID)
		new_meta(iface, ((struct starpu_ndim_interface *) iface)->nn,
			 ((struct starpu_ndim_interface *) iface)->ndim);
	orr_dense_view(id, iface, &d);
	*d.ptr = *d.dev_handle = 0;
	*d.offset = 0;
	orr_dense_detach_shape(id, iface);
}

/* True if dst may keep its leading dimensions with the sizes nn: nothing grows, or all of it lies
 * within the allocation and no elements overlap. */
static int ld_serves(const struct orr_dense *d, const uint32_t *nn)
{
	size_t extent = 1;
	int grows = 0;

	for (size_t i = 0; i < d->ndim; i++) {
		if (nn[i] > 1 && d->ldn[i] < extent)
			return 0;
		if (nn[i] > 1)
			extent += (size_t) (nn[i] - 1) * d->ldn[i];
		grows |= nn[i] > d->nn[i];
	}
	return !grows || extent * d->elemsize <= d->allocsize;
}

int orr_dense_follow(enum starpu_data_interface_id id, void *dst, void *src)
{
	struct orr_dense d, s;
	int keep;

	if (orr_dense_compare(id, dst, src))
		return 0;
	orr_dense_view(id, dst, &d);
	orr_dense_view(id, src, &s);
	if (d.ndim != s.ndim)
		return -ENOSPC;
	if (*d.ptr || *d.dev_handle) {
		if (!d.alloc_field || packed_size(&s) > d.allocsize)
			return -ENOSPC;
		*d.alloc_field = d.allocsize;
		keep = ld_serves(&d, s.nn);
	} else {
		if (d.alloc_field)
			*d.alloc_field = s.allocsize;
		keep = 0;
	}
	store_sizes(id, dst, s.elemsize, s.nn);
	if (!keep)
		orr_dense_detach_shape(id, dst);
	return 0;
}

/* ---- registration ---- */

/* The runtime's own buffers are packed, and leading dimensions have 32 bits. */
static void check_packed_ld(const struct orr_dense *d, const char *name)
{
	size_t ld = 1;

	for (size_t i = 0; i < d->ndim; i++) {
		if (d->nn[i] > 1 && ld > UINT32_MAX)
			orr_fatal(
				"registration of %s data: the leading dimension of dimension %zu would be %zu elements, it has 32 bits; cut the data, or use "
				"larger elements",
				name, i, ld);
		ld *= d->nn[i];
	}
}

static void check_shape(struct orr_dense *d, int home_node, const char *name)
{
	size_t bytes = d->elemsize, extent = 1;

	if (!d->elemsize)
		orr_fatal("registration of %s data: the size of an element is 0; give it in bytes",
			  name);
	for (size_t i = 0; i < d->ndim; i++)
		if (__builtin_mul_overflow(bytes, (size_t) d->nn[i], &bytes))
			orr_fatal(
				"registration of %s data: the sizes overflow at dimension %zu (%u elements); nothing so large can be stored",
				name, i, d->nn[i]);
	check_packed_ld(d, name);
	if (d->alloc_field && *d->alloc_field && *d->alloc_field < bytes)
		orr_fatal(
			"registration of %s data: the allocation size of %zu bytes is below the %zu bytes of the value",
			name, *d->alloc_field, bytes);
	for (size_t i = 0; home_node >= 0 && i < d->ndim; i++) {
		if (d->nn[i] > 1 && d->ldn[i] < extent)
			orr_fatal(
				"registration of %s data: the leading dimension %u of dimension %zu makes elements overlap; it must be at least %zu elements",
				name, d->ldn[i], i, extent);
		if (d->nn[i] > 1)
			extent += (size_t) (d->nn[i] - 1) * d->ldn[i];
	}
}

void orr_dense_register(starpu_data_handle_t *handle, int home_node, void *iface,
			struct starpu_data_interface_ops *ops)
{
	struct orr_dense d;

	orr_iface_check_home(home_node, ops->name);
	orr_dense_view(ops->interfaceid, iface, &d);
	check_shape(&d, home_node, ops->name);
	if (home_node >= 0 && !*d.ptr && packed_size(&d)) {
		orr_warn(
			"registration of %s data: no buffer given on home node %d; the runtime allocates it, as with home node -1",
			ops->name, home_node);
		home_node = -1;
	}
	starpu_data_register(handle, home_node, iface, ops);
}

void orr_dense_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			    uintptr_t dev_handle, size_t offset, const uint32_t *ld)
{
	enum starpu_data_interface_id id = orr_iface_id(handle->ops);
	struct orr_dense d;

	if (node >= starpu_memory_nodes_get_count())
		orr_fatal("giving %s a buffer: there is no memory node %u; it must be below %u",
			  orr_handle_name(handle), node, starpu_memory_nodes_get_count());
	void *iface = starpu_data_get_interface_on_node(handle, node);
	orr_dense_view(id, iface, &d);
	if (ld && d.ndim > 1) {
		memcpy(d.ldn + 1, ld, (d.ndim - 1) * sizeof(*ld));
		check_shape(&d, (int) node, handle->ops->name);
		orr_dense_store_ld(id, iface, d.ldn);
	}
	*d.ptr = ptr;
	*d.dev_handle = dev_handle;
	*d.offset = offset;
	starpu_data_ptr_register(handle, node);
}
