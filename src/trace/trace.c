/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event recorder (see trace.h).
 *
 * Invariant: events are appended to growing buffers and written at shutdown only, sorted by time
 * and then by the order in which their buffer took them, so that the same simulated run gives the
 * same bytes. */
#include "trace/trace.h"
#include "base/numbers.h"
#include "core/worker.h"
#include "starpu_fxt.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct event {
	double us;
	uint64_t job;
	int64_t tag;
	size_t bytes;
	const char *name; /* of the codelet, which outlives the task; of a mark: a copy, owned */
	int32_t worker, peer;
	uint32_t seq;
	uint8_t kind;
};

struct buffer {
	orr_lock_t lock;
	struct event *v;
	size_t n, cap;
};

struct orr_trace {
	char *path;
	unsigned recording; /* atomic: not suspended by starpu_fxt_stop_profiling */
	unsigned nbuffers;  /* one for each worker, one for all other threads */
	struct buffer *buffers;
};

static const char *const names[ORR_NEVENTS] = { "submit", "start", "end", "done",
						"send",   "recv",  "user" };

static void append(struct orr_trace *tr, struct event e)
{
	struct orr_worker *w = orr_thread_self()->worker;
	struct buffer *b = &tr->buffers[w && w->id < tr->nbuffers - 1 ? w->id : tr->nbuffers - 1];

	orr_lock(&b->lock);
	if (b->n == b->cap) {
		size_t cap = b->cap ? 2 * b->cap : 1024;
		struct event *v = realloc(b->v, cap * sizeof(*v));

		if (v) {
			b->v = v;
			b->cap = cap;
		}
	}
	if (b->n < b->cap) {
		e.seq = (uint32_t) b->n;
		b->v[b->n++] = e;
	} else if (e.kind == ORR_EV_USER) {
		free((char *) e.name);
	}
	orr_unlock(&b->lock);
}

static int recording(const struct orr_trace *tr)
{
	return ORR_ATOMIC_LOAD_RELAXED(&tr->recording) != 0;
}

void orr_trace_task_slow(struct orr_process *proc, enum orr_event ev, struct orr_task *t,
			 int worker)
{
	struct starpu_task *pub = t->pub;
	struct event e = { .us = orr_sys_now_us(),
			   .job = t->job_id,
			   .worker = worker,
			   .peer = -1,
			   .kind = (uint8_t) ev };

	e.name = pub->cl && pub->cl->name ? pub->cl->name : "unnamed";
	if (recording(proc->trace))
		append(proc->trace, e);
}

void orr_trace_message(struct orr_process *proc, enum orr_event ev, int peer, int64_t tag,
		       size_t bytes)
{
	struct event e = { .us = orr_sys_now_us(),
			   .tag = tag,
			   .bytes = bytes,
			   .worker = -1,
			   .peer = peer,
			   .kind = (uint8_t) ev };

	if (proc->trace && recording(proc->trace))
		append(proc->trace, e);
}

/* ---- marks and control by the program ---- */

static void mark(const char *what, unsigned long number, const char *text)
{
	struct orr_process *proc = orr_self();
	struct orr_worker *w = orr_thread_self()->worker;
	struct event e = { .us = orr_sys_now_us(),
			   .job = number,
			   .worker = w ? (int32_t) w->id : -1,
			   .peer = -1,
			   .kind = ORR_EV_USER };
	char *name, *p;

	if (!proc->trace || !recording(proc->trace) || asprintf(&name, "%s%s", what, text) < 0)
		return;
	for (p = name; *p; p++)
		if (*p == '\n')
			*p = ' '; /* an event is a line */
	e.name = name;
	append(proc->trace, e);
}

