/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests for data (see fetch.h).
 *
 * A request that cannot be satisfied without locks lives on the heap from its first step, so that
 * it keeps its address wherever it waits.
 *
 * Invariant: the thread that ends a request frees it, and nobody else has a pointer to it then
 * (which no assertion can see). */
#include "data/fetch.h"
#include "data/data.h"

#include "data/copy_method.h"
#include "data/initial.h"
#include "data/transfer.h"
#include "base/park.h"
#include "base/upcalls.h"
#include "base/log.h"
#include "data/evict.h"
#include "data/thresholds.h"
#include "data/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The result of one attempt to advance a request under its handle's lock. */
enum verdict {
	READY,
	WAITS,      /* the request is in a list: it is no longer ours */
	LOOK_AGAIN, /* the lock was dropped, anything may have happened */
	VIA_MAIN,   /* the datum must go through main memory */
	NO_MEMORY,
	FAILED /* rq->error says why */
};

static struct orr_fetch *new_request(const struct orr_fetch *like)
{
	struct orr_fetch *rq = malloc(sizeof(*rq));

	if (!rq)
		orr_fatal("out of memory while %s is transferred", orr_handle_name(like->handle));
	*rq = *like;
	return rq;
}

/* Lets rq wait until r is loaded. Under h->lock. */
static enum verdict wait_loading(struct orr_fetch *rq, struct orr_replicate *r)
{
	struct orr_repl_ext *ext = orr_replicate_ext(r);
	struct orr_fetch **end;

	orr_assert_locked(&rq->handle->lock);
	orr_assert(r->loading && rq->pinned);
	if (!ext)
		orr_fatal("out of memory while %s is transferred", orr_handle_name(rq->handle));
	rq->next = NULL;
	for (end = &ext->waiters; *end; end = &(*end)->next)
		;
	*end = rq;
	return WAITS;
}

/* Gives back the references of a request. If that makes a buffer free, others may want it. */
static void unpin(struct orr_fetch *rq)
{
	struct orr_process *proc = orr_self();
	struct orr_replicate *r;
	int buffer = rq->hop;

	orr_lock(&rq->handle->lock);
	if (rq->pinned) {
		r = orr_handle_find(rq->handle, rq->memnode);
		orr_assert(r && ORR_ATOMIC_LOAD(&r->refcnt) > 0);
		buffer |= r->allocated;
		ORR_ATOMIC_ADD(&r->refcnt, -1);
	}
	if (rq->hop) {
		orr_assert(ORR_ATOMIC_LOAD(&rq->handle->main.refcnt) > 0);
		ORR_ATOMIC_ADD(&rq->handle->main.refcnt, -1);
	}
	rq->pinned = rq->hop = 0;
	orr_handle_unlock(rq->handle);
	/* Not after a retry that got no buffer: it would be tried again at once, for ever. */
	if (buffer)
		orr_memory_kick(proc);
}

static void finish(struct orr_fetch *rq, enum orr_fetched result);
static enum orr_fetched advance(struct orr_fetch *rq);

static void hop_done(void *arg)
{
	struct orr_fetch *rq = arg;

	rq->hop = 1;
	finish(rq, advance(rq));
}

static void hop_starved(void *arg)
{
	struct orr_fetch *rq = arg;

	unpin(rq);
	finish(rq, ORR_FETCH_STARVED);
}

/* Brings the datum to main memory first, on its way to another memory. Without locks. If it arrives
 * later, rq belongs to hop_done, which may have run already. */
static enum verdict go_through_main(struct orr_fetch *rq)
{
	orr_assert_no_lock();
	orr_assert(rq->pinned && !rq->hop && rq->memnode != STARPU_MAIN_RAM);
	struct orr_fetch *hop = new_request(&(struct orr_fetch){ .handle = rq->handle,
								 .memnode = STARPU_MAIN_RAM,
								 .mode = STARPU_R,
								 .prio = rq->prio,
								 .ahead = rq->ahead,
								 .effort = rq->effort,
								 .resident = rq->resident,
								 .done = hop_done,
								 .starved = hop_starved,
								 .arg = rq,
								 .later = rq->later });
	enum orr_fetched result = advance(hop);

