/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event recorder (see trace.h).
 *
 * Invariant: a stream is written by the thread that it belongs to; streams and strings are freed
 * when recording ends. What is about the process itself goes to a stream of its own, number 0,
 * under the lock, so that a reader of a window needs few other blocks. */
#include <config.h>
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/about.h"
#include "base/assert.h"
#include "base/fnv.h"
#include "base/log.h"
#include "base/map.h"
#include "starpu_fxt.h"
#include "trace/choice.h"
#include "trace/convert.h"
#include "trace/file.h"
#include "trace/limit.h"
#include "trace/sums.h"

#define MOST_TEXT 896 /* bytes of a string: it is in one block */
#define NKNOWN 32
/* Links whose load over time is recorded, in a file with a limit and without; WIRES_TIMES times as
 * many have their sums. */
#define FEW_WIRES 8
#define MOST_WIRES 256
#define WIRES_TIMES 8

struct string {
	uint64_t key;
	uint32_t number, bytes;
	char text[]; /* bytes, and a 0 */
};

/* A block of sums; they stay in their place. */
struct sum_block {
	struct sum_block *next;
	struct orr_trace_block *block;
	uint32_t n;
};

/* The events of one thread. */
struct orr_trace_stream {
	struct orr_trace_stream *next;
	struct orr_trace_block *block;  /* NULL: none yet, or there was no room */
	struct orr_trace_event *events; /* of block */
	struct orr_trace_chunk *chunk;
	uint32_t number, n, nblocks;
	int64_t first_ns, last_ns; /* of this block, as `kinds` */
	uint64_t kinds;
	uint64_t recorded, lost;
	/* With a limit. The first `kept` events of the block stay; behind them are the last ones
	 * that no window has. */
	uint32_t kept;
	/* Kernels under way that began before the window of time ended: their starts. */
	struct orr_trace_event *begun;
	size_t nbegun, begun_cap;
	struct orr_trace_sums sums;
	struct sum_block *sum_blocks; /* the first one has room for more, or there is none */
	/* Strings that this thread used, by their address in the program. */
	struct {
		const char *address;
		const struct string *string;
	} known[NKNOWN];
};

struct orr_trace {
	unsigned recording; /* atomic: 0 while starpu_fxt_stop_profiling suspends it */
	unsigned epoch;     /* as that of the process: threads keep their streams */
	uint32_t process;   /* its number in the file */
	struct orr_trace_file *file;
	const struct orr_trace_head *head; /* of the file */
	uint32_t per_block;                /* events */
	unsigned limited;
	int64_t clock_ns; /* atomic: to add to times of the process for those of the run */
	/* The chosen part: bits of kinds (atomic: of this process, by its rank), and the times of
	 * the run from the first one to before the second one. */
	uint64_t kinds;
	int64_t from_ns, to_ns;
	struct orr_trace_choice choice;
	orr_lock_t lock; /* protects all below */
	struct orr_trace_stream own, *streams;
	uint32_t nstreams, nstrings;
	struct orr_map strings;
	uint64_t lost; /* events of threads for which there was no memory */
};

static int is_recording(const struct orr_trace *tr)
{
	return ORR_ATOMIC_LOAD_RELAXED(&tr->recording) != 0;
}

static int64_t ns_of(double us)
{
	return (int64_t) (us * 1e3 + (us < 0 ? -0.5 : 0.5));
}

/* ---- streams ---- */

/* The block says what is in it. */
static void complete_block(struct orr_trace_stream *s)
{
	s->block->first_ns = s->first_ns;
	s->block->last_ns = s->last_ns;
	s->block->kinds = s->kinds;
	ORR_ATOMIC_STORE(&s->block->nevents, s->n);
}

static void end_block(struct orr_trace *tr, struct orr_trace_stream *s)
{
	if (!s->block)
		return;
	complete_block(s);
	orr_trace_file_put(tr->file, s->chunk);
	s->block = NULL;
}

/* A full block goes to the end of the file, and its place is used again: a copy costs the system
 * less than another mapping. Both are there for an instant, with the same number. Returns 0 if
 * there is no room; its events stay where they are. */
