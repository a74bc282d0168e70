/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps that one event of the trace stands for (see join.h).
 *
 * Invariant: an event in the file is true at each instant: what it says more is stored at once, in
 * a field that said nothing until then. */
#include "trace/join.h"

#include "base/thread.h"
#include "trace/stream.h"

#define NEAR_NS 200 /* steps of a real thread that follow each other at once */
#define NEAR_EVENTS 2
#define HALF UINT64_C(0xffffffff)

/* Of an event of the thread's own, no other thread writes it. */
static inline void set(uint64_t *field, uint64_t value)
{
	ORR_ATOMIC_STORE(field, value);
}

static inline void set_flag(struct orr_trace_event *e, unsigned flag)
{
	ORR_ATOMIC_STORE(&e->flags, (uint8_t) (e->flags | flag));
}

static inline void note(struct orr_trace_stream *s, unsigned kind)
{
	s->recorded++;
	s->kinds |= (uint64_t) 1 << kind;
}

static inline int has_room(uint64_t field)
{
	return field >> 32 == 0;
}

static inline uint64_t number_of(const struct orr_trace_event *e)
{
	return e->flags & ORR_TRACE_SHORT ? e->b & HALF : e->b;
}

/* Does what happens at that time follow at once on what the event has? */
static inline int is_near(const struct orr_trace_event *last, int64_t ns)
{
	return orr_sys_is_simulated() ? ns == last->ns : ns >= last->ns && ns - last->ns <= NEAR_NS;
}

/* ---- a cause in 32 bits ---- */

static uint64_t short_cause(uint64_t cause)
{
	return (cause & HALF) | (cause & ORR_CAUSE_MESSAGE ? ORR_TRACE_SHORT_MESSAGE : 0);
}

static uint64_t long_cause(uint64_t cause)
{
	uint64_t number = cause & (ORR_TRACE_SHORT_MESSAGE - 1);

	if (!(cause & HALF))
		return 0;
	return number | (cause & ORR_TRACE_SHORT_MESSAGE ? ORR_CAUSE_MESSAGE : ORR_CAUSE_TASK);
}

/* ---- submissions ---- */

void orr_trace_submitted(struct orr_process *proc, uint32_t name, uint64_t job, int priority,
			 uint64_t cause)
{
	struct orr_trace *tr = proc->trace;
	struct orr_trace_event e = { .kind = ORR_TRACE_SUBMIT,
				     .worker = -1,
				     .ns = orr_trace_now_ns(),
				     .a = name,
				     .b = job,
				     .c = (uint32_t) priority,
				     .d = short_cause(cause) };
	struct orr_trace_stream *s = orr_trace_stream_of(tr);

	if (__builtin_expect(tr->plain && has_room(job) && long_cause(e.d) == cause && s, 1)) {
		e.flags = ORR_TRACE_SHORT;
		orr_trace_stream_put(tr, s, &e);
	} else {
		e.c = (uint64_t) (int64_t) priority;
		e.d = cause;
		orr_trace_add_at(proc, &e);
	}
}

/* The submission of the task of that number, if this thread has recorded nothing else since then;
 * else NULL. */
static inline struct orr_trace_event *submission_of(const struct orr_trace_stream *s, uint64_t job)
{
	struct orr_trace_event *last = &s->events[s->n - 1];

	while (last > s->events && last->b == job &&
	       (last->kind == ORR_TRACE_USES || last->kind == ORR_TRACE_AFTER))
		last--;
	return last->kind == ORR_TRACE_SUBMIT && number_of(last) == job ? last : NULL;
}

int orr_trace_submitted_uses(struct orr_process *proc, uint64_t job, const uint32_t *use,
			     unsigned n)
{
	struct orr_trace_stream *s = n <= 3 ? orr_trace_stream_open(proc->trace) : NULL;
	struct orr_trace_event *e = s ? submission_of(s, job) : NULL;

	if (!e || !(e->flags & ORR_TRACE_SHORT) || !has_room(e->c))
		return 0;
	note(s, ORR_TRACE_USES);
	set(&e->c, e->c | (uint64_t) use[0] << 32);
	if (n > 1)
		set(&e->d, e->d | (uint64_t) use[1] << 32);
	if (n > 2)
		set(&e->b, e->b | (uint64_t) use[2] << 32);
	return 1;
}