	if (result == ORR_FETCH_LATER)
		return WAITS;
	rq->hop = result == ORR_FETCH_READY;
	rq->error = hop->error;
	free(hop);
	return result == ORR_FETCH_READY     ? LOOK_AGAIN
	       : result == ORR_FETCH_STARVED ? NO_MEMORY
					     : FAILED;
}

/* The valid replicate to copy from: main memory's, else one on the same kind of memory, else the
 * first found. Under h->lock. */
static struct orr_replicate *choose_source(struct orr_process *proc, starpu_data_handle_t h,
					   unsigned memnode)
{
	struct orr_replicate *any = NULL;

	orr_assert_locked(&h->lock);
	for (struct orr_replicate *r = &h->main; r; r = r->next) {
		if (r->state == ORR_INVALID || r->loading)
			continue;
		if (proc->data->memnodes[r->memnode]->kind == STARPU_CPU_RAM ||
		    proc->data->memnodes[r->memnode]->kind == proc->data->memnodes[memnode]->kind)
			return r;
		if (!any)
			any = r;
	}
	return any;
}

/* Returns true if the payload can go from one to the other without passing through main memory. */
static int is_direct(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *src,
		     struct orr_replicate *dst)
{
	enum starpu_node_kind from = proc->data->memnodes[src->memnode]->kind,
			      to = proc->data->memnodes[dst->memnode]->kind;

	if (from == STARPU_CPU_RAM || to == STARPU_CPU_RAM)
		return 1;
	return from == to && from != STARPU_DISK_RAM &&
	       orr_copy_is_possible(h->ops, orr_replicate_iface(h, src), src->memnode,
				    orr_replicate_iface(h, dst), dst->memnode, dst->memnode);
}

/* A replicate whose transfer must end before the datum may be used as rq wants, or NULL. Under
 * h->lock. */
static struct orr_replicate *obstacle(struct orr_fetch *rq, struct orr_replicate *r)
{
	orr_assert_locked(&rq->handle->lock);
	if (r->loading)
		return r;
	if (!(rq->mode & STARPU_W))
		return NULL;
	for (struct orr_replicate *o = &rq->handle->main; o; o = o->next)
		if (o->loading)
			return o;
	return NULL;
}

/* Gives r a buffer. Under h->lock, which may be dropped meanwhile. */
static enum verdict ensure_buffer(struct orr_process *proc, struct orr_fetch *rq,
				  struct orr_replicate *r)
{
	starpu_data_handle_t h = rq->handle;

	orr_assert_locked(&h->lock);
	orr_assert(rq->pinned && ORR_ATOMIC_LOAD(&r->refcnt) > 0);
	if (r->allocated)
		return READY;
	rq->moved = 1;
	if (!rq->resident && orr_memory_allocate(h, r) == 0)
		return READY;
	if (rq->resident || !orr_memory_managed(proc, r->memnode))
		return NO_MEMORY;
	orr_handle_unlock(h);
	enum orr_room room = orr_memory_make_room(proc, rq->memnode, starpu_data_get_alloc_size(h),
						  rq->effort);
	orr_lock(&h->lock);
	if (room == ORR_ROOM_LATER && rq->later)
		*rq->later = 1;
	return room == ORR_ROOM_MADE ? LOOK_AGAIN : NO_MEMORY;
}

/* The datum has no value: the init codelet makes one on r. It runs in main memory, unless it has
 * functions for devices only. Under h->lock, dropped meanwhile. */
static enum verdict initialise(struct orr_process *proc, struct orr_fetch *rq,
			       struct orr_replicate *r, struct orr_fetch **waiters)
{
	starpu_data_handle_t h = rq->handle;

