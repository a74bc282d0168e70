/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The moment when a memory runs low, and the call for a group that tidies it (tidy.c).
 *
 * Invariant: stated in thresholds.h. */
#include "data/thresholds.h"
#include "base/assert.h"
#include "base/park.h"
#include "data/data.h"

static size_t percent(size_t total, int n)
{
	return total / 100 * (size_t) n;
}

void orr_thresholds_init(struct orr_process *proc, struct orr_memnode *m)
{
	const struct orr_config *cfg = proc->cfg;

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

size_t orr_memory_available(const struct orr_memnode *m)
{
	size_t used = ORR_ATOMIC_LOAD_RELAXED(&m->used),
	       cached = ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes), available = m->total + cached;

	return available > used ? available - used : 0;
}

int orr_memory_overflows(const struct orr_memnode *m)
{
	return m->total && m->kind != STARPU_DISK_RAM &&
	       ORR_ATOMIC_LOAD_RELAXED(&m->used) >
		       m->total + ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes);
}

size_t orr_memory_clean_goal(const struct orr_memnode *m)
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
		const struct orr_memnode *m = proc->data->memnodes[i];
		size_t room;

		if (!m->avail_low && !m->clean_low && !orr_memory_overflows(m))
			continue;
		room = orr_memory_available(m);
		if (room >= m->avail_low && room >= orr_memory_clean_goal(m) &&
		    !orr_memory_overflows(m))
			continue;
		call(proc);
		return;
	}
}
