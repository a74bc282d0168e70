/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of devices that CUDA drives: copies are entered in streams, an event behind them tells
 * when they are over.
 *
 * Invariant: an event on a channel is the runtime's: it was ordered to ring, and is destroyed when
 * it was found to be over. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "data/data.h"
#include "data/flight.h"
#include "drivers/cuda_own.h"

/* An event behind copies. A channel has a list of them. */
struct flying {
	struct flying *next;
	void *event;
};

struct orr_cu_device *orr_cu_device_of(struct orr_process *proc, unsigned memnode)
{
	const struct orr_memnode *m = proc->data->memnodes[memnode];

	return proc->cuda && m->kind == STARPU_CUDA_RAM ? m->ops_arg : NULL;
}

/* ---- buffers ---- */

static uintptr_t cu_alloc(struct orr_process *proc, unsigned memnode, size_t size, int flags)
{
	struct orr_cu_device *d = orr_cu_device_of(proc, memnode);
	void *p = NULL;
	int old = orr_cu_enter(d), err = d->api->mem_alloc(&p, size ? size : 1);

	(void) flags;
	orr_cu_leave(d, old);
	/* A copy needs a buffer first, so whoever rings knows the number. */
	ORR_ATOMIC_STORE_RELAXED(&d->memnode, memnode);
	if (err == ORR_CU_SUCCESS)
		return (uintptr_t) p;
	if (err != ORR_CU_NO_MEMORY)
		orr_fatal("CUDA device %d cannot allocate %zu bytes: %s", d->id, size,
			  d->api->text(err));
	/* Else a kernel that is started later would be taken for the culprit. */
	d->api->last_error();
	return 0;
}

static void cu_release(struct orr_process *proc, unsigned memnode, uintptr_t addr, size_t size,
		       int flags)
{
	struct orr_cu_device *d = orr_cu_device_of(proc, memnode);
	int old = orr_cu_enter(d), err = d->api->mem_free((void *) addr);

	(void) flags;
	orr_cu_leave(d, old);
	if (err != ORR_CU_SUCCESS)
		orr_fatal("CUDA device %d cannot free %zu bytes: %s", d->id, size,
			  d->api->text(err));
}

/* ---- events ---- */

static void copy_over(void *arg)
{
	struct orr_cu_device *d = arg;

	orr_flight_ring(d->proc, ORR_ATOMIC_LOAD_RELAXED(&d->memnode));
	ORR_ATOMIC_ADD(&d->nringing, -1);
}

static void copy_failed(const struct orr_cu_device *d, int err) __attribute__((noreturn));

static void copy_failed(const struct orr_cu_device *d, int err)
{
	orr_fatal("a copy of CUDA device %d failed, or a kernel before it: %s", d->id,
		  d->api->text(err));
}

/* The channel waits for all that is in the stream, too. Without memory it is waited for now. */
static int put_event(struct orr_cu_device *d, struct orr_copy_channel *chan, void *stream)
{
	struct flying *f = malloc(sizeof(*f));
	int err = f ? orr_cu_mark(d, stream, &f->event, copy_over, d) : orr_cu_drain(d, stream);

	if (err != ORR_CU_SUCCESS)
		copy_failed(d, err);
	if (!f)
		return 0;
	f->next = chan->own;
	chan->own = f;
	chan->pending++;
	return -EAGAIN;
}

/* A method of the program's interface has used the stream that it was given. */
static void take_own_copies(struct orr_process *proc, struct orr_copy_channel *chan)
{
	struct orr_cu_device *d;
	void *stream = chan->event;

	chan->event = NULL;
	if (stream && orr_cu_stream(proc, chan->src, chan->dst, &d) == stream)
		put_event(d, chan, stream);
}

static int is_over(const struct orr_cu_device *d, void *event)
{
	int err = orr_cu_query(d, event);

	if (err != ORR_CU_SUCCESS && err != ORR_CU_NOT_READY)
		copy_failed(d, err);
	return err == ORR_CU_SUCCESS;
}

static int cu_test(struct orr_process *proc, struct orr_copy_channel *chan)
{
	struct flying **p, *f;
	struct orr_cu_device *d;

	take_own_copies(proc, chan);
	orr_cu_stream(proc, chan->src, chan->dst, &d);
	for (p = (struct flying **) &chan->own; (f = *p);) {
		if (!is_over(d, f->event)) {
			p = &f->next;
			continue;
		}
		*p = f->next;
		d->api->event_destroy(f->event);
		free(f);
		chan->pending--;
	}
	chan->due_us = orr_sys_now_us() + ORR_CU_POLL_US;
	return chan->pending == 0;
}

static void cu_wait(struct orr_process *proc, struct orr_copy_channel *chan)
{
	struct flying *f = chan->own;
	struct orr_cu_device *d;

	orr_cu_stream(proc, chan->src, chan->dst, &d);
	if (f)
		d->api->event_wait(f->event);
}

/* ---- copies ---- */

void *orr_cu_stream(struct orr_process *proc, unsigned src_node, unsigned dst_node,
		    struct orr_cu_device **d)
{
	struct orr_cu_device *from = orr_cu_device_of(proc, src_node),
			     *to = orr_cu_device_of(proc, dst_node);

	*d = from ? from : to;
	orr_assert(*d);
	if (!from || !to)
		return from ? from->out : to->in;
	return from == to ? from->inside : from->peer[to - proc->cuda->device];
}