static int move_block(struct orr_trace *tr, struct orr_trace_stream *s)
{
	struct orr_trace_block *b = s->block;

	complete_block(s);
	if (orr_trace_file_append(tr->file, b)) {
		orr_trace_file_put(tr->file, s->chunk);
		s->block = NULL;
		return 0;
	}
	ORR_ATOMIC_STORE(&b->magic, 0);
	memset(b + 1, 0, ORR_TRACE_BLOCK - sizeof(*b));
	*b = (struct orr_trace_block){ .process = tr->process,
				       .stream = s->number,
				       .number = s->nblocks++ };
	ORR_ATOMIC_STORE(&b->magic, ORR_TRACE_BLOCK_MAGIC);
	return 1;
}

/* A block that says whose it is; NULL: there is no room. */
static struct orr_trace_block *new_block(struct orr_trace *tr, struct orr_trace_stream *s,
					 struct orr_trace_chunk **chunk)
{
	struct orr_trace_block *b = orr_trace_file_block(tr->file, chunk);

	if (!b)
		return NULL;
	b->process = tr->process;
	b->stream = s->number;
	b->number = s->nblocks++;
	if (tr->limited)
		b->clock_ns = tr->clock_ns;
	ORR_ATOMIC_STORE(&b->magic, ORR_TRACE_BLOCK_MAGIC);
	return b;
}

/* Returns 0 if there is no room. */
static int begin_block(struct orr_trace *tr, struct orr_trace_stream *s)
{
	int moves = s->block && !tr->limited;

	if (moves && !move_block(tr, s))
		return 0;
	if (!moves)
		end_block(tr, s);
	s->n = s->kept = 0;
	s->kinds = 0;
	s->first_ns = INT64_MAX;
	s->last_ns = INT64_MIN;
	if (!moves)
		s->block = new_block(tr, s, &s->chunk);
	if (s->block)
		s->events = (struct orr_trace_event *) (s->block + 1);
	return s->block != NULL;
}

static inline void put(struct orr_trace_stream *s, const struct orr_trace_event *e)
{
	struct orr_trace_event *at = &s->events[s->n++];

	at->ns = e->ns;
	at->flags = e->flags;
	at->worker = e->worker;
	at->a = e->a;
	at->b = e->b;
	at->c = e->c;
	at->d = e->d;
	ORR_ATOMIC_STORE(&at->kind, e->kind);
	s->kinds |= (uint64_t) 1 << e->kind;
	s->first_ns = e->ns < s->first_ns ? e->ns : s->first_ns;
	s->last_ns = e->ns > s->last_ns ? e->ns : s->last_ns;
}

static inline void append(struct orr_trace *tr, struct orr_trace_stream *s,
			  const struct orr_trace_event *e)
{
	if (__builtin_expect(!s->block || s->n == tr->per_block, 0) && !begin_block(tr, s)) {
		s->lost++;
		return;
	}
	put(s, e);
	s->recorded++;
}

/* ---- streams of a trace with a limit ---- */

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

	if (!s->sum_blocks || s->sum_blocks->n == tr->per_block) {
		struct sum_block *b = malloc(sizeof(*b));

		if (!b)
			return NULL;
		*b = (struct sum_block){ .next = s->sum_blocks, .block = new_block(tr, s, &chunk) };
		if (!b->block) {
			free(b);
			return NULL;
		}
		s->sum_blocks = b;
	}
	return (struct orr_trace_event *) (s->sum_blocks->block + 1) + s->sum_blocks->n++;
}

static void end_sums(struct orr_trace_stream *s)
{
	while (s->sum_blocks) {
		struct sum_block *b = s->sum_blocks;
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
		append(tr, &tr->own, e);
		orr_unlock(&tr->lock);
		return;
	}
	if (orr_trace_sums_add(&s->sums, e, place_sum, &of))
		s->lost++;
	if (s->block && s->n > s->kept && (keeps || s->n == tr->per_block))
		drop_rest(s);
	append(tr, s, e);
	if (keeps && s->block)
		s->kept = s->n;
}

