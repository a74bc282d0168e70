/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memories that run low are tidied before somebody has to wait: by groups of workers that have
 * nothing else to do.
 *
 * STARPU_MINIMUM_AVAILABLE_MEM: below this percentage of free memory, data are evicted until
 * STARPU_TARGET_AVAILABLE_MEM are free. STARPU_MINIMUM_CLEAN_BUFFERS: when less than this
 * percentage could be had at once (what is free, and copies of what is valid elsewhere too), the
 * only copies of data that nobody uses are written back, least recently used first, until
 * STARPU_TARGET_CLEAN_BUFFERS can. They stay where they are.
 *
 * Memories that hold more than their limit, because an allocation was allowed to overflow it, are
 * put right by the group that completes the next task.
 *
 * Invariant: a disk is never tidied, because data that are only there belong there. Nothing is done
 * for a memory without limit. */
#include "data/memory.h"
#include "data/data.h"
#include "base/park.h"
#include "data/fetch.h"
#include "data/evict.h"
#include "data/search.h"
#include "data/tidy.h"

#define MAX_CLEANING 2 /* write-backs ahead under way: demand comes first */

static size_t percent(size_t total, int n)
{
	return total / 100 * (size_t) n;
}

void orr_memory_tidy_init(struct orr_process *proc, struct orr_memnode *m)
{
	const struct orr_config *cfg = &proc->cfg;

	if (!m->total || m->kind == STARPU_DISK_RAM)
		return;
	m->avail_low = percent(m->total, cfg->minimum_available_mem);
	m->avail_high = percent(m->total, cfg->target_available_mem);
	m->clean_low = percent(m->total, cfg->minimum_clean_buffers);
	m->clean_high = percent(m->total, cfg->target_clean_buffers);
	orr_assert(m->avail_low <= m->total && m->clean_low <= m->total);
	if (m->avail_high < m->avail_low)
		m->avail_high = m->avail_low;
	if (m->clean_high < m->clean_low)
		m->clean_high = m->clean_low;
}

/* Bytes that are free, buffers kept for reuse included. */
static size_t available(const struct orr_memnode *m)
{
	size_t used = ORR_ATOMIC_LOAD_RELAXED(&m->used),
	       cached = ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes), available = m->total + cached;

	return available > used ? available - used : 0;
}

/* More than its limit was handed out. */
static int overflows(const struct orr_memnode *m)
{
	return m->total && m->kind != STARPU_DISK_RAM &&
	       ORR_ATOMIC_LOAD_RELAXED(&m->used) >
		       m->total + ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes);
}

static size_t clean_goal(const struct orr_memnode *m)
{
	return ORR_ATOMIC_LOAD_RELAXED(&m->cleaning) ? m->clean_high : m->clean_low;
}

/* Wakes a worker to tidy. A group that tidies after its own step needs no waking, and a worker that
 * gives back what it got in a failed retry changes nothing for others. */
static void call(struct orr_process *proc)
{
	if (ORR_ATOMIC_XCHG(&proc->data->untidy, 1) || !proc->ngroups)
		return;
	if (!orr_thread_self()->worker || (proc->ngroups > 1 && !proc->data->up->starving()))
		orr_park_wake_one(proc);
}

void orr_memory_look(struct orr_process *proc)
{
	unsigned n = ORR_ATOMIC_LOAD(&proc->data->nmemnodes);

	for (unsigned i = 0; i < n; i++) {
		const struct orr_memnode *m = &proc->data->memnodes[i];
		size_t room;

		if (!m->avail_low && !m->clean_low && !overflows(m))
			continue;
		room = available(m);
		if (room >= m->avail_low && room >= clean_goal(m) && !overflows(m))
			continue;
		call(proc);
		return;
	}
}

/* ---- write-back ahead ---- */

