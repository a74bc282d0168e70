/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies between handles, and read-only duplicates (handbook 27.6).
 *
 * A copy is a task that reads one datum and writes the other. A CPU worker executes it; if there is
 * none, the thread that makes it ready does. A duplicate is shared: as long as the original is not
 * written, every call returns the same one.
 *
 * Invariant: src->ext->dup and dup->ext->dup_of name each other or are both NULL; they and dup_refs
 * are protected by proc->lock. */
#include "data/handle.h"
#include "data/data.h"
#include "data/copy_method.h"
#include "data/iface/iface.h"
#include "data/memory.h"
#include "base/log.h"
#include "base/seam_memory.h"
#include "base/world.h"
#include "data/fetch.h"
#include "data/flight.h"
#include "data/data_copy.h"
#include "data/access_record.h"
#include "data/handle_attributes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- copies ---- */

struct copy {
	starpu_data_handle_t dst, src;
	unsigned node; /* where a copy without worker happens */
	int pending;   /* atomic, see body */
	int prio;
	struct orr_owner *owner; /* of a copy without worker */
};

/* The source grew since the destination was allocated: a buffer of the right size. */
static int resize(struct copy *c, void *dst, void *src, unsigned node)
{
	starpu_data_handle_t h = c->dst;
	int ret = -ENOSPC;

	orr_assert_no_lock();
	orr_assert(!h->wide);
	orr_lock(&h->lock);
	struct orr_replicate *r = orr_handle_find(h, node);
	if (r && r->mine) {
		orr_memory_release(h, r);
		ret = orr_iface_follow(h->ops, dst, src);
		while (ret == 0 && !r->allocated)
			if (orr_memory_allocate(h, r) == -ENOMEM)
				ret = -ENOMEM;
	}
	orr_handle_unlock(h);
	return ret;
}

static void copy(struct copy *c, void *dst, void *src, unsigned node)
{
	struct orr_copy_channel chan = { .src = node, .dst = node };
	struct orr_process *self = orr_self();
	int ret = c->dst->wide ? 0 : orr_iface_follow(c->dst->ops, dst, src);

	if (ret == -ENOSPC)
		ret = resize(c, dst, src, node);
	if (!ret && orr_copy_has_method(c->src->ops, node, node))
		ret = orr_copy_by_method(c->src->ops, src, node, dst, node, &chan);
	else if (!ret)
		ret = orr_copy_packed(c->src, node, c->dst, node, src, dst);
	if (ret == -EAGAIN) {
		orr_flight_settle(self, self->data->memnodes[node]->ops, &chan);
		ret = 0;
	}
	if (ret)
		orr_fatal("copying %s to %s failed: %s", orr_handle_name(c->src),
			  orr_handle_name(c->dst), strerror(-ret));
}

/* The cost of the bytes where the copy itself takes no time (0 in a real run). */
static double copy_us(size_t size)
{
	struct orr_copy main = { .size = size,
				 .src_kind = STARPU_CPU_RAM,
				 .dst_kind = STARPU_CPU_RAM };
	uint64_t number;
	double us = orr_sys_copy_start(orr_self(), &main, &number) - orr_sys_now_us();
	return us > 0 ? us : 0;
}

/* Its virtual time is that of the copy, which is known: so it runs even where kernels do not. */
static void kernel(void *buffers[], void *arg)
{
	struct copy *c = arg;
	double us = copy_us(starpu_data_get_size(c->src));

	if (orr_sys_has_payload(orr_self()))
		copy(c, buffers[0], buffers[1], orr_thread_self()->memnode);
	if (us > 0)
		orr_sys_sleep_us(us);
}

static void fetched(void *arg)
{
	struct copy *c = arg;

	orr_assert(ORR_ATOMIC_LOAD(&c->pending) > 0);
	if (ORR_ATOMIC_ADD(&c->pending, -1))
		return;
	orr_thread_self()->debt_us += copy_us(starpu_data_get_size(c->src));
	if (orr_sys_has_payload(orr_self()))
		copy(c, starpu_data_get_interface_on_node(c->dst, c->node),
		     starpu_data_get_interface_on_node(c->src, c->node), c->node);
	orr_self()->data->up->complete(c->owner);
}

/* The body of a copy that no worker executes: it happens in main memory, once both data are there.
 */
