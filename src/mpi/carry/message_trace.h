/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of messages for the recorder (trace/trace.h), which knows none.
 *
 * A message is named by its origin, its receiver and its number among those from the one to the
 * other, which its envelope carries; one to the own process by the number of its send.
 *
 * Invariant: a load and a branch while nothing is recorded. */
#ifndef ORR_MPI_MESSAGE_TRACE_H
#define ORR_MPI_MESSAGE_TRACE_H

#include "core/task/task.h"
#include "mpi/carry/layer.h"
#include "trace/trace.h"

static inline int orr_mpi_is_traced(const struct orr_mpi *mpi)
{
	return __builtin_expect(mpi->proc->trace != NULL, 0);
}

/* Turns of the progression are timed: for a trace, or because somebody looks. */
static inline int orr_mpi_is_timed(const struct orr_mpi *mpi)
{
	return orr_mpi_is_traced(mpi) ||
	       __builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&mpi->trace.sums.on), 0);
}

/* The time of the calling thread: what it was charged is not spent yet (base/seam.h). */
static inline double orr_mpi_turn_us(void)
{
	return orr_sys_now_us() + orr_thread_self()->debt_us;
}

static inline uint64_t orr_mpi_trace_ns(double us)
{
	return (uint64_t) (us * 1e3 + 0.5);
}

/* The calling thread did this since then (turn_trace.c). Owner of the engine for messages, the
 * engine's thread for the rest. */
void orr_mpi_trace_turn(struct orr_mpi *mpi, enum orr_trace_turn turn, double since_us, uint64_t n,
			double callbacks_us);
/* The program was called back since then, because of a request. Owner of the engine. */
void orr_mpi_trace_callback(struct orr_mpi *mpi, double since_us, uint64_t request);
/* Records what was summed up; no thread may drive any more. */
void orr_mpi_trace_turns_end(struct orr_mpi *mpi);

/* Something that began then has changed the run; the fields are those that the kind of change has.
 * A negative time: nothing was recorded when it began (orr_trace_wait_begin()). */
static inline void orr_mpi_trace_change(struct orr_mpi *mpi, enum orr_trace_change what,
					double since_us, uint32_t a, uint64_t c, uint64_t d)
{
	if (orr_mpi_is_traced(mpi) && since_us >= 0)
		orr_trace_add(mpi->proc, (struct orr_trace_event){
						 .kind = ORR_TRACE_CHANGE,
						 .flags = (uint8_t) what,
						 .worker = -1,
						 .a = a,
						 .b = orr_mpi_trace_ns(orr_sys_now_us() - since_us),
						 .c = c,
						 .d = d });
}

/* The engine's owner, which is the calling thread: cheaper than to ask who that is. */
static inline const struct orr_thread *orr_mpi_driver(struct orr_mpi *mpi)
{
	orr_mpi_assert_owner(mpi);
	return ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.owner);
}

/* A turn of the owner begins: what is in orr_mpi_turn_end is recorded if something happened. */
static inline void orr_mpi_turn_begin(struct orr_mpi *mpi)
{
	if (orr_mpi_is_timed(mpi)) {
		const struct orr_thread *self = orr_mpi_driver(mpi);

		mpi->trace.turn.since_us = orr_sys_now_us() + self->debt_us;
		if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&mpi->trace.sums.on), 0) &&
		    self == mpi->engine.self)
			ORR_ATOMIC_STORE_RELAXED(&mpi->trace.sums.turn_ns,
						 (int64_t) (mpi->trace.turn.since_us * 1e3));
		mpi->trace.turn.callbacks_us = 0;
		mpi->trace.turn.n = 0;
	}
}

#define ORR_MPI_LONG_TURN_US 100.0 /* that has an event of its own */

/* A short turn that belongs to the event of those before it; returns 0 for all others. In a
 * simulation there are as many turns as events. */
static inline int orr_mpi_turn_joins(struct orr_mpi *mpi)
{
	const struct orr_thread *self = orr_mpi_driver(mpi);
	double since_us = mpi->trace.turn.since_us,
	       us = orr_sys_now_us() + self->debt_us - since_us;

	if (!mpi->trace.turns)
		return 0;
	struct orr_mpi_turns *t =
		&mpi->trace.turns[self == mpi->engine.self ? ORR_TURN_MESSAGES : 0];

	if (!t->nturns || since_us >= t->until_us || us >= ORR_MPI_LONG_TURN_US ||
	    ORR_ATOMIC_LOAD_RELAXED(&mpi->trace.sums.on) || !orr_mpi_is_traced(mpi))
		return 0;
	t->nturns++;
	t->us += us;
	t->n += mpi->trace.turn.n;
	t->callbacks_us += mpi->trace.turn.callbacks_us;
	return 1;
}

static inline void orr_mpi_turn_end(struct orr_mpi *mpi)
{
	if (!orr_mpi_is_timed(mpi))
		return;
	if (mpi->trace.turn.n && !orr_mpi_turn_joins(mpi))
		orr_mpi_trace_turn(mpi, ORR_TURN_MESSAGES, mpi->trace.turn.since_us,
				   mpi->trace.turn.n, mpi->trace.turn.callbacks_us);
	mpi->trace.turn.n = 0;
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&mpi->trace.sums.on), 0) &&
	    orr_mpi_driver(mpi) == mpi->engine.self)
		ORR_ATOMIC_STORE_RELAXED(&mpi->trace.sums.turn_ns, 0);
}

