/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bringing data to where they are needed (MSI coherency).
 *
 * The thread that advances a request (fetch.c) copies the payload. If the world says that the copy
 * takes time, the replicate is `loading` until then, and the requests that need it wait for the
 * same copy.
 *
 * Invariant: the payload of a replicate that is loading is not read, nobody writes the datum
 * meanwhile, and its source keeps a reference until the copy is over. (Only the reference can be
 * asserted: reads and writes of payloads happen in kernels.) */
#include "data/handle.h"
#include "data/data.h"
#include "data/copy_method.h"
#include "data/iface/iface.h"
#include "data/mapping.h"
#include "data/memory.h"
#include "data/transfer.h"
#include "data/memnode.h"
#include "data/multiformat.h"
#include "base/codelet_fields.h"
#include "base/park.h"
#include "base/log.h"
#include "base/seam_memory.h"
#include "base/world.h"
#include "data/bus.h"
#include "data/device_call.h"
#include "data/disk.h"
#include "data/fetch.h"
#include "data/flight.h"
#include "data/thresholds.h"
#include "trace/tool.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The time that passes when the payload is there. */
struct orr_passing {
	double end_us;     /* the copy is not over before */
	uint64_t copy;     /* its number, if it may be over later */
	double convert_us; /* what comes after the copy */
};

/* A copy that takes time. A device makes it by itself (flight), or only its time passes: then it
 * stands in proc->data->transfers, ordered by passing.end_us; ties keep their order. */
struct orr_transfer {
	struct orr_flight flight;
	struct orr_transfer *next;
	starpu_data_handle_t handle;
	struct orr_replicate *src, *dst; /* src NULL: the init codelet made the value */
	struct orr_passing passing;
	enum orr_copy_why why;
	size_t evicting; /* bytes counted in the source's memory node */
};

int orr_transfer_loading(starpu_data_handle_t h)
{
	orr_assert_locked(&h->lock);
	for (struct orr_replicate *r = &h->main; r; r = r->next)
		if (r->loading)
			return 1;
	return 0;
}

/* Tells the profiling tool and the trace that a copy begins or ends, which keeps src and dst, and
 * why it was made. Without locks. */
static void transfer_tell(struct orr_process *proc, int ends, starpu_data_handle_t h,
			  const struct orr_replicate *src, const struct orr_replicate *dst,
			  enum orr_copy_why why)
{
	if (__builtin_expect(proc->tool != NULL, 0))
		orr_tool_transfer(proc, ends, dst->memnode,
				  dst->memnode ? proc->data->memnodes[dst->memnode]->devid : -1,
				  starpu_data_get_size(h));
	if (__builtin_expect(proc->trace != NULL, 0))
		orr_trace_add(proc, (struct orr_trace_event){ .kind = ends ? ORR_TRACE_COPIED
									   : ORR_TRACE_COPY,
							      .worker = -1,
							      .a = src->memnode,
							      .b = dst->memnode,
							      .c = starpu_data_get_size(h),
							      .d = why });
}

/* ---- copies ---- */

/* Multiformat data: makes the destination's format of the source's, which lies beside it
 * (handbook 27.10). */
static int convert(struct orr_process *proc, starpu_data_handle_t h, unsigned src_node,
		   unsigned dst_node, void *iface, double *us)
{
	enum starpu_node_kind from = proc->data->memnodes[src_node]->kind,
			      to = proc->data->memnodes[dst_node]->kind;
	void *buffers[1] = { iface };
	void (*f)(void **, void *) = NULL;

	if (!h->ops->is_multiformat || !orr_iface_builtin(h->ops) || from == to)
		return 0;
	struct starpu_codelet *cl = orr_multiformat_codelet(iface, from, to);
	if (!orr_multiformat_differ(src_node, dst_node)) {
		*us = cl ? orr_device_call_us(proc, h, dst_node, cl, NULL, buffers, NULL) : 0;
		return 0;
	}
	if (cl && to == STARPU_CUDA_RAM)
		f = cl->cuda_funcs[0] ? cl->cuda_funcs[0] : cl->cuda_func;
	else if (cl && to == STARPU_OPENCL_RAM)
		f = cl->opencl_funcs[0] ? cl->opencl_funcs[0] : cl->opencl_func;
	else if (cl)
		f = orr_codelet_cpu_func(cl, 0);
	if (!f && (from == STARPU_CUDA_RAM || from == STARPU_OPENCL_RAM || to == STARPU_CUDA_RAM ||
		   to == STARPU_OPENCL_RAM)) {
		orr_error(
			"%s: its format has no codelet that converts from memory node %u to %u (with a function for the kind of the latter)",
			orr_handle_name(h), src_node, dst_node);
		return -ENOTSUP;
	}
	if (f)
		*us = orr_device_call_us(proc, h, dst_node, cl, f, buffers, NULL);
	orr_multiformat_unstage(iface, dst_node);
	return 0;
}