static int enqueue_peer(const struct orr_cu_device *from, const struct orr_cu_device *to,
			const struct orr_cu_rows *r, void *stream)
{
	if (r->count == 1)
		return from->api->copy_peer(r->dst, to->id, r->src, from->id, r->size, stream);
	struct orr_cu_peer_copy c = {
		.src = { (void *) (uintptr_t) r->src, r->ld_src, r->size, r->count },
		.src_device = from->id,
		.dst = { r->dst, r->ld_dst, r->size, r->count },
		.dst_device = to->id,
		.width = r->size,
		.height = r->count,
		.depth = 1,
	};

	return from->api->copy_peer_rows(&c, stream);
}

int orr_cu_enqueue(struct orr_process *proc, unsigned src_node, unsigned dst_node,
		   const struct orr_cu_rows *r, void *stream)
{
	const struct orr_cu_device *from = orr_cu_device_of(proc, src_node),
				   *to = orr_cu_device_of(proc, dst_node), *d = from ? from : to;
	int kind = !from ? ORR_CU_TO_DEVICE : !to ? ORR_CU_TO_HOST : ORR_CU_IN_DEVICE;

	if (from && to && from != to)
		return enqueue_peer(from, to, r, stream);
	if (r->count == 1)
		return d->api->copy(r->dst, r->src, r->size, kind, stream);
	return d->api->copy2d(r->dst, r->ld_dst, r->src, r->ld_src, r->size, r->count, kind,
			      stream);
}

/* Copies, or starts to (chan not NULL). 0, -EAGAIN or another -errno. */
static int copy_rows(struct orr_process *proc, unsigned src_node, unsigned dst_node,
		     const struct orr_cu_rows *r, struct orr_copy_channel *chan)
{
	struct orr_cu_device *d;
	void *stream = orr_cu_stream(proc, src_node, dst_node, &d);
	int old = orr_cu_enter(d), err = orr_cu_enqueue(proc, src_node, dst_node, r, stream),
	    ret = 0;

	if (starpu_asynchronous_copy_disabled() || starpu_asynchronous_cuda_copy_disabled())
		chan = NULL;
	if (err == ORR_CU_SUCCESS && chan)
		ret = put_event(d, chan, stream);
	else if (err == ORR_CU_SUCCESS)
		err = orr_cu_drain(d, stream);
	orr_cu_leave(d, old);
	if (err == ORR_CU_SUCCESS)
		return ret;
	if (err == ORR_CU_NO_MEMORY)
		d->api->last_error();
	else
		orr_error("CUDA refuses a copy of %zu bytes from memory node %u to %u: %s",
			  r->size * r->count, src_node, dst_node, d->api->text(err));
	return orr_cu_errno(err);
}

static int cu_copy(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		   uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t size,
		   struct orr_copy_channel *chan)
{
	struct orr_cu_rows r = { .src = (const char *) src + src_offset,
				 .dst = (char *) dst + dst_offset,
				 .size = size,
				 .count = 1 };

	return copy_rows(proc, src_node, dst_node, &r, chan);
}

static int cu_copy2d(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		     uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t blocksize,
		     size_t numblocks, size_t ld_src, size_t ld_dst, struct orr_copy_channel *chan)
{
	struct orr_cu_rows r = { .src = (const char *) src + src_offset,
				 .dst = (char *) dst + dst_offset,
				 .size = blocksize,
				 .count = numblocks,
				 .ld_src = ld_src,
				 .ld_dst = ld_dst };

	orr_assert(numblocks > 0 && blocksize <= ld_src && blocksize <= ld_dst);
	return copy_rows(proc, src_node, dst_node, &r, chan);
}

static void *cu_stream(struct orr_process *proc, struct orr_copy_channel *chan)
{
	struct orr_cu_device *d;

	return orr_cu_stream(proc, chan->src, chan->dst, &d);
}

/* For all devices at once. */
static int cu_pin(struct orr_process *proc, unsigned memnode, void *addr, size_t size)
{
	const struct orr_cu_device *d = orr_cu_device_of(proc, memnode);

	if (!size)
		return 0;
	int old = orr_cu_enter(d), err = d->api->pin(addr, size, ORR_CU_PIN_FOR_ALL);

	if (err != ORR_CU_SUCCESS)
		d->api->last_error();
	orr_cu_leave(d, old);
	return err == ORR_CU_SUCCESS ? 0 : err == ORR_CU_PINNED ? -EBUSY : orr_cu_errno(err);
}

static void cu_unpin(struct orr_process *proc, unsigned memnode, void *addr, size_t size)
{
	const struct orr_cu_device *d = orr_cu_device_of(proc, memnode);
	int old = orr_cu_enter(d), err = d->api->unpin(addr);

	orr_cu_leave(d, old);
	if (err != ORR_CU_SUCCESS) {
		d->api->last_error();
		orr_warn("CUDA cannot unpin %zu bytes of main memory: %s", size, d->api->text(err));
	}
}

static void cu_memory_exit(struct orr_process *proc, unsigned memnode)
{
	proc->data->memnodes[memnode]->ops_arg = NULL;
}

const struct orr_memnode_ops orr_cu_memory = {
	.name = "CUDA device",
	.addressable = 0,
	.alloc = cu_alloc,
	.release = cu_release,
	.copy = cu_copy,
	.copy2d = cu_copy2d,
	.stream = cu_stream,
	.test = cu_test,
	.wait = cu_wait,
	.map = orr_memnode_map_none,
	.pin = cu_pin,
	.unpin = cu_unpin,
	.exit = cu_memory_exit,
};