	orr_assert_locked(&h->lock);
	orr_assert(r->state == ORR_INVALID && rq->pinned);
	/* Another replicate may be getting the value: a second one must not be made. */
	for (struct orr_replicate *o = &h->main; o; o = o->next)
		if (o->loading)
			return wait_loading(rq, o);
	if (proc->data->memnodes[r->memnode]->kind != STARPU_CPU_RAM && !rq->hop &&
	    orr_initial_function_on(h, STARPU_CPU_RAM))
		return VIA_MAIN;
	orr_initial_func f = orr_initial_function_on(h, proc->data->memnodes[r->memnode]->kind);
	if (!f) {
		orr_error(
			h->ext && h->ext->init_cl
				? "%s is read but was never written, and its init codelet has no function for CPUs that could give it a value: add one"
				: "%s is read but was never written: give it an initial value (a home node, a task that writes it, or an init codelet)",
			orr_handle_name(h));
		rq->error = -ENODATA;
		return FAILED;
	}
	enum verdict v = ensure_buffer(proc, rq, r);
	if (v != READY)
		return v;
	/* The lock may have been dropped, and another request may have begun. */
	if (r->state != ORR_INVALID || orr_transfer_loading(h))
		return LOOK_AGAIN;
	orr_transfer_initial(proc, h, r, f, waiters);
	return LOOK_AGAIN;
}

/* Copies the value to r, which has none. Under h->lock, which is dropped meanwhile. */
static enum verdict load(struct orr_process *proc, struct orr_fetch *rq, struct orr_replicate *r,
			 struct orr_fetch **waiters)
{
	starpu_data_handle_t h = rq->handle;
	struct orr_replicate *src = choose_source(proc, h, rq->memnode);

	orr_assert_locked(&h->lock);
	orr_assert(r->state == ORR_INVALID && !r->loading);
	if (!src)
		return initialise(proc, rq, r, waiters);
	if (!is_direct(proc, h, src, r)) {
		rq->error = -EIO;
		return rq->hop ? FAILED : VIA_MAIN;
	}
	orr_transfer_shape(h, src, r);
	enum verdict v = ensure_buffer(proc, rq, r);
	if (v != READY)
		return v;
	int ret = orr_transfer(proc, h, src, r, rq->ahead ? ORR_COPY_PREFETCH : ORR_COPY_FETCH,
			       waiters);
	if (ret == 1 && r->loading)
		return wait_loading(rq, r);
	rq->error = ret;
	return ret >= 0 ? LOOK_AGAIN : ret == -ENOMEM ? NO_MEMORY : FAILED;
}

/* The part of advance under h->lock. */
static enum verdict advance_locked(struct orr_process *proc, struct orr_fetch *rq,
				   struct orr_fetch **waiters)
{
	starpu_data_handle_t h = rq->handle;
	struct orr_replicate *r = orr_handle_replicate(h, rq->memnode);

	orr_assert_locked(&h->lock);
	if (!r)
		return NO_MEMORY;
	if (!rq->pinned)
		ORR_ATOMIC_ADD(&r->refcnt, 1);
	rq->pinned = 1;
	struct orr_replicate *o = obstacle(rq, r);
	if (o)
		return wait_loading(rq, o);
	if ((rq->mode & STARPU_R) && r->state == ORR_INVALID) {
		rq->moved = 1;
		return load(proc, rq, r, waiters);
	}
	enum verdict v = ensure_buffer(proc, rq, r);
	if (v != READY)
		return v;
	if (rq->mode & STARPU_W)
		orr_handle_written(h, r);
	orr_assert(r->allocated && !r->loading);
	orr_assert(r->state == ORR_MODIFIED || (r->state == ORR_SHARED && !(rq->mode & STARPU_W)) ||
		   !(rq->mode & STARPU_RW));
	orr_memory_touch(h, r);
	return READY;
}

/* Takes the request as far as possible. Unless it waits (ORR_FETCH_LATER), it is the caller's again
 * and holds a reference only if it is ready. Never calls its ends. */
static enum orr_fetched advance(struct orr_fetch *rq)
{
	struct orr_process *proc = orr_self();
	starpu_data_handle_t h = rq->handle;
	enum verdict v;

	orr_assert_no_lock();
	do {
		struct orr_fetch *waiters = NULL;

		orr_lock(&h->lock);
		v = advance_locked(proc, rq, &waiters);
		orr_handle_unlock(h);
		orr_fetch_resume(waiters);
		if (v == VIA_MAIN)
			v = go_through_main(rq);
	} while (v == LOOK_AGAIN);
	if (v == WAITS)
		return ORR_FETCH_LATER;
	if (v == READY) {
		orr_assert(rq->pinned);
		if (rq->hop) {
			ORR_ATOMIC_ADD(&h->main.refcnt, -1);
			orr_memory_kick(proc);
		}
		rq->hop = 0;
		return ORR_FETCH_READY;
	}
	unpin(rq);
	return v == NO_MEMORY ? ORR_FETCH_STARVED : ORR_FETCH_FAILED;
}