/* The back end that copies from one memory to the other. */
static const struct orr_memnode_ops *copier(struct orr_process *proc, unsigned src, unsigned dst)
{
	struct orr_memnode *const *m = proc->data->memnodes;

	return m[m[src]->kind == STARPU_CPU_RAM ? dst : src]->ops;
}

/* The payload is there: converts it. *p is how long it is until it can be used. */
static int arrive(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *src,
		  struct orr_replicate *dst, struct orr_copy_channel *chan, struct orr_passing *p)
{
	struct orr_copy as_one = { .src = src->memnode,
				   .dst = dst->memnode,
				   .src_kind = proc->data->memnodes[src->memnode]->kind,
				   .dst_kind = proc->data->memnodes[dst->memnode]->kind };
	int ret;

	*p = (struct orr_passing){ 0 };
	ret = convert(proc, h, src->memnode, dst->memnode, orr_replicate_iface(h, dst),
		      &p->convert_us);
	if (ret)
		return ret;
	/* An interface may have moved the payload by its own means, which takes time, too. */
	as_one.size = chan->bytes ? chan->bytes : starpu_data_get_size(h);
	orr_bus_count(proc, src->memnode, dst->memnode, chan->bytes);
	p->end_us = orr_sys_copy_start(proc, &as_one, &p->copy);
	return 0;
}

/* Returns 1 if nothing is left of it; else end_us is when to look again. */
static int has_passed(struct orr_process *proc, struct orr_passing *p)
{
	double now_us = orr_sys_now_us();

	if (p->end_us > now_us)
		return 0;
	if (p->copy)
		p->end_us = orr_sys_copy_end_us(proc, p->copy);
	if (p->end_us > now_us)
		return 0;
	p->copy = 0;
	p->end_us = now_us + p->convert_us;
	p->convert_us = 0;
	return p->end_us <= now_us;
}

/* Starts a copy on the channel. 0: the payload is there, when *p has passed; -EAGAIN: under way. */
static int copy(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *src,
		struct orr_replicate *dst, struct orr_copy_channel *chan, struct orr_passing *p)
{
	const struct orr_memnode_ops *ops = copier(proc, src->memnode, dst->memnode);
	int disk = proc->data->memnodes[src->memnode]->kind == STARPU_DISK_RAM ||
		   proc->data->memnodes[dst->memnode]->kind == STARPU_DISK_RAM;
	void *from = orr_replicate_iface(h, src), *to = orr_replicate_iface(h, dst);
	int ret = orr_copy_has_method(h->ops, src->memnode, dst->memnode)
			  ? orr_copy_by_method(h->ops, from, src->memnode, to, dst->memnode, chan)
		  : disk ? orr_disk_copy_packed(proc, h, src->memnode, dst->memnode)
			 : orr_copy_packed(h, src->memnode, h, dst->memnode, from, to);

	if (ret == -EAGAIN && !ops->test(proc, chan)) {
		if (proc->ngroups)
			return ret;
		orr_flight_settle(proc, ops, chan);
	}
	if (ret && ret != -EAGAIN) {
		/* Pieces of it may be under way, and the buffers are used again. */
		orr_flight_settle(proc, ops, chan);
		return ret;
	}
	return arrive(proc, h, src, dst, chan, p);
}

/* The copy is over. Under h->lock; returns the requests that waited for it. */
static struct orr_fetch *loaded(starpu_data_handle_t h, struct orr_replicate *src,
				struct orr_replicate *dst, int ok)
{
	struct orr_fetch *list = dst->ext ? dst->ext->waiters : NULL;

