/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns of the progression for the recorder. There are a hundred times as many as tasks, and most
 * take less than a microsecond: short ones that follow each other are one event, which begins with
 * the first and has their sums. It spans at most 1/SPANS of the time since the engine started, so a
 * run has some hundred of them in each doubling of its length, however many turns it has.
 *
 * The sums for those who look (mpi_tell.c) are of all turns, too, since the first look.
 *
 * Invariant: the events' times and numbers add up to those of all turns; a long turn has its own
 * event. */
#include "mpi/carry/message_trace.h"

#define SPANS 256

/* The sums of these turns; one thread at a time uses it. */
static struct orr_mpi_turns *turns_of(struct orr_mpi *mpi, enum orr_trace_turn turn, int guest)
{
	orr_assert(turn >= ORR_TURN_MESSAGES && turn <= ORR_TURN_ASLEEP);
	orr_assert(!guest || turn == ORR_TURN_MESSAGES);
	return &mpi->trace.turns[guest ? 0 : turn];
}

static void turn_record(struct orr_mpi *mpi, enum orr_trace_turn turn, int guest,
			struct orr_mpi_turns *t)
{
	int64_t ago_ns = (int64_t) orr_mpi_trace_ns(orr_mpi_turn_us() - t->since_us);
	int64_t ahead_ns = (int64_t) orr_mpi_trace_ns(orr_thread_self()->debt_us);

	orr_trace_add(mpi->proc,
		      (struct orr_trace_event){ .kind = ORR_TRACE_ENGINE,
						.flags = guest ? ORR_TRACE_GUEST : 0,
						.worker = -1,
						.ns = ahead_ns - ago_ns,
						.a = (uint32_t) turn,
						.b = orr_mpi_trace_ns(t->us),
						.c = t->n,
						.d = orr_mpi_trace_ns(t->callbacks_us) });
	*t = (struct orr_mpi_turns){ 0 };
}

/* The part of that time since which somebody looks, in nanoseconds. */
static uint64_t seen_ns(const struct orr_mpi_turn_sums *s, double since_us)
{
	int64_t now_ns = (int64_t) (orr_mpi_turn_us() * 1e3), from_ns = (int64_t) (since_us * 1e3),
		looks_ns = ORR_ATOMIC_LOAD_RELAXED(&s->since_ns);

	from_ns = from_ns > looks_ns ? from_ns : looks_ns;
	return now_ns > from_ns ? (uint64_t) (now_ns - from_ns) : 0;
}

void orr_mpi_trace_callback(struct orr_mpi *mpi, double since_us, uint64_t request)
{
	struct orr_mpi_turn_sums *s = &mpi->trace.sums;
	double us = orr_mpi_turn_us() - since_us;

	mpi->trace.turn.callbacks_us += us;
	if (orr_mpi_is_traced(mpi) && us >= ORR_TRACE_CALL_LEAST_US)
		orr_trace_add(mpi->proc,
			      (struct orr_trace_event){
				      .kind = ORR_TRACE_CALLBACK,
				      .flags = ORR_CALLBACK_MESSAGE,
				      .worker = -1,
				      .ns = (int64_t) orr_mpi_trace_ns(orr_thread_self()->debt_us),
				      .b = request,
				      .c = orr_mpi_trace_ns(us) });
	if (orr_thread_self() != mpi->engine.self)
		return;
	if (ORR_ATOMIC_LOAD_RELAXED(&s->on))
		ORR_ATOMIC_ADD_RELAXED(&s->callbacks_ns, seen_ns(s, since_us));
	ORR_ATOMIC_STORE_RELAXED(&s->call_ns, 0);
}

void orr_mpi_trace_turn(struct orr_mpi *mpi, enum orr_trace_turn turn, double since_us, uint64_t n,
			double callbacks_us)
{
	int guest = turn == ORR_TURN_MESSAGES && orr_thread_self() != mpi->engine.self;
	double us = orr_mpi_turn_us() - since_us;

	if (ORR_ATOMIC_LOAD_RELAXED(&mpi->trace.sums.on)) {
		ORR_ATOMIC_ADD_RELAXED(&mpi->trace.sums.ns[guest ? 0 : turn],
				       seen_ns(&mpi->trace.sums, since_us));
		ORR_ATOMIC_ADD_RELAXED(&mpi->trace.sums.things, n);
	}
	if (!mpi->trace.turns || !orr_mpi_is_traced(mpi))
		return;
	struct orr_mpi_turns *t = turns_of(mpi, turn, guest);

	if (t->nturns && (us >= ORR_MPI_LONG_TURN_US || since_us >= t->until_us))
		turn_record(mpi, turn, guest, t);
	if (!t->nturns) {
		double span_us = (since_us - mpi->trace.turns_since_us) / SPANS;

		t->since_us = since_us;
		t->until_us = since_us +
			      (span_us > ORR_MPI_LONG_TURN_US ? span_us : ORR_MPI_LONG_TURN_US);
	}
	t->nturns++;
	t->us += us;
	t->n += n;
	t->callbacks_us += callbacks_us;
	if (us >= ORR_MPI_LONG_TURN_US)
		turn_record(mpi, turn, guest, t);
}

void orr_mpi_trace_turns_end(struct orr_mpi *mpi)
{
	int kept = mpi->trace.turns && orr_mpi_is_traced(mpi);

	for (int turn = ORR_TURN_MESSAGES; kept && turn <= ORR_TURN_ASLEEP; turn++)
		for (int guest = 0; guest <= (turn == ORR_TURN_MESSAGES); guest++) {
			struct orr_mpi_turns *t = turns_of(mpi, turn, guest);

			if (t->nturns)
				turn_record(mpi, turn, guest, t);
		}
}
