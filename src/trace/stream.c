/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of one thread, on their way into the file (see stream.h).
 *
 * Invariant: an event that was added is in the file from then on, in one place or, for an instant,
 * in two blocks with the same number. */
#include "trace/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "trace/limit.h"

#define MOST_RUN 16 /* blocks side by side */
#define RUN_AFTER \
	16 /* a thread that filled so many blocks for each one of its run gets a longer one */

/* The block says what is in it. */
static void complete_block(struct orr_trace_stream *s)
{
	s->block->first_ns = s->first_ns;
	s->block->last_ns = s->last_ns;
	s->block->kinds = s->kinds;
	ORR_ATOMIC_STORE(&s->block->nevents, s->n);
}

/* All blocks of the run stay where they are. */
static void leave_run(struct orr_trace *tr, struct orr_trace_stream *s)
{
	orr_trace_file_put(tr->file, s->chunk);
	s->block = s->run = NULL;
	s->chunk = NULL;
	s->n = s->room = s->runs = s->at = 0;
	s->run_number = 0;
}

/* The block, all 0, says whose it is. */
static void own_block(struct orr_trace *tr, struct orr_trace_stream *s, struct orr_trace_block *b)
{
	b->process = tr->process;
	b->stream = s->number;
	b->number = s->nblocks++;
	if (tr->limited)
		b->clock_ns = tr->clock_ns;
	ORR_ATOMIC_STORE(&b->magic, ORR_TRACE_BLOCK_MAGIC);
}

/* The events of the run are no more where they were. */
static void number_run(struct orr_trace *tr, struct orr_trace_stream *s)
{
	s->run_number = (uint64_t) tr->epoch << 40 | ORR_ATOMIC_ADD_RELAXED(&tr->nruns, 1);
}

/* The blocks of the run, which are all full, go to the end of the file, and can be filled again.
 * Both are there for an instant, with the same numbers. Returns 0 if there is no room; the events
 * stay where they are. */
static int move_run(struct orr_trace *tr, struct orr_trace_stream *s)
{
	char *run = (char *) s->run;

	if (orr_trace_file_append(tr->file, s->run, s->runs))
		return 0;
	for (uint32_t i = 0; i < s->runs; i++) {
		struct orr_trace_block *b = (void *) (run + (size_t) i * ORR_TRACE_BLOCK);

		ORR_ATOMIC_STORE(&b->magic, 0);
		memset(b, 0, ORR_TRACE_BLOCK);
	}
	number_run(tr, s);
	return 1;
}

/* A run of up to so many blocks. Returns 0 if there is no room. */
static int begin_run(struct orr_trace *tr, struct orr_trace_stream *s, uint32_t blocks)
{
	s->runs = blocks;
	s->run = orr_trace_file_blocks(tr->file, &s->runs, &s->chunk);
	number_run(tr, s);
	return s->run != NULL;
}

/* The run has no empty block any more: it gets some, or another one takes its place. Returns 0 if
 * there is no room. */
static int renew_run(struct orr_trace *tr, struct orr_trace_stream *s)
{
	uint32_t blocks = tr->limited ? 1 : s->runs;

	if (!tr->limited && blocks < MOST_RUN && s->nblocks >= RUN_AFTER * blocks)
		blocks *= 2;
	else if (!tr->limited && move_run(tr, s))
		return 1;
	int full = !tr->limited && blocks == s->runs;

	leave_run(tr, s);
	return !full && begin_run(tr, s, blocks);
}

int orr_trace_stream_begin(struct orr_trace *tr, struct orr_trace_stream *s)
{
	if (s->block)
		complete_block(s);
	if (s->block && s->at + 1 < s->runs)
		s->at++;
	else if (s->block ? renew_run(tr, s) : begin_run(tr, s, 1))
		s->at = 0;
	else
		return 0;
	s->block = (void *) ((char *) s->run + (size_t) s->at * tr->head->block);
	own_block(tr, s, s->block);
	s->events = (struct orr_trace_event *) (s->block + 1);
	s->room = tr->per_block;
	s->n = s->kept = 0;
	s->kinds = 0;
	s->first_ns = INT64_MAX;
	s->last_ns = INT64_MIN;
	return 1;
}

void orr_trace_stream_add_first(struct orr_trace *tr, struct orr_trace_stream *s,
				const struct orr_trace_event *e)
{
	orr_trace_stream_add(tr, s, e);
}

struct orr_trace_stream *orr_trace_stream_make(struct orr_trace *tr, struct orr_thread *self)
{
	struct orr_trace_stream *s = orr_sys_is_simulated() ? tr->streams : NULL;

	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s) {
			ORR_ATOMIC_ADD_RELAXED(&tr->lost, 1);
			return NULL;
		}
		orr_lock(&tr->lock);
		s->number = ++tr->nstreams;
		s->next = tr->streams;
		tr->streams = s;
		orr_unlock(&tr->lock);
	}
	self->trace = s;
	self->trace_epoch = tr->epoch;
	return s;
}

/* ---- with a limit ---- */

/* Forgets the events that no window has. */
static void drop_rest(struct orr_trace_stream *s)
{
	while (s->n > s->kept)
		ORR_ATOMIC_STORE(&s->events[--s->n].kind, ORR_TRACE_NONE);
}

/* orr_trace_sum_place: in a block of sums of the stream. */
struct sum_of {
	struct orr_trace *tr;
	struct orr_trace_stream *s;
};

static struct orr_trace_event *place_sum(void *of)
{
	struct orr_trace *tr = ((struct sum_of *) of)->tr;
	struct orr_trace_stream *s = ((struct sum_of *) of)->s;
	struct orr_trace_chunk *chunk;
	uint32_t one = 1;

