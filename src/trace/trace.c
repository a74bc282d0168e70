/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event recorder (see trace.h).
 *
 * Invariant: buffers only grow, and are written at shutdown only, sorted by time, then by worker,
 * then by their place in the buffer. So the same simulated run writes the same bytes. */
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/output.h"
#include "starpu_fxt.h"

struct event {
	double us;
	uint64_t job;
	int64_t tag;
	size_t bytes;
	const char *name; /* the codelet's; of a mark: a copy that the recorder frees */
	int32_t worker, peer;
	uint32_t seq;
	uint8_t kind;
};

struct buffer {
	struct event *v;
	size_t n, cap;
	size_t lost; /* events for which there was no memory */
} __attribute__((aligned(64)));

#define NBUFFERS (STARPU_NMAXWORKERS + 1)
#define SHARED STARPU_NMAXWORKERS /* of all threads that step no worker */

struct orr_trace {
	unsigned recording; /* atomic: 0 while starpu_fxt_stop_profiling suspends it */
	double behind_us;   /* see orr_trace_set_behind */
	orr_lock_t lock;    /* protects the shared buffer */
	struct buffer buffer[NBUFFERS];
};

static const char *const event_names[ORR_TRACE_NEVENTS] = { "submit", "start",  "end",
							    "done",   "send",   "recv",
							    "copy",   "copied", "user" };

/* ---- recording ---- */

static int is_recording(const struct orr_trace *tr)
{
	return ORR_ATOMIC_LOAD_RELAXED(&tr->recording) != 0;
}

static void buffer_append(struct buffer *b, struct event e)
{
	if (b->n == b->cap) {
		size_t cap = b->cap ? 2 * b->cap : 1024;
		struct event *v = realloc(b->v, cap * sizeof(*v));

		if (v) {
			b->v = v;
			b->cap = cap;
		}
	}
	orr_assert(b->n <= b->cap);
	if (b->n < b->cap) {
		e.seq = (uint32_t) b->n;
		b->v[b->n++] = e;
		return;
	}
	b->lost++;
	if (e.kind == ORR_TRACE_USER)
		free((char *) e.name);
}

static void trace_append(struct orr_trace *tr, int by, struct event e)
{
	orr_assert(by < STARPU_NMAXWORKERS);
	if (by >= 0) {
		buffer_append(&tr->buffer[by], e);
		return;
	}
	orr_lock(&tr->lock);
	buffer_append(&tr->buffer[SHARED], e);
	orr_unlock(&tr->lock);
}

void orr_trace_task(struct orr_process *proc, int by, enum orr_trace_event event, uint64_t job,
		    const char *name, int worker, double shift_us)
{
	if (is_recording(proc->trace))
		trace_append(proc->trace, by,
			     (struct event){ .us = orr_sys_now_us() + shift_us,
					     .job = job,
					     .name = name,
					     .worker = worker,
					     .peer = -1,
					     .kind = (uint8_t) event });
}

/* An event that has a place where it comes from or goes to, and a size. */
static void append_sized(struct orr_process *proc, int by, enum orr_trace_event event, int peer,
			 int64_t tag, size_t bytes)
{
	if (is_recording(proc->trace))
		trace_append(proc->trace, by,
			     (struct event){ .us = orr_sys_now_us(),
					     .tag = tag,
					     .bytes = bytes,
					     .worker = -1,
					     .peer = peer,
					     .kind = (uint8_t) event });
}

void orr_trace_message(struct orr_process *proc, int by, enum orr_trace_event event, int peer,
		       int64_t tag, size_t bytes)
{
	append_sized(proc, by, event, peer, tag, bytes);
}

void orr_trace_copy(struct orr_process *proc, int by, enum orr_trace_event event, unsigned src,
		    unsigned dst, size_t bytes)
{
	append_sized(proc, by, event, (int) src, (int64_t) dst, bytes);
}