/* Bytes of unused replicates that can be freed without a write-back; stops counting at `enough`. */
static size_t clean_bytes(struct orr_memnode *m, size_t enough)
{
	size_t sum = 0;

	orr_lock(&m->lock);
	for (struct orr_repl_ext *e = m->lru_head; e && sum < enough; e = e->lru_next) {
		if (ORR_ATOMIC_LOAD(&e->self->refcnt) || !orr_trylock(&e->handle->lock))
			continue;
		if (orr_memory_is_free(e->self) && orr_memory_is_clean(e->handle, e->self))
			sum += e->bytes;
		orr_handle_unlock(e->handle);
	}
	orr_unlock(&m->lock);
	return sum;
}

/* The least recently used replicate that is an only copy, with its handle locked. */
static struct orr_repl_ext *dirty(struct orr_process *proc, struct orr_memnode *m)
{
	struct orr_repl_ext *e;

	orr_lock(&m->lock);
	for (e = m->lru_head; e; e = e->lru_next) {
		if (ORR_ATOMIC_LOAD(&e->self->refcnt) || !orr_trylock(&e->handle->lock))
			continue;
		if (orr_memory_is_free(e->self) && !orr_memory_is_clean(e->handle, e->self) &&
		    orr_memory_writeback_node(proc, e->handle, e->self->memnode) >= 0)
			break;
		orr_handle_unlock(e->handle);
	}
	orr_unlock(&m->lock);
	return e;
}

/* Writes one datum back. Returns 1 when it did, or began to. */
static int write_back_one(struct orr_process *proc, struct orr_memnode *m)
{
	struct orr_repl_ext *e = dirty(proc, m);
	struct orr_fetch *waiters = NULL;

	if (!e)
		return 0;
	starpu_data_handle_t h = e->handle;
	if (!orr_handle_try_pin(h)) {
		orr_handle_unlock(h);
		return 0;
	}
	enum orr_room room = orr_memory_write_back(proc, h, e->self, ORR_COPY_CLEAN, &waiters);
	orr_handle_unlock(h);
	orr_fetch_resume(waiters);
	orr_handle_unpin(h);
	if (room != ORR_ROOM_MADE && room != ORR_ROOM_LATER)
		return 0;
	ORR_ATOMIC_ADD_RELAXED(&m->cleaned, 1);
	return 1;
}

/* The same, as a search that others may meet. */
static int clean_one(struct orr_process *proc, struct orr_memnode *m)
{
	struct orr_search s;

	orr_search_begin(proc, &s);
	int did = write_back_one(proc, m);
	orr_search_end(proc, &s, 0);
	return did;
}

static int clean(struct orr_process *proc, struct orr_memnode *m)
{
	size_t goal = clean_goal(m), room = available(m);

	if (!m->clean_low || ORR_ATOMIC_LOAD(&m->ncleaning) >= MAX_CLEANING)
		return 0;
	if (room < goal)
		room += clean_bytes(m, goal - room);
	ORR_ATOMIC_STORE_RELAXED(&m->cleaning, room < goal);
	return room < goal && clean_one(proc, m);
}

/* ---- both ---- */

/* Returns 1 when something was done, so that there may be more to do. */
static int tidy(struct orr_process *proc, unsigned memnode)
{
	struct orr_memnode *m = &proc->data->memnodes[memnode];
	int did = 0;

	if ((m->avail_low && available(m) < m->avail_low) || overflows(m))
		did = orr_memory_make_room(proc, memnode, m->avail_high, ORR_EFFORT_WRITEBACK) ==
		      ORR_ROOM_MADE;
	return clean(proc, m) || did;
}

int orr_memory_tidy(struct orr_process *proc)
{
	unsigned n = ORR_ATOMIC_LOAD(&proc->data->nmemnodes);
	int did = 0;

	if (!ORR_ATOMIC_XCHG(&proc->data->untidy, 0))
		return 0;
	ORR_ATOMIC_STORE(&proc->data->overflowed, 0);
	for (unsigned i = 0; i < n; i++)
		did |= tidy(proc, i);
	if (did)
		ORR_ATOMIC_STORE(&proc->data->untidy, 1);
	return did;
}

void starpu_memchunk_tidy(unsigned memory_node)
{
	struct orr_process *proc = orr_self();

	if (memory_node < proc->data->nmemnodes)
		while (tidy(proc, memory_node))
			;
}
