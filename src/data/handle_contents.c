/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The value of data and its replicates as programs and messages see it: sizes and pointers,
 * packing, printing, and questions about the state.
 *
 * Invariant: nothing here changes the state of a replicate; packing touches only a replicate that
 * has a buffer. */
#include "data/handle_contents.h"
#include "data/data.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>

size_t starpu_data_get_size(starpu_data_handle_t handle)
{
	return orr_handle_checked(handle, __func__)->ops->get_size ? handle->ops->get_size(handle)
								   : 0;
}

size_t starpu_data_get_alloc_size(starpu_data_handle_t handle)
{
	return orr_handle_checked(handle, __func__)->ops->get_alloc_size
		       ? handle->ops->get_alloc_size(handle)
		       : starpu_data_get_size(handle);
}

starpu_ssize_t starpu_data_get_max_size(starpu_data_handle_t handle)
{
	return orr_handle_checked(handle, __func__)->ops->get_max_size
		       ? (starpu_ssize_t) handle->ops->get_max_size(handle)
		       : -1;
}

void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned node)
{
	void *iface = starpu_data_get_interface_on_node(handle, node);

	if (!iface)
		return NULL;
	if (handle->ops->to_pointer)
		return handle->ops->to_pointer(iface, node);
	return handle->ops->handle_to_pointer ? handle->ops->handle_to_pointer(handle, node) : NULL;
}

void *starpu_data_get_local_ptr(starpu_data_handle_t handle)
{
	return starpu_data_handle_to_pointer(handle, orr_thread_self()->memnode);
}

/* A replicate that can be packed or filled: else a message. */
static int check_allocated(starpu_data_handle_t h, unsigned node, const char *what)
{
	int allocated;

	if (orr_handle_check_node(h, (int) node, what))
		return -EINVAL;
	orr_lock(&h->lock);
	struct orr_replicate *r = orr_handle_find(h, node);
	allocated = r && r->allocated;
	orr_handle_unlock(h);
	if (allocated)
		return 0;
	orr_error("%s of %s on memory node %u, where it has no buffer: acquire it there first",
		  what, orr_handle_name(h), node);
	return -EINVAL;
}

/* Bytes to read: else a message. */
static int check_bytes(starpu_data_handle_t h, const void *ptr, size_t count, const char *what)
{
	if (ptr || !count)
		return 0;
	orr_error("%s of %s: its %zu bytes are at NULL", what, orr_handle_name(h), count);
	return -EINVAL;
}

/* The program has copied so many bytes; the time of a kernel or callback is known as a whole. */
static int copied(int ret, size_t bytes)
{
	struct orr_thread *t = orr_thread_self();

	if (!ret && !t->worker && !t->task) {
		orr_sys_charge_copy(t, bytes);
		orr_sys_settle(t);
	}
	return ret;
}

int starpu_data_pack_node(starpu_data_handle_t handle, unsigned node, void **ptr,
			  starpu_ssize_t *count)
{
	if (orr_handle_check(handle, __func__))
		return -EINVAL;
	if (!count) {
		orr_error("packing of %s: count is NULL; it is to take the number of bytes",
			  orr_handle_name(handle));
		return -EINVAL;
	}
	if (!handle->ops->pack_data) {
		orr_error("%s: its interface has no pack_data operation", orr_handle_name(handle));
		return -ENOTSUP;
	}
	/* Without ptr the caller wants the size only, which needs no buffer. */
	if (ptr ? check_allocated(handle, node, "packing")
		: orr_handle_check_node(handle, (int) node, "packing"))
		return -EINVAL;
	int ret = handle->ops->pack_data(handle, node, ptr, count);
	return copied(ret, ptr && *count > 0 ? (size_t) *count : 0);
}

int starpu_data_peek_node(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	if (orr_handle_check(handle, __func__))
		return -EINVAL;
	if (!handle->ops->peek_data) {
		orr_error("%s: its interface has no peek_data operation", orr_handle_name(handle));
		return -ENOTSUP;
	}
	if (check_allocated(handle, node, "peeking") || check_bytes(handle, ptr, count, "peeking"))
		return -EINVAL;
	return copied(handle->ops->peek_data(handle, node, ptr, count), count);
}