/* ---- without memory ---- */

static const char *node_name(unsigned memnode)
{
	static __thread char name[32];

	starpu_memory_node_get_name(memnode, name, sizeof(name));
	return name;
}

static void no_memory(struct orr_process *proc, struct orr_fetch *rq)
{
	char usage[160];

	orr_error(
		"memory node %u (%s) is exhausted and nothing on it can be evicted: %s needs %zu bytes, and %s, release data that are "
		"acquired there, or use smaller pieces",
		rq->memnode, node_name(rq->memnode), orr_handle_name(rq->handle),
		starpu_data_get_alloc_size(rq->handle),
		orr_memory_usage(proc, rq->memnode, usage, sizeof(usage)));
}

/* Any group retries the requests in the list. kicks: as counted before the request failed. */
static void join_starved(struct orr_process *proc, struct orr_fetch *rq, unsigned kicks)
{
	struct orr_fetch **end;

	orr_assert(!rq->pinned && !rq->hop && ORR_ATOMIC_LOAD(&proc->data->nstarving) > 0);
	rq->next = NULL;
	orr_lock(&proc->lock);
	for (end = &proc->data->starved; *end; end = &(*end)->next)
		;
	ORR_ATOMIC_STORE(end, rq);
	orr_unlock(&proc->lock);
	ORR_ATOMIC_FENCE();
	/* The groups that were woken meanwhile did not find the request. */
	if (ORR_ATOMIC_LOAD(&proc->data->kicks) != kicks)
		orr_park_wake_one(proc);
}

/* An attempt of a request that is counted as waiting. */
static enum orr_fetched advance_starved(struct orr_fetch *rq)
{
	struct orr_thread *self = orr_thread_self();
	uint8_t saved = self->starved;

	self->starved = 1;
	enum orr_fetched result = advance(rq);
	self->starved = saved;
	return result;
}

/* Memory is exhausted and the request, which is counted in nstarving, has no other plan: it
 * succeeds after all, it joins those that wait for memory, or it fails for good. */
static enum orr_fetched starve(struct orr_process *proc, struct orr_fetch *rq)
{
	for (unsigned tries = 0; tries <= 3; tries++) {
		unsigned kicks = ORR_ATOMIC_LOAD(&proc->data->kicks);
		enum orr_fetched result = advance_starved(rq);

		if (result != ORR_FETCH_STARVED) {
			ORR_ATOMIC_ADD(&proc->data->nstarving, -1);
			return result;
		}
		if (proc->ngroups && !orr_memory_hopeless(proc, rq->memnode, rq->failed != NULL)) {
			join_starved(proc, rq, kicks);
			return ORR_FETCH_LATER;
		}
		if (rq->memnode == STARPU_MAIN_RAM && proc->mpi_up)
			proc->mpi_up->yield_memory(proc);
	}
	ORR_ATOMIC_ADD(&proc->data->nstarving, -1);
	no_memory(proc, rq);
	rq->error = -ENOMEM;
	return ORR_FETCH_FAILED;
}

static enum orr_fetched begin_starving(struct orr_process *proc, struct orr_fetch *rq)
{
	ORR_ATOMIC_ADD(&proc->data->nstarving, 1);
	return starve(proc, rq);
}

void orr_fetch_retry_starved(struct orr_process *proc)
{
	struct orr_fetch *next;

	orr_lock(&proc->lock);
	struct orr_fetch *list = proc->data->starved;
	ORR_ATOMIC_STORE(&proc->data->starved, NULL);
	orr_unlock(&proc->lock);
	for (; list; list = next) {
		next = list->next;
		finish(list, starve(proc, list));
	}
}

void orr_fetch_retry_again(struct orr_process *proc)
{
	if (ORR_ATOMIC_XCHG(&proc->data->again, 0) && ORR_ATOMIC_LOAD(&proc->data->starved))
		orr_fetch_retry_starved(proc);
}

/* ---- ends ---- */

/* Ends a request that advanced after its maker returned: calls the function that fits, unless the
 * request waits again. */
