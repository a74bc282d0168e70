/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The use of memory nodes, for the recorder: events when so much was taken or given back that a
 * picture would show it.
 *
 * Invariant: a load and a branch while nothing is recorded. An event has the use at its time. */
#ifndef ORR_DATA_MEMORY_TRACE_H
#define ORR_DATA_MEMORY_TRACE_H

#include "data/data.h"
#include "data/memnode.h"
#include "trace/trace.h"

/* Under m->lock, after a change of m->used or m->cache_bytes: what is to be recorded of it, with
 * orr_memory_record() when the lock is free again. */
struct orr_trace_event orr_memory_note_slow(struct orr_process *proc, struct orr_memnode *m);
static inline struct orr_trace_event orr_memory_note(struct orr_process *proc,
						     struct orr_memnode *m)
{
	if (__builtin_expect(proc->trace == NULL, 1))
		return (struct orr_trace_event){ .kind = ORR_TRACE_NONE };
	return orr_memory_note_slow(proc, m);
}

static inline void orr_memory_record(struct orr_process *proc, struct orr_trace_event e)
{
	if (__builtin_expect(e.kind != ORR_TRACE_NONE, 0))
		orr_trace_add_at(proc, &e);
}

#endif
