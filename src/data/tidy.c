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
#include "data/thresholds.h"
#include "data/tidy.h"

#define MAX_CLEANING 2 /* write-backs ahead under way: demand comes first */

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
	enum orr_room room = orr_memory_write_back(proc, h, e->self, ORR_COPY_WRITE_BACK, &waiters);
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
	size_t goal = orr_memory_clean_goal(m), room = orr_memory_available(m);

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
	struct orr_memnode *m = proc->data->memnodes[memnode];
	int did = 0;

	if ((m->avail_low && orr_memory_available(m) < m->avail_low) || orr_memory_overflows(m))
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