static void finish(struct orr_fetch *rq, enum orr_fetched result)
{
	orr_assert_no_lock();
	if (result == ORR_FETCH_STARVED && !rq->starved)
		result = begin_starving(orr_self(), rq);
	/* A request that waits may be gone. */
	orr_assert(result == ORR_FETCH_LATER || rq->pinned == (result == ORR_FETCH_READY));
	switch (result) {
	case ORR_FETCH_LATER: return;
	case ORR_FETCH_STARVED: rq->starved(rq->arg); break;
	case ORR_FETCH_FAILED:
		if (rq->error != -ENOMEM || !rq->failed)
			orr_fatal("%s cannot be brought to memory node %u (%s)",
				  orr_handle_name(rq->handle), rq->memnode, node_name(rq->memnode));
		rq->failed(rq->arg);
		break;
	case ORR_FETCH_READY:
		if (rq->done)
			rq->done(rq->arg);
		break;
	}
	free(rq);
}

void orr_fetch_resume(struct orr_fetch *waiters)
{
	struct orr_fetch *next;

	for (; waiters; waiters = next) {
		next = waiters->next;
		finish(waiters, advance(waiters));
	}
}

enum orr_fetched orr_fetch_request(struct orr_fetch *like)
{
	struct orr_fetch *rq = new_request(like);
	enum orr_fetched result = advance(rq);

	if (result == ORR_FETCH_STARVED && !rq->starved)
		result = begin_starving(orr_self(), rq);
	if (result == ORR_FETCH_LATER)
		return result;
	like->error = rq->error;
	like->moved = rq->moved;
	free(rq);
	return result;
}

enum orr_fetched orr_fetch(starpu_data_handle_t h, unsigned memnode,
			   enum starpu_data_access_mode mode, int prio, void (*done)(void *arg),
			   void *arg)
{
	if (orr_fetch_quick(h, memnode, mode))
		return ORR_FETCH_READY;
	return orr_fetch_request(&(struct orr_fetch){ .handle = h,
						      .memnode = (uint8_t) memnode,
						      .mode = (uint16_t) mode,
						      .prio = prio,
						      .effort = ORR_EFFORT_WRITEBACK,
						      .done = done,
						      .arg = arg });
}

void orr_fetch_unref(starpu_data_handle_t h, unsigned memnode)
{
	struct orr_process *proc = orr_self();
	struct orr_replicate *r;

	if (memnode == STARPU_MAIN_RAM) {
		orr_assert(ORR_ATOMIC_LOAD_RELAXED(&h->main.refcnt) > 0);
		/* Not relaxed: who finds no reference may write back what a kernel has written. */
		ORR_ATOMIC_ADD(&h->main.refcnt, -1);
	} else {
		orr_lock(&h->lock);
		r = orr_handle_find(h, memnode);
		orr_assert(r && ORR_ATOMIC_LOAD(&r->refcnt) > 0);
		ORR_ATOMIC_ADD(&r->refcnt, -1);
		orr_handle_unlock(h);
	}
	if (__builtin_expect(proc->data->limited, 0))
		orr_memory_kick(proc);
}

/* ---- waiting ---- */

struct sync {
	struct orr_process *proc;
	int done;
};

static void sync_done(void *arg)
{
	struct sync *s = arg;
	struct orr_process *proc = s->proc;

	ORR_ATOMIC_STORE(&s->done, 1);
	orr_waitq_wake(&proc->done);
}

int orr_fetch_wait(starpu_data_handle_t h, unsigned memnode, enum starpu_data_access_mode mode,
		   int prio)
{
	struct sync s = { .proc = orr_self() };
	struct orr_fetch rq = { .handle = h,
				.memnode = (uint8_t) memnode,
				.mode = (uint16_t) mode,
				.prio = prio,
				.effort = ORR_EFFORT_WRITEBACK,
				.done = sync_done,
				.arg = &s };

	if (orr_fetch_quick(h, memnode, mode))
		return 0;
	switch (orr_fetch_request(&rq)) {
	case ORR_FETCH_READY: return 0;
	case ORR_FETCH_LATER: break;
	default: return rq.error;
	}
	orr_assert_no_lock();
	ORR_WAIT_UNTIL(&s.proc->done, ORR_ATOMIC_LOAD(&s.done));
	return 0;
}