	if (!s->sum_blocks || s->sum_blocks->n == tr->per_block) {
		struct orr_trace_sum_block *b = malloc(sizeof(*b));

		if (!b)
			return NULL;
		*b = (struct orr_trace_sum_block){ .next = s->sum_blocks,
						   .block = orr_trace_file_blocks(tr->file, &one,
										  &chunk) };
		if (!b->block) {
			free(b);
			return NULL;
		}
		own_block(tr, s, b->block);
		s->sum_blocks = b;
	}
	return (struct orr_trace_event *) (s->sum_blocks->block + 1) + s->sum_blocks->n++;
}

static void end_sums(struct orr_trace_stream *s)
{
	while (s->sum_blocks) {
		struct orr_trace_sum_block *b = s->sum_blocks;
		const struct orr_trace_event *e = (const void *) (b->block + 1);

		b->block->first_ns = INT64_MAX;
		b->block->last_ns = INT64_MIN;
		for (uint32_t i = 0; i < b->n; i++) {
			if (e[i].ns < b->block->first_ns)
				b->block->first_ns = e[i].ns;
			if (e[i].ns > b->block->last_ns)
				b->block->last_ns = e[i].ns;
		}
		b->block->kinds = (uint64_t) 1 << ORR_TRACE_SUM;
		ORR_ATOMIC_STORE(&b->block->nevents, b->n);
		s->sum_blocks = b->next;
		free(b);
	}
	orr_trace_sums_exit(&s->sums);
}

/* An event of a window stays. Of the others, the last ones do: those for which a block had room. */
static void append_limited(struct orr_trace *tr, struct orr_trace_stream *s,
			   const struct orr_trace_event *e)
{
	uint32_t windows = ORR_ATOMIC_LOAD_RELAXED(&tr->head->windows);
	int keeps = orr_trace_limit_keeps(windows, e->ns + ORR_ATOMIC_LOAD_RELAXED(&tr->clock_ns));
	struct sum_of of = { .tr = tr, .s = s };

	if (e->kind == ORR_TRACE_WORKER) { /* it is about the process */
		orr_lock(&tr->lock);
		orr_trace_stream_add(tr, &tr->own, e);
		orr_unlock(&tr->lock);
		return;
	}
	if (orr_trace_sums_add(&s->sums, e, place_sum, &of))
		s->lost++;
	if (s->block && s->n > s->kept && (keeps || s->n == tr->per_block))
		drop_rest(s);
	orr_trace_stream_add(tr, s, e);
	if (keeps && s->block)
		s->kept = s->n;
}

/* ---- a window of time ---- */

static inline void append_any(struct orr_trace *tr, struct orr_trace_stream *s,
			      const struct orr_trace_event *e)
{
	if (__builtin_expect(tr->limited, 0))
		append_limited(tr, s, e);
	else
		orr_trace_stream_add(tr, s, e);
}

/* Keeps the start of a kernel, until its end. */
static void begin_kernel(struct orr_trace_stream *s, const struct orr_trace_event *e)
{
	if (s->nbegun == s->begun_cap) {
		size_t more = s->begun_cap ? 2 * s->begun_cap : 4;
		struct orr_trace_event *p = realloc(s->begun, more * sizeof(*p));

		if (!p) {
			s->lost++;
			return;
		}
		s->begun = p;
		s->begun_cap = more;
	}
	s->begun[s->nbegun++] = *e;
}

/* Takes the start of the kernel that ends out of those that were kept. 0: it is not there. */
static int end_kernel(struct orr_trace_stream *s, const struct orr_trace_event *e,
		      struct orr_trace_event *start)
{
	for (size_t i = s->nbegun; i-- > 0;)
		if (s->begun[i].b == e->b && s->begun[i].worker == e->worker) {
			*start = s->begun[i];
			s->begun[i] = s->begun[--s->nbegun];
			return 1;
		}
	return 0;
}

/* Of a run with a window of time. A kernel that has a part in the window is recorded whole; its
 * start, if that was before, when it ends. */
static void append_window(struct orr_trace *tr, struct orr_trace_stream *s,
			  const struct orr_trace_event *e)
{
	int64_t clock_ns = ORR_ATOMIC_LOAD_RELAXED(&tr->clock_ns), run_ns = e->ns + clock_ns;
	int before = run_ns < tr->from_ns, after = run_ns >= tr->to_ns;
	struct orr_trace_event start;

	if ((uint64_t) 1 << e->kind & ORR_TRACE_ABOUT)
		before = after = 0;
	if (e->kind == ORR_TRACE_START && !after)
		begin_kernel(s, e);
	if (e->kind == ORR_TRACE_END && end_kernel(s, e, &start) && !before) {
		if (start.ns + clock_ns < tr->from_ns)
			append_any(tr, s, &start);
		after = 0;
	}
	if (!before && !after)
		append_any(tr, s, e);
}

void orr_trace_stream_add_part(struct orr_trace *tr, struct orr_trace_stream *s,
			       const struct orr_trace_event *e)
{
	if (__builtin_expect(tr->from_ns != INT64_MIN || tr->to_ns != INT64_MAX, 0))
		append_window(tr, s, e);
	else
		append_any(tr, s, e);
}

void orr_trace_stream_end(struct orr_trace *tr, struct orr_trace_stream *s)
{
	if (s->block) {
		complete_block(s);
		leave_run(tr, s);
	}
	end_sums(s);
	free(s->begun);
	s->begun = NULL;
}
