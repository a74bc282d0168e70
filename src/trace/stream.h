/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of one thread, on their way into the file: inside of src/trace.
 *
 * A stream fills a run of blocks that lie side by side in the file, which is mapped: one block at
 * first, more for a thread that records much. When all of them are full they are copied to the end
 * of the file in one call and filled again, for this costs the system less than another mapping,
 * and little where they are many.
 *
 * Simulated threads of a rank share one stream, for they take turns, and the places that thousands
 * of ranks write to just now should be in the processor's cache.
 *
 * Invariant: a stream is written by the thread that it belongs to; the one of the process itself,
 * number 0, under the lock of the trace. */
#ifndef ORR_TRACE_STREAM_H
#define ORR_TRACE_STREAM_H

#include "base/map.h"
#include "base/process.h"
#include "base/seam.h"
#include "trace/choice.h"
#include "trace/file.h"
#include "trace/format.h"
#include "trace/sums.h"

#define ORR_TRACE_NKNOWN 32

/* A string that was recorded. */
struct orr_trace_text {
	uint64_t key;
	uint32_t number, bytes;
	char text[]; /* bytes, and a 0 */
};

/* A block of sums; they stay in their place. */
struct orr_trace_sum_block {
	struct orr_trace_sum_block *next;
	struct orr_trace_block *block;
	uint32_t n;
};

/* The events of one thread. */
struct orr_trace_stream {
	struct orr_trace_event *events; /* of block */
	uint32_t n;
	uint32_t room;  /* events of a block, 0 without one */
	uint64_t kinds; /* of this block, as the two times */
	int64_t first_ns, last_ns;
	uint64_t recorded, lost;
	struct orr_trace_block *block; /* NULL: none yet, or there was no room */
	struct orr_trace_block *run;   /* the first one of the run, `runs` blocks, of which it is
					  number `at` */
	uint32_t runs, at;
	uint64_t run_number; /* of what is in the run now, see struct orr_trace_began */
	/* The last kernel that ended in this thread, when, and what `recorded` was then. */
	uint64_t ended_job, ended;
	int64_t ended_ns;
	struct orr_trace_chunk *chunk;
	uint32_t number, nblocks;
	struct orr_trace_stream *next;
	/* With a limit. The first `kept` events of the block stay; behind them are the last ones
	 * that no window has. */
	uint32_t kept;
	/* Kernels under way that began before the window of time ended: their starts. */
	struct orr_trace_event *begun;
	size_t nbegun, begun_cap;
	struct orr_trace_sums sums;
	struct orr_trace_sum_block *sum_blocks; /* the first one has room for more, or there is none
						 */
	/* Strings that this thread used, by their address in the program. */
	struct {
		const char *address;
		const struct orr_trace_text *string;
	} known[ORR_TRACE_NKNOWN];
};

struct orr_trace {
	/* Atomic: the chosen kinds, as bits; 0 while starpu_fxt_stop_profiling suspends it. */
	uint64_t wanted;
	unsigned epoch;     /* as that of the process: threads keep their streams */
	unsigned plain;     /* neither a limit nor a window of time */
	int64_t clock_ns;   /* atomic: to add to times of the process for those of the run */
	unsigned recording; /* atomic */
	uint64_t nruns;     /* atomic: numbers of runs that were given out */
	unsigned limited;
	uint64_t kinds;     /* atomic: the chosen ones of this process, by its rank */
	uint32_t process;   /* its number in the file */
	uint32_t per_block; /* events */
	struct orr_trace_file *file;
	const struct orr_trace_head *head; /* of the file */
	int64_t from_ns, to_ns; /* the chosen times of the run, the second one not among them */
	struct orr_trace_choice choice;
	orr_lock_t lock; /* protects all below */
	struct orr_trace_stream own, *streams;
	uint32_t nstreams, nstrings;
	struct orr_map strings;
	uint64_t lost; /* events of threads for which there was no memory */
};

_Static_assert(offsetof(struct orr_trace, wanted) == 0, "trace.h looks there");

static inline int orr_trace_wants(const struct orr_trace *tr, enum orr_trace_kind kind)
{
	return ORR_ATOMIC_LOAD_RELAXED(&tr->wanted) >> kind & 1;
}