int starpu_data_unpack_node(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	if (orr_handle_check(handle, __func__))
		return -EINVAL;
	if (!handle->ops->unpack_data) {
		orr_error("%s: its interface has no unpack_data operation",
			  orr_handle_name(handle));
		return -ENOTSUP;
	}
	if (check_allocated(handle, node, "unpacking") ||
	    check_bytes(handle, ptr, count, "unpacking"))
		return -EINVAL;
	return copied(handle->ops->unpack_data(handle, node, ptr, count), count);
}

int starpu_data_pack(starpu_data_handle_t handle, void **ptr, starpu_ssize_t *count)
{
	return starpu_data_pack_node(handle, orr_thread_self()->memnode, ptr, count);
}

int starpu_data_peek(starpu_data_handle_t handle, void *ptr, size_t count)
{
	return starpu_data_peek_node(handle, orr_thread_self()->memnode, ptr, count);
}

int orr_handle_pack(starpu_data_handle_t h, unsigned node, void **ptr, starpu_ssize_t *count)
{
	orr_assert(ptr && count);
	return h->ops->pack_data ? h->ops->pack_data(h, node, ptr, count) : -ENOTSUP;
}

int orr_handle_unpack(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	orr_assert(ptr || !count);
	return h->ops->unpack_data ? h->ops->unpack_data(h, node, ptr, count) : -ENOTSUP;
}

int starpu_data_unpack(starpu_data_handle_t handle, void *ptr, size_t count)
{
	return starpu_data_unpack_node(handle, orr_thread_self()->memnode, ptr, count);
}

void starpu_data_print(starpu_data_handle_t handle, unsigned node, FILE *stream)
{
	static const char *const states[] = { "invalid", "shared", "modified" };

	if (orr_handle_known(handle, __func__) ||
	    orr_handle_check_node(handle, (int) node, __func__))
		return;
	if (!stream)
		stream = stderr;
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, node);
	orr_handle_unlock(handle);
	fprintf(stream, "%s on memory node %u: %s, %s, %zu bytes\n", orr_handle_name(handle), node,
		r ? states[r->state] : "never used",
		r && r->allocated ? "allocated" : "not allocated", starpu_data_get_size(handle));
	if (handle->ops->display)
		handle->ops->display(handle, stream);
}

unsigned starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle, unsigned memory_node)
{
	orr_handle_must_be_known(handle, __func__);
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, memory_node);
	unsigned yes = r && r->allocated;
	orr_handle_unlock(handle);
	return yes;
}

unsigned starpu_data_is_on_node(starpu_data_handle_t handle, unsigned node)
{
	orr_handle_must_be_known(handle, __func__);
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, node);
	unsigned yes = r && ORR_ATOMIC_LOAD(&r->state) != ORR_INVALID;
	orr_handle_unlock(handle);
	return yes;
}

void starpu_data_query_status2(starpu_data_handle_t handle, int memory_node, int *is_allocated,
			       int *is_valid, int *is_loading, int *is_requested)
{
	orr_handle_must_be_known(handle, __func__);
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, (unsigned) memory_node);
	if (is_allocated)
		*is_allocated = r && r->allocated;
	if (is_valid)
		*is_valid = r && r->state != ORR_INVALID;
	if (is_loading)
		*is_loading = r && r->loading;
	if (is_requested)
		*is_requested = r && (r->requested || r->loading);
	orr_handle_unlock(handle);
}

void starpu_data_query_status(starpu_data_handle_t handle, int memory_node, int *is_allocated,
			      int *is_valid, int *is_requested)
{
	starpu_data_query_status2(handle, memory_node, is_allocated, is_valid, NULL, is_requested);
}

int orr_handle_has_value(starpu_data_handle_t h)
{
	int yes = 0;

	orr_lock(&h->lock);
	for (struct orr_replicate *r = &h->main; r && !yes; r = r->next)
		yes = ORR_ATOMIC_LOAD_RELAXED(&r->state) != ORR_INVALID;
	orr_handle_unlock(h);
	return yes;
}