/* The task is READY now, which is when it was submitted, with the same cause. */
static inline int joins_submission(struct orr_trace_stream *s, uint64_t job, uint64_t cause)
{
	struct orr_trace_event *last = submission_of(s, job);

	if (!last || cause != (last->flags & ORR_TRACE_SHORT ? long_cause(last->d) : last->d) ||
	    (orr_sys_is_simulated() && last->ns != orr_trace_now_ns()))
		return 0;
	set_flag(last, ORR_TRACE_AT_ONCE);
	note(s, ORR_TRACE_READY);
	return 1;
}

/* ---- kernels ---- */

void orr_trace_started(struct orr_process *proc, struct orr_trace_event *e,
		       struct orr_trace_began *began)
{
	struct orr_trace *tr = proc->trace;
	struct orr_trace_stream *s = orr_trace_stream_of(tr);

	began->run = 0;
	if (__builtin_expect(!s, 0))
		return;
	if (!tr->plain || !has_room(e->b) || !has_room(e->c)) {
		orr_trace_add_at(proc, e);
		return;
	}
	e->flags = ORR_TRACE_SHORT;
	began->at = orr_trace_stream_add(tr, s, e);
	began->run = began->at ? s->run_number : 0;
}

/* The stream, or NULL, has that start, and that is of the job. */
static inline int has_start(const struct orr_trace_stream *s, const struct orr_trace_began *began,
			    uint64_t job, int worker)
{
	return s && began->run && began->run == s->run_number && number_of(began->at) == job &&
	       began->at->worker == worker;
}

/* The block of a start gets another step, of that time. */
static inline void note_in_block(struct orr_trace_stream *s, const struct orr_trace_event *at,
				 unsigned kind, int64_t ns)
{
	size_t offset = (size_t) ((const char *) at - (char *) s->run);
	struct orr_trace_block *b = (void *) ((char *) s->run +
					      offset / ORR_TRACE_BLOCK * ORR_TRACE_BLOCK);

	s->recorded++;
	if (b == s->block) {
		s->kinds |= (uint64_t) 1 << kind;
		s->last_ns = ns > s->last_ns ? ns : s->last_ns;
	} else {
		b->kinds |= (uint64_t) 1 << kind;
		b->last_ns = ns > b->last_ns ? ns : b->last_ns;
	}
}

void orr_trace_ended(struct orr_process *proc, struct orr_trace_began *began, int worker,
		     uint64_t job, int64_t ns, uint64_t transfer)
{
	struct orr_trace *tr = proc->trace;

	if (!orr_trace_wants(tr, ORR_TRACE_END))
		return;
	struct orr_trace_stream *s = orr_trace_stream_open(tr);
	int joins = has_start(s, began, job, worker);
	uint64_t took = joins ? (uint64_t) (ns - began->at->ns) : 0;

	if (__builtin_expect(joins && !transfer && has_room(began->at->b) && took < HALF, 1)) {
		note_in_block(s, began->at, ORR_TRACE_END, ns);
		set(&began->at->b, began->at->b | (took + 1) << 32);
	} else {
		began->run = 0;
		orr_trace_add_at(proc, &(struct orr_trace_event){ .kind = ORR_TRACE_END,
								  .worker = (int16_t) worker,
								  .ns = ns,
								  .b = job,
								  .d = transfer });
		s = orr_trace_stream_open(tr);
	}
	if (s) {
		s->ended_job = job;
		s->ended_ns = ns;
		s->ended = s->recorded;
	}
}

