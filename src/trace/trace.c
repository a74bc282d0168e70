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
#include "trace/convert.h"
#include "trace/limit.h"
#include "trace/stream.h"

#define MOST_TEXT 896 /* bytes of a string: it is in one block */
/* Links whose load over time is recorded, in a file with a limit and without; WIRES_TIMES times as
 * many have their sums. */
#define FEW_WIRES 8
#define MOST_WIRES 256
#define WIRES_TIMES 8

static int is_recording(const struct orr_trace *tr)
{
	return ORR_ATOMIC_LOAD_RELAXED(&tr->recording) != 0;
}

static int64_t ns_of(double us)
{
	return (int64_t) (us * 1e3 + (us < 0 ? -0.5 : 0.5));
}

/* ---- events ---- */

/* Events are recorded of the chosen kinds, while the program does not suspend it. */
static void set_wanted(struct orr_trace *tr)
{
	ORR_ATOMIC_STORE_RELAXED(&tr->wanted,
				 is_recording(tr) ? ORR_ATOMIC_LOAD_RELAXED(&tr->kinds) : 0);
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
	set_wanted(tr);
}

/* Of a thread without a stream, of a run that is not plain, or of a kind that others may join. */
static __attribute__((noinline)) void add_slow(struct orr_trace *tr, struct orr_trace_event *e)
{
	struct orr_trace_stream *s = orr_trace_stream_of(tr);

	if (__builtin_expect(!s, 0))
		return;
	if (__builtin_expect(!tr->plain, 0))
		orr_trace_stream_add_part(tr, s, e);
	else if (!(ORR_TRACE_CHAINED >> e->kind & 1) || !orr_trace_stream_chain(s, e))
		orr_trace_stream_add(tr, s, e);
}

static inline void add(struct orr_trace *tr, struct orr_trace_event *e)
{
	struct orr_trace_stream *s = orr_trace_stream_known(tr);

	if (__builtin_expect(s && s->n < s->room && tr->plain, 1) &&
	    !(ORR_TRACE_CHAINED >> e->kind & 1))
		orr_trace_stream_append(s, e);
	else
		add_slow(tr, e);
}

void orr_trace_add_now(struct orr_process *proc, struct orr_trace_event *e)
{
	struct orr_trace *tr = proc->trace;

	if (!orr_trace_wants(tr, e->kind))
		return;
	e->ns += orr_trace_now_ns();
	add(tr, e);
}

void orr_trace_add_at(struct orr_process *proc, struct orr_trace_event *e)
{
	struct orr_trace *tr = proc->trace;

	if (orr_trace_wants(tr, e->kind))
		add(tr, e);
}

/* ---- strings ---- */

/* Appends the text to the process's own stream, in one block; under the lock. */
static void append_text(struct orr_trace *tr, const struct orr_trace_text *string)
{
	struct orr_trace_stream *s = &tr->own;
	uint32_t n = 1 + (string->bytes + (uint32_t) sizeof(struct orr_trace_event) - 1) /
				 (uint32_t) sizeof(struct orr_trace_event);

	if (s->n + n > s->room && !orr_trace_stream_begin(tr, s)) {
		s->lost++;
		return;
	}
	/* The bytes are there before the kind says so. */
	memcpy(&s->events[s->n + 1], string->text, string->bytes);
	orr_trace_stream_add(tr, s,
			     &(struct orr_trace_event){ .kind = ORR_TRACE_STRING,
							.worker = -1,
							.ns = orr_trace_now_ns(),
							.a = string->number,
							.b = string->bytes });
	s->n += n - 1;
}

static int is_text(const struct orr_trace_text *s, const char *text, size_t bytes)
{
	return s->bytes == bytes && !memcmp(s->text, text, bytes);
}

