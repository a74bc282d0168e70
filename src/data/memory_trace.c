/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of the use of memory nodes (see memory_trace.h).
 *
 * Invariant: the use is never farther from that of the last event than 1/LARGE of the most that was
 * ever in use, and a peak not farther than 1/SMALL. Small changes are recorded so seldom that a run
 * has some hundreds of them at most, however long it is. */
#include "data/memory_trace.h"

#include "base/assert.h"

#define SMALL 64
#define LARGE 8
#define PART 256 /* of the time since the start: at most that often */

static int is_far(size_t now, size_t told, size_t least)
{
	return (now > told ? now - told : told - now) > least;
}

/* A small change: whether the last event was long ago. */
static int is_time(const struct orr_process *proc, const struct orr_memnode *m, int64_t ns)
{
	return ns - m->told_ns > (ns - (int64_t) (proc->start_us * 1e3)) / PART;
}

struct orr_trace_event orr_memory_note_slow(struct orr_process *proc, struct orr_memnode *m)
{
	size_t used = m->used, cached = ORR_ATOMIC_LOAD_RELAXED(&m->cache_bytes);
	struct orr_trace_event e = { .kind = ORR_TRACE_NONE };

	orr_assert_locked(&m->lock);
	if (!is_far(used, m->told_used, m->told_most / SMALL) &&
	    !is_far(cached, m->told_cached, m->told_most / LARGE))
		return e;
	e.ns = orr_trace_now_ns();
	if (used <= m->told_most && !is_far(used, m->told_used, m->told_most / LARGE) &&
	    !is_far(cached, m->told_cached, m->told_most / LARGE) && !is_time(proc, m, e.ns))
		return e;
	m->told_used = used;
	m->told_cached = cached;
	m->told_most = used > m->told_most ? used : m->told_most;
	m->told_ns = e.ns;
	e.kind = ORR_TRACE_MEMORY;
	e.worker = -1;
	e.a = m->number;
	e.b = used;
	e.c = cached;
	e.d = m->total;
	return e;
}