/* The task is DONE at the same time as the END that this thread has recorded last. */
static int joins_end(struct orr_trace_stream *s, const struct orr_trace_event *e)
{
	struct orr_trace_event *last = &s->events[s->n - 1];

	if (last->kind != ORR_TRACE_END || last->b != e->b || last->worker != e->worker ||
	    (orr_sys_is_simulated() && last->ns != e->ns))
		return 0;
	set_flag(last, ORR_TRACE_AT_ONCE);
	note(s, ORR_TRACE_DONE);
	return 1;
}

/* The task is DONE, and its START and END are one event. */
static inline int joins_start(struct orr_trace_stream *s, struct orr_trace_began *began, int worker,
			      uint64_t job, int64_t ns)
{
	uint64_t took = has_start(s, began, job, worker) ? began->at->b >> 32 : 0;

	if (!took || !has_room(began->at->c))
		return 0;
	uint64_t late = (uint64_t) (ns - began->at->ns) - (took - 1);

	if (late >= HALF)
		return 0;
	note_in_block(s, began->at, ORR_TRACE_DONE, ns);
	set(&began->at->c, began->at->c | (late + 1) << 32);
	began->run = 0;
	return 1;
}

/* `near`: the thread has recorded hardly anything since the kernel ended. */
static __attribute__((noinline)) void add_done(struct orr_process *proc, struct orr_trace_event *e,
					       int near)
{
	struct orr_trace_stream *s = orr_trace_stream_open(proc->trace);

	if (!(near && !e->c && joins_end(s, e)))
		orr_trace_add_at(proc, e);
}

void orr_trace_done(struct orr_process *proc, struct orr_trace_began *began, int worker,
		    uint64_t job, uint64_t cause, int soon)
{
	const struct orr_trace *tr = proc->trace;

	if (!orr_trace_wants(tr, ORR_TRACE_DONE))
		return;
	struct orr_trace_stream *s = orr_trace_stream_open(tr);
	int near = soon && s && s->ended_job == job && s->recorded - s->ended <= NEAR_EVENTS;
	int64_t ns = near && !orr_sys_is_simulated() ? s->ended_ns : orr_trace_now_ns();

	if (!began || cause || !joins_start(s, began, worker, job, ns))
		add_done(proc,
			 &(struct orr_trace_event){ .kind = ORR_TRACE_DONE,
						    .worker = (int16_t) worker,
						    .ns = ns,
						    .b = job,
						    .c = cause },
			 near);
}

/* ---- what goes on ---- */

static inline int lets(const struct orr_trace_event *e)
{
	return (e->kind == ORR_TRACE_RELEASE || e->kind == ORR_TRACE_READY) &&
	       e->flags & ORR_TRACE_SHORT;
}

/* The time of a task that goes on with that cause, in a stream that is open. */
static inline int64_t let_ns(const struct orr_trace_stream *s, uint64_t cause)
{
	const struct orr_trace_event *last = &s->events[s->n - 1];

	if (!orr_sys_is_simulated()) {
		if (s->recorded == s->ended && cause == (ORR_CAUSE_TASK | s->ended_job))
			return s->ended_ns;
		if (lets(last) && last->c == cause && !(last->d >> 32))
			return last->ns;
	}
	return orr_trace_now_ns();
}

/* Another task that the same cause lets go on. */
static inline int chain_task(struct orr_trace_event *last, enum orr_trace_kind kind, uint64_t job,
			     uint64_t cause)
{
	unsigned slot = has_room(last->b) ? 0 : !(last->d & HALF) ? 1 : 2;

	if (!lets(last) || last->c != cause || last->d >> 32)
		return 0;
	if (kind == ORR_TRACE_READY)
		set_flag(last, ORR_TRACE_READY_TOO << slot);
	if (slot == 0)
		set(&last->b, last->b | job << 32);
	else
		set(&last->d, last->d | (slot == 1 ? job : job << 32));
	return 1;
}