void starpu_fxt_trace_user_event(unsigned long code)
{
	mark("mark", code, "");
}
void starpu_fxt_trace_user_event_string(const char *s)
{
	mark("mark ", 0, s);
}
void starpu_iteration_push(unsigned long iteration)
{
	mark("iteration", iteration, "");
}
void starpu_iteration_pop(void)
{
	mark("iteration-end", 0, "");
}
void starpu_fxt_autostart_profiling(int autostart)
{
	orr_self()->trace_manual = !autostart;
}

static void record(unsigned on)
{
	struct orr_trace *tr = orr_self()->trace;

	if (tr)
		ORR_ATOMIC_STORE(&tr->recording, on);
}

void starpu_fxt_start_profiling(void)
{
	record(1);
}
void starpu_fxt_stop_profiling(void)
{
	record(0);
}

int starpu_fxt_is_enabled(void)
{
	struct orr_trace *tr = orr_self()->trace;

	return tr && recording(tr);
}

int orr_trace_init(struct orr_process *proc)
{
	const char *path = getenv("ORRERY_TRACE");
	struct orr_trace *tr;

	proc->trace = NULL;
	if (!path || !*path)
		return 0;
	tr = calloc(1, sizeof(*tr));
	if (!tr)
		return -ENOMEM;
	tr->nbuffers = STARPU_NMAXWORKERS + 1;
	tr->buffers = calloc(tr->nbuffers, sizeof(*tr->buffers));
	tr->path = strdup(path);
	if (!tr->buffers || !tr->path)
		return -ENOMEM;
	tr->recording = !proc->trace_manual;
	proc->trace = tr;
	return 0;
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

static void write_events(struct orr_process *proc, struct orr_trace *tr, FILE *f)
{
	ORR_PLAIN_NUMBERS;
	double origin_us = orr_sys_origin_us();
	size_t n = 0, i, k;
	struct event *all;

	for (i = 0; i < tr->nbuffers; i++)
		n += tr->buffers[i].n;
	all = malloc((n ? n : 1) * sizeof(*all));
	if (!all)
		return;
	for (i = k = 0; i < tr->nbuffers; i++) {
		if (tr->buffers[i].n)
			memcpy(all + k, tr->buffers[i].v, tr->buffers[i].n * sizeof(*all));
		k += tr->buffers[i].n;
	}
	qsort(all, n, sizeof(*all), by_time);
	fprintf(f, "# time_us rank worker event job name | peer tag bytes\n");
	for (i = 0; i < n; i++) {
		const struct event *e = &all[i];

		if (e->kind == ORR_EV_SEND || e->kind == ORR_EV_RECV)
			fprintf(f, "%.3f %d %d %s %d %lld %zu\n", origin_us + e->us, proc->mpi_rank,
				e->worker, names[e->kind], e->peer, (long long) e->tag, e->bytes);
		else
			fprintf(f, "%.3f %d %d %s %llu %s\n", origin_us + e->us, proc->mpi_rank,
				e->worker, names[e->kind], (unsigned long long) e->job, e->name);
	}
	free(all);
}

void orr_trace_exit(struct orr_process *proc)
{
	struct orr_trace *tr = proc->trace;
	char path[4096];
	unsigned i;
	size_t k;
	FILE *f;

	if (!tr)
		return;
	proc->trace = NULL;
	if (proc->mpi_size > 1)
		snprintf(path, sizeof(path), "%s.%d", tr->path, proc->mpi_rank);
	else
		snprintf(path, sizeof(path), "%s", tr->path);
	f = fopen(path, "w");
	if (f) {
		write_events(proc, tr, f);
		fclose(f);
	} else {
		orr_error("ORRERY_TRACE: %s cannot be written: %s", path, strerror(errno));
	}
	for (i = 0; i < tr->nbuffers; i++) {
		struct buffer *b = &tr->buffers[i];

		for (k = 0; k < b->n; k++)
			if (b->v[k].kind == ORR_EV_USER)
				free((char *) b->v[k].name);
		free(b->v);
	}
	free(tr->buffers);
	free(tr->path);
	free(tr);
}
