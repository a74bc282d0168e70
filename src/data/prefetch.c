/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prefetches, and the hints of the program about where data will be needed (see prefetch.h).
 *
 * Why an entry may touch its handle: the entry of a task relies on the task, which holds its data
 * and does not begin before; an entry that is not idle holds the datum itself (acq). An idle entry
 * has no right but its place in the queue, where the handle's end finds it: it leaves the queue
 * with a pin or not at all, and holds the datum before it does anything. If room is only being made
 * for an entry, it goes back to its queue until no data are on their way out of that memory.
 *
 * Invariant: an entry is in its memory node's queue, or with the one thread or request that
 * executes it; proc->data->nprefetch counts the queued ones, proc->data->nbackground those that are
 * not over. */
#include "data/prefetch.h"
#include "data/memory.h"
#include "data/fetch.h"
#include "base/park.h"
#include "base/log.h"
#include "data/data.h"
#include "data/evict.h"
#include "data/partition.h"
#include "data/access.h"
#include "data/handle_attributes.h"
#include "data/handle_contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LOADING 2 /* copies to a memory while prefetches to it begin */

struct orr_prefetch {
	struct orr_acquire acq; /* the program's; first */
	struct orr_prefetch *next;
	starpu_data_handle_t handle;
	struct orr_owner *owner; /* for whom it is, or NULL */
	struct orr_process *proc;
	unsigned memnode;
	enum starpu_is_prefetch urgency;
	int prio;
	int held;               /* acq is granted */
	int pinned;             /* on its way from the queue to holding the datum */
	int queued;             /* it was: counted in proc->data->nbackground */
	int *finished;          /* atomic flag of a thread that waits, or NULL */
	uint8_t later;          /* it had no room, but there will be some */
	uint8_t waits_for_room; /* in the queue again because of that */
	int wont_use;           /* afterwards other replicates are the first to be evicted */
};

/* ---- the end of an entry ---- */

static void end(struct orr_prefetch *p)
{
	struct orr_process *proc = p->proc;
	struct orr_owner *o = p->owner;
	int queued = p->queued;

	orr_assert_no_lock();
	orr_assert(!o || ORR_ATOMIC_LOAD(&o->nprefetch) > 0);
	if (p->held)
		orr_acquire_release(&p->acq);
	if (p->pinned)
		orr_handle_unpin(p->handle);
	if (o && ORR_ATOMIC_ADD(&o->nprefetch, -1) == 0)
		orr_park_wake_all(proc); /* the worker that took the task may wait for this */
	if (p->finished) {
		ORR_ATOMIC_STORE(p->finished, 1);
		orr_waitq_wake(&proc->done);
	}
	free(p);
	if (queued && ORR_ATOMIC_ADD(&proc->data->nbackground, -1) == 0)
		orr_waitq_wake(&proc->done);
}

/* wont_use: the value is at home, the copies elsewhere may go. */
static void demote_others(struct orr_prefetch *p)
{
	orr_lock(&p->handle->lock);
	for (struct orr_replicate *r = &p->handle->main; r; r = r->next)
		if (r->memnode != p->memnode)
			orr_memory_demote(r);
	orr_handle_unlock(p->handle);
}

static void set_requested(struct orr_prefetch *p, int yes)
{
	orr_lock(&p->handle->lock);
	struct orr_replicate *r = orr_handle_replicate(p->handle, p->memnode);
	if (r)
		r->requested = yes & 1;
	orr_handle_unlock(p->handle);
}

static void fetched(void *arg)
{
	struct orr_prefetch *p = arg;

	set_requested(p, 0);
	if (p->wont_use)
		demote_others(p);
	orr_fetch_unref(p->handle, p->memnode);
	end(p);
}

static void no_memory(void *arg)
{
	struct orr_prefetch *p = arg;

	set_requested(p, 0);
	end(p);
}

static void enqueue(struct orr_prefetch *p);

static void starved(void *arg)
{
	struct orr_prefetch *p = arg;

	if (!p->later || !p->queued || (!p->held && !p->owner)) {
		no_memory(p);
		return;
	}
	p->waits_for_room = 1;
	enqueue(p);
}