	orr_assert_locked(&h->lock);
	orr_assert(dst->loading && ORR_ATOMIC_LOAD(&dst->refcnt) > 0);
	orr_assert(!src || ORR_ATOMIC_LOAD(&src->refcnt) > 0);
	if (dst->ext)
		dst->ext->waiters = NULL;
	dst->loading = 0;
	if (ok && !dst->stale && (!src || src->state != ORR_INVALID)) {
		if (src)
			ORR_ATOMIC_STORE(&src->state, ORR_SHARED);
		ORR_ATOMIC_STORE(&dst->state, src ? ORR_SHARED : ORR_MODIFIED);
		orr_memory_touch(h, dst);
	}
	dst->stale = 0;
	if (src)
		ORR_ATOMIC_ADD(&src->refcnt, -1);
	ORR_ATOMIC_ADD(&dst->refcnt, -1);
	return list;
}

/* Frees src's buffer after its write-back, unless it was used meanwhile. Under h->lock. */
static void evicted(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *src,
		    struct orr_replicate *dst)
{
	orr_assert_locked(&h->lock);
	orr_assert(!dst->loading);
	if (ORR_ATOMIC_LOAD(&src->refcnt) || !src->mine || src->loading ||
	    (src->state != ORR_INVALID && dst->state == ORR_INVALID))
		return;
	ORR_ATOMIC_STORE(&src->state, ORR_INVALID);
	orr_memory_release(h, src);
	ORR_ATOMIC_ADD_RELAXED(&proc->data->memnodes[src->memnode]->evictions, 1);
}

/* A copy is over within the thread that began it. Threads that searched for memory meanwhile found
 * src and dst in use: they wake when h->lock is released. */
static void over(struct orr_process *proc, starpu_data_handle_t h)
{
	orr_assert_locked(&h->lock);
	orr_assert(ORR_ATOMIC_LOAD(&proc->data->ncopying) > 0);
	ORR_ATOMIC_ADD(&proc->data->ncopying, -1);
	h->gave_back = 1;
}

/* Counts a transfer that ends later. Under h->lock. */
static struct orr_transfer *begin(struct orr_process *proc, starpu_data_handle_t h,
				  struct orr_replicate *src, struct orr_replicate *dst,
				  enum orr_copy_why why)
{
	struct orr_transfer *t = malloc(sizeof(*t));

	orr_assert_locked(&h->lock);
	orr_assert(dst->loading);
	if (!t)
		orr_fatal("out of memory while transferring %s", orr_handle_name(h));
	ORR_ATOMIC_ADD_RELAXED(&proc->data->memnodes[dst->memnode]->nloading, 1);
	*t = (struct orr_transfer){ .handle = h, .src = src, .dst = dst, .why = why };
	if (why == ORR_COPY_WRITE_BACK)
		ORR_ATOMIC_ADD(&proc->data->memnodes[src->memnode]->ncleaning, 1);
	if (why == ORR_COPY_EVICTION && src->in_lru) {
		struct orr_memnode *m = proc->data->memnodes[src->memnode];

		t->evicting = src->ext->bytes;
		orr_lock(&m->lock);
		ORR_ATOMIC_STORE_RELAXED(
			&m->evicting, m->evicting + t->evicting); /* looked at without the lock */
		orr_unlock(&m->lock);
	}
	return t;
}

/* Its time passes. */
static void schedule(struct orr_process *proc, struct orr_transfer *t,
		     const struct orr_passing *passing)
{
	struct orr_transfer **p;

	t->passing = *passing;
	orr_lock(&proc->lock);
	for (p = &proc->data->transfers; *p && (*p)->passing.end_us <= passing->end_us;
	     p = &(*p)->next)
		;
	t->next = *p;
	ORR_ATOMIC_STORE(p, t);
	orr_unlock(&proc->lock);
}

/* A device makes the copy by itself. Without locks. */
static void fly(struct orr_process *proc, struct orr_transfer *t,
		const struct orr_copy_channel *chan)
{
	unsigned src = t->src->memnode, dst = t->dst->memnode;

	t->flight = (struct orr_flight){ .chan = *chan,
					 .ops = copier(proc, src, dst),
					 .memnode = src > dst ? src : dst,
					 .datum = t->handle };
	orr_flight_begin(proc, &t->flight);
}

void orr_transfer_shape(starpu_data_handle_t h, struct orr_replicate *src,
			struct orr_replicate *dst)
{
	void *from = orr_replicate_iface(h, src), *to = orr_replicate_iface(h, dst);

	orr_assert_locked(&h->lock);
	/* User-defined interfaces do this in their copy method. One reference is that of the
	 * request for the datum. */
	if (h->wide || dst->state != ORR_INVALID || orr_iface_follow(h->ops, to, from) == 0)
		return;
	if (!dst->mine || dst->loading || ORR_ATOMIC_LOAD(&dst->refcnt) > 1 ||
	    (dst == &h->main && (src->mapped || orr_mapping_in_use(h))))
		return; /* the copy fails with a message */
	orr_memory_release(h, dst);
	orr_iface_follow(h->ops, to, from);
}

