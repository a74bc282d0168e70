/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits by bytes (see limits.h).
 *
 * While receivers may refuse early messages, senders have no limit of their own: a message that is
 * refused would keep its place among those under way, and the one that the receiver waits for could
 * be behind it. For the same reason values do not travel along trees, whose inner ranks must keep
 * what they pass on.
 *
 * Invariant: a wait for memory ends. It gives up where nothing happens that could free memory; the
 * data layer then says what is wrong. */
#include "mpi/carry/limits.h"
#include "mpi/carry/message_trace.h"
#include "base/log.h"
#include "base/config.h"
#include "core/task/task_count.h"
#include "data/room.h"

#define MOMENT_US 200.0 /* that an early payload may wait which does not leave at once */

#define FIRST_PAUSE_US 20.0
#define LONG_PAUSE_US 1000.0
#define GIVE_UP_US 5e6
#define IDLE_US \
	100e3 /* when nothing is left that could free memory but a buffer on its way back \
	       */

#define MIB ((size_t) 1 << 20)

static size_t mib(const char *name)
{
	long n = orr_config_long(name, 0);

	return n > 0 ? (size_t) n * MIB : 0;
}

void orr_mpi_limits_init(struct orr_mpi *mpi)
{
	const struct orr_config *cfg = mpi->proc->cfg;

	mpi->limits.throttle = orr_config_long("STARPU_MPI_MEM_THROTTLE", 0) > 0 && !mpi->fake;
	mpi->limits.early_at_once = orr_config_long("STARPU_MPI_EARLYDATA_ALLOCATE", 0) > 0;
	mpi->limits.max_sends = mpi->limits.throttle ? 0 : cfg->mpi_ndetached_send;
	mpi->limits.max_send_bytes = mpi->limits.throttle ? 0 : mib("ORRERY_MPI_SEND_MIB");
	if (mpi->limits.throttle)
		mpi->set.coop = 0;
}

/* Counts what can free memory by its end. */
static uint64_t work_left(const struct orr_mpi *mpi)
{
	return orr_task_npending(mpi->proc) + (uint64_t) ORR_ATOMIC_LOAD(&mpi->ndetached);
}

/* [waits] Returns 0 when nothing happened for long although something is left to happen. */
static int await_room(struct orr_mpi *mpi, size_t size)
{
	double pause_us = FIRST_PAUSE_US, calm_us = 0;
	uint64_t left = work_left(mpi);

	while (!orr_memory_has_room(mpi->proc, STARPU_MAIN_RAM, size)) {
		orr_sys_sleep_us(pause_us);
		calm_us += pause_us;
		if (pause_us < LONG_PAUSE_US)
			pause_us *= 2;
		uint64_t now_left = work_left(mpi);
		if (now_left != left)
			calm_us = 0;
		left = now_left;
		if (calm_us > (left ? GIVE_UP_US : IDLE_US))
			return !left;
	}
	return 1;
}

int orr_mpi_must_await_room(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	const struct orr_thread *self = orr_thread_self();

	if (!h || self->task || self->worker || ORR_ATOMIC_LOAD(&mpi->engine.owner) == self ||
	    starpu_data_test_if_allocated_on_node(h, STARPU_MAIN_RAM))
		return 0;
	starpu_ssize_t total = starpu_memory_get_total(STARPU_MAIN_RAM);
	return total >= 0 && starpu_data_get_size(h) <= (size_t) total;
}

void orr_mpi_await_room(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	size_t size = starpu_data_get_size(h);

	if (!await_room(mpi, size))
		orr_warn(
			"a receive into data %s has waited %.0f s for %zu bytes of main memory, and no task or message ended meanwhile; "
			"it goes on: raise STARPU_LIMIT_CPU_MEM, or unregister data earlier",
			orr_handle_name(h), GIVE_UP_US * 1e-6, size);
}

/* ---- early messages ---- */

/* Reserves main memory for the payload, unless a receive was posted for it. */
static int early_fits(struct orr_mpi *mpi, struct orr_mpi_early *e)
{
	orr_lock(&mpi->lock);
	orr_assert(!e->reserved);
	e->reserved = !e->req && !starpu_memory_allocate(STARPU_MAIN_RAM, e->env.size,
							 STARPU_MALLOC_NORECLAIM);
	int fits = e->reserved;
	orr_unlock(&mpi->lock);
	return fits;
}

/* The receive of a large message is usually about to be posted, so the message waits for it a
 * moment. */
static int wants_a_moment(const struct orr_mpi *mpi, struct orr_mpi_early *e)
{
	if (e->env.size < ORR_MPI_AT_ONCE)
		return 0;
	double now_us = orr_sys_now_us();
	if (e->arrival_us == 0)
		e->arrival_us = now_us;
	double left_us = e->arrival_us + MOMENT_US - now_us;
	if (left_us <= 0)
		return 0;
	if (!mpi->may_drive)
		orr_sys_mpi_wake_later(mpi->proc, left_us);
	return 1;
}

int orr_mpi_early_stays(struct orr_mpi *mpi, struct orr_mpi_early *e)
{
	orr_mpi_assert_owner(mpi);
	if (mpi->limits.early_at_once)
		return 0;
	if (wants_a_moment(mpi, e))
		return 1;
	return ORR_ATOMIC_LOAD_RELAXED(&mpi->limits.throttle) && !early_fits(mpi, e);
}

void orr_mpi_early_unreserve(struct orr_mpi_early *e)
{
	if (e->reserved)
		starpu_memory_deallocate(STARPU_MAIN_RAM, e->env.size);
	e->reserved = 0;
}

int orr_mpi_early_hand_over(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	struct orr_mpi_early e = { .reserved = 0 };

	orr_lock(&mpi->lock);
	if (req->early) {
		e = *req->early;
		req->early->reserved = 0;
	}
	orr_unlock(&mpi->lock);
	int reserved = e.reserved;
	orr_mpi_early_unreserve(&e);
	return reserved;
}

int orr_mpi_early_yield(struct orr_mpi *mpi)
{
	size_t bytes = 0;

	orr_lock(&mpi->lock);
	for (struct orr_mpi_early *e = mpi->match.first; e; e = e->next) {
		bytes += e->reserved ? e->env.size : 0;
		e->reserved = 0;
	}
	orr_unlock(&mpi->lock);
	if (bytes)
		starpu_memory_deallocate(STARPU_MAIN_RAM, bytes);
	return bytes != 0;
}