/* The entry is off its queue and its datum may be read. */
static void execute(struct orr_prefetch *p)
{
	struct orr_fetch rq = { .handle = p->handle,
				.ahead = 1,
				.memnode = (uint8_t) p->memnode,
				.mode = STARPU_R,
				.prio = p->prio,
				.done = fetched,
				.starved = starved,
				.arg = p,
				.later = &p->later };

	orr_assert(p->held || p->owner);
	p->later = 0;
	rq.effort = p->urgency == STARPU_IDLEFETCH ? ORR_EFFORT_NONE : ORR_EFFORT_WRITEBACK;
	if (!orr_handle_has_value(p->handle)) {
		no_memory(p);
		return;
	}
	enum orr_fetched ret = orr_fetch_request(&rq);
	if (ret == ORR_FETCH_READY)
		fetched(p);
	else if (ret == ORR_FETCH_STARVED)
		starved(p);
	else if (ret == ORR_FETCH_FAILED)
		no_memory(p);
}

/* ---- queues ---- */

static int before(const struct orr_prefetch *a, const struct orr_prefetch *b)
{
	return a->urgency < b->urgency || (a->urgency == b->urgency && a->prio > b->prio);
}

static void enqueue(struct orr_prefetch *p)
{
	struct orr_process *proc = p->proc;
	struct orr_memnode *m = proc->data->memnodes[p->memnode];
	struct orr_prefetch **at;

	if (!proc->ngroups) {
		execute(p);
		return;
	}
	orr_assert(p->held || p->owner || p->urgency == STARPU_IDLEFETCH);
	set_requested(p, 1);
	if (!p->queued)
		ORR_ATOMIC_ADD(&proc->data->nbackground, 1);
	p->queued = 1;
	orr_lock(&m->prefetch_lock);
	for (at = &m->prefetch; *at && !before(p, *at) && !(p->waits_for_room && !before(*at, p));
	     at = &(*at)->next)
		;
	p->next = *at;
	ORR_ATOMIC_STORE_RELAXED(at, p); /* read without the lock */
	ORR_ATOMIC_ADD(&proc->data->nprefetch, 1);
	orr_unlock(&m->prefetch_lock);
	if (m->group >= 0)
		orr_park_wake_group(proc, (unsigned) m->group);
	orr_park_wake_one(proc);
}

/* An entry leaves its queue. Under the queue's lock, which the handle's end takes unless it sees
 * nprefetch 0: the pin comes first. */
static void taken(struct orr_process *proc, struct orr_prefetch *p)
{
	orr_assert_locked(&proc->data->memnodes[p->memnode]->prefetch_lock);
	orr_assert(ORR_ATOMIC_LOAD(&proc->data->nprefetch) > 0);
	if (!p->held && !p->owner)
		p->pinned = orr_handle_try_pin(p->handle);
	ORR_ATOMIC_ADD(&proc->data->nprefetch, -1);
}

/* Ends an entry that was not executed. */
static void drop(struct orr_prefetch *p)
{
	if (p->held || p->owner || p->pinned)
		no_memory(p);
	else
		end(p); /* its handle is ending */
}

/* Takes the first entry off the queue; NULL when there is none for now. Under m->prefetch_lock. */
static struct orr_prefetch *prefetch_take(struct orr_memnode *m, struct orr_process *proc, int idle)
{
	struct orr_prefetch *p = m->prefetch;

	if (!p || (p->urgency == STARPU_IDLEFETCH && !idle) ||
	    (p->waits_for_room && ORR_ATOMIC_LOAD_RELAXED(&m->evicting)))
		return NULL;
	orr_assert(p->queued && !p->pinned &&
		   (!p->next || !before(p->next, p) || p->waits_for_room));
	ORR_ATOMIC_STORE_RELAXED(&m->prefetch, p->next);
	taken(proc, p);
	return p;
}

/* May its datum be read? An idle one without a task gets it now or never. */
static int may_read(struct orr_prefetch *p)
{
	if (p->pinned)
		p->held = orr_acquire_try(&p->acq, p->handle, -1, STARPU_R) == 0;
	return p->held || p->owner;
}

static int progress_on(struct orr_process *proc, unsigned memnode, int idle)
{
	struct orr_memnode *m = proc->data->memnodes[memnode];

	/* So many keep the copy engine busy; more would delay copies that are wanted meanwhile. */
	if (!ORR_ATOMIC_LOAD_RELAXED(&m->prefetch) ||
	    ORR_ATOMIC_LOAD_RELAXED(&m->nloading) >= MAX_LOADING)
		return 0;
	orr_lock(&m->prefetch_lock);
	struct orr_prefetch *p = prefetch_take(
		m, proc, idle && !ORR_ATOMIC_LOAD_RELAXED(&proc->data->transfers));
	orr_unlock(&m->prefetch_lock);
	if (!p)
		return 0;
	if (may_read(p))
		execute(p);
	else
		drop(p);
	return 1;
}