void orr_transfer_initial(struct orr_process *proc, starpu_data_handle_t h,
			  struct orr_replicate *dst, orr_initial_func f, struct orr_fetch **waiters)
{
	orr_assert_locked(&h->lock);
	orr_assert(dst->allocated && dst->state == ORR_INVALID && !orr_transfer_loading(h));
	ORR_ATOMIC_ADD(&dst->refcnt, 1);
	ORR_ATOMIC_ADD(&proc->data->ncopying, 1);
	dst->loading = 1;
	dst->stale = 0;
	orr_handle_unlock(h);
	double us = orr_initial_run(proc, h, f, h, dst->memnode);
	orr_lock(&h->lock);
	if (us > 0 && proc->ngroups) {
		struct orr_passing passing = { .end_us = orr_sys_now_us() + us };

		schedule(proc, begin(proc, h, NULL, dst, ORR_COPY_FETCH), &passing);
		orr_handle_unlock(h);
		orr_park_wake_group(proc, 0);
		orr_lock(&h->lock);
	} else {
		*waiters = loaded(h, NULL, dst, 1);
		over(proc, h);
	}
}

int orr_transfer(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *src,
		 struct orr_replicate *dst, enum orr_copy_why why, struct orr_fetch **waiters)
{
	struct orr_copy_channel chan = { .src = src->memnode, .dst = dst->memnode };
	struct orr_passing passing = { 0 };

	orr_assert_locked(&h->lock);
	orr_assert(src != dst && src->allocated && src->state != ORR_INVALID);
	orr_assert(dst->allocated && !dst->loading);
	ORR_ATOMIC_ADD(&src->refcnt, 1);
	ORR_ATOMIC_ADD(&dst->refcnt, 1);
	ORR_ATOMIC_ADD(&proc->data->ncopying, 1);
	dst->loading = 1;
	dst->stale = 0;
	int joins = orr_mapping_joins(src, dst);
	orr_handle_unlock(h);
	transfer_tell(proc, 0, h, src, dst, why);
	int ret = joins ? orr_mapping_update(h, src, dst)
			: copy(proc, h, src, dst, &chan, &passing);
	int later = !ret && proc->ngroups && !has_passed(proc, &passing);
	if (ret != -EAGAIN && !later)
		transfer_tell(proc, 1, h, src, dst, why);
	orr_lock(&h->lock);
	if (ret == -EAGAIN) {
		struct orr_transfer *t = begin(proc, h, src, dst, why);

		orr_handle_unlock(h);
		fly(proc, t, &chan);
		orr_lock(&h->lock);
		return 1;
	}
	/* The disk has already reported -ENOSPC. */
	if (ret && ret != -ENOSPC)
		orr_error("copying %s from memory node %u to %u failed: %s", orr_handle_name(h),
			  src->memnode, dst->memnode, strerror(-ret));
	if (later) {
		schedule(proc, begin(proc, h, src, dst, why), &passing);
		/* The group that ends transfers must learn of this one. Waking may give the
		 * processor away, so no lock is held. */
		orr_handle_unlock(h);
		orr_park_wake_group(proc, 0);
		orr_lock(&h->lock);
		return 1;
	}
	*waiters = loaded(h, src, dst, !ret);
	if (why == ORR_COPY_EVICTION && !ret)
		evicted(proc, h, src, dst);
	over(proc, h);
	return ret;
}