/* Field b: message `seq`, request or origin `low`. */
static inline uint64_t orr_mpi_trace_id(uint32_t seq, uint64_t low)
{
	return (uint64_t) seq << 32 | (uint32_t) low;
}

static inline uint8_t orr_mpi_trace_flags(uint32_t envelope_flags)
{
	return (uint8_t) ((envelope_flags & ORR_MPI_EAGER ? ORR_TRACE_EAGER : 0) |
			  (envelope_flags & ORR_MPI_SYNC ? ORR_TRACE_SYNC : 0));
}

static inline void orr_mpi_trace_post(struct orr_mpi *mpi, const struct orr_mpi_req *req)
{
	if (orr_mpi_is_traced(mpi)) {
		const struct orr_thread *self = orr_thread_self();

		orr_trace_add(
			mpi->proc,
			(struct orr_trace_event){
				.kind = ORR_TRACE_POST,
				.flags = (uint8_t) ((req->kind == ORR_MPI_RECV ? ORR_TRACE_RECEIVE
									       : 0) |
						    (req->sync ? ORR_TRACE_SYNC : 0)),
				.worker = -1,
				.a = (uint32_t) req->peer,
				.b = (uint32_t) req->seq,
				.c = (uint64_t) req->tag,
				.d = self->task ? ORR_CAUSE_TASK | self->task->job_id
						: self->cause });
	}
}

/* The users that the request, whose datum can be used, comes after; without locks. */
static inline uint64_t orr_mpi_trace_after(struct orr_mpi *mpi, const struct orr_mpi_req *req)
{
	return orr_mpi_is_traced(mpi) ? orr_access_comes_after(&req->acquire.access) : 0;
}

static inline void orr_mpi_trace_grant(struct orr_mpi *mpi, const struct orr_mpi_req *req,
				       uint64_t after)
{
	if (orr_mpi_is_traced(mpi))
		orr_trace_add(mpi->proc,
			      (struct orr_trace_event){
				      .kind = ORR_TRACE_GRANT,
				      .flags = req->kind == ORR_MPI_RECV ? ORR_TRACE_RECEIVE : 0,
				      .worker = -1,
				      .b = (uint32_t) req->seq,
				      .c = orr_thread_self()->cause,
				      .d = after });
}

/* Of the kinds ROUTE, SENT, MATCH and RECV. */
static inline void orr_mpi_trace_request(struct orr_mpi *mpi, enum orr_trace_kind kind,
					 uint8_t flags, const struct orr_mpi_req *req, int peer,
					 uint32_t seq)
{
	int whole = kind == ORR_TRACE_MATCH || kind == ORR_TRACE_RECV;

	if (orr_mpi_is_traced(mpi))
		orr_trace_add(mpi->proc,
			      (struct orr_trace_event){ .kind = (uint8_t) kind,
							.flags = flags,
							.worker = -1,
							.a = (uint32_t) peer,
							.b = orr_mpi_trace_id(seq, req->seq),
							.c = whole ? (uint64_t) req->tag : 0,
							.d = whole ? req->size : 0 });
}

/* Something holds a send of that request, or goes on with it. */
static inline void orr_mpi_trace_held(struct orr_mpi *mpi, int hold, const struct orr_mpi_req *req)
{
	if (orr_mpi_is_traced(mpi))
		orr_trace_add(mpi->proc, (struct orr_trace_event){ .kind = ORR_TRACE_HELD,
								   .flags = (uint8_t) hold,
								   .worker = -1,
								   .a = (uint32_t) req->peer,
								   .b = (uint32_t) req->seq });
}

/* The same of a message from an origin. */
static inline void orr_mpi_trace_message_held(struct orr_mpi *mpi, int hold, int origin,
					      uint32_t seq)
{
	if (orr_mpi_is_traced(mpi))
		orr_trace_add(mpi->proc, (struct orr_trace_event){ .kind = ORR_TRACE_HELD,
								   .flags = (uint8_t) hold,
								   .worker = -1,
								   .a = (uint32_t) origin,
								   .b = orr_mpi_trace_id(seq, 0) });
}

/* The same of all sends that are ready; 0: nothing holds them. By the engine's owner. */
static inline void orr_mpi_trace_ready_held(struct orr_mpi *mpi, enum orr_trace_hold hold)
{
	if (!orr_mpi_is_traced(mpi) || mpi->trace.held == hold)
		return;
	orr_trace_add(mpi->proc,
		      (struct orr_trace_event){
			      .kind = ORR_TRACE_HELD,
			      .flags = hold ? (uint8_t) hold
					    : (uint8_t) (mpi->trace.held | ORR_TRACE_GOES_ON),
			      .worker = -1,
			      .a = UINT32_MAX });
	mpi->trace.held = (uint8_t) hold;
}

/* Of the kinds SEND and ENVELOPE; low: the request, or the origin of what is relayed. */
static inline void orr_mpi_trace_message(struct orr_mpi *mpi, enum orr_trace_kind kind,
					 uint8_t flags, const struct orr_mpi_envelope *env,
					 int peer, uint64_t low)
{
	if (orr_mpi_is_traced(mpi))
		orr_trace_add(mpi->proc,
			      (struct orr_trace_event){
				      .kind = (uint8_t) kind,
				      .flags = (uint8_t) (flags | orr_mpi_trace_flags(env->flags)),
				      .worker = -1,
				      .a = (uint32_t) peer,
				      .b = orr_mpi_trace_id(env->seq, low),
				      .c = (uint64_t) env->tag,
				      .d = env->size });
}

#endif