int orr_prefetch_progress(struct orr_process *proc, unsigned own, int idle)
{
	unsigned n = ORR_ATOMIC_LOAD(&proc->data->nmemnodes);

	if (progress_on(proc, own, idle))
		return 1;
	for (unsigned i = 0; i < n && idle; i++)
		if (i != own && progress_on(proc, i, idle))
			return 1;
	return 0;
}

/* Moves the entries that `match` to a list of their own. */
static struct orr_prefetch *extract(struct orr_process *proc,
				    int (*match)(const struct orr_prefetch *, const void *),
				    const void *arg)
{
	struct orr_prefetch *list = NULL, *p;
	unsigned n = ORR_ATOMIC_LOAD(&proc->data->nmemnodes);

	for (unsigned i = 0; i < n; i++) {
		struct orr_memnode *m = proc->data->memnodes[i];

		orr_lock(&m->prefetch_lock);
		for (struct orr_prefetch **at = &m->prefetch; (p = *at);) {
			if (!match(p, arg)) {
				at = &p->next;
				continue;
			}
			ORR_ATOMIC_STORE_RELAXED(at, p->next);
			p->next = list;
			list = p;
			taken(proc, p);
		}
		orr_unlock(&m->prefetch_lock);
	}
	return list;
}

static int of_owner(const struct orr_prefetch *p, const void *o)
{
	return p->owner == o;
}
static int of_handle(const struct orr_prefetch *p, const void *h)
{
	return p->handle == h && !p->held && !p->owner;
}
static int any(const struct orr_prefetch *p, const void *arg)
{
	return (void) p, (void) arg, 1;
}

static void end_all(struct orr_prefetch *list)
{
	struct orr_prefetch *next;

	for (; list; list = next) {
		next = list->next;
		drop(list);
	}
}

int orr_prefetch_cancel(struct orr_owner *o)
{
	if (ORR_ATOMIC_LOAD(&o->nprefetch))
		end_all(extract(orr_self(), of_owner, o));
	return ORR_ATOMIC_LOAD(&o->nprefetch) == 0;
}

void orr_prefetch_forget(starpu_data_handle_t h)
{
	struct orr_process *proc = orr_self();

	if (__builtin_expect(ORR_ATOMIC_LOAD(&proc->data->nprefetch) != 0, 0))
		end_all(extract(proc, of_handle, h));
}

void orr_prefetch_cancel_all(struct orr_process *proc)
{
	end_all(extract(proc, any, NULL));
}

/* ---- by the program ---- */

static struct orr_prefetch *create(starpu_data_handle_t h, unsigned memnode,
				   enum starpu_is_prefetch urgency, int prio)
{
	struct orr_prefetch *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->handle = h;
	p->proc = orr_self();
	p->memnode = memnode;
	p->urgency = urgency;
	p->prio = prio;
	return p;
}

static void granted(struct orr_acquire *a)
{
	struct orr_prefetch *p = (struct orr_prefetch *) a;

	p->held = 1;
	if (p->urgency != STARPU_IDLEFETCH || p->finished) {
		enqueue(p);
		return;
	}
	/* Writers need not wait for it. It is in the queue before the datum is released, so that
	 * the handle's end finds it. */
	struct orr_prefetch *q = create(p->handle, p->memnode, p->urgency, p->prio);
	if (q)
		enqueue(q);
	end(p);
}

static int prefetch_check(starpu_data_handle_t h, unsigned memnode, const char *what)
{
	return orr_handle_check(h, what) ? -EINVAL : orr_handle_check_node(h, (int) memnode, what);
}

static int prefetch(starpu_data_handle_t h, unsigned memnode, unsigned async,
		    enum starpu_is_prefetch urgency, int prio)
{
	struct orr_process *proc = orr_self();
	int ret = prefetch_check(h, memnode, "prefetch"), finished = 0;