/* The stream of the calling thread; NULL if memory is exhausted. */
static struct orr_trace_stream *make_stream(struct orr_trace *tr, struct orr_thread *self)
{
	struct orr_trace_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	orr_lock(&tr->lock);
	s->number = ++tr->nstreams;
	s->next = tr->streams;
	tr->streams = s;
	orr_unlock(&tr->lock);
	self->trace = s;
	self->trace_epoch = tr->epoch;
	return s;
}

static inline struct orr_trace_stream *stream_of(struct orr_trace *tr)
{
	struct orr_thread *self = orr_thread_self();

	if (__builtin_expect(self->trace && self->trace_epoch == tr->epoch, 1))
		return self->trace;
	return make_stream(tr, self);
}

int64_t orr_trace_now_ns(void)
{
	return ns_of(orr_sys_now_us());
}

int64_t orr_trace_ns_after(struct orr_process *proc, enum orr_trace_kind kind, uint64_t number)
{
	const struct orr_thread *self = orr_thread_self();
	const struct orr_trace_stream *s = self->trace;

	/* Virtual time costs nothing to read, and is exact. */
	if (s && self->trace_epoch == proc->trace->epoch && s->block && s->n &&
	    !orr_sys_is_simulated()) {
		const struct orr_trace_event *last = &s->events[s->n - 1];

		if (last->kind == kind && last->b == number)
			return last->ns;
	}
	return orr_trace_now_ns();
}

/* ---- a part of a run ---- */

static inline int is_chosen(const struct orr_trace *tr, enum orr_trace_kind kind)
{
	return ORR_ATOMIC_LOAD_RELAXED(&tr->kinds) >> kind & 1;
}