/* Another block; 0: there is no room. */
int orr_trace_stream_begin(struct orr_trace *tr, struct orr_trace_stream *s);
/* Joins e to the last event of the stream if that may stand for it, too: then 1, and e is recorded;
 * else 0, and e is as it is to be added. Requires that the trace is plain, and that e's kind is one
 * of ORR_TRACE_CHAINED. */
int orr_trace_stream_chain(struct orr_trace_stream *s, struct orr_trace_event *e);
#define ORR_TRACE_CHAINED \
	((uint64_t) 1 << ORR_TRACE_RELEASE | (uint64_t) 1 << ORR_TRACE_READY | \
	 (uint64_t) 1 << ORR_TRACE_GRANT | (uint64_t) 1 << ORR_TRACE_ROUTE | \
	 (uint64_t) 1 << ORR_TRACE_SENT | (uint64_t) 1 << ORR_TRACE_MATCH)
/* The stream of a thread that has none yet; NULL if memory is exhausted, and then an event is lost.
 */
struct orr_trace_stream *orr_trace_stream_make(struct orr_trace *tr, struct orr_thread *self);
/* The event is added where the run has a limit or a window of time. */
void orr_trace_stream_add_part(struct orr_trace *tr, struct orr_trace_stream *s,
			       const struct orr_trace_event *e);
/* Nothing more comes: its blocks say what is in them. */
void orr_trace_stream_end(struct orr_trace *tr, struct orr_trace_stream *s);

/* The stream of the calling thread, NULL: it has none yet. */
static inline struct orr_trace_stream *orr_trace_stream_known(const struct orr_trace *tr)
{
	if (orr_sys_is_simulated())
		return tr->streams;
	const struct orr_thread *self = orr_thread_self();

	return __builtin_expect(self->trace && self->trace_epoch == tr->epoch, 1) ? self->trace
										  : NULL;
}

static inline struct orr_trace_stream *orr_trace_stream_of(struct orr_trace *tr)
{
	struct orr_trace_stream *s = orr_trace_stream_known(tr);

	return __builtin_expect(s != NULL, 1) ? s : orr_trace_stream_make(tr, orr_thread_self());
}

/* The stream of the calling thread, if it has one and it has an event that others may join; else
 * NULL. */
static inline struct orr_trace_stream *orr_trace_stream_open(const struct orr_trace *tr)
{
	struct orr_trace_stream *s = orr_trace_stream_known(tr);

	return __builtin_expect(s && s->n && tr->plain, 1) ? s : NULL;
}

/* Adds an event to a stream whose block has room. Returns its place. The event is there when its
 * kind is stored, as the last of its fields. */
static inline struct orr_trace_event *orr_trace_stream_append(struct orr_trace_stream *s,
							      const struct orr_trace_event *e)
{
	struct orr_trace_event *at = &s->events[s->n++];

	s->recorded++;
	s->kinds |= (uint64_t) 1 << e->kind;
	s->first_ns = e->ns < s->first_ns ? e->ns : s->first_ns;
	s->last_ns = e->ns > s->last_ns ? e->ns : s->last_ns;
	at->ns = e->ns;
	at->flags = e->flags;
	at->worker = e->worker;
	at->a = e->a;
	at->b = e->b;
	at->c = e->c;
	at->d = e->d;
	ORR_ATOMIC_STORE(&at->kind, e->kind);
	return at;
}

/* Adds an event. Returns its place; NULL, and it is lost: there is no room. */
static inline struct orr_trace_event *orr_trace_stream_add(struct orr_trace *tr,
							   struct orr_trace_stream *s,
							   const struct orr_trace_event *e)
{
	if (__builtin_expect(s->n == s->room, 0) && !orr_trace_stream_begin(tr, s)) {
		s->lost++;
		return NULL;
	}
	return orr_trace_stream_append(s, e);
}

/* The same where nobody asks for the place: the rare case is a function's last call, so that the
 * usual one saves no registers. */
void orr_trace_stream_add_first(struct orr_trace *tr, struct orr_trace_stream *s,
				const struct orr_trace_event *e);
static inline void orr_trace_stream_put(struct orr_trace *tr, struct orr_trace_stream *s,
					const struct orr_trace_event *e)
{
	if (__builtin_expect(s->n < s->room, 1))
		orr_trace_stream_append(s, e);
	else {
		struct orr_trace_event copy = *e; /* so *e can stay in registers */

		orr_trace_stream_add_first(tr, s, &copy);
	}
}

#endif