void orr_trace_let(struct orr_process *proc, enum orr_trace_kind kind, uint64_t job, uint64_t cause)
{
	struct orr_trace *tr = proc->trace;

	if (!orr_trace_wants(tr, kind))
		return;
	struct orr_trace_stream *s = orr_trace_stream_open(tr);

	if (__builtin_expect(!s || !has_room(job), 0)) {
		orr_trace_add_at(proc, &(struct orr_trace_event){ .kind = (uint8_t) kind,
								  .worker = -1,
								  .ns = s ? let_ns(s, cause)
									  : orr_trace_now_ns(),
								  .b = job,
								  .c = cause });
		return;
	}
	if (kind == ORR_TRACE_READY && joins_submission(s, job, cause))
		return;
	struct orr_trace_event *last = &s->events[s->n - 1];

	int64_t ns = let_ns(s, cause);

	if (is_near(last, ns) && chain_task(last, kind, job, cause))
		note(s, kind);
	else
		orr_trace_stream_put(tr, s,
				     &(struct orr_trace_event){ .kind = (uint8_t) kind,
								.flags = ORR_TRACE_SHORT,
								.worker = -1,
								.ns = ns,
								.b = job,
								.c = cause });
}

int64_t orr_trace_submit_ns(struct orr_process *proc, uint64_t job)
{
	const struct orr_trace_stream *s = orr_trace_stream_open(proc->trace);
	const struct orr_trace_event *submit = s && !orr_sys_is_simulated() ? submission_of(s, job)
									    : NULL;

	return submit ? submit->ns : orr_trace_now_ns();
}

/* Another request whose datum the same cause gives. */
static int chain_grant(struct orr_trace_event *last, const struct orr_trace_event *e)
{
	if (last->kind == ORR_TRACE_POST && last->b == e->b && last->d == e->c && !e->d) {
		set_flag(last, ORR_TRACE_TWICE);
		return 1;
	}
	if (last->kind != ORR_TRACE_GRANT || last->flags != (e->flags | ORR_TRACE_SHORT) ||
	    last->c != e->c || last->d != e->d || last->a)
		return 0;
	if (has_room(last->b))
		set(&last->b, last->b | e->b << 32);
	else
		ORR_ATOMIC_STORE(&last->a, (uint32_t) e->b);
	return 1;
}

static int chain_route(struct orr_trace_event *last, const struct orr_trace_event *e)
{
	if (last->kind != ORR_TRACE_ROUTE || !(last->flags & ORR_TRACE_SHORT) || last->c || !e->b)
		return 0;
	last->d = e->a;
	set(&last->c, e->b);
	return 1;
}

static int chain_sent(struct orr_trace_event *last, const struct orr_trace_event *e)
{
	uint64_t other = (uint64_t) e->a << 32 | e->b;

	if (last->kind != ORR_TRACE_SENT || !(last->flags & ORR_TRACE_SHORT) || last->d)
		return 0;
	set(last->c ? &last->d : &last->c, other);
	return 1;
}

/* The message of the envelope goes to its receive. */
static int joins_envelope(struct orr_trace_event *last, const struct orr_trace_event *e)
{
	if (last->kind != ORR_TRACE_ENVELOPE || last->a != e->a || last->b != e->b)
		return 0;
	set_flag(last, ORR_TRACE_TWICE);
	return 1;
}

int orr_trace_stream_chain(struct orr_trace_stream *s, struct orr_trace_event *e)
{
	struct orr_trace_event *last = s->n ? &s->events[s->n - 1] : NULL;
	int joins = 0;

	if (e->kind != ORR_TRACE_ROUTE && e->kind != ORR_TRACE_MATCH && !has_room(e->b))
		return 0;
	if (last && is_near(last, e->ns))
		switch (e->kind) {
		case ORR_TRACE_RELEASE:
		case ORR_TRACE_READY: joins = chain_task(last, e->kind, e->b, e->c); break;
		case ORR_TRACE_GRANT: joins = chain_grant(last, e); break;
		case ORR_TRACE_ROUTE: joins = chain_route(last, e); break;
		case ORR_TRACE_SENT: joins = chain_sent(last, e); break;
		default: joins = joins_envelope(last, e);
		}
	if (joins)
		note(s, e->kind);
	else if (e->kind != ORR_TRACE_MATCH)
		e->flags |= ORR_TRACE_SHORT; /* others may join it */
	return joins;
}