static void copy_body(struct orr_owner *o, void *arg)
{
	struct copy *c = arg;

	c->owner = o;
	c->node = STARPU_MAIN_RAM;
	c->pending = 1;
	for (unsigned i = 0; i < 2; i++) {
		struct orr_access *a = &o->access[i];
		int ret;

		a->node = (int8_t) c->node;
		a->pinned = 1;
		ORR_ATOMIC_ADD(&c->pending, 1);
		ret = orr_fetch(a->handle, c->node, a->mode, c->prio, fetched, c);
		if (ret < 0)
			orr_fatal("copying %s to %s failed", orr_handle_name(c->src),
				  orr_handle_name(c->dst));
		if (ret == 0)
			ORR_ATOMIC_ADD(&c->pending, -1);
	}
	fetched(c);
}

/* Returns true if the program's own buffer in main memory limits the size of h. */
static int has_fixed_buffer(starpu_data_handle_t h)
{
	orr_lock(&h->lock);
	int yes = !h->main.mine && h->main.allocated;
	orr_handle_unlock(h);
	return yes;
}

/* Returns true if dst's buffer can hold a value of src's shape. Buffers of vectors, matrices and
 * n-dimensional data may be larger than the value. */
static int shapes_fit(starpu_data_handle_t dst, starpu_data_handle_t src)
{
	struct starpu_data_interface_ops *ops = dst->ops;
	enum starpu_data_interface_id id = orr_iface_id(ops);

	if (dst->wide || !ops->compare ||
	    ops->compare(orr_handle_iface(dst), orr_handle_iface(src)))
		return 1;
	return id == STARPU_VECTOR_INTERFACE_ID || id == STARPU_MATRIX_INTERFACE_ID ||
	       id == STARPU_NDIM_INTERFACE_ID;
}

static int copy_check(starpu_data_handle_t dst, starpu_data_handle_t src)
{
	if (orr_handle_check(dst, "starpu_data_cpy") || orr_handle_check(src, "starpu_data_cpy"))
		return -EINVAL;
	if (dst == src) {
		orr_error("starpu_data_cpy: source and destination are both %s",
			  orr_handle_name(src));
		return -EINVAL;
	}
	if (dst->ops != src->ops) {
		orr_error("starpu_data_cpy: %s and %s have different interfaces",
			  orr_handle_name(dst), orr_handle_name(src));
		return -EINVAL;
	}
	if (has_fixed_buffer(dst) && starpu_data_get_alloc_size(dst) < starpu_data_get_size(src)) {
		orr_error("starpu_data_cpy: %s has %zu bytes, too few for the %zu of %s",
			  orr_handle_name(dst), starpu_data_get_alloc_size(dst),
			  starpu_data_get_size(src), orr_handle_name(src));
		return -EINVAL;
	}
	if (has_fixed_buffer(dst) && !shapes_fit(dst, src)) {
		orr_error(
			"starpu_data_cpy: %s has another shape than %s, and its buffer is the program's: register it with the same sizes",
			orr_handle_name(dst), orr_handle_name(src));
		return -EINVAL;
	}
	return 0;
}

int starpu_data_cpy_priority(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
			     int asynchronous, void (*callback_func)(void *), void *callback_arg,
			     int priority)
{
	static struct starpu_codelet copy_cl = { .cpu_funcs = { kernel },
						 .nbuffers = 2,
						 .modes = { STARPU_W, STARPU_R },
						 .name = "data_cpy",
						 .flags = STARPU_CODELET_SIMGRID_EXECUTE };
	struct copy *c;
	int ret = copy_check(dst_handle, src_handle);

	if (ret)
		return ret;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->dst = dst_handle;
	c->src = src_handle;
	c->prio = priority;
	starpu_data_handle_t both[] = { dst_handle, src_handle };
	struct orr_inner_task d = {
		.name = NULL,
		.cl = &copy_cl,
		.body = orr_self()->arch_mask & STARPU_CPU ? NULL : copy_body,
		.arg = c,
		.arg_size = sizeof(*c),
		.n = 2,
		.handles = both,
		.callback = callback_func,
		.callback_arg = callback_arg,
		.priority = priority,
		.flops = (double) starpu_data_get_size(src_handle), /* policies count bytes, too */
		.synchronous = !asynchronous,
		.copies = 1,
	};
	ret = orr_self()->data->up->submit(&d);
	if (ret)
		free(c);
	return ret;
}

int starpu_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
		    int asynchronous, void (*callback_func)(void *), void *callback_arg)
{
	return starpu_data_cpy_priority(dst_handle, src_handle, asynchronous, callback_func,
					callback_arg, STARPU_DEFAULT_PRIO);
}

/* ---- duplicates ---- */