void orr_trace_mark(struct orr_process *proc, int by, const char *what, unsigned long number,
		    const char *text)
{
	char *name;

	if (!is_recording(proc->trace) ||
	    asprintf(&name, "%s%s%s", what, *text ? " " : "", text) < 0)
		return;
	for (char *c = name; *c; c++)
		if (*c == '\n')
			*c = ' '; /* one line per event */
	trace_append(proc->trace, by,
		     (struct event){ .us = orr_sys_now_us(),
				     .job = number,
				     .name = name,
				     .worker = by,
				     .peer = -1,
				     .kind = ORR_TRACE_USER });
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

#define VARIABLE "ORRERY_TRACE"

/* The file of this rank. */
static void file_name(const struct orr_process *proc, char *path, size_t size)
{
	if (proc->mpi_size > 1)
		snprintf(path, size, "%s.%d", proc->cfg.trace, proc->mpi_rank);
	else
		snprintf(path, size, "%s", proc->cfg.trace);
}

int orr_trace_init(struct orr_process *proc)
{
	struct orr_trace *tr;
	char path[4096];

	proc->trace = NULL;
	if (!proc->cfg.trace)
		return 0;
	file_name(proc, path, sizeof(path));
	int ret = orr_output_prepare(VARIABLE, path);
	if (ret)
		return ret;
	tr = aligned_alloc(_Alignof(struct orr_trace), sizeof(*tr));
	if (!tr)
		return -ENOMEM;
	memset(tr, 0, sizeof(*tr));
	orr_lock_init(&tr->lock, ORR_RANK_TRACE);
	tr->recording = !proc->trace_manual;
	proc->trace = tr;
	proc->observed |= ORR_OBSERVED_BY_TRACE;
	return 0;
}

void orr_trace_set_behind(struct orr_process *proc, double us)
{
	proc->trace->behind_us = us;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->us != y->us)
		return x->us < y->us ? -1 : 1;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* All events, sorted; NULL if memory is exhausted. The caller frees the array. */
static struct event *collect_events(const struct orr_trace *tr, size_t *n)
{
	size_t total = 0, at = 0;

	for (unsigned i = 0; i < NBUFFERS; i++)
		total += tr->buffer[i].n;

	struct event *all = malloc((total ? total : 1) * sizeof(*all));

	if (!all)
		return NULL;
	for (unsigned i = 0; i < NBUFFERS; i++) {
		const struct buffer *b = &tr->buffer[i];

		if (b->n)
			memcpy(all + at, b->v, b->n * sizeof(*all));
		at += b->n;
	}
	qsort(all, total, sizeof(*all), by_time);
	*n = total;
	return all;
}

static int write_events(struct orr_process *proc, const struct orr_trace *tr, FILE *f)
{
	ORR_PLAIN_NUMBERS;
	double origin_us = orr_sys_origin_us() + tr->behind_us;
	size_t n;
	struct event *all = collect_events(tr, &n);

	if (!all)
		return -ENOMEM;
	fprintf(f, "# time_us rank worker event job name | peer tag bytes | from to bytes\n");
	for (size_t i = 0; i < n; i++) {
		const struct event *e = &all[i];

		fprintf(f, "%.3f %d %d %s ", origin_us + e->us, proc->mpi_rank, e->worker,
			event_names[e->kind]);
		if (e->kind >= ORR_TRACE_SEND && e->kind <= ORR_TRACE_COPIED)
			fprintf(f, "%d %lld %zu\n", e->peer, (long long) e->tag, e->bytes);
		else
			fprintf(f, "%llu %s\n", (unsigned long long) e->job, e->name);
	}
	free(all);
	return 0;
}

static void write_file(struct orr_process *proc, const struct orr_trace *tr)
{
	char path[4096];

	file_name(proc, path, sizeof(path));
	FILE *f = orr_output_open(VARIABLE, path);
	if (!f)
		return;
	if (write_events(proc, tr, f)) {
		orr_error(VARIABLE ": memory is exhausted; trace a shorter run");
		orr_sys_fail_at_end(proc);
	}
	orr_output_close(f, VARIABLE, path);
}

void orr_trace_exit(struct orr_process *proc)
{
	struct orr_trace *tr = proc->trace;
	size_t lost = 0;

	if (!tr)
		return;
	proc->trace = NULL;
	proc->observed &= ~ORR_OBSERVED_BY_TRACE;
	write_file(proc, tr);
	for (unsigned i = 0; i < NBUFFERS; i++) {
		struct buffer *b = &tr->buffer[i];

		lost += b->lost;
		for (size_t k = 0; k < b->n; k++)
			if (b->v[k].kind == ORR_TRACE_USER)
				free((char *) b->v[k].name);
		free(b->v);
	}
	if (lost)
		orr_warn(
			"ORRERY_TRACE: %zu events were lost because memory was exhausted; trace a shorter run",
			lost);
	free(tr);
}