static void transfer_over(struct orr_process *proc, struct orr_transfer *t)
{
	struct orr_memnode *m = t->src ? proc->data->memnodes[t->src->memnode] : NULL;

	orr_assert(ORR_ATOMIC_LOAD_RELAXED(&proc->data->memnodes[t->dst->memnode]->nloading) > 0);
	ORR_ATOMIC_ADD_RELAXED(&proc->data->memnodes[t->dst->memnode]->nloading, -1);
	if (t->src)
		transfer_tell(proc, 1, t->handle, t->src, t->dst, t->why);
	orr_lock(&t->handle->lock);
	struct orr_fetch *waiters = loaded(t->handle, t->src, t->dst, 1);
	if (t->why == ORR_COPY_EVICTION)
		evicted(proc, t->handle, t->src, t->dst);
	orr_handle_unlock(t->handle);
	/* Only now: a thread that looks for room waits for this buffer until it is free. */
	if (t->evicting) {
		orr_lock(&m->lock);
		orr_assert(m->evicting >= t->evicting);
		ORR_ATOMIC_STORE_RELAXED(&m->evicting, m->evicting - t->evicting);
		orr_unlock(&m->lock);
	}
	if (t->why == ORR_COPY_WRITE_BACK) {
		orr_assert(ORR_ATOMIC_LOAD(&m->ncleaning) > 0);
		ORR_ATOMIC_ADD(&m->ncleaning, -1);
	}
	orr_assert(ORR_ATOMIC_LOAD(&proc->data->ncopying) > 0);
	ORR_ATOMIC_ADD(&proc->data->ncopying, -1);
	free(t);
	orr_fetch_resume(waiters);
	orr_memory_kick(proc);
	orr_waitq_wake(&proc->done);
}

/* A device has made the copy. */
static void land(struct orr_process *proc, struct orr_transfer *t)
{
	struct orr_passing passing;
	int ret = arrive(proc, t->handle, t->src, t->dst, &t->flight.chan, &passing);

	if (ret)
		orr_fatal("%s cannot be used on memory node %u: %s", orr_handle_name(t->handle),
			  t->dst->memnode, strerror(-ret));
	if (!has_passed(proc, &passing))
		schedule(proc, t, &passing);
	else
		transfer_over(proc, t);
}

static struct orr_transfer *transfer_of(struct orr_flight *f)
{
	return (struct orr_transfer *) ((char *) f - offsetof(struct orr_transfer, flight));
}

/* Ends those that devices have made. Returns when to ask again. */
static double progress_flights(struct orr_process *proc)
{
	double due_us;
	struct orr_flight *f = orr_flight_landed(proc, &due_us), *next;

	for (; f; f = next) {
		next = f->next;
		land(proc, transfer_of(f));
	}
	return due_us;
}

/* Ends those whose time has passed. Returns the instant at which the next one ends. */
static double progress_timed(struct orr_process *proc)
{
	for (;;) {
		struct orr_transfer *t;
		double end = -1;

		orr_lock(&proc->lock);
		t = proc->data->transfers;
		orr_assert(!t || !t->next || t->passing.end_us <= t->next->passing.end_us);
		if (t && t->passing.end_us <= orr_sys_now_us()) {
			ORR_ATOMIC_STORE(&proc->data->transfers, t->next);
		} else {
			end = t ? t->passing.end_us : -1;
			t = NULL;
		}
		orr_unlock(&proc->lock);
		if (!t)
			return end;
		struct orr_passing passing = t->passing;
		if (has_passed(proc, &passing))
			transfer_over(proc, t);
		else
			schedule(proc, t, &passing);
	}
}

double orr_transfer_advance(struct orr_process *proc)
{
	double due = -1, end = -1;

	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->data->starved) != NULL, 0))
		orr_fetch_retry_starved(proc);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->data->flights) != NULL, 0))
		due = progress_flights(proc);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->data->transfers) != NULL, 0))
		end = progress_timed(proc);
	return due < 0 || (end >= 0 && end < due) ? end : due;
}

void orr_transfer_exit(struct orr_process *proc)
{
	struct orr_flight *f;

	while ((f = orr_flight_wait(proc, NULL)))
		land(proc, transfer_of(f));
}

void orr_transfer_forget(starpu_data_handle_t h)
{
	struct orr_process *proc = orr_self();
	struct orr_transfer **p, *t;
	struct orr_flight *f;

	if (!h->main.next && !h->main.loading)
		return;
	while ((f = orr_flight_wait(proc, h)))
		land(proc, transfer_of(f));
	/* Transfers that only wait for their time to pass end now. */
	while (ORR_ATOMIC_LOAD_RELAXED(&proc->data->transfers)) {
		orr_lock(&proc->lock);
		for (p = &proc->data->transfers; (t = *p) && t->handle != h; p = &t->next)
			;
		if (t)
			ORR_ATOMIC_STORE(p, t->next);
		orr_unlock(&proc->lock);
		if (!t)
			break;
		transfer_over(proc, t);
	}
	for (;;) {
		int loading;

		orr_lock(&h->lock);
		loading = orr_transfer_loading(h);
		orr_handle_unlock(h);
		if (!loading)
			return;
		orr_sys_relax();
	}
}