/* A duplicate of the present value that exists already, with one more user, or NULL. */
static starpu_data_handle_t share(struct orr_process *proc, starpu_data_handle_t src)
{
	starpu_data_handle_t dup;

	orr_lock(&proc->lock);
	dup = (src->busy_partition & ORR_VIEW_DUP) ? src : src->ext ? src->ext->dup : NULL;
	if (dup) {
		orr_assert(dup->ext->dup_refs > 0);
		dup->ext->dup_refs++;
	}
	orr_unlock(&proc->lock);
	return dup;
}

/* dup holds src's value as of the tasks submitted so far. Without order among those there is no
 * such value to share. */
static int link_dup(struct orr_process *proc, starpu_data_handle_t src, starpu_data_handle_t dup)
{
	orr_lock(&src->lock);
	struct orr_data_ext *from = orr_handle_ext(src);
	orr_handle_unlock(src);
	orr_lock(&dup->lock);
	struct orr_data_ext *to = orr_handle_ext(dup);
	orr_handle_unlock(dup);
	if (!from || !to)
		return -ENOMEM;
	orr_lock(&proc->lock);
	to->dup_refs = 1;
	ORR_ATOMIC_OR(&dup->busy_partition, ORR_VIEW_DUP);
	orr_assert(!to->dup && !to->dup_of);
	if (src->sequential && !from->dup) {
		from->dup = dup;
		to->dup_of = src;
		ORR_ATOMIC_OR(&src->busy_partition, ORR_VIEW_DUP_SOURCE);
	}
	orr_unlock(&proc->lock);
	return 0;
}

/* Waits until the copy into a duplicate is over. */
static int wait_value(starpu_data_handle_t dup)
{
	int ret = starpu_data_acquire_on_node(dup, STARPU_ACQUIRE_NO_NODE, STARPU_R);

	if (ret == 0)
		starpu_data_release_on_node(dup, STARPU_ACQUIRE_NO_NODE);
	return ret;
}

int starpu_data_dup_ro(starpu_data_handle_t *dst_handle, starpu_data_handle_t src_handle,
		       int asynchronous)
{
	struct orr_process *proc = orr_self();
	int ret = orr_handle_check(src_handle, __func__);

	if (ret)
		return ret;
	if (!dst_handle) {
		orr_error(
			"starpu_data_dup_ro of %s: there is nowhere to put the duplicate; give a pointer to a handle",
			orr_handle_name(src_handle));
		return -EINVAL;
	}
	starpu_data_handle_t dup = share(proc, src_handle);
	if (dup) {
		ret = asynchronous ? 0 : wait_value(dup);
		if (ret)
			starpu_data_unregister_submit(dup);
		else
			*dst_handle = dup;
		return ret;
	}
	starpu_data_register_same(&dup, src_handle);
	dup->sequential = 1;
	ret = starpu_data_cpy(dup, src_handle, asynchronous, NULL, NULL);
	if (ret == 0)
		ret = link_dup(proc, src_handle, dup);
	if (ret) {
		starpu_data_unregister_submit(dup);
		return ret;
	}
	*dst_handle = dup;
	return 0;
}

void orr_dup_forget(starpu_data_handle_t h)
{
	struct orr_process *proc = orr_self();

	orr_lock(&proc->lock);
	if (h->ext && h->ext->dup) {
		orr_assert(h->ext->dup->ext->dup_of == h);
		h->ext->dup->ext->dup_of = NULL;
		h->ext->dup = NULL;
	}
	ORR_ATOMIC_AND(&h->busy_partition, (uint8_t) ~ORR_VIEW_DUP_SOURCE);
	orr_unlock(&proc->lock);
}

int orr_dup_unregister(starpu_data_handle_t h)
{
	struct orr_process *proc = orr_self();
	uint8_t flags = ORR_ATOMIC_LOAD_RELAXED(&h->busy_partition);
	int others = 0;

	if (flags & ORR_VIEW_DUP_SOURCE)
		orr_dup_forget(h);
	if (!(flags & ORR_VIEW_DUP))
		return 0;
	orr_lock(&proc->lock);
	orr_assert(h->ext->dup_refs > 0);
	others = --h->ext->dup_refs > 0;
	if (!others) {
		starpu_data_handle_t src = h->ext->dup_of;

		if (src) {
			orr_assert(src->ext->dup == h);
			src->ext->dup = NULL;
			ORR_ATOMIC_AND(&src->busy_partition, (uint8_t) ~ORR_VIEW_DUP_SOURCE);
		}
		ORR_ATOMIC_AND(&h->busy_partition, (uint8_t) ~ORR_VIEW_DUP);
	}
	orr_unlock(&proc->lock);
	return others;
}