	if (ret)
		return ret;
	if (!async && orr_thread_self()->task) {
		orr_error("prefetch of %s inside task or callback %s cannot wait: give async",
			  orr_handle_name(h), orr_data_inside(orr_thread_self()));
		return -EDEADLK;
	}
	struct orr_prefetch *p = create(h, memnode, urgency, prio);
	if (!p)
		return -ENOMEM;
	if (!async)
		p->finished = &finished;
	ret = orr_acquire_start(&p->acq, h, -1, STARPU_R, 1, prio, granted);
	if (ret) {
		free(p);
		return ret;
	}
	orr_sys_settle(orr_thread_self());
	if (!async)
		orr_about_to_wait(proc);
	ORR_WAIT_UNTIL(&proc->done, async || ORR_ATOMIC_LOAD(&finished));
	return 0;
}

int starpu_data_fetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async)
{
	return prefetch(handle, node, async, STARPU_FETCH, 0);
}

int starpu_data_prefetch_on_node_prio(starpu_data_handle_t handle, unsigned node, unsigned async,
				      int prio)
{
	return prefetch(handle, node, async, STARPU_PREFETCH, prio);
}

int starpu_data_prefetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async)
{
	return prefetch(handle, node, async, STARPU_PREFETCH, 0);
}

int starpu_data_idle_prefetch_on_node_prio(starpu_data_handle_t handle, unsigned node,
					   unsigned async, int prio)
{
	return prefetch(handle, node, async, STARPU_IDLEFETCH, prio);
}

int starpu_data_idle_prefetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async)
{
	return prefetch(handle, node, async, STARPU_IDLEFETCH, 0);
}

int starpu_data_request_allocation(starpu_data_handle_t handle, unsigned node)
{
	struct orr_process *self = orr_self();
	struct orr_replicate *r;
	int ret = prefetch_check(handle, node, __func__);
	enum orr_room room = ORR_ROOM_MADE;

	if (ret)
		return ret;
	while (room == ORR_ROOM_MADE) {
		orr_lock(&handle->lock);
		r = orr_handle_replicate(handle, node);
		ret = !r || (!r->allocated && orr_memory_allocate(handle, r)) ? -ENOMEM : 0;
		orr_handle_unlock(handle);
		if (!ret)
			return 0;
		room = orr_memory_make_room(self, node, starpu_data_get_alloc_size(handle),
					    ORR_EFFORT_CLEAN);
	}
	return ret;
}

static void wont_use(starpu_data_handle_t handle)
{
	struct orr_prefetch *p = create(
		handle, (unsigned) (handle->home_node >= 0 ? handle->home_node : STARPU_MAIN_RAM),
		STARPU_PREFETCH, 0);

	if (!p)
		return;
	p->wont_use = 1;
	if (orr_acquire_start(&p->acq, handle, -1, STARPU_R, 1, 0, granted))
		free(p);
}

/* The hint is about the view that tasks use at this point: the whole, or pieces. */
void starpu_data_wont_use(starpu_data_handle_t handle)
{
	if (orr_handle_check(handle, __func__))
		return;
	for (struct orr_partition *p = handle->ext ? handle->ext->partitions : NULL; p; p = p->next)
		for (unsigned i = 0; i < p->npieces && p->state != ORR_VIEW_NONE; i++)
			starpu_data_wont_use(p->piece[i]);
	if (!(ORR_ATOMIC_LOAD_RELAXED(&handle->busy_partition) &
	      (ORR_VIEW_CUT_RW | ORR_VIEW_CUT_SYNC | ORR_VIEW_PIECE_OFF)))
		wont_use(handle);
}

void starpu_data_advise_as_important(starpu_data_handle_t handle, unsigned is_important)
{
	if (orr_handle_check(handle, __func__))
		return;
	orr_lock(&handle->lock);
	if (orr_handle_ext(handle))
		handle->ext->can_evict_off = is_important != 0;
	for (struct orr_replicate *r = &handle->main; r; r = r->next)
		if (is_important)
			orr_memory_touch(handle, r);
	orr_handle_unlock(handle);
}

/* ---- for tasks ---- */

int orr_prefetch_for(struct orr_owner *o, starpu_data_handle_t h, unsigned memnode,
		     enum starpu_is_prefetch urgency, int prio)
{
	struct orr_prefetch *p = create(h, memnode, urgency, prio);

	if (!p)
		return -ENOMEM;
	p->owner = o;
	ORR_ATOMIC_ADD(&o->nprefetch, 1);
	enqueue(p);
	return 0;
}