static inline void append_any(struct orr_trace *tr, struct orr_trace_stream *s,
			      const struct orr_trace_event *e)
{
	if (__builtin_expect(tr->limited, 0))
		append_limited(tr, s, e);
	else
		append(tr, s, e);
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

/* The rank is known: does the choice have it? In a run of several a process may not know its rank
 * yet. */
static void choose(struct orr_process *proc)
{
	struct orr_trace *tr = proc->trace;
	int unknown = proc->mpi_size == 1 && orr_sys_run_size(proc) > 1;
	int here = !tr->choice.ranks ||
		   (!unknown && orr_trace_choice_has(&tr->choice, proc->mpi_rank));

	ORR_ATOMIC_STORE_RELAXED(&tr->kinds, here ? tr->choice.kinds : ORR_TRACE_ABOUT);
}

int orr_trace_records(const struct orr_process *proc, enum orr_trace_kind kind)
{
	return is_recording(proc->trace) && is_chosen(proc->trace, kind);
}

void orr_trace_add(struct orr_process *proc, struct orr_trace_event e)
{
	if (!orr_trace_records(proc, e.kind))
		return;
	e.ns += orr_trace_now_ns();
	orr_trace_add_at(proc, e);
}

void orr_trace_add_at(struct orr_process *proc, struct orr_trace_event e)
{
	struct orr_trace *tr = proc->trace;

	if (!is_recording(tr) || !is_chosen(tr, e.kind))
		return;
	struct orr_trace_stream *s = stream_of(tr);

	if (!s) {
		ORR_ATOMIC_ADD_RELAXED(&tr->lost, 1);
		return;
	}
	if (__builtin_expect(tr->from_ns != INT64_MIN || tr->to_ns != INT64_MAX, 0))
		append_window(tr, s, &e);
	else
		append_any(tr, s, &e);
}

/* ---- strings ---- */

/* Appends the text to the process's own stream, in one block; under the lock. */
static void append_text(struct orr_trace *tr, const struct string *string)
{
	struct orr_trace_stream *s = &tr->own;
	uint32_t n = 1 + (string->bytes + (uint32_t) sizeof(struct orr_trace_event) - 1) /
				 (uint32_t) sizeof(struct orr_trace_event);

	if ((!s->block || s->n + n > tr->per_block) && !begin_block(tr, s)) {
		s->lost++;
		return;
	}
	/* The bytes are there before the kind says so. */
	memcpy(&s->events[s->n + 1], string->text, string->bytes);
	append(tr, s,
	       &(struct orr_trace_event){ .kind = ORR_TRACE_STRING,
					  .worker = -1,
					  .ns = orr_trace_now_ns(),
					  .a = string->number,
					  .b = string->bytes });
	s->n += n - 1;
}

static int is_text(const struct string *s, const char *text, size_t bytes)
{
	return s->bytes == bytes && !memcmp(s->text, text, bytes);
}

/* Under the lock; NULL if memory is exhausted. */
static const struct string *enter(struct orr_trace *tr, const char *text, size_t bytes)
{
	uint64_t key = orr_fnv(ORR_FNV_START, text, bytes);
	uint32_t cursor = ORR_MAP_START;
	struct string *s;

	while (tr->strings.n && (s = orr_map_find_next(&tr->strings, key, &cursor)))
		if (is_text(s, text, bytes))
			return s;
	s = malloc(sizeof(*s) + bytes + 1);
	if (!s)
		return NULL;
	*s = (struct string){ .key = key, .number = tr->nstrings + 1, .bytes = (uint32_t) bytes };
	memcpy(s->text, text, bytes);
	s->text[bytes] = 0;
	if (orr_map_insert(&tr->strings, s)) {
		free(s);
		return NULL;
	}
	tr->nstrings++;
	append_text(tr, s);
	return s;
}

uint32_t orr_trace_string(struct orr_process *proc, const char *text)
{
	struct orr_trace *tr = proc->trace;
	struct orr_trace_stream *own = stream_of(tr);
	size_t i = ((uintptr_t) text >> 3) % NKNOWN;

	if (own && own->known[i].address == text &&
	    !strncmp(own->known[i].string->text, text, MOST_TEXT))
		return own->known[i].string->number;
	orr_lock(&tr->lock);
	const struct string *s = enter(tr, text, strnlen(text, MOST_TEXT));
	orr_unlock(&tr->lock);
	if (own && s) {
		own->known[i].address = text;
		own->known[i].string = s;
	}
	return s ? s->number : 0;
}

/* ---- about the process ---- */

static void append_own_at(struct orr_trace *tr, struct orr_trace_event e)
{
	e.worker = -1;
	orr_lock(&tr->lock);
	append(tr, &tr->own, &e);
	orr_unlock(&tr->lock);
}

static void append_own(struct orr_trace *tr, struct orr_trace_event e)
{
	e.ns = orr_trace_now_ns();
	append_own_at(tr, e);
}

void orr_trace_clock(struct orr_process *proc, const struct orr_trace_clock *clock)
{
	int64_t clock_ns = ns_of(orr_sys_origin_us() + clock->behind_us);

	if (!clock->at_end)
		ORR_ATOMIC_STORE_RELAXED(&proc->trace->clock_ns, clock_ns);
	append_own(proc->trace, (struct orr_trace_event){ .kind = ORR_TRACE_CLOCK,
							  .a = (uint32_t) clock->at_end,
							  .b = (uint64_t) clock_ns,
							  .c = (uint64_t) ns_of(clock->error_us) });
}

void orr_trace_place(struct orr_process *proc, const struct orr_trace_clock *clock)
{
	uint32_t host = orr_trace_string(proc, orr_sys_machine_name(proc));

	append_own(proc->trace, (struct orr_trace_event){ .kind = ORR_TRACE_PROCESS,
							  .a = (uint32_t) proc->mpi_rank,
							  .b = (uint64_t) proc->mpi_size,
							  .c = host });
	orr_trace_clock(proc, clock);
	choose(proc);
}

void orr_trace_mark(struct orr_process *proc, int worker, const char *what, unsigned long number,
		    const char *text)
{
	char *name;

	if (!is_recording(proc->trace) ||
	    asprintf(&name, "%s%s%s", what, *text ? " " : "", text) < 0)
		return;
	for (char *c = name; *c; c++)
		if (*c == '\n')
			*c = ' '; /* one line per event of the text form */
	orr_trace_add(proc, (struct orr_trace_event){ .kind = ORR_TRACE_USER,
						      .worker = (int16_t) worker,
						      .a = orr_trace_string(proc, name),
						      .b = number });
	free(name);
}

void orr_trace_waited(struct orr_process *proc, double since_us, const char *call, uint64_t cause)
{
	double us = orr_sys_now_us() - since_us;

	if (us < 1 || orr_thread_self()->task)
		return;
	orr_trace_add(proc, (struct orr_trace_event){ .kind = ORR_TRACE_WAITED,
						      .worker = -1,
						      .a = orr_trace_string(proc, call),
						      .b = (uint64_t) ns_of(us),
						      .c = cause });
}

/* ---- control by the program ---- */

static void trace_switch(unsigned on)
{
	struct orr_trace *tr = orr_self()->trace;

	if (tr)
		ORR_ATOMIC_STORE(&tr->recording, on);
}

void starpu_fxt_autostart_profiling(int autostart)
{
	orr_self()->trace_manual = !autostart;
}

void starpu_fxt_start_profiling(void)
{
	trace_switch(1);
}

void starpu_fxt_stop_profiling(void)
{
	trace_switch(0);
}

int starpu_fxt_is_enabled(void)
{
	const struct orr_trace *tr = orr_self()->trace;

	return tr && is_recording(tr);
}

/* ---- start and end ---- */

static void describe(struct orr_process *proc, char *to, size_t size)
{
	orr_sys_run_describe(proc, to, size);
	struct orr_about a = { .text = to, .size = size, .length = strlen(to) };
	orr_about_add(&a, "clock", "%s", orr_sys_is_simulated() ? "virtual" : "monotonic");
	if (proc->cfg.sched)
		orr_about_add(&a, "policy", "%s", proc->cfg.sched);
}

/* The limit of the configuration in bytes, 0 if there is none. 0 or -EINVAL after a message. */
static int read_limit(struct orr_process *proc, uint64_t *limit)
{
	const char *text = proc->cfg.trace_limit;

	*limit = 0;
	if (!text)
		return 0;
	if (orr_trace_limit_parse(text, limit)) {
		orr_error(
			"environment variable ORRERY_TRACE_LIMIT has the value \"%s\": it takes bytes, or a number with K, M, G or T behind it; unset or correct it",
			text);
		return -EINVAL;
	}
	uint64_t least = orr_trace_limit_least(orr_sys_run_size(proc));
	if (*limit < least) {
		orr_error(
			"ORRERY_TRACE_LIMIT=%s is too small for the sums of %u processes; give %lluK or more",
			text, orr_sys_run_size(proc), (unsigned long long) (least + 1023) >> 10);
		return -EINVAL;
	}
	return 0;
}

/* The window counts from when the file was begun, for all processes. */
static void set_window(struct orr_trace *tr)
{
	int64_t begin_ns = orr_trace_choice_begin_ns(tr->head);

	tr->from_ns = tr->choice.from_ns == INT64_MIN ? INT64_MIN : tr->choice.from_ns + begin_ns;
	tr->to_ns = tr->choice.to_ns == INT64_MAX ? INT64_MAX : tr->choice.to_ns + begin_ns;
}

int orr_trace_init(struct orr_process *proc)
{
	struct orr_trace *tr;
	struct orr_trace_choice choice;
	char text[ORR_ABOUT_SIZE + ORR_TRACE_CHOICE_SIZE];

	proc->trace = NULL;
	struct orr_trace_wish wish = { .path = proc->cfg.trace, .text = text };
	int ret = read_limit(proc, &wish.limit);
	if (!ret)
		ret = orr_trace_choice_read(&choice, &proc->cfg);
	if (ret || !wish.path)
		return ret;
	wish.partial = choice.partial;
	tr = calloc(1, sizeof(*tr));
	if (!tr)
		return -ENOMEM;
	orr_lock_init(&tr->lock, ORR_RANK_TRACE);
	orr_map_init(&tr->strings, offsetof(struct string, key));
	describe(proc, text, ORR_ABOUT_SIZE);
	orr_trace_choice_describe(
		&choice, &proc->cfg,
		ns_of(orr_sys_is_simulated() ? 0 : orr_sys_origin_us() + orr_sys_now_us()), text,
		sizeof(text));
	ret = orr_trace_file_join(proc, &wish, &tr->file, &tr->process);
	if (ret) {
		orr_map_exit(&tr->strings);
		free(tr);
		return ret;
	}
	tr->head = orr_trace_file_head(tr->file);
	tr->per_block = (uint32_t) ORR_TRACE_EVENTS_IN(tr->head->block);
	tr->limited = tr->head->flags & ORR_TRACE_LIMITED;
	tr->choice = choice;
	set_window(tr);
	tr->epoch = proc->epoch;
	tr->recording = !proc->trace_manual;
	proc->trace = tr;
	proc->observed |= ORR_OBSERVED_BY_TRACE;
	orr_trace_place(proc, &(struct orr_trace_clock){ 0 });
	if (choice.kinds >> ORR_TRACE_LINK & 1)
		orr_sys_wires_watch(proc);
	return 0;
}

/* Links of a simulated network: all that were used, and how the fullest ones were over time. */
static void add_wires(struct orr_process *proc, struct orr_trace *tr)
{
	struct orr_wire *wires, w;
	unsigned n = orr_sys_wires(proc, &wires), most = tr->limited ? FEW_WIRES : MOST_WIRES;

	for (unsigned k = 0; k < n && k < WIRES_TIMES * most; k++) {
		uint32_t name = orr_trace_string(proc, wires[k].name);

		for (unsigned i = 0; k < most && orr_sys_wire_at(proc, &wires[k], i, &w); i++)
			if (w.busy_ns && w.end_ns > tr->from_ns && w.begin_ns < tr->to_ns)
				append_own_at(tr, (struct orr_trace_event){
							  .kind = ORR_TRACE_LINK,
							  .ns = w.end_ns - tr->clock_ns,
							  .a = name,
							  .b = (uint64_t) (w.end_ns - w.begin_ns),
							  .c = (uint64_t) w.busy_ns,
							  .d = (uint64_t) w.full_ns });
		append_own_at(tr, (struct orr_trace_event){ .kind = ORR_TRACE_LINK,
							    .flags = ORR_TRACE_LINK_SUM,
							    .ns = wires[k].end_ns - tr->clock_ns,
							    .a = name,
							    .b = (uint64_t) wires[k].bytes_per_s,
							    .c = (uint64_t) wires[k].busy_ns,
							    .d = (uint64_t) wires[k].full_ns });
	}
	free(wires);
}

static void free_strings(struct orr_trace *tr)
{
	for (uint32_t i = 0; i < tr->strings.cap; i++)
		free(orr_map_at(&tr->strings, i));
	orr_map_exit(&tr->strings);
}

void orr_trace_exit(struct orr_process *proc)
{
	struct orr_trace *tr = proc->trace;
	uint64_t recorded = 0, lost;

	if (!tr)
		return;
	if (tr->choice.kinds >> ORR_TRACE_LINK & 1 && tr->head->nopen == 1)
		add_wires(proc, tr);
	proc->trace = NULL;
	proc->observed &= ~ORR_OBSERVED_BY_TRACE;
	lost = tr->lost + tr->own.lost;
	while (tr->streams) {
		struct orr_trace_stream *s = tr->streams;

		tr->streams = s->next;
		recorded += s->recorded;
		lost += s->lost;
		end_block(tr, s);
		end_sums(s);
		free(s->begun);
		free(s);
	}
	uint64_t waited_ns = (uint64_t) (orr_sys_run_waited_s(proc) * 1e9);
	append_own(tr, (struct orr_trace_event){ .kind = ORR_TRACE_LEFT,
						 .b = recorded + tr->own.recorded,
						 .c = lost,
						 .d = waited_ns });
	end_block(tr, &tr->own);
	int last = orr_trace_file_leave(tr->file);

	free_strings(tr);
	if (lost) {
		orr_error(
			"ORRERY_TRACE: %llu events were lost because there was no room for them; trace a shorter run, onto another disk, or with a higher limit",
			(unsigned long long) lost);
		orr_sys_fail_at_end(proc);
	}
	free(tr);
	if (last && proc->cfg.generate_trace)
		orr_trace_convert(proc);
}