/* Under the lock; NULL if memory is exhausted. */
static const struct orr_trace_text *enter(struct orr_trace *tr, const char *text, size_t bytes)
{
	uint64_t key = orr_fnv(ORR_FNV_START, text, bytes);
	uint32_t cursor = ORR_MAP_START;
	struct orr_trace_text *s;

	while (tr->strings.n && (s = orr_map_find_next(&tr->strings, key, &cursor)))
		if (is_text(s, text, bytes))
			return s;
	s = malloc(sizeof(*s) + bytes + 1);
	if (!s)
		return NULL;
	*s = (struct orr_trace_text){ .key = key,
				      .number = tr->nstrings + 1,
				      .bytes = (uint32_t) bytes };
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

static inline size_t known_place(const char *text)
{
	return ((uintptr_t) text >> 3) % ORR_TRACE_NKNOWN;
}

/* A string that this thread has not used last of those with its place. */
static __attribute__((noinline)) uint32_t string_slow(struct orr_trace *tr, const char *text)
{
	struct orr_trace_stream *own = orr_trace_stream_of(tr);
	size_t i = known_place(text);

	orr_lock(&tr->lock);
	const struct orr_trace_text *s = enter(tr, text, strnlen(text, MOST_TEXT));
	orr_unlock(&tr->lock);
	if (own && s) {
		own->known[i].address = text;
		own->known[i].string = s;
	}
	return s ? s->number : 0;
}

uint32_t orr_trace_string(struct orr_process *proc, const char *text)
{
	struct orr_trace *tr = proc->trace;
	const struct orr_trace_stream *own = orr_trace_stream_known(tr);
	size_t i = known_place(text);

	/* A program may have another text at the same place by now. */
	if (own && own->known[i].address == text && !strcmp(own->known[i].string->text, text))
		return own->known[i].string->number;
	return string_slow(tr, text);
}

/* ---- about the process ---- */

static void append_own_at(struct orr_trace *tr, struct orr_trace_event e)
{
	e.worker = -1;
	orr_lock(&tr->lock);
	orr_trace_stream_add(tr, &tr->own, &e);
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

	if (!tr)
		return;
	ORR_ATOMIC_STORE(&tr->recording, on);
	set_wanted(tr);
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
	if (proc->cfg->sched)
		orr_about_add(&a, "policy", "%s", proc->cfg->sched);
}

/* The limit of the configuration in bytes, 0 if there is none. 0 or -EINVAL after a message. */
static int read_limit(struct orr_process *proc, uint64_t *limit)
{
	const char *text = proc->cfg->trace_limit;

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
	struct orr_trace_wish wish = { .path = proc->cfg->trace, .text = text };
	int ret = read_limit(proc, &wish.limit);
	if (!ret)
		ret = orr_trace_choice_read(&choice, proc->cfg);
	if (ret || !wish.path)
		return ret;
	wish.partial = choice.partial;
	tr = calloc(1, sizeof(*tr));
	if (!tr)
		return -ENOMEM;
	orr_lock_init(&tr->lock, ORR_RANK_TRACE);
	orr_map_init(&tr->strings, offsetof(struct orr_trace_text, key));
	describe(proc, text, ORR_ABOUT_SIZE);
	orr_trace_choice_describe(
		&choice, proc->cfg,
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
	tr->plain = !tr->limited && tr->from_ns == INT64_MIN && tr->to_ns == INT64_MAX;
	tr->epoch = proc->epoch;
	orr_sys_now_ns_init();
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
		orr_trace_stream_end(tr, s);
		free(s);
	}
	uint64_t waited_ns = (uint64_t) (orr_sys_run_waited_s(proc) * 1e9);
	append_own(tr, (struct orr_trace_event){ .kind = ORR_TRACE_LEFT,
						 .b = recorded + tr->own.recorded,
						 .c = lost,
						 .d = waited_ns });
	orr_trace_stream_end(tr, &tr->own);
	int last = orr_trace_file_leave(tr->file);

	free_strings(tr);
	if (lost) {
		orr_error(
			"ORRERY_TRACE: %llu events were lost because there was no room for them; trace a shorter run, onto another disk, or with a higher limit",
			(unsigned long long) lost);
		orr_sys_fail_at_end(proc);
	}
	free(tr);
	if (last && proc->cfg->generate_trace)
		orr_trace_convert(proc);
}
