/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads rest that drive the engine, or would, and found nothing to do. base/patience.h states the
 * law. Only for worlds where threads may drive.
 *
 * Invariant: nobody rests while owning the engine. A thread that is about to sleep announces it on
 * the bell first and then checks once more what would make the sleep wrong, so that whoever changes
 * that and rings afterwards wakes it. */
#include "mpi/carry/message_trace.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/rest.h"
#include "base/patience.h"

/* A sleep of that length is worth a ring when something becomes expected meanwhile. */
#define DOZE_US 200.0

void orr_mpi_rest_init(struct orr_mpi *mpi)
{
	orr_waitq_init(&mpi->rest.bell);
}

int orr_mpi_busy(const struct orr_mpi *mpi)
{
	return ORR_ATOMIC_LOAD_RELAXED(&mpi->flights.n) > 0 ||
	       ORR_ATOMIC_LOAD_RELAXED(&mpi->ready.n) ||
	       ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.inbox) ||
	       ORR_ATOMIC_LOAD_RELAXED(&mpi->late.groups) ||
	       ORR_ATOMIC_LOAD_RELAXED(&mpi->match.nposted);
}

void orr_mpi_rest_exit(struct orr_mpi *mpi)
{
	orr_waitq_destroy(&mpi->rest.bell);
}

void orr_mpi_rest_begin(struct orr_mpi *mpi)
{
	mpi->rest.spin_us = orr_sys_spin_us(mpi->proc);
	ORR_ATOMIC_STORE_RELAXED(&mpi->rest.yield_ns, (int64_t) (ORR_PATIENCE_YIELD_US * 1e3));
	orr_mpi_stir(mpi);
}

static void stir_at(struct orr_mpi *mpi, double now_us)
{
	ORR_ATOMIC_STORE_RELAXED(&mpi->rest.stirred_ns, (int64_t) (now_us * 1e3));
}

void orr_mpi_stir(struct orr_mpi *mpi)
{
	stir_at(mpi, orr_sys_now_us());
}

/* For so long nothing has happened. */
static double calm(const struct orr_mpi *mpi, double now_us)
{
	return now_us - (double) ORR_ATOMIC_LOAD_RELAXED(&mpi->rest.stirred_ns) * 1e-3;
}

void orr_mpi_noticed(struct orr_mpi *mpi)
{
	double yield_us = (double) ORR_ATOMIC_LOAD_RELAXED(&mpi->rest.yield_ns) * 1e-3;
	double now_us = orr_sys_now_us();

	orr_mpi_assert_owner(mpi);
	yield_us = orr_patience_learn(yield_us, calm(mpi, now_us));
	ORR_ATOMIC_STORE_RELAXED(&mpi->rest.yield_ns, (int64_t) (yield_us * 1e3));
	stir_at(mpi, now_us);
}

/* The engine stops, or something contradicts the outlook with which the thread wants to sleep. */
static int must_not_sleep(const struct orr_mpi *mpi, enum orr_mpi_outlook outlook)
{
	if (ORR_ATOMIC_LOAD(&mpi->engine.stopping) ||
	    (ORR_ATOMIC_LOAD(&mpi->work.rung) && mpi->work.thread == orr_thread_self()))
		return 1;
	switch (outlook) {
	case ORR_MPI_IDLE: return orr_mpi_busy(mpi);
	case ORR_MPI_EXPECTING: return ORR_ATOMIC_LOAD(&mpi->engine.inbox) != NULL;
	case ORR_MPI_DRIVEN: return 0; /* the thread that drives rings when it stops */
	}
	return 0;
}

static void rest_asleep(struct orr_mpi *mpi, double us, enum orr_mpi_outlook outlook)
{
	/* A look while it sleeps tells since when. */
	double since_us = orr_mpi_turn_us();
	int own = orr_thread_self() == mpi->engine.self;
	unsigned key = orr_waitq_prepare(&mpi->rest.bell);

	if (us >= DOZE_US)
		ORR_ATOMIC_STORE(&mpi->rest.dozing, 1);
	ORR_ATOMIC_FENCE();
	if (own)
		ORR_ATOMIC_STORE_RELAXED(&mpi->trace.sums.asleep_ns, (int64_t) (since_us * 1e3));
	if (must_not_sleep(mpi, outlook))
		orr_waitq_cancel(&mpi->rest.bell);
	else if (!orr_waitq_wait(&mpi->rest.bell, key, us))
		orr_mpi_stir(mpi);
	if (own)
		ORR_ATOMIC_STORE_RELAXED(&mpi->trace.sums.asleep_ns, 0);
	if (own && orr_mpi_is_timed(mpi))
		orr_mpi_trace_turn(mpi, ORR_TURN_ASLEEP, since_us, 0, 0);
}

void orr_mpi_rest(struct orr_mpi *mpi, enum orr_mpi_outlook outlook)
{
	double calm_us = calm(mpi, orr_sys_now_us());
	double yield_us = (double) ORR_ATOMIC_LOAD_RELAXED(&mpi->rest.yield_ns) * 1e-3;

	if (outlook == ORR_MPI_DRIVEN) {
		rest_asleep(mpi, ORR_PATIENCE_IDLE_US, outlook);
	} else if (outlook == ORR_MPI_EXPECTING && mpi->engine.workers_poll &&
		   ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.polled_us) > 0 &&
		   !ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.flowing)) {
		rest_asleep(mpi, ORR_PATIENCE_PATROL_US, outlook);
	} else if (calm_us < mpi->rest.spin_us) {
		for (int i = 0; i < 8; i++)
			orr_sys_relax();
	} else if (calm_us < mpi->rest.spin_us + yield_us) {
		orr_sys_yield();
	} else {
		double longest_us = outlook == ORR_MPI_IDLE ? ORR_PATIENCE_IDLE_US
							    : ORR_PATIENCE_LONG_NAP_US;
		rest_asleep(mpi, orr_patience_nap_us(calm_us, longest_us), outlook);
	}
}

void orr_mpi_expect(struct orr_mpi *mpi)
{
	if (ORR_ATOMIC_LOAD(&mpi->rest.dozing) && ORR_ATOMIC_XCHG(&mpi->rest.dozing, 0))
		orr_mpi_ring(mpi);
}

void orr_mpi_ring(struct orr_mpi *mpi)
{
	orr_waitq_wake(&mpi->rest.bell);
	mpi->transport->wake(mpi->proc);
}
